import Foundation
import Tallystick
import TallystickQR
import TallystickTestSupport
import Testing

/// Full codes, replies and challenges by the built program, while no server runs.
@Suite struct CodesTests {
    private func yard() throws -> (world: World, chain: String) {
        let world = try World()
        try world.makeServer()
        let server = try RunningServer(in: world)
        try world.enrol("producer", of: "Hartley Build Ltd", as: "producer", at: server)
        try world.enrol("carrier", of: "Pennine Skips Ltd", as: "carrier", at: server)
        try world.enrol("thief", of: "Nightly Haulage", as: "carrier", at: server)
        server.stop()
        let opened = try world.json(
            "open",
            "--scheme",
            "uk-waste-transfer-note",
            "--from",
            World.demo("producer"),
            as: "producer"
        )
        let chain = try #require(opened["chain"]?.text)
        try world.json("sign", chain, as: "producer")
        return (world, chain)
    }

    @Test func movesALoadByFullCodeAndReplyWhileNoServerRuns() throws {
        let (world, chain) = try yard()
        let offered = try world.json("offer", chain, "--full", "--png", "sheet.png", as: "producer")
        let parts = try #require(offered["parts"]?.integer)
        #expect(parts >= 2 && offered["files"]?.elements?.count == 1)

        let accepted = try world.json(
            "accept",
            "sheet.png",
            "--yes",
            "--from",
            World.demo("carrier-1"),
            "--reply",
            "reply.png",
            as: "carrier"
        )
        #expect(accepted["accepted"]?["verified"]?.text == "offline")
        #expect(accepted["accepted"]?["giver"]?.text == "Hartley Build Ltd")
        let load = try #require(accepted["accepted"]?["load"]?.elements?.first)
        #expect(load["values"]?["sicCode"]?.text == "41201")

        let shown = try world.json("show", chain, as: "carrier")
        #expect(shown["received"]?.elements?.count == 1)
        let text = try world.tally("show", chain, as: "carrier").output
        #expect(text.contains("As received by code") && text.contains("Hartley Build Ltd"))

        let acknowledged = try world.json("ack", "reply.png", as: "producer")
        #expect(acknowledged["taker"]?.text == "Pennine Skips Ltd")
        #expect(acknowledged["accepted"]?.boolean == true)
        let given = try world.tally("show", chain, as: "producer").output
        #expect(given.contains("both halves held: Pennine Skips Ltd accepted"))
        let again = try world.fails("refused", 1, "ack", "reply.png", as: "producer")
        #expect(again["details"]?.members?.isEmpty == false)
    }

    @Test func joinsPartsFromSeparatePicturesInAnyOrder() throws {
        let (world, chain) = try yard()
        try FileManager.default.createDirectory(atPath: world.file("parts"), withIntermediateDirectories: true)
        let offered = try world.json(
            "offer",
            chain,
            "--full",
            "--parts",
            "parts",
            "--text",
            "full.txt",
            "--loop",
            "loop.png",
            as: "producer"
        )
        let parts = try #require(offered["parts"]?.integer)
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.file("parts")).count == parts)
        let missing = try world.fails("parts-missing", 65, "accept", "parts/part-\(parts).png", "--yes", as: "carrier")
        #expect(missing["message"]?.text?.contains("1 of \(parts) parts") == true)
        let rest = (1..<parts).reversed().flatMap { ["--also", "parts/part-\($0).png"] }
        // A part twice, and a part of another message between, change nothing.
        let other = try world.json("offer", chain, "--full", "--text", "other.txt", as: "producer")
        let stray = try #require(other["code"]?.text?.split(separator: "\n").first)
        try world.write(String(stray), to: "stray.txt")
        let all =
            ["accept", "parts/part-\(parts).png"] + rest + [
                "--also", "parts/part-1.png", "--also", "stray.txt", "--yes",
            ]
        let accepted = try world.run(["--home", "homes/carrier"] + all)
        #expect(accepted.status == 0, "\(accepted.output)")
        // A viewer that knows no loops shows the first part.
        let scanned = try world.json("scan", "loop.png", as: "carrier")
        #expect(scanned["codes"]?.elements?.first?["kind"]?.text == "part")
    }

    @Test func aFullCodeThatWasChangedIsNotBelieved() throws {
        let (world, chain) = try yard()
        let offered = try world.json("offer", chain, "--full", "--text", "full.txt", as: "producer")
        var lines = try #require(offered["code"]?.text).split(separator: "\n").map { String($0) }
        #expect(lines.count >= 2)
        // Another message's last part: the name and the checksum of the whole no longer fit.
        let other = try world.json("offer", chain, "--full", "--text", "other.txt", as: "producer")
        lines[lines.count - 1] = try #require(other["code"]?.text?.split(separator: "\n").last.map { String($0) })
        try world.write(lines.joined(separator: "\n"), to: "mixed.txt")
        try world.fails("parts-missing", 65, "accept", "mixed.txt", "--yes", as: "carrier")
    }

    @Test func anOfferThatAnswersAChallengeIsForTheChallengerOnly() throws {
        let (world, chain) = try yard()
        try world.json("challenge", "--png", "challenge.png", as: "carrier")
        try world.json("offer", chain, "--challenge", "challenge.png", "--png", "answer.png", as: "producer")
        try world.fails("bad-code", 65, "accept", "answer.png", "--yes", as: "thief")
        let accepted = try world.json("accept", "answer.png", "--yes", as: "carrier")
        #expect(accepted["accepted"]?["challenged"]?.boolean == true)
        // The other way about: a challenge is no offer and no reply, and says what it is.
        try world.fails("other-code", 65, "accept", "challenge.png", "--yes", as: "thief")
        try world.fails("other-code", 65, "ack", "challenge.png", as: "producer")
        try world.fails("other-code", 65, "offer", chain, "--challenge", "answer.png", as: "producer")
    }

    @Test func declinesWithAReplyAndShowsAnOpenOfferAgain() throws {
        let (world, chain) = try yard()
        let made = try world.json("offer", chain, "--png", "code.png", as: "producer")
        let again = try world.json("offer", chain, "--again", "--png", "again.png", as: "producer")
        #expect(again["offer"]?.text == made["offer"]?.text && again["events"]?.elements?.isEmpty == true)
        try world.json("decline", "again.png", "--why", "asbestos", "--yes", "--reply", "no.png", as: "carrier")
        let acknowledged = try world.json("ack", "no.png", as: "producer")
        #expect(acknowledged["accepted"]?.boolean == false)
        #expect(try world.tally("show", chain, as: "producer").output.contains("declined"))
    }

    @Test func bindsAnOfferToAPartyByNameOrIdentifier() throws {
        let (world, chain) = try yard()
        // Its own name is the only one that this device has seen.
        try world.json("offer", chain, "--only", "Hartley Build Ltd", "--text", "bound.txt", as: "producer")
        let scanned = try world.json("scan", "bound.txt")
        #expect(scanned["codes"]?.elements?.first?["offer"]?["bound"]?.boolean == true)
        try world.fails("bad-input", 65, "offer", chain, "--only", "Nobody Ltd", as: "producer")
        let party = "01a22b3d-08ec-7bed-86d3-bf9be8b25551"
        try world.json("offer", chain, "--only", party, "--text", "other.txt", as: "producer")
    }

    @Test func makesNoOfferThatCannotBeShown() throws {
        let (world, chain) = try yard()
        try world.fails("file-unwritable", 1, "offer", chain, "--png", "nowhere/code.png", as: "producer")
        #expect(try world.json("show", chain, as: "producer")["offers"]?.elements?.isEmpty == true)
    }
}
