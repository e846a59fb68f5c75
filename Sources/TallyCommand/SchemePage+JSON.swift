import CommandLineKit
import Tallystick
import TallystickCrypto

extension SchemePage {
    /// Which scheme it is.
    var summary: JSONOutput {
        .object([
            ("id", .string(scheme.reference.id.text)),
            ("version", .int(scheme.reference.version)),
            ("title", .string(scheme.title)),
            ("hash", .string(scheme.reference.hash.hex)),
        ])
    }

    /// All of it; the codes of these lists only, since some have many.
    func json(codesOf wanted: [Scheme.CodeList], mermaid: Bool) -> JSONOutput {
        let diagram = SchemeDiagram(scheme, width: 80)
        return .object([
            ("scheme", summary),
            ("source", .string(scheme.source)),
            ("diagram", .strings(diagram.lines)),
            ("mermaid", mermaid ? .string(diagram.mermaid) : .null),
            ("roles", .array(scheme.roles.map { role($0) })),
            ("handoffs", .array(scheme.handoffs.map { handoff($0) })),
            ("signatures", .array(scheme.signatures.map { signature($0) })),
            ("fields", .array(scheme.fields.map { field($0) })),
            ("lines", .array(scheme.lines.map { lines($0) })),
            ("rules", .array(scheme.rules.map { rule($0) })),
            ("checks", .array(scheme.checks.map { check($0) })),
            ("links", .array(scheme.links.map { link($0) })),
            (
                "cancelling",
                scheme.cancelling.map { .object([("roles", names($0.roles)), ("before", names($0.before))]) } ?? .null
            ),
            ("closing", .array(scheme.closings.map { closing($0) })),
            (
                "lateEntry",
                scheme.lateEntry.map {
                    .object([("roles", names($0.roles)), ("longest", $0.longest.map { period($0) } ?? .null)])
                } ?? .null
            ),
            ("deadlines", .array(scheme.deadlines.map { deadline($0) })),
            ("calendars", .array(scheme.calendars.map { calendar($0) })),
            ("codeLists", codeLists(codesOf: wanted)),
        ])
    }

    private func names(_ names: [Name]) -> JSONOutput { .strings(names.map(\.text)) }

    private func guards(_ guards: [Scheme.Guard]) -> JSONOutput {
        .array(guards.map { .object([("stage", .string($0.stage.text)), ("missingWarns", .bool($0.isOptional))]) })
    }

    private func period(_ period: Period) -> JSONOutput {
        .object([
            ("count", .int(period.count)), ("unit", .string(period.unit.rawValue)),
            ("words", .string(SchemeWords.period(period))),
        ])
    }

    private func moment(_ moment: ChainMoment) -> JSONOutput {
        let (kind, name): (String, String?) =
            switch moment {
            case .opened: ("opened", nil)
            case .closed: ("closed", nil)
            case .stage(let name): ("stage", name.text)
            case .field(let reference): ("field", reference.description)
            }
        return .object([
            ("kind", .string(kind)), ("name", .optional(name)), ("words", .string(words.moment(moment))),
        ])
    }

    private func condition(_ condition: Condition?, in rows: Name? = nil) -> JSONOutput {
        .optional(condition.map { words.condition($0, in: rows) })
    }

    // MARK: Roles and stages

    private func role(_ role: Scheme.Role) -> JSONOutput {
        .object([
            ("name", .string(role.name.text)), ("title", .string(role.title)), ("custody", .bool(role.hasCustody)),
            ("opens", .bool(role.opens)), ("repeats", .bool(role.repeats)), ("closes", .bool(role.closes)),
            ("admits", names(role.admits)),
            ("retention", role.retention.map { period($0.period) } ?? .null),
            ("retentionFrom", role.retention.map { moment($0.from) } ?? .null),
        ])
    }

    private func handoff(_ handoff: Scheme.HandoffRule) -> JSONOutput {
        .object([
            ("name", .string(handoff.name.text)), ("from", .string(handoff.from.text)),
            ("to", .string(handoff.to.text)), ("lasts", .int(handoff.lasts)), ("longest", .int(handoff.longest)),
            ("title", .string(handoff.title)), ("after", guards(handoff.after)),
            ("covers", names(covered(handoff.covers, of: handoff.from))), ("seals", .bool(handoff.seals)),
        ])
    }

