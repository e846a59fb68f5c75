/// What a command tells the shell when it ends.
///
/// The numbers from 64 on are those of `sysexits.h`, so that scripts can tell a mistyped command from a failed one.
package struct ExitCode: RawRepresentable, Hashable, Sendable {
    /// The status given to the shell.
    package let rawValue: Int32

    /// Makes the exit code with this status.
    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The command did what it was asked.
    package static let done = ExitCode(rawValue: 0)
    /// The command could not do it.
    package static let failed = ExitCode(rawValue: 1)
    /// The check ran and found problems.
    package static let foundProblems = ExitCode(rawValue: 2)
    /// The command line was wrong (`EX_USAGE`).
    package static let usage = ExitCode(rawValue: 64)
    /// What was read is not what it should be (`EX_DATAERR`).
    package static let badInput = ExitCode(rawValue: 65)
    /// What was named does not exist (`EX_NOINPUT`).
    package static let noInput = ExitCode(rawValue: 66)
    /// Another machine could not be reached (`EX_UNAVAILABLE`).
    package static let unavailable = ExitCode(rawValue: 69)

    /// Every exit code with a meaning of its own, ascending.
    package static let documented: [ExitCode] = [
        .done, .failed, .foundProblems, .usage, .badInput, .noInput, .unavailable,
    ]
}
