import Foundation
import Tallystick
import TallystickTestSupport
import Testing

/// A compliance officer writes a scheme, and then changes it: by the built program, from the folder to the audit.
@Suite struct ServerSchemeTests {
    /// A scheme's folder in the world's.
    private func write(_ world: World, version: Int, title: String = "Parcel by courier", to folder: String) throws {
        try FileManager.default.createDirectory(
            atPath: world.file("\(folder)/codes"),
            withIntermediateDirectories: true
        )
        try world.write(CourierParcel.text(version: version, title: title), to: "\(folder)/scheme.json")
        try world.write(CourierParcel.services(version: version), to: "\(folder)/codes/services.json")
    }

    private func add(_ folder: String, to world: World) throws -> JSON {
        try world.json("server", "scheme", "add", folder, "--db", "server.sqlite")
    }

    /// Devices would open all new chains under it.
    @Test func anIdThatShipsIsNotTakenOver() throws {
        let world = try World()
        try world.makeServer()
        try write(world, version: 1, to: "mine")
        let text = try String(contentsOfFile: world.file("mine/scheme.json"), encoding: .utf8)
        let id = try #require(try JSON.parse(Array(text.utf8))["scheme"]?.text)
        try world.write(text.replacing("\"\(id)\"", with: "\"uk-waste-transfer-note\""), to: "mine/scheme.json")
        try world.tally("scheme", "check", "mine")
        try world.fails("scheme-taken", 1, "server", "scheme", "add", "mine", "--db", "server.sqlite")
        // Nor is one added whose own examples come out otherwise.
        try write(world, version: 1, to: "wrong")
        try FileManager.default.createDirectory(atPath: world.file("wrong/examples"), withIntermediateDirectories: true)
        try world.write(
            #"{"examples":[{"example":"e","when":{"by":"sender","open":true},"then":{"verdict":"refused"}}]}"#,
            to: "wrong/examples/one.json"
        )
        try world.fails("scheme-invalid", 65, "server", "scheme", "add", "wrong", "--db", "server.sqlite")
        let listed = try world.json("server", "scheme", "list", "--db", "server.sqlite")["schemes"]?.elements ?? []
        #expect(!listed.contains { $0["title"]?.text == "Parcel by courier" })
    }

    @Test func aParcelPassesUnderASchemeThatDoesNotShip() throws {
        let world = try World()
        try world.makeServer()
        let server = try RunningServer(in: world)
        defer { server.stop() }
        // The server runs while the scheme is written, checked and added.
        try write(world, version: 1, to: "parcel")
        try world.tally("scheme", "check", "parcel")
        let invitation = ["--party", "A", "--roles", "sender"]
        let run = try world.run(["server", "invite", "--db", "server.sqlite", "--json"] + invitation)
        #expect(run.errorCode == "bad-value", "no scheme has the role yet")
        let added = try add("parcel", to: world)
        #expect(added["added"]?.boolean == true)
        #expect(added["version"]?.integer == 1)
        let hash = try #require(added["hash"]?.text)

        let enrolled = try world.enrol("sender", of: "Mill Street Books", as: "sender", at: server)
        #expect(enrolled["schemes"]?.elements?.map { $0["hash"]?.text } == [hash])
        try world.enrol("courier", of: "Quick Bikes", as: "courier", at: server)
        // From here on nobody needs the network to say things.
        let old = try parcel(world, service: "night")
        #expect(try version(of: old, world, as: "sender") == 1)
        for device in ["sender", "courier", "sender"] { try world.json("sync", as: device) }

        // The same version with other contents is no version at all.
        try write(world, version: 1, title: "Parcels", to: "other")
        let error = try world.fails("scheme-taken", 1, "server", "scheme", "add", "other", "--db", "server.sqlite")
        #expect(error["remedy"]?.text?.contains("raise the version") == true)
        #expect(try add("parcel", to: world)["added"]?.boolean == false)

        // Version 2 asks for the value: for new chains, on devices that have synchronised since.
        try write(world, version: 2, to: "parcel")
        let text = try world.tally("server", "scheme", "add", "parcel", "--db", "server.sqlite").output
        #expect(text.contains("Added courier-parcel version 2"))
        #expect(text.contains("1 chain opened under version 1 keeps it."))
        let fetched = try world.json("sync", as: "sender")
        #expect(fetched["schemes"]?.elements?.map { $0["version"]?.integer } == [2])
        #expect(fetched["schemeFaults"]?.elements?.isEmpty == true)
        let opened = try world.json(
            "open",
            "--scheme",
            CourierParcel.id,
            "contents=Lamps",
            "service=day",
            as: "sender"
        )
        let new = try #require(opened["chain"]?.text)
        #expect(try version(of: new, world, as: "sender") == 2)
        let refused = try world.fails("refused", 1, "sign", new, as: "sender")
        #expect(refused["details"]?.members?.map(\.name) == ["missing-field value"])
        try world.json("set", new, "value=40", as: "sender")
        // The old chain goes on under version 1, with its courier's words after version 2 came.
        try world.json("set", old, "van=7", as: "courier")
        try world.json("sign", old, as: "courier")
        try take(new, world)
        for device in ["sender", "courier", "sender", "courier"] { try world.json("sync", as: device) }

        for (chain, version) in [(old, 1), (new, 2)] {
            for device in ["sender", "courier"] {
                let shown = try world.json("show", chain, as: device)
                #expect(shown["schemeVersion"]?.integer == version)
                #expect(shown["badge"]?.text == "confirmed")
                #expect(shown["legs"]?.elements?.map { $0["handoff"]?.text } == [nil, "verified"])
                #expect(shown["refused"]?.elements?.isEmpty == true)
            }
            let record = "\(version).jsonl"
            try world.json("export", chain, "-o", record, as: "courier")
            let audit = try world.json("audit", record, "--trust", "trust.json")
            #expect(audit["clean"]?.boolean == true)
        }
        let rebuilt = try world.json("server", "rebuild", "--db", "server.sqlite", "--check")
        #expect(rebuilt["clean"]?.boolean == true, "\(rebuilt)")

        let rows = try world.json("server", "scheme", "list", "--db", "server.sqlite")["schemes"]?.elements ?? []
        let own = rows.filter { $0["id"]?.text == CourierParcel.id }
        #expect(own.map { $0["version"]?.integer } == [1, 2])
        #expect(own.map { $0["chains"]?.integer } == [1, 1])
        #expect(own.map { $0["shipped"]?.boolean } == [false, false])
        #expect(rows.contains { $0["shipped"]?.boolean == true })
        #expect(try world.tally("server", "scheme", "list", "--db", "server.sqlite").output.contains(CourierParcel.id))
    }

