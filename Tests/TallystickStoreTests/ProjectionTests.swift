import Foundation
import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

@testable import TallystickStore

/// What the tables say after whole stories, read from their records.
struct ProjectionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func told(_ name: String) throws -> Stories.Told {
        try #require(Stories.all.first { $0.name == name }).tell()
    }

    private func record(_ told: Stories.Told) throws -> [UInt8] {
        try told.referee.record(of: told.teller.chain, at: told.teller.clock.now)
    }

    private func replayed(_ name: String) throws -> Database {
        let path = folder.file(name)
        _ = try ProjectionFile.write(try record(told(name)), to: path)
        return try Database(path: path, mode: .readOnly, applicationID: ProjectionFile.applicationID)
    }

    private func texts(_ database: Database, _ sql: String) throws -> [String] {
        try database.query(sql) { row in try row.optionalText(0) ?? "NULL" }
    }

    // MARK: Stories

    @Test(arguments: Stories.all.map(\.name))
    func replaysAStoryToTheRefereesState(_ name: String) throws {
        let told = try told(name)
        let path = folder.file("out")
        let replay = try ProjectionFile.write(try record(told), to: path)
        let ledger = told.referee.ledger(of: told.teller.chain)
        #expect(replay.ledger.state.legs.map(\.event) == ledger.state.legs.map(\.event))
        #expect(replay.ledger.waiting.count == ledger.waiting.count)
        #expect(replay.events == told.referee.decisions(of: told.teller.chain).count - waitedAndSettled(told))
        let database = try Database(path: path, mode: .readOnly)
        #expect(
            try texts(database, "SELECT leg FROM legs WHERE custody = 1 ORDER BY number")
                == ledger.state.legs.map(\.event.hex)
        )
        let shown = ledger.state.slots.values.reduce(0) { $0 + $1.count }
        #expect(try database.first("SELECT count(*) FROM fields") { row in try row.int(0) } == shown)
        let waiting = "SELECT count(*) FROM waiting WHERE number = 0"
        #expect(try database.first(waiting) { row in try row.int(0) } == ledger.waiting.count)
        #expect(
            try texts(database, "SELECT event FROM signatures ORDER BY event")
                == ledger.state.signatures.map(\.event.hex).sorted()
        )
    }

    private func waitedAndSettled(_ told: Stories.Told) -> Int {
        let decisions = told.referee.decisions(of: told.teller.chain)
        let waited = Set(decisions.filter { $0.verdict.outcome == .waiting }.map(\.arrival.event.hash))
        return decisions.count { $0.verdict.outcome != .waiting && waited.contains($0.arrival.event.hash) }
    }

    @Test(arguments: Stories.all.map(\.name))
    func givesTheSameDigestsForTheSameRecord(_ name: String) throws {
        let bytes = try record(told(name))
        let digests = try ["one", "two"].map { file in
            _ = try ProjectionFile.write(bytes, to: folder.file(file))
            return try Projections(Database(path: folder.file(file), mode: .readOnly)).digests().map(\.digest)
        }
        #expect(digests[0] == digests[1])
        #expect(digests[0].count == Projections.tables.count)
    }

    @Test func saysWhoWroteAValueAndWhen() throws {
        let told = try told("plain")
        let database = try replayed("plain")
        let leg = told.referee.ledger(of: told.teller.chain).state.legs[0]
        let row = try database.first(
            "SELECT value, party, device, at, conflict, leg FROM fields WHERE path = 'wasteItems/1/quantity'"
        ) { row in try (0..<6).map { try row.value($0) } }
        #expect(
            row == [
                .text(Array(#"{"amount":"7.5","unit":"t"}"#.utf8)), .text(Array(leg.party.description.utf8)),
                .text(Array(leg.device.description.utf8)), .text(Array("2026-11-30T08:01:00.000Z".utf8)), .integer(0),
                .text(Array(leg.event.hex.utf8)),
            ]
        )
    }

    @Test func keepsEachLegsOwnValues() throws {
        let database = try replayed("carrier-twice")
        let sql = """
            SELECT value FROM fields JOIN legs USING (chain, leg) WHERE path = 'vehicleRegistration' ORDER BY number
            """
        #expect(try texts(database, sql) == ["\"YK24 ABC\"", "\"YN73 XYZ\"", "\"YK24 DEF\""])
    }

    @Test func showsHandoffsWithTheirResults() throws {
        let database = try replayed("plain")
        let sql = "SELECT handoff || ' ' || result || ' ' || time_basis || ' ' || mac FROM handoffs ORDER BY taken_at"
        #expect(
            try texts(database, sql) == [
                "collection verified witnessed matched", "transfer verified witnessed matched",
                "delivery verified witnessed matched",
            ]
        )
    }

    @Test func saysWhereOnlyADevicesClockKnowsTheTime() throws {
        let database = try replayed("late-arrivals")
        #expect(try texts(database, "SELECT DISTINCT time_basis FROM handoffs") == ["claimed"])
        #expect(try texts(database, "SELECT event FROM waiting") == [])
    }

    @Test func marksAContest() throws {
        let database = try replayed("two-takers")
        let handoffs = "SELECT result || ' ' || contested FROM handoffs ORDER BY result, contested"
        let found = try texts(database, handoffs)
        #expect(found.contains("verified 1"))
        #expect(found.contains("refused 1"))
        #expect(try database.first("SELECT contested FROM chains") { row in try row.int(0) } == 1)
        #expect(
            try texts(database, "SELECT reasons FROM handoffs WHERE contested = 1 AND result = 'refused'")[0].contains(
                "offer-taken"
            )
        )
    }

    @Test func showsADeclinedOfferAndWhy() throws {
        let database = try replayed("rejected-load")
        #expect(
            try texts(database, "SELECT reasons FROM handoffs WHERE result = 'declined'")
                == [#"["There is plasterboard in it, which this site may not take."]"#]
        )
    }

    @Test func listsRefusalsWithTheirCodes() throws {
        let database = try replayed("refused-edits")
        let codes = Set(try texts(database, "SELECT codes FROM refusals"))
        #expect(codes.isSuperset(of: ["not-your-field", "field-unknown", "field-invalid", "field-sealed"]))
        #expect(codes.contains("device-revoked"))
        #expect(try texts(database, "SELECT why FROM devices WHERE revoked = 1") == ["lost on the road"])
    }

    @Test func keepsBothValuesOfAConflictUntilItIsSettled() throws {
        let teller = try StoryTeller("conflict", openedBy: "office")
        let office = try teller.actor("office", of: "Builder", as: "producer")
        let yard = try teller.actor("yard", of: "Builder", as: "producer")
        let referee = try teller.referee()
        try office.open()
        try office.set(SampleValues.producer)
        referee.receive(from: office)
        yard.learn(from: referee)
        try office.set(["wasteItems/1/quantity": SampleValues.quantity("8", "t")])
        try yard.set(["wasteItems/1/quantity": SampleValues.quantity("6", "t")])
        referee.receive(from: yard, office)
        func conflicts(_ name: String) throws -> (marks: Int?, values: [String]) {
            let path = folder.file(name)
            _ = try ProjectionFile.write(try referee.record(of: teller.chain, at: teller.clock.now), to: path)
            let database = try Database(path: path, mode: .readOnly)
            let marks = try database.first("SELECT sum(conflict) FROM fields") { row in try row.int(0) }
            return (marks, try texts(database, "SELECT value FROM conflicts ORDER BY shown DESC"))
        }
        let open = try conflicts("open")
        #expect(open.marks == 1)
        #expect(open.values == [#"{"amount":"6","unit":"t"}"#, #"{"amount":"8","unit":"t"}"#])
        office.learn(from: referee)
        try office.set(["wasteItems/1/quantity": SampleValues.quantity("7", "t")])
        referee.receive(from: office)
        let settled = try conflicts("settled")
        #expect(settled.marks == 0)
        #expect(settled.values == [])
    }

    // MARK: Files

    @Test func neverWritesOverAFile() throws {
        let path = folder.file("there")
        for content in ["", "something"] {
            try Data(content.utf8).write(to: URL(filePath: path))
            let error = try #require(throws: StoreError.self) {
                try ProjectionFile.write(try record(told("plain")), to: path)
            }
            #expect(error.code == .fileExists)
            #expect(try Data(contentsOf: URL(filePath: path)) == Data(content.utf8))
        }
    }

    @Test func leavesNothingBehindWhereTheRecordIsNone() throws {
        var bytes = try record(told("plain"))
        let event = try #require(bytes.firstRange(of: Array("\"event\":{\"at\"".utf8)))
        bytes[event.lowerBound + 12] = UInt8(ascii: "z")
        for broken in [[], Array("{}\n".utf8), bytes] {
            let error = try #require(throws: StoreError.self) {
                try ProjectionFile.write(broken, to: folder.file("broken"))
            }
            #expect(error.code == .badRecord)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }
}