    private func signature(_ signature: Scheme.SignatureRule) -> JSONOutput {
        .object([
            ("name", .string(signature.name.text)), ("role", .string(signature.role.text)),
            ("statement", .string(signature.statement)), ("title", .string(signature.title)),
            ("after", guards(signature.after)), ("before", names(signature.before)),
            ("notBefore", names(signature.notBefore)),
            ("covers", names(covered(signature.covers, of: signature.role))),
            ("delegable", .bool(signature.isDelegable)), ("paper", names(signature.paper)),
        ])
    }

    // MARK: Fields

    private func field(_ field: Scheme.Field) -> JSONOutput {
        .object(
            [
                ("path", .string(field.list.map { "\($0)/LINE/\(field.name)" } ?? field.name.text)),
                ("owner", .string(field.owner.text)),
            ] + facts(of: field) + [
                ("correct", field.correct.map { names($0) } ?? .null), ("sealed", .bool(field.isSealable)),
                ("external", .optional(field.external)), ("entries", entries(field.type)),
            ]
        )
    }

    private func entries(_ type: ValueType) -> JSONOutput {
        guard case .entries(let entries) = type else { return .array([]) }
        return .array(
            entries.map { entry in
                .object(
                    [("name", .string(entry.field.name.text)), ("required", .bool(entry.isRequired))]
                        + facts(of: entry.field)
                )
            }
        )
    }

    private func facts(of field: Scheme.Field) -> [(String, JSONOutput)] {
        let facts = TypeFacts(field.type)
        return [
            ("title", .string(field.title)), ("help", .optional(field.help)), ("type", .string(facts.name)),
            ("values", .string(words.values(of: field))),
            ("bounds", .object(facts.bounds.map { ($0.0, .string($0.1)) })), ("units", .strings(facts.units)),
            ("list", .optional(facts.list)),
            (
                "patterns",
                .array(
                    facts.patterns.map {
                        .object([("name", .string($0.name)), ("pattern", .string($0.pattern.text))])
                    }
                )
            ),
            (
                "many",
                field.many.map {
                    .object([("minimum", .int($0.lowerBound)), ("maximum", .int($0.upperBound))])
                } ?? .null
            ),
        ]
    }

    private func lines(_ group: Scheme.Lines) -> JSONOutput {
        .object([
            ("name", .string(group.name.text)), ("owner", .string(group.owner.text)), ("title", .string(group.title)),
            ("minimum", .int(group.minimum)), ("maximum", .int(group.maximum)),
        ])
    }

    // MARK: Rules and the rest

    private func rule(_ rule: Scheme.Rule) -> JSONOutput {
        let (kind, fields, that): (String, [FieldReference], Condition?) =
            switch rule.demand {
            case .require(let fields): ("require", fields, nil)
            case .forbid(let fields): ("forbid", fields, nil)
            case .that(let condition): ("that", [], condition)
            }
        return .object([
            ("name", .string(rule.name.text)), ("says", .string(rule.says)), ("at", names(rule.at)),
            ("each", .optional(rule.each?.text)), ("when", condition(rule.when, in: rule.each)),
            ("demand", .string(kind)), ("fields", .strings(fields.map(\.description))),
            ("that", condition(that, in: rule.each)), ("warns", .bool(rule.warns)),
            ("sentence", .string(words.sentence(of: rule))),
        ])
    }

    private func check(_ check: Scheme.Check) -> JSONOutput {
        var (declared, received, tolerance): (FieldReference?, FieldReference?, String?)
        var (whole, parts, each): (FieldReference?, [FieldReference], Name?) = (nil, [], nil)
        let kind: String
        switch check.kind {
        case .difference(let one, let other, let allowed, let isEach):
            kind = "difference"
            (declared, received) = (one, other)
            tolerance = words.words(allowed, one) ?? "none"
            if isEach { each = one.list }
        case .sum(let one, let others, let lines):
            kind = "sum"
            (whole, parts, each) = (one, others, lines)
        }
        return .object([
            ("name", .string(check.name.text)), ("says", .string(check.says)), ("at", names(check.at)),
            ("kind", .string(kind)), ("each", .optional(each?.text)), ("declared", .optional(declared?.description)),
            ("received", .optional(received?.description)), ("tolerance", .optional(tolerance)),
            ("whole", .optional(whole?.description)), ("parts", .strings(parts.map(\.description))),
            ("when", condition(check.when, in: each)), ("warns", .bool(check.warns)),
            ("sentence", .string(words.sentence(of: check))),
        ])
    }

