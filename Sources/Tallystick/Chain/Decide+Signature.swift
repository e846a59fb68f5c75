import TallystickCrypto

extension Deciding {
    mutating func checkSignature(
        _ name: Name,
        _ snapshot: Digest,
        _ statement: String,
        _ way: SigningWay,
        scheme: Scheme,
        leg own: ChainState.Leg
    ) {
        guard let rule = scheme.signature(name), let leg = leg(ofSignature: rule, way, own: own) else {
            if reasons.isEmpty { refuse(.notYourSignature, name.text) }
            return
        }
        if let given = state.signature(name, on: leg.event) {
            refuse(.alreadySigned, name.text, "event \(given.event)")
            return
        }
        if isProvisional, let event = state.unreadable.first {
            refuse(.unsupportedVersion, event.hex, "the chain has an event that needs a newer version")
        }
        checkEarlier(rule.after, role: rule.role, leg: leg, scheme: scheme)
        for stage in rule.before where isDone(stage, scheme: scheme) { refuse(.tooLate, stage.text) }
        checkOrder(rule.notBefore, paper: way.paper, scheme: scheme)
        checkConflicts(of: leg, in: rule.covers)
        let values = state.values(of: leg.event, seenBy: clock)
        let judged = judge(name, leg: leg, values: values, scheme: scheme)
        reasons.append(contentsOf: judged.errors)
        warnings.append(contentsOf: judged.warnings)
        let expected = Snapshot.signature(
            rule,
            statement: rule.statement,
            leg: leg,
            values: values,
            chain: event.chain,
            scheme: scheme.reference.hash
        )
        if !sameBytes(statement, rule.statement) {
            refuse(.snapshotMismatch, name.text, "the statement is not the scheme's wording")
        } else if expected.hash != snapshot {
            refuse(.snapshotMismatch, name.text, "expected \(expected.hash), got \(snapshot)")
        }
    }

    /// The leg that a signature belongs to; nil where the author cannot give it this way, which is refused.
    private mutating func leg(
        ofSignature rule: Scheme.SignatureRule,
        _ way: SigningWay,
        own: ChainState.Leg
    ) -> ChainState.Leg? {
        switch way {
        case .own: return rule.role == event.role ? own : nil
        case .delegate(let principal):
            guard rule.role == event.role else { return nil }
            guard rule.isDelegable else {
                refuse(.delegationInvalid, rule.name.text, "the scheme wants it from the party itself")
                return nil
            }
            let given = state.delegations.last {
                $0.leg == own.event && $0.from == principal && $0.to == certificate.party
                    && $0.signatures.contains(rule.name) && clock.sees($0.device, $0.seq)
            }
            guard let given, event.at.milliseconds <= given.until.milliseconds else {
                refuse(.notDelegated, rule.name.text, given.map { "it was delegated until \($0.until)" })
                return nil
            }
            return own
        case .paper(let paper):
            guard rule.paper.contains(event.role) else {
                refuse(.paperNotAllowed, rule.name.text, "the scheme does not let the \(event.role) attest it")
                return nil
            }
            guard let leg = rule.role == event.role ? own : state.leg(toAttest: rule, seenBy: clock) else {
                refuse(.paperNotAllowed, rule.name.text, "no party takes part as \(rule.role) that the event has seen")
                return nil
            }
            if let at = paper.at, at.milliseconds > event.at.milliseconds {
                refuse(.paperNotAllowed, rule.name.text, "the paper is dated after the event, \(at)")
            }
            return leg
        }
    }

    /// What the scheme's rules and checks say at a stage of this leg.
    func judge(
        _ stage: Name,
        leg: ChainState.Leg,
        values: [FieldPath: JSON],
        scheme: Scheme
    ) -> (errors: [Reason], warnings: [Reason]) {
        Judgement(
            scheme: scheme,
            stage: stage,
            role: leg.role,
            values: values,
            others: { role in state.latestLeg(of: role).map { state.values(of: $0.event) } ?? [:] },
            isSigned: { name in
                let isOwn = scheme.signature(name)?.role == leg.role
                return state.signatures.contains { $0.name == name && (!isOwn || $0.leg == leg.event) }
            }
        ).reasons()
    }

    /// Stages that must be done before: the signer's own are on its leg and among what the event has seen, so they are
    /// known by now; others' are anywhere in the chain, and may still be on somebody's device.
    mutating func checkEarlier(_ guards: [Scheme.Guard], role: Name, leg: ChainState.Leg, scheme: Scheme) {
        for needed in guards {
            let name = needed.stage
            let isSignature = scheme.signature(name) != nil
            let isOwn = (scheme.signature(name)?.role ?? scheme.handoff(name)?.rule.from) == role
            let isDone =
                isSignature
                ? state.signatures.contains {
                    $0.name == name && (!isOwn || $0.leg == leg.event && clock.sees($0.device, $0.seq))
                } : isTaken(name, from: isOwn ? leg : nil)
            if isDone { continue }
            if needed.isOptional {
                warnings.append(Reason(.signatureMissing, name.text))
            } else if isOwn, isSignature {
                refuse(.signatureOutOfOrder, name.text)
            } else if !isProvisional {
                awaits.append(isSignature ? .signature(name) : .handoff(name))
            } else if state.opening != nil, !state.legs.contains(where: { $0.number == nil }),
                !state.offers.values.contains(where: { isHandedOver($0) })
            {
                // A device that took the load by code alone, or has just given it away, does not know what others
                // signed; the server will.
                refuse(.signatureOutOfOrder, name.text)
            }
        }
    }

    /// Whether a load was taken by a handoff, from this leg where one is given.
    private func isTaken(_ handoff: Name, from leg: ChainState.Leg?) -> Bool {
        state.offers.values.contains { offer in
            guard offer.offer.handoff == handoff, leg == nil || offer.leg == leg?.event else { return false }
            if case .taken = offer.end { return true }
            return isProvisional && isHandedOver(offer)
        }
    }

    /// Whether a stage is done anywhere in the chain.
    func isDone(_ stage: Name, scheme: Scheme) -> Bool {
        scheme.signature(stage) == nil
            ? isTaken(stage, from: nil) : state.signatures.contains { $0.name == stage }
    }

    /// Clocks differ between devices, so a time that is out of order warns and refuses nothing.
    private mutating func checkOrder(_ stages: [Name], paper: PaperSignature?, scheme: Scheme) {
        let own = paper?.at ?? event.happened
        for stage in stages {
            guard let time = state.time(of: stage), time.milliseconds > own.milliseconds else { continue }
            warnings.append(Reason(.timeOutOfOrder, stage.text, "\(time) there, \(own) here"))
        }
    }
}

extension ChainState {
    /// When a stage was first done, by the clock of whoever did it.
    func time(of stage: Name) -> Timestamp? {
        if let signature = signatures.first(where: { $0.name == stage }) { return signature.happened }
        return legs.first { leg in leg.offer.flatMap { offers[$0] }?.offer.handoff == stage }?.at
    }

    /// The leg whose signature is attested: the latest of the role that an observer with this clock has seen without
    /// it, or the latest at all where each has it.
    func leg(toAttest rule: Scheme.SignatureRule, seenBy clock: Clock) -> Leg? {
        let seen = (legs + seats).filter { $0.role == rule.role && clock.sees($0.device, $0.seq) }
        let unsigned = seen.last { leg in
            !signatures.contains { $0.name == rule.name && $0.leg == leg.event && clock.sees($0.device, $0.seq) }
        }
        return unsigned ?? seen.last
    }
}
