import CommandLineKit
import Schemes
import Tallystick
import TallystickCrypto

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
        summary: "Check a scheme's folder and say where its first mistake is",
        arguments: [ArgumentDeclaration("DIR", values: .folders, help: "a folder with scheme.json and codes/*.json")],
        examples: [("tally scheme check my-scheme", "reads my-scheme/scheme.json and my-scheme/codes/*.json")],
        exitCodes: [
            (.badInput, "the scheme has a mistake; the error names its place"), (.noInput, "a file is missing"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let folder = try invocation.argument("DIR")
            let text = try Files.read("\(folder)/scheme.json", limit: 4 << 20)
            let lists = (try JSON.parse(text)["codeLists"]?.elements ?? []).compactMap { $0.text.flatMap(Name.init) }
            var codes: [(name: String, text: [UInt8])] = []
            for list in lists {
                codes.append((list.text, try Files.read("\(folder)/codes/\(list).json", limit: 64 << 20)))
            }
            let scheme = try Scheme(scheme: text, codeLists: codes)
            if invocation.isJSON {
                invocation.console.print(SchemePage(scheme: scheme).summary)
            } else {
                invocation.console.print(
                    "\(scheme.reference.id) version \(scheme.reference.version) is sound; its hash is "
                        + scheme.reference.hash.hex
                )
            }
            return .done
        }
    )
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
