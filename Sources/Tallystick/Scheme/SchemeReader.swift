import TallystickCrypto

extension Scheme {
    /// Reads a scheme from its text and its code lists' texts.
    ///
    /// Everything it names must exist. Throws at the first fault, with its place.
    public init(scheme: [UInt8], codeLists: [(name: String, text: [UInt8])]) throws(SchemeError) {
        var lists: [JSONMember] = []
        for list in codeLists {
            lists.append(JSONMember(list.name, try SchemeReader.json(list.text, at: "codes/\(list.name)")))
        }
        let bundle = JSON.object([
            JSONMember("codes", .object(lists)), JSONMember("scheme", try SchemeReader.json(scheme, at: "scheme")),
        ])
        let bytes: [UInt8]
        do {
            bytes = try bundle.canonicalBytes()
        } catch {
            throw SchemeError(path: "scheme", message: error.description)
        }
        // Read back, so that what loads here is also read wherever its bytes are sent.
        try self.init(bytes: bytes)
    }

    /// Reads a scheme from the bytes its hash is taken of: `{"codes":{…},"scheme":{…}}` in canonical JSON.
    public init(bytes: [UInt8]) throws(SchemeError) {
        let json: JSON
        do {
            // A record carries the bundle one level deeper.
            json = try JSON.parseCanonical(bytes[...], depth: JSON.greatestDepth - 1)
        } catch {
            throw SchemeError(path: "bundle", message: error.description)
        }
        try self.init(bundle: json, bytes: bytes)
    }

    private init(bundle: JSON, bytes: [UInt8]) throws(SchemeError) {
        guard let json = bundle["scheme"], let codes = bundle["codes"]?.members else {
            throw SchemeError(path: "bundle", message: "expected members “codes” and “scheme”")
        }
        let root = SchemeReader(json, "scheme")
        var lists: [Name: CodeList] = [:]
        for member in codes {
            let list = try SchemeReader.codeList(member)
            lists[list.name] = list
        }
        let roles = try root.objects("roles").map(SchemeReader.role)
        let lineReaders = try root.optionalObjects("lines")
        let lines = try lineReaders.map(SchemeReader.lines)
        var fields = try root.objects("fields").map { (reader) throws(SchemeError) in
            try reader.field(list: nil, owner: try reader.name("owner"), codeLists: lists)
        }
        for (reader, group) in zip(lineReaders, lines) {
            for inner in try reader.objects("fields") {
                fields.append(try inner.field(list: group.name, owner: group.owner, codeLists: lists))
            }
        }
        reference = SchemeReference(
            id: try root.name("scheme"),
            version: try root.integer("version"),
            hash: SHA256.hash(bytes)
        )
        title = try root.text("title")
        source = try root.text("source")
        self.roles = roles
        self.lines = lines
        self.fields = fields
        rules = try root.optionalObjects("rules").map(SchemeReader.rule)
        signatures = try root.objects("signatures").map(SchemeReader.signature)
        handoffs = try root.objects("handoffs").map(SchemeReader.handoff)
        checks = try root.optionalObjects("checks").map(SchemeReader.check)
        codeLists = lists
        self.bytes = bytes
        var byName: [FieldKey: Field] = [:]
        for field in fields {
            guard byName.updateValue(field, forKey: FieldKey(list: field.list, field: field.name)) == nil else {
                throw SchemeError(path: "scheme.fields", message: "expected “\(field.name)” once, got it twice")
            }
        }
        fieldsByName = byName
        try checkReferences()
    }

