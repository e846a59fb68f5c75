import CommandLineKit

/// An error that `SampleProgram` maps.
struct LedgerError: Error {
    let page: Int
}

/// An error that nobody maps.
struct StrayError: Error, CustomStringConvertible {
    let description = "the ink ran out"
}

/// A program with one of everything; each command prints what it was given.
enum SampleProgram {
    static let program = Program(
        name: "stock",
        version: "1.2.3",
        summary: "Keep count of what is in the shed",
        options: [
            OptionDeclaration(
                "home",
                value: "DIR",
                default: .described("the user's data folder"),
                environment: "STOCK_HOME",
                values: .folders,
                help: "where the counts are kept"
            )
        ],
        groups: [
            GroupDeclaration(["shed"], summary: "Look after sheds", section: "For keepers")
        ],
        commands: [
            put, take, list, refused, retry, discard, open, close, .completions(section: "For keepers"),
            .manual(section: "For keepers"), fail,
        ],
        describe: { error in
            guard let error = error as? LedgerError else { return Program.unmapped(error) }
            return CommandError(
                exit: .badInput,
                code: "page-torn",
                message: "page \(error.page) of the ledger is torn",
                remedy: "Mend it with 'stock shed open'.",
                details: [("page", String(error.page))]
            )
        }
    )

    private static let put = CommandDeclaration(
        ["put"],
        summary: "Put things into the shed",
        discussion: """
            Counts what is put. Things nobody has put before are added to the list, \
            so that a slip of the pen makes a new thing.

              wood=3   three pieces of wood
            """,
        section: "For everyone",
        arguments: [
            ArgumentDeclaration("SHED", help: "which shed"),
            ArgumentDeclaration("THING=COUNT", .many, help: "what, and how many of it"),
        ],
        options: [
            OptionDeclaration("by", value: "NAME", required: true, help: "who puts it"),
            OptionDeclaration("output", short: "o", value: "FILE", values: .files, help: "also write a slip"),
            OptionDeclaration("label", value: "TEXT", repeatable: true, help: "stick a label on it"),
            OptionDeclaration("for", value: "TIME", default: .value("15m"), help: "how long it stays"),
            OptionDeclaration(flag: "dry-run", short: "n", help: "only say what would happen"),
            OptionDeclaration(flag: "verbose", short: "v", help: "say more"),
        ],
        examples: [
            ("stock put north wood=3 --by Ada", "Put three pieces of wood into the north shed"),
            ("stock put north rope=1 --by Ada -o slip.txt", "Put a rope there, with a slip"),
        ],
        exitCodes: [(.foundProblems, "the shed is full"), (.done, "it is in the shed")],
        run: echo
    )

    private static let take = CommandDeclaration(
        ["take"],
        summary: "Take things out",
        section: "For everyone",
        arguments: [
            ArgumentDeclaration("FROM", help: "which shed"),
            ArgumentDeclaration("THINGS", .any, values: .files, help: "what"),
            ArgumentDeclaration("TO", help: "where to"),
        ],
        run: echo
    )

    private static let list = CommandDeclaration(
        ["list"],
        summary: "List what is there",
        section: "For everyone",
        arguments: [ArgumentDeclaration("ORDER", .optional, values: .choices(["name", "count"]), help: "sorted by")],
        run: echo
    )

    private static let refused = CommandDeclaration(["refused"], summary: "Show what did not fit", run: echo)
    private static let retry = CommandDeclaration(["refused", "retry"], summary: "Try again", run: echo)
    private static let discard = CommandDeclaration(
        ["refused", "discard"],
        summary: "Give it up",
        arguments: [ArgumentDeclaration("ID", help: "which")],
        run: echo
    )
    private static let open = CommandDeclaration(
        ["shed", "open"],
        summary: "Open a shed",
        options: [OptionDeclaration("key", short: "k", value: "FILE", values: .files, help: "the key")],
        run: echo
    )
    private static let close = CommandDeclaration(["shed", "close"], summary: "Close a shed", run: echo)

    private static let fail = CommandDeclaration(
        ["fail"],
        summary: "Fail in a way of your choice",
        section: "For keepers",
        arguments: [ArgumentDeclaration("HOW", help: "how")],
        exitCodes: [(.noInput, "no such file"), (.badInput, "torn"), (.unavailable, "nobody there")],
        run: { invocation in
            switch try invocation.argument("HOW") {
            case "mapped": throw LedgerError(page: 7)
            case "stray": throw StrayError()
            case "usage": throw CommandError.usage("COUNT must be above 0, not -1")
            case "done": throw CommandError(exit: .done, code: "odd", message: "an error that says done")
            case "undeclared": _ = try invocation.option("colour")
            case "hostile":
                throw CommandError(
                    exit: .noInput,
                    code: "no-shed",
                    message: "no shed \u{1B}[2J\u{202E}dehs",
                    remedy: "Ask\nagain."
                )
            case "problems": return .foundProblems
            default: break
            }
            return .done
        }
    )

    /// Prints what was given, a line for each thing.
    @Sendable private static func echo(_ invocation: Invocation) async throws -> ExitCode {
        let console = invocation.console
        console.note("noted")
        console.print(invocation.command.path.joined(separator: " "))
        for argument in invocation.command.arguments {
            for value in try invocation.arguments(argument.name) { console.print("\(argument.name) <\(value)>") }
        }
        for option in invocation.command.options {
            if option.value == nil {
                if try invocation.flag(option.name) { console.print("--\(option.name)") }
            } else {
                for value in try invocation.options(option.name) { console.print("--\(option.name) <\(value)>") }
            }
        }
        if let home = try invocation.option("home") { console.print("--home <\(home)>") }
        return .done
    }
}
