import Foundation
import Tallystick
import TallystickStore
import TallystickTestSupport
import Testing

/// What every command prints under `--json` is what `docs/cli-json.md` says, member by member.
@Suite struct JSONDocumentTests {
    @Test func everyCommandPrintsExactlyWhatThePageSays() throws {
        let page = try JSONDocument()
        let check = Comparison(page)
        let world = try World()
        try check.operators(world)
        let server = try RunningServer(in: world)
        defer { server.stop() }
        try check.field(world, server)
        try check.records(world)
        try check.rest(world)
        try check.errors(world)

        #expect(check.differences.isEmpty, "\(check.differences.joined(separator: "\n"))")
        #expect(check.compared == page.commands, "not compared: \(page.commands.subtracting(check.compared).sorted())")
        // Every member was seen with something in it: an array that is always empty would prove nothing.
        let members = page.objects.flatMap { object, members in members.map { "\(object).\($0.name)" } }
        let unseen = Set(members).subtracting(check.seen).subtracting(Comparison.rare)
        #expect(unseen.isEmpty, "never seen: \(unseen.sorted())")
    }

    @Test func everyObjectOfThePageIsUsedAndEveryTypeIsKnown() throws {
        let page = try JSONDocument()
        let simple: Set<String> = ["string", "integer", "boolean", "value"]
        var used: Set<String> = ["error"]
        for (object, members) in page.objects {
            for member in members {
                let words = member.type.replacing(" or null", with: "").replacing("array of ", with: "")
                    .replacing("map of ", with: "")
                #expect(
                    simple.contains(words) || page.objects[words] != nil,
                    "\(object).\(member.name): \(member.type)"
                )
                used.insert(words)
            }
        }
        let objects = Set(page.objects.keys.filter { !$0.hasPrefix("tally ") })
        #expect(objects.isSubset(of: used), "never used: \(objects.subtracting(used).sorted())")
    }
}

/// Runs every command and collects how its output differs from the page.
private final class Comparison {
    /// Members that only appear after accidents that this test does not make.
    static let rare: Set<String> = [
        "tally sync.notBefore", "outbox-event.nextAttempt", "field.others",
    ]

    private let page: JSONDocument
    private(set) var differences: [String] = []
    private(set) var compared: Set<String> = []
    private(set) var seen: Set<String> = []
    private var lastDevice = ""

    init(_ page: JSONDocument) { self.page = page }

    /// Runs a command, compares each line it prints, and gives the last.
    @discardableResult
    private func run(
        _ command: String,
        _ arguments: String...,
        in world: World,
        as device: String? = nil,
        exits status: Int32 = 0
    ) throws -> JSON {
        let home = device.map { ["--home", "homes/\($0)"] } ?? []
        let run = try world.run(home + command.split(separator: " ").map(String.init) + arguments + ["--json"])
        #expect(run.status == status, "\(run)")
        #expect(run.errors.isEmpty, "\(run)")
        let lines = try run.jsonLines
        for line in lines { compare(line, command) }
        return try #require(lines.last, "\(run)")
    }

    private func compare(_ json: JSON, _ command: String) {
        differences += page.differences(json, from: "tally \(command)", at: command, seen: &seen)
        compared.insert(command)
    }

    func operators(_ world: World) throws {
        try run("server init", "--db", "server.sqlite", "--origin", "Derwent Waste Register", in: world)
        try run("server trust", "--db", "server.sqlite", "-o", "trust.json", in: world)
        try run("server restored", "--db", "server.sqlite", in: world)
        try addScheme(version: 1, world)
        try run("server scheme list", "--db", "server.sqlite", in: world)
        let running = try RunningProgram(
            ["server", "run", "--db", "server.sqlite", "--listen", "127.0.0.1:0", "--json"],
            in: world
        )
        compare(try JSON.parse(Array(running.line().utf8)), "server run")
        running.stop()
    }

