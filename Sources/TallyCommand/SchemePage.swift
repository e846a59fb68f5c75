import CommandLineKit
import Tallystick
import TallystickCrypto

/// A scheme as text and as JSON, for somebody who has to know what it demands.
struct SchemePage {
    let scheme: Scheme
    let words: SchemeWords

    init(_ scheme: Scheme) {
        self.scheme = scheme
        words = SchemeWords(scheme: scheme)
    }

    /// Prints all of it.
    func print(on console: Console) {
        var sheet = SchemeSheet(console)
        head(&sheet)
        sheet.heading("Who hands to whom, and who signs when")
        for line in SchemeDiagram(scheme, width: sheet.width - 2).lines { sheet.keep("  " + line) }
        sheet.gap()
        sheet.text(
            """
            What stands after “after” has to be signed or handed over first. Below, a field that has no value is not \
            this or that, compares with nothing, and has no mark.
            """,
            indent: 2
        )
        for role in scheme.roles { print(role, on: &sheet) }
        handoffs(&sheet)
        checks(&sheet)
        links(&sheet)
        endings(&sheet)
        deadlines(&sheet)
        codeLists(&sheet)
        console.write(sheet.written)
    }

    private func head(_ sheet: inout SchemeSheet) {
        sheet.heading(SchemeWords.line(scheme.title), isFirst: true)
        sheet.fact("id", scheme.reference.id.text)
        sheet.fact("version", "\(scheme.reference.version)")
        sheet.fact("hash", scheme.reference.hash.hex)
        sheet.fact("source", SchemeWords.line(scheme.source))
    }

    // MARK: Roles

    private func print(_ role: Scheme.Role, on sheet: inout SchemeSheet) {
        sheet.heading("The \(role.name): \(SchemeWords.line(role.title))")
        sheet.text(facts(of: role), indent: 2)
        fields(of: role, on: &sheet)
        rules(of: role, on: &sheet)
        signatures(of: role, on: &sheet)
    }

    private func facts(of role: Scheme.Role) -> String {
        var facts: [String] = []
        if role.hasCustody {
            facts.append(role.opens ? "Opens a chain, and then has the load." : "Can have the load.")
        } else {
            let admitting = scheme.roles.filter { $0.admits.contains(role.name) }.map(\.name)
            facts.append("Never has the load; takes part once the \(SchemeWords.list(admitting, "or")) lets it.")
        }
        if role.repeats { facts.append("There can be several in a row.") }
        if role.closes { facts.append("A chain can end with it.") }
        if !role.admits.isEmpty { facts.append("Can let the \(SchemeWords.list(role.admits)) take part.") }
        if let retention = role.retention {
            let period = SchemeWords.period(retention.period)
            facts.append("Has to keep its record for \(period) from \(words.moment(retention.from)).")
        } else {
            facts.append("Nothing is said about how long it keeps its record.")
        }
        return facts.joined(separator: " ")
    }

    private func fields(of role: Scheme.Role, on sheet: inout SchemeSheet) {
        let single = scheme.fields.filter { $0.owner == role.name && $0.list == nil }
        let groups = scheme.lines.filter { $0.owner == role.name }
        guard !single.isEmpty || !groups.isEmpty else { return }
        sheet.part("What it says")
        for field in single { print(field, on: &sheet, indent: 4) }
        for group in groups {
            let rows =
                group.minimum == 0
                ? "up to \(counted(group.maximum, "row"))" : "\(group.minimum) to \(counted(group.maximum, "row"))"
            sheet.item(group.name.text, "\(SchemeWords.line(group.title)), \(rows), each of", indent: 4)
            for field in scheme.fields where field.list == group.name { print(field, on: &sheet, indent: 8) }
        }
    }

    private func print(_ field: Scheme.Field, on sheet: inout SchemeSheet, indent: Int) {
        sheet.item(field.name.text, SchemeWords.line(field.title), indent: indent)
        if let help = field.help { sheet.text(SchemeWords.line(help), indent: indent + 4) }
        let system = field.external.map { "; the identifier that \(SchemeWords.line($0)) gave" } ?? ""
        let values = SchemeWords.sentence(words.values(of: field))
        sheet.text("\(values); \(words.correction(of: field))\(system).", indent: indent + 4)
        guard case .entries(let entries) = field.type else { return }
        for entry in entries {
            let part = entry.field
            sheet.text(
                "\(part.name): \(SchemeWords.line(part.title)); \(words.values(of: part))",
                indent: indent + 6
            )
        }
    }

