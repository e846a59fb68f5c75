import Testing

@testable import TallystickStore

struct StatementTests {
    private let database: Database

    init() throws {
        database = try Database(path: ":memory:", mode: .create)
        try database.execute("CREATE TABLE t (a)")
    }

    private func stored() throws -> StoreError? {
        #expect(throws: StoreError.self) { try database.first("SELECT a FROM t") { row in try row.text(0) } }
    }

    @Test(arguments: ["", "plain", "a\0b", "\0", "é", "e\u{301}", "\u{1F600}", String(repeating: "x", count: 100_000)])
    func keepsEveryByteOfText(_ text: String) throws {
        try database.run("INSERT INTO t VALUES (?)", text)
        let read = try database.first("SELECT a FROM t") { row in try row.text(0) }
        #expect(read.map { Array($0.utf8) } == Array(text.utf8))
        let length = try database.first("SELECT length(CAST(a AS BLOB)) FROM t") { row in try row.int(0) }
        #expect(length == text.utf8.count)
    }

    @Test(arguments: [[], [0], [0, 0xff, 0, 0x80], [UInt8](repeating: 7, count: 70_000)] as [[UInt8]])
    func keepsEveryByteOfABlob(_ bytes: [UInt8]) throws {
        try database.run("INSERT INTO t VALUES (?)", bytes)
        #expect(try database.first("SELECT a FROM t") { row in try row.blob(0) } == bytes)
    }

