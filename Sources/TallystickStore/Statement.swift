import CSQLite
import Glibc

/// A value that can stand for a parameter of a statement; nil stands for NULL.
package protocol Bindable {
    /// Binds the value to a parameter.
    ///
    /// - Parameters:
    ///   - statement: The statement, not yet stepped.
    ///   - index: The number of the parameter, from 1 as in `?1`.
    func bind(to statement: inout Statement, at index: Int) throws(StoreError)
}

/// One use of a prepared statement.
///
/// It goes back to its database, reset and without values, when it goes out of scope, however that happens. Parameters
/// count from 1 and columns from 0, as in SQLite.
@safe package struct Statement: ~Copyable {
    private let database: Database
    private let prepared: PreparedStatement

    init(_ prepared: PreparedStatement, on database: Database) {
        self.prepared = prepared
        self.database = database
    }

    deinit {
        database.release(prepared)
    }

    // MARK: Values in

    /// Binds bytes as a BLOB; no bytes are an empty BLOB, not NULL.
    package mutating func bind(_ value: [UInt8], at index: Int) throws(StoreError) {
        try check(unsafe value.withUnsafeBytes { unsafe bindBlob($0, at: index) })
    }

    /// Binds bytes as a BLOB without copying them out of their array.
    package mutating func bind(_ value: ArraySlice<UInt8>, at index: Int) throws(StoreError) {
        try check(unsafe value.withUnsafeBytes { unsafe bindBlob($0, at: index) })
    }

    /// Binds text as UTF-8, with any NUL in it.
    package mutating func bind(_ value: String, at index: Int) throws(StoreError) {
        var value = value
        let code = value.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                unsafe tally_bind_text(
                    prepared.handle,
                    Int32(clamping: index),
                    characters.baseAddress,
                    UInt64(characters.count)
                )
            }
        }
        try check(code)
    }

    /// Binds an integer.
    package mutating func bind(_ value: Int64, at index: Int) throws(StoreError) {
        try check(unsafe sqlite3_bind_int64(prepared.handle, Int32(clamping: index), value))
    }

    /// Binds an integer.
    package mutating func bind(_ value: Int, at index: Int) throws(StoreError) {
        try bind(Int64(value), at: index)
    }

    /// Binds NULL.
    package mutating func bindNull(at index: Int) throws(StoreError) {
        try check(unsafe sqlite3_bind_null(prepared.handle, Int32(clamping: index)))
    }

    /// Starts over with these values, one for every parameter.
    ///
    /// - Throws: ``StoreError/Code/misuse`` where there are more or fewer values than parameters.
    package mutating func bind(_ values: [(any Bindable)?]) throws(StoreError) {
        reset()
        let expected = unsafe Int(sqlite3_bind_parameter_count(prepared.handle))
        guard values.count == expected else {
            throw StoreError(.misuse, "expected \(expected) values for the statement, got \(values.count)")
        }
        var index = 1
        for value in values {
            if let value {
                try value.bind(to: &self, at: index)
            } else {
                try bindNull(at: index)
            }
            index += 1
        }
    }

    // MARK: Steps

    /// Goes on to the next row.
    ///
    /// - Returns: False when there is no further row; the statement is then back at its start, with its values.
    /// - Throws: ``StoreError``; the statement is then back at its start.
    package mutating func step() throws(StoreError) -> Bool {
        try database.checkUsable()
        return try stepUnchecked()
    }

    /// Runs to the end with the values bound, ignoring rows.
    package mutating func run() throws(StoreError) {
        while try step() {}
    }

    /// Starts over with these values, in order, and runs to the end, ignoring rows.
    package mutating func run(_ values: (any Bindable)?...) throws(StoreError) {
        try run(values)
    }

    /// Starts over with these values, in order, and runs to the end, ignoring rows.
    package mutating func run(_ values: [(any Bindable)?]) throws(StoreError) {
        try bind(values)
        try run()
    }

    /// Goes back to the start, keeping the values bound.
    package mutating func reset() {
        // The code is that of the last step, which has been reported.
        unsafe sqlite3_reset(prepared.handle)
    }

    mutating func stepUnchecked() throws(StoreError) -> Bool {
        let code = unsafe sqlite3_step(prepared.handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE {
            reset()
            return false
        }
        let error = database.error(code)  // before the reset, which clears the message
        reset()
        throw error
    }

    // MARK: Columns out

    /// The number of columns of each row.
    package var columnCount: Int {
        unsafe Int(sqlite3_column_count(prepared.handle))
    }

    /// Whether the column holds NULL (or does not exist).
    package func isNull(_ column: Int) -> Bool {
        type(column) == SQLITE_NULL
    }

    /// Gives an INTEGER column.
    ///
    /// - Throws: ``StoreError/Code/wrongType`` for anything else; nothing is converted.
    package func int64(_ column: Int) throws(StoreError) -> Int64 {
        try expect(SQLITE_INTEGER, column)
        return unsafe sqlite3_column_int64(prepared.handle, Int32(clamping: column))
    }

    /// Gives an INTEGER column.
    ///
    /// - Throws: ``StoreError/Code/wrongType`` for anything else; nothing is converted.
    package func int(_ column: Int) throws(StoreError) -> Int {
        Int(try int64(column))
    }

    /// Gives a TEXT column, NULs included.
    ///
    /// - Throws: ``StoreError/Code/wrongType`` for anything else, ``StoreError/Code/invalidText`` where it is not
    ///   UTF-8; nothing is repaired.
    package func text(_ column: Int) throws(StoreError) -> String {
        try expect(SQLITE_TEXT, column)
        // The pointer first, then the length: the other order could count another encoding (SQLite, column_blob).
        guard let start = unsafe sqlite3_column_text(prepared.handle, Int32(clamping: column)) else {
            throw StoreError(.other, "expected the text of column \(column), got no memory for it")
        }
        let count = unsafe Int(sqlite3_column_bytes(prepared.handle, Int32(clamping: column)))
        guard let text = unsafe String(validating: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        else {
            throw StoreError(.invalidText, "expected UTF-8 in column \(name(column)), got other bytes")
        }
        return text
    }

    /// Gives a BLOB column.
    ///
    /// - Throws: ``StoreError/Code/wrongType`` for anything else; nothing is converted.
    package func blob(_ column: Int) throws(StoreError) -> [UInt8] {
        try expect(SQLITE_BLOB, column)
        return try bytes(column)
    }

    /// Gives an INTEGER column, or nil for NULL.
    package func optionalInt64(_ column: Int) throws(StoreError) -> Int64? {
        isNull(column) ? nil : try int64(column)
    }

    /// Gives a TEXT column, or nil for NULL.
    package func optionalText(_ column: Int) throws(StoreError) -> String? {
        isNull(column) ? nil : try text(column)
    }

    /// Gives a BLOB column, or nil for NULL.
    package func optionalBlob(_ column: Int) throws(StoreError) -> [UInt8]? {
        isNull(column) ? nil : try blob(column)
    }

    /// Gives a column as it is stored, whatever its type.
    package func value(_ column: Int) throws(StoreError) -> StoredValue {
        switch type(column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(try int64(column))
        case SQLITE_FLOAT: return .real(unsafe sqlite3_column_double(prepared.handle, Int32(clamping: column)))
        case SQLITE_TEXT: return .text(try bytes(column))
        default: return .blob(try bytes(column))
        }
    }

    // MARK: Inside

    private func bytes(_ column: Int) throws(StoreError) -> [UInt8] {
        let start = unsafe sqlite3_column_blob(prepared.handle, Int32(clamping: column))
        let count = unsafe Int(sqlite3_column_bytes(prepared.handle, Int32(clamping: column)))
        guard count > 0 else { return [] }
        guard let start = unsafe start else {
            throw StoreError(.other, "expected \(count) bytes in column \(column), got no memory for them")
        }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    private func bindBlob(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int32 {
        unsafe tally_bind_blob(prepared.handle, Int32(clamping: index), bytes.baseAddress, UInt64(bytes.count))
    }

    private func check(_ code: Int32) throws(StoreError) {
        guard code == SQLITE_OK else { throw database.error(code) }
    }

    private func type(_ column: Int) -> Int32 {
        // A column that does not exist, or no row, gives NULL.
        unsafe sqlite3_column_type(prepared.handle, Int32(clamping: column))
    }

    private func expect(_ expected: Int32, _ column: Int) throws(StoreError) {
        let found = type(column)
        guard found == expected else {
            let message = "expected \(typeName(expected)) in column \(name(column)), got \(typeName(found))"
            throw StoreError(.wrongType, message)
        }
    }

    /// The name of a column, as the SQL gives it.
    package func columnName(_ column: Int) -> String { name(column) }

    private func name(_ column: Int) -> String {
        guard let name = unsafe sqlite3_column_name(prepared.handle, Int32(clamping: column)) else {
            return "\(column)"
        }
        return unsafe String(cString: name)
    }

    private func typeName(_ type: Int32) -> String {
        switch type {
        case SQLITE_INTEGER: "INTEGER"
        case SQLITE_TEXT: "TEXT"
        case SQLITE_BLOB: "BLOB"
        case SQLITE_NULL: "NULL"
        default: "REAL"
        }
    }
}

/// Owns a prepared statement of SQLite.
@safe final class PreparedStatement {
    let handle: OpaquePointer
    /// Whether a ``Statement`` has it; another use of the same SQL must then have one of its own.
    var isInUse = true

    init(takingOwnershipOf handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    deinit {
        // The code is that of the last step, which has been reported.
        unsafe sqlite3_finalize(handle)
    }
}

/// SQL as a key, told apart by its bytes: `==` on strings takes two spellings of `é` for one.
struct SQLText: Hashable {
    let text: String

    static func == (left: SQLText, right: SQLText) -> Bool {
        // `memcmp` and not `elementsEqual`: this runs for every row that is written.
        var left = left.text
        var right = right.text
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard let first = left.baseAddress, let second = right.baseAddress, left.count == right.count else {
                    return left.isEmpty && right.isEmpty
                }
                return unsafe memcmp(first, second, left.count) == 0
            }
        }
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

// MARK: - Values

/// A value as SQLite stores it.
package enum StoredValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    /// The bytes of a text, which may not be UTF-8.
    case text([UInt8])
    case blob([UInt8])
}

extension [UInt8]: Bindable {
    package func bind(to statement: inout Statement, at index: Int) throws(StoreError) {
        try statement.bind(self, at: index)
    }
}

extension ArraySlice<UInt8>: Bindable {
    package func bind(to statement: inout Statement, at index: Int) throws(StoreError) {
        try statement.bind(self, at: index)
    }
}

extension String: Bindable {
    package func bind(to statement: inout Statement, at index: Int) throws(StoreError) {
        try statement.bind(self, at: index)
    }
}

extension Int64: Bindable {
    package func bind(to statement: inout Statement, at index: Int) throws(StoreError) {
        try statement.bind(self, at: index)
    }
}

extension Int: Bindable {
    package func bind(to statement: inout Statement, at index: Int) throws(StoreError) {
        try statement.bind(self, at: index)
    }
}
