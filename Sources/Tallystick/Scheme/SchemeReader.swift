import TallystickCrypto

extension Scheme {
    /// The most bytes that a scheme and its code lists have together.
    public static let longest = 4 << 20
    /// The most codes in a list.
    public static let mostCodes = 20_000

    /// Reads a scheme from its text and its code lists' texts.
    ///
    /// Everything it names must exist, and everything in it must be reachable. Throws with every mistake it found.
    public init(scheme: [UInt8], codeLists: [(name: String, text: [UInt8])]) throws(SchemeError) {
        let log = SchemeLog()
        let size = codeLists.reduce(scheme.count) { $0 + $1.text.count }
        guard size <= Scheme.longest else {
            throw SchemeError(problems: [SchemeReader.tooLarge(size)])
        }
        var lists: [JSONMember] = []
        for list in codeLists {
            if let json = SchemeReader.json(list.text, file: SchemeReader.file(ofList: list.name), log) {
                lists.append(JSONMember(list.name, json))
            }
        }
        let root = SchemeReader.json(scheme, file: SchemeReader.file, log)
        guard let root else { throw SchemeError(problems: log.problems) }
        for problem in SchemeProblem.fractions(in: root, file: SchemeReader.file) { log.add(problem) }
        for list in lists {
            for problem in SchemeProblem.fractions(in: list.value, file: SchemeReader.file(ofList: list.name)) {
                log.add(problem)
            }
        }
        guard log.problems.isEmpty else { throw SchemeError(problems: log.problems) }
        let bytes: [UInt8]
        do {
            bytes = try JSON.object([JSONMember("codes", .object(lists)), JSONMember("scheme", root)]).canonicalBytes()
            // Read back, so that what loads here is also read wherever its bytes are sent.
            _ = try JSON.parseCanonical(bytes[...], depth: JSON.greatestDepth - 1)
        } catch {
            // Not every list may have been read: what those say is more useful than what follows from it.
            let problem = SchemeProblem(
                .notJSON,
                file: SchemeReader.file,
                path: "",
                "\(error)",
                remedy: "put conditions less deep inside each other"
            )
            throw SchemeError(problems: log.problems + [problem])
        }
        try self.init(root, lists: lists, bytes: bytes, log: log)
    }

    /// Reads a scheme from the bytes its hash is taken of: `{"codes":{…},"scheme":{…}}` in canonical JSON.
    public init(bytes: [UInt8]) throws(SchemeError) {
        func fail(_ message: String) -> SchemeError {
            let remedy = "get the scheme again from where it came"
            return SchemeError(
                problems: [SchemeProblem(.notJSON, file: SchemeReader.file, path: "", message, remedy: remedy)]
            )
        }
        guard bytes.count <= Scheme.longest else { throw SchemeError(problems: [SchemeReader.tooLarge(bytes.count)]) }
        let json: JSON
        do {
            // A record carries the bundle one level deeper.
            json = try JSON.parseCanonical(bytes[...], depth: JSON.greatestDepth - 1)
        } catch {
            throw fail(error.description)
        }
        guard let root = json["scheme"], let codes = json["codes"]?.members else {
            throw fail("expected members “codes” and “scheme”")
        }
        try self.init(root, lists: codes, bytes: bytes, log: SchemeLog())
    }

    private init(_ root: JSON, lists: [JSONMember], bytes: [UInt8], log: SchemeLog) throws(SchemeError) {
        var reader = SchemeReader(root, lists: lists, log: log)
        let scheme = reader.read(bytes: bytes)
        guard log.problems.isEmpty, let scheme else { throw SchemeError(problems: log.problems) }
        self = scheme
    }
}

/// Reads a scheme's parts in the order of the format's page, and then how they fit together.
struct SchemeReader {
    static let file = "scheme.json"
    static func file(ofList name: String) -> String { "codes/\(name).json" }

    static let members = [
        "scheme", "version", "title", "source", "roles", "codeLists", "fields", "lines", "rules", "signatures",
        "handoffs", "checks", "links", "cancelling", "closing", "lateEntry", "deadlines", "calendars",
    ]

