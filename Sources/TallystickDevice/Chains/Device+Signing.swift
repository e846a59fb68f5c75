package import Tallystick
import TallystickCrypto

/// Signing: for oneself, in another's place, or for a signature on paper.
extension Device {
    /// Signs what the chain says of a leg; nil signs the only signature that can be given this way.
    ///
    /// - Parameters:
    ///   - name: The signature's name.
    ///   - way: For the party itself, for another that has delegated it, or as the witness of a signature on paper.
    ///   - late: The original time, where it is entered afterwards.
    package func sign(
        _ chain: UniqueID,
        as name: Name? = nil,
        _ way: SigningWay = .own,
        late: LateEntry? = nil
    ) throws -> Said {
        try existing(chain)
        return try say(chain) { folded in
            let rule = try signature(name, way, in: folded.state)
            let role = try role(toSign: rule, way, in: folded.state)
            return [
                Word(role: role, late: late) { state, parents, _ in
                    // Without a leg there is nothing to sign, and the engine says so.
                    let snapshot =
                        way.paper != nil && role != rule.role
                        ? state.paperSnapshot(rule.name, parents: parents)
                        : state.signatureSnapshot(
                            rule.name,
                            by: way.principal ?? self.certificate.party,
                            parents: parents
                        )
                    return .signed(
                        signature: rule.name,
                        snapshot: snapshot?.hash ?? SHA256.hash([UInt8]()),
                        statement: rule.statement,
                        way
                    )
                }
            ]
        }
    }

    /// The signature of this name, or the only one that the device can give this way.
    func signature(_ name: Name?, _ way: SigningWay, in state: ChainState) throws -> Scheme.SignatureRule {
        let scheme = try scheme(of: state)
        if let name {
            if let rule = scheme.signature(name) { return rule }
            throw DeviceError(
                .badInput,
                "expected the name of a signature, got “\(name)”",
                remedy: "the scheme has \(scheme.signatures.map(\.name.text).joined(separator: ", "))"
            )
        }
        // Each signature that can be given this way, with the leg it would be given on.
        let mine = scheme.signatures.compactMap { rule in leg(for: rule, way, in: state).map { (rule: rule, leg: $0) } }
        let open = mine.filter { state.signature($0.rule.name, on: $0.leg.event) == nil }
        let ready = open.filter { isReady($0.rule, on: $0.leg, in: state) }
        // With one signature only, or none given yet, the engine says better what is in the way.
        if ready.isEmpty, let only = mine.first?.rule, mine.count == 1 { return only }
        if ready.isEmpty, way == .own,
            let principal = state.delegations.last(where: { isOpenToMe($0, in: state) })?.from
        {
            let who = try partyName(principal) ?? principal.description
            throw DeviceError(
                .nothingToDo,
                "expected a signature of your own with something to sign, got none",
                remedy: "to sign in the place of \(who), say so with --for '\(who)'"
            )
        }
        if ready.isEmpty, !open.isEmpty, open.count < mine.count {
            throw DeviceError(
                .nothingToDo,
                "expected a signature with something to sign, got none",
                remedy: "to sign all the same, name one with --as NAME: "
                    + open.map(\.rule.name.text).joined(separator: ", ")
            )
        }
        return try Device.onlyOne(
            (ready.isEmpty ? open : ready).map(\.rule),
            of: "signatures",
            named: \.name,
            option: "--as NAME"
        )
    }

    /// The leg that a signature would be given on in this way; nil where the device cannot give it so.
    private func leg(
        for rule: Scheme.SignatureRule,
        _ way: SigningWay,
        in state: ChainState
    ) -> ChainState.Leg? {
        switch way {
        case .own: return certificate.roles.contains(rule.role) ? ownLeg(rule.role, in: state) : nil
        case .delegate(let principal):
            let given = state.delegations.last {
                $0.from == principal && isMineNow($0) && $0.signatures.contains(rule.name)
            }
            return given.flatMap { state.leg($0.leg) }
        case .paper:
            guard ownRoles(in: state).contains(where: rule.paper.contains) else { return nil }
            return attestedLeg(of: rule, in: state)
        }
    }

    /// Whether nothing that is known here speaks against giving a signature now: its role's own earlier ones are given,
    /// it is not too late, and something that it covers has a value.
    private func isReady(_ rule: Scheme.SignatureRule, on leg: ChainState.Leg, in state: ChainState) -> Bool {
        let isEarly = rule.after.contains { needed in
            !needed.isOptional && state.scheme?.signature(needed.stage)?.role == rule.role
                && state.signature(needed.stage, on: leg.event) == nil
        }
        let isLate = rule.before.contains { stage in
            state.signatures.contains { $0.name == stage }
                || state.legs.contains { $0.offer.flatMap { state.offers[$0] }?.offer.handoff == stage }
        }
        let values = state.values(of: leg.event)
        return !isEarly && !isLate && (rule.covers.names.isEmpty || values.keys.contains(where: rule.covers.contains))
    }

    private func isMineNow(_ delegation: ChainState.Delegation) -> Bool {
        delegation.to == certificate.party && now().milliseconds <= delegation.until.milliseconds
    }

    /// Whether a signature is left that this party can give by the delegation.
    private func isOpenToMe(_ delegation: ChainState.Delegation, in state: ChainState) -> Bool {
        isMineNow(delegation)
            && delegation.signatures.contains { state.signature($0, on: delegation.leg) == nil }
    }

    /// The leg whose signature on paper this party would attest: its own where that lacks it, else the role's latest.
    private func attestedLeg(of rule: Scheme.SignatureRule, in state: ChainState) -> ChainState.Leg? {
        let own = rule.paper.contains(rule.role) ? ownLeg(rule.role, in: state) : nil
        if let own, state.signature(rule.name, on: own.event) == nil { return own }
        guard ownRoles(in: state).contains(where: { $0 != rule.role && rule.paper.contains($0) }) else { return own }
        let legs = (state.legs + state.seats).filter { $0.role == rule.role }
        return legs.last { state.signature(rule.name, on: $0.event) == nil } ?? legs.last
    }

    /// The role that a signature is given in: that of whoever signs, or of whoever attests.
    private func role(toSign rule: Scheme.SignatureRule, _ way: SigningWay, in state: ChainState) throws -> Name {
        guard way.paper != nil else { return rule.role }
        if rule.paper.contains(rule.role), let own = ownLeg(rule.role, in: state),
            certificate.roles.contains(rule.role), state.signature(rule.name, on: own.event) == nil
        {
            return rule.role
        }
        // Another role of the party's can attest what the latest in the signature's role signed.
        return try role(among: rule.paper.filter { $0 != rule.role }, in: state)
    }
}