    private func rules(of role: Scheme.Role, on sheet: inout SchemeSheet) {
        let rules = scheme.rules.filter { rule in rule.at.contains { actor(at: $0) == role.name } }
        guard !rules.isEmpty else { return }
        sheet.part("What has to be so")
        for rule in rules {
            sheet.item(rule.name.text, "at \(SchemeWords.list(rule.at))", indent: 4)
            sheet.text(words.sentence(of: rule), indent: 8)
            sheet.text(
                "\(rule.warns ? "If not, a warning:" : "If not, refused:") \(SchemeWords.quoted(rule.says))",
                indent: 8
            )
        }
    }

    /// Who acts at a stage: who signs, or who hands over.
    private func actor(at stage: Name) -> Name? {
        scheme.signature(stage)?.role ?? scheme.handoff(stage)?.rule.from
    }

    private func signatures(of role: Scheme.Role, on sheet: inout SchemeSheet) {
        let signatures = scheme.signatures.filter { $0.role == role.name }
        guard !signatures.isEmpty else { return }
        sheet.part("What it signs")
        for signature in signatures {
            sheet.item(signature.name.text, SchemeWords.line(signature.title), indent: 4)
            sheet.text(SchemeWords.quoted(signature.statement), indent: 8)
            sheet.text(facts(of: signature), indent: 8)
        }
    }

    private func facts(of signature: Scheme.SignatureRule) -> String {
        var facts: [String] = []
        let guards = SchemeWords.guards(signature.after)
        facts.append(guards.isEmpty ? "Waits for nothing." : "Signed \(guards).")
        if !signature.before.isEmpty { facts.append("Not once \(SchemeWords.list(signature.before, "or")) is done.") }
        if !signature.notBefore.isEmpty {
            facts.append("A time earlier than that of \(SchemeWords.list(signature.notBefore, "or")) is a warning.")
        }
        facts.append("Covers and seals \(coverage(signature.covers, of: signature.role, isSignature: true)).")
        if signature.isDelegable { facts.append("Can be given by a delegate.") }
        if !signature.paper.isEmpty {
            facts.append("Can be given on paper, which the \(SchemeWords.list(signature.paper, "or")) attests.")
        }
        return facts.joined(separator: " ")
    }

    /// What is covered, in the order of the scheme.
    private func coverage(_ coverage: Scheme.Coverage, of role: Name, isSignature: Bool) -> String {
        let names = covered(coverage, of: role)
        let all = sayable(of: role, isSignature: isSignature)
        if names.isEmpty { return "nothing" }
        if names.count == all.count { return "all that the \(role) says" }
        return SchemeWords.list(names)
    }

    /// The names that are covered, in the order of the scheme.
    func covered(_ coverage: Scheme.Coverage, of role: Name) -> [Name] {
        sayable(of: role, isSignature: false).filter(coverage.names.contains)
    }

    private func sayable(of role: Name, isSignature: Bool) -> [Name] {
        let fields = scheme.fields.filter { $0.owner == role && $0.list == nil && ($0.isSealable || !isSignature) }
        return fields.map(\.name) + scheme.lines.filter { $0.owner == role }.map(\.name)
    }

    // MARK: Handoffs, checks, links

    private func handoffs(_ sheet: inout SchemeSheet) {
        sheet.heading("Handoffs")
        for handoff in scheme.handoffs {
            sheet.item(handoff.name.text, SchemeWords.line(handoff.title), indent: 2)
            let guards = SchemeWords.guards(handoff.after)
            let seen = coverage(handoff.covers, of: handoff.from, isSignature: false)
            sheet.text(
                """
                The \(handoff.from) hands over to \(handoff.from == handoff.to ? "another" : "the") \(handoff.to)\
                \(guards.isEmpty ? "" : ", \(guards)"). An offer lasts \(SchemeWords.duration(handoff.lasts)) unless the \
                giver says otherwise, and at most \(SchemeWords.duration(handoff.longest)). The taker gets \(seen)\
                \(handoff.seals ? ", which is sealed by it" : "").
                """,
                indent: 6
            )
        }
    }

