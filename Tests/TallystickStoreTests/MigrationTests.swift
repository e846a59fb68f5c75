import Synchronization
import Testing

@testable import TallystickStore

struct MigrationTests {
    private let folder: TemporaryFolder
    private let path: String
    private let first = Migration("make t", sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    private let second = Migration("add b") { database in try database.execute("ALTER TABLE t ADD COLUMN b") }

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("data.tally")
    }

    private func version(_ database: Database) throws -> Int? {
        try database.first("PRAGMA user_version") { row in try row.int(0) }
    }

    @Test func appliesEachMigrationOnceAndInOrder() throws {
        let database = try Database(path: path, mode: .create)
        try Migrator([first]).migrate(database)
        #expect(try version(database) == 1)
        for _ in 0..<2 { try Migrator([first, second]).migrate(database) }
        #expect(try version(database) == 2)
        #expect(try database.query("SELECT a, b FROM t") { row in row.isNull(1) } == [true])
    }

    @Test func keepsNothingWhenOneMigrationFails() throws {
        let database = try Database(path: path, mode: .create)
        let bad = Migration("fail", sql: "CREATE TABLE u (a); nonsense")
        #expect(throws: StoreError.self) { try Migrator([first, bad]).migrate(database) }
        #expect(try version(database) == 0)
        #expect(try database.first("SELECT count(*) FROM sqlite_schema") { row in try row.int(0) } == 0)
        try Migrator([first, second]).migrate(database)
    }

    @Test func refusesAFileOfANewerVersion() throws {
        let database = try Database(path: path, mode: .create)
        try Migrator([first, second]).migrate(database)
        let error = #expect(throws: StoreError.self) { try Migrator([first]).migrate(database) }
        #expect(error?.code == .needsNewerVersion)
        #expect(error?.remedy != nil)
        #expect(try version(database) == 2)
    }

    @Test func refusesANegativeVersion() throws {
        let database = try Database(path: path, mode: .create)
        try database.execute("PRAGMA user_version = -1")
        let error = #expect(throws: StoreError.self) { try Migrator([first]).migrate(database) }
        #expect(error?.code == .corrupt)
    }

    @Test func acceptsAnUpToDateFileReadOnly() throws {
        try Migrator([first]).migrate(Database(path: path, mode: .create))
        try Migrator([first]).migrate(Database(path: path, mode: .readOnly))
    }

    @Test func migratesOnceWhenManyProcessesStart() async throws {
        _ = try Database(path: path, mode: .create)
        let failures = Mutex<[String]>([])
        let migrator = Migrator([first, second])
        await onThreads(8) { [path] _ in
            do {
                try migrator.migrate(Database(path: path, mode: .open, busyTimeoutMilliseconds: 60_000))
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let database = try Database(path: path, mode: .open)
        #expect(try database.first("SELECT count(*) FROM t") { row in try row.int(0) } == 1)
    }
}
