package import TallystickCrypto

extension Database {
    /// Gives SHA-256 over all rows of a table, in the order of these columns.
    ///
    /// The encoding has one reading: the table's name and the number of columns, then of every value its type and,
    /// with its length, its bytes. Two tables with one digest hold the same rows.
    ///
    /// - Parameters:
    ///   - table: The table's name; it becomes part of the SQL, so never a text from outside.
    ///   - key: The columns of its primary key, for the same reason constants.
    package func digest(of table: String, orderedBy key: [String]) throws -> Digest {
        var hasher = SHA256.Hasher()
        var buffer: [UInt8] = []
        var statement = try statement("SELECT * FROM \(table) ORDER BY \(key.joined(separator: ", "))")
        append(Array(table.utf8), to: &buffer)
        append(UInt64(statement.columnCount), to: &buffer)
        while try statement.step() {
            for column in 0..<statement.columnCount {
                append(try statement.value(column), to: &buffer)
            }
            if buffer.count >= 1 << 16 {
                hasher.update(buffer)
                buffer.removeAll(keepingCapacity: true)
            }
        }
        hasher.update(buffer)
        return try hasher.finalize()
    }

    private func append(_ value: StoredValue, to buffer: inout [UInt8]) {
        switch value {
        case .null: buffer.append(0)
        case .integer(let integer):
            buffer.append(1)
            append(UInt64(bitPattern: integer), to: &buffer)
        case .real(let real):
            buffer.append(2)
            append(real.bitPattern, to: &buffer)
        case .text(let bytes):
            buffer.append(3)
            append(bytes, to: &buffer)
        case .blob(let bytes):
            buffer.append(4)
            append(bytes, to: &buffer)
        }
    }

    private func append(_ bytes: [UInt8], to buffer: inout [UInt8]) {
        append(UInt64(bytes.count), to: &buffer)
        buffer.append(contentsOf: bytes)
    }

    private func append(_ word: UInt64, to buffer: inout [UInt8]) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            buffer.append(UInt8(truncatingIfNeeded: word >> shift))
        }
    }
}