    private func checks(_ sheet: inout SchemeSheet) {
        guard !scheme.checks.isEmpty else { return }
        sheet.heading("Amounts that are compared")
        for check in scheme.checks {
            sheet.item(check.name.text, "at \(SchemeWords.list(check.at))", indent: 2)
            sheet.text(words.sentence(of: check), indent: 6)
            sheet.text(
                "\(check.warns ? "If not, a warning:" : "If not, refused:") \(SchemeWords.quoted(check.says))",
                indent: 6
            )
        }
    }

    private func links(_ sheet: inout SchemeSheet) {
        guard !scheme.links.isEmpty else { return }
        sheet.heading("Ties to other chains")
        for link in scheme.links {
            sheet.item(link.name.text, SchemeWords.line(link.title), indent: 2)
            var facts = ["Made by the \(SchemeWords.list(link.roles, "or"))"]
            let guards = SchemeWords.guards(link.after)
            if !guards.isEmpty { facts[0] += ", \(guards)" }
            facts[0] += "; of the kind \(link.kind.rawValue), named \(link.kind.inverse.rawValue) by the other chain."
            if let conserves = link.conserves {
                let amounts = conserves.list.map { "\(conserves.field) of each row of \($0)" } ?? conserves.field.text
                facts.append("Says how much of \(amounts) goes on in the other chain.")
                facts.append(
                    "\(link.isDue ? "The" : "Once one was made, the") chain cannot be closed before all of it is accounted for."
                )
            }
            if link.needsReason { facts.append("A reason has to be given.") }
            sheet.text(facts.joined(separator: " "), indent: 6)
        }
    }

    // MARK: Endings and times

    private func endings(_ sheet: inout SchemeSheet) {
        sheet.heading("How a chain ends")
        if let cancelling = scheme.cancelling {
            let before = cancelling.before.isEmpty ? "" : " before \(SchemeWords.list(cancelling.before, "or")) is done"
            sheet.text("The \(SchemeWords.list(cancelling.roles, "or")) can cancel it\(before).", indent: 2)
        } else {
            sheet.text("Nobody can cancel it.", indent: 2)
        }
        if scheme.closings.isEmpty { sheet.text("It is not closed with an outcome.", indent: 2) }
        for closing in scheme.closings {
            sheet.item(closing.outcome.text, SchemeWords.line(closing.title), indent: 2)
            let guards = SchemeWords.guards(closing.after)
            var facts = [
                "Closed so by the \(SchemeWords.list(closing.roles, "or")) who has the load\(guards.isEmpty ? "" : ", \(guards)")."
            ]
            if closing.needsReason { facts.append("A reason has to be given.") }
            if let duty = closing.dutyTo { facts.append("The duty for the load is the \(duty)'s again.") }
            sheet.text(facts.joined(separator: " "), indent: 6)
        }
        guard let late = scheme.lateEntry else { return }
        sheet.heading("What was written on paper at the time")
        let longest = late.longest.map { " up to \(SchemeWords.period($0)) later" } ?? " at any time"
        sheet.text(
            "The \(SchemeWords.list(late.roles)) may enter it\(longest), with the original time and a reason.",
            indent: 2
        )
    }

    private func deadlines(_ sheet: inout SchemeSheet) {
        if !scheme.deadlines.isEmpty { sheet.heading("Deadlines (missing one refuses nothing; it is shown)") }
        for deadline in scheme.deadlines {
            sheet.item(deadline.name.text, SchemeWords.line(deadline.title), indent: 2)
            sheet.text(words.sentence(of: deadline), indent: 6)
            sheet.text(SchemeWords.quoted(deadline.says), indent: 6)
        }
        if !scheme.calendars.isEmpty { sheet.heading("Calendars") }
        let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
        for calendar in scheme.calendars {
            sheet.item(calendar.name.text, SchemeWords.line(calendar.title), indent: 2)
            let weekend = SchemeWords.list(
                calendar.weekend.sorted().filter { (1...7).contains($0) }.map { weekdays[$0 - 1] }
            )
            sheet.text(
                """
                No working days: \(weekend.isEmpty ? "" : "\(weekend), and ")\(counted(calendar.holidays.count, "holiday")) from \
                \(calendar.from) to \(calendar.until). Outside these days only weekends are known. Source: \
                \(SchemeWords.line(calendar.source)).
                """,
                indent: 6
            )
            sheet.text(calendar.holidays.sorted().map(\.description).joined(separator: " "), indent: 6)
        }
    }

    // MARK: Code lists

