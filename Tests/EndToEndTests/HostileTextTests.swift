import Foundation
import Tallystick
import TallystickTestSupport
import Testing

/// Text of other people's never acts on the terminal: it is shown, or escaped.
@Suite struct HostileTextTests {
    /// A title change, a colour, a cursor move, a C1 control, bidirectional controls, separators and a forged line.
    static let text = "x\u{1B}]0;gone\u{07}\u{1B}[31mRED\u{1B}[2J\u{9B}1A\u{202E}txt\u{2066}y\u{2028}z\r\nError: forged"

    /// What must not reach a terminal: every control but the line feed, and everything that turns text round.
    private static func raw(in bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).unicodeScalars.compactMap { scalar in
            switch scalar.value {
            case 0x0A: nil
            case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x206F, 0xFFFD:
                "U+" + String(scalar.value, radix: 16)
            default: nil
            }
        }
    }

    private func expectPlain(_ run: Run, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(Self.raw(in: run.outputBytes).isEmpty, "\(run.arguments)", sourceLocation: sourceLocation)
        #expect(Self.raw(in: run.errorBytes).isEmpty, "\(run.arguments)", sourceLocation: sourceLocation)
        for line in (run.output + run.errors).split(separator: "\n") {
            #expect(!line.hasPrefix("Error: forged"), "\(run.arguments)", sourceLocation: sourceLocation)
        }
    }

    @Test func ofNamesValuesRemarksAndReasons() throws {
        let world = try World()
        let hostile = Self.text
        // Names with controls are refused where they are made …
        try world.makeServer()
        let refused = try world.run([
            "server", "invite", "--db", "server.sqlite", "--party", hostile, "--roles", "carrier",
        ])
        #expect(refused.status == 65)
        expectPlain(refused)
        // … but some that turn text round are letters to the server, and everything else people write comes through.
        let server = try RunningServer(in: world)
        defer { server.stop() }
        try world.enrol("producer", of: "Hartley Build Ltd", as: "producer", at: server)
        let name = "Mallory \u{202E}dtL\u{2066} Haulage"
        let invited = try world.run([
            "server", "invite", "--db", "server.sqlite", "--party", name, "--roles", "carrier", "--json",
        ])
        expectPlain(invited)
        let code = try invited.json["code"]?.text
        let party = code == nil ? "Mallory Haulage" : name
        try world.enrol("carrier", of: party, as: "carrier", at: server)

        // Values with controls are refused by the rules; line feeds and marks of direction are text.
        let load = ["open", "--scheme", "uk-waste-transfer-note", "--from", World.demo("producer")]
        let unfit = try world.run(["--home", "homes/producer"] + load + ["producerAddress=\(hostile)"])
        #expect(unfit.status == 65)
        expectPlain(unfit)
        let odd = "Mill Lane\nLeg 9: forged \u{200F}\u{200E}"
        let opened = try world.json(
            "open",
            "--scheme",
            "uk-waste-transfer-note",
            "--from",
            World.demo("producer"),
            "producerAddress=\(odd)",
            as: "producer"
        )
        let chain = try #require(opened["chain"]?.text)
        try world.json("note", chain, hostile, as: "producer")
        try world.json("sign", chain, as: "producer")
        try world.json("offer", chain, "--text", "1.txt", as: "producer")
        try world.json("decline", "1.txt", "--yes", "--why", hostile, as: "carrier")
        for device in ["carrier", "producer", "carrier", "producer"] { try world.json("sync", as: device) }
        try world.json("offer", chain, "--text", "2.txt", as: "producer")
        try world.json("accept", "2.txt", "--yes", "carrierName=\(odd)", as: "carrier")
        try world.json("note", chain, hostile, as: "carrier")
        for device in ["producer", "carrier", "producer"] { try world.json("sync", as: device) }
        try world.json("export", chain, "-o", "record.jsonl", as: "producer")

        var shownOnce = false
        for device in ["producer", "carrier"] {
            for command in [["show", chain], ["list"], ["outbox"], ["refused"], ["sync"]] {
                for form in [[], ["--json"]] {
                    let run = try world.run(["--home", "homes/\(device)"] + command + form)
                    #expect(run.status == 0, "\(run)")
                    expectPlain(run)
                    shownOnce = shownOnce || run.output.contains("<U+001B>[31mRED")
                }
            }
        }
        #expect(shownOnce, "it is shown for what it is")
        // Under --json it is the same text again once it is read.
        let notes = try world.json("show", chain, as: "producer")["notes"]?.elements
        #expect(notes?.count == 2)
        #expect(notes?.allSatisfy { $0["text"].map { $0 == .string(hostile) } == true } == true)
        for command in [["audit", "record.jsonl"], ["replay", "record.jsonl"]] {
            for form in [[], ["--json"]] { expectPlain(try world.run(command + form)) }
        }
    }

    @Test func ofArgumentsFilesAndServers() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let hostile = Self.text
        let chain = try world.offered()
        let home = ["--home", "homes/producer"]
        try world.write("{\"\u{7F}colour\u{202E}\":\"red\u{85}\",\"sicCode\":\"\u{9B}31m\"}", to: "values.json")
        for arguments in [
            [hostile], ["show", hostile], home + ["show", hostile], home + ["set", chain, "\(hostile)=1"],
            home + ["set", chain, hostile], home + ["set", chain, "sicCode=\(hostile)"],
            home + ["sign", chain, "--as", hostile], home + ["offer", chain, "--to", hostile],
            home + ["offer", chain, "--for", hostile], home + ["withdraw", chain, "--offer", hostile],
            home + ["refused", "--done", hostile], home + ["open", "--scheme", hostile],
            home + ["open", "--scheme", "uk-waste-transfer-note", "--from", "values.json"],
            ["--home", hostile, "list"], ["scan", hostile], ["audit", hostile], ["replay", hostile],
            ["scheme", "show", hostile], ["scheme", "check", hostile], ["completions", hostile],
            ["server", "trust", "--db", hostile], ["server", "revoke", hostile, "--db", "server.sqlite", "--why", "x"],
            ["server", "run", "--db", "server.sqlite", "--listen", hostile],
            ["server", "invite", "--db", "server.sqlite", "--party", "X", "--roles", hostile],
            ["enrol", "--server", hostile, "--code", hostile], home + ["export", chain, "-o", "no/\(hostile)"],
        ] as [[String]] {
            for form in [[], ["--json"]] { expectPlain(try world.run(arguments + form)) }
        }
        // Lines that are no record's, with names that would act.
        try world.write("{\"record\":{\"origin\":\"\u{1B}[2J\"}}\n{\"event\":{\"id\":\"\u{202E}\"}}\n", to: "r.jsonl")
        for command in ["audit", "replay"] {
            for form in [[], ["--json"]] { expectPlain(try world.run([command, "r.jsonl"] + form)) }
        }
    }

    @Test func ofCorrectionsPaperLateEntriesLinksAndEndings() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let hostile = Self.text
        let chain = try world.recorded()
        try world.write("%PDF-1.7 a scan", to: "note.jpg")
        let odd = "Rubble\nLeg 9: forged \u{200F}\u{200E}"
        let path = "wasteItems/1/description"
        try world.json("correct", chain, "\(path)=\(odd)", "--why", hostile, as: "producer")
        for device in ["producer", "carrier"] { try world.json("sync", as: device) }
        try world.json("refuse", chain, "--why", hostile, as: "carrier")
        try world.json("sync", as: "carrier")
        let load = ["open", "--scheme", "uk-waste-transfer-note", "--from", World.demo("producer")]
        let late = ["--late-at", "2026-11-01T06:12Z", "--late-why", hostile]
        let home = ["--home", "homes/producer"]
        let other = try #require(try world.run(home + load + ["--json"]).json["chain"]?.text)
        for arguments in [
            ["sign", other, "--paper", "note.jpg", "--signer", hostile], ["sign", other, "--for", hostile],
            ["admit", other, hostile, "--party", hostile], ["admit", other, "broker", "--party", hostile],
            ["delegate", other, hostile, "--to", hostile, "--for", hostile],
            ["delegate", other, "producer", "--to", chain, "--until", hostile], ["note", other, "x"] + late,
            ["correct", other, hostile, "--why", hostile], ["approve", other, hostile],
            ["refuse", other, hostile, "--why", hostile], ["link", other, hostile, hostile],
            ["link", other, "was-refused", chain, "--why", hostile], ["link", other, "was-refused", chain, hostile],
            ["close", other, hostile, "--why", hostile], ["close", other, "lost", "--why", hostile],
            ["cancel", other, "--why", hostile], ["list", "--external", hostile], ["show", other], ["list"], ["sync"],
            ["show", chain],
        ] as [[String]] {
            for form in [[], ["--json"]] { expectPlain(try world.run(home + arguments + form)) }
        }
        for form in [[], ["--json"]] { expectPlain(try world.run(["--home", "homes/carrier", "show", chain] + form)) }
        let text = try world.tally("show", other, as: "producer").output
        #expect(text.contains("signed on paper by x<U+001B>]0;gone") && text.contains("CANCELLED"))
    }

    @Test func ofForeignCodes() throws {
        let world = try World()
        try world.write(try CodePictures.png(rows: Self.code), to: "hostile.png")
        for form in [[], ["--json"]] {
            let run = try world.run(["scan", "hostile.png"] + form)
            #expect(run.status == 0, "\(run)")
            expectPlain(run)
            #expect(run.output.contains("PAY") && run.output.contains("evil"), "\(run)")
        }
        let scanned = try world.json("scan", "hostile.png")["codes"]?.elements?.first
        #expect(scanned?["text"]?.text == "PAY\u{1B}]0;x\u{07}\u{1B}[31mRED\nError: forged\u{202E}evil")
    }

    /// That text in byte mode, made by `qrencode -8 -l M` 4.1.1; our own encoder makes no such code.
    private static let code = [
        "#######.#..###..#..##.#######",
        "#.....#.##.#..#.......#.....#",
        "#.###.#....#.###....#.#.###.#",
        "#.###.#.##...#######..#.###.#",
        "#.###.#..#...####.##..#.###.#",
        "#.....#....#.##..#.#..#.....#",
        "#######.#.#.#.#.#.#.#.#######",
        "........#.#.#.#.##.##........",
        "#.##.###.#...#..##.##.#..#.##",
        "##.##..#..#.##..#.###.#.#.#..",
        "..#.#.#...####...#..#...##...",
        ".#.#...###.#...#.....##....##",
        "......#..#..#.#..#..#..#.#.##",
        "####....#..#..##.#.#..##.#.#.",
        "###.#.###..###.#######.##..##",
        "....##.#...#..##..#.#........",
        "..##..####..#.#...#.##...#...",
        ".....#..##.#..#.##.#####.#..#",
        "#.#.###.####.##..#...#.#.....",
        "..##........####.####.###.#..",
        ".####.#.##.#.##.###.#####.#.#",
        "........#..##...#...#...#.#..",
        "#######.###...##....#.#.##.#.",
        "#.....#.#.##.##....##...#....",
        "#.###.#....#...#.#..#######..",
        "#.###.#.##.##..###..##......#",
        "#.###.#.###..##..##...#..#..#",
        "#.....#.....#####......#...#.",
        "#######.####.#....####....##.",
    ]
}
