import CommandLineKit
import Tallystick

/// Merges a published list of codes into the code list of a scheme: names and codes come in, nothing is dropped.
struct CodesImport {
    /// A title that was given or changed.
    struct Retitled {
        let code: String
        let from: String?
        let to: String
    }

    /// A flag that is set by the published list, or that only the scheme's own list has.
    struct Flagged {
        let code: String
        let flag: String
    }

    /// The text of the merged file.
    private(set) var text: [UInt8] = []
    /// The codes that were added.
    private(set) var added: [String] = []
    /// The titles that were given or changed.
    private(set) var retitled: [Retitled] = []
    /// The flags that were set.
    private(set) var flagged: [Flagged] = []
    /// The flags that the published list does not set, and that were kept.
    private(set) var kept: [Flagged] = []
    /// The codes that only the published list has, as it spells them.
    private(set) var unknown: [String] = []
    /// The codes that only the scheme's list has.
    private(set) var missing: [String] = []
    /// Whether the source was replaced.
    private(set) var isSourceReplaced = false
    /// Whether anything is another than before; the order of codes alone is nothing.
    var isChanged: Bool { !added.isEmpty || !retitled.isEmpty || !flagged.isEmpty || isSourceReplaced }

    private struct Code {
        var title: String?
        var others: [JSONMember]
    }

    private let file: String

    /// Merges, without writing anything.
    ///
    /// - Parameters:
    ///   - own: The text of the scheme's list.
    ///   - flags: The names of the flags that the published list tells of.
    ///   - isAdding: Whether codes that are not in the list are added to it.
    init(
        _ own: [UInt8],
        file: String,
        _ published: PublishedCodes,
        flags: [String],
        source: String?,
        isAdding: Bool
    ) throws(CommandError) {
        self.file = file
        let json: JSON
        do {
            json = try JSON.parse(own)
        } catch {
            throw fault(error.description)
        }
        guard let members = json["codes"]?.members, json["list"]?.text != nil, json["title"]?.text != nil else {
            throw fault("expected an object with “list”, “title” and “codes”")
        }
        let allowed = ["list", "title", "source", "codes"]
        if let strange = json.members?.first(where: { member in !allowed.contains { sameBytes($0, member.name) } }) {
            throw fault("expected no member “\(Console.plain(strange.name))”")
        }
        var codes: [String: Code] = [:]
        for member in members {
            guard Name(member.name) != nil, let facts = member.value.members else {
                throw fault("expected “\(Console.plain(member.name))” to be a code with an object of facts")
            }
            codes[member.name] = Code(
                title: member.value["title"]?.text,
                others: facts.filter { !sameBytes($0.name, "title") }
            )
        }
        try merge(published, into: &codes, flags: flags, isAdding: isAdding)
        let old = json["source"]?.text
        isSourceReplaced = source != nil && source != old
        text = CodesImport.text(
            list: json["list"] ?? .null,
            title: json["title"] ?? .null,
            source: source.map { .string($0) } ?? json["source"],
            codes: codes
        )
        guard codes.count <= Scheme.mostCodes, text.count <= Scheme.longest else {
            throw fault("expected at most \(Scheme.mostCodes) codes and \(Scheme.longest) bytes once merged")
        }
    }

    private func fault(_ message: String) -> CommandError {
        CommandError(
            exit: .badInput,
            code: "code-list-unreadable",
            message: "\(file): \(message)",
            remedy: "expected the file codes/LIST.json of a scheme; docs/schemes.md shows what is in it"
        )
    }

    private mutating func merge(
        _ published: PublishedCodes,
        into codes: inout [String: Code],
        flags: [String],
        isAdding: Bool
    ) throws(CommandError) {
        var found: Set<String> = []
        for entry in published.entries {
            // Regulators write 17 09 04* and Inland Waterway; codes have no blanks, and a star is a flag.
            let squeezed = entry.code.filter { $0 != " " && $0 != "*" }
            // Only names are looked up: Swift takes texts that differ in their Unicode form for the same.
            let known = [entry.code, squeezed].first { Name($0) != nil && codes[$0] != nil }
            if let known {
                guard found.insert(known).inserted else {
                    throw fault("two published codes are “\(known)” here; the second is “\(Console.plain(entry.code))”")
                }
            } else {
                guard isAdding, Name(squeezed) != nil else {
                    unknown.append(entry.code)
                    continue
                }
                codes[squeezed] = Code(title: nil, others: [])
                found.insert(squeezed)
                added.append(squeezed)
            }
            let code = known ?? squeezed
            try change(&codes, code, entry, flags: flags, isNew: known == nil)
        }
        missing = codes.keys.filter { !found.contains($0) }.sorted(by: CodesImport.precedes)
    }

    private mutating func change(
        _ codes: inout [String: Code],
        _ name: String,
        _ entry: PublishedCodes.Entry,
        flags: [String],
        isNew: Bool
    ) throws(CommandError) {
        guard var code = codes[name] else { return }
        if let title = entry.title, code.title.map({ !sameBytes($0, title) }) ?? true {
            guard title.utf8.count <= EventContent.longestText, sameBytes(Console.plain(title), title) else {
                throw fault(
                    "the published title of “\(name)” is longer than \(EventContent.longestText) bytes or has characters that cannot be shown"
                )
            }
            if !isNew { retitled.append(Retitled(code: name, from: code.title, to: title)) }
            code.title = title
        }
        for flag in flags {
            let isSet = code.others.contains { sameBytes($0.name, flag) && $0.value.boolean == true }
            if entry.flags.contains(flag), !isSet {
                code.others.removeAll { sameBytes($0.name, flag) }
                code.others.append(JSONMember(flag, .boolean(true)))
                flagged.append(Flagged(code: name, flag: flag))
            } else if isSet, !entry.flags.contains(flag) {
                kept.append(Flagged(code: name, flag: flag))
            }
        }
        codes[name] = code
    }

    /// The order of canonical JSON; codes are ASCII, so it is that of their bytes.
    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// The file: one code a line, in canonical order, each with its title and days first.
    private static func text(list: JSON, title: JSON, source: JSON?, codes: [String: Code]) -> [UInt8] {
        var lines = ["{", "  \"list\": \(spelled(list)),", "  \"title\": \(spelled(title)),"]
        if let source { lines.append("  \"source\": \(spelled(source)),") }
        lines.append("  \"codes\": {")
        let sorted = codes.sorted { precedes($0.key, $1.key) }
        for (index, (name, code)) in sorted.enumerated() {
            let days = ["from", "until"].compactMap { day in code.others.first { sameBytes($0.name, day) } }
            let flags = code.others.filter { other in !["from", "until"].contains { sameBytes($0, other.name) } }
                .sorted { precedes($0.name, $1.name) }
            let facts =
                (code.title.map { [JSONMember("title", .string($0))] } ?? [])
                + days + flags
            let inside = facts.map { "\(spelled(.string($0.name))): \(spelled($0.value))" }.joined(separator: ", ")
            lines.append("    \(spelled(.string(name))): {\(inside)}\(index < sorted.count - 1 ? "," : "")")
        }
        lines += ["  }", "}", ""]
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// A value as JSON; what stands in a code list has no numbers that could not be written.
    private static func spelled(_ json: JSON) -> String {
        (try? json.canonicalBytes()).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}
