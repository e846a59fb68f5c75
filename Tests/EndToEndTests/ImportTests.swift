import Foundation
import Tallystick
import Testing

/// The published bodies, in `TALLY_FIXTURES` or `../shared/fixtures`.
private enum Payloads {
    static let folder: URL = {
        let named = ProcessInfo.processInfo.environment["TALLY_FIXTURES"].map { URL(fileURLWithPath: $0) }
        let fixtures =
            named ?? TallyProgram.packageRoot.deletingLastPathComponent().appendingPathComponent("shared/fixtures")
        return fixtures.appendingPathComponent("real/defra-dwt/payloads")
    }()

    /// Whether the folder is there; where one was named, it has to be.
    static let areExpected =
        ProcessInfo.processInfo.environment["TALLY_FIXTURES"] != nil
        || FileManager.default.fileExists(atPath: folder.path)
}

/// A chain opened, and a load received, with the body of the regulator's receipt interface.
@Suite struct ImportTests {
    @Test(.enabled(if: Payloads.areExpected, "no shared fixtures here: set TALLY_FIXTURES to their folder"))
    func opensWithEachPublishedBodyAndListsWhatItDidNotUse() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        var opened = 0
        for kind in ["error", "valid", "warning"] {
            let inside = Payloads.folder.appendingPathComponent(kind)
            for name in try FileManager.default.contentsOfDirectory(atPath: inside.path).sorted() {
                let path = inside.appendingPathComponent(name).path
                let run = try world.json("open", "--scheme", "uk-waste-transfer-note", "--from", path, as: "producer")
                let chain = try #require(run["chain"]?.text)
                let unused = run["unused"]?.elements ?? []
                let body = try JSON.parse([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
                let shown = try world.json("show", chain, as: "producer")
                let fields = shown["legs"]?.elements?.first?["fields"]?.elements ?? []
                #expect(!fields.isEmpty && !unused.isEmpty, "\(name)")
                // The amount has the digits that the file has.
                let weight = try #require(body["wasteItems"]?.elements?.first?["weight"])
                guard case .number(let amount)? = weight["amount"] else {
                    Issue.record("expected a number as amount in \(name)")
                    continue
                }
                let quantity = fields.first { $0["path"]?.text == "wasteItems/1/quantity" }?["value"]
                #expect(quantity?["amount"]?.text == amount && quantity?["unit"]?.text == "t", "\(name)")
                #expect(
                    unused.contains { $0["where"]?.text == "/receiver/siteName" && $0["reason"]?.text == "other-role" }
                )
                opened += 1
            }
        }
        #expect(opened == 10)
        #expect(try world.json("list", as: "producer")["chains"]?.elements?.count == 10)
    }

    @Test func keepsDigitsAndShowsATableOfWhatWasNotUsed() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let body = #"""
            {"apiCode":"x","dateTimeReceived":"2026-11-30T10:20+0000","receipt":{"address":{"postcode":"DE7 4RA"}},
             "wasteItems":[{"ewcCodes":["170904"],"weight":{"metric":"Tonnes","amount":6.9400,"isEstimate":false}}]}
            """#
        let chain = try world.offered()
        try world.json("accept", "offer.txt", "--yes", "--from", World.demo("carrier-1"), as: "carrier")
        try world.json("sign", chain, "--as", "carrier", as: "carrier")
        try world.json("offer", chain, "--to", "receiver", "--text", "2.txt", as: "carrier")
        let run = try world.tally("accept", "2.txt", "--yes", "--from", "-", as: "receiver", input: Array(body.utf8))
        #expect(run.output.contains("Not used from the file:") && run.output.contains("/apiCode"))
        let fields = try world.json("show", chain, as: "receiver")["legs"]?.elements?.first?["fields"]?.elements ?? []
        let values = Dictionary(uniqueKeysWithValues: fields.map { ($0["path"]?.text ?? "", $0["text"]?.text ?? "") })
        #expect(values["receivedItems/1/weight"] == "6.9400 t")
        #expect(values["receivedAt"] == "2026-11-30T10:20:00.000Z")
        #expect(values["receiverPostcode"] == "DE7 4RA")
        // What is typed wins over the file.
        try world.write(#"{"receiverName":"From the file"}"#, to: "more.json")
        try world.json("set", chain, "--from", "more.json", "receiverName=Typed", as: "receiver")
        let text = try world.tally("show", chain, as: "receiver").output
        #expect(text.contains("Typed") && !text.contains("From the file"))
    }

    /// EPA's manifest names every transporter: each reads its own part of the same file.
    @Test func readsAManifestForItsGeneratorAndForTheTransporterAskedFor() throws {
        let world = try World()
        try world.makeServer()
        let server = try RunningServer(in: world)
        defer { server.stop() }
        try world.enrol("generator", of: "Test Generator", as: "generator", at: server)
        try world.enrol("transporter", of: "Test Transporter", as: "transporter", at: server)
        try world.write(
            #"""
            {"status":"Scheduled","submissionType":"Hybrid","colour":"red",
             "generator":{"epaSiteId":"VATESTGEN001","contact":{"phone":{"number":"703-308-0023"}},
              "emergencyPhone":{"number":"888-456-1234"}},
             "transporters":[{"epaSiteId":"VATESTRAN01","order":1},{"epaSiteId":"VATESTRAN02","order":2}],
             "designatedFacility":{"epaSiteId":"VATESTTSDF03"},
             "wastes":[{"lineNumber":1,"dotHazardous":false,"epaWaste":false,"pcb":false,"br":false,
              "wasteDescription":"Bags","managementMethod":{"code":"H040"},
              "quantity":{"containerNumber":12,"containerType":{"code":"BA"},"quantity":432,
               "unitOfMeasurement":{"code":"K"}}}]}
            """#,
            to: "manifest.json"
        )
        let path = world.file("manifest.json")
        let scheme = "us-hazardous-waste-manifest"
        let opened = try world.json("open", "--scheme", scheme, "--from", path, as: "generator")
        let chain = try #require(opened["chain"]?.text)
        let unused = Dictionary(
            uniqueKeysWithValues: (opened["unused"]?.elements ?? []).map {
                ($0["where"]?.text ?? "", $0["reason"]?.text ?? "")
            }
        )
        // The numbers name the rows; the status is where the chain stands.
        let numbers = ["/transporters/0/order", "/transporters/1/order", "/wastes/0/lineNumber", "/status"]
        for pointer in numbers { #expect(unused[pointer] == "no-field", "\(pointer)") }
        #expect(unused["/colour"] == "unknown-member" && unused.count == numbers.count + 1)
        try world.json("sign", chain, as: "generator")
        try world.json("offer", chain, "--text", "offer.txt", as: "generator")
        try world.fails(
            "usage",
            64,
            "accept",
            "offer.txt",
            "--yes",
            "--from",
            path,
            "--order",
            "second",
            as: "transporter"
        )
        try world.json("accept", "offer.txt", "--yes", "--from", path, "--order", "2", as: "transporter")
        let legs = try world.json("show", chain, as: "transporter")["legs"]?.elements ?? []
        let fields = legs.flatMap { $0["fields"]?.elements ?? [] }
        let site = fields.first { $0["path"]?.text == "transporterSiteId" }?["text"]?.text
        #expect(site == "VATESTRAN02")
    }
}
