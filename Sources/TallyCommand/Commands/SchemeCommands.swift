import CommandLineKit
import Foundation
import Schemes
import Tallystick
import TallystickCrypto
import TallystickStore

extension CommandDeclaration {
    static let schemeList = CommandDeclaration(
        ["scheme", "list"],
        summary: "List the schemes that ship with this program, and those the home has from its server",
        options: [OptionDeclaration(flag: "all", help: "earlier versions, too")],
        examples: [
            ("tally scheme list", "shows the newest version of each scheme"),
            ("tally scheme list --all", "shows the earlier versions that chains may still have, too"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let all = try Workplace.schemes(invocation).all()
            var schemes: [Scheme] = []
            for id in Set(all.map(\.reference.id)).sorted() {
                let versions = all.filter { $0.reference.id == id }.sorted {
                    $0.reference.version > $1.reference.version
                }
                schemes += try invocation.flag("all") ? versions : Array(versions.prefix(1))
            }
            if invocation.isJSON {
                invocation.console.print(.object([("schemes", .array(schemes.map { SchemePage($0).summary }))]))
                return .done
            }
            var table = Table("SCHEME", "VERSION", "TITLE")
            for scheme in schemes {
                table.add([scheme.reference.id.text, "\(scheme.reference.version)", scheme.title])
            }
            invocation.console.print(table)
            return .done
        }
    )

    static let schemeShow = CommandDeclaration(
        ["scheme", "show"],
        summary: "Show a scheme as a person reads it",
        discussion: """
            It begins with a drawing of who hands to whom and who signs when, and then says for each role what it has \
            to keep, what it says, what has to be so, and what it signs; then handoffs, comparisons, ties to other \
            chains, endings, deadlines and code lists.
            """,
        arguments: [
            ArgumentDeclaration(
                "SCHEME",
                values: .folders,
                help: "an id as `tally scheme list` shows it, ID@VERSION for an earlier version, or a scheme's folder"
            )
        ],
        options: [
            OptionDeclaration(
                "codes",
                value: "LIST",
                repeatable: true,
                help: "every code of this code list, in place of the rest"
            ),
            OptionDeclaration(flag: "mermaid", help: "the drawing alone, in the language of Mermaid"),
        ],
        examples: [
            ("tally scheme show uk-waste-transfer-note", "prints all of it"),
            ("tally scheme show uk-waste-transfer-note@1", "prints its first version"),
            ("tally scheme show uk-waste-transfer-note --codes treatments", "prints the codes of one list"),
            ("tally scheme show ./my-scheme --mermaid", "prints the drawing for a page that Mermaid is drawn on"),
        ],
        exitCodes: [
            (.badInput, "the folder's scheme has mistakes"),
            (.noInput, "there is no such scheme, version, folder or code list"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let page = SchemePage(try scheme(named: try invocation.argument("SCHEME"), invocation))
            let lists = try invocation.options("codes").map { try list(named: $0, of: page.scheme) }
            let isMermaid = try invocation.flag("mermaid")
            if invocation.isJSON {
                invocation.console.print(page.json(codesOf: lists, mermaid: isMermaid))
            } else if isMermaid {
                invocation.console.write(SchemeDiagram(page.scheme, width: 80).mermaid)
            } else if lists.isEmpty {
                page.print(on: invocation.console)
            } else {
                page.print(codesOf: lists, on: invocation.console)
            }
            return .done
        }
    )

    /// A scheme that ships, by its id and perhaps version, or the one in a folder.
    private static func scheme(named text: String, _ invocation: Invocation) throws -> Scheme {
        let halves = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let versions = try Workplace.schemes(invocation).all().filter { sameBytes($0.reference.id.text, halves[0]) }
        if halves.count == 1 {
            if let newest = versions.max(by: { $0.reference.version < $1.reference.version }) { return newest }
        } else if let chosen = versions.first(where: { sameBytes("\($0.reference.version)", halves[1]) }) {
            return chosen
        } else if !versions.isEmpty {
            let all = versions.map(\.reference.version).sorted().map(String.init)
            throw CommandError(
                exit: .noInput,
                code: "scheme-unknown",
                message: "“\(halves[0])” has no version “\(halves[1])”",
                remedy: "there is version \(SchemeWords.list(all, "and"))"
            )
        }
        guard FileManager.default.fileExists(atPath: "\(text)/scheme.json") else {
            throw CommandError(
                exit: .noInput,
                code: "scheme-unknown",
                message: "there is no scheme “\(text)”, and no folder of this name with a scheme.json",
                remedy: "`tally scheme list` names those there are"
            )
        }
        let folder = try SchemeFolder(text)
        guard let scheme = folder.scheme else { throw invalid(folder, exit: .badInput) }
        return scheme
    }

    private static func list(named text: String, of scheme: Scheme) throws(CommandError) -> Scheme.CodeList {
        if let list = Name(text).flatMap({ scheme.codeLists[$0] }) { return list }
        let names = scheme.codeLists.keys.sorted()
        throw CommandError(
            exit: .noInput,
            code: "list-unknown",
            message: "the scheme \(scheme.reference.id) has no code list “\(text)”",
            remedy: names.isEmpty ? "it has none at all" : "there are \(SchemeWords.list(names))"
        )
    }

    private static func invalid(_ folder: SchemeFolder, exit: ExitCode) -> CommandError {
        CommandError(
            exit: exit,
            code: "scheme-invalid",
            message: "the scheme has \(counted(folder.problems.count, "mistake"))",
            remedy: "`tally scheme check \(Console.plain(folder.path))` explains them"
        )
    }

    static let schemeCheck = CommandDeclaration(
        ["scheme", "check"],
        summary: "Check a scheme's folder and explain every mistake in it",
        arguments: [schemeFolder],
        examples: [("tally scheme check my-scheme", "reads scheme.json, codes/*.json and examples/*.json there")],
        exitCodes: [
            (.foundProblems, "the scheme has mistakes; each is named with its file and place"),
            (.badInput, "a file is too large"),
            (.noInput, "a file is missing"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let folder = try SchemeFolder(try invocation.argument("DIR"))
            if invocation.isJSON {
                invocation.console.print(
                    .object([
                        ("scheme", folder.scheme.map { SchemePage($0).summary } ?? .null),
                        ("problems", .array(folder.problems.map { json(of: $0, in: folder) })),
                    ])
                )
                return folder.problems.isEmpty ? .done : .foundProblems
            }
            for problem in folder.problems {
                let found = folder.place(of: problem)
                let facts = [found.line.map { "line \($0)" }, problem.path.isEmpty ? nil : problem.path].compactMap {
                    $0
                }
                let place = ([problem.file] + facts).joined(separator: ", ") + (found.thing.map { " (\($0))" } ?? "")
                invocation.console.print(invocation.console.styled(Console.plain(place), .heading, on: .output))
                invocation.console.print("  \(Console.plain(problem.message)) (\(problem.code.rawValue))")
                invocation.console.print("  \(Console.plain(problem.remedy))")
            }
            guard let scheme = folder.scheme, folder.problems.isEmpty else {
                invocation.console.note(
                    "\(counted(folder.problems.count, "mistake")) in \(Console.plain(folder.path))."
                )
                return .foundProblems
            }
            invocation.console.print(
                "\(scheme.reference.id) version \(scheme.reference.version) is sound; its hash is "
                    + scheme.reference.hash.hex
            )
            return .done
        }
    )

    private static let schemeFolder = ArgumentDeclaration(
        "DIR",
        values: .folders,
        help: "a folder with scheme.json, codes/*.json and examples/*.json"
    )

    private static func json(of problem: SchemeProblem, in folder: SchemeFolder) -> JSONOutput {
        let place = folder.place(of: problem)
        return .object([
            ("code", .string(problem.code.rawValue)), ("file", .string(problem.file)), ("path", .string(problem.path)),
            ("line", .optional(place.line)), ("thing", .optional(place.thing)), ("message", .string(problem.message)),
            ("remedy", .string(problem.remedy)),
        ])
    }

    static let schemeTest = CommandDeclaration(
        ["scheme", "test"],
        summary: "Run a scheme's examples and say which come out otherwise",
        arguments: [schemeFolder],
        options: [
            OptionDeclaration(
                "only",
                value: "TEXT",
                help: "only examples with this in their name or in what they show"
            ),
            OptionDeclaration(flag: "all", help: "list those that pass, too"),
        ],
        examples: [
            ("tally scheme test my-scheme", "runs my-scheme/examples/*.json"),
            ("tally scheme test my-scheme --all --only vehicle", "lists what becomes of the examples about vehicles"),
        ],
        exitCodes: [
            (.foundProblems, "the scheme has mistakes, or an example comes out otherwise"),
            (.badInput, "a file is too large"),
            (.noInput, "a file is missing, or there is no such example"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let folder = try SchemeFolder(try invocation.argument("DIR"))
            guard let scheme = folder.scheme, let examples = folder.examples, folder.problems.isEmpty else {
                throw invalid(folder, exit: .foundProblems)
            }
            let wanted = try invocation.option("only")
            let chosen = examples.examples.filter { example in
                wanted.map { text in ([example.name] + example.shows).contains { $0.contains(text) } } ?? true
            }
            guard !chosen.isEmpty else {
                throw CommandError(
                    exit: .noInput,
                    code: "no-examples",
                    message: wanted == nil ? "there are no examples" : "there is no example of this kind",
                    remedy: "write some into \(Console.plain(folder.path))/examples; docs/schemes.md shows how"
                )
            }
            let outcomes = chosen.map { examples.run($0, under: scheme, Zones.offsets) }
            let failed = outcomes.filter { !$0.faults.isEmpty }
            if invocation.isJSON {
                invocation.console.print(
                    .object([
                        ("scheme", SchemePage(scheme).summary), ("passed", .int(outcomes.count - failed.count)),
                        ("failed", .int(failed.count)), ("examples", .array(outcomes.map { json(of: $0) })),
                    ])
                )
                return failed.isEmpty ? .done : .foundProblems
            }
            for outcome in try invocation.flag("all") ? outcomes : failed {
                let example = outcome.example
                let mark = outcome.faults.isEmpty ? "passes" : "FAILS"
                invocation.console.print(
                    Console.plain("\(mark)  \(example.name) (\(example.expects)), \(example.file), \(example.path)")
                )
                for fault in outcome.faults { invocation.console.print("    \(Console.plain(fault))") }
            }
            invocation.console.print(
                "\(counted(outcomes.count - failed.count, "example")) passed, \(failed.count) failed."
            )
            return failed.isEmpty ? .done : .foundProblems
        }
    )

    private static func json(of outcome: SchemeExamples.Outcome) -> JSONOutput {
        .object([
            ("name", .string(outcome.example.name)), ("file", .string(outcome.example.file)),
            ("path", .string(outcome.example.path)),
            ("shows", .array(outcome.example.shows.map { .string($0) })),
            ("expects", .string(outcome.example.expects)), ("passed", .bool(outcome.faults.isEmpty)),
            ("faults", .array(outcome.faults.map { .string($0) })),
        ])
    }
}
