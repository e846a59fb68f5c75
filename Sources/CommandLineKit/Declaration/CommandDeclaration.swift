/// Everything there is to know about one command: parsing, help, completions and the manual page follow from it.
package struct CommandDeclaration: Sendable {
    /// The words that name it, such as `["server", "run"]`.
    package let path: [String]
    /// What it does, in one line without a full stop.
    package let summary: String
    /// More about it: paragraphs parted by empty lines; indented lines are kept as they are.
    package let discussion: String
    /// The heading it is listed under in the program's help; a command in a group is listed in the group's help.
    package let section: String
    /// What is given by position, in order; at most one of `.any` or `.many`.
    package let arguments: [ArgumentDeclaration]
    /// What is given by name; those every command has are not repeated here.
    package let options: [OptionDeclaration]
    /// Command lines that work, each with what it does.
    package let examples: [(line: String, says: String)]
    /// How it can end, ascending, each with what that means here.
    package let exitCodes: [(code: ExitCode, says: String)]
    /// Does it; what is thrown is mapped by the program's `describe`.
    package let run: @Sendable (Invocation) async throws -> ExitCode

    /// Declares a command.
    ///
    /// Exit codes 0, 1 and 64 are supplied; `exitCodes` adds to them or words them otherwise. Give `run` a closure or a
    /// function that is `async`: Swift 6.3.1 crashes compiling a static property that names one that is not.
    package init(
        _ path: [String],
        summary: String,
        discussion: String = "",
        section: String = "Commands",
        arguments: [ArgumentDeclaration] = [],
        options: [OptionDeclaration] = [],
        examples: [(line: String, says: String)] = [],
        exitCodes: [(code: ExitCode, says: String)] = [],
        run: @escaping @Sendable (Invocation) async throws -> ExitCode
    ) {
        self.path = path
        self.summary = summary
        self.discussion = discussion
        self.section = section
        self.arguments = arguments
        self.options = options
        self.examples = examples
        let supplied = CommandDeclaration.suppliedExitCodes.filter { supplied in
            !exitCodes.contains { $0.code == supplied.code }
        }
        self.exitCodes = (supplied + exitCodes).sorted { $0.code.rawValue < $1.code.rawValue }
        self.run = run
    }

    private static let suppliedExitCodes: [(code: ExitCode, says: String)] = [
        (.done, "done"),
        (.failed, "failed; the error says why"),
        (.usage, "the command line was wrong"),
    ]
}

/// A word that commands are gathered under, such as `server`.
package struct GroupDeclaration: Sendable {
    /// The words that name it.
    package let path: [String]
    /// What its commands are for, in one line without a full stop.
    package let summary: String
    /// More about it, as for a command.
    package let discussion: String
    /// The heading it is listed under in the program's help.
    package let section: String

    /// Declares a group.
    package init(_ path: [String], summary: String, discussion: String = "", section: String = "Commands") {
        self.path = path
        self.summary = summary
        self.discussion = discussion
        self.section = section
    }
}

/// Which values an argument or option takes, as far as the command line can know.
package enum AcceptedValues: Sendable {
    /// Any text; nothing is offered for completion.
    case anything
    /// The path of a file, or `-`; files are offered for completion.
    case files
    /// The path of a folder; folders are offered for completion.
    case folders
    /// One of these words and nothing else.
    case choices([String])

    /// The words allowed, or nil if any text is.
    var choices: [String]? {
        guard case .choices(let words) = self else { return nil }
        return words
    }
}

/// What is given by position.
package struct ArgumentDeclaration: Sendable {
    /// How often it is given.
    package enum Arity: Sendable {
        /// Exactly once.
        case one
        /// Once or not at all.
        case optional
        /// Any number of times, or not at all.
        case any
        /// At least once.
        case many

        var minimum: Int {
            switch self {
            case .one, .many: 1
            case .optional, .any: 0
            }
        }

        var isUnlimited: Bool {
            switch self {
            case .one, .optional: false
            case .any, .many: true
            }
        }
    }

    /// What help calls it and code asks for, in capitals: `CHAIN`.
    package let name: String
    /// How often it is given.
    package let arity: Arity
    /// Which values it takes.
    package let values: AcceptedValues
    /// What it is, in a line without a full stop.
    package let help: String

    /// Declares an argument.
    package init(_ name: String, _ arity: Arity = .one, values: AcceptedValues = .anything, help: String) {
        self.name = name
        self.arity = arity
        self.values = values
        self.help = help
    }

    /// How a usage line shows it: `CHAIN`, `[CHAIN]`, `CHAIN…` or `[CHAIN…]`.
    var usage: String {
        switch arity {
        case .one: name
        case .optional: "[\(name)]"
        case .any: "[\(name)…]"
        case .many: "\(name)…"
        }
    }

    /// The help with the words allowed.
    var fullHelp: String {
        guard let words = values.choices else { return help }
        return "\(help) [one of: \(words.joined(separator: ", "))]"
    }
}

/// What is given by name.
package struct OptionDeclaration: Sendable {
    /// What an option is when it is not given.
    package enum Default: Sendable {
        /// Nothing.
        case none
        /// This value, which help shows.
        case value(String)
        /// Nothing; help says what the command then does, such as "the user's data folder".
        case described(String)
    }

    /// The long name, without dashes.
    package let name: String
    /// The letter for short, if it is one of the common few.
    package let short: Unicode.Scalar?
    /// What help calls its value, in capitals; nil for a flag, which takes none.
    package let value: String?
    /// Whether it may be given more than once, each time adding a value.
    package let isRepeatable: Bool
    /// Whether the command needs it: from the command line, the environment or a default.
    package let isRequired: Bool
    /// What it is when it is not given.
    package let defaultValue: Default
    /// The environment variable it is taken from when it is not given; an empty one counts as unset.
    package let environment: String?
    /// Which values it takes.
    package let values: AcceptedValues
    /// What it does, in a line without a full stop.
    package let help: String

    /// Declares an option that takes a value.
    package init(
        _ name: String,
        short: Unicode.Scalar? = nil,
        value: String,
        repeatable: Bool = false,
        required: Bool = false,
        default defaultValue: Default = .none,
        environment: String? = nil,
        values: AcceptedValues = .anything,
        help: String
    ) {
        self.name = name
        self.short = short
        self.value = value
        self.isRepeatable = repeatable
        self.isRequired = required
        self.defaultValue = defaultValue
        self.environment = environment
        self.values = values
        self.help = help
    }

    /// Declares a flag: an option that is either given or not.
    package init(flag name: String, short: Unicode.Scalar? = nil, help: String) {
        self.name = name
        self.short = short
        self.value = nil
        self.isRepeatable = true
        self.isRequired = false
        self.defaultValue = .none
        self.environment = nil
        self.values = .anything
        self.help = help
    }

    var takesValue: Bool { value != nil }

    /// How a usage line shows it: `--name VALUE`.
    var usage: String {
        value.map { "--\(name) \($0)" } ?? "--\(name)"
    }

    /// The help with all that is worth knowing beside it: what is required, repeated, default or from the environment.
    var fullHelp: String {
        var parts = [help]
        if isRequired { parts.append("(required)") }
        if takesValue && isRepeatable { parts.append("(may be repeated)") }
        if let words = values.choices { parts.append("[one of: \(words.joined(separator: ", "))]") }
        switch defaultValue {
        case .none: break
        case .value(let text), .described(let text): parts.append("[default: \(text)]")
        }
        if let environment { parts.append("[env: \(environment)]") }
        return parts.joined(separator: " ")
    }
}
