import CommandLineKit
import Testing

@Suite struct CompletionScriptTests {
    let program = SampleProgram.program

    private func script(_ shell: CompletionScript.Shell) -> String {
        CompletionScript(for: shell, of: program).text
    }

    @Test(arguments: CompletionScript.Shell.allCases)
    func knowsEveryCommandAndOption(_ shell: CompletionScript.Shell) {
        let text = script(shell)
        for command in program.commands {
            #expect(text.contains((["stock"] + command.path).joined(separator: " ")))
            for option in command.options {
                #expect(text.contains(shell == .fish ? "-l \(option.name)" : "--\(option.name)"))
            }
        }
        for name in ["home", "json", "quiet", "help", "version"] {
            #expect(text.contains(shell == .fish ? "-l \(name)" : "--\(name)"))
        }
    }

    @Test(arguments: CompletionScript.Shell.allCases)
    func isReadByItsShell(_ shell: CompletionScript.Shell) throws {
        guard Shell.path(of: shell.rawValue) != nil else { try Test.cancel("needs \(shell)") }
        let checked = try Shell.run(shell.rawValue, ["-n"], input: script(shell))
        #expect(checked.printed == "")
        #expect(checked.status == 0)
    }

    @Test func isPrintedByTheCommand() async {
        let ran = await program.ran("completions fish")
        #expect(ran.output == script(.fish))
        let unknown = await program.ran("completions csh")
        #expect(unknown.code == 64)
    }

    static let completions: [([String], [String])] = [
        (["re"], ["refused"]),
        (["shed", ""], ["close", "open"]),
        (["help", "shed", "o"], ["open"]),
        (["--home", "x", "shed", "o"], ["open"]),
        (["--key", "list", "shed", "o"], ["open"]),
        (["refused", "ret"], ["retry"]),
        (["put", "--l"], ["--label"]),
        (["put", "north", "wood", "=", "3", "--dr"], ["--dry-run"]),
        (["shed", "open", "--k"], ["--key"]),
        (["list", "n"], ["name"]),
        (["list", "name", ""], []),
        (["completions", ""], ["bash", "fish", "zsh"]),
        (["put", "--", "--l"], []),
        (["--vers"], ["--version"]),
        (["list", "--vers"], []),
    ]

    @Test(.enabled(if: Shell.path(of: "bash") != nil, "needs bash"), arguments: completions)
    func completesInBash(_ words: [String], _ expected: [String]) throws {
        let list = words.map { "'\($0)'" }.joined(separator: " ")
        let input = """
            \(script(.bash))
            COMP_WORDS=(stock \(list))
            COMP_CWORD=\(words.count)
            _stock
            ((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "${COMPREPLY[@]}"
            """
        let ran = try Shell.run("bash", ["--norc", "--noprofile", "-u"], input: input)
        #expect(ran.printed.split(separator: "\n").map(String.init).sorted() == expected)
    }

    @Test(.enabled(if: Shell.path(of: "bash") != nil, "needs bash"), arguments: ["--key", "-k"])
    func completesFilesInBash(_ option: String) throws {
        let input = """
            \(script(.bash))
            touch 'a key' 'a lock' other
            COMP_WORDS=(stock shed open \(option) 'a k')
            COMP_CWORD=4
            _stock
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let ran = try Shell.run("bash", ["--norc", "--noprofile"], input: input)
        #expect(ran.printed == "a key\n")
    }

    @Test(
        .enabled(if: Shell.path(of: "fish") != nil, "needs fish"),
        arguments: completions.filter { !$0.0.contains("=") && $0.0 != ["list", "name", ""] }
    )
    func completesInFish(_ words: [String], _ expected: [String]) throws {
        let line = (["stock"] + words).joined(separator: " ")
        let input = "\(script(.fish))\ncomplete -C '\(line)'\n"
        let ran = try Shell.run("fish", ["--no-config"], input: input)
        let offered = ran.printed.split(separator: "\n").compactMap { $0.split(separator: "\t").first.map(String.init) }
        #expect(offered.sorted() == expected)
    }
}
