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
        case let error as DeviceError: describe(error)
        case let error as ServerError:
            CommandError(exit: .failed, code: error.code.rawValue, message: error.message)
        case let error as StoreError: describe(error)
        case let error as QRError: describe(error)
        case let error as EventError:
            CommandError(exit: .badInput, code: error.code.description, message: error.message)
        case let error as JSONError:
            CommandError(exit: .badInput, code: error.code.description, message: error.description)
        case let error as SchemeError:
            CommandError(exit: .badInput, code: "scheme-invalid", message: error.description)
        case let error as CryptoError:
            CommandError(exit: .failed, code: error.code.rawValue, message: error.message)
        case let error as HTTPError:
            CommandError(exit: .failed, code: error.code.rawValue, message: error.message)
        default: CommandError(exit: .failed, code: "failed", message: "\(error)")
        }
    }

    private static func describe(_ error: StoreError) -> CommandError {
        let isForeign = error.code == .notATallystickFile || error.code == .needsNewerVersion
        return CommandError(
            exit: isForeign ? .badInput : .failed,
            code: error.code.rawValue,
            message: error.message,
            remedy: error.remedy
        )
    }

    private static func describe(_ error: QRError) -> CommandError {
        CommandError(exit: .badInput, code: error.code.rawValue, message: error.message)
    }

    private static func describe(_ error: DeviceError) -> CommandError {
        CommandError(
            exit: exit(for: error.code),
            code: error.code.rawValue,
            message: error.message,
            // Each reason's sentence says what to do.
            remedy: error.reasons.isEmpty ? error.remedy : nil,
            details: error.reasons.map { reason in
                // The subject keeps names apart: a script finds every reason in the object.
                ([reason.code.description, reason.subject].compactMap { $0 }.joined(separator: " "), reason.sentence)
            }
        )
    }

    private static func exit(for code: DeviceError.Code) -> ExitCode {
        switch code {
        case .serverUnreachable: .unavailable
        case .chainUnknown, .notAHome, .notEnrolled, .keyMissing, .databaseMissing: .noInput
        case .chainAmbiguous, .choiceNeeded, .badInput, .schemeUnknown, .damaged: .badInput
        default: .failed
        }
    }
}
