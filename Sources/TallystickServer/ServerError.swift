/// Why the server could not do something.
package struct ServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it was, as stable text; problem details carry it.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// There is a database or a key file already where a new one was to be made.
        package static let exists = Code(rawValue: "exists")
        /// The key file is not that of the database, or no key file.
        package static let wrongKeys = Code(rawValue: "wrong-keys")
        /// A name, role or time given is not one that can be used.
        package static let badValue = Code(rawValue: "bad-value")
        /// The invitation's code is wrong, used by another key, or expired.
        package static let invitationInvalid = Code(rawValue: "invitation-invalid")
        /// The key was enrolled before, with another code.
        package static let alreadyEnrolled = Code(rawValue: "already-enrolled")
        /// No certificate is known for the device.
        package static let unknownDevice = Code(rawValue: "unknown-device")
        /// The device was revoked.
        package static let deviceRevoked = Code(rawValue: "device-revoked")
        /// The scheme cannot be added beside those that are known.
        package static let schemeTaken = Code(rawValue: "scheme-taken")
        /// The log grew while it was folded again.
        package static let logMoved = Code(rawValue: "log-moved")
        /// The stored log cannot be read as what it was written as.
        package static let logDamaged = Code(rawValue: "log-damaged")
    }

    /// What kind of failure it was.
    package let code: Code
    /// What was expected and what came, in lower case.
    package let message: String

    /// Creates an error.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

/// What the server takes at once (`docs/design.md`, section 14); `GET /v1/server` tells.
package struct ServerLimits: Sendable {
    /// The most bytes of one event.
    package var eventBytes = 65_536
    /// The most bytes of one push, and about the most of one page.
    package var pushBytes = 1 << 20
    /// The most lines of one push, and items of one page.
    package var pushEvents = 500
    /// The most waiting events of one device; beyond it they are deferred.
    package var waitingPerDevice = 1_000
    /// The most refused events of one device in a chain that its party takes no part in; beyond it they are deferred.
    package var refusedPerOutsider = 200
    /// The most events of chains kept folded in memory.
    package var cachedEvents = 400_000

    /// The documented limits.
    package init() {}
}
