import CommandLineKit
import Schemes
import Tallystick
import TallystickCrypto
import TallystickDevice
import TallystickQR
import TallystickServer
import TallystickStore

/// The one place where the modules' errors become what a person is told.
enum Failure {
    static func describe(_ error: any Error) -> CommandError {
        switch error {
        case let error as CommandError: error
        case let error as DeviceError: describe(error)
        case let error as ServerError: describe(error)
        case let error as StoreError: describe(error)
        case let error as QRError: describe(error)
        case let error as EventError:
            CommandError(exit: .badInput, code: error.code.description, message: error.message)
        case let error as JSONError:
            CommandError(exit: .badInput, code: error.code.description, message: error.description)
        case let error as SchemeError:
            CommandError(exit: .badInput, code: "scheme-invalid", message: error.description)
        case let error as CryptoError: describe(error)
        case let error as HTTPError:
            CommandError(exit: .failed, code: error.code.rawValue, message: error.message)
        default: CommandError(exit: .failed, code: "failed", message: "\(error)")
        }
    }

    /// Runs what needs the server; where it is not reached, nothing is saved to be sent later, and this is the remedy.
    static func reaching<Result>(_ remedy: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DeviceError where error.code == .serverUnreachable {
            throw CommandError(exit: .unavailable, code: error.code.rawValue, message: error.message, remedy: remedy)
        }
    }

    private static func describe(_ error: StoreError) -> CommandError {
        let exit: ExitCode
        var remedy = error.remedy
        switch error.code {
        case .notATallystickFile, .needsNewerVersion, .badRecord: exit = .badInput
        case .notFound:
            exit = .noInput
            remedy = remedy ?? "check the path; `tally server init` makes a new server"
        default: exit = .failed
        }
        return CommandError(exit: exit, code: error.code.rawValue, message: error.message, remedy: remedy)
    }

    private static func describe(_ error: ServerError) -> CommandError {
        let exit: ExitCode
        var remedy: String?
        switch error.code {
        case .wrongKeys:
            exit = .badInput
            remedy = "put back the key file that `tally server init` made together with this database"
        case .exists:
            exit = .failed
            remedy = "name another file with --db; nothing was changed"
        case .badValue: exit = .badInput
        case .schemeTaken:
            exit = .failed
            remedy = "raise the version in scheme.json: chains keep the scheme they were opened with"
        case .unknownDevice: exit = .noInput
        case .logMoved:
            exit = .failed
            remedy = "give the command again"
        case .logDamaged:
            exit = .failed
            remedy = "keep the file as it is and restore a backup beside it"
        default: exit = .failed
        }
        return CommandError(exit: exit, code: error.code.rawValue, message: error.message, remedy: remedy)
    }

    /// On a device its home words what is wrong with its key; this is the server's key file.
    private static func describe(_ error: CryptoError) -> CommandError {
        let exit: ExitCode
        var remedy: String?
        switch error.code {
        case .fileNotFound, .fileTooLarge:
            exit = error.code == .fileNotFound ? .noInput : .badInput
            remedy = "put back the key file that `tally server init` made together with this database"
        case .diskFull:
            exit = .failed
            remedy = "free some space and run the command again"
        default: exit = .failed
        }
        return CommandError(exit: exit, code: error.code.rawValue, message: error.message, remedy: remedy)
    }

    private static func describe(_ error: QRError) -> CommandError {
        CommandError(exit: .badInput, code: error.code.rawValue, message: error.message)
    }

    private static func describe(_ error: DeviceError) -> CommandError {
        CommandError(
            exit: exit(for: error),
            code: error.code.rawValue,
            message: error.reasons.isEmpty
                ? error.message : "the rules do not allow it, for \(counted(error.reasons.count, "reason"))",
            // Each reason's sentence says what to do.
            remedy: error.reasons.isEmpty ? error.remedy : nil,
            details: error.reasons.map { reason in
                // The subject keeps names apart: a script finds every reason in the object.
                ([reason.code.description, reason.subject].compactMap { $0 }.joined(separator: " "), reason.sentence)
            }
        )
    }

    private static func exit(for error: DeviceError) -> ExitCode {
        switch error.code {
        // A value that no such field can have is bad input; everything else the rules refuse is a failure.
        case .refused where error.reasons.allSatisfy({ [.fieldInvalid, .fieldUnknown].contains($0.code) }): .badInput
        case .serverUnreachable: .unavailable
        case .chainUnknown, .notAHome, .notEnrolled, .keyMissing, .databaseMissing: .noInput
        case .chainAmbiguous, .choiceNeeded, .badInput, .schemeUnknown, .damaged, .badCode: .badInput
        default: .failed
        }
    }
}
