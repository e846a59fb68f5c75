/// A name that schemes give to roles, fields, signatures and the like: ASCII letters, digits, `-`, `_` and `.`.
///
/// Being ASCII, two names are equal exactly when their bytes are; a text from outside becomes a name only here.
public struct Name: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The most bytes a name may have.
    public static let longest = 64

    /// The name's text.
    public let text: String

    /// Makes a name of the text, or nil if it is empty, too long or has another character.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Name.longest, text.utf8.allSatisfy(Name.isAllowed) else { return nil }
        self.text = text
    }

    static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: false
        }
    }

    /// The order of the bytes.
    public static func < (left: Name, right: Name) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    /// The name's text.
    public var description: String { text }
}
