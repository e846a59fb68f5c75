import Tallystick
import TallystickCrypto
import TallystickStore
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// A database of an earlier version is opened, and its log folded again into the tables of this one.
struct EarlierVersionTests {
    private let story: FullStory
    private let fixture: ServerFixture

    init() throws {
        story = try FullStory("earlier")
        fixture = try ServerFixture(story.teller.certificates)
        for signed in story.said { try fixture.push([signed.line], from: signed.event.device, at: signed.event.at) }
    }

    private func open() throws -> ServerStore {
        try ServerStore.open(path: fixture.path, schemes: [story.teller.scheme], random: SecureRandom.bytes)
    }

    private func digests() throws -> [Digest] {
        try Projections(try Database(path: fixture.path, mode: .readOnly)).digests().map(\.digest)
    }

    /// Takes the file back to the first version: other columns, fewer tables, no views.
    private func makeEarlier() throws {
        let views = Projections.views.map { "DROP VIEW \($0);" }.joined()
        let tables = Projections.tables.map { "DROP TABLE \($0.name);" }.joined()
        try fixture.tamper(
            """
            \(views) \(tables)
            CREATE TABLE chains (
                chain TEXT PRIMARY KEY, scheme TEXT, scheme_version INTEGER, scheme_hash TEXT, opening TEXT,
                opened_at TEXT, opened_by TEXT, leg INTEGER, role TEXT, holder TEXT, contested INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            INSERT INTO chains (chain, contested) VALUES ('of another version', 0);
            CREATE TABLE legs (
                chain TEXT NOT NULL, leg TEXT NOT NULL, number INTEGER, role TEXT NOT NULL, party TEXT NOT NULL,
                device TEXT NOT NULL, at TEXT NOT NULL, offer TEXT, received TEXT, time_basis TEXT, mac TEXT,
                PRIMARY KEY (chain, leg)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX legs_by_party ON legs (party);
            PRAGMA user_version = 1;
            """
        )
    }

    @Test func foldsTheLogAgainWhenTheTablesAreNew() throws {
        let before = try digests()
        try makeEarlier()
        let store = try open()
        #expect(try digests() == before)
        #expect(try fixture.texts("SELECT name FROM meta ORDER BY name") == ["authority", "epoch", "origin"])
        #expect(try fixture.number("PRAGMA user_version") == 2)
        let report = try store.rebuild(check: true)
        #expect(report.differences == [])
        #expect(report.faults == [])
        // And goes on from there.
        try story.broker.note("Still here.")
        let note = try #require(story.broker.said.last)
        let receipt = try store.ingest([note.line[...]], from: story.broker.device, received: story.teller.clock.now)
        #expect(
            try PushReceipt(line: receipt, signedBy: store.authority).results.map(\.verdict?.outcome) == [.accepted]
        )
    }

    @Test func foldsAgainWhereThatWasBrokenOff() throws {
        let before = try digests()
        try fixture.tamper(
            "DELETE FROM corrections; DELETE FROM legs; INSERT INTO meta VALUES ('projections', 'stale')"
        )
        #expect(try open().rebuild(check: true).isClean)
        #expect(try digests() == before)
    }

    @Test func saysWhereTheLogCannotBeFolded() throws {
        try fixture.push([[0x7B]], from: story.site.device, at: story.teller.clock.now)
        try makeEarlier()
        try fixture.tamper("UPDATE unreadable SET verdict = CAST(x'FF' AS TEXT)")
        let error = try #require(throws: ServerError.self) { try open() }
        #expect(error.code == .logDamaged)
        #expect(error.message.contains("could not be folded"))
        // Nothing is lost: the next attempt says the same.
        #expect(throws: ServerError.self) { try open() }
    }

    @Test func aNewFileHasNothingToFold() throws {
        let path = TemporaryPath()
        let store = try ServerStore.create(
            path: path.path,
            origin: "x",
            schemes: [story.teller.scheme],
            random: SecureRandom.bytes
        )
        #expect(try store.rebuild(check: true).isClean)
    }
}
