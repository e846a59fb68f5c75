/// A set of ASCII characters, and whether everything beyond ASCII is in it.
struct ScalarSet: Equatable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    private var beyond = false

    /// Any character but a line end.
    static let any: ScalarSet = {
        var ends = ScalarSet()
        ends.insert(0x0A)
        ends.insert(0x0D)
        return ends.inverted
    }()

    var inverted: ScalarSet {
        var result = self
        result.low = ~low
        result.high = ~high
        result.beyond = !beyond
        return result
    }

    /// The same with each ASCII letter in both cases.
    var foldingCase: ScalarSet {
        var result = self
        for upper in UInt8(ascii: "A")...UInt8(ascii: "Z") where contains(upper) || contains(upper | 0x20) {
            result.insert(upper)
            result.insert(upper | 0x20)
        }
        return result
    }

    mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << UInt64(byte) } else if byte < 128 { high |= 1 << UInt64(byte - 64) }
    }

    /// Whether the character that starts with this byte is in the set.
    func contains(_ byte: UInt8) -> Bool {
        if byte < 64 { return low >> UInt64(byte) & 1 == 1 }
        if byte < 128 { return high >> UInt64(byte - 64) & 1 == 1 }
        return beyond
    }
}

/// A pattern as a tree.
indirect enum PatternNode {
    case empty
    case character(ScalarSet)
    case sequence([PatternNode])
    case choice([PatternNode])
    /// At least and at most so many times; no `most` is no limit.
    case repeated(PatternNode, least: Int, most: Int?)
}

