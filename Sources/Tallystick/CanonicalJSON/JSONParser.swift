extension JSON {
    /// How deep arrays and objects may be nested.
    public static let greatestDepth = 32

    /// Reads one JSON text strictly.
    ///
    /// RFC 8259 and RFC 7493: UTF-8 without byte order mark, no trailing commas, no duplicate names (also through
    /// escapes), no lone surrogates, finite numbers, depth at most 32.
    public static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON {
        var parser = JSONParser(bytes: bytes, offset: 0, greatestDepth: greatestDepth)
        return try parser.text()
    }

    /// Reads one JSON text strictly from a slice; ranges in the result are indices of the slice.
    public static func parse(_ bytes: ArraySlice<UInt8>) throws(JSONError) -> JSON {
        try parse(bytes, depth: greatestDepth)
    }

    private static func parse(_ bytes: ArraySlice<UInt8>, depth: Int) throws(JSONError) -> JSON {
        // An array is read several times faster than a slice, so a part is worth a copy.
        var parser = JSONParser(bytes: Array(bytes), offset: bytes.startIndex, greatestDepth: min(depth, greatestDepth))
        return try parser.text()
    }

    /// Reads one JSON text and refuses it unless its bytes are exactly the canonical spelling (RFC 8785).
    ///
    /// `depth` is for what is carried in other objects, which have to be readable too; it is at most `greatestDepth`.
    public static func parseCanonical(
        _ bytes: ArraySlice<UInt8>,
        depth: Int = greatestDepth
    ) throws(JSONError) -> JSON {
        try parse(bytes, depth: depth).checkedCanonical(bytes)
    }

    /// Reads one JSON text and refuses it unless its bytes are exactly the canonical spelling (RFC 8785).
    public static func parseCanonical(_ bytes: [UInt8], depth: Int = greatestDepth) throws(JSONError) -> JSON {
        var parser = JSONParser(bytes: bytes, offset: 0, greatestDepth: min(depth, greatestDepth))
        return try parser.text().checkedCanonical(bytes[...])
    }

    private func checkedCanonical(_ bytes: ArraySlice<UInt8>) throws(JSONError) -> JSON {
        let canonical = try canonicalBytes(reserving: bytes.count)
        guard canonical[...] == bytes else {
            let offset = zip(canonical, bytes).enumerated().first { $0.element.0 != $0.element.1 }?.offset
            throw JSONError(
                code: .notCanonical,
                message: "expected canonical JSON (RFC 8785), got another spelling of the same value",
                offset: offset ?? min(canonical.count, bytes.count)
            )
        }
        return self
    }
}

/// A recursive-descent reader over bytes; the depth limit bounds the recursion.
private struct JSONParser {
    let bytes: [UInt8]
    /// What is added to positions to make them indices of the text that was given.
    let offset: Int
    let greatestDepth: Int
    var position = 0

    init(bytes: [UInt8], offset: Int, greatestDepth: Int) {
        self.bytes = bytes
        self.offset = offset
        self.greatestDepth = greatestDepth
    }

