/// A script that teaches a shell to complete the program's command lines.
///
/// All three walk the words before the cursor as the parser does, to find the command, and then offer what the
/// declarations allow there. None calls the program, so completion is instant and works before anything is set up.
package struct CompletionScript: Sendable {
    /// A shell that completions can be written for.
    package enum Shell: String, CaseIterable, Sendable {
        /// GNU Bash 4 or later; no `bash-completion` needed.
        case bash
        /// The Z shell.
        case zsh
        /// The friendly interactive shell, 3.0 or later.
        case fish
    }

    /// The script, to be put where the shell looks for completions or to be sourced.
    package let text: String

    /// Writes the script for this shell.
    package init(for shell: Shell, of program: Program) {
        let model = CompletionModel(program)
        text =
            switch shell {
            case .bash: model.bash
            case .zsh: model.zsh
            case .fish: model.fish
            }
    }
}

/// What completion scripts are made of: for each place in the tree, what may come next.
///
/// A place is named by the words that lead to it, the program's name first: `tally server run`.
struct CompletionModel {
    /// An option at a place.
    struct Option {
        let declaration: OptionDeclaration
        /// How it is typed: `--output`, and `-o` if it has a letter.
        var spellings: [String] {
            ["--" + declaration.name] + (declaration.short.map { ["-\($0)"] } ?? [])
        }
    }

    /// An argument at a place.
    struct Argument {
        /// How many arguments come before it; nil from where one may be given any number of times.
        let position: Int?
        let values: AcceptedValues
    }

    /// A place in the tree.
    struct Place {
        let name: String
        /// The words that may follow, each with its summary.
        let words: [(word: String, summary: String)]
        /// The options offered.
        let options: [Option]
        /// The options whose values are skipped or completed here; before the command is known, those of all below.
        let valueOptions: [Option]
        let arguments: [Argument]
        /// Whether `help` may stand here.
        let takesHelp: Bool
    }

    let program: Program
    let places: [Place]

    init(_ program: Program) {
        self.program = program
        let tree = CommandTree(program)
        places = tree.nodes.map { node in
            let own = node.command?.options ?? []
            let shared = program.sharedOptions + (node.path.isEmpty ? [Program.versionOption] : [])
            let below = tree.commands(under: node).flatMap(\.options)
            let takesHelp = node.command == nil
            var words = tree.children(of: node).map { ($0.path.last ?? "", $0.summary) }
            if node.path.isEmpty && takesHelp { words.append(("help", "print help on a command")) }
            return Place(
                name: ([program.name] + node.path).joined(separator: " "),
                words: words,
                options: (own + shared).map { Option(declaration: $0) },
                valueOptions: CompletionModel.distinct(own + shared + below).filter(\.takesValue)
                    .map { Option(declaration: $0) },
                arguments: CompletionModel.arguments(of: node.command),
                takesHelp: takesHelp
            )
        }
    }

    private static func distinct(_ options: [OptionDeclaration]) -> [OptionDeclaration] {
        var distinct: [OptionDeclaration] = []
        for option in options where distinct.named(option.name) == nil { distinct.append(option) }
        return distinct
    }

    private static func arguments(of command: CommandDeclaration?) -> [Argument] {
        var arguments: [Argument] = []
        for (position, declaration) in (command?.arguments ?? []).enumerated() {
            arguments.append(
                Argument(position: declaration.arity.isUnlimited ? nil : position, values: declaration.values)
            )
            // What comes after an unlimited argument can't be told from it while typing.
            if declaration.arity.isUnlimited { break }
        }
        return arguments
    }

    /// The name of the script's function: the program's with anything but letters and digits made `_`.
    var function: String {
        "_" + program.name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "_" }.joined()
    }

    /// The first line of the script.
    var title: String {
        "completion for \(program.name) \(program.version)"
    }

    /// What leads from a place to the next: each place's name but the program's.
    var steps: [String] {
        places.dropFirst().map(\.name)
    }

    /// Every `place option` whose next word is a value.
    var valueSteps: [String] {
        places.flatMap { place in
            place.valueOptions.flatMap(\.spellings).map { "\(place.name) \($0)" }
        }
    }

    /// Every `place help`.
    var helpSteps: [String] {
        places.filter(\.takesHelp).map { $0.name + " help" }
    }

    /// The text in single quotes for bash and zsh.
    static func quoted(_ text: String) -> String {
        let inner = text.map { $0 == "'" ? "'\\''" : String($0) }.joined()
        return "'\(inner)'"
    }

    /// The patterns of one `case`, each on a line of its own, so that scripts can be read and compared.
    static func pattern(_ words: [String], indent: String) -> String {
        words.map(quoted).joined(separator: " | \\\n\(indent)")
    }
}
