/// Why a text is not JSON as this project reads it, or a value cannot be written canonically.
public struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of fault, to branch on.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The stable spelling.
        public let description: String

        /// The text does not follow RFC 8259's grammar.
        public static let syntax = Code(description: "json-syntax")
        /// The text is not UTF-8 without byte order mark (RFC 8259 §8.1, RFC 7493 §2.1).
        public static let encoding = Code(description: "json-encoding")
        /// An object has the same name twice, also after unescaping (RFC 7493 §2.3).
        public static let duplicateName = Code(description: "json-duplicate-name")
        /// A string has a surrogate without its partner (RFC 7493 §2.1).
        public static let loneSurrogate = Code(description: "json-lone-surrogate")
        /// Arrays and objects are nested deeper than 32.
        public static let tooDeep = Code(description: "json-too-deep")
        /// A number has no finite value as a double (RFC 7493 §2.2).
        public static let numberRange = Code(description: "json-number-range")
        /// A number is not an integer within ±(2^53−1) in its canonical spelling: outside the profile we write.
        public static let notProfileNumber = Code(description: "json-not-profile-number")
        /// The bytes are JSON, but not the canonical spelling of it (RFC 8785).
        public static let notCanonical = Code(description: "not-canonical")
    }

    /// The kind of fault.
    public let code: Code
    /// What was expected and what came, for a person.
    public let message: String
    /// The offset of the byte at which it showed; 0 where there is no text.
    public let offset: Int

    /// States a fault.
    public init(code: Code, message: String, offset: Int) {
        self.code = code
        self.message = message
        self.offset = offset
    }

    /// The message with its place.
    public var description: String { "\(message) (at byte \(offset))" }
}
