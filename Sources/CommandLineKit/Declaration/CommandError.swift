/// Why a command could not be done, as told to the person or the script that ran it.
///
/// `Program.run` prints it as `Error: message`, the remedy on a line of its own, or as one JSON object under `--json`.
package struct CommandError: Error, Sendable {
    /// The status the process ends with; `.done` is taken as `.failed`, since an error is never a success.
    package let exit: ExitCode
    /// A stable name scripts may branch on, such as `unknown-option`.
    package let code: String
    /// What happened, and to which thing; lowercase, no full stop.
    package let message: String
    /// What to do about it; a sentence, or nil where nothing sensible can be advised.
    package let remedy: String?
    /// Facts by name, in the order shown; a name given twice keeps its last value under `--json`.
    package let details: [(name: String, value: String)]

    /// Makes an error.
    package init(
        exit: ExitCode,
        code: String,
        message: String,
        remedy: String? = nil,
        details: [(name: String, value: String)] = []
    ) {
        self.exit = exit
        self.code = code
        self.message = message
        self.remedy = remedy
        self.details = details
    }

    /// Makes the error for a wrong command line; the usage of the command is printed below it.
    package static func usage(_ message: String, code: String = "usage", remedy: String? = nil) -> CommandError {
        CommandError(exit: .usage, code: code, message: message, remedy: remedy)
    }

    /// The object printed under `--json`: `{"error":{"code","message","remedy","details","exit"}}`.
    ///
    /// `remedy` is null where there is none. `details` maps names to strings.
    package var json: JSONOutput {
        let facts = details.map { ($0.name, JSONOutput.string($0.value)) }
        return .object([
            (
                "error",
                .object([
                    ("code", .string(code)),
                    ("message", .string(message)),
                    ("remedy", .optional(remedy)),
                    ("details", .object(facts)),
                    ("exit", .int(Int(exit.rawValue))),
                ])
            )
        ])
    }
}
