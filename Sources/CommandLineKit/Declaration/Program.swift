/// A command line program: its name, what every command shares, and its commands.
package struct Program: Sendable {
    /// What is typed to run it.
    package let name: String
    /// The version `--version` prints.
    package let version: String
    /// What it is for, in one line without a full stop.
    package let summary: String
    /// More about it, as for a command.
    package let discussion: String
    /// The options every command takes, besides `--json`, `--quiet` and `--help`.
    package let options: [OptionDeclaration]
    /// The groups that are described; others get their place from their commands.
    package let groups: [GroupDeclaration]
    /// The commands, in the order help lists them.
    package let commands: [CommandDeclaration]
    /// Maps what commands throw, except a `CommandError`, which is already what it should be.
    package let describe: @Sendable (any Error) -> CommandError

    /// Declares a program.
    package init(
        name: String,
        version: String,
        summary: String,
        discussion: String = "",
        options: [OptionDeclaration] = [],
        groups: [GroupDeclaration] = [],
        commands: [CommandDeclaration],
        describe: @escaping @Sendable (any Error) -> CommandError = Program.unmapped
    ) {
        self.name = name
        self.version = version
        self.summary = summary
        self.discussion = discussion
        self.options = options
        self.groups = groups
        self.commands = commands
        self.describe = describe
    }

    /// Describes an error nobody mapped: code `failed`, exit 1, and what Swift says about it.
    @Sendable package static func unmapped(_ error: any Error) -> CommandError {
        CommandError(exit: .failed, code: "failed", message: String(describing: error))
    }

    /// The options every command takes, in the order help lists them.
    var sharedOptions: [OptionDeclaration] {
        options + [
            OptionDeclaration(flag: "json", help: "print the result as JSON, one object a line"),
            OptionDeclaration(flag: "quiet", help: "print results and errors only"),
            OptionDeclaration(flag: "help", short: "h", help: "print this help"),
        ]
    }

    /// The option only the program itself takes.
    static let versionOption = OptionDeclaration(flag: "version", help: "print the version")

    /// Runs the command these arguments name, and returns the status for the process to end with.
    ///
    /// Never throws and never traps on what it is given. Results, help and the version go to standard output; all else
    /// goes to standard error. Under `--json` an error goes to standard output as one JSON object on one line and
    /// nothing of it to standard error, because a script then reads one stream and always finds an object there.
    ///
    /// - Parameter arguments: what follows the program's name.
    package func run(_ arguments: [String], console: Console) async -> Int32 {
        let code = await dispatch(arguments, console: console)
        // A full disk must not look like success: the result the caller waits for is not where it was sent.
        guard let reason = console.outputFailure else { return code.rawValue }
        let error = CommandError(
            exit: .failed,
            code: "output-failed",
            message: "standard output could not be written: \(reason)"
        )
        console.writeError(errorLines(error, at: CommandTree(self).root, tree: CommandTree(self), console: console))
        return code == .done ? ExitCode.failed.rawValue : code.rawValue
    }

    private func dispatch(_ arguments: [String], console: Console) async -> ExitCode {
        let tree = CommandTree(self)
        let parser = CommandParser(program: self, tree: tree, environment: console.environment)
        let wantsJSON = arguments.prefix { !sameBytes($0, "--") }.contains { sameBytes($0, "--json") }
        let console = console.configured(quiet: false, json: wantsJSON)
        switch parser.parse(arguments) {
        case .help(let node):
            let help = HelpText(program: self, tree: tree, console: console)
            console.write(help.text(for: node))
            return .done
        case .version:
            if wantsJSON {
                console.print(.object([("name", .string(name)), ("version", .string(version))]))
            } else {
                console.print("\(name) \(version)")
            }
            return .done
        case .nothing(let node):
            guard !wantsJSON else {
                let error = CommandError.usage("no command was given", code: "missing-command")
                return report(error, at: node, tree: tree, console: console)
            }
            let help = HelpText(program: self, tree: tree, console: console)
            console.write(help.text(for: node))
            return .usage
        case .mistake(let error, let node):
            return report(error, at: node, tree: tree, console: console)
        case .command(let command, let given, let node):
            let quiet = given.flags.contains("quiet")
            let console = console.configured(quiet: quiet, json: wantsJSON)
            let invocation = Invocation(program: self, command: command, given: given, console: console)
            do {
                return try await command.run(invocation)
            } catch let error as CommandError {
                return report(error, at: node, tree: tree, console: console)
            } catch {
                return report(describe(error), at: node, tree: tree, console: console)
            }
        }
    }

    /// Prints an error and returns the code to end with.
    private func report(
        _ error: CommandError,
        at node: CommandTree.Node,
        tree: CommandTree,
        console: Console
    ) -> ExitCode {
        let exit = error.exit == .done ? ExitCode.failed : error.exit
        if console.isJSON {
            console.print(error.json)
        } else {
            console.writeError(errorLines(error, at: node, tree: tree, console: console))
        }
        return exit
    }

    private func errorLines(
        _ error: CommandError,
        at node: CommandTree.Node,
        tree: CommandTree,
        console: Console
    ) -> String {
        var lines = ["\(console.styled("Error:", .error, on: .error)) \(Console.plain(error.message))"]
        for detail in error.details {
            lines.append("  \(Console.plain(detail.name)): \(Console.plain(detail.value))")
        }
        if let remedy = error.remedy { lines.append(Console.plain(remedy)) }
        if error.exit == .usage {
            let help = HelpText(program: self, tree: tree, console: console)
            lines.append(contentsOf: help.usage(of: node))
            let place = ([name] + node.path).joined(separator: " ")
            lines.append("Run '\(place) --help' for help.")
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
