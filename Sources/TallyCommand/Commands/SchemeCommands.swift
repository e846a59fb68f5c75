import CommandLineKit
import Schemes
import Tallystick
import TallystickCrypto
import TallystickStore

extension CommandDeclaration {
    static let schemeList = CommandDeclaration(
        ["scheme", "list"],
        summary: "List the schemes that ship with this program",
        examples: [("tally scheme list", "shows each scheme's id, version and title")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let schemes = try ShippedSchemes.read()
            if invocation.isJSON {
                invocation.console.print(
                    .object([("schemes", .array(schemes.map { SchemePage(scheme: $0).summary }))])
                )
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
        arguments: [ArgumentDeclaration("ID", help: "the scheme's id, as `tally scheme list` shows it")],
        examples: [("tally scheme show uk-waste-transfer-note", "prints roles, handoffs, signatures and fields")],
        exitCodes: [(.noInput, "there is no such scheme")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let id = try invocation.argument("ID")
            guard let scheme = try ShippedSchemes.read().first(where: { sameBytes($0.reference.id.text, id) }) else {
                throw CommandError(
                    exit: .noInput,
                    code: "scheme-unknown",
                    message: "there is no scheme “\(id)”",
                    remedy: "`tally scheme list` names those there are"
                )
            }
            let page = SchemePage(scheme: scheme)
            if invocation.isJSON {
                invocation.console.print(page.json)
            } else {
                invocation.console.write(page.text)
            }
            return .done
        }
    )

    static let schemeCheck = CommandDeclaration(
        ["scheme", "check"],
        summary: "Check a scheme's folder and explain every mistake in it",
        arguments: [schemeFolder],
        examples: [("tally scheme check my-scheme", "reads scheme.json, codes/*.json and examples/*.json there")],
        exitCodes: [
            (.foundProblems, "the scheme has mistakes; each is named with its file and place"),
            (.noInput, "a file is missing"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let folder = try SchemeFolder(try invocation.argument("DIR"))
            if invocation.isJSON {
                invocation.console.print(
                    .object([
                        ("scheme", folder.scheme.map { SchemePage(scheme: $0).summary } ?? .null),
                        ("problems", .array(folder.problems.map { json(of: $0) })),
                    ])
                )
                return folder.problems.isEmpty ? .done : .foundProblems
            }
            for problem in folder.problems {
                let place = problem.path.isEmpty ? problem.file : "\(problem.file), \(problem.path)"
                invocation.console.print(invocation.console.styled(Console.plain(place), .heading, on: .output))
                invocation.console.print("  \(Console.plain(problem.message)) (\(problem.code.rawValue))")
                invocation.console.print("  \(Console.plain(problem.remedy))")
            }
            guard let scheme = folder.scheme, folder.problems.isEmpty else {
                invocation.console.note("\(counted(folder.problems.count, "mistake")) in \(Console.plain(folder.path)).")
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

    private static func json(of problem: SchemeProblem) -> JSONOutput {
        .object([
            ("code", .string(problem.code.rawValue)), ("file", .string(problem.file)), ("path", .string(problem.path)),
            ("message", .string(problem.message)), ("remedy", .string(problem.remedy)),
        ])
    }

    static let schemeTest = CommandDeclaration(
        ["scheme", "test"],
        summary: "Run a scheme's examples and say which come out otherwise",
        arguments: [schemeFolder],
        options: [
            OptionDeclaration("only", value: "TEXT", help: "only examples with this in their name or in what they show"),
            OptionDeclaration(flag: "all", help: "list those that pass, too"),
        ],
        examples: [
            ("tally scheme test my-scheme", "runs my-scheme/examples/*.json"),
            ("tally scheme test my-scheme --all --only vehicle", "lists what becomes of the examples about vehicles"),
        ],
        exitCodes: [
            (.foundProblems, "the scheme has mistakes, or an example comes out otherwise"),
            (.noInput, "a file is missing, or there is no such example"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let folder = try SchemeFolder(try invocation.argument("DIR"))
            guard let scheme = folder.scheme, let examples = folder.examples, folder.problems.isEmpty else {
                throw CommandError(
                    exit: .foundProblems,
                    code: "scheme-invalid",
                    message: "the scheme has \(counted(folder.problems.count, "mistake"))",
                    remedy: "`tally scheme check \(Console.plain(folder.path))` explains them"
                )
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
                        ("scheme", SchemePage(scheme: scheme).summary), ("passed", .int(outcomes.count - failed.count)),
                        ("failed", .int(failed.count)), ("examples", .array(outcomes.map { json(of: $0) })),
                    ])
                )
                return failed.isEmpty ? .done : .foundProblems
            }
            for outcome in try invocation.flag("all") ? outcomes : failed {
                let example = outcome.example
                let mark = outcome.faults.isEmpty ? "passes" : "FAILS"
                invocation.console.print(Console.plain("\(mark)  \(example.name) (\(example.expects)), \(example.file), \(example.path)"))
                for fault in outcome.faults { invocation.console.print("    \(Console.plain(fault))") }
            }
            invocation.console.print("\(counted(outcomes.count - failed.count, "example")) passed, \(failed.count) failed.")
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

/// A scheme as text and as JSON.
private struct SchemePage {
    let scheme: Scheme

    var summary: JSONOutput {
        .object([
            ("id", .string(scheme.reference.id.text)),
            ("version", .int(scheme.reference.version)),
            ("title", .string(scheme.title)),
            ("hash", .string(scheme.reference.hash.hex)),
        ])
    }

    var json: JSONOutput {
        .object([
            ("scheme", summary),
            ("source", .string(scheme.source)),
            (
                "handoffs",
                .array(
                    scheme.handoffs.map {
                        .object([
                            ("name", .string($0.name.text)), ("from", .string($0.from.text)),
                            ("to", .string($0.to.text)), ("lasts", .int($0.lasts)),
                        ])
                    }
                )
            ),
            (
                "signatures",
                .array(
                    scheme.signatures.map {
                        .object([
                            ("name", .string($0.name.text)), ("role", .string($0.role.text)),
                            ("statement", .string($0.statement)),
                        ])
                    }
                )
            ),
            (
                "fields",
                .array(
                    scheme.fields.map {
                        .object([
                            ("path", .string(path(of: $0))), ("owner", .string($0.owner.text)),
                            ("title", .string($0.title)), ("values", .string(values(of: $0))),
                        ])
                    }
                )
            ),
            (
                "rules",
                .array(scheme.rules.map { .object([("name", .string($0.name.text)), ("says", .string($0.says))]) })
            ),
        ])
    }

    private func path(of field: Scheme.Field) -> String {
        field.list.map { "\($0)/LINE/\(field.name)" } ?? field.name.text
    }

    private func values(of field: Scheme.Field) -> String {
        let one: String =
            switch field.type {
            case .text(_, let maximum): "text of up to \(maximum) characters"
            case .integer(let minimum, let maximum): "whole number \(minimum) to \(maximum)"
            case .decimal(let units, _, _, _, _):
                units.isEmpty ? "decimal" : "amount with \(units.joined(separator: ", ")), such as 7.5 \(units[0])"
            case .boolean(let must): must.map { $0 ? "yes only" : "no only" } ?? "yes or no"
            case .date: "day, such as 2026-11-30"
            case .datetime: "moment with offset, such as 2026-11-30T06:12+01:00"
            case .code(let list): codes(in: list)
            case .identifier(let patterns, _): "identifier: \(patterns.map(\.name).joined(separator: ", "))"
            case .entries(let fields): "entries of \(fields.map(\.field.name.text).joined(separator: ", "))"
            }
        return field.many.map { "\($0.lowerBound) to \($0.upperBound) of: \(one)" } ?? one
    }

    private func codes(in list: Name) -> String {
        let codes = (scheme.codeLists[list]?.codes.keys.sorted() ?? [])
        let shown = codes.count <= 16 ? codes.joined(separator: " ") : "\(codes.count) codes of the list “\(list)”"
        return "code: \(shown)"
    }

    var text: String {
        var lines = [
            "\(scheme.title)", "\(scheme.reference.id), version \(scheme.reference.version)", scheme.source, "",
            "Who hands to whom",
        ]
        for handoff in scheme.handoffs {
            let after =
                handoff.after.isEmpty ? "" : ", once signed by \(handoff.after.map(\.stage.text).joined(separator: ", "))"
            lines.append("  \(handoff.from) ──▶ \(handoff.to)   \(handoff.title)\(after)")
        }
        lines += ["", "Who signs what"]
        for signature in scheme.signatures {
            lines.append("  \(signature.name): “\(signature.statement)”")
        }
        for role in scheme.roles {
            lines += ["", "What the \(role.name) says"]
            for field in scheme.fields where field.owner == role.name {
                lines.append("  \(path(of: field))")
                lines.append("      \(field.title): \(values(of: field))")
            }
        }
        lines += ["", "What must hold"]
        for rule in scheme.rules {
            let when = rule.at.map(\.text).joined(separator: ", ")
            lines.append("  when \(when) signs\(rule.warns ? " (warning only)" : ""): \(rule.says)")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
