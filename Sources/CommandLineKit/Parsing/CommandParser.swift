/// What a command was given, sorted by declaration.
struct GivenArguments: Sendable {
    /// The names of the flags given.
    var flags: Set<String> = []
    /// The values of options by long name, defaults and environment filled in.
    var options: [String: [String]] = [:]
    /// The values of arguments by name.
    var arguments: [String: [String]] = [:]
}

/// Turns a command line into what to do.
///
/// Two passes: the first finds the command, skipping options and their values wherever they stand; the second reads
/// the rest by the declaration of that command.
struct CommandParser {
    /// What a command line asks for.
    enum Outcome {
        /// To print the help of a node.
        case help(CommandTree.Node)
        /// To print the version.
        case version
        /// Nothing: the node is a group, and no command follows.
        case nothing(CommandTree.Node)
        /// To run a command.
        case command(CommandDeclaration, GivenArguments, CommandTree.Node)
        /// Something that can't be done, told at the node whose usage explains it.
        case mistake(CommandError, CommandTree.Node)
    }

    let program: Program
    let tree: CommandTree
    let environment: @Sendable (String) -> String?

    func parse(_ arguments: [String]) -> Outcome {
        let place = locate(arguments)
        guard let command = place.node.command, !place.asksForHelp else { return parseGroup(place) }
        let options = command.options + program.sharedOptions
        var scanner = OptionScanner(options: options)
        scanner.scan(place.rest)
        if scanner.flags.contains("help") { return .help(place.node) }
        do throws(CommandError) {
            if let mistake = scanner.mistake { throw mistake }
            var given = GivenArguments(flags: scanner.flags)
            given.options = try complete(scanner.values, of: options)
            given.arguments = try assign(scanner.arguments, to: command, at: place.node)
            return .command(command, given, place.node)
        } catch {
            return .mistake(error, place.node)
        }
    }

    // MARK: Finding the command

    private struct Place {
        /// The last node the words lead to.
        var node: CommandTree.Node
        /// The command line without the words that led there.
        var rest: [String] = []
        /// Whether the word `help` stood where a command could.
        var asksForHelp = false
    }

    private func locate(_ arguments: [String]) -> Place {
        var place = Place(node: tree.root)
        var isValue = false
        for (index, text) in arguments.enumerated() {
            let isEarlierValue = isValue
            isValue = false
            let options = knownOptions(at: place.node)
            if isEarlierValue && !options.claims(text) {
                place.rest.append(text)
                continue
            }
            switch CommandToken(text) {
            case .endOfOptions:
                place.rest.append(contentsOf: arguments[index...])
                return place
            case .long, .short:
                isValue = options.awaitsValue(text)
                place.rest.append(text)
            case .argument(let word):
                if let child = place.node.children.first(where: { sameBytes($0, word) }),
                    let node = tree.node(at: place.node.path + [child])
                {
                    place.node = node
                } else if sameBytes(word, "help"), place.node.command == nil, !place.asksForHelp {
                    place.asksForHelp = true
                } else {
                    place.rest.append(contentsOf: arguments[index...])
                    return place
                }
            }
        }
        return place
    }

    /// The options that may be meant at this node: before the command is known, those of every command below.
    private func knownOptions(at node: CommandTree.Node) -> [OptionDeclaration] {
        let own = node.command?.options ?? []
        let below = tree.commands(under: node).flatMap(\.options)
        let version = node.path.isEmpty ? [Program.versionOption] : []
        return own + program.sharedOptions + version + below
    }

    // MARK: Groups

    private func parseGroup(_ place: Place) -> Outcome {
        let node = place.node
        var scanner = OptionScanner(options: knownOptions(at: node))
        scanner.scan(place.rest)
        let unknown = scanner.arguments.first
        if scanner.flags.contains("help") && unknown == nil { return .help(node) }
        if let unknown { return .mistake(unknownCommand(unknown, at: node), node) }
        if let mistake = scanner.mistake { return .mistake(mistake, node) }
        if place.asksForHelp { return .help(node) }
        if node.path.isEmpty && scanner.flags.contains("version") { return .version }
        return .nothing(node)
    }

    private func unknownCommand(_ word: String, at node: CommandTree.Node) -> CommandError {
        let place = node.path + [word]
        return .usage(
            "unknown command '\(place.joined(separator: " "))'",
            code: "unknown-command",
            remedy: nearestCommand(to: word, at: node).map { "Did you mean '\($0)'?" }
        )
    }

    /// The command line nearest to the word: one that fits here, else one that ends in just this word elsewhere.
    private func nearestCommand(to word: String, at node: CommandTree.Node) -> String? {
        if let child = NearestSpelling.of(word, among: node.children) {
            return ([program.name] + node.path + [child]).joined(separator: " ")
        }
        let elsewhere = tree.nodes.first { candidate in
            candidate.path.last.map { sameBytes($0, word) } ?? false
        }
        return elsewhere.map { ([program.name] + $0.path).joined(separator: " ") }
    }

    // MARK: Options and arguments

    /// Fills in the environment and defaults, and checks what is required and allowed.
    private func complete(
        _ found: [String: [String]],
        of declarations: [OptionDeclaration]
    ) throws(CommandError) -> [String: [String]] {
        var complete = found
        for option in declarations where option.takesValue {
            if complete[option.name] == nil, let value = fallback(for: option) {
                complete[option.name] = [value]
            }
            guard let values = complete[option.name] else {
                guard option.isRequired else { continue }
                throw .usage(
                    "missing option \(option.usage)",
                    code: "missing-option",
                    remedy: option.environment.map { "Give it, or set the environment variable \($0)." }
                )
            }
            for value in values {
                try check(value, of: "--\(option.name)", allowed: option.values)
            }
        }
        return complete
    }