    private func link(_ link: Scheme.LinkRule) -> JSONOutput {
        .object([
            ("name", .string(link.name.text)), ("kind", .string(link.kind.rawValue)),
            ("inverse", .string(link.kind.inverse.rawValue)), ("title", .string(link.title)),
            ("roles", names(link.roles)), ("after", guards(link.after)),
            ("conserves", .optional(link.conserves?.description)), ("due", .bool(link.isDue)),
            ("why", .bool(link.needsReason)),
        ])
    }

    private func closing(_ closing: Scheme.Closing) -> JSONOutput {
        .object([
            ("outcome", .string(closing.outcome.text)), ("title", .string(closing.title)),
            ("roles", names(closing.roles)), ("after", guards(closing.after)), ("why", .bool(closing.needsReason)),
            ("dutyTo", .optional(closing.dutyTo?.text)),
        ])
    }

    private func deadline(_ deadline: Deadline) -> JSONOutput {
        .object([
            ("name", .string(deadline.name.text)), ("title", .string(deadline.title)),
            ("role", .string(deadline.role.text)), ("from", moment(deadline.from)), ("until", moment(deadline.until)),
            ("within", period(deadline.within)), ("zone", .string(deadline.zone)),
            ("calendar", .optional(deadline.calendar?.text)), ("when", condition(deadline.when)),
            ("unless", .array(deadline.unless.map { .string($0.text) })),
            ("says", .string(deadline.says)), ("sentence", .string(words.sentence(of: deadline))),
        ])
    }

    private func calendar(_ calendar: Calendar) -> JSONOutput {
        .object([
            ("name", .string(calendar.name.text)), ("title", .string(calendar.title)),
            ("source", .string(calendar.source)),
            ("weekend", .array(calendar.weekend.sorted().map { .int($0) })),
            ("from", .string(calendar.from.description)), ("until", .string(calendar.until.description)),
            ("holidays", .strings(calendar.holidays.sorted().map(\.description))),
        ])
    }

    private func codeLists(codesOf wanted: [Scheme.CodeList]) -> JSONOutput {
        let sources = sources
        return .array(
            lists.map { list in
                let isWanted = wanted.contains { $0.name == list.name }
                return .object([
                    ("name", .string(list.name.text)), ("title", .string(list.title)),
                    ("source", .optional(sources[list.name])), ("count", .int(list.codes.count)),
                    (
                        "codes",
                        isWanted ? .object(SchemePage.inOrder(list).map { ($0.text, json(of: $0.code)) }) : .null
                    ),
                ])
            }
        )
    }

    private func json(of code: Scheme.CodeList.Code) -> JSONOutput {
        .object([
            ("title", .optional(code.title)), ("from", .optional(code.from)), ("until", .optional(code.until)),
            ("flags", .strings(code.flags.sorted())),
        ])
    }
}

/// What a type of values is made of, the same for all types.
private struct TypeFacts {
    let name: String
    var bounds: [(String, String)] = []
    var units: [String] = []
    var list: String?
    var patterns: [ValueType.NamedPattern] = []

    init(_ type: ValueType) {
        switch type {
        case .text(let minimum, let maximum):
            name = "text"
            bounds = [("minimumLength", "\(minimum)"), ("maximumLength", "\(maximum)")]
        case .integer(let minimum, let maximum):
            name = "integer"
            bounds = [("minimum", "\(minimum)"), ("maximum", "\(maximum)")]
        case .decimal(let units, let above, let minimum, let maximum, let decimals):
            name = "decimal"
            let given = [("above", above), ("minimum", minimum), ("maximum", maximum)]
            bounds = given.compactMap { name, bound in bound.map { (name, "\($0)") } } + [("decimals", "\(decimals)")]
            self.units = units
        case .boolean(let must):
            name = "boolean"
            bounds = must.map { [("must", "\($0)")] } ?? []
        case .date: name = "date"
        case .datetime: name = "datetime"
        case .code(let list):
            name = "code"
            self.list = list.text
        case .identifier(let patterns, let maximum):
            name = "identifier"
            bounds = [("maximumLength", "\(maximum)")]
            self.patterns = patterns
        case .entries: name = "entries"
        }
    }
}
