/// A JSON value as it was read or is to be written.
///
/// Numbers keep their text, so nothing is ever rounded, and object members keep their order and the byte range
/// they were read from, so that what is signed can be sliced out of what was received.
public enum JSON: Sendable {
    /// The literal `null`.
    case null
    /// The literals `true` and `false`.
    case boolean(Bool)
    /// A number, as its text.
    case number(String)
    /// A string, unescaped.
    case string(String)
    /// An array.
    case array([JSON])
    /// An object, in the order its members were read or given.
    case object([JSONMember])
}

/// One member of a JSON object.
public struct JSONMember: Sendable {
    /// The member's name, unescaped.
    public let name: String
    /// The member's value.
    public let value: JSON
    /// Where the value's bytes stood in the text it was parsed from; empty for a value made in memory.
    public let range: Range<Int>

    /// Makes a member that was not read from a text.
    public init(_ name: String, _ value: JSON) {
        self.init(name: name, value: value, range: 0..<0)
    }

    init(name: String, value: JSON, range: Range<Int>) {
        self.name = name
        self.value = value
        self.range = range
    }
}

extension JSON: Equatable {
    /// Whether two values are the same JSON value: strings by their bytes, numbers by their text, members in order.
    public static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.number(let left), .number(let right)): sameBytes(left, right)
        case (.string(let left), .string(let right)): sameBytes(left, right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)):
            left.count == right.count
                && zip(left, right).allSatisfy { sameBytes($0.name, $1.name) && $0.value == $1.value }
        default: false
        }
    }
}

/// Whether two strings are the same bytes of UTF-8.
///
/// Swift's `==` is canonical equivalence: under it `"K"` equals the Kelvin sign, and an identifier check could pass
/// for a text that hashes differently.
public func sameBytes(_ left: String, _ right: String) -> Bool {
    // What is not even canonically equivalent is told apart at the speed of a memory comparison.
    left == right && left.utf8.elementsEqual(right.utf8)
}

extension JSON {
    /// An integer.
    public static func integer(_ value: some BinaryInteger) -> JSON {
        .number(String(value))
    }

    /// An object without the members whose value is nil.
    public static func members(_ members: [(String, JSON?)]) -> JSON {
        .object(members.compactMap { name, value in value.map { JSONMember(name, $0) } })
    }

    /// An array of strings.
    public static func strings(_ values: some Sequence<String>) -> JSON {
        .array(values.map { .string($0) })
    }

    /// The text, if this is a string.
    public var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The elements, if this is an array.
    public var elements: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members, if this is an object.
    public var members: [JSONMember]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The value, if this is a boolean.
    public var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// Whether this is `null`.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The value, if this is an integer of the profile: within ±(2^53−1), without fraction, exponent or `-0`.
    public var integer: Int? {
        guard case .number(let text) = self, JSON.isProfileInteger(text) else { return nil }
        return Int(text)
    }

    /// The value of the member with this name, if this is an object that has it.
    public subscript(name: String) -> JSON? {
        member(name)?.value
    }

    /// The member with this name, if this is an object that has it.
    public func member(_ name: String) -> JSONMember? {
        guard case .object(let members) = self else { return nil }
        return members.first { sameBytes($0.name, name) }
    }

    /// RFC 8785 prints integers without sign for zero, leading zeros, fraction or exponent; RFC 7493 §2.2 bounds them.
    static func isProfileInteger(_ text: String) -> Bool {
        var digits = Substring(text).utf8
        let negative = digits.first == UInt8(ascii: "-")
        if negative { digits = digits.dropFirst() }
        guard let first = digits.first, digits.count <= 16, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            return false
        }
        if first == 0x30 { return digits.count == 1 && !negative }
        guard let value = Int(text) else { return false }
        return value.magnitude <= 9_007_199_254_740_991
    }
}
