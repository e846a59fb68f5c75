import Foundation
import Glibc
import Tallystick
import TallystickStore
import TallystickTestSupport
import Testing

/// The main job, by the built program: a load passes from producer to receiver offline, in whatever order they sync.
@Suite struct StoryTests {
    @Test(arguments: [UInt64(1), 20_261_130])
    func aLoadPassesOfflineAndAnyoneCanCheckIt(seed: UInt64) throws {
        let world = try World()
        try world.makeServer()
        let server = try RunningServer(in: world)
        let parties = [
            ("producer", "Hartley Build Ltd", "producer"), ("first", "Pennine Skips Ltd", "carrier"),
            ("second", "Trent Bulk Haulage", "carrier"), ("receiver", "Erewash Recycling Park", "receiver"),
            ("stranger", "Nightly Haulage", "carrier"),
        ]
        for (device, party, role) in parties { try world.enrol(device, of: party, as: role, at: server) }

        let chain = try tellOffline(world)
        try syncInSomeOrder(seed, world)

        try expectTheChainVerifiedAndContested(chain, world)
        try expectTheServerClean(world)
        try expectTheRecordChecked(chain, world)
        try expectTheReplayReadable(chain, world)
    }

    /// Everything is said with no sync; gives the chain's name.
    private func tellOffline(_ world: World) throws -> String {
        let chain = try world.offered()
        let short = String(chain.suffix(8))
        let scan = try world.json("scan", "offer.png")
        #expect(scan["codes"]?.elements?.first?["offer"]?["to"]?.text == "carrier")
        let accepted = try world.json(
            "accept",
            "offer.png",
            "--yes",
            "--from",
            World.demo("carrier-1"),
            as: "first"
        )
        #expect(accepted["chain"]?.text == chain)
        #expect(accepted["accepted"]?["verified"]?.text == "not-until-synced")
        try world.json("sign", short, as: "first")
        try world.json(
            "offer",
            short,
            "--to",
            "carrier",
            "--for",
            "2h",
            "--svg",
            "2.svg",
            "--text",
            "2.txt",
            as: "first"
        )
        try world.json("accept", "2.txt", "--yes", "--from", World.demo("carrier-2"), as: "second")
        try world.json("sign", short, as: "second")
        // The code alone goes through a pipe, as a hand scanner types it.
        let code = try world.tally("offer", short, "--to", "receiver", "--for", "2h", as: "second")
        try world.json(
            "accept",
            "-",
            "--yes",
            "--from",
            World.demo("receiver"),
            as: "receiver",
            input: code.outputBytes
        )
        try world.json("sign", short, as: "receiver")
        try world.json("accept", "offer.png", "--yes", "--from", World.demo("carrier-2"), as: "stranger")

        let error = try world.fails("refused", 1, "set", short, "wasteItems/1/description=Brick", as: "receiver")
        #expect(error["details"]?.members?.first?.name == "not-your-field wasteItems/1/description")
        let list = try world.json("list", as: "receiver")
        #expect(list["chains"]?.elements?.map { $0["badge"]?.text } == ["saved here"])
        return chain
    }

    /// Each syncs once in an order of the seed's, the stranger after the carrier it competes with; then all again.
    private func syncInSomeOrder(_ seed: UInt64, _ world: World) throws {
        var random = SeededGenerator(seed: seed)
        var order = ["producer", "first", "second", "receiver"].shuffled(using: &random)
        let after = try #require(order.firstIndex(of: "first")) + 1
        order.insert("stranger", at: after + random.below(order.count - after + 1))
        var sent = 0
        for device in order + order {
            let report = try world.json("sync", as: device)
            sent += report["sent"]?.integer ?? 0
            let outbox = try world.json("outbox", as: device)
            #expect(outbox["savedHere"]?.integer == 0, "order \(order)")
        }
        // Open, values, signature, offer; twice accept, values, signature, offer; accept, values, signature; accept, values.
        #expect(sent == 4 + 4 + 4 + 3 + 2, "order \(order)")
    }

