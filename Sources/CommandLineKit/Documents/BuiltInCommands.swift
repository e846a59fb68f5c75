extension CommandDeclaration {
    /// The command that prints a completion script: `completions SHELL`.
    package static func completions(
        section: String,
        examples: [(line: String, says: String)] = []
    ) -> CommandDeclaration {
        CommandDeclaration(
            ["completions"],
            summary: "Print the script that completes commands in a shell",
            discussion: """
                For bash, put it into ~/.local/share/bash-completion/completions under the name of the program, or \
                source it from ~/.bashrc. For zsh, put it into a folder of $fpath under that name with a leading \
                underscore. For fish, put it into ~/.config/fish/completions under that name with .fish at the end.
                """,
            section: section,
            arguments: [
                ArgumentDeclaration(
                    "SHELL",
                    values: .choices(CompletionScript.Shell.allCases.map(\.rawValue)),
                    help: "the shell"
                )
            ],
            examples: examples,
            run: { invocation in
                let name = try invocation.argument("SHELL")
                guard let shell = CompletionScript.Shell(rawValue: name) else {
                    throw CommandError.usage("unknown shell '\(name)'", code: "unknown-value")
                }
                let script = CompletionScript(for: shell, of: invocation.program).text
                if invocation.isJSON {
                    invocation.console.print(["shell": .string(name), "script": .string(script)])
                } else {
                    invocation.console.write(script)
                }
                return .done
            }
        )
    }

    /// The command that prints the manual page: `manual`.
    package static func manual(
        section: String,
        examples: [(line: String, says: String)] = []
    ) -> CommandDeclaration {
        CommandDeclaration(
            ["manual"],
            summary: "Print the manual page",
            section: section,
            options: [
                OptionDeclaration("date", value: "DATE", default: .described("no date"), help: "the date it shows")
            ],
            examples: examples,
            run: { invocation in
                let date = try invocation.option("date") ?? ""
                let page = ManualPage(of: invocation.program, date: date).text
                if invocation.isJSON {
                    invocation.console.print(["manual": .string(page)])
                } else {
                    invocation.console.write(page)
                }
                return .done
            }
        )
    }
}
