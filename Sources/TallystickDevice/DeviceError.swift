package import Tallystick
import TallystickCrypto
package import TallystickStore

/// Why a device could not do what it was asked to.
///
/// Branch on ``code``; ``message`` and ``remedy`` are for people and may change.
package struct DeviceError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it was, as text that is stable and goes into JSON output.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The folder is no device yet, or its enrolment was not finished.
        package static let notEnrolled = Code(rawValue: "not-enrolled")
        /// The folder, or what stands at its path, belongs to something else.
        package static let notAHome = Code(rawValue: "not-a-home")
        /// The folder or a file in it cannot be used by this user.
        package static let noPermission = Code(rawValue: "no-permission")
        /// Others than the owner can use the device's key.
        package static let keyExposed = Code(rawValue: "key-exposed")
        /// The key is gone although the database is there.
        package static let keyMissing = Code(rawValue: "key-missing")
        /// The database is gone although the key is there.
        package static let databaseMissing = Code(rawValue: "database-missing")
        /// Key or database is damaged.
        package static let damaged = Code(rawValue: "damaged")
        /// Key and database are of two different installations.
        package static let epochMismatch = Code(rawValue: "epoch-mismatch")
        /// The server knows events of this device that its home does not: it was copied or restored.
        package static let homeCopied = Code(rawValue: "home-copied")
        /// The home is enrolled already.
        package static let alreadyEnrolled = Code(rawValue: "already-enrolled")
        /// The invitation is wrong, used up or has ended.
        package static let invitationInvalid = Code(rawValue: "invitation-invalid")
        /// The disk is full; what was saved before is intact.
        package static let diskFull = Code(rawValue: "disk-full")
        /// Another process keeps the database locked.
        package static let busy = Code(rawValue: "busy")
        /// The home was written by a newer version.
        package static let needsNewerVersion = Code(rawValue: "needs-newer-version")
        /// The database failed in another way.
        package static let storeFailed = Code(rawValue: "store-failed")
        /// No chain has this name.
        package static let chainUnknown = Code(rawValue: "chain-unknown")
        /// Several chains have this name.
        package static let chainAmbiguous = Code(rawValue: "chain-ambiguous")
        /// What was asked for can be understood in several ways.
        package static let choiceNeeded = Code(rawValue: "choice-needed")
        /// There is nothing of the kind that was asked for.
        package static let nothingToDo = Code(rawValue: "nothing-to-do")
        /// A value that was given is not one that can be used.
        package static let badInput = Code(rawValue: "bad-input")
        /// A code is damaged, or must not be believed; ``DeviceError/reasons`` may say why.
        package static let badCode = Code(rawValue: "bad-code")
        /// The scheme is not known here.
        package static let schemeUnknown = Code(rawValue: "scheme-unknown")
        /// A scheme of the server's is not the one it is listed as.
        package static let schemeDamaged = Code(rawValue: "scheme-damaged")
        /// A scheme of the server's has mistakes, or more in it than this program knows.
        package static let schemeInvalid = Code(rawValue: "scheme-invalid")
        /// A scheme of the server's cannot be told from one that is known.
        package static let schemeTaken = Code(rawValue: "scheme-taken")
        /// The engine refuses the event; ``DeviceError/reasons`` says why.
        package static let refused = Code(rawValue: "refused")
        /// The server was not reached, or was not able to answer.
        package static let serverUnreachable = Code(rawValue: "server-unreachable")
        /// The server answered with something that it cannot have meant, or that is not signed by it.
        package static let serverMisbehaved = Code(rawValue: "server-misbehaved")
        /// The server's log is not the one that this device was answered from before.
        package static let logChanged = Code(rawValue: "log-changed")
        /// The server does not let this device in, or does not take a request.
        package static let serverRefused = Code(rawValue: "server-refused")
        /// An event alone is larger than the server takes.
        package static let tooLarge = Code(rawValue: "too-large")
        /// Another process synchronises this home.
        package static let syncBusy = Code(rawValue: "sync-busy")
    }

    /// What kind of failure it was.
    package let code: Code
    /// What was expected and what came, in lower case.
    package let message: String
    /// What a person can do about it.
    package let remedy: String
    /// Every reason the engine refuses for; empty for other failures.
    package let reasons: [Reason]

    /// States a failure.
    package init(_ code: Code, _ message: String, remedy: String, reasons: [Reason] = []) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.reasons = reasons
    }

    package var description: String { "\(message) (\(remedy))" }

    /// States that the engine refuses, with all its reasons.
    static func refused(_ type: String, _ reasons: [Reason]) -> DeviceError {
        let codes = reasons.map(\.code.description).joined(separator: ", ")
        let undone =
            switch type {
            case "chain.opened": "not opened"
            case "signed": "not signed"
            case "handoff.offered": "not offered"
            case "handoff.accepted": "not accepted"
            case "handoff.declined": "not declined"
            case "handoff.withdrawn": "not withdrawn"
            case "handoff.acknowledged": "not acknowledged"
            case "note.added": "not noted"
            default: "not saved"
            }
        return DeviceError(
            .refused,
            "\(undone): \(codes)",
            remedy: reasons.map(\.sentence).joined(separator: " "),
            reasons: reasons
        )
    }

    static func misbehaved(_ message: String) -> DeviceError {
        DeviceError(
            .serverMisbehaved,
            message,
            remedy: "nothing of it was used and the work is saved; check the server's address and any log-in page "
                + "of this network, then sync again"
        )
    }

    /// Translates what the database said, naming the folder it is in.
    package init(_ error: StoreError, home: String) {
        let code: Code =
            switch error.code {
            case .diskFull: .diskFull
            case .busy: .busy
            case .readOnly, .cannotOpen: .noPermission
            case .corrupt, .notATallystickFile, .wrongType, .invalidText: .damaged
            case .needsNewerVersion: .needsNewerVersion
            case .notFound: .databaseMissing
            default: .storeFailed
            }
        let remedy =
            code == .damaged
            ? "keep the folder \(home) as it is, enrol a new device in another folder, and sync: what the server has "
                + "is not lost"
            : error.remedy ?? "run “tally doctor --home \(home)”"
        self.init(code, "the home \(home) could not be used: \(error.message)", remedy: remedy)
    }
}

/// Runs a body that works on a home's files, and translates what they throw.
func atHome<T>(_ home: String, _ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let error as StoreError {
        throw DeviceError(error, home: home)
    } catch let error as EventError {
        throw DeviceError(
            .damaged,
            "the home \(home) holds something that cannot be read: \(error.message)",
            remedy: "keep the folder as it is, enrol a new device in another folder, and sync"
        )
    }
}