    private func expectTheChainVerifiedAndContested(_ chain: String, _ world: World) throws {
        let shown = try world.json("show", chain, as: "producer")
        let legs = try #require(shown["legs"]?.elements)
        #expect(legs.map { $0["number"]?.integer } == [1, 2, 3, 4])
        #expect(legs.map { $0["role"]?.text } == ["producer", "carrier", "carrier", "receiver"])
        #expect(legs.map { $0["handoff"]?.text } == [nil, "verified", "verified", "verified"])
        #expect(legs.map { $0["signatures"]?.elements?.count } == [1, 1, 1, 1])
        #expect(shown["badge"]?.text == "confirmed")
        #expect(shown["contested"]?.boolean == true)
        #expect(shown["contests"]?.elements?.map { $0["party"]?["name"]?.text } == ["Nightly Haulage"])
        #expect(shown["waiting"]?.elements?.isEmpty == true)
        let warnings = legs.last?["signatures"]?.elements?.first?["warnings"]?.elements ?? []
        #expect(warnings.contains { $0["code"]?.text == "discrepancy" }, "6.94 t where 6.2 t were declared")

        let text = try world.tally("show", chain, as: "producer").output
        #expect(text.contains("CONTESTED") && text.contains("handoff verified"))

        let refused = try world.json("refused", "--strict", as: "stranger", exits: 2)
        let codes = refused["refused"]?.elements?.flatMap { $0["reasons"]?.elements ?? [] }.map { $0["code"]?.text }
        #expect(codes?.contains("offer-taken") == true)
        try world.tally("sync", "--strict", as: "stranger", exits: 2)
    }

    private func expectTheServerClean(_ world: World) throws {
        let rebuilt = try world.json("server", "rebuild", "--db", "server.sqlite", "--check")
        #expect(rebuilt["clean"]?.boolean == true)
        #expect(rebuilt["events"]?.integer == 17)
        #expect(rebuilt["swapped"]?.boolean == false)
        #expect(rebuilt["tables"]?.elements?.isEmpty == false)
    }

