import Foundation
import Synchronization
import Testing

@testable import TallystickStore

struct DatabaseTests {
    private struct Stop: Error, Equatable {}

    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("data.tally")
    }

    private func opening(_ mode: Database.Mode, id: Int32? = 7) -> StoreError? {
        #expect(throws: StoreError.self) { try Database(path: path, mode: mode, applicationID: id) }
    }

    private func count(_ database: Database) throws -> Int? {
        try database.first("SELECT count(*) FROM t") { row in try row.int(0) }
    }

    // MARK: Opening

    @Test func setsWhatEveryConnectionNeeds() throws {
        let database = try Database(path: path, mode: .create, applicationID: 7)
        func pragma(_ name: String) throws -> Int? { try database.first("PRAGMA \(name)") { row in try row.int(0) } }
        #expect(try database.first("PRAGMA journal_mode") { row in try row.text(0) } == "wal")
        #expect(try pragma("synchronous") == 2)
        #expect(try pragma("foreign_keys") == 1)
        #expect(try pragma("trusted_schema") == 0)
        #expect(try pragma("application_id") == 7)
    }

    @Test(arguments: [Database.Mode.open, .readOnly])
    func refusesAFileThatDoesNotExist(_ mode: Database.Mode) {
        #expect(opening(mode)?.code == .notFound)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    // SQLite takes a file of one byte for an empty one, so two is the least garbage.
    @Test(arguments: [Database.Mode.create, .open, .readOnly], [2, 100, 511, 512, 5_000])
    func refusesGarbageAndLeavesItAlone(_ mode: Database.Mode, _ size: Int) throws {
        let garbage = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) })
        try garbage.write(to: URL(filePath: path))
        #expect(opening(mode)?.code == .notATallystickFile)
        #expect(opening(mode, id: nil)?.code == .notATallystickFile)
        #expect(try Data(contentsOf: URL(filePath: path)) == garbage)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    }

    @Test(arguments: [Database.Mode.create, .open, .readOnly], ["PRAGMA application_id = 8", "CREATE TABLE t (a)"])
    func refusesTheDatabaseOfAnotherProgram(_ mode: Database.Mode, _ sql: String) throws {
        let other = try Database(path: path, mode: .create)
        try other.execute(sql)
        try other.checkpoint()
        other.close()
        let before = try Data(contentsOf: URL(filePath: path))
        #expect(opening(mode)?.code == .notATallystickFile)
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }

    @Test func refusesAFolderAndAnEmptyPath() {
        for path in [folder.path, "", "a\0b"] {
            let error = #expect(throws: StoreError.self) { try Database(path: path, mode: .create) }
            #expect(error?.code == .cannotOpen)
        }
    }

    @Test func takesAPathForANameAndNotForAURI() throws {
        let error = #expect(throws: StoreError.self) { try Database(path: "file:\(path)?mode=rwc", mode: .open) }
        #expect(error?.code == .notFound)
    }

    @Test func opensWhatItMade() throws {
        try Database(path: path, mode: .create, applicationID: 7).execute(
            "CREATE TABLE t (a); INSERT INTO t VALUES (1)"
        )
        for mode in [Database.Mode.create, .open, .readOnly] {
            #expect(try count(Database(path: path, mode: mode, applicationID: 7)) == 1)
        }
        #expect(opening(.open, id: 8)?.code == .notATallystickFile)
    }

    @Test func writesNothingWhenReadOnly() throws {
        try Database(path: path, mode: .create).execute("CREATE TABLE t (a)")
        let database = try Database(path: path, mode: .readOnly)
        let error = #expect(throws: StoreError.self) { try database.run("INSERT INTO t VALUES (1)") }
        #expect(error?.code == .readOnly)
    }

    @Test func letsManyProcessesMakeTheSameFile() async {
        let failures = Mutex<[String]>([])
        await onThreads(8) { [path] _ in
            do {
                _ = try Database(path: path, mode: .create, busyTimeoutMilliseconds: 60_000, applicationID: 7)
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
    }

    @Test func refusesEverythingOnceClosed() throws {
        let database = try Database(path: path, mode: .create)
        try database.execute("CREATE TABLE t (a)")
        var statement = try database.statement("INSERT INTO t VALUES (1)")
        database.close()
        database.close()
        do {
            try statement.run()
            Issue.record("a statement ran after its database was closed")
        } catch {
            #expect(error.code == .misuse)
        }
        #expect(throws: StoreError.self) { try database.execute("SELECT 1") }
        #expect(throws: StoreError.self) { try database.run("SELECT 1") }
        #expect(throws: StoreError.self) { try database.transaction {} }
        #expect(throws: StoreError.self) { try database.checkpoint() }
        #expect(!database.isInTransaction)
    }

    @Test func checkpointLeavesTheFileComplete() throws {
        let database = try Database(path: path, mode: .create)
        try database.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        try database.checkpoint()
        let copy = folder.file("copy.tally")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        #expect(try count(Database(path: copy, mode: .open)) == 1)
    }

    // MARK: Transactions

    @Test func keepsNothingOfATransactionThatThrew() throws {
        let database = try Database(path: path, mode: .create)
        try database.execute("CREATE TABLE t (a)")
        #expect(throws: Stop()) {
            try database.transaction {
                try database.run("INSERT INTO t VALUES (1)")
                throw Stop()
            }
        }
        #expect(try count(database) == 0)
        #expect(!database.isInTransaction)
        let result = try database.transaction {
            try database.run("INSERT INTO t VALUES (2)")
            return database.lastInsertedRowID
        }
        #expect(result == 1)
        #expect(database.changes == 1)
        #expect(try count(database) == 1)
    }

    @Test func undoesASavepointAlone() throws {
        let database = try Database(path: path, mode: .create)
        try database.execute("CREATE TABLE t (a)")
        try database.transaction {
            for number in 0..<4 {
                do {
                    try database.savepoint {
                        try database.run("INSERT INTO t VALUES (?)", number)
                        try database.savepoint { try database.run("INSERT INTO t VALUES (?)", number + 10) }
                        if number % 2 == 1 { throw Stop() }
                    }
                } catch is Stop {}
            }
        }
        #expect(try database.query("SELECT a FROM t ORDER BY a") { row in try row.int(0) } == [0, 2, 10, 12])
    }

    @Test func refusesASavepointOutsideAndATransactionInside() throws {
        let database = try Database(path: path, mode: .create)
        #expect(throws: StoreError.self) { try database.savepoint {} }
        #expect(throws: StoreError.self) { try database.transaction { try database.transaction {} } }
        #expect(!database.isInTransaction)
    }

    @Test func writesNothingMoreOnceATransactionIsLost() throws {
        let database = try Database(path: path, mode: .create)
        try database.execute("CREATE TABLE t (a UNIQUE)")
        // `OR ROLLBACK` does what a full disk does: SQLite itself ends the transaction.
        let error = #expect(throws: StoreError.self) {
            try database.transaction {
                try database.run("INSERT INTO t VALUES (1)")
                do {
                    try database.savepoint { try database.run("INSERT OR ROLLBACK INTO t VALUES (1)") }
                } catch let error as StoreError {
                    #expect(error.code == .constraint)
                }
                try database.run("INSERT INTO t VALUES (2)")
            }
        }
        #expect(error?.code == .transactionLost)
        #expect(try count(database) == 0)
        try database.transaction { try database.run("INSERT INTO t VALUES (3)") }
        #expect(try count(database) == 1)
    }

    @Test func readsOneStateInASnapshot() throws {
        let writer = try Database(path: path, mode: .create)
        try writer.execute("CREATE TABLE t (a)")
        let reader = try Database(path: path, mode: .readOnly)
        let counts = try reader.snapshot {
            let before = try count(reader)
            try writer.run("INSERT INTO t VALUES (1)")
            return [before, try count(reader)]
        }
        #expect(counts == [0, 0])
        #expect(try count(reader) == 1)
    }

    @Test func losesNoUpdateBetweenTwoConnections() async throws {
        try Database(path: path, mode: .create).execute("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (0)")
        let failures = Mutex<[String]>([])
        await onThreads(2) { [path] _ in
            do {
                let database = try Database(path: path, mode: .open, busyTimeoutMilliseconds: 120_000)
                for _ in 0..<500 {
                    try database.transaction {
                        let number = try database.first("SELECT n FROM t") { row in try row.int(0) }
                        try database.run("UPDATE t SET n = ?", (number ?? 0) + 1)
                    }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let total = try Database(path: path, mode: .open).first("SELECT n FROM t") { row in try row.int(0) }
        #expect(total == 1_000)
    }

    @Test func saysBusyWhileAnotherConnectionWrites() throws {
        let first = try Database(path: path, mode: .create)
        let second = try Database(path: path, mode: .open, busyTimeoutMilliseconds: 0)
        try first.transaction {
            let error = #expect(throws: StoreError.self) { try second.transaction {} }
            #expect(error?.code == .busy)
        }
        try second.transaction {}
    }

    // MARK: Trouble

    @Test func saysDiskFullAndStaysReadable() throws {
        let database = try Database(path: path, mode: .create)
        try database.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        let pages = try #require(try database.first("PRAGMA page_count") { row in try row.int(0) })
        _ = try database.first("PRAGMA max_page_count = \(pages + 8)") { row in try row.int(0) }
        let blob = [UInt8](repeating: 1, count: 10_000)
        let error = #expect(throws: StoreError.self) {
            try database.transaction {
                for _ in 0..<1_000 { try database.run("INSERT INTO t VALUES (?)", blob) }
            }
        }
        #expect(error?.code == .diskFull)
        #expect(error?.remedy != nil)
        #expect(try count(database) == 1)
        #expect(try count(Database(path: path, mode: .readOnly)) == 1)
        try database.run("INSERT INTO t VALUES (2)")
        #expect(try count(database) == 2)
    }

    @Test func saysCorruptWhenPagesAreDamaged() throws {
        let database = try Database(path: path, mode: .create, applicationID: 7)
        try database.execute("CREATE TABLE t (a)")
        for number in 0..<200 {
            try database.run("INSERT INTO t VALUES (?)", String(repeating: "x", count: 500 + number))
        }
        try database.checkpoint()
        database.close()
        var bytes = try Data(contentsOf: URL(filePath: path))
        for index in 4_096..<bytes.count { bytes[index] = 0xa5 }
        try bytes.write(to: URL(filePath: path))
        let damaged = try Database(path: path, mode: .open, applicationID: 7)
        let error = #expect(throws: StoreError.self) { try count(damaged) }
        #expect(error?.code == .corrupt)
    }

    @Test func refusesARowAgainstAForeignKey() throws {
        let database = try Database(path: path, mode: .create)
        try database.execute("CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p)")
        let error = #expect(throws: StoreError.self) { try database.run("INSERT INTO c VALUES (1)") }
        #expect(error?.code == .constraint)
    }

    @Test func keepsBoundValuesOutOfMessages() throws {
        let database = try Database(path: path, mode: .create)
        try database.execute("CREATE TABLE t (a UNIQUE)")
        try database.run("INSERT INTO t VALUES (?)", "hunter2")
        let error = #expect(throws: StoreError.self) { try database.run("INSERT INTO t VALUES (?)", "hunter2") }
        #expect(error?.description.contains("hunter2") == false)
    }
}