    private func codeLists(_ sheet: inout SchemeSheet) {
        guard !scheme.codeLists.isEmpty else { return }
        sheet.heading("Code lists (all codes: tally scheme show … --codes LIST)")
        let sources = sources
        for list in lists {
            sheet.item(
                list.name.text,
                "\(SchemeWords.line(list.title)), \(counted(list.codes.count, "code"))",
                indent: 2
            )
            if let source = sources[list.name] { sheet.text(SchemeWords.line(source), indent: 6) }
        }
    }

    /// The code lists in the order of their names.
    var lists: [Scheme.CodeList] { scheme.codeLists.values.sorted { $0.name < $1.name } }

    /// Where the lists' codes come from; only the files say it.
    var sources: [Name: String] {
        guard let files = try? JSON.parseCanonical(scheme.bytes)["codes"]?.members else { return [:] }
        let found = files.compactMap { file in
            Name(file.name).flatMap { name in file.value["source"]?.text.map { (name, $0) } }
        }
        return Dictionary(found) { first, _ in first }
    }

    /// Prints every code of these lists.
    func print(codesOf lists: [Scheme.CodeList], on console: Console) {
        let sources = sources
        for (index, list) in lists.enumerated() {
            var sheet = SchemeSheet(console)
            sheet.heading("\(SchemeWords.line(list.title)): \(counted(list.codes.count, "code"))", isFirst: index == 0)
            if let source = sources[list.name] { sheet.text(SchemeWords.line(source), indent: 2) }
            sheet.gap()
            for code in SchemePage.inOrder(list) { self.print(code.text, code.code, on: &sheet) }
            console.write(sheet.written)
        }
    }

    private func print(_ text: String, _ code: Scheme.CodeList.Code, on sheet: inout SchemeSheet) {
        let days: String? =
            switch (code.from, code.until) {
            case (let from?, let until?): "from \(from) to \(until)"
            case (let from?, nil): "from \(from)"
            case (nil, let until?): "until \(until)"
            case (nil, nil): nil
            }
        let flags = code.flags.isEmpty ? nil : "[\(code.flags.sorted().joined(separator: ", "))]"
        let facts = [code.title.map(SchemeWords.line), days, flags].compactMap { $0 }
        sheet.item(text, facts.joined(separator: " "), indent: 2)
    }

    /// The codes of a list in the order of their bytes.
    static func inOrder(_ list: Scheme.CodeList) -> [(text: String, code: Scheme.CodeList.Code)] {
        list.codes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) }
    }
}

/// Lines of a page, wrapped for the terminal they go to.
struct SchemeSheet {
    private let console: Console
    private(set) var written = ""

    init(_ console: Console) { self.console = console }

    /// The columns to fill: lines longer than 110 are hard to read.
    var width: Int { min(console.width, 110) }

    mutating func heading(_ text: String, isFirst: Bool = false) {
        if !isFirst { gap() }
        for line in TextLayout.wrapped(text, width: width) { keep(console.styled(line, .heading, on: .output)) }
    }

    /// A heading inside a heading.
    mutating func part(_ text: String) {
        gap()
        for line in TextLayout.wrapped(text, width: width - 2) {
            keep("  " + console.styled(line, .heading, on: .output))
        }
    }

    /// A name and what it is.
    mutating func item(_ name: String, _ text: String, indent: Int) {
        hang("\(name)  ", text, indent: indent, continued: indent + 4)
    }

    /// A fact about the whole, in two columns.
    mutating func fact(_ name: String, _ text: String) {
        hang(TextLayout.padded(name, to: 9), text, indent: 2, continued: 11)
    }

    private mutating func hang(_ start: String, _ text: String, indent: Int, continued: Int) {
        let first = TextLayout.wrapped(text, width: max(20, width - indent - TextLayout.width(of: start)))
        keep(String(repeating: " ", count: indent) + start + (first.first ?? ""))
        let rest = first.dropFirst().joined(separator: " ")
        self.text(rest, indent: continued)
    }

    /// Prose.
    mutating func text(_ text: String, indent: Int) {
        for line in TextLayout.wrapped(text, width: max(20, width - indent)) {
            keep(String(repeating: " ", count: indent) + line)
        }
    }

    /// A line as it is.
    mutating func keep(_ line: String) {
        var line = Substring(line)
        while line.last == " " { line.removeLast() }
        written += line + "\n"
    }

    mutating func gap() { written += "\n" }
}
