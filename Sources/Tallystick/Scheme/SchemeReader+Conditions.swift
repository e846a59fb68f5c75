extension SchemeReader {
    // MARK: References

    /// The field under this member: `name`, or `lines/*/name`.
    func reference(_ member: String, of node: SchemeNode) -> FieldReference? {
        guard let child = node.member(member) else {
            node.missing(member, "a field")
            return nil
        }
        guard let reference = child.json.text.flatMap(FieldReference.init) else {
            node.invalid(member, "a field name or lines/*/field")
            return nil
        }
        return isKnown(reference, child) ? reference : nil
    }

    /// The field that the node's own text names, of a row where there is one: `name`, or `/name` for one outside.
    func reference(_ node: SchemeNode, each: Name?) -> FieldReference? {
        guard let text = node.json.text else {
            node.problem(.memberInvalid, "expected the name of a field", "write it in quotes")
            return nil
        }
        let isOutside = text.utf8.first == UInt8(ascii: "/")
        guard let name = SchemeNode.name(isOutside ? String(text.dropFirst()) : text) else {
            node.problem(.nameInvalid, "expected the name of a field, got “\(text.prefix(64))”", "correct the name")
            return nil
        }
        let reference = FieldReference(list: isOutside ? nil : each, field: name)
        return isKnown(reference, node) ? reference : nil
    }

    func isKnown(_ reference: FieldReference, _ node: SchemeNode) -> Bool {
        if fieldsByName[Scheme.FieldKey(list: reference.list, field: reference.field)] != nil { return true }
        let place = reference.list.map { "of the lines “\($0)”" } ?? "outside lines"
        node.problem(
            .unknownField,
            "expected a field \(place), got “\(reference.field)”",
            Spelling.remedy(
                for: reference.field.text,
                among: fields.filter { $0.list == reference.list }.map(\.name.text)
            )
        )
        return false
    }

    // MARK: Conditions

    static let operators = [
        "is", "isNot", "in", "present", "flag", "form", "above", "atLeast", "below", "atMost",
    ]

    /// Reads a condition.
    ///
    /// - Parameters:
    ///   - each: The lines whose rows its fields are of.
    ///   - isInside: Whether it already stands inside rows, where there are no others to go through.
    mutating func condition(_ node: SchemeNode, each: Name?, isInside: Bool, depth: Int) -> Condition? {
        conditionsLeft -= 1
        guard conditionsLeft >= 0 else {
            if conditionsLeft == -1 {
                node.problem(.tooMany, "expected at most 5,000 conditions in a scheme", "divide the scheme")
            }
            return nil
        }
        guard depth < 16 else {
            node.problem(.tooDeep, "expected at most 16 conditions inside each other", "put them beside each other")
            return nil
        }
        guard let members = node.json.members else {
            node.problem(.memberInvalid, "expected a condition, got \(SchemeNode.excerpt(node.json))", "write {…}")
            return nil
        }
        for (member, combine) in [("all", Condition.all), ("any", Condition.any)] where node.json[member] != nil {
            guard node.isObject(of: [member]) else { return nil }
            let parts = node.objects(member, most: 500)
            if parts.isEmpty { node.invalid(member, "at least one condition") }
            var conditions: [Condition] = []
            for part in parts {
                if let condition = condition(part, each: each, isInside: isInside, depth: depth + 1) {
                    conditions.append(condition)
                }
            }
            return conditions.count == parts.count ? combine(conditions) : nil
        }
        if let inner = node.member("not") {
            guard node.isObject(of: ["not"]) else { return nil }
            return condition(inner, each: each, isInside: isInside, depth: depth + 1).map { .not($0) }
        }
        for (member, make) in [("some", Condition.some), ("every", Condition.every)] where node.json[member] != nil {
            guard node.isObject(of: [member, "where"]), let list = node.name(member, "lines"),
                isLines(list, node, at: member)
            else { return nil }
            guard !isInside else {
                node.problem(
                    .tooDeep,
                    at: member,
                    "expected no rows inside rows",
                    "judge the other lines in a rule of their own"
                )
                return nil
            }
            guard let inner = node.member("where") else {
                node.missing("where", "a condition")
                return nil
            }
            return condition(inner, each: list, isInside: true, depth: depth + 1).map { make(list, $0) }
        }
        if node.json["signed"] != nil {
            guard node.isObject(of: ["signed"]), let name = node.name("signed", "a signature") else { return nil }
            guard signatureRoles[name] != nil else {
                node.problem(
                    .unknownStage,
                    at: "signed",
                    "expected a signature, got “\(name)”",
                    Spelling.remedy(for: name.text, among: signatureRoles.keys.sorted().map(\.text))
                )
                return nil
            }
            return .signed(name)
        }
        let given = SchemeReader.operators.filter { node.json[$0] != nil }
        guard node.json["field"] != nil, !given.isEmpty else {
            let names = members.prefix(8).map { "“\($0.name.prefix(40))”" }.joined(separator: ", ")
            node.problem(
                .memberInvalid,
                "expected a condition, got \(members.isEmpty ? "an object without members" : "the members \(names)")",
                "write {\"field\": …} with one of \(SchemeReader.operators.joined(separator: ", ")); "
                    + "or some, every, signed, all, any or not"
            )
            return nil
        }
        return comparison(node, each: each)
    }

    func comparison(_ node: SchemeNode, each: Name?) -> Condition? {
        guard let reference = node.member("field").flatMap({ reference($0, each: each) }),
            let field = fieldsByName[Scheme.FieldKey(list: reference.list, field: reference.field)]
        else { return nil }
        let hasFlag = node.json["flag"] != nil
        let given = SchemeReader.operators.filter { node.json[$0] != nil && !(hasFlag && $0 == "is") }
        guard given.count == 1, node.isObject(of: ["field"] + given + (hasFlag ? ["is"] : [])) else {
            node.problem(
                .memberInvalid,
                "expected one comparison, got \(given.joined(separator: ", "))",
                "write a condition for each, in {\"all\": […]}"
            )
            return nil
        }
        switch given[0] {
        case "flag": return flag(node, reference, field)
        case "form":
            let form = node.text("form")
            guard case .identifier(let patterns, _) = field.type, field.many == nil else {
                node.problem(
                    .typeMismatch,
                    at: "field",
                    "expected an identifier, got “\(reference)”",
                    "name another field"
                )
                return nil
            }
            if !patterns.contains(where: { sameBytes($0.name, form) }) {
                node.problem(
                    .unknownCode,
                    at: "form",
                    "expected the name of a pattern of “\(reference)”, got “\(form)”",
                    Spelling.remedy(for: form, among: patterns.map(\.name))
                )
            }
            return .form(reference, form)
        case "present": return .present(reference, node.flag("present"))
        case "in":
            let values = node.json["in"]?.elements ?? []
            if values.isEmpty { node.invalid("in", "an array of values") }
            for value in values { check(value, of: field, reference, node, at: "in") }
            return .isIn(reference, values)
        case "is", "isNot":
            guard let value = node.json[given[0]] else { return nil }
            if let child = node.member(given[0]), child.json["field"] != nil, child.isObject(of: ["field"]) {
                guard let other = child.member("field").flatMap({ self.reference($0, each: each) }) else { return nil }
                return given[0] == "is" ? .same(reference, other) : .not(.same(reference, other))
            }
            check(value, of: field, reference, node, at: given[0])
            return given[0] == "is" ? .is(reference, value) : .not(.is(reference, value))
        default:
            guard let how = Condition.Comparison(rawValue: given[0]) else { return nil }
            return order(node, reference, field, how, each: each)
        }
    }

    func flag(_ node: SchemeNode, _ reference: FieldReference, _ field: Scheme.Field) -> Condition? {
        let flag = node.text("flag")
        guard case .code(let list) = field.type else {
            node.problem(
                .typeMismatch,
                at: "field",
                "expected a field of codes, got “\(reference)”",
                "name another field"
            )
            return nil
        }
        if let codes = codeLists[list]?.codes, !codes.values.contains(where: { $0.flags.contains(flag) }) {
            node.problem(
                .unknownCode,
                at: "flag",
                "expected a flag that a code of “\(list)” has, got “\(flag)”",
                Spelling.remedy(
                    for: flag,
                    among: Set(codes.values.flatMap(\.flags)).sorted(),
                    else: "no code has one: set it in codes/\(list).json"
                )
            )
        }
        return .flag(reference, flag, node.flag("is", or: true))
    }

    /// Whether a value is one the field can have, bounds apart; several values are compared as a whole.
    func check(
        _ value: JSON,
        of field: Scheme.Field,
        _ reference: FieldReference,
        _ node: SchemeNode,
        at member: String
    ) {
        func fits(_ value: JSON) -> Bool {
            switch field.type {
            case .text, .identifier: value.text != nil
            case .integer: value.integer != nil
            case .boolean: value.boolean != nil
            case .date: value.text.map(Scheme.isDay) ?? false
            case .datetime: value.text.map { Timestamp($0) != nil } ?? false
            case .decimal(let units, _, _, _, _):
                units.isEmpty ? value.text.flatMap(DecimalNumber.init) != nil : Quantity(value) != nil
            case .code(let list): value.text.map { codeLists[list]?.code($0) != nil || codeLists[list] == nil } ?? false
            case .entries: value.members != nil
            }
        }
        let values = field.many == nil ? [value] : value.elements ?? []
        guard !values.isEmpty, values.allSatisfy(fits) else {
            let expected = SchemeReader.example(of: field.type)
            func remedy() -> String {
                if field.many != nil, value.elements == nil {
                    return "write the whole list in square brackets, or ask for a flag"
                }
                guard case .code(let list) = field.type, let codes = codeLists[list]?.codes else {
                    return "write \(expected)"
                }
                return Spelling.remedy(
                    for: (values.first { !fits($0) } ?? value).text ?? "",
                    among: codes.keys.sorted()
                )
            }
            node.problem(
                .typeMismatch,
                at: member,
                "expected \(field.many == nil ? expected : "an array with \(expected)"), as “\(reference)” takes it, "
                    + "got \(SchemeNode.excerpt(value))",
                remedy()
            )
            return
        }
    }

    /// How a value of a type is written.
    static func example(of type: ValueType) -> String {
        switch type {
        case .text, .identifier: "a text"
        case .integer: "a whole number without quotes"
        case .boolean: "true or false"
        case .date: "a day such as \"2026-11-30\""
        case .datetime: "a moment such as \"2026-11-30T09:00:00.000Z\""
        case .decimal(let units, _, _, _, _):
            units.first.map { "an amount such as {\"amount\": \"12.5\", \"unit\": \"\($0)\"}" }
                ?? "a decimal as a text, such as \"12.5\""
        case .code(let list): "a code of the list “\(list)”"
        case .entries: "an entry as an object"
        }
    }

    func order(
        _ node: SchemeNode,
        _ reference: FieldReference,
        _ field: Scheme.Field,
        _ how: Condition.Comparison,
        each: Name?
    ) -> Condition? {
        guard field.many == nil, let kind = field.type.order else {
            node.problem(
                .typeMismatch,
                at: "field",
                "expected a field with a number, an amount, a day or a time, got “\(reference)”",
                "name another field, or compare with is, isNot or in"
            )
            return nil
        }
        guard let value = node.json[how.rawValue] else { return nil }
        if value["field"] != nil, let child = node.member(how.rawValue), child.isObject(of: ["field"]) {
            guard let other = child.member("field").flatMap({ self.reference($0, each: each) }),
                let otherField = fieldsByName[Scheme.FieldKey(list: other.list, field: other.field)]
            else { return nil }
            if otherField.many != nil || otherField.type.order != kind {
                node.problem(
                    .typeMismatch,
                    at: how.rawValue,
                    "expected a field that compares with “\(reference)”, got “\(other)”",
                    "name a field of the same type"
                )
            }
            return .compare(reference, how, .field(other))
        }
        check(value, of: field, reference, node, at: how.rawValue)
        return .compare(reference, how, .value(value))
    }
}

extension ValueType {
    /// What kind of order the values have; only those of one kind compare.
    enum OrderKind: Equatable {
        case integer, decimal, quantity, date, datetime
    }

    var order: OrderKind? {
        switch self {
        case .integer: .integer
        case .decimal(let units, _, _, _, _): units.isEmpty ? .decimal : .quantity
        case .date: .date
        case .datetime: .datetime
        case .text, .boolean, .code, .identifier, .entries: nil
        }
    }
}