/// Reads a pattern's text.
struct PatternParser {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    private var foldsCase = false

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    mutating func parse() throws(PatternError) -> PatternNode {
        guard bytes.count <= Pattern.longestText else {
            throw PatternError(
                message: "expected a pattern of at most \(Pattern.longestText) bytes, found \(bytes.count)",
                position: Pattern.longestText
            )
        }
        if let stranger = bytes.firstIndex(where: { $0 < 0x20 || $0 > 0x7E }) {
            throw PatternError(message: "expected printable ASCII characters only", position: stranger)
        }
        if bytes.starts(with: "(?i)".utf8) {
            foldsCase = true
            position = 4
        }
        let node = try choice()
        if position < bytes.count { throw failure("found ')' without the '(' before it") }
        return node
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func failure(_ message: String) -> PatternError {
        PatternError(message: message, position: position)
    }

    /// Moves past the byte if it is the current one.
    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private mutating func choice() throws(PatternError) -> PatternNode {
        var branches = [try sequence()]
        while take("|") { branches.append(try sequence()) }
        return branches.count == 1 ? branches[0] : .choice(branches)
    }

    private mutating func sequence() throws(PatternError) -> PatternNode {
        var parts: [PatternNode] = []
        while let byte = current, byte != UInt8(ascii: "|"), byte != UInt8(ascii: ")") {
            parts.append(try repetition(of: try single(byte)))
        }
        return parts.isEmpty ? .empty : .sequence(parts)
    }

    /// One character, set or group.
    private mutating func single(_ byte: UInt8) throws(PatternError) -> PatternNode {
        switch byte {
        case UInt8(ascii: "("): return try group()
        case UInt8(ascii: "["): return try set()
        case UInt8(ascii: "."):
            position += 1
            return .character(.any)
        case UInt8(ascii: "^"), UInt8(ascii: "$"):
            throw failure("expected no anchors, since the whole text is matched; write '\\' before '^' or '$'")
        case UInt8(ascii: "?"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "{"):
            throw failure("expected something to repeat before '\(Unicode.Scalar(byte))'")
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            throw failure("found '\(Unicode.Scalar(byte))' that closes nothing; write '\\' before it")
        default:
            let literal = try character()
            var result = ScalarSet()
            result.insert(literal)
            return .character(foldsCase ? result.foldingCase : result)
        }
    }

    /// The character at the current place, an escape resolved.
    private mutating func character() throws(PatternError) -> UInt8 {
        if take("\\") {
            guard let escaped = current else { throw failure("expected a character after '\\', found the end") }
            guard !isLetterOrDigit(escaped) else {
                throw failure(
                    "expected punctuation after '\\', found '\(Unicode.Scalar(escaped))'; write a set instead"
                )
            }
        }
        guard let byte = current else { throw failure("expected a character, found the end") }
        position += 1
        return byte
    }

    private mutating func group() throws(PatternError) -> PatternNode {
        let start = position
        position += 1
        if current == UInt8(ascii: "?") {
            throw failure("expected no '(?' but a '(?i)' at the very start")
        }
        depth += 1
        guard depth <= Pattern.deepestNesting else {
            throw failure("expected groups nested at most \(Pattern.deepestNesting) deep")
        }
        let node = try choice()
        depth -= 1
        guard take(")") else {
            throw PatternError(message: "expected ')' for this '(', found the end", position: start)
        }
        return node
    }

    private mutating func set() throws(PatternError) -> PatternNode {
        let start = position
        position += 1
        let inverts = take("^")
        var result = ScalarSet()
        var isFirst = true
        while !take("]") {
            guard let byte = current else {
                throw PatternError(message: "expected ']' for this '[', found the end", position: start)
            }
            if byte == UInt8(ascii: "[") { throw failure("found '[' inside a set; write '\\' before it") }
            if byte == UInt8(ascii: "-"), !isFirst, !isLastInSet {
                throw failure("expected '-' first, last or between two characters; write '\\' before it")
            }
            let first = try character()
            var last = first
            if current == UInt8(ascii: "-"), !isLastInSet {
                position += 1
                if current == UInt8(ascii: "[") { throw failure("found '[' inside a set; write '\\' before it") }
                last = try character()
            }
            guard first <= last else {
                throw failure(
                    "expected a range that rises, found '\(Unicode.Scalar(first))' to '\(Unicode.Scalar(last))'"
                )
            }
            for member in first...last { result.insert(member) }
            isFirst = false
        }
        if isFirst { throw PatternError(message: "expected a character in the set", position: start) }
        if foldsCase { result = result.foldingCase }
        return .character(inverts ? result.inverted : result)
    }

    /// Whether the next character closes the set.
    private var isLastInSet: Bool { position + 1 < bytes.count && bytes[position + 1] == UInt8(ascii: "]") }

    private func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    private mutating func repetition(of node: PatternNode) throws(PatternError) -> PatternNode {
        var result = node
        if take("?") {
            result = .repeated(node, least: 0, most: 1)
        } else if take("*") {
            result = .repeated(node, least: 0, most: nil)
        } else if take("+") {
            result = .repeated(node, least: 1, most: nil)
        } else if take("{") {
            result = try counted(node)
        } else {
            return node
        }
        if let byte = current, "?*+{".utf8.contains(byte) {
            throw failure("expected one repetition, found a second; put the first into a group")
        }
        return result
    }

    /// The rest of a `{m}`, `{m,}` or `{m,n}`.
    private mutating func counted(_ node: PatternNode) throws(PatternError) -> PatternNode {
        let least = try number()
        var most: Int? = least
        if take(",") { most = current == UInt8(ascii: "}") ? nil : try number() }
        if let most, most < least { throw failure("expected at least \(least) after ',', found \(most)") }
        guard take("}") else { throw failure("expected '}' after the number of repetitions") }
        return .repeated(node, least: least, most: most)
    }

    private mutating func number() throws(PatternError) -> Int {
        let start = position
        var value = 0
        while let byte = current, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            guard value <= Pattern.mostStates else {
                throw PatternError(message: "expected at most \(Pattern.mostStates) repetitions", position: start)
            }
            position += 1
        }
        guard position > start else { throw failure("expected a number of repetitions") }
        return value
    }
}