    let root: SchemeNode
    let log: SchemeLog
    private let listMembers: [JSONMember]

    var roles: [Scheme.Role] = []
    var fields: [Scheme.Field] = []
    var lines: [Scheme.Lines] = []
    var rules: [Scheme.Rule] = []
    var signatures: [Scheme.SignatureRule] = []
    var handoffs: [Scheme.HandoffRule] = []
    var checks: [Scheme.Check] = []
    var links: [Scheme.LinkRule] = []
    var cancelling: Scheme.Cancelling?
    var closings: [Scheme.Closing] = []
    var lateEntry: Scheme.LateEntry?
    var deadlines: [Deadline] = []
    var calendars: [Calendar] = []
    var codeLists: [Name: Scheme.CodeList] = [:]
    var fieldsByName: [Scheme.FieldKey: Scheme.Field] = [:]

    /// The names of roles and stages, also of those that have other mistakes.
    var roleNames: Set<Name> = []
    var signatureRoles: [Name: Name] = [:]
    var handoffRoles: [Name: (from: Name, to: Name)] = [:]
    var declaredLists: Set<Name> = []
    var usedLists: Set<Name> = []
    /// How many states and conditions may still come: judging has to end in bounded time, whoever wrote the scheme.
    var statesLeft = 100_000
    var conditionsLeft = 5_000

    init(_ json: JSON, lists: [JSONMember], log: SchemeLog) {
        root = SchemeNode(json: json, file: SchemeReader.file, path: "", log: log)
        listMembers = lists
        self.log = log
    }

    static func json(_ text: [UInt8], file: String, _ log: SchemeLog) -> JSON? {
        do {
            return try JSON.parse(text)
        } catch {
            log.add(
                SchemeProblem(
                    .notJSON,
                    file: file,
                    path: "",
                    error.description,
                    remedy: "write strict JSON: no comments, no trailing commas, no doubled names, UTF-8"
                )
            )
            return nil
        }
    }

    static func tooLarge(_ size: Int) -> SchemeProblem {
        SchemeProblem(
            .tooLarge,
            file: file,
            path: "",
            "expected at most \(Scheme.longest) bytes with all code lists, got \(size)",
            remedy: "take codes or titles away that nobody needs"
        )
    }

    mutating func read(bytes: [UInt8]) -> Scheme? {
        guard root.isObject(of: SchemeReader.members) else { return nil }
        let id = root.name("scheme", "the scheme's id")
        if let id, id.text.utf8.contains(where: { (0x41...0x5A).contains($0) }) {
            root.problem(.nameInvalid, at: "scheme", "expected a lower-case id, got “\(id)”", "write it in lower case")
        }
        let version = root.integer("version", in: 1...1_000_000)
        let (title, source) = (root.text("title"), root.text("source"))
        readCodeLists()
        let roleNodes = root.objects("roles", most: 32, isRequired: true)
        roleNames = Set(roleNodes.compactMap { $0.json["role"]?.text.flatMap(SchemeNode.name) })
        let signatureNodes = root.objects("signatures", most: 64, isRequired: true)
        for node in signatureNodes {
            guard let name = node.json["signature"]?.text.flatMap(SchemeNode.name) else { continue }
            signatureRoles[name] = node.json["role"]?.text.flatMap(SchemeNode.name) ?? name
        }
        let handoffNodes = root.objects("handoffs", most: 16, isRequired: true)
        for node in handoffNodes {
            guard let name = node.json["handoff"]?.text.flatMap(SchemeNode.name) else { continue }
            let from = node.json["from"]?.text.flatMap(SchemeNode.name)
            let to = node.json["to"]?.text.flatMap(SchemeNode.name)
            handoffRoles[name] = (from ?? name, to ?? name)
            if signatureRoles[name] != nil {
                node.problem(
                    .nameTaken,
                    at: "handoff",
                    "expected a name that no signature has, got “\(name)”",
                    "rename one of the two"
                )
            }
        }
        roles = roleNodes.compactMap { role($0) }
        readFields()
        readCalendars()
        signatures = signatureNodes.compactMap { signature($0) }
        handoffs = handoffNodes.compactMap { handoff($0) }
        rules = root.objects("rules", most: 2_000).compactMap { rule($0) }
        checks = root.objects("checks", most: 200).compactMap { check($0) }
        links = root.objects("links", most: 64).compactMap { link($0) }
        readEndings()
        deadlines = root.objects("deadlines", most: 100).compactMap { deadline($0) }
        checkNames()
        checkReach()
        let files = Set(listMembers.compactMap { SchemeNode.name($0.name) })
        // One that has no file has been noted.
        for name in declaredLists.subtracting(usedLists).intersection(files).sorted() {
            root.problem(
                .codeListUnused,
                at: "codeLists",
                "expected a field that takes codes from “\(name)”",
                "take the list away, or give a field \"type\": \"code\", \"list\": \"\(name)\""
            )
        }
        guard let id else { return nil }
        return Scheme(
            self,
            reference: SchemeReference(id: id, version: version, hash: SHA256.hash(bytes)),
            title,
            source,
            bytes
        )
    }

