extension SchemeReader {
    // MARK: Rules

    mutating func rule(_ node: SchemeNode) -> Scheme.Rule? {
        let members = ["rule", "at", "each", "when", "require", "forbid", "that", "severity", "says"]
        guard node.isObject(of: members), let name = node.name("rule") else { return nil }
        let at = stages("at", of: node, isRequired: true)
        let each = node.json["each"] == nil ? nil : node.name("each", "the name of lines")
        if let each, !isLines(each, node, at: "each") { return nil }
        let warns = severity(node)
        let when = node.member("when").flatMap { condition($0, each: each, isInside: each != nil, depth: 0) }
        let demands = ["require", "forbid", "that"].filter { node.json[$0] != nil }
        let says = node.text("says")
        guard demands.count == 1 else {
            node.problem(
                .memberInvalid,
                "expected exactly one of require, forbid and that, "
                    + "got \(demands.isEmpty ? "none" : demands.joined(separator: ", "))",
                demands.isEmpty ? "say what has to be so" : "write a rule for each"
            )
            return nil
        }
        let demand: Scheme.Rule.Demand
        if let that = node.member("that") {
            guard let condition = condition(that, each: each, isInside: each != nil, depth: 0) else { return nil }
            demand = .that(condition)
        } else {
            let references = node.member(demands[0])?.elements().compactMap { reference($0, each: each) } ?? []
            if node.json[demands[0]]?.elements?.isEmpty == true {
                node.invalid(demands[0], "at least one field", "name the fields")
            }
            guard !references.isEmpty else { return nil }
            demand = demands[0] == "require" ? .require(references) : .forbid(references)
        }
        let rule = Scheme.Rule(
            name: name,
            at: at,
            each: each,
            when: when,
            demand: demand,
            warns: warns,
            says: says
        )
        checkOwners(of: rule, node)
        return rule
    }

    func severity(_ node: SchemeNode, or value: Bool = false) -> Bool {
        guard let text = node.optionalText("severity") else { return value }
        guard sameBytes(text, "error") || sameBytes(text, "warning") else {
            node.invalid("severity", "“error” or “warning”")
            return value
        }
        return sameBytes(text, "warning")
    }

    func isLines(_ name: Name, _ node: SchemeNode, at member: String) -> Bool {
        if lines.contains(where: { $0.name == name }) { return true }
        node.problem(
            .unknownLines,
            at: member,
            "expected lines, got “\(name)”",
            Spelling.remedy(for: name.text, among: lines.map(\.name.text), else: "the scheme has none")
        )
        return false
    }

    /// Who took the load by compact code knows no values but its own: a refusal over others' values could be met on
    /// the device and not at the server.
    func checkOwners(of rule: Scheme.Rule, _ node: SchemeNode) {
        guard !rule.warns else { return }
        let actors = Set(rule.at.compactMap { actor(at: $0) })
        if actors.count > 1 {
            let names = actors.sorted().map(\.text).joined(separator: ", ")
            node.problem(
                .memberInvalid,
                at: "at",
                "expected stages of one role, got those of \(names)",
                "write a rule for each role, or let it warn"
            )
            return
        }
        guard let actor = actors.first else { return }
        var owners: [(name: String, role: Name)] = rule.references.compactMap { reference in
            fieldsByName[Scheme.FieldKey(list: reference.list, field: reference.field)].map {
                (reference.description, $0.owner)
            }
        }
        if let each = rule.each, let group = lines.first(where: { $0.name == each }) {
            owners.append((each.text, group.owner))
        }
        owners += rule.signatures.compactMap { name in signatureRoles[name].map { (name.text, $0) } }
        for owner in owners where owner.role != actor {
            node.problem(
                .fieldOfOtherRole,
                "expected what the \(actor) says itself, got “\(owner.name)” of the \(owner.role)",
                "let the rule warn (\"severity\": \"warning\"), or give the \(actor) a field of its own"
            )
        }
    }
}
