extension SchemeReader {
    func field(list: Name?, owner: Name, codeLists: [Name: Scheme.CodeList]) throws(SchemeError) -> Scheme.Field {
        var many: ClosedRange<Int>?
        if let value = json["many"] {
            let reader = SchemeReader(value, "\(path).many")
            let minimum = try reader.integer("minimum", or: 1)
            let maximum = try reader.integer("maximum")
            guard minimum >= 0, minimum <= maximum, maximum <= 500 else {
                throw fail("many", "a minimum and a maximum, at most 500")
            }
            many = minimum...maximum
        }
        return Scheme.Field(
            name: try name("field"),
            list: list,
            owner: owner,
            title: try text("title"),
            help: try optionalText("help"),
            type: try valueType(codeLists: codeLists),
            many: many
        )
    }

    private func valueType(codeLists: [Name: Scheme.CodeList]) throws(SchemeError) -> ValueType {
        let type = try text("type")
        switch type {
        case "text":
            return .text(minimum: try integer("minimumLength", or: 1), maximum: try integer("maximumLength"))
        case "integer":
            let greatest = 9_007_199_254_740_991
            return .integer(
                minimum: try integer("minimum", or: -greatest),
                maximum: try integer("maximum", or: greatest)
            )
        case "decimal":
            let units = try names("units").map(\.text)
            if let unknown = units.first(where: { MassUnit.milligrams[$0] == nil }) {
                throw fail("units", "units of mg, g, kg or t, got “\(unknown)”")
            }
            return .decimal(
                units: units,
                above: try decimal("above"),
                minimum: try decimal("minimum"),
                maximum: try decimal("maximum"),
                decimals: try integer("decimals", or: 9)
            )
        case "boolean": return .boolean(must: json["must"] == nil ? nil : try flag("must"))
        case "date": return .date
        case "datetime": return .datetime
        case "code":
            let list = try name("list")
            guard codeLists[list] != nil else { throw fail("list", "a code list of the scheme, got “\(list)”") }
            return .code(list: list)
        case "identifier":
            var patterns: [ValueType.NamedPattern] = []
            for reader in try objects("patterns") {
                do {
                    let pattern = try Pattern(try reader.text("pattern"))
                    patterns.append(ValueType.NamedPattern(name: try reader.text("name"), pattern: pattern))
                } catch let error as SchemeError {
                    throw error
                } catch {
                    throw reader.fail("pattern", "a pattern: \(error)")
                }
            }
            return .identifier(patterns: patterns, maximum: try integer("maximumLength", or: 200))
        default:
            throw fail(
                "type",
                "text, integer, decimal, boolean, date, datetime, code or identifier, got “\(type.prefix(40))”"
            )
        }
    }

    static func rule(_ reader: SchemeReader) throws(SchemeError) -> Scheme.Rule {
        let each = reader.json["each"] == nil ? nil : try reader.name("each")
        let demands = ["require", "forbid", "that"].filter { reader.json[$0] != nil }
        guard demands.count == 1 else { throw reader.fail("rule", "exactly one of require, forbid and that") }
        let demand: Scheme.Rule.Demand
        switch demands[0] {
        case "require": demand = .require(try reader.references("require", each: each))
        case "forbid": demand = .forbid(try reader.references("forbid", each: each))
        default: demand = .that(try reader.condition("that", each: each, depth: 0))
        }
        let severity = try reader.optionalText("severity") ?? "error"
        guard sameBytes(severity, "error") || sameBytes(severity, "warning") else {
            throw reader.fail("severity", "error or warning")
        }
        return Scheme.Rule(
            name: try reader.name("rule"),
            at: try reader.names("at"),
            each: each,
            when: reader.json["when"] == nil ? nil : try reader.condition("when", each: each, depth: 0),
            demand: demand,
            warns: sameBytes(severity, "warning"),
            says: try reader.text("says")
        )
    }

    private func references(_ member: String, each: Name?) throws(SchemeError) -> [FieldReference] {
        try names(member).map { FieldReference(list: each, field: $0) }
    }

    private func condition(_ member: String, each: Name?, depth: Int) throws(SchemeError) -> Condition {
        guard let value = json[member], value.members != nil else { throw fail(member, "a condition") }
        return try SchemeReader(value, "\(path).\(member)").condition(each: each, depth: depth)
    }

    private func condition(each: Name?, depth: Int) throws(SchemeError) -> Condition {
        guard depth < 16 else { throw fail("condition", "at most 16 levels of conditions") }
        for (member, combine) in [("all", Condition.all), ("any", Condition.any)] where json[member] != nil {
            return combine(
                try objects(member).map { (reader) throws(SchemeError) in
                    try reader.condition(each: each, depth: depth + 1)
                }
            )
        }
        if json["not"] != nil { return .not(try condition("not", each: each, depth: depth + 1)) }
        let reference = FieldReference(list: each, field: try name("field"))
        if let flag = json["flag"] {
            guard let text = flag.text else { throw fail("flag", "a flag's name") }
            return .flag(reference, text, try self.flag("is"))
        }
        if let value = json["is"] { return .is(reference, value) }
        if let value = json["isNot"] { return .not(.is(reference, value)) }
        if let values = json["in"]?.elements { return .isIn(reference, values) }
        if json["present"] != nil { return .present(reference, try flag("present")) }
        throw fail("condition", "one of is, isNot, in, present, flag, all, any and not")
    }
}