/// Two tables have one digest exactly when they hold the same rows.
struct TableDigestTests {
    private func digest(_ rows: String) throws -> Digest {
        let database = try Database(path: ":memory:", mode: .create)
        try database.execute("CREATE TABLE t (k, v)")
        if !rows.isEmpty { try database.execute("INSERT INTO t VALUES \(rows)") }
        return try database.digest(of: "t", orderedBy: ["k"])
    }

    @Test func doesNotDependOnTheOrderOfWriting() throws {
        #expect(try digest("(1, 'a'), (2, 'b')") == digest("(2, 'b'), (1, 'a')"))
    }

    @Test(arguments: [
        "", "(1, 'a')", "(1, 'ab'), (2, '')", "(1, 'a'), (2, 'c')", "(1, 'a'), (2, NULL)", "(1, 'a'), (2, x'62')",
        "(1, 'a'), (2, 1)", "(1, 'a'), (2, 1.0)", "(1, 'a'), (2, '1')", "(1, 'a'), (3, 'b')",
        "(1, 'a'), (2, 'b'), (3, '')",
    ])
    func tellsOtherRowsApart(_ rows: String) throws {
        #expect(try digest(rows) != digest("(1, 'a'), (2, 'b')"))
    }

    @Test func tellsAnEmptyTextFromNothing() throws {
        #expect(try digest("(1, '')") != digest("(1, NULL)"))
        #expect(try digest("(1, '')") != digest("(1, x'')"))
    }
}