    /// Opens a parcel and hands it over; gives the chain.
    private func parcel(_ world: World, service: String) throws -> String {
        let opened = try world.json(
            "open",
            "--scheme",
            CourierParcel.id,
            "contents=Books",
            "service=\(service)",
            as: "sender"
        )
        let chain = try #require(opened["chain"]?.text)
        try take(chain, world)
        return chain
    }

    /// The sender signs and offers, the courier accepts by a picture that says what the scheme calls it.
    private func take(_ chain: String, _ world: World) throws {
        try world.json("sign", chain, as: "sender")
        try world.json("offer", chain, "--png", "offer.png", as: "sender")
        let scanned = try world.json("scan", "offer.png", as: "courier")
        if scanned["codes"]?.elements?.first?["offer"]?["scheme"]?.text == nil { try world.json("sync", as: "courier") }
        let again = try world.json("scan", "offer.png", as: "courier")
        #expect(again["codes"]?.elements?.first?["offer"]?["scheme"]?.text == CourierParcel.id)
        try world.json("accept", "offer.png", "--yes", as: "courier")
    }

    private func version(of chain: String, _ world: World, as device: String) throws -> Int? {
        try world.json("show", chain, as: device)["schemeVersion"]?.integer
    }

    @Test func aSchemeWithMistakesIsNotAdded() throws {
        let world = try World()
        try world.makeServer()
        try write(world, version: 1, to: "parcel")
        let text = CourierParcel.text(version: 1).replacing("\"to\": \"recipient\"", with: "\"to\": \"nobody\"")
        try world.write(text, to: "parcel/scheme.json")
        let error = try world.fails("scheme-invalid", 65, "server", "scheme", "add", "parcel", "--db", "server.sqlite")
        #expect(error["remedy"]?.text?.contains("tally scheme check parcel") == true)
        try world.fails("no-such-file", 66, "server", "scheme", "add", "nowhere", "--db", "server.sqlite")
        try world.fails("not-found", 66, "server", "scheme", "list", "--db", "other.sqlite")
        let rows = try world.json("server", "scheme", "list", "--db", "server.sqlite")["schemes"]?.elements ?? []
        #expect(rows.allSatisfy { $0["shipped"]?.boolean == true })
    }

    @Test func aDeviceWithoutTheSchemeSaysSoAndFetchesItByItself() throws {
        let world = try World()
        try world.makeServer()
        let server = try RunningServer(in: world)
        defer { server.stop() }
        try world.enrol("producer", of: "Hartley Build Ltd", as: "producer", at: server)
        let error = try world.fails("scheme-unknown", 65, "open", "--scheme", CourierParcel.id, as: "producer")
        #expect(error["remedy"]?.text?.contains("tally sync") == true)
        try write(world, version: 1, to: "parcel")
        _ = try add("parcel", to: world)
        let text = try world.tally("sync", as: "producer").output
        #expect(text.contains("Fetched the scheme courier-parcel version 1."))
        // Its roles do not open this one; the scheme is known, though.
        try world.fails("nothing-to-do", 1, "open", "--scheme", CourierParcel.id, as: "producer")
    }
}
