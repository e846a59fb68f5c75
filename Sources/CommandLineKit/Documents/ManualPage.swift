/// The program's manual page, section 1, in the `man` macros of roff.
package struct ManualPage: Sendable {
    /// The page, all in ASCII.
    package let text: String

    /// Writes the page; the date is shown as given, such as `2025-11-03`, and may be empty.
    package init(of program: Program, date: String) {
        text = ManualWriter(program: program).page(date: date)
    }
}

/// Writes the page section by section.
private struct ManualWriter {
    let program: Program

    func page(date: String) -> String {
        let tree = CommandTree(program)
        var lines = [
            ".TH \(quoted(program.name.uppercased())) 1 \(quoted(date)) \(quoted("\(program.name) \(program.version)"))",
            // No hyphenation and no justification: commands must be copied as they stand.
            ".nh",
            ".ad l",
            ".SH NAME",
            "\(escaped(program.name)) \\- \(escaped(program.summary))",
            ".SH SYNOPSIS",
            ".B \(escaped(program.name))",
            ".I COMMAND",
            "[options] [arguments]",
        ]
        if !program.discussion.isEmpty {
            lines.append(".SH DESCRIPTION")
            lines.append(contentsOf: discussion(program.discussion))
        }
        lines.append(".SH OPTIONS OF EVERY COMMAND")
        lines.append(contentsOf: (program.sharedOptions + [Program.versionOption]).flatMap(option))
        lines.append(".SH COMMANDS")
        for node in tree.nodes.dropFirst() {
            if let command = node.command {
                lines.append(contentsOf: self.command(command))
            } else if !node.summary.isEmpty {
                lines.append(".SS \(quoted(([program.name] + node.path).joined(separator: " ")))")
                lines.append(line(node.summary + "."))
                lines.append(contentsOf: discussion(node.discussion))
            }
        }
        let variables = environment(tree)
        if !variables.isEmpty {
            lines.append(".SH ENVIRONMENT")
            lines.append(contentsOf: variables)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func command(_ command: CommandDeclaration) -> [String] {
        let name = ([program.name] + command.path).joined(separator: " ")
        let required = command.options.filter(\.isRequired).map(\.usage)
        let usage = (required + ["[options]"] + command.arguments.map(\.usage)).joined(separator: " ")
        var lines = [
            ".SS \(quoted(name))",
            ".B \(escaped(name))",
            line(usage),
            ".PP",
            line(command.summary + "."),
        ]
        lines.append(contentsOf: discussion(command.discussion))
        for argument in command.arguments {
            lines.append(contentsOf: item(".I \(escaped(argument.usage))", argument.fullHelp))
        }
        lines.append(contentsOf: command.options.flatMap(option))
        for example in command.examples {
            lines.append(contentsOf: [".PP", line(example.says + ":"), ".PP", ".RS 4", ".nf"])
            lines.append(contentsOf: [line("$ " + example.line), ".fi", ".RE"])
        }
        lines.append(contentsOf: [".PP", "Exit codes:"])
        for exit in command.exitCodes {
            lines.append(contentsOf: item(".B \(exit.code.rawValue)", exit.says))
        }
        return lines
    }

    private func option(_ option: OptionDeclaration) -> [String] {
        let letter = option.short.map { "\\fB\(escaped("-\($0)"))\\fR, " } ?? ""
        let value = option.value.map { " \\fI\(escaped($0))\\fR" } ?? ""
        return item("\(letter)\\fB\(escaped("--" + option.name))\\fR\(value)", option.fullHelp)
    }

    private func environment(_ tree: CommandTree) -> [String] {
        var seen: Set<String> = []
        let options = program.sharedOptions + tree.commands(under: tree.root).flatMap(\.options)
        let declared = options.flatMap { (option: OptionDeclaration) -> [String] in
            guard let name = option.environment, seen.insert(name).inserted else { return [] }
            return item(".B \(escaped(name))", "the value of --\(option.name) where that is not given")
        }
        return declared + item(".B NO_COLOR", "if set and not empty, nothing is coloured")
    }

    private func item(_ tag: String, _ text: String) -> [String] {
        [".TP", tag, line(text)]
    }

    private func discussion(_ text: String) -> [String] {
        TextLayout.blocks(of: text).flatMap { (block) -> [String] in
            switch block {
            case .paragraph(let text): [".PP", line(text)]
            case .kept(let text): [".PP", ".nf", line(text), ".fi"]
            case .gap: []
            }
        }
    }

    /// A line of text: escaped, and kept from being taken for a request.
    private func line(_ text: String) -> String {
        let escaped = escaped(text)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") || escaped.hasPrefix(" ") ? "\\&" + escaped : escaped
    }

    /// A macro's argument in quotes.
    private func quoted(_ text: String) -> String {
        "\"\(escaped(text))\""
    }

    /// The text with what roff would act on, or print as something else, escaped.
    private func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\e"
            // Unescaped these are set as a hyphen, quotes and accents that can't be copied into a shell.
            case "-": "\\-"
            case "'": "\\(aq"
            case "\"": "\\(dq"
            case "`": "\\(ga"
            case "^": "\\(ha"
            case "~": "\\(ti"
            case "\n": " "
            case _ where scalar.isASCII: String(scalar)
            default: "\\[u\(Console.hexadecimal(scalar.value, digits: 4))]"
            }
        }
        .joined()
    }
}
