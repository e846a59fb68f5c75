import Foundation
import Testing

/// Every command explains itself, and the pages know every command.
@Suite struct HelpTests {
    /// Every command by its words, as the program's own help lists them.
    private static let commands: Result<[String], any Error> = Result { try commands(under: [], in: World()) }

    /// Groups can have groups in them: `scheme codes import`.
    private static func commands(under words: [String], in world: World) throws -> [String] {
        let output = try world.run(words + ["--help"]).output
        let isGroup = words.isEmpty || output.contains("COMMAND [options]")
        let inside = isGroup ? listed(in: output) : []
        guard !inside.isEmpty else { return [words.joined(separator: " ")] }
        return try inside.flatMap { try commands(under: words + [$0], in: world) }
    }

    /// The first words of the lines under headings other than `Options:`.
    private static func listed(in help: String) -> [String] {
        var isList = false
        var names: [String] = []
        for line in help.split(separator: "\n", omittingEmptySubsequences: false) {
            if !line.hasPrefix(" ") {
                isList = line.hasSuffix(":") && line != "Options:" && line.first?.isUppercase == true
            }
            guard isList, line.hasPrefix("  "), line.dropFirst(2).first?.isLetter == true else { continue }
            names.append(String(line.dropFirst(2).prefix { $0 != " " }))
        }
        return names
    }

    @Test func theProgramHasTheseCommands() throws {
        let commands = try Self.commands.get()
        #expect(commands.count == Set(commands).count)
        #expect(Set(commands) == (try JSONDocument().commands), "docs/cli-json.md has a heading for each command")
    }

    @Test func everyCommandHasExamplesThatParseAndAnExitCodeTable() throws {
        let world = try World()
        let page = try JSONDocument()
        var examples = 0
        for command in try Self.commands.get() {
            let words = command.split(separator: " ").map(String.init)
            let help = try world.any(words + ["--help"])
            #expect(help.status == 0 && help.errors.isEmpty, "\(command)")
            #expect(try world.any(["help"] + words).output == help.output, "\(command)")
            #expect(help.output.contains("Usage: tally \(command)"), "\(command)")

            let lines = help.output.split(separator: "\n").map(String.init)
            let shown = lines.filter { $0.hasPrefix("    $ ") }.map { String($0.dropFirst(6)) }
            #expect(!shown.isEmpty, "\(command) has no example")
            for example in shown {
                examples += 1
                #expect(example.hasPrefix("tally \(command)"), "\(example)")
                // For real, in an empty folder: there is nothing it could work on, but it is no mistake to type it.
                let run = try World().any(try Self.words(of: example).dropFirst() + ["--json"])
                #expect(run.status != 64, "\(example): \(run)")
            }
            let start = try #require(lines.firstIndex(of: "Exit codes:"), "\(command) has no exit codes")
            let codes = lines[(start + 1)...].compactMap { line in
                Int(line.split(separator: " ").first.map(String.init) ?? "")
            }
            #expect(codes == page.exits["tally \(command)"], "\(command): help says \(codes)")
        }
        #expect(examples >= 30)
    }

    @Test func everyCommandIsInTheReadmeOrOnThePage() throws {
        let readme = try TallyProgram.packageFile("README.md")
        let page = try TallyProgram.packageFile("docs/cli-json.md")
        for command in try Self.commands.get() {
            #expect(readme.contains("tally \(command)") || page.contains("### tally \(command)\n"), "\(command)")
        }
    }

    /// Commands in the README are ones the program has.
    @Test func theReadmeNamesNoCommandThatIsNotThere() throws {
        let commands = try Self.commands.get()
        let firsts = Set(commands.compactMap { $0.split(separator: " ").first.map(String.init) })
        var found = 0
        for line in try TallyProgram.packageFile("README.md").split(separator: "\n") where line.hasPrefix("tally ") {
            var words = line.split(separator: " ").dropFirst().map(String.init)
            if words.first == "--home" { words.removeFirst(2) }
            found += 1
            #expect(firsts.contains(words.first ?? ""), "\(line)")
        }
        #expect(found >= 15)
    }

    @Test func theManualAndTheCompletionsKnowEveryCommand() throws {
        let world = try World()
        let manual = try world.tally("manual").output
        let scripts = try ["bash", "zsh", "fish"].map { try world.tally("completions", $0).output }
        for command in try Self.commands.get() {
            let last = command.split(separator: " ").last.map(String.init) ?? ""
            #expect(manual.contains(last), "the manual has no \(command)")
            #expect(scripts.allSatisfy { $0.contains(last) }, "a completion script has no \(command)")
        }
    }

    /// The words of a command line, quotes taken as a shell does.
    private static func words(of line: String) throws -> [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for character in line {
            switch character {
            case "'":
                isQuoted.toggle()
                word = word ?? ""
            case " " where !isQuoted:
                if let done = word { words.append(done) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        guard !isQuoted else { throw UnexpectedRun("expected quotes to end in “\(line)”") }
        return words + [word].compactMap { $0 }
    }
}

extension World {
    /// Runs these arguments, whatever the end.
    fileprivate func any(_ arguments: some Sequence<String>) throws -> Run { try run(Array(arguments)) }
}
