/// A part of a scheme's JSON that is being read, with its place: what it lacks goes into the log, and reading goes on.
struct SchemeNode {
    let json: JSON
    let file: String
    let path: String
    let log: SchemeLog

    /// Notes a mistake; what to do about it is only thought of where there is room for one more.
    func problem(
        _ code: SchemeProblem.Code,
        at member: String? = nil,
        _ message: String,
        _ remedy: @autoclosure () -> String
    ) {
        guard !log.isFull else { return }
        log.add(SchemeProblem(code, file: file, path: place(of: member), message, remedy: remedy()))
    }

    private func place(of member: String?) -> String {
        guard let member, !member.isEmpty else { return path }
        return path.isEmpty || member.hasPrefix("[") ? path + member : "\(path).\(member)"
    }

    /// The member of this name, if it is there.
    func member(_ name: String) -> SchemeNode? {
        json[name].map { SchemeNode(json: $0, file: file, path: place(of: name), log: log) }
    }

    /// The elements of the array that the node is.
    func elements() -> [SchemeNode] {
        guard let elements = json.elements else {
            problem(.memberInvalid, "expected an array", "write it in square brackets")
            return []
        }
        return elements.enumerated().map {
            SchemeNode(json: $0.element, file: file, path: "\(path)[\($0.offset)]", log: log)
        }
    }

    /// Whether the node is an object that has no other members than these.
    func isObject(of members: [String]) -> Bool {
        guard let own = json.members else {
            problem(.memberInvalid, "expected an object", "write it in curly brackets")
            return false
        }
        for member in own where !members.contains(where: { sameBytes($0, member.name) }) {
            problem(
                .memberUnknown,
                at: String(member.name.prefix(64)),
                "expected no member “\(member.name.prefix(64))” here",
                // What is there already was not meant.
                Spelling.remedy(for: member.name, among: members, meant: members.filter { json[$0] == nil })
            )
        }
        return true
    }

    func missing(_ member: String, _ expected: String) {
        problem(.memberMissing, at: member, "expected \(expected), got nothing", "add “\(member)”")
    }

    func invalid(_ member: String, _ expected: String, _ given: String? = nil) {
        let remedy = given ?? "write \(expected)"
        problem(.memberInvalid, at: member, "expected \(expected), got \(SchemeNode.excerpt(json[member]))", remedy)
    }

    static func excerpt(_ value: JSON?) -> String {
        switch value {
        case nil: "nothing"
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .number(let text): String(text.prefix(40))
        case .string(let text): "“\(text.prefix(40))”"
        case .array(let elements): "an array of \(elements.count)"
        case .object: "an object"
        }
    }

    // MARK: Members by their type

    /// A text that has to be there; empty where it is not, which is noted.
    func text(_ member: String) -> String {
        guard json[member] != nil else {
            missing(member, "a text")
            return ""
        }
        return optionalText(member) ?? ""
    }

    func optionalText(_ member: String) -> String? {
        guard let value = json[member] else { return nil }
        guard let text = value.text, !text.isEmpty, text.utf8.count <= EventContent.longestText else {
            invalid(member, "a text of 1 to \(EventContent.longestText) bytes")
            return nil
        }
        if text.unicodeScalars.contains(where: Scheme.isForbidden) {
            invalid(member, "a text without control characters and without marks that change the direction of writing")
        }
        return text
    }

    func integer(_ member: String, in range: ClosedRange<Int>, or value: Int? = nil) -> Int {
        guard let json = json[member] else {
            if value == nil { missing(member, "a whole number") }
            return value ?? range.lowerBound
        }
        guard let integer = json.integer, range.contains(integer) else {
            let remedy = json.text == nil ? nil : "write the number without quotes"
            invalid(member, "a whole number from \(range.lowerBound) to \(range.upperBound)", remedy)
            return value ?? range.lowerBound
        }
        return integer
    }

    func flag(_ member: String, or value: Bool = false) -> Bool {
        guard let json = json[member] else { return value }
        guard let flag = json.boolean else {
            invalid(member, "true or false", "write true or false, without quotes")
            return value
        }
        return flag
    }

    /// The node's own text as a name.
    func asName(_ what: String) -> Name? {
        guard let text = json.text, let name = SchemeNode.name(text) else {
            problem(
                .nameInvalid,
                "expected \(what), got \(SchemeNode.excerpt(json))",
                "begin with a letter, go on with ASCII letters, digits and hyphens, at most \(Name.longest) in all"
            )
            return nil
        }
        return name
    }

    static func name(_ text: String) -> Name? {
        guard let first = text.utf8.first, (0x41...0x5A).contains(first) || (0x61...0x7A).contains(first),
            !text.utf8.contains(UInt8(ascii: "_")), !text.utf8.contains(UInt8(ascii: "."))
        else { return nil }
        return Name(text)
    }

    /// The name under this member, which has to be there.
    func name(_ member: String, _ what: String = "a name") -> Name? {
        guard let node = self.member(member) else {
            missing(member, what)
            return nil
        }
        return node.asName(what)
    }

    /// The names in the array under this member; none where it is left out.
    func names(_ member: String, _ what: String = "a name") -> [Name] {
        guard let node = self.member(member) else { return [] }
        let names = node.elements().compactMap { $0.asName(what) }
        if Set(names).count < names.count {
            node.problem(.nameTaken, "expected each name once", "take away what stands twice")
        }
        return names
    }

    /// The names under this member: an array of them, or one alone.
    func nameOrNames(_ member: String, _ what: String) -> [Name] {
        guard let node = self.member(member) else {
            missing(member, what)
            return []
        }
        if node.json.text != nil { return node.asName(what).map { [$0] } ?? [] }
        let names = node.elements().compactMap { $0.asName(what) }
        if names.isEmpty { node.problem(.memberInvalid, "expected at least one name", "name \(what)") }
        return names
    }

    func decimal(_ member: String) -> DecimalNumber? {
        guard let value = json[member] else { return nil }
        guard let decimal = value.text.flatMap(DecimalNumber.init) else {
            invalid(
                member,
                "a decimal as a text, such as \"0.5\"",
                "put the number in quotes, so that it is never rounded"
            )
            return nil
        }
        return decimal
    }

    /// A day that has to be there.
    func day(_ member: String) -> String? {
        guard let value = json[member] else {
            missing(member, "a day such as 2026-11-30")
            return nil
        }
        guard let text = value.text, Scheme.isDay(text) else {
            invalid(member, "a day such as 2026-11-30")
            return nil
        }
        return text
    }

    /// The objects in the array under this member; none where it is left out.
    func objects(_ member: String, most: Int, isRequired: Bool = false) -> [SchemeNode] {
        guard let node = self.member(member) else {
            if isRequired { missing(member, "an array of objects") }
            return []
        }
        let nodes = node.elements()
        if nodes.count > most {
            node.problem(
                .tooMany,
                "expected at most \(most), got \(nodes.count)",
                "divide the scheme, or take some away"
            )
        }
        return Array(nodes.prefix(most))
    }

    /// The period whose units are members of the node: exactly one of them.
    func period(_ units: [Period.Unit]) -> Period? {
        let given = units.filter { json[$0.rawValue] != nil }
        guard let unit = given.first, given.count == 1 else {
            problem(
                .memberInvalid,
                "expected exactly one of \(units.map(\.rawValue).joined(separator: ", ")), "
                    + "got \(given.isEmpty ? "none" : given.map(\.rawValue).joined(separator: ", "))",
                "say how long, such as {\"days\": 2}"
            )
            return nil
        }
        return Period(count: integer(unit.rawValue, in: 0...10_000), unit: unit)
    }
}
