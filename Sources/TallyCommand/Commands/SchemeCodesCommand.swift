import CommandLineKit
import Tallystick

extension CommandDeclaration {
    static let schemeCodesImport = CommandDeclaration(
        ["scheme", "codes", "import"],
        summary: "Put a regulator's names and codes into a scheme's code list",
        discussion: """
            PUBLISHED is the list as it is published: JSON (an array of objects or of texts, an object of names by \
            their codes) or CSV with a header line. Codes are found by their spelling, also without blanks and stars: \
            17 09 04* is 170904. Titles become the published ones, and flags are set where --flag asks for it. No code, \
            title or flag of the scheme's own is ever dropped; what the published list does not have is named.

            A scheme whose codes change is another version of it: raise “version” in scheme.json.
            """,
        arguments: [
            ArgumentDeclaration("LIST", values: .files, help: "the scheme's file codes/LIST.json; it is rewritten"),
            ArgumentDeclaration("PUBLISHED", values: .files, help: "the published list; - is standard input"),
        ],
        options: [
            OptionDeclaration(
                "code",
                value: "MEMBER",
                help: "the member or column with the codes, where it cannot be told from its name"
            ),
            OptionDeclaration("title", value: "MEMBER", help: "the member or column with the titles"),
            OptionDeclaration(
                "flag",
                value: "NAME=MEMBER",
                repeatable: true,
                help: "set the flag NAME where MEMBER is true"
            ),
            OptionDeclaration("source", value: "TEXT", help: "say in the file where its codes come from"),
            OptionDeclaration(flag: "add", help: "add the codes that are not in the list, in place of naming them"),
            OptionDeclaration(flag: "dry-run", help: "say what would change, and write nothing"),
        ],
        examples: [
            (
                "tally scheme codes import my-scheme/codes/ewc.json ewc-codes.json --flag hazardous=isHazardous",
                "takes titles and hazard marks from a regulator's JSON"
            ),
            (
                "tally scheme codes import my-scheme/codes/sites.json sites.csv --code 'Site ID' --add --dry-run",
                "says what a CSV file would add"
            ),
        ],
        exitCodes: [
            (.badInput, "one of the files is not what it should be, or has no such member"),
            (.noInput, "one of the files is not there"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let (list, path) = (try invocation.argument("LIST"), try invocation.argument("PUBLISHED"))
            guard !sameBytes(list, "-") else {
                throw CommandError.usage("LIST is rewritten, so it has to be a file", code: "list-invalid")
            }
            let flags = try invocation.options("flag").map { try flag($0) }
            let own = try Files.read(list, limit: Scheme.longest, isPlain: true)
            let published = try PublishedCodes(
                try Files.read(path, limit: 64 << 20, isPlain: true),
                file: path,
                PublishedCodes.Choice(
                    code: try invocation.option("code"),
                    title: try invocation.option("title"),
                    flags: flags
                )
            )
            let merged = try CodesImport(
                own,
                file: list,
                published,
                flags: flags.map(\.name),
                source: try source(invocation),
                isAdding: try invocation.flag("add")
            )
            let isWritten = try merged.isChanged && !invocation.flag("dry-run")
            if isWritten { try Files.write(merged.text, to: list) }
            let report = CodesReport(merged: merged, published: published, list: list, isWritten: isWritten)
            if invocation.isJSON {
                invocation.console.print(report.json)
            } else {
                report.print(on: invocation.console)
            }
            return .done
        }
    )

    private static func flag(_ text: String) throws(CommandError) -> (name: String, member: String) {
        let halves = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard halves.count == 2, let first = halves[0].utf8.first, Name(halves[0]) != nil,
            (0x41...0x5A).contains(first) || (0x61...0x7A).contains(first),
            !["title", "from", "until"].contains(where: { sameBytes($0, halves[0]) }),
            !halves[0].utf8.contains(where: { $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".") })
        else {
            throw .usage(
                "expected --flag NAME=MEMBER, got '\(Console.plain(text))'",
                code: "flag-invalid",
                remedy: "NAME is letters, digits and hyphens, such as hazardous=isHazardous"
            )
        }
        return (halves[0], halves[1])
    }