    private func fallback(for option: OptionDeclaration) -> String? {
        if let name = option.environment, let value = environment(name), !value.isEmpty { return value }
        guard case .value(let value) = option.defaultValue else { return nil }
        return value
    }

    /// Hands the arguments out from left to right, leaving enough for those that follow.
    private func assign(
        _ found: [String],
        to command: CommandDeclaration,
        at node: CommandTree.Node
    ) throws(CommandError) -> [String: [String]] {
        let required = command.arguments.filter { $0.arity.minimum > 0 }
        if let missing = required.dropFirst(found.count).first {
            throw .usage("missing argument \(missing.name)", code: "missing-argument")
        }
        var rest = found[...]
        var needed = required.count
        var assigned: [String: [String]] = [:]
        for declaration in command.arguments {
            needed -= declaration.arity.minimum
            let free = max(0, rest.count - needed)
            let values = rest.prefix(declaration.arity.isUnlimited ? free : min(free, 1))
            rest = rest.dropFirst(values.count)
            for value in values { try check(value, of: declaration.name, allowed: declaration.values) }
            assigned[declaration.name] = Array(values)
        }
        guard let extra = rest.first else { return assigned }
        let nearest = node.children.isEmpty ? nil : nearestCommand(to: extra, at: node)
        throw .usage(
            "unexpected argument '\(extra)'",
            code: "unexpected-argument",
            remedy: nearest.map { "Did you mean '\($0)'?" }
        )
    }

    private func check(_ value: String, of what: String, allowed: AcceptedValues) throws(CommandError) {
        guard let words = allowed.choices, !words.contains(where: { sameBytes($0, value) }) else { return }
        let nearest = NearestSpelling.of(value, among: words)
        throw .usage(
            "\(what) must be one of \(words.joined(separator: ", ")), not '\(value)'",
            code: "unknown-value",
            remedy: nearest.map { "Did you mean '\($0)'?" }
        )
    }
}

/// Sorts a command line into flags, options and arguments.
///
/// Goes on after the first mistake, so that `--help` is seen wherever it stands.
struct OptionScanner {
    let options: [OptionDeclaration]
    private(set) var flags: Set<String> = []
    private(set) var values: [String: [String]] = [:]
    private(set) var arguments: [String] = []
    private(set) var mistake: CommandError?

    init(options: [OptionDeclaration]) {
        self.options = options
    }

    mutating func scan(_ texts: [String]) {
        var waiting: OptionDeclaration?
        var isPastOptions = false
        for text in texts {
            if isPastOptions {
                arguments.append(text)
                continue
            }
            if let option = waiting {
                waiting = nil
                if !options.claims(text) {
                    add(text, to: option)
                    continue
                }
                missingValue(of: option, before: text)
            }
            switch CommandToken(text) {
            case .argument(let value): arguments.append(value)
            case .endOfOptions: isPastOptions = true
            case .long(let name, let value): waiting = readLong(name, value)
            case .short(let letters): waiting = readShort(letters)
            }
        }
        if let waiting { missingValue(of: waiting, before: nil) }
    }

    /// Reads a long option, and returns it if its value is still to come.
    private mutating func readLong(_ name: String, _ value: String?) -> OptionDeclaration? {
        guard let option = options.named(name) else {
            let nearest = NearestSpelling.of(name, among: options.map(\.name))
            note("unknown option '--\(name)'", "unknown-option", nearest.map { "Did you mean '--\($0)'?" })
            return nil
        }
        guard option.takesValue else {
            guard value == nil else {
                note("option --\(name) takes no value", "unexpected-value", nil)
                return nil
            }
            flags.insert(option.name)
            return nil
        }
        guard let value else { return option }
        add(value, to: option)
        return nil
    }

    /// Reads a bundle of short options, and returns the last if its value is still to come.
    private mutating func readShort(_ letters: String) -> OptionDeclaration? {
        var rest = letters.unicodeScalars[...]
        while let letter = rest.popFirst() {
            guard let option = options.lettered(letter) else {
                var whole = "-"
                whole.unicodeScalars.append(letter)
                // A single dash before a long name is a common slip.
                let long = options.named(letters).map { "Did you mean '--\($0.name)'?" }
                let remedy = long ?? "An argument that starts with a dash goes after '--'."
                note("unknown option '\(long == nil ? whole : "-\(letters)")'", "unknown-option", remedy)
                return nil
            }
            guard option.takesValue else {
                flags.insert(option.name)
                continue
            }
            guard !rest.isEmpty else { return option }
            if rest.first == "=" { rest = rest.dropFirst() }
            add(String(rest), to: option)
            return nil
        }
        return nil
    }

    private mutating func add(_ value: String, to option: OptionDeclaration) {
        guard option.isRepeatable || values[option.name] == nil else {
            note("option --\(option.name) was given more than once", "repeated-option", nil)
            return
        }
        values[option.name, default: []].append(value)
    }

    private mutating func missingValue(of option: OptionDeclaration, before next: String?) {
        let remedy = next.map { "If the value is '\($0)', write it as --\(option.name)=\($0)" }
        note("option --\(option.name) needs a value: \(option.usage)", "missing-value", remedy)
    }

    private mutating func note(_ message: String, _ code: String, _ remedy: String?) {
        if mistake == nil { mistake = .usage(message, code: code, remedy: remedy) }
    }
}
