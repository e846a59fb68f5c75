extension SchemeReader {
    // MARK: Fields and lines

    mutating func readFields() {
        for node in root.objects("fields", most: 1_000, isRequired: true) {
            if let field = field(node, list: nil, owner: nil, isEntry: false) { add(field, node) }
        }
        for node in root.objects("lines", most: 50) {
            let members = ["lines", "owner", "title", "minimum", "maximum", "fields"]
            guard node.isObject(of: members), let name = node.name("lines"), let owner = node.name("owner") else {
                continue
            }
            isRole(owner, node, at: "owner")
            let maximum = node.integer("maximum", in: 1...500)
            let minimum = node.integer("minimum", in: 0...500, or: 0)
            if minimum > maximum, node.json["maximum"] != nil {
                node.invalid("minimum", "at most “maximum”, \(maximum)")
            }
            if fieldsByName[Scheme.FieldKey(list: nil, field: name)] != nil {
                node.problem(
                    .nameTaken,
                    at: "lines",
                    "expected a name that no field has, got “\(name)”",
                    "rename one of the two"
                )
            }
            let title = node.text("title")
            lines.append(Scheme.Lines(name: name, owner: owner, title: title, minimum: minimum, maximum: maximum))
            for inner in node.objects("fields", most: 200, isRequired: true) {
                if let field = field(inner, list: name, owner: owner, isEntry: false) { add(field, inner) }
            }
        }
    }

    private mutating func add(_ field: Scheme.Field, _ node: SchemeNode) {
        let key = Scheme.FieldKey(list: field.list, field: field.name)
        if let other = fieldsByName[key] {
            node.problem(
                .nameTaken,
                at: "field",
                other.owner == field.owner
                    ? "expected “\(field.name)” once, got it twice"
                    : "expected one owner of “\(field.name)”, got \(other.owner) and \(field.owner)",
                other.owner == field.owner ? "take one away" : "give each role a field of its own, with its own name"
            )
            return
        }
        fieldsByName[key] = field
        fields.append(field)
    }

    private mutating func field(_ node: SchemeNode, list: Name?, owner: Name?, isEntry: Bool) -> Scheme.Field? {
        let type = node.json["type"]?.text ?? ""
        var members = ["field", "title", "help", "type", "many"] + (SchemeReader.typeMembers[type] ?? [])
        if isEntry { members.append("required") } else { members += ["correct", "sealed", "external"] }
        if owner == nil { members.append("owner") }
        guard node.isObject(of: members), let name = node.name("field") else { return nil }
        let own = owner ?? node.name("owner", "the role that gives it")
        if owner == nil, let own { isRole(own, node, at: "owner") }
        guard let own, let valueType = valueType(node, isEntry: isEntry) else { return nil }
        var many: ClosedRange<Int>?
        if let child = node.member("many"), child.isObject(of: ["minimum", "maximum"]) {
            let minimum = child.integer("minimum", in: 0...500, or: 1)
            let maximum = child.integer("maximum", in: 1...500)
            if minimum > maximum, child.json["maximum"] != nil {
                child.invalid("minimum", "at most “maximum”, \(maximum)")
            }
            many = min(minimum, maximum)...maximum
        }
        if case .entries = valueType, many == nil { node.missing("many", "how many entries there can be") }
        let isSealable = node.flag("sealed", or: true)
        if !isSealable, list != nil {
            node.problem(
                .memberInvalid,
                at: "sealed",
                "expected lines to be sealed as a whole",
                "move the field out of the lines, or take “sealed” away"
            )
        }
        return Scheme.Field(
            name: name,
            list: list,
            owner: own,
            title: node.text("title"),
            help: node.optionalText("help"),
            type: valueType,
            many: many,
            correct: node.json["correct"] == nil ? nil : rolesNamed("correct", of: node),
            isSealable: isSealable,
            external: node.optionalText("external")
        )
    }

    static let typeMembers: [String: [String]] = [
        "text": ["minimumLength", "maximumLength"], "integer": ["minimum", "maximum"],
        "decimal": ["units", "above", "minimum", "maximum", "decimals"], "boolean": ["must"], "date": [],
        "datetime": [], "code": ["list"], "identifier": ["patterns", "maximumLength"], "entries": ["fields"],
    ]

    private mutating func valueType(_ node: SchemeNode, isEntry: Bool) -> ValueType? {
        switch node.text("type") {
        case "text":
            let maximum = node.integer("maximumLength", in: 1...20_000)
            let minimum = node.integer("minimumLength", in: 0...20_000, or: 1)
            if minimum > maximum, node.json["maximumLength"] != nil {
                node.invalid("minimumLength", "at most “maximumLength”, \(maximum)")
            }
            return .text(minimum: min(minimum, maximum), maximum: maximum)
        case "integer":
            let greatest = 9_007_199_254_740_991
            let minimum = node.integer("minimum", in: -greatest...greatest, or: -greatest)
            let maximum = node.integer("maximum", in: -greatest...greatest, or: greatest)
            if minimum > maximum { node.invalid("minimum", "at most “maximum”, \(maximum)") }
            return .integer(minimum: min(minimum, maximum), maximum: maximum)
        case "decimal": return decimal(node)
        case "boolean": return .boolean(must: node.json["must"] == nil ? nil : node.flag("must"))
        case "date": return .date
        case "datetime": return .datetime
        case "code":
            guard let list = node.name("list", "the name of a code list") else { return nil }
            usedLists.insert(list)
            // Where only its name in “codeLists” is missing, the file says so, once.
            if !declaredLists.contains(list), codeLists[list] == nil {
                node.problem(
                    .codeListMissing,
                    at: "list",
                    "expected a code list of the scheme, got “\(list)”",
                    "add it to “codeLists” and write codes/\(list).json"
                )
            }
            return .code(list: list)
        case "identifier": return identifier(node)
        case "entries" where !isEntry:
            var fields: [ValueType.EntryField] = []
            for inner in node.objects("fields", most: 50, isRequired: true) {
                guard let owner = SchemeNode.name("entry"),
                    let field = field(inner, list: nil, owner: owner, isEntry: true)
                else { continue }
                if fields.contains(where: { $0.field.name == field.name }) {
                    inner.problem(
                        .nameTaken,
                        at: "field",
                        "expected “\(field.name)” once, got it twice",
                        "take one away"
                    )
                }
                fields.append(ValueType.EntryField(field: field, isRequired: inner.flag("required")))
            }
            return .entries(fields)
        case "": return nil
        case let other:
            let types = SchemeReader.typeMembers.keys.filter { !isEntry || $0 != "entries" }.sorted()
            node.problem(
                .memberInvalid,
                at: "type",
                "expected a type of values, got “\(other.prefix(40))”",
                Spelling.remedy(for: other, among: types)
            )
            return nil
        }
    }

    private func decimal(_ node: SchemeNode) -> ValueType {
        var units: [String] = []
        if let child = node.member("units") {
            for element in child.elements() {
                guard let text = element.json.text, Unit.of(text) != nil else {
                    element.problem(
                        .memberInvalid,
                        "expected a unit, got \(SchemeNode.excerpt(element.json))",
                        Spelling.remedy(for: element.json.text ?? "", among: Unit.all.map(\.symbol))
                    )
                    continue
                }
                units.append(text)
            }
            if units.isEmpty {
                child.problem(.memberInvalid, "expected at least one unit", "name one, or take “units” away")
            }
        }
        let (above, minimum, maximum) = (node.decimal("above"), node.decimal("minimum"), node.decimal("maximum"))
        let kinds = Set(units.compactMap { Unit.of($0)?.kind })
        if kinds.count > 1, maximum != nil || (minimum?.scaled ?? 0) != 0 || (above?.scaled ?? 0) != 0 {
            node.problem(
                .typeMismatch,
                at: "units",
                "expected units of one kind where there are bounds other than zero",
                "take the bounds away, or make two fields"
            )
        }
        return .decimal(
            units: units,
            above: above,
            minimum: minimum,
            maximum: maximum,
            decimals: node.integer("decimals", in: 0...9, or: 9)
        )
    }

    private mutating func identifier(_ node: SchemeNode) -> ValueType {
        var patterns: [ValueType.NamedPattern] = []
        let nodes = node.objects("patterns", most: 50, isRequired: true)
        if nodes.isEmpty, node.json["patterns"] != nil { node.invalid("patterns", "at least one pattern") }
        var states = 0
        for child in nodes where child.isObject(of: ["name", "pattern"]) {
            let name = child.text("name")
            if patterns.contains(where: { sameBytes($0.name, name) }) {
                child.problem(
                    .nameTaken,
                    at: "name",
                    "expected “\(name)” once, got it twice",
                    "name the two differently"
                )
            }
            let text = child.text("pattern")
            guard !text.isEmpty else { continue }
            do {
                let pattern = try Pattern(text)
                states += pattern.stateCount
                patterns.append(ValueType.NamedPattern(name: name, pattern: pattern))
            } catch {
                child.problem(
                    .patternInvalid,
                    at: "pattern",
                    "\(error.message), at byte \(error.position)",
                    """
                    write sets such as [0-9] for \\d, and \\ before punctuation that stands for itself; \
                    docs/schemes.md has the whole language
                    """
                )
            }
        }
        statesLeft -= states
        if states > Pattern.mostStates || statesLeft < 0 {
            node.problem(
                .tooMany,
                at: "patterns",
                "expected patterns of at most \(Pattern.mostStates) states together, and 100,000 in the whole scheme",
                "shorten the repetitions"
            )
        }
        return .identifier(patterns: patterns, maximum: node.integer("maximumLength", in: 1...1_000, or: 200))
    }
}
