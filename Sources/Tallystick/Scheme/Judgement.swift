/// Judges a scheme's rules and checks at one stage, over the values of the leg that acts and what is known of others'.
struct Judgement {
    let scheme: Scheme
    /// The signature or handoff.
    let stage: Name
    /// The role that acts.
    let role: Name
    /// Whether a signature stands; of the acting role, on the leg that acts.
    let isSigned: (Name) -> Bool
    private var single: [Name: JSON] = [:]
    private var rows: [Name: [Name: [Name: JSON]]] = [:]

    /// Collects the values.
    ///
    /// - Parameters:
    ///   - values: The acting leg's, as the event has seen them.
    ///   - others: Gives another role's values, as far as they are known.
    init(
        scheme: Scheme,
        stage: Name,
        role: Name,
        values: [FieldPath: JSON],
        others: (Name) -> [FieldPath: JSON],
        isSigned: @escaping (Name) -> Bool
    ) {
        self.scheme = scheme
        self.stage = stage
        self.role = role
        self.isSigned = isSigned
        add(values)
        // Roles have no field in common, so the values of several can stand beside each other.
        for other in scheme.otherRoles(at: stage, than: role) { add(others(other)) }
    }

    /// Collects values of whatever roles, to judge a condition that belongs to no stage.
    init(values: [FieldPath: JSON], scheme: Scheme, isSigned: @escaping (Name) -> Bool) {
        self.scheme = scheme
        stage = scheme.reference.id
        role = scheme.reference.id
        self.isSigned = isSigned
        add(values)
    }

    private mutating func add(_ values: [FieldPath: JSON]) {
        for (path, value) in values {
            guard let field = path.field else { continue }
            if let line = path.line {
                rows[line.list, default: [:]][line.id, default: [:]][field] = value
            } else {
                single[field] = value
            }
        }
    }

    /// Every rule and check that is not met, errors and warnings apart.
    func reasons() -> (errors: [Reason], warnings: [Reason]) {
        var errors: [Reason] = []
        var warnings: [Reason] = []
        if let covers = scheme.signature(stage)?.covers {
            for group in scheme.lines
            where group.owner == role && group.minimum > 0 && covers.names.contains(group.name) {
                if rows[group.name, default: [:]].count < group.minimum {
                    let detail = "expected \(group.minimum) or more of “\(group.title)”"
                    errors.append(Reason(.missingField, group.name.text, detail))
                }
            }
        }
        for rule in scheme.rulesByStage[stage] ?? [] {
            let lines: [Name?] = rule.each.map { ids(of: $0) } ?? [nil]
            for line in lines {
                if let when = rule.when, !holds(when, on: line) { continue }
                let found = faults(of: rule, on: line)
                if rule.warns { warnings.append(contentsOf: found) } else { errors.append(contentsOf: found) }
            }
        }
        for check in scheme.checks where check.at.contains(stage) {
            let found = faults(of: check)
            if check.warns { warnings.append(contentsOf: found) } else { errors.append(contentsOf: found) }
        }
        return (errors, warnings)
    }

    /// Whether a condition holds, of a row where its fields are of one.
    func holds(_ condition: Condition, on line: Name? = nil) -> Bool {
        switch condition {
        case .is(let reference, let expected): value(of: reference, on: line) == expected
        case .same(let reference, let other):
            value(of: reference, on: line).map { $0 == value(of: other, on: line) } == true
        case .isIn(let reference, let expected): value(of: reference, on: line).map(expected.contains) == true
        case .present(let reference, let isPresent): (value(of: reference, on: line) != nil) == isPresent
        case .flag(let reference, let flag, let isSet):
            value(of: reference, on: line).map { hasFlag(flag, $0, reference) == isSet } == true
        case .form(let reference, let form): value(of: reference, on: line).map { has(form, $0, reference) } == true
        case .compare(let reference, let how, let operand): compares(reference, how, operand, on: line)
        case .some(let list, let condition): ids(of: list).contains { holds(condition, on: $0) }
        case .every(let list, let condition): ids(of: list).allSatisfy { holds(condition, on: $0) }
        case .signed(let name): isSigned(name)
        case .all(let conditions): conditions.allSatisfy { holds($0, on: line) }
        case .any(let conditions): conditions.contains { holds($0, on: line) }
        case .not(let condition): !holds(condition, on: line)
        }
    }

    // MARK: Values

    private func ids(of list: Name) -> [Name?] { rows[list, default: [:]].keys.sorted() }