    private func expectTheRecordChecked(_ chain: String, _ world: World) throws {
        let exported = try world.json("export", chain, "-o", "record.jsonl", as: "receiver")
        #expect(exported["bytes"]?.integer == (try world.read("record.jsonl")).count)
        let audit = try world.json("audit", "record.jsonl", "--trust", "trust.json")
        #expect(audit["clean"]?.boolean == true)
        #expect(audit["authorityFrom"]?.text == "trust-file")
        #expect(audit["events"]?.integer == 17)
        #expect(audit["contested"]?.boolean == true)
        let statuses = Dictionary(
            uniqueKeysWithValues: (audit["checks"]?.elements ?? []).map {
                ($0["check"]?.text ?? "", $0["status"]?.text)
            }
        )
        for check in ["lines", "seal", "certificates", "signatures", "entries", "decisions", "handoffs"] {
            #expect(statuses[check] == "ok", "\(check)")
        }
        // What could not be checked is never counted as checked.
        for check in ["macs", "inclusion", "times"] { #expect(statuses[check] == "not-done", "\(check)") }
        // The server's own copy is the same but for the time of export.
        try world.json("export", chain, "--db", "server.sqlite", "-o", "own.jsonl")
        try world.json("audit", "own.jsonl", "--trust", "trust.json")
    }

    private func expectTheReplayReadable(_ chain: String, _ world: World) throws {
        let replayed = try world.json("replay", "record.jsonl", "--db", "replay.sqlite")
        #expect(replayed["accepted"]?.integer == 15)
        #expect(replayed["refused"]?.integer == 2)
        let database = try Database(path: world.file("replay.sqlite"), mode: .readOnly)
        let legs = try database.query("SELECT number, role FROM legs ORDER BY number") { row in
            "\(try row.int(0)) \(try row.text(1))"
        }
        #expect(legs == ["1 producer", "2 carrier", "3 carrier", "4 receiver"])
        let handoffs = try database.query("SELECT result, contested FROM handoffs ORDER BY result, contested") { row in
            "\(try row.text(0)) \(try row.int(1))"
        }
        // Both who accepted the first offer are marked.
        #expect(handoffs == ["refused 1", "verified 0", "verified 0", "verified 1"])
        let signatures = try database.query("SELECT signature FROM signatures ORDER BY signature") { row in
            try row.text(0)
        }
        #expect(signatures == ["carrier", "carrier", "producer", "receiver"])
        let weight = try database.first("SELECT value FROM fields WHERE path = 'receivedItems/1/weight'") { row in
            try row.text(0)
        }
        #expect(weight == #"{"amount":"6.94","unit":"t"}"#)
        database.close()
        // A second time the file is there, and is left alone.
        try world.fails("file-exists", 1, "replay", "record.jsonl", "--db", "replay.sqlite")
    }

    @Test func workIsSavedWhileTheServerIsDownAndSentWhenItIsBack() throws {
        let world = try World()
        var server = try world.enrolled()
        let port = server.port
        #expect(server.stop() == 0)
        let chain = try world.offered()
        let error = try world.fails("server-unreachable", 69, "sync", as: "producer")
        #expect(error["remedy"]?.text?.contains("saved") == true)
        let outbox = try world.json("outbox", as: "producer")
        #expect(outbox["savedHere"]?.integer == 4)
        #expect(outbox["lastErrorCode"]?.text == "server-unreachable")
        #expect(
            outbox["events"]?.elements?.map { $0["type"]?.text } == [
                "chain.opened", "fields.set", "signed", "handoff.offered",
            ]
        )
        // There is nothing to be sent later where something was to be fetched.
        let export = try world.fails("server-unreachable", 69, "export", chain, "-o", "r.jsonl", as: "producer")
        #expect(export["remedy"]?.text?.contains("saved") == false)
        #expect(!world.exists("r.jsonl"))

        server = try RunningServer(in: world, port: port)
        let report = try world.json("sync", as: "producer")
        #expect(report["sent"]?.integer == 4)
        #expect(try world.json("outbox", as: "producer")["confirmed"]?.integer == 4)
        #expect(server.stop(SIGINT) == 0)
    }

    @Test func anEnrolmentThatFailedGoesOnWithTheSameCommand() throws {
        let world = try World()
        var server = try world.enrolled()
        let port = server.port
        let invitation = try world.json(
            "server",
            "invite",
            "--db",
            "server.sqlite",
            "--party",
            "Late Ltd",
            "--roles",
            "carrier,receiver",
            "--person",
            "Ann Late"
        )
        let code = try #require(invitation["code"]?.text)
        server.stop()
        let error = try world.fails(
            "server-unreachable",
            69,
            "enrol",
            "--server",
            server.url,
            "--code",
            code,
            as: "late"
        )
        #expect(error["remedy"]?.text?.contains("same command") == true)
        try world.fails("not-enrolled", 66, "list", as: "late")
        server = try RunningServer(in: world, port: port)
        let enrolled = try world.json("enrol", "--server", server.url, "--code", code, as: "late")
        #expect(enrolled["person"]?.text == "Ann Late")
        #expect(enrolled["roles"]?.elements?.compactMap(\.text) == ["carrier", "receiver"])
        try world.fails("already-enrolled", 1, "enrol", "--server", server.url, "--code", code, as: "late")
        try world.fails("invitation-invalid", 1, "enrol", "--server", server.url, "--code", code, as: "other")
    }

    @Test func watchingSyncsSendsWhatIsSaidMeanwhileAndEndsOnCtrlC() throws {
        let world = try World()
        let server = try world.enrolled()
        let watching = try RunningProgram(["--home", "homes/producer", "sync", "--watch", "--json"], in: world)
        #expect(try JSON.parse(Array(watching.line().utf8))["sent"]?.integer == 0)
        _ = try world.offered()
        #expect(try JSON.parse(Array(watching.line().utf8))["sent"]?.integer ?? 0 > 0)
        #expect(watching.stop(SIGINT) == 0)
        #expect(server.stop(SIGINT) == 0)
    }
}