    // MARK: Code lists

    private mutating func readCodeLists() {
        declaredLists = Set(root.names("codeLists", "the name of a code list"))
        let given = Set(listMembers.compactMap { SchemeNode.name($0.name) })
        for name in declaredLists.subtracting(given).sorted() {
            root.problem(
                .codeListMissing,
                at: "codeLists",
                "expected a file codes/\(name).json",
                "write the file, or take “\(name)” out of “codeLists”"
            )
        }
        for member in listMembers {
            let file = SchemeReader.file(ofList: String(member.name.prefix(64)))
            let node = SchemeNode(json: member.value, file: file, path: "", log: log)
            if let list = codeList(node, named: member.name) { codeLists[list.name] = list }
            if let name = SchemeNode.name(member.name), !declaredLists.contains(name) {
                node.problem(
                    .codeListUnused,
                    "expected “codeLists” in scheme.json to have “\(name)”",
                    "add the name there, or take the file away"
                )
            }
        }
    }

    private func codeList(_ node: SchemeNode, named file: String) -> Scheme.CodeList? {
        guard node.isObject(of: ["list", "title", "source", "codes"]) else { return nil }
        guard let name = node.name("list", "the name of the list") else { return nil }
        if !sameBytes(name.text, file) { node.invalid("list", "the name of its file, “\(file.prefix(64))”") }
        _ = node.optionalText("source")
        guard let members = node.json["codes"]?.members, !members.isEmpty else {
            node.invalid("codes", "an object of codes", "write {\"A1\": {}, …}")
            return nil
        }
        guard members.count <= Scheme.mostCodes else {
            let got = "expected at most \(Scheme.mostCodes) codes, got \(members.count)"
            node.problem(.tooMany, at: "codes", got, "divide the list, or take a pattern instead")
            return nil
        }
        var codes: [String: Scheme.CodeList.Code] = [:]
        codes.reserveCapacity(members.count)
        for member in members {
            let facts = SchemeNode(
                json: member.value,
                file: node.file,
                path: "codes.\(member.name.prefix(64))",
                log: node.log
            )
            guard Name(member.name) != nil, let own = member.value.members else {
                facts.problem(
                    .nameInvalid,
                    "expected a code of ASCII letters, digits, -, _ and . with an object of facts",
                    "write it like \"A1\": {}"
                )
                continue
            }
            var flags: Set<String> = []
            for fact in own where !["title", "from", "until"].contains(where: { sameBytes($0, fact.name) }) {
                guard let isSet = fact.value.boolean, SchemeNode.name(fact.name) != nil else {
                    facts.invalid(
                        String(fact.name.prefix(64)),
                        "title, from, until, or a flag: a name that is true or false",
                        "write true, or take it away"
                    )
                    continue
                }
                if isSet { flags.insert(fact.name) }
            }
            let from = member.value["from"] == nil ? nil : facts.day("from")
            let until = member.value["until"] == nil ? nil : facts.day("until")
            if let from, let until, until.utf8.lexicographicallyPrecedes(from.utf8) {
                facts.invalid("until", "a day that is not before “from”, \(from)")
            }
            codes[member.name] = Scheme.CodeList.Code(
                title: facts.optionalText("title"),
                from: from,
                until: until,
                flags: flags
            )
        }
        return Scheme.CodeList(name: name, title: node.text("title"), codes: codes)
    }

