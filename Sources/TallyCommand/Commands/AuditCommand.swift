import CommandLineKit
import Tallystick
import TallystickCrypto

extension CommandDeclaration {
    static let audit = CommandDeclaration(
        ["audit"],
        summary: "Check a record with nothing but the record",
        discussion: """
            Checks canonical bytes, the seal, certificates, signatures, parents and sequence numbers, decides every \
            event again and compares the verdicts, and checks both halves of each handoff. What could not be checked \
            is listed as not done. Without --trust, the authority's key is taken from the record, and the report says so.
            """,
        section: Tally.records,
        arguments: [ArgumentDeclaration("FILE", values: .files, help: "the record, or - for standard input")],
        options: [
            OptionDeclaration(
                "trust",
                value: "FILE",
                values: .files,
                help: "a file with the authority's key, as `tally server trust` writes it"
            )
        ],
        examples: [
            ("tally audit load.jsonl", "checks a record"),
            ("tally audit load.jsonl --trust server.trust.json", "checks it against a key you already have"),
        ],
        exitCodes: [
            (.foundProblems, "the audit ran and found something wrong"),
            (.badInput, "the file is no record at all"), (.noInput, "there is no such file"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let path = try invocation.argument("FILE")
            let record = try Files.read(path, limit: Record.longest)
            let trusted = try invocation.option("trust").map { try TrustFile.read($0) }
            let report = Audit.report(on: record, trusting: trusted)
            guard report.header != nil || report.events > 0 else {
                throw CommandError(
                    exit: .badInput,
                    code: "not-a-record",
                    message: record.isEmpty
                        ? "\(path) is not a record: it is empty"
                        : "\(path) is not a record: none of its lines is a record's header or an event",
                    remedy: "`tally export` writes records"
                )
            }
            let page = AuditPage(report: report, path: path)
            if invocation.isJSON {
                invocation.console.print(page.json)
            } else {
                page.print(on: invocation.console)
            }
            return report.isClean ? .done : .foundProblems
        }
    )
}

/// The file that names a trusted authority: `{"authority":"<base64>","origin":"…"}`.
enum TrustFile {
    static func read(_ path: String) throws -> PublicKey {
        let json = try JSON.parse(try Files.read(path, limit: 65_536))
        guard let key = json["authority"]?.text.flatMap(Base64.decode).flatMap({ PublicKey(bytes: $0) }) else {
            throw CommandError(
                exit: .badInput,
                code: "not-a-trust-file",
                message: "\(path) names no authority's key",
                remedy: "`tally server trust` writes such a file"
            )
        }
        return key
    }
}

private struct AuditPage {
    let report: AuditReport
    let path: String

    private func mark(_ check: AuditReport.Check) -> String {
        if check.failures > 0 { return "FOUND \(check.failures)" }
        return check.notDone == nil ? "ok" : "not done"
    }

    var json: JSONOutput {
        .object([
            ("file", .string(path)),
            ("clean", .bool(report.isClean)),
            ("chain", .optional(report.header?.chain.description)),
            ("origin", .optional(report.header?.origin)),
            ("authority", .optional(report.header.map { DeviceID($0.authority).description })),
            ("authorityFrom", .string(report.trustsRecord ? "record" : "trust-file")),
            ("events", .int(report.events)),
            ("accepted", .int(report.outcomes[.accepted] ?? 0)),
            ("refused", .int(report.outcomes[.refused] ?? 0)),
            ("waiting", .int(report.outcomes[.waiting] ?? 0)),
            ("contested", .bool(report.state?.isContested ?? false)),
            (
                "checks",
                .array(
                    report.checks.map {
                        .object([
                            ("check", .string($0.subject.rawValue)), ("title", .string($0.subject.title)),
                            ("count", .int($0.count)), ("found", .int($0.failures)),
                            ("status", .string($0.failures > 0 ? "found" : $0.notDone == nil ? "ok" : "not-done")),
                            ("why", .optional($0.notDone)),
                        ])
                    }
                )
            ),
            (
                "findings",
                .array(
                    report.findings.map {
                        .object([
                            ("check", .string($0.subject.rawValue)), ("code", .string($0.code)),
                            ("line", .optional($0.line)), ("event", .optional($0.event)),
                            ("message", .string($0.message)),
                        ])
                    }
                )
            ),
        ])
    }

    func print(on console: Console) {
        if let header = report.header {
            console.print(
                "Chain \(header.chain), exported \(Moment.text(header.created)) by \(Console.plain(header.origin))"
            )
            let source =
                report.trustsRecord ? "taken from the record itself; --trust FILE names one you expect" : "trusted"
            console.print("Authority \(DeviceID(header.authority)) (\(source))")
        }
        let counts = [Verdict.Outcome.accepted, .refused, .waiting].map { "\(report.outcomes[$0] ?? 0) \($0.rawValue)" }
        console.print("\(counted(report.events, "event")): \(counts.joined(separator: ", "))\n")
        var table = Table("RESULT", "CHECK", "LOOKED AT")
        for check in report.checks {
            table.add([mark(check), check.subject.title, check.notDone ?? "\(check.count)"])
        }
        console.print(table)
        for finding in report.findings {
            let line = finding.line.map { "line \($0)" } ?? "record"
            let event = finding.event.map { ", event \($0)" } ?? ""
            console.print("")
            console.print("\(console.styled(finding.code, .error, on: .output)) (\(line)\(Console.plain(event)))")
            console.print("    \(Console.plain(finding.message))")
        }
        console.print("")
        if report.isClean {
            console.print(console.styled("Nothing wrong was found in what was checked.", .good, on: .output))
        } else {
            console.print(console.styled("\(counted(report.findings.count, "finding")).", .error, on: .output))
        }
    }
}