    private func value(of reference: FieldReference, on line: Name?) -> JSON? {
        guard let list = reference.list else { return single[reference.field] }
        return line.flatMap { rows[list]?[$0]?[reference.field] }
    }

    private func path(of reference: FieldReference, on line: Name?) -> String {
        guard let list = reference.list, let line else { return reference.field.text }
        return "\(list)/\(line)/\(reference.field)"
    }

    private func faults(of rule: Scheme.Rule, on line: Name?) -> [Reason] {
        switch rule.demand {
        case .require(let references):
            references.filter { value(of: $0, on: line) == nil }
                .map { Reason(.missingField, path(of: $0, on: line), rule.says, rule: rule.name) }
        case .forbid(let references):
            references.filter { value(of: $0, on: line) != nil }
                .map { Reason(.forbiddenField, path(of: $0, on: line), rule.says, rule: rule.name) }
        case .that(let condition):
            holds(condition, on: line)
                ? []
                : [
                    Reason(
                        .ruleBroken,
                        condition.references.first.map { path(of: $0, on: line) },
                        rule.says,
                        rule: rule.name
                    )
                ]
        }
    }

    // MARK: Comparing

    private func hasFlag(_ flag: String, _ value: JSON, _ reference: FieldReference) -> Bool {
        guard case .code(let list)? = scheme.field(reference)?.type else { return false }
        let codes = value.elements ?? [value]
        return codes.contains { code in
            code.text.flatMap { scheme.codeLists[list]?.code($0) }?.flags.contains(flag) == true
        }
    }

    private func has(_ form: String, _ value: JSON, _ reference: FieldReference) -> Bool {
        guard case .identifier(let patterns, _)? = scheme.field(reference)?.type, let text = value.text else {
            return false
        }
        return patterns.contains { sameBytes($0.name, form) && $0.pattern.matches(text) }
    }

    private func compares(
        _ reference: FieldReference,
        _ how: Condition.Comparison,
        _ operand: Condition.Operand,
        on line: Name?
    ) -> Bool {
        let other: JSON? =
            switch operand {
            case .value(let value): value
            case .field(let field): value(of: field, on: line)
            }
        guard let kind = scheme.field(reference)?.type.order, let left = value(of: reference, on: line), let other,
            let order = Judgement.order(of: left, other, kind)
        else { return false }
        return how.holds(order)
    }

    private static func order(of left: JSON, _ right: JSON, _ kind: ValueType.OrderKind) -> Condition.Order? {
        switch kind {
        case .integer:
            guard let left = left.integer, let right = right.integer else { return nil }
            return Condition.Order(left, right)
        case .decimal:
            guard let left = left.text.flatMap(DecimalNumber.init), let right = right.text.flatMap(DecimalNumber.init)
            else { return nil }
            return Condition.Order(left, right)
        case .quantity:
            guard let left = Quantity(left), let right = Quantity(right), left.unit.kind == right.unit.kind else {
                return nil
            }
            return Condition.Order(left.scaled, right.scaled)
        case .date:
            guard let left = left.text.flatMap({ Day($0) }), let right = right.text.flatMap({ Day($0) }) else {
                return nil
            }
            return Condition.Order(left, right)
        case .datetime:
            guard let left = left.text.flatMap({ Timestamp($0) }), let right = right.text.flatMap({ Timestamp($0) })
            else { return nil }
            return Condition.Order(left.milliseconds, right.milliseconds)
        }
    }

    // MARK: Checks

    private func faults(of check: Scheme.Check) -> [Reason] {
        switch check.kind {
        case .difference(let declared, let received, let tolerance, let isEach):
            if isEach { return faultsByRow(of: check, declared, received, tolerance) }
            if let when = check.when, !holds(when) { return [] }
            let sums = (Total(all(declared)), Total(all(received)))
            guard let left = sums.0, let right = sums.1 else { return [] }
            return difference(check, left, right, tolerance, in: unit(of: declared), on: nil).map { [$0] } ?? []
        case .sum(let whole, let parts, let each):
            let lines: [Name?] = each.map { ids(of: $0) } ?? [nil]
            return lines.compactMap { line in
                if let when = check.when, !holds(when, on: line) { return nil }
                guard let total = value(of: whole, on: line).flatMap({ Total([$0]) }) else { return nil }
                let given = parts.compactMap { value(of: $0, on: line) }
                let sum = Total(given)
                if let sum, sum.kind == total.kind, sum.scaled == total.scaled { return nil }
                if given.isEmpty, total.scaled == 0 { return nil }
                return Reason(
                    .amountsDiffer,
                    check.name.text,
                    "\(path(of: whole, on: line)) is \(total.text), the parts are \(sum?.text ?? "nothing that adds up"). "
                        + check.says
                )
            }
        }
    }

