import CSQLite
import Glibc

/// One connection to one SQLite file.
///
/// The connection is opened without SQLite's own mutex (`SQLITE_OPEN_NOMUTEX`) and the class is not `Sendable`: the
/// compiler then proves what the mutex would only check, that one owner at a time uses it. A mutex would keep
/// SQLite's memory sound between threads, but not transactions: the statements of two threads would mix in one.
/// Threads that work side by side open a connection each; a `Mutex` or an actor may own one for many.
@safe package final class Database {
    /// How a file is opened.
    package enum Mode: Sendable {
        /// Read and write; the file is made where there is none.
        case create
        /// Read and write a file that exists.
        case open
        /// Read a file that exists. Its folder must be writable, or the files beside it present (WAL).
        case readOnly
    }

    /// The path given when it was opened.
    package let path: String

    private(set) var handle: OpaquePointer?
    private var cache: [SQLText: PreparedStatement] = [:]
    /// Statements whose SQL is a literal, by the literal's address: no text is hashed for each row written.
    private var literals: [UInt: PreparedStatement] = [:]
    /// True between the `BEGIN` and the end of ``transaction(_:)``.
    private var isGuarded = false
    /// True once a savepoint could not be undone, so that the transaction holds half of something.
    private var isDoomed = false

    /// The number of SQL texts kept prepared.
    ///
    /// Beyond it all idle ones are dropped, so that generated SQL cannot grow the memory without limit.
    private static let cacheLimit = 256

    /// Opens the file and sets WAL, `synchronous=FULL`, `foreign_keys=ON` and `trusted_schema=OFF`.
    ///
    /// - Parameters:
    ///   - path: The file, or `:memory:` for a database that goes away with the connection. Never a URI.
    ///   - mode: Whether it may be made and written.
    ///   - busyTimeoutMilliseconds: How long to wait for the lock of another connection.
    ///   - applicationID: The number that must stand in the file's header (SQLite file format, section 1.3.17); it is
    ///     put into a new file. Nil accepts any database.
    /// - Throws: ``StoreError/Code/notFound``, ``StoreError/Code/cannotOpen``, ``StoreError/Code/readOnly``,
    ///   ``StoreError/Code/busy``, and ``StoreError/Code/notATallystickFile`` for a file that is no database or has
    ///   another application id; such a file is left as it was.
    package init(
        path: String,
        mode: Mode,
        busyTimeoutMilliseconds: Int = 5_000,
        applicationID: Int32? = nil
    ) throws(StoreError) {
        self.path = path
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw StoreError(.cannotOpen, "expected the path of a database, got an empty or unusable one")
        }
        guard sqlite3_threadsafe() != 0 else {
            // A connection may move between threads, which a library built for one thread does not allow.
            throw StoreError(.cannotOpen, "expected an SQLite library built for threads")
        }
        let access =
            switch mode {
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .open: SQLITE_OPEN_READWRITE
            case .readOnly: SQLITE_OPEN_READONLY
            }
        let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        // Debian's SQLite reads a leading `file:` as a URI with options; `./` keeps it a name.
        let name = path.hasPrefix("file:") ? "./" + path : path
        let code = unsafe sqlite3_open_v2(name, &handle, flags, nil)
        // From here on `deinit` runs when this throws, and closes the handle that SQLite gives even on failure.
        guard code == SQLITE_OK else { throw openError(code) }
        do throws(StoreError) {
            let timeout = unsafe sqlite3_busy_timeout(handle, Int32(clamping: busyTimeoutMilliseconds))
            guard timeout == SQLITE_OK else { throw error(timeout) }
            try configure(mode: mode, applicationID: applicationID, busyTimeout: busyTimeoutMilliseconds)
        } catch {
            throw error.sqliteCode == Int(SQLITE_NOTADB) ? notATallystickFile("no database") : error
        }
    }

    deinit {
        close()
    }

    /// Closes the connection; calling it again does nothing.
    ///
    /// Statements still in use keep the file open until they end, and every later call throws
    /// ``StoreError/Code/misuse``.
    package func close() {
        cache.removeAll()
        literals.removeAll()
        // `close_v2` waits for statements still in use and has no other way to fail.
        unsafe sqlite3_close_v2(handle)
        unsafe handle = nil
    }

    // MARK: Statements

    /// Gives a statement for the SQL, prepared once per text and kept for the next call.
    ///
    /// A text whose statement is in use gets another one of its own. Using the result after ``close()`` throws.
    ///
    /// - Parameter sql: One statement, with `?` or `?1` for values.
    /// - Throws: ``StoreError/Code/misuse`` for bad SQL.
    package func statement(_ sql: String) throws(StoreError) -> Statement {
        let key = SQLText(text: sql)
        if let prepared = cache[key] {
            guard prepared.isInUse else {
                prepared.isInUse = true
                return Statement(prepared, on: self)
            }
            return Statement(try prepare(sql), on: self)
        }
        let prepared = try prepare(sql)
        if cache.count >= Self.cacheLimit {
            cache = cache.filter { $0.value.isInUse }
        }
        cache[key] = prepared
        return Statement(prepared, on: self)
    }

    /// Gives a statement for SQL that stands in the program, for the paths that run for every event.
    ///
    /// - Parameter sql: A literal; it is told apart by where it stands, and never let go.
    /// - Throws: ``StoreError/Code/misuse`` for bad SQL.
    package func statement(literal sql: StaticString) throws(StoreError) -> Statement {
        guard sql.hasPointerRepresentation else { return try statement(sql.description) }
        let key = unsafe UInt(bitPattern: sql.utf8Start)
        if let prepared = literals[key] {
            guard prepared.isInUse else {
                prepared.isInUse = true
                return Statement(prepared, on: self)
            }
            return Statement(try prepare(sql.description), on: self)
        }
        let prepared = try prepare(sql.description)
        literals[key] = prepared
        return Statement(prepared, on: self)
    }

    /// Runs SQL that gives no rows worth reading: one statement or several.
    ///
    /// - Throws: The first failure; earlier statements stay done unless a transaction undoes them.
    package func execute(_ sql: String) throws(StoreError) {
        try checkUsable()
        guard !sql.utf8.contains(0) else { throw StoreError(.misuse, "expected SQL without NUL") }
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Runs one statement with values for its parameters, in order, and ignores rows.
    package func run(_ sql: String, _ values: (any Bindable)?...) throws(StoreError) {
        var statement = try statement(sql)
        try statement.run(values)
    }

    /// Gives what `row` makes of every row.
    ///
    /// - Throws: ``StoreError``, or what `row` throws.
    package func query<T>(
        _ sql: String,
        _ values: (any Bindable)?...,
        row: (borrowing Statement) throws -> T
    ) throws -> [T] {
        var statement = try statement(sql)
        try statement.bind(values)
        var results: [T] = []
        while try statement.step() {
            results.append(try row(statement))
        }
        return results
    }

    /// Gives what `row` makes of the first row, or nil where there is none.
    ///
    /// - Throws: ``StoreError``, or what `row` throws.
    package func first<T>(
        _ sql: String,
        _ values: (any Bindable)?...,
        row: (borrowing Statement) throws -> T
    ) throws -> T? {
        var statement = try statement(sql)
        try statement.bind(values)
        return try statement.step() ? try row(statement) : nil
    }

    /// The number of rows the last INSERT, UPDATE or DELETE changed.
    package var changes: Int {
        guard isOpen else { return 0 }
        return Int(unsafe sqlite3_changes64(handle))
    }

    /// The row id of the last row inserted on this connection.
    package var lastInsertedRowID: Int64 {
        guard isOpen else { return 0 }
        return unsafe sqlite3_last_insert_rowid(handle)
    }

    // MARK: Transactions

    /// Runs `body` in a transaction that holds the write lock from its start (`BEGIN IMMEDIATE`).
    ///
    /// Taking the lock first means that what `body` reads is still true when it writes, and that waiting for another
    /// writer happens here, where the busy timeout applies, and not in the middle. Transactions do not nest.
    ///
    /// - Throws: The first error of `body` or of the commit; then nothing of it is kept.
    package func transaction<T>(_ body: () throws -> T) throws -> T {
        try checkUsable()
        guard !isInTransaction else { throw StoreError(.misuse, "expected no transaction, got one inside another") }
        try control("BEGIN IMMEDIATE")
        isGuarded = true
        defer {
            isGuarded = false
            isDoomed = false
        }
        do {
            let result = try body()
            try checkUsable()
            try control("COMMIT")
            return result
        } catch {
            // SQLite may have rolled back by itself (disk full), and a rollback that fails must not hide why.
            if isInTransaction {
                do { try control("ROLLBACK") } catch {}
            }
            throw error
        }
    }

    /// Runs `body` as a part of a transaction that can be undone alone.
    ///
    /// - Throws: The first error of `body`; then its changes are undone and the transaction goes on. If SQLite had to
    ///   give up the whole transaction, everything after this throws ``StoreError/Code/transactionLost``.
    package func savepoint<T>(_ body: () throws -> T) throws -> T {
        try checkUsable()
        guard isInTransaction else { throw StoreError(.misuse, "expected a savepoint inside a transaction") }
        try control("SAVEPOINT part")
        do {
            let result = try body()
            try checkUsable()
            try control("RELEASE part")
            return result
        } catch {
            undoSavepoint()
            throw error
        }
    }

    /// Runs `body` so that all its reads see the same state, without keeping writers out.
    ///
    /// - Throws: What `body` throws. Writing in it is a mistake that may fail with ``StoreError/Code/busy``.
    package func snapshot<T>(_ body: () throws -> T) throws -> T {
        try checkUsable()
        guard !isInTransaction else { throw StoreError(.misuse, "expected no transaction, got one around a snapshot") }
        try control("BEGIN DEFERRED")
        defer {
            // Ends the reading; there is nothing to keep, so nothing can be lost if it fails.
            if isInTransaction { do { try control("ROLLBACK") } catch {} }
        }
        return try body()
    }

    /// Moves the write-ahead log into the file and empties it, so that the file alone is complete.
    ///
    /// - Throws: ``StoreError/Code/busy`` while another connection reads or writes.
    package func checkpoint() throws(StoreError) {
        try checkUsable()
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Whether a transaction is open.
    package var isInTransaction: Bool {
        guard isOpen else { return false }
        return unsafe sqlite3_get_autocommit(handle) == 0
    }

    private func undoSavepoint() {
        guard isInTransaction else { return }  // the whole transaction is gone, and `checkUsable` says so
        do {
            try control("ROLLBACK TO part")
            try control("RELEASE part")
        } catch {
            isDoomed = true
        }
    }

    /// Runs a statement that begins or ends something, past the check that it may itself make true.
    private func control(_ sql: StaticString) throws(StoreError) {
        var statement = try statement(literal: sql)
        _ = try statement.stepUnchecked()
    }
}

// MARK: - What statements need

extension Database {
    private var isOpen: Bool {
        unsafe handle != nil
    }

    /// Throws where the database is closed, or where the transaction this should be part of no longer exists.
    ///
    /// After some failures (disk full, I/O) SQLite rolls back by itself. A caller that goes on after catching such
    /// an error would write outside any transaction, row by row, what was meant to be all or nothing.
    func checkUsable() throws(StoreError) {
        guard isOpen else { throw StoreError(.misuse, "expected an open database, got a closed one") }
        if isGuarded, isDoomed || !isInTransaction {
            throw StoreError(.transactionLost, "the transaction was given up after an earlier failure")
        }
    }

    /// Makes an error of a result code and what SQLite says about the last call.
    func error(_ code: Int32) -> StoreError {
        guard isOpen else { return StoreError(.misuse, "expected an open database, got a closed one") }
        let system = unsafe sqlite3_system_errno(handle)
        let message = unsafe sqlite3_errmsg(handle).map { unsafe String(cString: $0) } ?? "unknown error"
        let kind = StoreError.Code(sqlite: code, errno: system)
        // SQLite calls some of these an I/O error, which says nothing to whoever has to make room.
        let words = kind == .diskFull ? "the disk is full (\(message))" : message
        return StoreError(kind, words, sqliteCode: Int(code))
    }

    /// Takes a statement back after use.
    func release(_ prepared: PreparedStatement) {
        // The code that reset returns is that of the last step, which has been reported.
        unsafe sqlite3_reset(prepared.handle)
        // Keeps no values (and no large blobs) for the next user.
        unsafe sqlite3_clear_bindings(prepared.handle)
        prepared.isInUse = false
    }

    private func prepare(_ sql: String) throws(StoreError) -> PreparedStatement {
        guard isOpen else { throw StoreError(.misuse, "expected an open database, got a closed one") }
        guard !sql.utf8.contains(0) else { throw StoreError(.misuse, "expected SQL without NUL") }
        var prepared: OpaquePointer?
        var code = SQLITE_OK
        var isWhole = true
        unsafe sql.withCString { text in
            var rest: UnsafePointer<CChar>?
            unsafe code = sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, &rest)
            if let rest = unsafe rest {
                let tail = unsafe String(cString: rest)
                isWhole = tail.utf8.allSatisfy { [0x20, 0x09, 0x0a, 0x0d, 0x3b].contains($0) }  // blanks and `;`
            }
        }
        guard code == SQLITE_OK else { throw error(code) }
        guard let prepared = unsafe prepared else { throw StoreError(.misuse, "expected a statement, got empty SQL") }
        let statement = unsafe PreparedStatement(takingOwnershipOf: prepared)
        guard isWhole else { throw StoreError(.misuse, "expected one statement, got more in the same text") }
        return statement
    }
}
