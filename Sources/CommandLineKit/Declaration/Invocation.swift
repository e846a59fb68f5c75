/// One run of a command: what it was given, and the console to answer on.
///
/// Asking for an argument or option the command does not declare throws `not-declared`, so that a slip in a command
/// shows in its first test and never traps.
package struct Invocation: Sendable {
    /// The program it belongs to.
    package let program: Program
    /// The command that runs.
    package let command: CommandDeclaration
    /// Where results, notes and questions go.
    package let console: Console
    private let given: GivenArguments

    init(program: Program, command: CommandDeclaration, given: GivenArguments, console: Console) {
        self.program = program
        self.command = command
        self.given = given
        self.console = console
    }

    /// Whether `--json` was given: print one object, or one per line when streaming.
    package var isJSON: Bool { console.isJSON }

    /// The value of this argument, which must have been given.
    ///
    /// The first where it was given several times. Throws a usage error if it is optional and missing.
    package func argument(_ name: String) throws(CommandError) -> String {
        guard let value = try argumentIfGiven(name) else {
            throw .usage("missing argument \(name)", code: "missing-argument")
        }
        return value
    }

    /// The value of this argument, or nil if it was not given.
    package func argumentIfGiven(_ name: String) throws(CommandError) -> String? {
        try arguments(name).first
    }

    /// Every value of this argument, in the order given.
    package func arguments(_ name: String) throws(CommandError) -> [String] {
        guard command.arguments.contains(where: { $0.name == name }) else { throw notDeclared("argument \(name)") }
        return given.arguments[name] ?? []
    }

    /// The value of this option: as given, else from its environment variable, else its default value, else nil.
    package func option(_ name: String) throws(CommandError) -> String? {
        try options(name).last
    }

    /// The value of this option, found as by `option(_:)`; throws a usage error if there is none.
    package func requiredOption(_ name: String) throws(CommandError) -> String {
        guard let value = try option(name) else {
            throw .usage("missing option --\(name)", code: "missing-option")
        }
        return value
    }

    /// Every value of this option, in the order given, found as by `option(_:)`.
    package func options(_ name: String) throws(CommandError) -> [String] {
        let declared = command.options + program.sharedOptions
        guard declared.contains(where: { $0.name == name && $0.takesValue }) else {
            throw notDeclared("option --\(name)")
        }
        return given.options[name] ?? []
    }

    /// Whether this flag was given.
    package func flag(_ name: String) throws(CommandError) -> Bool {
        let declared = command.options + program.sharedOptions
        guard declared.contains(where: { $0.name == name && !$0.takesValue }) else {
            throw notDeclared("flag --\(name)")
        }
        return given.flags.contains(name)
    }

    private func notDeclared(_ what: String) -> CommandError {
        CommandError(
            exit: .failed,
            code: "not-declared",
            message: "the command \(command.path.joined(separator: " ")) declares no \(what)",
            remedy: "This is a mistake in \(program.name); please report it."
        )
    }
}
