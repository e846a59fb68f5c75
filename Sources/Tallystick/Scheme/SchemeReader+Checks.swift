extension SchemeReader {
    // MARK: Checks

    func isAmount(_ reference: FieldReference) -> Bool {
        guard let field = fieldsByName[Scheme.FieldKey(list: reference.list, field: reference.field)] else {
            return true  // Noted already.
        }
        switch field.type {
        case .decimal, .integer: return field.many == nil
        default: return false
        }
    }

    mutating func check(_ node: SchemeNode) -> Scheme.Check? {
        let isSum = node.json["whole"] != nil || node.json["parts"] != nil
        let members =
            isSum
            ? ["check", "at", "each", "whole", "parts", "when", "severity", "says"]
            : ["check", "at", "each", "declared", "received", "tolerancePercent", "tolerance", "when", "says"]
        guard node.isObject(of: members), let name = node.name("check") else { return nil }
        let at = stages("at", of: node, isRequired: true)
        let says = node.text("says")
        return isSum
            ? sum(node, name: name, at: at, says: says) : difference(node, name: name, at: at, says: says)
    }

    mutating func difference(_ node: SchemeNode, name: Name, at: [Name], says: String) -> Scheme.Check? {
        if node.json["declared"] == nil || node.json["received"] == nil {
            node.problem(
                .amountsMissing,
                "expected “declared” and “received”, or “whole” and “parts”",
                "name the two fields that are compared"
            )
            return nil
        }
        guard let declared = reference("declared", of: node), let received = reference("received", of: node) else {
            return nil
        }
        for (member, reference) in [("declared", declared), ("received", received)] where !isAmount(reference) {
            node.problem(
                .amountsMissing,
                at: member,
                "expected an amount, got “\(reference)”",
                "name a decimal or a whole number"
            )
        }
        if isAmount(declared), isAmount(received), hasUnits(declared) != hasUnits(received) {
            node.problem(
                .typeMismatch,
                at: "received",
                "expected both with units or both without",
                "compare fields of the same type"
            )
        }
        let isEach = node.flag("each")
        if isEach, declared.list == nil || received.list == nil {
            node.problem(
                .memberInvalid,
                at: "each",
                "expected two fields of lines",
                "write them as lines/*/field, or take “each” away"
            )
        }
        let when = node.member("when").flatMap {
            condition($0, each: isEach ? declared.list : nil, isInside: isEach, depth: 0)
        }
        let percent = node.decimal("tolerancePercent")
        let amount = node.decimal("tolerance")
        if let percent,
            percent.scaled < 0 || percent.scaled > 100 * DecimalNumber.power(9) || percent.fractionDigits > 3
        {
            node.invalid("tolerancePercent", "0 to 100 with at most three decimals, as a text")
        }
        if let amount, amount.scaled < 0 { node.invalid("tolerance", "0 or more, as a text") }
        let given = ["tolerancePercent", "tolerance"].filter { node.json[$0] != nil }
        guard given.count == 1 else {
            node.problem(
                .memberInvalid,
                "expected one of tolerancePercent and tolerance",
                "write \"tolerance\": \"0\" for no difference at all"
            )
            return nil
        }
        guard let tolerance = percent.map({ Scheme.Check.Tolerance.percent($0) }) ?? amount.map({ .amount($0) }) else {
            return nil
        }
        return Scheme.Check(
            name: name,
            at: at,
            when: when,
            kind: .difference(declared: declared, received: received, tolerance, isEach: isEach),
            warns: true,
            says: says
        )
    }

    func hasUnits(_ reference: FieldReference) -> Bool {
        let field = fieldsByName[Scheme.FieldKey(list: reference.list, field: reference.field)]
        guard case .decimal(let units, _, _, _, _)? = field?.type else { return false }
        return !units.isEmpty
    }

    mutating func sum(_ node: SchemeNode, name: Name, at: [Name], says: String) -> Scheme.Check? {
        let each = node.json["each"] == nil ? nil : node.name("each", "the name of lines")
        if let each, !isLines(each, node, at: "each") { return nil }
        guard let whole = node.member("whole").flatMap({ reference($0, each: each) }), let parts = node.member("parts")
        else {
            node.problem(.amountsMissing, "expected “whole” and “parts”", "name the field and those that add up to it")
            return nil
        }
        let references = parts.elements().compactMap { reference($0, each: each) }
        if parts.json.elements?.isEmpty == true { node.invalid("parts", "at least one field", "name the fields") }
        for reference in [whole] + references where !isAmount(reference) {
            node.problem(.amountsMissing, "expected an amount, got “\(reference)”", "name a decimal or a whole number")
        }
        let warns = severity(node)
        let when = node.member("when").flatMap { condition($0, each: each, isInside: each != nil, depth: 0) }
        let actors = Set(at.compactMap { actor(at: $0) })
        for reference in ([whole] + references + (when?.references ?? [])) where !warns {
            let owner = fieldsByName[Scheme.FieldKey(list: reference.list, field: reference.field)]?.owner
            if let owner, actors.contains(where: { $0 != owner }) {
                node.problem(
                    .fieldOfOtherRole,
                    "expected fields of the role that acts, got “\(reference)” of the \(owner)",
                    "let the check warn (\"severity\": \"warning\")"
                )
            }
        }
        return Scheme.Check(
            name: name,
            at: at,
            when: when,
            kind: .sum(whole: whole, parts: references, each: each),
            warns: warns,
            says: says
        )
    }
}
