import CommandLineKit
import Tallystick

/// A scheme's parts in plain sentences, for a person who does not read JSON.
///
/// Sentences are in one line; whatever stands in the scheme is cleaned of line breaks first.
struct SchemeWords {
    let scheme: Scheme

    // MARK: Lists and texts

    /// A text of the scheme on one line.
    static func line(_ text: String) -> String {
        Console.plain(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
    }

    /// A text of the scheme in quotation marks.
    static func quoted(_ text: String) -> String { "“\(line(text))”" }

    /// `a`, `a and b`, `a, b and c`.
    static func list(_ items: [String], _ last: String = "and") -> String {
        guard let end = items.last, items.count > 1 else { return items.first ?? "" }
        return "\(items.dropLast().joined(separator: ", ")) \(last) \(end)"
    }

    /// `a`, `a and b`, `a, b and c`.
    static func list(_ names: [Name], _ last: String = "and") -> String { list(names.map(\.text), last) }

    /// The text with its first letter as a capital, where it is one of the small ASCII letters.
    static func sentence(_ text: String) -> String {
        guard let first = text.first, first.isASCII else { return text }
        return first.uppercased() + text.dropFirst()
    }

    /// A stretch of seconds as a person says it: `15 minutes`, `24 hours`.
    static func duration(_ seconds: Int) -> String {
        if seconds.isMultiple(of: 3_600) { return counted(seconds / 3_600, "hour") }
        if seconds.isMultiple(of: 60) { return counted(seconds / 60, "minute") }
        return counted(seconds, "second")
    }

    /// A period: `2 working days`.
    static func period(_ period: Period) -> String {
        switch period.unit {
        case .hours: counted(period.count, "hour")
        case .days: counted(period.count, "day")
        case .workingDays: counted(period.count, "working day")
        case .months: counted(period.count, "month")
        case .years: counted(period.count, "year")
        }
    }

    /// A moment in a chain's life: `the handoff delivery`.
    func moment(_ moment: ChainMoment) -> String {
        switch moment {
        case .opened: "the opening"
        case .closed: "the end of the chain"
        case .stage(let name): stage(name)
        case .field(let reference): "the time in \(reference)"
        }
    }

    /// A stage with its kind: `the signature carrier`.
    func stage(_ name: Name) -> String {
        scheme.signature(name) == nil ? "the handoff \(name)" : "the signature \(name)"
    }

    /// What a stage waits for, as the end of a sentence, or nothing: `after producer, and after carrier or with a warning`.
    static func guards(_ guards: [Scheme.Guard]) -> String {
        let needed = guards.filter { !$0.isOptional }.map(\.stage)
        let wanted = guards.filter(\.isOptional).map(\.stage)
        return [
            needed.isEmpty ? nil : "after \(list(needed))",
            wanted.isEmpty ? nil : "after \(list(wanted)) or with a warning",
        ].compactMap { $0 }.joined(separator: ", and ")
    }

    // MARK: Values

    /// What a field takes: `1 to 5 codes of the list ewc (842 codes)`.
    func values(of field: Scheme.Field) -> String {
        let one = value(of: field.type)
        guard let many = field.many else { return one }
        return "\(SchemeWords.range(many)), each \(one)"
    }

    private static func range(_ range: ClosedRange<Int>) -> String {
        if range.lowerBound == range.upperBound { return counted(range.lowerBound, "value") }
        if range.lowerBound == 0 { return "up to \(counted(range.upperBound, "value"))" }
        return "\(range.lowerBound) to \(range.upperBound) values"
    }

    private func value(of type: ValueType) -> String {
        switch type {
        case .text(let minimum, let maximum):
            minimum <= 1
                ? "a text of at most \(counted(maximum, "character"))" : "a text of \(minimum) to \(maximum) characters"
        case .integer(let minimum, let maximum): integer(minimum, maximum)
        case .decimal(let units, let above, let minimum, let maximum, let decimals):
            decimal(units, above: above, minimum: minimum, maximum: maximum, decimals: decimals)
        case .boolean(let must): must.map { $0 ? "yes, and nothing else" : "no, and nothing else" } ?? "yes or no"
        case .date: "a day, such as 2026-11-30"
        case .datetime: "a day and time with the offset from UTC, such as 2026-11-30T06:12+01:00"
        case .code(let list): code(list)
        case .identifier(let patterns, let maximum):
            "an identifier of the form \(SchemeWords.list(patterns.map { SchemeWords.quoted($0.name) }, "or")), "
                + "at most \(counted(maximum, "character"))"
        case .entries(let fields):
            "an entry of "
                + SchemeWords.list(fields.map { $0.field.name.text + ($0.isRequired ? "" : " (may be left out)") })
        }
    }

    private func integer(_ minimum: Int, _ maximum: Int) -> String {
        let greatest = 9_007_199_254_740_991
        return switch (minimum > -greatest, maximum < greatest) {
        case (true, true): "a whole number from \(minimum) to \(maximum)"
        case (true, false): "a whole number of \(minimum) or more"
        case (false, true): "a whole number of \(maximum) or less"
        case (false, false): "a whole number"
        }
    }

    private func decimal(
        _ units: [String],
        above: DecimalNumber?,
        minimum: DecimalNumber?,
        maximum: DecimalNumber?,
        decimals: Int
    ) -> String {
        let unit = units.first.map { " \($0)" } ?? ""
        let parts: [String?] = [
            units.isEmpty ? "a number" : "an amount in \(SchemeWords.list(units, "or"))",
            above.map { "more than \($0)\(unit)" },
            minimum.map { "\($0)\(unit) or more" },
            maximum.map { "\($0)\(unit) or less" },
            decimals == 0 ? "without decimals" : decimals == 9 ? nil : "with at most \(counted(decimals, "decimal"))",
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }

    private func code(_ list: Name) -> String {
        let codes = (scheme.codeLists[list]?.codes.keys.sorted() ?? [])
        guard codes.count <= 8 else { return "a code of the list \(list) (\(codes.count) codes)" }
        return "a code of the list \(list): \(SchemeWords.list(codes, "or"))"
    }

    /// Who can correct a field after it was sealed.
    func correction(of field: Scheme.Field) -> String {
        if !field.isSealable { return "no signature seals it; can be given at any time" }
        guard let roles = field.correct else { return "cannot be corrected once sealed" }
        if roles.isEmpty { return "can be corrected by the \(field.owner) alone" }
        return "can be corrected once \(SchemeWords.list(roles)) \(roles.count == 1 ? "approves" : "approve")"
    }

    // MARK: Conditions

    /// Where a condition stands: within rows of these lines, or outside all.
    private func name(_ reference: FieldReference, in rows: Name?) -> String {
        guard let list = reference.list else {
            let isHidden = rows.map { rows in
                scheme.fields.contains { $0.list == rows && $0.name == reference.field }
            }
            return isHidden == true ? "\(reference.field) outside the rows" : reference.field.text
        }
        return list == rows ? reference.field.text : "\(reference.field) of \(list)"
    }

    private func text(_ value: JSON) -> String {
        SchemeWords.line(Scheme.text(of: value))
    }

    private func isTime(_ reference: FieldReference) -> Bool {
        switch scheme.field(reference)?.type {
        case .date?, .datetime?: true
        default: false
        }
    }

    /// A condition in words: `meansOfTransport is Road and quantity is given`.
    ///
    /// - Parameter rows: The lines of whose rows it is asked.
    func condition(_ condition: Condition, in rows: Name? = nil) -> String {
        func field(_ reference: FieldReference) -> String { name(reference, in: rows) }
        switch condition {
        case .is(let reference, let value): return "\(field(reference)) is \(text(value))"
        case .same(let reference, let other): return "\(field(reference)) is the same as \(field(other))"
        case .isIn(let reference, let values):
            return
                "\(field(reference)) is \(values.count > 2 ? "one of " : "")\(SchemeWords.list(values.map(text), "or"))"
        case .present(let reference, let isThere): return "\(field(reference)) is \(isThere ? "" : "not ")given"
        case .flag(let reference, let flag, let isSet):
            let many = scheme.field(reference)?.many != nil
            let flag = SchemeWords.line(flag)
            if many { return "\(isSet ? "a code" : "no code") of \(field(reference)) is marked \(flag)" }
            return "\(field(reference)) is \(isSet ? "" : "not ")marked \(flag)"
        case .form(let reference, let form): return "\(field(reference)) has the form \(SchemeWords.quoted(form))"
        case .compare(let reference, let how, let operand):
            let other: String =
                switch operand {
                case .value(let value): text(value)
                case .field(let other): field(other)
                }
            return "\(field(reference)) is \(words(how, isTime: isTime(reference))) \(other)"
        case .some(let list, let inner): return "in at least one row of \(list), \(self.condition(inner, in: list))"
        case .every(let list, let inner): return "in every row of \(list), \(self.condition(inner, in: list))"
        case .signed(let name): return "the signature \(name) is there"
        case .all(let parts): return parts.map { part($0, in: rows) }.joined(separator: " and ")
        case .any(let parts): return parts.map { part($0, in: rows) }.joined(separator: " or ")
        case .not(let inner): return negation(of: inner, in: rows)
        }
    }

    private func words(_ how: Condition.Comparison, isTime: Bool) -> String {
        switch how {
        case .above: isTime ? "later than" : "more than"
        case .atLeast: isTime ? "not earlier than" : "at least"
        case .below: isTime ? "earlier than" : "less than"
        case .atMost: isTime ? "not later than" : "at most"
        }
    }

    /// A condition among others, in brackets where its own words would run into theirs.
    private func part(_ condition: Condition, in rows: Name?) -> String {
        let words = self.condition(condition, in: rows)
        return SchemeWords.isCompound(condition) ? "(\(words))" : words
    }

    private static func isCompound(_ condition: Condition) -> Bool {
        switch condition {
        case .all(let parts), .any(let parts): parts.count > 1
        case .some, .every: true
        case .not(.is), .not(.same), .not(.isIn), .not(.present), .not(.flag), .not(.form), .not(.signed): false
        case .not: true
        default: false
        }
    }

    private func negation(of condition: Condition, in rows: Name?) -> String {
        func field(_ reference: FieldReference) -> String { name(reference, in: rows) }
        switch condition {
        case .is(let reference, let value): return "\(field(reference)) is not \(text(value))"
        case .same(let reference, let other): return "\(field(reference)) is not the same as \(field(other))"
        case .isIn(let reference, let values):
            let values = values.map(text)
            return values.count == 1
                ? "\(field(reference)) is not \(values[0])"
                : "\(field(reference)) is none of \(SchemeWords.list(values))"
        case .present(let reference, let isThere): return "\(field(reference)) is \(isThere ? "not " : "")given"
        case .flag(let reference, let flag, let isSet): return self.condition(.flag(reference, flag, !isSet), in: rows)
        case .form(let reference, let form):
            return "\(field(reference)) does not have the form \(SchemeWords.quoted(form))"
        case .signed(let name): return "the signature \(name) is not there"
        case .some(let list, let inner): return "in no row of \(list), \(self.condition(inner, in: list))"
        case .every(let list, let inner):
            return "not in every row of \(list), \(self.condition(inner, in: list))"
        case .any(let parts) where parts.count > 1:
            return "none of these holds: " + parts.map { self.condition($0, in: rows) }.joined(separator: "; ")
        case .all(let parts) where parts.count > 1:
            return "not all of these hold: " + parts.map { self.condition($0, in: rows) }.joined(separator: "; ")
        case .all(let parts), .any(let parts): return parts.first.map { negation(of: $0, in: rows) } ?? ""
        case .not(let inner): return self.condition(inner, in: rows)
        case .compare: return "it is not so that \(self.condition(condition, in: rows))"
        }
    }

    // MARK: Rules, checks, deadlines

    /// What a rule asks for, without what it says.
    ///
    /// Such as: `When containment is container, containerType has to be given.`
    func sentence(of rule: Scheme.Rule) -> String {
        var words = start(rule.when, each: rule.each)
        switch rule.demand {
        case .require(let fields):
            words += "\(names(fields, in: rule.each)) \(fields.count == 1 ? "has" : "have") to be given"
        case .forbid(let fields): words += "\(names(fields, in: rule.each, "and")) must not be given"
        case .that(let that):
            words += "it has to be so that \(condition(that, in: rule.each))"
        }
        return words + "."
    }

    /// The beginning of a sentence about what has to be so: `When containment is container, `.
    ///
    /// Never empty, since the names of fields that follow cannot begin a sentence.
    private func start(_ when: Condition?, each: Name?) -> String {
        var words = each.map { "in each row of \($0)" } ?? ""
        if let when {
            words += words.isEmpty ? "when " : ", when "
            words += condition(when, in: each)
        }
        if words.isEmpty { return "Always, " }
        return SchemeWords.sentence(words) + (SchemeWords.endsInList(when) ? ": " : ", ")
    }

    /// Whether the words of a condition end in a list that a comma would go on with.
    private static func endsInList(_ condition: Condition?) -> Bool {
        switch condition {
        case .not(.any(let parts))?, .not(.all(let parts))?: parts.count > 1
        case .some?, .every?, .not(.some)?, .not(.every)?: true
        default: false
        }
    }

    private func names(_ fields: [FieldReference], in rows: Name?, _ last: String = "and") -> String {
        SchemeWords.list(fields.map { name($0, in: rows) }, last)
    }

    /// What a check compares.
    func sentence(of check: Scheme.Check) -> String {
        switch check.kind {
        case .difference(let declared, let received, let tolerance, let isEach):
            let sides =
                isEach
                ? "row by row, \(name(declared, in: nil)) and \(name(received, in: nil))"
                : "\(total(declared)) and \(total(received))"
            let allowed = words(tolerance, declared)
            let demand =
                allowed.map { "may differ by at most \($0)" } ?? "have to be the same"
            let when = check.when.map { "When \(condition($0, in: isEach ? declared.list : nil))" } ?? "Always"
            return "\(when): \(sides) \(demand)."
        case .sum(let whole, let parts, let each):
            return "\(start(check.when, each: each))\(names(parts, in: each)) together have to be exactly "
                + "\(name(whole, in: each))."
        }
    }

    private func total(_ reference: FieldReference) -> String {
        reference.list == nil ? reference.field.text : "the sum of \(name(reference, in: nil))"
    }

    /// The difference that a check lets pass; nil where it lets none.
    func words(_ tolerance: Scheme.Check.Tolerance, _ declared: FieldReference) -> String? {
        switch tolerance {
        case .percent(let percent): return SchemeWords.isZero(percent) ? nil : "\(percent) percent of what was declared"
        case .amount(let amount):
            guard !SchemeWords.isZero(amount) else { return nil }
            guard case .decimal(let units, _, _, _, _)? = scheme.field(declared)?.type, let unit = units.first else {
                return "\(amount)"
            }
            return "\(amount) \(unit)"
        }
    }

    private static func isZero(_ number: DecimalNumber) -> Bool {
        number.description.utf8.allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }
    }

    /// Who has to do what until when.
    func sentence(of deadline: Deadline) -> String {
        let when = deadline.when.map { "When \(condition($0)): from" } ?? "From"
        var words = "\(when) \(moment(deadline.from)) to \(moment(deadline.until)), at most "
        words += SchemeWords.period(deadline.within)
        switch deadline.within.unit {
        case .hours: break
        case .workingDays:
            words += " (\(deadline.calendar.map { "calendar \($0), " } ?? "")days end in \(zone(deadline)))"
        case .days, .months, .years: words += " (days end in \(zone(deadline)))"
        }
        let unless = SchemeWords.list(deadline.unless, "or")
        let ends = deadline.unless.isEmpty ? "" : ", unless the chain was closed as \(unless)"
        return "\(words)\(ends); the \(deadline.role) has to act."
    }

    private func zone(_ deadline: Deadline) -> String { SchemeWords.line(deadline.zone) }
}