    @Test func bindsASliceWithoutItsSurroundings() throws {
        let bytes: [UInt8] = [1, 2, 3, 4, 5]
        try database.run("INSERT INTO t VALUES (?)", bytes[1..<4])
        #expect(try database.first("SELECT a FROM t") { row in try row.blob(0) } == [2, 3, 4])
        try database.run("UPDATE t SET a = ?", bytes[2..<2])
        #expect(try database.first("SELECT a FROM t") { row in try row.blob(0) } == [])
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max])
    func keepsIntegers(_ value: Int64) throws {
        try database.run("INSERT INTO t VALUES (?)", value)
        #expect(try database.first("SELECT a FROM t") { row in try row.int64(0) } == value)
    }

    @Test func tellsAnEmptyBlobAndEmptyTextFromNull() throws {
        let empty: [UInt8] = []
        try database.run("INSERT INTO t VALUES (?), (?), (?)", nil, empty, "")
        let nulls = try database.query("SELECT a FROM t ORDER BY rowid") { row in row.isNull(0) }
        #expect(nulls == [true, false, false])
        let types = try database.query("SELECT typeof(a) FROM t ORDER BY rowid") { row in try row.text(0) }
        #expect(types == ["null", "blob", "text"])
        let blobs = try database.query("SELECT a FROM t ORDER BY rowid LIMIT 2") { row in try row.optionalBlob(0) }
        #expect(blobs == [nil, []])
    }

    @Test func bindsAnOptionalAsNullOrItsValue() throws {
        let none: String? = nil
        let some: Int64? = 4
        try database.run("INSERT INTO t VALUES (?), (?)", none, some)
        let read = try database.query("SELECT a FROM t ORDER BY rowid") { row in try row.optionalInt64(0) }
        #expect(read == [nil, 4])
    }

    @Test(arguments: ["x'ff'", "x'c080'", "x'eda080'", "x'41e9'"])
    func refusesTextThatIsNotUTF8(_ bytes: String) throws {
        try database.execute("INSERT INTO t VALUES (CAST(\(bytes) AS TEXT))")
        #expect(try stored()?.code == .invalidText)
    }

    @Test(arguments: ["1", "1.5", "NULL", "x'41'"])
    func convertsNothingToText(_ value: String) throws {
        try database.execute("INSERT INTO t VALUES (\(value))")
        #expect(try stored()?.code == .wrongType)
    }

    @Test(arguments: [-1, 1, 1_000_000, Int.max])
    func refusesAColumnThatDoesNotExist(_ column: Int) throws {
        let error = #expect(throws: StoreError.self) {
            try database.first("SELECT 1") { row in try row.int64(column) }
        }
        #expect(error?.code == .wrongType)
    }

    @Test(arguments: [0, -1, 2, Int.max])
    func refusesAParameterThatDoesNotExist(_ index: Int) throws {
        var statement = try database.statement("INSERT INTO t VALUES (?)")
        do {
            try statement.bind("x", at: index)
            Issue.record("bound parameter \(index)")
        } catch {
            #expect(error.code == .misuse)
        }
    }

    @Test func refusesAnotherNumberOfValuesThanParameters() throws {
        for values in [[], [1, 2]] as [[Int]] {
            var statement = try database.statement("INSERT INTO t VALUES (?)")
            do {
                try statement.run(values.map { $0 as any Bindable })
                Issue.record("ran with \(values.count) values")
            } catch {
                #expect(error.code == .misuse)
            }
        }
    }

    @Test(arguments: ["", " ", "nonsense", "SELECT 1; SELECT 2", "SELECT 1\0", "SELECT * FROM missing"])
    func refusesSQLThatIsNotOneStatement(_ sql: String) throws {
        let error = #expect(throws: StoreError.self) { try database.run(sql) }
        #expect(error?.code == .misuse)
    }

    @Test func preparesTheSameTextOnce() throws {
        let sql = "INSERT INTO t VALUES (?)"
        for number in 0..<10 { try database.run(sql, number) }
        // The statement keeps count of its runs: all ten were the same one.
        let runs = try database.first("SELECT run FROM sqlite_stmt WHERE sql = ?", sql) { row in try row.int(0) }
        #expect(runs == 10)
        #expect(
            try database.first("SELECT count(*) FROM sqlite_stmt WHERE sql = ?", sql) { row in try row.int(0) } == 1
        )
    }

    @Test func tellsApartSQLThatSwiftTakesForEqual() throws {
        let composed = try database.first("SELECT length('\u{e9}')") { row in try row.int(0) }
        let decomposed = try database.first("SELECT length('e\u{301}')") { row in try row.int(0) }
        #expect(composed == 1)
        #expect(decomposed == 2)
    }

    @Test func forgetsTheValuesOfTheUseBefore() throws {
        try database.run("INSERT INTO t VALUES (?)", "secret")
        var statement = try database.statement("INSERT INTO t VALUES (?)")
        try statement.run()  // nothing bound: NULL, not what the last use left
        let read = try database.query("SELECT a FROM t ORDER BY rowid") { row in try row.optionalText(0) }
        #expect(read == ["secret", nil])
    }

    @Test func worksAgainAfterTheRowClosureThrew() throws {
        struct Stop: Error {}
        try database.execute("INSERT INTO t VALUES (1), (2), (3)")
        for _ in 0..<3 {
            #expect(throws: Stop.self) { try database.query("SELECT a FROM t") { _ in throw Stop() } }
        }
        #expect(try database.query("SELECT a FROM t") { row in try row.int(0) } == [1, 2, 3])
        // A statement left open would hold its read lock and make this fail.
        try database.execute("DROP TABLE t")
    }

    @Test func worksAgainAfterAConstraintFailed() throws {
        try database.execute("CREATE TABLE u (a PRIMARY KEY)")
        try database.run("INSERT INTO u VALUES (?)", 1)
        for _ in 0..<3 {
            let error = #expect(throws: StoreError.self) { try database.run("INSERT INTO u VALUES (?)", 1) }
            #expect(error?.code == .constraint)
        }
        try database.run("INSERT INTO u VALUES (?)", 2)
        #expect(try database.query("SELECT a FROM u ORDER BY a") { row in try row.int(0) } == [1, 2])
    }

    @Test func givesNestedUsesOfOneTextAStatementEach() throws {
        try database.execute("INSERT INTO t VALUES (1), (2), (3)")
        let sql = "SELECT a FROM t ORDER BY a"
        let pairs = try database.query(sql) { outer in
            let first = try outer.int(0)
            return try database.query(sql) { inner in first * 10 + (try inner.int(0)) }
        }
        #expect(pairs == [[11, 12, 13], [21, 22, 23], [31, 32, 33]])
    }

    @Test func keepsFewerStatementsThanAreMade() throws {
        for number in 0..<2_000 {
            _ = try database.first("SELECT \(number)") { row in try row.int(0) }
        }
        let open = try database.first("SELECT count(*) FROM sqlite_stmt") { row in try row.int(0) }
        #expect(try #require(open) <= 257)
    }
}