    private func all(_ reference: FieldReference) -> [JSON] {
        guard let list = reference.list else { return single[reference.field].map { [$0] } ?? [] }
        return ids(of: list).compactMap { value(of: reference, on: $0) }
    }

    private func unit(of reference: FieldReference) -> Unit? {
        guard case .decimal(let units, _, _, _, _)? = scheme.field(reference)?.type else { return nil }
        return units.first.flatMap { Unit.of($0) }
    }

    private func faultsByRow(
        of check: Scheme.Check,
        _ declared: FieldReference,
        _ received: FieldReference,
        _ tolerance: Scheme.Check.Tolerance
    ) -> [Reason] {
        guard let declaredList = declared.list, let receivedList = received.list else { return [] }
        // Nothing was received yet, or nothing is known of what was declared: there is nothing to compare.
        guard !rows[declaredList, default: [:]].isEmpty, !rows[receivedList, default: [:]].isEmpty else { return [] }
        let lines = Set(ids(of: declaredList) + ids(of: receivedList)).compactMap { $0 }.sorted()
        return lines.compactMap { line in
            if let when = check.when, !holds(when, on: line) { return nil }
            let left = value(of: declared, on: line)
            let right = value(of: received, on: line)
            guard let first = left.flatMap({ Total([$0]) }), let second = right.flatMap({ Total([$0]) }) else {
                let isDeclared = rows[declaredList]?[line] != nil
                if left == nil && right == nil || isDeclared && rows[receivedList]?[line] != nil { return nil }
                let side = isDeclared ? "declared and was not received" : "received and was not declared"
                return Reason(.discrepancy, check.name.text, "row \(line) was \(side). \(check.says)")
            }
            return difference(check, first, second, tolerance, in: unit(of: declared), on: line)
        }
    }

    private func difference(
        _ check: Scheme.Check,
        _ declared: Total,
        _ received: Total,
        _ tolerance: Scheme.Check.Tolerance,
        in unit: Unit?,
        on line: Name?
    ) -> Reason? {
        let place = line.map { "row \($0): " } ?? ""
        let facts = "\(place)declared \(declared.text), received \(received.text)"
        guard declared.kind == received.kind else {
            return Reason(.discrepancy, check.name.text, "\(facts), which cannot be compared. \(check.says)")
        }
        switch tolerance {
        case .percent(let percent):
            let thousandths = UInt128((percent.scaled / DecimalNumber.power(6)).magnitude)
            guard declared.differs(from: received, byMoreThan: thousandths) else { return nil }
            return Reason(.discrepancy, check.name.text, "\(facts), tolerance \(percent) %. \(check.says)")
        case .amount(let amount):
            let comparable = unit?.kind == declared.kind ? unit : nil
            guard declared.differs(from: received, byMoreThan: amount, in: comparable) else { return nil }
            let symbol = comparable.map { " \($0.symbol)" } ?? ""
            return Reason(.discrepancy, check.name.text, "\(facts), tolerance \(amount)\(symbol). \(check.says)")
        }
    }
}

extension Scheme {
    /// The roles, other than the one that acts, whose values a stage's rules and checks look at.
    func otherRoles(at stage: Name, than role: Name) -> [Name] {
        (otherRolesByStage[stage] ?? []).filter { $0 != role }
    }

    /// The owners of the fields that the rules and checks of each stage look at.
    static func owners(
        of rules: [Rule],
        _ checks: [Check],
        _ fields: [FieldKey: Field]
    ) -> [Name: [Name]] {
        var owners: [Name: Set<Name>] = [:]
        func add(_ references: [FieldReference], at stages: [Name]) {
            for reference in references {
                guard let owner = fields[FieldKey(list: reference.list, field: reference.field)]?.owner else {
                    continue
                }
                for stage in stages { owners[stage, default: []].insert(owner) }
            }
        }
        for rule in rules { add(rule.references, at: rule.at) }
        for check in checks {
            let compared: [FieldReference] =
                switch check.kind {
                case .difference(let declared, let received, _, _): [declared, received]
                case .sum(let whole, let parts, _): [whole] + parts
                }
            add(compared + (check.when?.references ?? []), at: check.at)
        }
        return owners.mapValues { $0.sorted() }
    }
}
