/// The failure to start a server, or to read a request.
package struct HTTPError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it was.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Another program listens on the address and port.
        package static let addressInUse = Code(rawValue: "address-in-use")
        /// The address is no numeric IPv4 or IPv6 address of this machine, or the port no port.
        package static let badAddress = Code(rawValue: "bad-address")
        /// The user may not listen there (ports below 1024).
        package static let notPermitted = Code(rawValue: "not-permitted")
        /// The certificate and key could not be used.
        package static let badCertificate = Code(rawValue: "bad-certificate")
        /// The server is running, or was stopped.
        package static let alreadyStarted = Code(rawValue: "already-started")
        /// The request is not one this server reads.
        package static let badRequest = Code(rawValue: "bad-request")
        /// The server could not be started for another reason.
        package static let other = Code(rawValue: "other")
    }

    /// What kind of failure it was.
    package let code: Code
    /// What was expected and what came, in lower case; of a request it repeats nothing.
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