    private func checkReferences() throws(SchemeError) {
        func require(_ holds: Bool, _ path: String, _ message: String) throws(SchemeError) {
            guard holds else { throw SchemeError(path: path, message: message) }
        }
        try require(roles.filter(\.opens).count == 1, "scheme.roles", "expected exactly one role that opens")
        try require(handoffs.count <= 16, "scheme.handoffs", "expected at most 16 handoffs, got \(handoffs.count)")
        for field in fields {
            try require(role(field.owner) != nil, "scheme.fields.\(field.name)", "unknown role “\(field.owner)”")
        }
        for group in lines {
            try require(role(group.owner) != nil, "scheme.lines.\(group.name)", "unknown role “\(group.owner)”")
        }
        for signature in signatures {
            let path = "scheme.signatures.\(signature.name)"
            try require(role(signature.role) != nil, path, "unknown role “\(signature.role)”")
            for name in signature.after {
                try require(self.signature(name) != nil, path, "unknown signature “\(name)”")
            }
        }
        for handoff in handoffs {
            let path = "scheme.handoffs.\(handoff.name)"
            try require(role(handoff.from) != nil, path, "unknown role “\(handoff.from)”")
            try require(role(handoff.to) != nil, path, "unknown role “\(handoff.to)”")
            try require(
                handoff.lasts >= 60 && handoff.lasts <= handoff.longest && handoff.longest <= 86_400,
                path,
                "expected an offer to last 60 to 86,400 seconds"
            )
            for name in handoff.after {
                try require(signature(name) != nil, path, "unknown signature “\(name)”")
            }
        }
        for rule in rules {
            let path = "scheme.rules.\(rule.name)"
            let owners = try rule.at.map { (name) throws(SchemeError) -> Name in
                guard let signature = signature(name) else {
                    throw SchemeError(path: path, message: "unknown signature “\(name)”")
                }
                return signature.role
            }
            for reference in rule.references {
                guard let field = fieldsByName[FieldKey(list: reference.list, field: reference.field)] else {
                    throw SchemeError(path: path, message: "unknown field “\(reference)”")
                }
                // A signer who took the load by compact code knows no values but its own; a rule over others' could
                // be met on the device and broken at the server.
                try require(
                    owners.allSatisfy { $0 == field.owner },
                    path,
                    "“\(reference)” belongs to \(field.owner), who does not give all of these signatures"
                )
            }
        }
        for check in checks {
            let path = "scheme.checks.\(check.name)"
            for reference in [check.declared, check.received] {
                let field = fieldsByName[FieldKey(list: reference.list, field: reference.field)]
                guard case .decimal(let units, _, _, _, _)? = field?.type, !units.isEmpty else {
                    throw SchemeError(path: path, message: "expected “\(reference)” to be a decimal with units")
                }
            }
            for name in check.at {
                try require(signature(name) != nil, path, "unknown signature “\(name)”")
            }
        }
    }
}

extension Scheme.Rule {
    var references: [FieldReference] {
        let demanded: [FieldReference] =
            switch demand {
            case .require(let references), .forbid(let references): references
            case .that(let condition): condition.references
            }
        return demanded + (when?.references ?? [])
    }
}

extension Condition {
    var references: [FieldReference] {
        switch self {
        case .is(let reference, _), .isIn(let reference, _), .present(let reference, _), .flag(let reference, _, _):
            [reference]
        case .all(let conditions), .any(let conditions): conditions.flatMap(\.references)
        case .not(let condition): condition.references
        }
    }
}

/// Reads one object of a scheme, remembering where it stands.
struct SchemeReader {
    let json: JSON
    let path: String

    init(_ json: JSON, _ path: String) {
        self.json = json
        self.path = path
    }

    static func json(_ text: [UInt8], at path: String) throws(SchemeError) -> JSON {
        do {
            return try JSON.parse(text)
        } catch {
            throw SchemeError(path: path, message: error.description)
        }
    }

    func fail(_ member: String, _ expected: String) -> SchemeError {
        SchemeError(path: "\(path).\(member)", message: "expected \(expected)")
    }

    func text(_ member: String) throws(SchemeError) -> String {
        guard let text = json[member]?.text, !text.isEmpty else { throw fail(member, "a text") }
        return text
    }

    func optionalText(_ member: String) throws(SchemeError) -> String? {
        json[member] == nil ? nil : try text(member)
    }

    func integer(_ member: String) throws(SchemeError) -> Int {
        guard let integer = json[member]?.integer else { throw fail(member, "an integer") }
        return integer
    }

    func integer(_ member: String, or value: Int) throws(SchemeError) -> Int {
        json[member] == nil ? value : try integer(member)
    }

    func flag(_ member: String) throws(SchemeError) -> Bool {
        guard let value = json[member] else { return false }
        guard let flag = value.boolean else { throw fail(member, "true or false") }
        return flag
    }

    func name(_ member: String) throws(SchemeError) -> Name {
        guard let name = json[member]?.text.flatMap(Name.init) else {
            throw fail(member, "a name of ASCII letters, digits and hyphens")
        }
        return name
    }

