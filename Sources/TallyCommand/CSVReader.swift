/// Reads comma-separated values strictly as RFC 4180 has them; Foundation has no reader for them on Linux.
///
/// Fields are separated by commas and lines end with CR LF or LF, the last perhaps with neither. A field that has a
/// comma, a line end or a quotation mark is in quotation marks, and each mark in it is doubled. Every line has as
/// many fields as the first. A byte order mark at the start is skipped.
enum CSVReader {
    /// Where a text is not CSV, and why.
    struct Fault: Error, Equatable {
        /// The line, from 1.
        let line: Int
        /// What was expected and what came.
        let message: String
    }

    /// The lines of a text, each as its fields; none for an empty text.
    static func rows(_ bytes: [UInt8]) throws(Fault) -> [[String]] {
        var reader = Reader(bytes: bytes)
        return try reader.rows()
    }

    private struct Reader {
        let bytes: [UInt8]
        private var place = 0
        private var line = 1

        init(bytes: [UInt8]) {
            self.bytes = bytes
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
        }

        mutating func rows() throws(Fault) -> [[String]] {
            var rows: [[String]] = []
            while place < bytes.count {
                let start = line
                let row = try self.row()
                if let first = rows.first, first.count != row.count {
                    throw Fault(
                        line: start,
                        message: "expected \(first.count) fields as in the first line, got \(row.count)"
                    )
                }
                rows.append(row)
            }
            return rows
        }

        private mutating func row() throws(Fault) -> [String] {
            var fields: [String] = []
            while true {
                fields.append(try field())
                guard place < bytes.count else { return fields }
                switch bytes[place] {
                case UInt8(ascii: ","): place += 1
                case 0x0A:
                    endLine(1)
                    return fields
                case 0x0D where place + 1 < bytes.count && bytes[place + 1] == 0x0A:
                    endLine(2)
                    return fields
                default:
                    throw Fault(
                        line: line,
                        message: "expected a comma or the end of the line after a field in quotation marks"
                    )
                }
            }
        }

        private mutating func endLine(_ length: Int) {
            place += length
            line += 1
        }

        private mutating func field() throws(Fault) -> String {
            if place < bytes.count, bytes[place] == UInt8(ascii: "\"") { return try quoted() }
            let start = place
            while place < bytes.count {
                switch bytes[place] {
                case UInt8(ascii: ","), 0x0A: return try text(bytes[start..<place])
                case 0x0D:
                    guard place + 1 < bytes.count, bytes[place + 1] == 0x0A else {
                        throw Fault(line: line, message: "expected a line feed after a carriage return")
                    }
                    return try text(bytes[start..<place])
                case UInt8(ascii: "\""):
                    throw Fault(line: line, message: "expected a field with a quotation mark to be in quotation marks")
                default: place += 1
                }
            }
            return try text(bytes[start..<place])
        }

        private mutating func quoted() throws(Fault) -> String {
            let opened = line
            var field: [UInt8] = []
            place += 1
            while place < bytes.count {
                let byte = bytes[place]
                place += 1
                if byte == UInt8(ascii: "\"") {
                    guard place < bytes.count, bytes[place] == byte else { return try text(field[...]) }
                    place += 1
                } else if byte == 0x0A {
                    line += 1
                }
                field.append(byte)
            }
            throw Fault(line: opened, message: "expected a field in quotation marks to end, got the end of the file")
        }

        private func text(_ bytes: ArraySlice<UInt8>) throws(Fault) -> String {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw Fault(line: line, message: "expected UTF-8")
            }
            return text
        }
    }
}
