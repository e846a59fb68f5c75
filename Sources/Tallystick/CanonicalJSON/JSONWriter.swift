extension JSON {
    /// The canonical bytes of this value in the integer-only profile of RFC 8785.
    ///
    /// Members are sorted by UTF-16 code units and escapes are the shortest. Throws `json-not-profile-number` for a
    /// number that is not an integer within ±(2^53−1) in its canonical spelling.
    public func canonicalBytes() throws(JSONError) -> [UInt8] {
        try canonicalBytes(reserving: 256)
    }

    func canonicalBytes(reserving capacity: Int) throws(JSONError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(capacity)
        try write(to: &bytes)
        return bytes
    }

    func write(to bytes: inout [UInt8]) throws(JSONError) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .boolean(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let text):
            guard JSON.isProfileInteger(text) else {
                throw JSONError(
                    code: .notProfileNumber,
                    message: "expected an integer within ±(2^53−1), got \(text.prefix(40)); quantities are strings",
                    offset: 0
                )
            }
            bytes.append(contentsOf: text.utf8)
        case .string(let text): JSON.write(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                try element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            var isFirst = true
            for member in JSON.inCanonicalOrder(members) {
                if !isFirst { bytes.append(UInt8(ascii: ",")) }
                isFirst = false
                JSON.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                try member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    static func inCanonicalOrder(_ members: [JSONMember]) -> [JSONMember] {
        for index in members.indices.dropFirst() where !precedes(members[index - 1].name, members[index].name) {
            return members.sorted { precedes($0.name, $1.name) }
        }
        return members
    }

    /// RFC 8785 §3.2.3 orders names by UTF-16 code units; UTF-8 order is the same as long as all is ASCII.
    static func precedes(_ left: String, _ right: String) -> Bool {
        var right8 = right.utf8.makeIterator()
        for byte in left.utf8 {
            guard let other = right8.next() else { return false }
            if byte | other >= 0x80 { return left.utf16.lexicographicallyPrecedes(right.utf16) }
            if byte != other { return byte < other }
        }
        return right8.next() != nil
    }

    static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        // Copied whole and looked through in place: walking a string byte by byte is several times slower.
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        for index in start..<bytes.count where mustEscape(bytes[index]) {
            bytes.removeSubrange(index...)
            for byte in text.utf8.dropFirst(index - start) { writeEscaped(byte, to: &bytes) }
            break
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// RFC 8785 §3.2.2.2: two-character escapes where there are some, `\u00xx` in lower case for other controls.
    static func writeEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
        case 0x08: bytes.append(contentsOf: "\\b".utf8)
        case 0x09: bytes.append(contentsOf: "\\t".utf8)
        case 0x0A: bytes.append(contentsOf: "\\n".utf8)
        case 0x0C: bytes.append(contentsOf: "\\f".utf8)
        case 0x0D: bytes.append(contentsOf: "\\r".utf8)
        case 0..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        default: bytes.append(byte)
        }
    }
}
