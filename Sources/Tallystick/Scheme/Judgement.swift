/// Judges a scheme's rules over one leg's values.
struct Judgement {
    let scheme: Scheme
    let values: [FieldPath: JSON]

    /// Every rule that is not met at this signature, errors and warnings apart.
    func reasons(at signature: Name, of role: Name) -> (errors: [Reason], warnings: [Reason]) {
        var errors: [Reason] = []
        var warnings: [Reason] = []
        for group in scheme.lines where group.owner == role {
            let count = lineIDs(of: group.name).count
            if count < group.minimum {
                errors.append(
                    Reason(.missingField, group.name.text, "expected \(group.minimum) or more of “\(group.title)”")
                )
            }
        }
        for rule in scheme.rules where rule.at.contains(signature) {
            let lines: [Name?] = rule.each.map { lineIDs(of: $0) } ?? [nil]
            for line in lines {
                if let when = rule.when, !holds(when, on: line) { continue }
                let found = faults(of: rule, on: line)
                if rule.warns { warnings.append(contentsOf: found) } else { errors.append(contentsOf: found) }
            }
        }
        return (errors, warnings)
    }

    private func faults(of rule: Scheme.Rule, on line: Name?) -> [Reason] {
        switch rule.demand {
        case .require(let references):
            references.filter { value(of: $0, on: line) == nil }
                .map { Reason(.missingField, path(of: $0, on: line), rule.says) }
        case .forbid(let references):
            references.filter { value(of: $0, on: line) != nil }
                .map { Reason(.forbiddenField, path(of: $0, on: line), rule.says) }
        case .that(let condition):
            holds(condition, on: line)
                ? []
                : [Reason(.ruleBroken, condition.references.first.map { path(of: $0, on: line) }, rule.says)]
        }
    }

    private func lineIDs(of list: Name) -> [Name?] {
        Set(values.keys.compactMap { $0.line?.list == list ? $0.line?.id : nil }).sorted()
    }

    private func path(of reference: FieldReference, on line: Name?) -> String {
        guard let list = reference.list, let line else { return reference.field.text }
        return "\(list)/\(line)/\(reference.field)"
    }

    private func value(of reference: FieldReference, on line: Name?) -> JSON? {
        FieldPath(path(of: reference, on: line)).flatMap { values[$0] }
    }

    private func holds(_ condition: Condition, on line: Name?) -> Bool {
        switch condition {
        case .is(let reference, let expected): value(of: reference, on: line) == expected
        case .isIn(let reference, let expected): value(of: reference, on: line).map(expected.contains) == true
        case .present(let reference, let isPresent): (value(of: reference, on: line) != nil) == isPresent
        case .flag(let reference, let flag, let isSet):
            value(of: reference, on: line).map { hasFlag(flag, $0, reference) == isSet } == true
        case .all(let conditions): conditions.allSatisfy { holds($0, on: line) }
        case .any(let conditions): conditions.contains { holds($0, on: line) }
        case .not(let condition): !holds(condition, on: line)
        }
    }

    private func hasFlag(_ flag: String, _ value: JSON, _ reference: FieldReference) -> Bool {
        let key = Scheme.FieldKey(list: reference.list, field: reference.field)
        guard case .code(let list)? = scheme.fieldsByName[key]?.type else { return false }
        let codes = value.elements ?? [value]
        return codes.contains { code in
            code.text.flatMap { scheme.codeLists[list]?.code($0) }?.flags.contains(flag) == true
        }
    }
}

extension Scheme.Check {
    /// The difference between declared and received, if it is beyond the tolerance.
    ///
    /// Both are sums over all lines; nil where either is missing.
    func difference(declared: [JSON], received: [JSON]) -> Reason? {
        func sum(_ values: [JSON]) -> Int128? {
            let quantities = values.compactMap(Quantity.init)
            guard !quantities.isEmpty, quantities.count == values.count, quantities.count <= 1_000 else { return nil }
            return quantities.reduce(0) { $0 + $1.scaledMilligrams }
        }
        guard let declared = sum(declared), let received = sum(received) else { return nil }
        let difference = (received - declared).magnitude
        // Compared as difference × 100,000 > declared × tolerance in thousandths of a percent: nothing is divided.
        let tolerance = UInt128(tolerancePercent.scaled / DecimalNumber.power(6))
        guard difference * 100_000 > declared.magnitude * tolerance else { return nil }
        func kilograms(_ value: Int128) -> String { DecimalNumber.text(scaled: value / 1_000_000) }
        return Reason(
            .discrepancy,
            name.text,
            "declared \(kilograms(declared)) kg, received \(kilograms(received)) kg, "
                + "tolerance \(tolerancePercent) %. \(says)"
        )
    }
}
