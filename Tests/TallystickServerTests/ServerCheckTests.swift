import Foundation
import Tallystick
import TallystickCrypto
import TallystickStore
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// A check of the file sees every table, and the pages themselves.
struct ServerCheckTests {
    private let story: Untold
    private let fixture: ServerFixture

    init() throws {
        story = try Untold("check")
        fixture = try story.fixture()
        for actor in story.actors { try fixture.push(actor.said, from: actor, at: story.now) }
        try fixture.push([[0x7B]], from: story.site.device, at: story.now)
        try fixture.store.revoke(story.rival.device, why: "lost", now: story.now)
        let key = SigningKey.generate()
        let roles = [try Derived.name("producer"), try Derived.name("carrier")]
        let codes = try ["Invited", "Enrolled"].map { party in
            try fixture.store.invite(party: party, roles: roles, person: "Pat", validFor: 60, now: story.now)
        }
        let proof = key.signature(for: Array(codes[1].utf8), domain: ServerStore.enrolDomain)
        _ = try fixture.store.enrol(code: codes[1], key: key.publicKey, proof: proof, now: story.now)
    }

    @Test func findsNothingWhereNothingIsWrong() throws {
        for table in ServerSchema.log.map(\.name) + ServerSchema.underived {
            #expect(try fixture.number("SELECT count(*) FROM \(table)") ?? 0 > 0, "\(table)")
        }
        let report = try fixture.store.rebuild(check: true)
        #expect(report.faults == [])
        #expect(report.differences == [])
        #expect(report.isClean)
    }

    @Test func looksAtEveryTableThereIs() throws {
        let report = try fixture.store.rebuild(check: true)
        let tables = try fixture.texts(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        )
        #expect(Set(report.tables.map(\.table) + report.underived) == Set(tables))
        #expect(report.underived == ["invitations", "meta"])
    }

    @Test(arguments: [
        ("events", "INSERT INTO events VALUES (100000, zeroblob(16), 0, x'7B7D')"),
        ("unreadable", "INSERT INTO unreadable VALUES (100000, zeroblob(32), zeroblob(16), 0, '{}', x'7B')"),
        ("certificates", "INSERT INTO certificates SELECT 100000, zeroblob(16), line FROM certificates LIMIT 1"),
        ("revocations", "INSERT INTO revocations SELECT 100000, device, 'why', 0 FROM certificates LIMIT 1"),
        ("revocations", "INSERT INTO revocations SELECT -1, device, 'why', 0 FROM certificates LIMIT 1"),
    ])
    func findsRowsAtPositionsTheLogDoesNotHave(_ table: String, _ sql: String) throws {
        try fixture.tamper(sql)
        let report = try fixture.store.rebuild(check: true)
        #expect(report.differences.contains(table))
        #expect(report.faults.contains { $0.contains("rows of \(table) stand at positions outside the log") })
    }

    @Test(arguments: [
        ("parties", "UPDATE parties SET name = 'Another' WHERE name = 'Builder'"),
        ("parties", "UPDATE parties SET name = 'Another' WHERE name = 'Enrolled'"),
        ("events", "UPDATE events SET device = zeroblob(16) WHERE position = (SELECT max(position) FROM events)"),
        ("entries", "UPDATE events SET received = received + 1 WHERE position = (SELECT max(position) FROM events)"),
        ("unreadable", "UPDATE unreadable SET hash = zeroblob(32)"),
        ("certificates", "UPDATE certificates SET device = zeroblob(16) WHERE position = 1"),
        ("entries", "UPDATE revocations SET why = 'found'"),
        ("schemes", "UPDATE schemes SET since = 100000"),
        ("schemes", "UPDATE schemes SET hash = zeroblob(32) WHERE hash = (SELECT min(hash) FROM schemes)"),
        ("withheld", "DELETE FROM withheld"),
        ("withheld", "UPDATE withheld SET shown = 1 - shown"),
        ("feed", "DELETE FROM feed WHERE number = 1 AND party = 1"),
        ("feed", "INSERT INTO feed VALUES (77, 1, 1)"),
    ])
    func findsRowsThatTheLogDoesNotGive(_ table: String, _ sql: String) throws {
        try fixture.tamper(sql)
        #expect(try fixture.store.rebuild(check: true).differences.contains(table))
    }

    @Test(arguments: [
        ("epoch", "UPDATE meta SET value = 'x' WHERE name = 'epoch'"),
        ("epoch", "UPDATE meta SET value = upper(value) || 'A' WHERE name = 'epoch'"),
        ("epoch", "DELETE FROM meta WHERE name = 'epoch'"),
        ("origin", "UPDATE meta SET value = '' WHERE name = 'origin'"),
        ("origin", "UPDATE meta SET value = 'a' || char(10) WHERE name = 'origin'"),
        (
            "authority",
            "UPDATE meta SET value = replace(value, substr(value, 1, 8), '00000000') WHERE name = 'authority'"
        ),
        ("meta", "INSERT INTO meta VALUES ('more', 'x')"),
        ("invitation", "UPDATE invitations SET roles = 'carrier' WHERE used_by IS NOT NULL"),
        ("invitation", "UPDATE invitations SET roles = 'producer,,'"),
        ("invitation", "UPDATE invitations SET person = NULL WHERE used_by IS NOT NULL"),
        ("invitation", "UPDATE invitations SET party = 1"),
        ("invitation", "UPDATE invitations SET code = x'00' WHERE used_by IS NULL"),
        ("invitation", "UPDATE invitations SET used_by = zeroblob(32) WHERE used_by IS NULL"),
        ("refers", "PRAGMA foreign_keys = OFF; UPDATE invitations SET party = 77"),
        ("trigger", "CREATE TRIGGER t BEFORE INSERT ON notes BEGIN SELECT RAISE(IGNORE); END"),
        ("index", "DROP INDEX legs_by_party"),
        ("table", "CREATE TABLE extra (x)"),
    ])
    func findsWhatIsNoneOfTheServersOwn(_ word: String, _ sql: String) throws {
        try fixture.tamper(sql)
        let report = try fixture.store.rebuild(check: true)
        #expect(report.faults.contains { $0.contains(word) }, "\(report.faults)")
        #expect(!report.isClean)
    }

    @Test func findsTimesThatGoBack() throws {
        try fixture.tamper("UPDATE events SET received = 1 WHERE position = (SELECT max(position) FROM events)")
        let report = try fixture.store.rebuild(check: true)
        #expect(report.faults.contains { $0.contains("come before what stands before it") })
    }

    @Test(arguments: ["notes", "feed", "events", "legs_by_party"])
    func findsADamagedPageAndThenWritesNothing(_ name: String) throws {
        let page = try fixture.number("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'") ?? 0
        let database = try Database(path: fixture.path, mode: .open)
        try database.checkpoint()
        database.close()
        let file = try FileHandle(forUpdating: URL(filePath: fixture.path))
        try file.seek(toOffset: UInt64(page - 1) * 4_096)
        try file.write(contentsOf: [UInt8](repeating: 0xA5, count: 4_096))
        try file.close()
        for check in [true, false] {
            let report = try fixture.store.rebuild(check: check)
            #expect(report.faults.contains { $0.contains("the file is damaged") }, "\(report.faults)")
            #expect(!report.isClean)
            #expect(!report.wasSwapped)
        }
    }
}
