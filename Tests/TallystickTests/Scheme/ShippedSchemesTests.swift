import Foundation
import Schemes
import Tallystick
import TallystickCrypto
import Testing

/// The shipped schemes as the engine reads them, and the cases in their folders.
@Suite struct ShippedSchemesTests {
    @Test func readsEveryShippedScheme() throws {
        let schemes = try ShippedSchemes.read()
        #expect(
            schemes.map { "\($0.reference.id) \($0.reference.version)" } == [
                "uk-waste-transfer-note 1", "evidence-item 1", "laboratory-sample 1", "uk-hazardous-consignment-note 1",
                "uk-waste-transfer-note 2", "us-hazardous-waste-manifest 1",
            ]
        )
        #expect(Set(schemes.map(\.reference.hash)).count == schemes.count)
    }

    /// A chain keeps the scheme it was opened with, so an earlier version must never change by a byte.
    @Test func keepsTheHashOfEarlierVersions() throws {
        let hashes = try ShippedSchemes.earlier.map { try $0.read().reference.hash.hex }
        #expect(hashes == ["149cd7f5e7202c09a1cd7b2f78a99f03cdeec8bbd969e786721a0f7c01028fd0"])
    }

    /// What Foundation reads in the file is what the engine holds: nothing is left out on the way.
    @Test(arguments: ShippedSchemes.files.map(\.id))
    func readsEveryPartOfTheFile(id: String) throws {
        let data = try SchemeData(id)
        let scheme = try #require(ShippedSchemes.files.first { $0.id == id }).read()
        #expect(scheme.roles.map(\.name.text) == data.names("role", in: "roles"))
        #expect(Set(scheme.fields.map { ($0.list.map { "\($0)/" } ?? "") + $0.name.text }) == Set(data.fields.keys))
        for (path, field) in data.fields {
            let read = try #require(scheme.fields.first { ($0.list.map { "\($0)/" } ?? "") + $0.name.text == path })
            #expect(read.owner.text == data.owners[path], "\(path)")
            #expect(read.isSealable == (field["sealed"] == nil), "\(path)")
            #expect(read.correct?.map(\.text) == field["correct"] as? [String], "\(path)")
            #expect(read.external == field["external"] as? String, "\(path)")
            #expect((read.many != nil) == (field["many"] != nil), "\(path)")
            if case .entries(let fields) = read.type {
                #expect(
                    Set(fields.map { "\(path)/\($0.field.name)" })
                        == Set(data.entryFields.keys.filter { $0.hasPrefix(path + "/") })
                )
                for entry in fields {
                    let said = data.entryFields["\(path)/\(entry.field.name)"]?["required"] as? Bool ?? false
                    #expect(entry.isRequired == said, "\(path)/\(entry.field.name)")
                }
            }
        }
        #expect(scheme.lines.map(\.name.text) == data.names("lines", in: "lines"))
        #expect(scheme.rules.map(\.name.text) == data.names("rule", in: "rules"))
        #expect(scheme.rules.map(\.warns) == data.members("rules").map { $0["severity"] != nil })
        #expect(scheme.signatures.map(\.name.text) == data.names("signature", in: "signatures"))
        #expect(scheme.handoffs.map(\.name.text) == data.names("handoff", in: "handoffs"))
        #expect(scheme.handoffs.map(\.seals) == data.members("handoffs").map { $0["seals"] as? Bool ?? false })
        #expect(scheme.checks.map(\.name.text) == data.names("check", in: "checks"))
        #expect(scheme.links.map(\.name.text) == data.names("link", in: "links"))
        #expect(scheme.closings.map(\.outcome.text) == data.names("outcome", in: "closing"))
        #expect(scheme.deadlines.map(\.name.text) == data.names("deadline", in: "deadlines"))
        #expect(scheme.calendars.count == data.members("calendars").count)
        #expect(Set(scheme.codeLists.keys.map(\.text)) == Set(data.lists.keys))
    }

    @Test(
        "comes out of every shipped example as the example says",
        arguments: zip(ShippedSchemes.files.map(\.id), [137, 98, 174, 208, 171])
    )
    func passesItsExamples(id: String, count: Int) throws {
        let scheme = try #require(ShippedSchemes.files.first { $0.id == id }).read()
        let outcomes = try SchemeExamples(files: try SchemePlace.examples(of: id)).run(under: scheme) { zone, moment in
            // As the device and the server ask: minutes east of UTC, from this machine's tz database.
            TimeZone(identifier: zone).map { zone in
                zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment.milliseconds) / 1_000)) / 60
            }
        }
        #expect(outcomes.count == count, "whoever adds examples counts them here, so that none goes missing")
        for outcome in outcomes where !outcome.faults.isEmpty {
            Issue.record(
                "\(id), \(outcome.example.file) \(outcome.example.name): \(outcome.faults.joined(separator: "; "))"
            )
        }
        let counts = Dictionary(grouping: outcomes, by: \.example.expects).mapValues(\.count)
        let kinds = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        let passed = outcomes.count { $0.faults.isEmpty }
        print("\(id): \(passed) of \(outcomes.count) examples pass: \(kinds)")
    }
}
