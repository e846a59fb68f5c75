/// The failure of a request that got no answer; an answer of any status is not one.
package struct HTTPClientError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it was.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The server was not reached or fell silent: name, connection, time-out, reset.
        ///
        /// Worth another try later.
        package static let unreachable = Code(rawValue: "unreachable")
        /// The server's certificate is not trusted or not its own, or TLS failed.
        ///
        /// Trying again will not help.
        package static let tls = Code(rawValue: "tls")
        /// The URL is none, or not http or https.
        package static let badURL = Code(rawValue: "bad-url")
        /// The answer is larger than the limit.
        package static let tooLarge = Code(rawValue: "too-large")
        /// The method or a header field cannot be sent.
        package static let badRequest = Code(rawValue: "bad-request")
        /// What answered does not speak HTTP.
        package static let badResponse = Code(rawValue: "bad-response")
        /// libcurl could not be set up.
        package static let other = Code(rawValue: "other")
    }

    /// What kind of failure it was.
    package let code: Code
    /// What was expected and what came, in lower case; it never holds headers, bodies or the query.
    package let message: String

    /// Creates an error.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String {
        message
    }
}