    func names(_ member: String) throws(SchemeError) -> [Name] {
        guard let value = json[member] else { return [] }
        let names = (value.elements ?? []).compactMap { $0.text.flatMap(Name.init) }
        guard let count = value.elements?.count, count == names.count else { throw fail(member, "an array of names") }
        return names
    }

    func decimal(_ member: String) throws(SchemeError) -> DecimalNumber? {
        guard let value = json[member] else { return nil }
        guard let decimal = value.text.flatMap(DecimalNumber.init) else {
            throw fail(member, "a decimal as a string, such as \"0.5\"")
        }
        return decimal
    }

    func objects(_ member: String) throws(SchemeError) -> [SchemeReader] {
        guard let elements = json[member]?.elements else { throw fail(member, "an array of objects") }
        return elements.enumerated().map { SchemeReader($0.element, "\(path).\(member)[\($0.offset)]") }
    }

    func optionalObjects(_ member: String) throws(SchemeError) -> [SchemeReader] {
        json[member] == nil ? [] : try objects(member)
    }

    static func codeList(_ member: JSONMember) throws(SchemeError) -> Scheme.CodeList {
        let reader = SchemeReader(member.value, "codes.\(member.name)")
        guard let members = member.value["codes"]?.members else { throw reader.fail("codes", "an object of codes") }
        var codes: [String: Scheme.CodeList.Code] = [:]
        for code in members {
            guard Name(code.name) != nil, let facts = code.value.members else {
                throw reader.fail("codes", "codes of ASCII letters and digits, got “\(code.name.prefix(64))”")
            }
            codes[code.name] = Scheme.CodeList.Code(
                title: code.value["title"]?.text,
                from: code.value["from"]?.text,
                until: code.value["until"]?.text,
                flags: Set(facts.filter { $0.value.boolean == true }.map(\.name))
            )
        }
        let name = try reader.name("list")
        guard sameBytes(name.text, member.name) else { throw reader.fail("list", "the name of its file") }
        return Scheme.CodeList(name: name, title: try reader.text("title"), codes: codes)
    }

    static func role(_ reader: SchemeReader) throws(SchemeError) -> Scheme.Role {
        Scheme.Role(
            name: try reader.name("role"),
            title: try reader.text("title"),
            opens: try reader.flag("opens"),
            repeats: try reader.flag("repeats"),
            closes: try reader.flag("closes")
        )
    }

    static func lines(_ reader: SchemeReader) throws(SchemeError) -> Scheme.Lines {
        let maximum = try reader.integer("maximum")
        guard (1...500).contains(maximum) else { throw reader.fail("maximum", "1 to 500") }
        return Scheme.Lines(
            name: try reader.name("lines"),
            owner: try reader.name("owner"),
            title: try reader.text("title"),
            minimum: try reader.integer("minimum", or: 0),
            maximum: maximum
        )
    }

    static func signature(_ reader: SchemeReader) throws(SchemeError) -> Scheme.SignatureRule {
        Scheme.SignatureRule(
            name: try reader.name("signature"),
            role: try reader.name("role"),
            title: try reader.text("title"),
            statement: try reader.text("statement"),
            after: try reader.names("after")
        )
    }

    static func handoff(_ reader: SchemeReader) throws(SchemeError) -> Scheme.HandoffRule {
        Scheme.HandoffRule(
            name: try reader.name("handoff"),
            from: try reader.name("from"),
            to: try reader.name("to"),
            title: try reader.text("title"),
            after: try reader.names("after"),
            lasts: try reader.integer("lasts", or: 900),
            longest: try reader.integer("longest", or: 86_400)
        )
    }

    static func check(_ reader: SchemeReader) throws(SchemeError) -> Scheme.Check {
        guard let tolerance = try reader.decimal("tolerancePercent"), tolerance.scaled >= 0,
            tolerance.scaled <= 100 * DecimalNumber.power(9), tolerance.fractionDigits <= 3
        else {
            throw reader.fail("tolerancePercent", "0 to 100 with at most three decimals, as a string")
        }
        return Scheme.Check(
            name: try reader.name("check"),
            at: try reader.names("at"),
            declared: try reader.reference("declared"),
            received: try reader.reference("received"),
            tolerancePercent: tolerance,
            says: try reader.text("says")
        )
    }

    func reference(_ member: String) throws(SchemeError) -> FieldReference {
        guard let reference = json[member]?.text.flatMap(FieldReference.init) else {
            throw fail(member, "a field name or lines/*/field")
        }
        return reference
    }
}