    private static func source(_ invocation: Invocation) throws(CommandError) -> String? {
        guard let source = try invocation.option("source") else { return nil }
        guard !source.isEmpty, source.utf8.count <= EventContent.longestText, sameBytes(Console.plain(source), source)
        else {
            throw .usage("expected --source with a text of one line", code: "text-invalid")
        }
        return source
    }
}

/// What came of an import, for a person and for a script.
private struct CodesReport {
    let merged: CodesImport
    let published: PublishedCodes
    let list: String
    let isWritten: Bool

    /// More would push what matters off the screen; `--json` has all.
    private static let most = 20

    func print(on console: Console) {
        let code = published.codeMember.map { "codes from “\(Console.plain($0))”" }
        let title = published.titleMember.map { "titles from “\(Console.plain($0))”" }
        let taken = [code, title].compactMap { $0 }.joined(separator: ", ")
        console.print("\(counted(published.entries.count, "published code"))\(taken.isEmpty ? "" : ": \(taken)")")
        section("added", codes: merged.added, on: console)
        section(
            "retitled",
            merged.retitled.map {
                "\($0.code): \($0.from.map(SchemeWords.quoted) ?? "no title") → \(SchemeWords.quoted($0.to))"
            },
            on: console
        )
        section("flags set", merged.flagged.map { "\($0.code): \($0.flag)" }, on: console)
        section(
            "flags kept that the published list does not set",
            merged.kept.map { "\($0.code): \($0.flag)" },
            on: console
        )
        section(
            "in the published list only, not added",
            merged.unknown.map { code in
                let squeezed = code.filter { $0 != " " && $0 != "*" }
                return Console.plain(code)
                    + (Name(squeezed) == nil ? " (cannot be a code: ASCII letters, digits, -, _ and .)" : "")
            },
            on: console
        )
        section("in the scheme's list only, kept", codes: merged.missing, on: console)
        if merged.isSourceReplaced { console.print("the source was replaced") }
        let list = Console.plain(list)
        switch (merged.isChanged, isWritten) {
        case (false, _): console.print("Nothing changes in \(list).")
        case (true, false): console.print("Nothing was written; without --dry-run \(list) would be.")
        case (true, true): console.print("\(list) was written. Raise the scheme's version if it is in use.")
        }
        if merged.unknown.contains(where: { Name($0.filter { $0 != " " && $0 != "*" }) != nil }) {
            console.note("--add adds the codes that are in the published list only.")
        }
    }

    private func section(_ title: String, _ items: [String], on console: Console) {
        guard !items.isEmpty else { return }
        console.print(console.styled("\(title): \(items.count)", .heading, on: .output))
        for item in items.prefix(CodesReport.most) { console.print("  \(item)") }
        if items.count > CodesReport.most { console.print("  … and \(items.count - CodesReport.most) more") }
    }

    private func section(_ title: String, codes: [String], on console: Console) {
        guard !codes.isEmpty else { return }
        console.print(console.styled("\(title): \(codes.count)", .heading, on: .output))
        for line in TextLayout.wrapped(codes.joined(separator: ", "), width: console.width - 2) {
            console.print("  \(line)")
        }
    }

    var json: JSONOutput {
        func flags(_ flags: [CodesImport.Flagged]) -> JSONOutput {
            .array(flags.map { .object([("code", .string($0.code)), ("flag", .string($0.flag))]) })
        }
        return .object([
            ("file", .string(list)), ("changed", .bool(merged.isChanged)), ("written", .bool(isWritten)),
            ("published", .int(published.entries.count)), ("codeMember", .optional(published.codeMember)),
            ("titleMember", .optional(published.titleMember)), ("added", .strings(merged.added)),
            (
                "retitled",
                .array(
                    merged.retitled.map {
                        .object([("code", .string($0.code)), ("from", .optional($0.from)), ("to", .string($0.to))])
                    }
                )
            ),
            ("flagged", flags(merged.flagged)), ("kept", flags(merged.kept)),
            ("unknown", .strings(merged.unknown)), ("missing", .strings(merged.missing)),
            ("sourceReplaced", .bool(merged.isSourceReplaced)),
        ])
    }
}