    /// Devices fetch the first version as they enrol, and the second when they sync.
    private func addScheme(version: Int, _ world: World) throws {
        try FileManager.default.createDirectory(
            atPath: world.file("parcel/codes"),
            withIntermediateDirectories: true
        )
        try world.write(CourierParcel.text(version: version), to: "parcel/scheme.json")
        try world.write(CourierParcel.services(version: version), to: "parcel/codes/services.json")
        try run("server scheme add", "parcel", "--db", "server.sqlite", in: world)
    }

    /// A device is given a damaged scheme, once.
    private func damageSchemes(_ world: World) throws {
        let database = try Database(path: world.file("server.sqlite"), mode: .open)
        defer { database.close() }
        let own = "instr(bytes, CAST('\(CourierParcel.id)' AS BLOB)) > 0"
        try database.execute("UPDATE schemes SET bytes = CAST(bytes || ' ' AS BLOB) WHERE \(own)")
        try run("sync", in: world, as: "second")
        try database.execute("UPDATE schemes SET bytes = CAST(rtrim(bytes) AS BLOB) WHERE \(own)")
    }

    func field(_ world: World, _ server: RunningServer) throws {
        for (device, role) in [
            ("producer", "producer"), ("first", "carrier"), ("second", "carrier"), ("site", "receiver"),
        ] {
            let code = try run(
                "server invite",
                "--db",
                "server.sqlite",
                "--party",
                "The \(device)",
                "--roles",
                role,
                "--person",
                "Ann",
                in: world
            )["code"]?.text
            let enrolled = try run("enrol", "--server", server.url, "--code", code ?? "", in: world, as: device)
            lastDevice = enrolled["device"]?.text ?? ""
        }
        try addScheme(version: 2, world)
        try run("sync", in: world, as: "producer")
        try damageSchemes(world)
        try world.write(#"{"sicCode":"41201","carrierName":"not ours","colour":"red"}"#, to: "more.json")
        let load = ["--scheme", "uk-waste-transfer-note", "--from", "more.json"]
        let chain = try run("open", load[0], load[1], load[2], load[3], in: world, as: "producer")["chain"]?.text ?? ""
        try run("set", chain, "--from", World.demo("producer"), in: world, as: "producer")
        try run("set", chain, "--from", "more.json", in: world, as: "producer")
        try run("note", chain, "gate code 4711", in: world, as: "producer")
        try run("sign", chain, in: world, as: "producer")
        for why in ["declined", "withdrawn"] {
            try run("offer", chain, "--text", "\(why).txt", in: world, as: "producer")
            guard why == "declined" else { continue }
            try run(
                "decline",
                "declined.txt",
                "--yes",
                "--why",
                "asbestos",
                "--reply",
                "no.png",
                in: world,
                as: "second"
            )
            try run("ack", "no.png", in: world, as: "producer")
        }
        // By its state: offers that end in the same second stand in the order of their random names.
        let offers = try run("show", chain, in: world, as: "producer")["offers"]?.elements ?? []
        let isUntouched: (JSON) -> Bool = { $0["state"]?.text == "open" && $0["reply"]?.isNull != false }
        let withdrawn = offers.first(where: isUntouched)?["offer"]?.text
        try run("withdraw", chain, "--offer", withdrawn ?? "", "--why", "wrong skip", in: world, as: "producer")
        try run("offer", chain, "--full", "--png", "code.png", "--text", "code.txt", in: world, as: "producer")
        try world.write("TS1$AAAA", to: "damaged.txt")
        try run("scan", "declined.txt", "damaged.txt", in: world)
        try run("challenge", "--text", "challenge.txt", in: world, as: "site")
        for taker in ["first", "second"] {
            try run(
                "accept",
                "code.png",
                "--yes",
                "--from",
                "more.json",
                "--reply",
                "\(taker).png",
                in: world,
                as: taker
            )
        }
        try run("ack", "first.png", in: world, as: "producer")
        try run("show", chain, in: world, as: "producer")
        try run("outbox", in: world, as: "first")
        try run("sync", in: world, as: "first")
        // The second half is there, the first is not: it waits.
        try run("show", chain, in: world, as: "first")
        try run("list", in: world, as: "first")
        server.stop()
        _ = try world.run(["--home", "homes/producer", "sync", "--json"])
        try run("outbox", in: world, as: "producer")
        let again = try RunningServer(in: world, port: server.port)
        for device in ["producer", "second", "first", "producer", "second"] {
            try run("sync", in: world, as: device)
        }
        for device in ["producer", "second", "first"] {
            try run("show", chain, in: world, as: device)
            try run("list", in: world, as: device)
            try run("outbox", in: world, as: device)
        }
        try run("refused", in: world, as: "second")
        try run("set", chain, "--from", World.demo("carrier-1"), in: world, as: "first")
        try run("sign", chain, in: world, as: "first")
        try run("offer", chain, "--to", "receiver", "--text", "last.txt", in: world, as: "first")
        try run("accept", "last.txt", "--yes", "--from", World.demo("receiver"), in: world, as: "site")
        for device in ["first", "site"] { try run("sync", in: world, as: device) }
        try parties(chain, world)
        try corrections(chain, world)
        try endings(chain, world)
        try run("export", chain, "-o", "record.jsonl", in: world, as: "producer")
        try run("server revoke", lastDevice, "--db", "server.sqlite", "--why", "phone stolen", in: world)
        again.stop()
    }

    /// Who takes part without the load, signs for another, and says that somebody signed on paper.
    private func parties(_ chain: String, _ world: World) throws {
        try run("admit", chain, "broker", "--party", "0198f2a4-3c5e-7d10-8f6a-2b4c6d8e0f12", in: world, as: "producer")
        try run("delegate", chain, "receiver", "--to", "The first", "--for", "8h", in: world, as: "site")
        for device in ["site", "first"] { try run("sync", in: world, as: device) }
        // 6.94 t where 6.2 t were declared: the rules warn, as soon as both are known.
        let signed = try run("sign", chain, "--for", "The site", in: world, as: "first")
        #expect(signed["warnings"]?.elements?.isEmpty == false)
        for device in ["first", "producer"] { try run("sync", in: world, as: device) }
        try run("show", chain, in: world, as: "producer")

        let load = ["uk-waste-transfer-note", World.demo("producer")]
        let other =
            try run("open", "--scheme", load[0], "--from", load[1], in: world, as: "producer")["chain"]?.text ?? ""
        try world.write("%PDF-1.7 a scan", to: "paper.jpg")
        let soon = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000) - 3_600_000)?.description ?? ""
        try run(
            "set",
            other,
            "sicCode=43341",
            "--late-at",
            soon,
            "--late-why",
            "no signal",
            "--late-paper",
            "paper.jpg",
            in: world,
            as: "producer"
        )
        try run(
            "sign",
            other,
            "--paper",
            "paper.jpg",
            "--signer",
            "Elsie Holt",
            "--paper-at",
            soon,
            in: world,
            as: "producer"
        )
        try run("link", other, "was-refused", chain, in: world, as: "producer")
        try run("show", other, in: world, as: "producer")
        try run("offer", other, "--text", "other.txt", in: world, as: "producer")
        try run("accept", "other.txt", "--yes", in: world, as: "second")
        try run("close", other, "lost", "--why", "overboard", in: world, as: "second")
        try run("show", other, in: world, as: "second")
        let last = try run("open", "--scheme", load[0], in: world, as: "producer")["chain"]?.text ?? ""
        try run("cancel", last, "--why", "not needed", in: world, as: "producer")
    }

    private func corrections(_ chain: String, _ world: World) throws {
        try run("correct", chain, "wasteItems/1/description=Rubble", "--why", "wrong skip", in: world, as: "producer")
        try run("correct", chain, "producerName=Hartley Build", "--why", "its name", in: world, as: "producer")
        for device in ["producer", "first", "site"] { try run("sync", in: world, as: device) }
        let open = try run("show", chain, in: world, as: "first")["corrections"]?.elements ?? []
        let names = open.map { $0["correction"]?.text ?? "" }
        try run("approve", chain, names.first ?? "", in: world, as: "first")
        try run("refuse", chain, names.last ?? "", "--why", "it is not", in: world, as: "first")
        for device in ["first", "site"] { try run("sync", in: world, as: device) }
        try run("approve", chain, in: world, as: "site")
        try run("show", chain, in: world, as: "site")
    }

    private func endings(_ chain: String, _ world: World) throws {
        try run("set", chain, "defraTrackingId=26HRA0B2", in: world, as: "site")
        try run("close", chain, "delivered", in: world, as: "site")
        for device in ["site", "producer"] { try run("sync", in: world, as: device) }
        for device in ["site", "producer"] {
            try run("show", chain, in: world, as: device)
            try run("list", in: world, as: device)
        }
    }

    func records(_ world: World) throws {
        try run("audit", "record.jsonl", "--trust", "trust.json", in: world)
        try run("replay", "record.jsonl", "--db", "replay.sqlite", in: world)
        var record = try world.read("record.jsonl")
        let event = try #require(record.firstRange(of: Array("gate code".utf8)))
        record[event.lowerBound] ^= 1
        try world.write(record, to: "altered.jsonl")
        try run("audit", "altered.jsonl", in: world, exits: 2)
        try run("server rebuild", "--db", "server.sqlite", "--check", in: world)
    }

    func rest(_ world: World) throws {
        try run("scheme list", in: world)
        for scheme in ["uk-waste-transfer-note", "us-hazardous-waste-manifest", "evidence-item", "laboratory-sample"] {
            try run("scheme show", scheme, in: world)
        }
        try SmallScheme.write("small", in: world)
        try run("scheme show", "small", "--codes", "conditions", "--mermaid", in: world)
        try run("scheme check", "small", in: world)
        try run("scheme test", "small", in: world)
        try SmallScheme.write("broken", in: world) { _, text in
            text.replacing(#""owner": "witness""#, with: #""owner": "witnes""#)
        }
        try run("scheme check", "broken", in: world, exits: 2)
        try SmallScheme.write("wrong", in: world) { _, text in text.replacing("missing-field tool", with: "too-late") }
        try run("scheme test", "wrong", in: world, exits: 2)
        let published = #"[{"code":"NEW","name":"x"},{"code":"used","name":"Worn","broken":true}]"#
        try world.write(published, to: "published.json")
        let list = "small/codes/conditions.json"
        let flags = ["--flag", "broken=broken", "--flag", "worn=worn"]
        try run(
            "scheme codes import",
            list,
            "published.json",
            flags[0],
            flags[1],
            flags[2],
            flags[3],
            "--add",
            in: world
        )
        try run("scheme codes import", list, "published.json", "--source", "The board", in: world)
        try world.write(#"{"old":"Old"}"#, to: "other.json")
        try run("scheme codes import", list, "other.json", "--dry-run", in: world)
        try run("doctor", in: world, as: "producer")
        try run("doctor", in: world, as: "nobody", exits: 2)
        try run("completions", "bash", in: world)
        try run("manual", in: world)
    }

    func errors(_ world: World) throws {
        for arguments in [
            ["--home", "homes/producer", "show", "ffffffff"], ["no-such-command"], ["scheme", "show", "x"],
        ] {
            let run = try world.run(arguments + ["--json"])
            let object = try run.json
            #expect(object.members?.map(\.name) == ["error"])
            differences += page.differences(object["error"] ?? .null, from: "error", at: "\(arguments)", seen: &seen)
        }
    }
}
