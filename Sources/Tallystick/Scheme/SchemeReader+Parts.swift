extension SchemeReader {
    // MARK: Roles

    func role(_ node: SchemeNode) -> Scheme.Role? {
        guard
            node.isObject(of: ["role", "title", "custody", "opens", "repeats", "closes", "admits", "retention"]),
            let name = node.name("role")
        else { return nil }
        let hasCustody = node.flag("custody", or: true)
        let opens = node.flag("opens")
        if opens, !hasCustody {
            node.problem(.memberInvalid, at: "opens", "expected a role with custody to open chains", "let another open")
        }
        return Scheme.Role(
            name: name,
            title: node.text("title"),
            hasCustody: hasCustody,
            opens: opens,
            repeats: node.flag("repeats"),
            closes: node.flag("closes"),
            admits: rolesNamed("admits", of: node),
            retention: node.member("retention").flatMap { retention($0) }
        )
    }

    private func retention(_ node: SchemeNode) -> Retention? {
        guard node.isObject(of: ["days", "months", "years", "from"]),
            let period = node.period([.days, .months, .years]), let from = moment("from", of: node)
        else { return nil }
        return Retention(period: period, from: from)
    }

    /// The moment under this member, which has to be there.
    func moment(_ member: String, of node: SchemeNode) -> ChainMoment? {
        guard let child = node.member(member) else {
            node.missing(member, "a signature, a handoff, “opened”, “closed”, or a field")
            return nil
        }
        if child.json.members != nil {
            guard child.isObject(of: ["field"]), let name = child.name("field") else { return nil }
            return .field(FieldReference(list: nil, field: name))
        }
        guard let text = child.json.text else {
            node.invalid(member, "a signature, a handoff, “opened”, “closed”, or {\"field\": …}")
            return nil
        }
        if sameBytes(text, "opened") { return .opened }
        if sameBytes(text, "closed") { return .closed }
        guard let name = child.asName("the name of a signature or a handoff"), isStage(name, node, at: member) else {
            return nil
        }
        return .stage(name)
    }

    // MARK: Signatures and handoffs

    mutating func signature(_ node: SchemeNode) -> Scheme.SignatureRule? {
        let members = [
            "signature", "role", "title", "statement", "after", "before", "notBefore", "covers", "delegable", "paper",
        ]
        guard node.isObject(of: members), let name = node.name("signature"), let role = node.name("role"),
            isRole(role, node, at: "role")
        else { return nil }
        let needed = Set(guards(node).filter { !$0.isOptional }.map(\.stage))
        for stage in stages("before", of: node) where needed.contains(stage) {
            node.problem(
                .unreachableStage,
                at: "before",
                "expected “\(stage)” in one of “after” and “before”, got it in both",
                "take it away from one: the signature could never be given"
            )
        }
        return Scheme.SignatureRule(
            name: name,
            role: role,
            title: node.text("title"),
            statement: node.text("statement"),
            after: guards(node),
            before: stages("before", of: node),
            notBefore: stages("notBefore", of: node),
            covers: signatureCoverage(node, name: name, role: role),
            isDelegable: node.flag("delegable"),
            paper: rolesNamed("paper", of: node)
        )
    }

    /// What a signature names, or all of its role that no other signature of the role names.
    private func signatureCoverage(_ node: SchemeNode, name: Name, role: Name) -> Scheme.Coverage {
        if node.json["covers"] != nil { return coverage(node, role: role, isSignature: true) }
        var taken: Set<String> = []
        for other in root.json["signatures"]?.elements ?? [] where other["role"]?.text == role.text {
            for covered in other["covers"]?.elements ?? [] { if let text = covered.text { taken.insert(text) } }
        }
        return Scheme.Coverage(names: sealable(of: role).filter { !taken.contains($0.text) })
    }

    private func sealable(of role: Name) -> Set<Name> {
        let single = fields.filter { $0.owner == role && $0.list == nil && $0.isSealable }.map(\.name)
        return Set(single + lines.filter { $0.owner == role }.map(\.name))
    }

    private func coverage(_ node: SchemeNode, role: Name, isSignature: Bool) -> Scheme.Coverage {
        let names = node.names("covers", "the name of a field or of lines")
        for name in names {
            let field = fieldsByName[Scheme.FieldKey(list: nil, field: name)]
            let group = lines.first { $0.name == name }
            if field == nil, group == nil {
                node.problem(
                    .unknownField,
                    at: "covers",
                    "expected a field or lines, got “\(name)”",
                    Spelling.remedy(for: name.text, among: sealable(of: role).sorted().map(\.text))
                )
            } else if let owner = field?.owner ?? group?.owner, owner != role {
                node.problem(
                    .fieldOfOtherRole,
                    at: "covers",
                    "expected a field of the \(role), got “\(name)” of the \(owner)",
                    "take it away: what the \(role) received is covered by its hash"
                )
            } else if isSignature, field?.isSealable == false {
                node.problem(
                    .memberInvalid,
                    at: "covers",
                    "expected a field that can be sealed, got “\(name)”",
                    "take it away, or take \"sealed\": false from the field"
                )
            }
        }
        return Scheme.Coverage(names: Set(names))
    }

    func handoff(_ node: SchemeNode) -> Scheme.HandoffRule? {
        let members = ["handoff", "from", "to", "title", "after", "lasts", "longest", "covers", "seals"]
        guard node.isObject(of: members), let name = node.name("handoff"), let from = node.name("from"),
            let to = node.name("to"), isRole(from, node, at: "from"), isRole(to, node, at: "to")
        else { return nil }
        for (member, role) in [("from", from), ("to", to)] {
            if let found = roles.first(where: { $0.name == role }), !found.hasCustody {
                node.problem(
                    .memberInvalid,
                    at: member,
                    "expected a role with custody, got “\(role)”",
                    "take \"custody\": false from the role, or name another role"
                )
            }
        }
        if from == to, let role = roles.first(where: { $0.name == from }), !role.repeats {
            node.problem(
                .memberInvalid,
                at: "to",
                "expected a role that repeats, got “\(to)”",
                "give it \"repeats\": true"
            )
        }
        let longest = node.integer("longest", in: 60...86_400, or: 86_400)
        let lasts = node.integer("lasts", in: 60...86_400, or: min(900, longest))
        if lasts > longest {
            node.problem(
                .memberInvalid,
                at: "lasts",
                "expected at most “longest”, \(longest) seconds, got \(lasts)",
                "shorten it"
            )
        }
        let all = fields.filter { $0.owner == from && $0.list == nil }.map(\.name)
        return Scheme.HandoffRule(
            name: name,
            from: from,
            to: to,
            title: node.text("title"),
            after: guards(node),
            lasts: lasts,
            longest: longest,
            covers: node.json["covers"] == nil
                ? Scheme.Coverage(names: Set(all + lines.filter { $0.owner == from }.map(\.name)))
                : coverage(node, role: from, isSignature: false),
            seals: node.flag("seals")
        )
    }

    // MARK: Links and endings

    func link(_ node: SchemeNode) -> Scheme.LinkRule? {
        guard node.isObject(of: ["link", "kind", "title", "role", "after", "conserves", "due", "why"]),
            let name = node.name("link")
        else { return nil }
        let kindText = node.text("kind")
        let kind = Scheme.LinkRule.Kind.allCases.first { sameBytes($0.rawValue, kindText) }
        if kind == nil, !kindText.isEmpty {
            let kinds = Scheme.LinkRule.Kind.allCases.map(\.rawValue)
            node.invalid("kind", "a kind of link", Spelling.remedy(for: kindText, among: kinds))
        }
        let roles = node.nameOrNames("role", "a role").filter { isRole($0, node, at: "role") }
        var conserves: FieldReference?
        if node.json["conserves"] != nil {
            conserves = reference("conserves", of: node)
            if let conserves, !isAmount(conserves) {
                node.problem(
                    .amountsMissing,
                    at: "conserves",
                    "expected an amount, got “\(conserves)”",
                    "name a decimal or a whole number, such as items/*/quantity"
                )
            }
        }
        if node.json["due"] != nil, node.json["conserves"] == nil {
            node.missing("conserves", "the amounts that go on")
        }
        guard let kind else { return nil }
        return Scheme.LinkRule(
            name: name,
            kind: kind,
            title: node.text("title"),
            roles: roles,
            after: guards(node),
            conserves: conserves,
            isDue: node.flag("due"),
            needsReason: node.flag("why")
        )
    }

    mutating func readEndings() {
        if let node = root.member("cancelling"), node.isObject(of: ["roles", "before"]) {
            let roles = node.nameOrNames("roles", "the roles that can cancel").filter { isRole($0, node, at: "roles") }
            cancelling = Scheme.Cancelling(roles: roles, before: stages("before", of: node))
        }
        for node in root.objects("closing", most: 32) {
            guard node.isObject(of: ["outcome", "title", "roles", "after", "why", "dutyTo"]),
                let outcome = node.name("outcome")
            else { continue }
            let roles = node.nameOrNames("roles", "the roles that can close").filter { isRole($0, node, at: "roles") }
            for role in roles where self.roles.first(where: { $0.name == role })?.hasCustody == false {
                node.problem(
                    .memberInvalid,
                    at: "roles",
                    "expected a role that can hold the load, got “\(role)”",
                    "let the holder close the chain"
                )
            }
            let duty = node.json["dutyTo"] == nil ? nil : node.name("dutyTo", "a role")
            if let duty { isRole(duty, node, at: "dutyTo") }
            closings.append(
                Scheme.Closing(
                    outcome: outcome,
                    title: node.text("title"),
                    roles: roles,
                    after: guards(node),
                    needsReason: node.flag("why"),
                    dutyTo: duty
                )
            )
        }
        if let node = root.member("lateEntry"), node.isObject(of: ["roles", "longest"]) {
            let roles = node.nameOrNames("roles", "the roles that can").filter { isRole($0, node, at: "roles") }
            let longest = node.member("longest").flatMap { child in
                child.isObject(of: ["hours", "days"]) ? child.period([.hours, .days]) : nil
            }
            lateEntry = Scheme.LateEntry(roles: roles, longest: longest)
        }
    }

    // MARK: Deadlines

    mutating func readCalendars() {
        for node in root.objects("calendars", most: 16) {
            guard node.isObject(of: ["calendar", "title", "source", "weekend", "from", "until", "holidays"]),
                let name = node.name("calendar")
            else { continue }
            let days = node.json["weekend"]?.elements
            let weekend = days?.compactMap(\.integer) ?? []
            if node.json["weekend"] != nil,
                days?.count != weekend.count || !weekend.allSatisfy((1...7).contains) || Set(weekend).count > 6
            {
                node.invalid("weekend", "an array of at most six numbers from 1 for Monday to 7 for Sunday")
            }
            let texts = node.json["holidays"]?.elements ?? []
            if texts.count > 2_000 {
                node.problem(.tooMany, at: "holidays", "expected at most 2,000, got \(texts.count)", "take some away")
            }
            let holidays = texts.prefix(2_000).compactMap { $0.text.flatMap(Day.init) }
            if holidays.count < min(texts.count, 2_000) || node.json["holidays"]?.elements == nil {
                node.invalid("holidays", "an array of days such as \"2026-12-25\"")
            }
            guard let from = node.day("from").flatMap(Day.init), let until = node.day("until").flatMap(Day.init) else {
                continue
            }
            if until < from { node.invalid("until", "a day that is not before “from”") }
            for day in holidays where day < from || until < day {
                node.problem(
                    .memberInvalid,
                    at: "holidays",
                    "expected days from \(from) to \(until), got \(day)",
                    "correct the day, or “from” and “until”"
                )
            }
            calendars.append(
                Calendar(
                    name: name,
                    title: node.text("title"),
                    source: node.text("source"),
                    weekend: Set(weekend),
                    from: from,
                    until: until,
                    holidays: Set(holidays)
                )
            )
        }
    }

    mutating func deadline(_ node: SchemeNode) -> Deadline? {
        let members = [
            "deadline", "title", "role", "from", "until", "within", "zone", "calendar", "when",
            "unless", "says",
        ]
        guard node.isObject(of: members), let name = node.name("deadline") else { return nil }
        let role = node.name("role", "the role that has to act")
        if let role { isRole(role, node, at: "role") }
        let from = moment("from", of: node)
        let until = moment("until", of: node)
        for (member, moment) in [("from", from), ("until", until)] {
            guard case .field(let reference)? = moment else { continue }
            guard let field = fieldsByName[Scheme.FieldKey(list: nil, field: reference.field)] else {
                node.problem(
                    .unknownField,
                    at: member,
                    "expected a field outside lines, got “\(reference)”",
                    Spelling.remedy(
                        for: reference.field.text,
                        among: fields.filter { $0.list == nil && $0.many == nil && $0.type.isTime }.map(\.name.text)
                    )
                )
                continue
            }
            if field.many != nil || !field.type.isTime {
                node.problem(
                    .typeMismatch,
                    at: member,
                    "expected a field of type date or datetime, got “\(reference)”",
                    Spelling.remedy(
                        for: reference.field.text,
                        among: fields.filter { $0.list == nil && $0.many == nil && $0.type.isTime }.map(\.name.text)
                    )
                )
            }
        }
        let within: Period?
        if let child = node.member("within"), child.isObject(of: Period.Unit.allCases.map(\.rawValue)) {
            within = child.period(Period.Unit.allCases)
        } else {
            if node.json["within"] == nil { node.missing("within", "a time such as {\"days\": 2}") }
            within = nil
        }
        let calendar = node.json["calendar"] == nil ? nil : node.name("calendar", "the name of a calendar")
        if let calendar, !calendars.contains(where: { $0.name == calendar }) {
            node.problem(
                .unknownCalendar,
                at: "calendar",
                "expected a calendar, got “\(calendar)”",
                Spelling.remedy(
                    for: calendar.text,
                    among: calendars.map(\.name.text),
                    else: "there are none: add it to “calendars”"
                )
            )
        }
        if within?.unit == .workingDays, calendar == nil {
            node.missing("calendar", "the calendar of the working days")
        }
        let when = node.member("when").flatMap { condition($0, each: nil, isInside: false, depth: 0) }
        let (title, zone, says) = (node.text("title"), node.text("zone"), node.text("says"))
        guard let role, let from, let until, let within else { return nil }
        return Deadline(
            name: name,
            title: title,
            role: role,
            from: from,
            until: until,
            within: within,
            zone: zone,
            calendar: calendar,
            when: when,
            unless: outcomes("unless", of: node),
            says: says
        )
    }

    private func outcomes(_ member: String, of node: SchemeNode) -> [Name] {
        node.names(member, "the name of an outcome").filter { name in
            if closings.contains(where: { $0.outcome == name }) { return true }
            let all = closings.map(\.outcome.text).joined(separator: ", ")
            node.problem(
                .memberInvalid,
                at: member,
                "expected an outcome of “closing”, got “\(name)”",
                all.isEmpty ? "the scheme has none" : "there are \(all)"
            )
            return false
        }
    }
}

extension ValueType {
    var isTime: Bool {
        switch self {
        case .date, .datetime: true
        default: false
        }
    }
}
