import Tallystick
import TallystickCrypto

/// Which role, signature or handoff is meant where a person does not say.
extension Device {
    /// The only one of some choices; says which there are where there are several.
    static func onlyOne<T>(_ choices: [T], of what: String, named names: (T) -> Name, option: String) throws -> T {
        guard let first = choices.first else {
            throw DeviceError(
                .nothingToDo,
                "expected \(what) that you can use here, got none",
                remedy: "look at the chain with “tally show”; sync first if others have worked on it"
            )
        }
        guard choices.count == 1 else {
            let list = choices.map { names($0).text }.joined(separator: ", ")
            throw DeviceError(
                .choiceNeeded,
                "expected a choice of \(what): there are \(list)",
                remedy: "say which with \(option)"
            )
        }
        return first
    }

    func scheme(of state: ChainState) throws -> Scheme {
        if let scheme = state.scheme { return scheme }
        throw DeviceError(
            .schemeUnknown,
            "the rules of chain \(state.chain) are not known here",
            remedy: "sync; if that does not help, install the version of the program that has them"
        )
    }

    /// The roles in which the party has a leg in this chain and the device may act, the latest leg's first.
    func ownRoles(in state: ChainState) -> [Name] {
        var roles: [Name] = []
        for leg in state.legs.reversed() where leg.party == certificate.party {
            if certificate.roles.contains(leg.role), !roles.contains(leg.role) { roles.append(leg.role) }
        }
        return roles
    }

    /// The role that gives these fields.
    ///
    /// What the scheme does not have is said in the party's latest role, so that the engine can say what is wrong.
    func role(toSet changes: [EventContent.FieldChange], in state: ChainState) throws -> Name {
        let scheme = try scheme(of: state)
        var owners: [Name] = []
        for change in changes {
            let owner =
                change.path.field == nil
                ? change.path.line.flatMap { scheme.lines($0.list) }?.owner : scheme.field(change.path)?.owner
            if let owner, !owners.contains(owner) { owners.append(owner) }
        }
        let own = ownRoles(in: state)
        let ownOwners = owners.filter(own.contains)
        guard ownOwners.count <= 1 else {
            throw DeviceError(
                .choiceNeeded,
                "expected fields of one role, got those of \(ownOwners.map(\.text).joined(separator: ", "))",
                remedy: "set the fields of each role by themselves"
            )
        }
        if let role = ownOwners.first ?? own.first ?? owners.first ?? certificate.roles.first { return role }
        throw DeviceError(.nothingToDo, "the device has no role", remedy: "ask for a new invitation")
    }

    func signature(_ name: Name?, in state: ChainState) throws -> Scheme.SignatureRule {
        let scheme = try scheme(of: state)
        if let name {
            if let rule = scheme.signature(name) { return rule }
            throw DeviceError(
                .badInput,
                "expected the name of a signature, got “\(name)”",
                remedy: "the scheme has \(scheme.signatures.map(\.name.text).joined(separator: ", "))"
            )
        }
        let own = ownRoles(in: state)
        let mine = scheme.signatures.filter { own.contains($0.role) }
        let open = mine.filter { rule in
            let leg = state.legs.last { $0.party == certificate.party && $0.role == rule.role }
            return leg.map { state.signature(rule.name, on: $0.event) == nil } ?? false
        }
        // With one signature only, given already, the engine says so better.
        if open.isEmpty, let only = mine.first, mine.count == 1 { return only }
        // A role's main signature has the role's name; the others are asked for by theirs.
        if open.count > 1, let main = open.first(where: { $0.name == $0.role }), open.allSatisfy({ $0.role == main.role }) {
            return main
        }
        return try Device.onlyOne(open, of: "signatures", named: \.name, option: "--as NAME")
    }

    func handoff(to name: Name?, in state: ChainState) throws -> Scheme.HandoffRule {
        let scheme = try scheme(of: state)
        let own = ownRoles(in: state)
        let current = state.currentLeg.flatMap { $0.party == certificate.party ? $0.role : nil }
        let from = current.map { [$0] } ?? own
        if let name, let (_, rule) = scheme.handoff(name) { return rule }
        let possible = scheme.handoffs.filter { rule in
            from.contains(rule.from) && certificate.roles.contains(rule.from) && (name == nil || rule.to == name)
        }
        if let name, possible.isEmpty {
            let choices = scheme.handoffs.filter { from.contains($0.from) }.map(\.to.text)
            throw DeviceError(
                .badInput,
                "expected a role or handoff to offer to, got “\(name)”",
                remedy: choices.isEmpty
                    ? "you hold no role here that hands over" : "there are \(choices.joined(separator: ", "))"
            )
        }
        // Several handoffs to one role are told apart by their own names.
        let roles = Set(possible.map(\.to))
        return try Device.onlyOne(
            possible,
            of: "roles to offer to",
            named: { roles.count == possible.count ? $0.to : $0.name },
            option: "--to ROLE"
        )
    }
}