    mutating func text() throws(JSONError) -> JSON {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) || bytes.starts(with: [0xFE, 0xFF])
            || bytes.starts(with: [0xFF, 0xFE])
        {
            throw failure(.encoding, "expected UTF-8 without a byte order mark")
        }
        skipBlanks()
        let value = try self.value(depth: 0)
        skipBlanks()
        guard position == bytes.count else {
            throw failure(.syntax, "expected the end of the text, got \(found())")
        }
        return value
    }

    func failure(_ code: JSONError.Code, _ message: String) -> JSONError {
        JSONError(code: code, message: message, offset: position)
    }

    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    func found() -> String {
        guard let byte = current else { return "the end of the text" }
        if byte > 0x20, byte < 0x7F { return "“\(Character(Unicode.Scalar(byte)))”" }
        return "byte \(byte)"
    }

    mutating func skipBlanks() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    mutating func value(depth: Int) throws(JSONError) -> JSON {
        guard let byte = current else { throw failure(.syntax, "expected a value, got the end of the text") }
        switch byte {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "t"): return try literal("true", .boolean(true))
        case UInt8(ascii: "f"): return try literal("false", .boolean(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case UInt8(ascii: "-"), 0x30...0x39: return .number(try number())
        default: throw failure(.syntax, "expected a value, got \(found())")
        }
    }

    mutating func literal(_ text: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        let word = text.description.utf8
        guard bytes[position...].starts(with: word) else {
            throw failure(.syntax, "expected “\(text)”, got another word")
        }
        position += word.count
        return value
    }

    mutating func array(depth: Int) throws(JSONError) -> JSON {
        guard depth <= greatestDepth else {
            throw failure(.tooDeep, "expected at most \(greatestDepth) levels of arrays and objects")
        }
        position += 1
        var elements: [JSON] = []
        skipBlanks()
        if current == UInt8(ascii: "]") {
            position += 1
            return .array(elements)
        }
        while true {
            skipBlanks()
            elements.append(try value(depth: depth))
            skipBlanks()
            switch current {
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "]"):
                position += 1
                return .array(elements)
            default: throw failure(.syntax, "expected “,” or “]”, got \(found())")
            }
        }
    }

    mutating func object(depth: Int) throws(JSONError) -> JSON {
        guard depth <= greatestDepth else {
            throw failure(.tooDeep, "expected at most \(greatestDepth) levels of arrays and objects")
        }
        position += 1
        var members: [JSONMember] = []
        // Small objects are compared name by name; past that a set keeps hostile input linear.
        var names: Set<[UInt8]> = []
        skipBlanks()
        if current == UInt8(ascii: "}") {
            position += 1
            return .object(members)
        }
        while true {
            skipBlanks()
            let start = position
            guard current == UInt8(ascii: "\"") else { throw failure(.syntax, "expected a name, got \(found())") }
            let name = try string()
            let isNew: Bool
            if members.count < 16 {
                isNew = !members.contains { sameBytes($0.name, name) }
            } else {
                if names.isEmpty { names = Set(members.map { Array($0.name.utf8) }) }
                isNew = names.insert(Array(name.utf8)).inserted
            }
            guard isNew else {
                position = start
                throw failure(.duplicateName, "expected each name once, got one twice")
            }
            skipBlanks()
            guard current == UInt8(ascii: ":") else { throw failure(.syntax, "expected “:”, got \(found())") }
            position += 1
            skipBlanks()
            let valueStart = position
            let value = try value(depth: depth)
            members.append(JSONMember(name: name, value: value, range: offset + valueStart..<offset + position))
            skipBlanks()
            switch current {
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "}"):
                position += 1
                return .object(members)
            default: throw failure(.syntax, "expected “,” or “}”, got \(found())")
            }
        }
    }

    mutating func number() throws(JSONError) -> String {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        guard let first = current, first >= 0x30, first <= 0x39 else {
            throw failure(.syntax, "expected a digit, got \(found())")
        }
        position += 1
        if first != 0x30 { skipDigits() }
        var isPlain = true
        if current == UInt8(ascii: ".") {
            isPlain = false
            position += 1
            try digits()
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            isPlain = false
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if !isPlain || text.utf8.count > 300 {
            guard let double = Double(text), double.isFinite else {
                position = start
                throw failure(.numberRange, "expected a number that fits a double")
            }
        }
        return text
    }

    mutating func skipDigits() {
        while let byte = current, byte >= 0x30, byte <= 0x39 { position += 1 }
    }

    mutating func digits() throws(JSONError) {
        let start = position
        skipDigits()
        guard position > start else { throw failure(.syntax, "expected a digit, got \(found())") }
    }

    mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        while let byte = current, byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
            position += 1
        }
        if current == UInt8(ascii: "\"") {
            let text = String(decoding: bytes[start..<position], as: UTF8.self)
            position += 1
            return text
        }
        var unescaped = Array(bytes[start..<position])
        while true {
            guard let byte = current else { throw failure(.syntax, "expected “\"”, got the end of the text") }
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: unescaped, as: UTF8.self) else {
                    position = start
                    throw failure(.encoding, "expected a string in UTF-8")
                }
                position += 1
                return text
            case UInt8(ascii: "\\"): try escape(into: &unescaped)
            case 0..<0x20: throw failure(.syntax, "expected control characters to be escaped, got byte \(byte)")
            default:
                unescaped.append(byte)
                position += 1
            }
        }
    }

    mutating func escape(into unescaped: inout [UInt8]) throws(JSONError) {
        position += 1
        guard let byte = current else { throw failure(.syntax, "expected an escape, got the end of the text") }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(byte)
        case UInt8(ascii: "b"): unescaped.append(0x08)
        case UInt8(ascii: "f"): unescaped.append(0x0C)
        case UInt8(ascii: "n"): unescaped.append(0x0A)
        case UInt8(ascii: "r"): unescaped.append(0x0D)
        case UInt8(ascii: "t"): unescaped.append(0x09)
        case UInt8(ascii: "u"):
            unescaped.append(contentsOf: try escapedScalar())
            return
        default: throw failure(.syntax, "expected an escape, got \(found())")
        }
        position += 1
    }

    /// Reads `uXXXX`, or a surrogate pair of two, from the `u` on.
    mutating func escapedScalar() throws(JSONError) -> [UInt8] {
        let first = try codeUnit()
        var scalar = UInt32(first)
        if (0xD800...0xDBFF).contains(first) {
            guard current == UInt8(ascii: "\\") else {
                throw failure(.loneSurrogate, "expected the second half of a surrogate pair, got \(found())")
            }
            position += 1
            guard current == UInt8(ascii: "u") else {
                throw failure(.loneSurrogate, "expected the second half of a surrogate pair, got \(found())")
            }
            let second = try codeUnit()
            guard (0xDC00...0xDFFF).contains(second) else {
                throw failure(.loneSurrogate, "expected the second half of a surrogate pair, got another character")
            }
            scalar = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(scalar) else {
            throw failure(.loneSurrogate, "expected a surrogate pair, got its second half alone")
        }
        return Array(String(Character(scalar)).utf8)
    }

    mutating func codeUnit() throws(JSONError) -> UInt16 {
        position += 1
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = hexDigit(byte) else {
                throw failure(.syntax, "expected four hexadecimal digits, got \(found())")
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