    // MARK: Stages and roles that are named

    /// The role, if there is one of this name; a mistake where there is not.
    @discardableResult
    func isRole(_ name: Name, _ node: SchemeNode, at member: String) -> Bool {
        if roleNames.contains(name) { return true }
        node.problem(
            .unknownRole,
            at: member,
            "expected a role, got “\(name)”",
            Spelling.remedy(for: name.text, among: roleNames.sorted().map(\.text))
        )
        return false
    }

    /// The role that acts at a stage: who signs, or who hands over.
    func actor(at stage: Name) -> Name? { signatureRoles[stage] ?? handoffRoles[stage]?.from }

    @discardableResult
    func isStage(_ name: Name, _ node: SchemeNode, at member: String) -> Bool {
        if actor(at: name) != nil { return true }
        let all = (Array(signatureRoles.keys) + Array(handoffRoles.keys)).sorted().map(\.text)
        node.problem(
            .unknownStage,
            at: member,
            "expected a signature or a handoff, got “\(name)”",
            Spelling.remedy(for: name.text, among: all)
        )
        return false
    }

    func stages(_ member: String, of node: SchemeNode, isRequired: Bool = false) -> [Name] {
        if isRequired, node.json[member] == nil { node.missing(member, "an array of signatures and handoffs") }
        if isRequired, node.json[member]?.elements?.isEmpty == true {
            node.invalid(member, "at least one signature or handoff", "name the stages at which it is judged")
        }
        return node.names(member, "the name of a signature or a handoff").filter { isStage($0, node, at: member) }
    }

    func rolesNamed(_ member: String, of node: SchemeNode) -> [Name] {
        node.names(member, "the name of a role").filter { isRole($0, node, at: member) }
    }

    func guards(_ node: SchemeNode) -> [Scheme.Guard] {
        guard let member = node.member("after") else { return [] }
        return member.elements().compactMap { element in
            if element.json.text != nil {
                guard let stage = element.asName("the name of a signature or a handoff"),
                    isStage(stage, element, at: "")
                else { return nil }
                return Scheme.Guard(stage: stage, isOptional: false)
            }
            guard element.isObject(of: ["stage", "missing"]), let stage = element.name("stage"),
                isStage(stage, element, at: "stage")
            else { return nil }
            let missing = element.text("missing")
            if !sameBytes(missing, "warning") { element.invalid("missing", "“warning”") }
            return Scheme.Guard(stage: stage, isOptional: true)
        }
    }
}

extension Scheme {
    fileprivate init(
        _ reader: SchemeReader,
        reference: SchemeReference,
        _ title: String,
        _ source: String,
        _ bytes: [UInt8]
    ) {
        self.reference = reference
        self.title = title
        self.source = source
        roles = reader.roles
        fields = reader.fields
        lines = reader.lines
        rules = reader.rules
        signatures = reader.signatures
        handoffs = reader.handoffs
        checks = reader.checks
        links = reader.links
        cancelling = reader.cancelling
        closings = reader.closings
        lateEntry = reader.lateEntry
        deadlines = reader.deadlines
        calendars = reader.calendars
        codeLists = reader.codeLists
        self.bytes = bytes
        fieldsByName = reader.fieldsByName
        var byStage: [Name: [Rule]] = [:]
        for rule in reader.rules {
            for stage in rule.at { byStage[stage, default: []].append(rule) }
        }
        rulesByStage = byStage
        let guards = reader.signatures.map(\.after) + reader.handoffs.map(\.after) + reader.closings.map(\.after)
        optionalStages = Set(guards.flatMap { $0 }.filter(\.isOptional).map(\.stage))
        otherRolesByStage = Scheme.owners(of: reader.rules, reader.checks, reader.fieldsByName)
        signaturesByName = Dictionary(reader.signatures.map { ($0.name, $0) }) { first, _ in first }
    }
}
