/// Writes help from declarations.
struct HelpText {
    let program: Program
    let tree: CommandTree
    let console: Console

    /// The columns help is laid out for: those of the terminal, at most 80.
    private var width: Int { min(console.width, 80) }

    /// The whole help of a node, ending in a line break.
    func text(for node: CommandTree.Node) -> String {
        var sections: [[String]] = [usage(of: node), TextLayout.wrapped(sentence(node.summary), width: width)]
        sections.append(discussion(node.discussion))
        if let command = node.command { sections.append(contentsOf: commandSections(command)) }
        sections.append(contentsOf: childSections(node))
        sections.append(contentsOf: optionSections(node))
        if let command = node.command {
            sections.append(examples(command))
            sections.append(exitCodes(command))
        }
        if !node.children.isEmpty {
            let place = ([program.name, "help"] + node.path).joined(separator: " ")
            sections.append(TextLayout.wrapped("Run '\(place) COMMAND' for help on a command.", width: width))
        }
        return sections.filter { !$0.isEmpty }.map { $0.map { $0 + "\n" }.joined() }.joined(separator: "\n")
    }

    /// The usage of a node: `Usage: ` and the command line, on as many lines as it takes.
    func usage(of node: CommandTree.Node) -> [String] {
        let start = ([program.name] + node.path).joined(separator: " ")
        var forms: [[String]] = []
        if let command = node.command {
            let required = command.options.filter(\.isRequired).map(\.usage)
            forms.append(required + ["[options]"] + command.arguments.map(\.usage))
        }
        if !node.children.isEmpty || node.command == nil { forms.append(["COMMAND", "[options]", "[arguments]"]) }
        let indent = "Usage: ".count + TextLayout.width(of: start) + 1
        return forms.enumerated().flatMap { number, pieces in
            TextLayout.lines(of: pieces, width: max(20, width - indent)).enumerated().map { index, line in
                guard index == 0 else { return TextLayout.spaces(indent) + line }
                return "\(number == 0 ? "Usage:" : "      ") \(start) \(line)"
            }
        }
    }

    // MARK: Sections

    private func heading(_ text: String) -> String {
        console.styled("\(text):", .heading, on: .output)
    }

    private func sentence(_ text: String) -> String {
        text.isEmpty ? "" : text + "."
    }

    private func discussion(_ text: String) -> [String] {
        guard !text.isEmpty else { return [] }
        return TextLayout.blocks(of: text).flatMap { block in
            switch block {
            case .paragraph(let text): TextLayout.wrapped(text, width: width)
            case .kept(let line): [line]
            case .gap: [""]
            }
        }
    }

    private func commandSections(_ command: CommandDeclaration) -> [[String]] {
        guard !command.arguments.isEmpty else { return [] }
        let rows = command.arguments.map { argument in
            (argument.usage, argument.fullHelp)
        }
        return [[heading("Arguments")] + list(rows)]
    }

    private func childSections(_ node: CommandTree.Node) -> [[String]] {
        let children = tree.children(of: node)
        // The headings in the order they first occur; in a group there is one.
        var headings: [String] = []
        for child in children where !headings.contains(title(of: child, under: node)) {
            headings.append(title(of: child, under: node))
        }
        return headings.map { title in
            let rows = children.filter { self.title(of: $0, under: node) == title }.map { child in
                (child.path.last ?? "", child.summary)
            }
            return [heading(title)] + list(rows)
        }
    }

    private func title(of child: CommandTree.Node, under node: CommandTree.Node) -> String {
        node.path.isEmpty ? child.section : "Commands"
    }

    private func optionSections(_ node: CommandTree.Node) -> [[String]] {
        let own = node.command?.options ?? []
        let shared = program.sharedOptions + (node.path.isEmpty ? [Program.versionOption] : [])
        let all = own + shared
        let hasLetters = all.contains { $0.short != nil }
        func rows(_ options: [OptionDeclaration]) -> [(String, String)] {
            options.map { option in
                let letter = option.short.map { "-\($0), " } ?? (hasLetters ? "    " : "")
                return (letter + option.usage, option.fullHelp)
            }
        }
        // One column for both lists, so that they line up.
        let column = column(for: rows(all).map(\.0))
        var sections: [[String]] = []
        if !own.isEmpty { sections.append([heading("Options")] + list(rows(own), column: column)) }
        let title = node.path.isEmpty || own.isEmpty ? "Options" : "Options of every command"
        sections.append([heading(title)] + list(rows(shared), column: column))
        return sections
    }

    private func examples(_ command: CommandDeclaration) -> [String] {
        guard !command.examples.isEmpty else { return [] }
        var lines = [heading("Examples")]
        for (index, example) in command.examples.enumerated() {
            if index > 0 { lines.append("") }
            lines.append(contentsOf: TextLayout.wrapped(example.says + ":", width: width - 2).map { "  " + $0 })
            lines.append("    $ \(example.line)")
        }
        return lines
    }

    private func exitCodes(_ command: CommandDeclaration) -> [String] {
        let rows = command.exitCodes.map { exit in
            let number = String(exit.code.rawValue)
            return (TextLayout.spaces(2 - number.count) + number, exit.says)
        }
        return [heading("Exit codes")] + list(rows)
    }

    // MARK: Two columns

    /// The column where the second of two columns starts.
    private func column(for names: [String]) -> Int {
        let widest = names.map { TextLayout.width(of: $0) }.filter { $0 <= 26 }.max() ?? 0
        return min(widest + 4, width / 2)
    }

    private func list(_ rows: [(String, String)]) -> [String] {
        list(rows, column: column(for: rows.map(\.0)))
    }

    /// Names and what they are; a name too wide for its column has a line to itself.
    private func list(_ rows: [(String, String)], column: Int) -> [String] {
        rows.flatMap { name, help in
            let lines = TextLayout.wrapped(help, width: max(16, width - column))
            let indented = lines.map { TextLayout.spaces(column) + $0 }
            let start = "  " + name
            guard let first = lines.first else { return [start] }
            guard TextLayout.width(of: start) + 2 <= column else { return [start] + indented }
            return [TextLayout.padded(start, to: column) + first] + indented.dropFirst()
        }
    }
}
