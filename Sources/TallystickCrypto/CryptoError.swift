/// Why a cryptographic operation or a key file could not be done.
///
/// A signature or tag that does not match is an answer (`false`), never an error.
public struct CryptoError: Error, Equatable, CustomStringConvertible, Sendable {
    /// The kind of failure, to branch on.
    ///
    /// A struct and not an enum, so that a new kind breaks no caller.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's name, as written in reports.
        public let rawValue: String

        /// Makes a code from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A seed, output or limit has a length outside what is allowed.
        public static let wrongLength = Code(rawValue: "wrong-length")
        /// A C library reported a failure that no input can cause.
        public static let libraryFailed = Code(rawValue: "library-failed")
        /// The path cannot name a file.
        public static let badPath = Code(rawValue: "bad-path")
        /// A key file was to be created where something already is.
        public static let fileExists = Code(rawValue: "file-exists")
        /// There is no file at the path.
        public static let fileNotFound = Code(rawValue: "file-not-found")
        /// Group or others may read or write the key file.
        public static let fileExposed = Code(rawValue: "file-exposed")
        /// The file holds more bytes than the caller's limit.
        public static let fileTooLarge = Code(rawValue: "file-too-large")
        /// There is no room left for the file on its disk, or in the quota.
        public static let diskFull = Code(rawValue: "disk-full")
        /// The operating system refused to open, read, write, flush or close a file.
        public static let fileFailed = Code(rawValue: "file-failed")
    }

    /// The kind of failure.
    public let code: Code
    /// What was expected and what came, in lower case, for people.
    public let message: String

    /// Makes an error of a kind with its message.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message followed by the code.
    public var description: String { "\(message) (\(code.rawValue))" }
}
