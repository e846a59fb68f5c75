import CSQLite
import Glibc

extension Database {
    /// Checks whose file it is, and sets what every connection must have.
    func configure(mode: Mode, applicationID: Int32?, busyTimeout: Int) throws(StoreError) {
        // Read before anything is written: a file of another program stays as it was.
        let isNew = try isNewFile(applicationID)
        if isNew, mode != .create {
            throw notATallystickFile("an empty database")
        }
        try execute("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF")
        guard mode != .readOnly else { return }
        // SQLite falls back to reading where the file cannot be written, and would complain only later.
        guard unsafe sqlite3_db_readonly(handle, "main") == 0 else {
            throw StoreError(.readOnly, "expected a file that can be written, got a read-only one: \(path)")
        }
        let journal = try writeAhead(within: busyTimeout)
        guard journal == "wal" || path == ":memory:" else {
            throw StoreError(.cannotOpen, "expected a disk that allows a write-ahead log, got journal mode \(journal)")
        }
        try execute("PRAGMA synchronous = FULL")
        if isNew, let applicationID {
            try claim(applicationID)
        }
    }

    /// Turns the write-ahead log on, and gives the journal mode that there is then.
    ///
    /// Where several connections do this to a new file at once, SQLite tells all but one that it is locked without
    /// asking its busy handler, as waiting could be a deadlock: whoever is told so lets go of its lock and tries again.
    private func writeAhead(within milliseconds: Int) throws(StoreError) -> String {
        // By the clock: where the handler is asked after all, one try takes as long as all may.
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        while true {
            do throws(StoreError) {
                return try onlyRow("PRAGMA journal_mode = WAL") { statement throws(StoreError) in try statement.text(0)
                }
            } catch {
                guard error.code == .busy, ContinuousClock.now < end else { throw error }
                usleep(10_000)
            }
        }
    }

    /// Writes the application id into a new file, unless another process did so meanwhile.
    private func claim(_ applicationID: Int32) throws(StoreError) {
        do {
            try transaction {
                if try isNewFile(applicationID) {
                    try execute("PRAGMA application_id = \(applicationID)")
                }
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.other, "\(error)")
        }
    }

    /// Says whether the database is empty, and throws where it belongs to something else.
    private func isNewFile(_ applicationID: Int32?) throws(StoreError) -> Bool {
        // Reading the schema also finds out that a file is no database.
        let tables = try integer("SELECT count(*) FROM sqlite_schema")
        guard let applicationID else { return false }
        let found = try integer("PRAGMA application_id")
        guard found != Int64(applicationID) else { return false }
        guard found == 0, tables == 0, try integer("PRAGMA user_version") == 0 else {
            throw notATallystickFile("application id \(found) instead of \(applicationID)")
        }
        return true
    }

    private func integer(_ sql: String) throws(StoreError) -> Int64 {
        try onlyRow(sql) { statement throws(StoreError) in try statement.int64(0) }
    }

    private func onlyRow<T>(
        _ sql: String,
        _ row: (borrowing Statement) throws(StoreError) -> T
    ) throws(StoreError) -> T {
        var statement = try statement(sql)
        guard try statement.step() else { throw StoreError(.other, "expected a row from \(sql), got none") }
        return try row(statement)
    }

    /// The error for a file that is something else, with what was found.
    func notATallystickFile(_ found: String) -> StoreError {
        StoreError(.notATallystickFile, "expected a tallystick file, got \(found): \(path)")
    }

    /// The error of a failed opening, which names the file.
    func openError(_ code: Int32) -> StoreError {
        let system = unsafe sqlite3_system_errno(handle)
        let base = error(code)
        let kind: StoreError.Code =
            code & 0xff != SQLITE_CANTOPEN ? base.code : system == ENOENT ? .notFound : .cannotOpen
        return StoreError(kind, "\(base.message): \(path)", sqliteCode: base.sqliteCode)
    }
}
