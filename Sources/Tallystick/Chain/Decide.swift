import TallystickCrypto

extension ChainState {
    /// Decides an event: the one place where it is settled what becomes part of a chain.
    ///
    /// Pure: the same state, arrival and context give the same verdict. A refusal names every reason that was found.
    public func decide(_ arrival: Arrival, in context: DecisionContext) -> Verdict {
        guard let certificate = arrival.certificate else {
            return .refused([Reason(.unknownDevice, arrival.event.device.description)])
        }
        guard arrival.isSignatureValid else {
            return .refused([Reason(.badSignature, arrival.event.hash.hex)])
        }
        let event = arrival.event
        // Before everything that refuses: what is folded without its parents would hide them from its descendants.
        let missing = event.parents.filter { known[$0] == nil }
        guard missing.isEmpty else { return .waiting(missing.map { .event($0) }) }

        var deciding = Deciding(state: self, arrival: arrival, certificate: certificate, context: context)
        deciding.checkMAC()
        deciding.checkIsNew()
        guard deciding.reasons.isEmpty else { return deciding.verdict }
        deciding.checkAuthor()
        deciding.checkContent()
        return deciding.verdict
    }
}

/// One decision under way: collects reasons and what to wait for.
struct Deciding {
    let state: ChainState
    let event: Event
    let arrival: Arrival
    let certificate: Certificate
    let context: DecisionContext
    let clock: Clock
    var reasons: [Reason] = []
    var awaits: [Awaited] = []
    var warnings: [Reason] = []
    var finding: HandoffFinding?

    init(state: ChainState, arrival: Arrival, certificate: Certificate, context: DecisionContext) {
        self.state = state
        self.arrival = arrival
        self.certificate = certificate
        self.context = context
        event = arrival.event
        clock = state.clock(before: arrival.event)
    }

    var isProvisional: Bool {
        if case .provisional = context.stage { true } else { false }
    }

    var verdict: Verdict {
        if !reasons.isEmpty { return .refused(reasons, handoff: finding) }
        if !awaits.isEmpty { return .waiting(awaits) }
        return .accepted(warnings: warnings, handoff: finding)
    }

    mutating func refuse(_ code: ReasonCode, _ subject: String? = nil, _ detail: String? = nil) {
        reasons.append(Reason(code, subject, detail))
    }

    /// Whether the device says this for the first time, in words that this engine knows.
    mutating func checkIsNew() {
        if let other = state.hashByID[ChainState.IDKey(device: event.device, id: event.id)], other != event.hash {
            refuse(.idReused, event.id.description, "the id belongs to event \(other)")
        } else if let other = state.event(of: event.device, seq: event.seq), other != event.hash {
            refuse(.sequenceForked, "\(event.seq)", "the number belongs to event \(other)")
        } else if case .unknown(let type, let version, _) = event.content {
            refuse(.unsupportedVersion, "\(type) \(version)")
        }
    }

    mutating func checkAuthor() {
        if arrival.isRevoked { refuse(.deviceRevoked, event.device.description) }
        if event.at.milliseconds < certificate.notBefore.milliseconds
            || event.at.milliseconds > certificate.notAfter.milliseconds
        {
            refuse(
                .certificateNotValid,
                event.at.description,
                "the certificate is valid from \(certificate.notBefore) to \(certificate.notAfter)"
            )
        }
        if !certificate.roles.contains(event.role) {
            refuse(
                .roleNotHeld,
                event.role.text,
                "the device may act as \(certificate.roles.map(\.text).joined(separator: ", "))"
            )
        }
        if clock[event.device] != event.seq - 1 {
            refuse(
                .parentsInvalid,
                "\(event.seq)",
                "the parents lead to the device's event \(clock[event.device]), not to \(event.seq - 1)"
            )
        }
    }

    mutating func checkContent() {
        switch event.content {
        case .chainOpened(let reference): checkOpening(reference)
        case .handoffAccepted(let half): checkAcceptance(half)
        case .handoffDeclined(let half, _): checkDecline(half)
        case .fieldsSet, .noteAdded, .signed, .handoffOffered, .handoffWithdrawn, .handoffAcknowledged:
            checkParticipant()
        case .unknown: break
        }
    }

    /// What only somebody who already takes part can say.
    private mutating func checkParticipant() {
        guard let scheme = state.scheme else {
            // Whatever could have made the author a participant is among the parents' ancestors, and decided: there is
            // nothing to wait for.
            if event.parents.isEmpty {
                refuse(.parentsInvalid, nil, "only an opening, an acceptance or a refusal can be a device's first word")
            } else {
                refuse(.roleNotHeld, event.role.text, "the event has seen nothing that opened the chain")
            }
            return
        }
        guard let leg = state.leg(of: certificate.party, in: event.role, seenBy: clock) else {
            if case .handoffOffered = event.content {
                refuse(.notTheHolder, event.role.text, "the party has not taken the load as \(event.role)")
            } else {
                refuse(.roleNotHeld, event.role.text, "the party has no leg as \(event.role) that the event has seen")
            }
            return
        }
        switch event.content {
        case .fieldsSet(let changes): checkFields(changes, scheme: scheme, leg: leg)
        case .signed(let name, let snapshot, let statement):
            checkSignature(name, snapshot, statement, scheme: scheme, leg: leg)
        case .handoffOffered(let offer): checkOffer(offer, scheme: scheme, leg: leg)
        case .handoffWithdrawn(let offer, _): checkWithdrawal(offer)
        case .handoffAcknowledged(let reply): checkAcknowledgement(reply)
        default: break
        }
    }

    private mutating func checkOpening(_ reference: SchemeReference) {
        if let opening = state.opening {
            refuse(.alreadyOpened, state.chain.description, "event \(opening.event) opened it")
        }
        if !state.chain.isOpened(by: event.device) {
            refuse(.chainNotYours, state.chain.description, "the identifier was made by another device")
        }
        if event.seq != 1 || !event.parents.isEmpty {
            refuse(.parentsInvalid, nil, "an opening is its device's first word in a chain and has no parents")
        }
        guard let scheme = context.scheme(reference) else {
            refuse(.schemeUnknown, "\(reference.id) version \(reference.version)", "hash \(reference.hash)")
            return
        }
        if scheme.role(event.role)?.opens != true {
            refuse(.roleNotHeld, event.role.text, "the scheme does not let a \(event.role) open a chain")
        }
    }

    private mutating func checkFields(_ changes: [EventContent.FieldChange], scheme: Scheme, leg: ChainState.Leg) {
        let isSealed = state.signatures.contains {
            $0.leg == leg.event && scheme.signature($0.name)?.role == event.role
        }
        let day = String(event.at.description.prefix(10))
        for change in changes {
            let path = change.path.description
            let field = scheme.field(change.path)
            guard let owner = field?.owner ?? lineOwner(of: change.path, in: scheme) else {
                refuse(.fieldUnknown, path)
                continue
            }
            guard owner == event.role else {
                refuse(.notYourField, path, "it belongs to the \(owner)")
                continue
            }
            if isSealed { refuse(.fieldSealed, path) }
            if let value = change.value, let field,
                let fault = scheme.fault(of: value, in: field, on: day)
            {
                refuse(.fieldInvalid, path, fault)
            }
        }
        checkLineCounts(changes, scheme: scheme, leg: leg)
    }

    /// Whose a whole line is; nil for the path of a field.
    private func lineOwner(of path: FieldPath, in scheme: Scheme) -> Name? {
        path.field == nil ? path.line.flatMap { scheme.lines($0.list) }?.owner : nil
    }

    private mutating func checkLineCounts(
        _ changes: [EventContent.FieldChange],
        scheme: Scheme,
        leg: ChainState.Leg
    ) {
        // With fewer values in all than any group may have lines, there is nothing to count.
        let mostValues = changes.count + state.slots.count
        guard scheme.lines.contains(where: { mostValues > $0.maximum }) else { return }
        let touched = changes.filter { $0.path.line != nil }
        guard !touched.isEmpty else { return }
        let removed = Set(touched.compactMap { $0.path.field == nil ? $0.path.line : nil })
        let written = Set(touched.compactMap { $0.path.field == nil ? nil : $0.path })
        for group in scheme.lines where touched.contains(where: { $0.path.line?.list == group.name }) {
            // What stands after the event: what it writes, and what it leaves as it is.
            var ids: Set<Name> = []
            for change in touched where change.value != nil {
                if let line = change.path.line, line.list == group.name { ids.insert(line.id) }
            }
            for (key, slot) in state.slots where key.leg == leg.event && key.path.line?.list == group.name {
                guard let line = key.path.line, slot.value != nil, !removed.contains(line), !written.contains(key.path)
                else { continue }
                ids.insert(line.id)
            }
            if ids.count > group.maximum {
                refuse(.fieldInvalid, group.name.text, "expected at most \(group.maximum) lines, got \(ids.count)")
            }
        }
    }

    /// Values that contradict each other, or that the event has not seen: nobody can sign or hand over across them.
    mutating func checkConflicts(of leg: ChainState.Leg) {
        var paths: [FieldPath] = []
        for (key, slot) in state.slots where key.leg == leg.event {
            let seen = slot.value(seenBy: clock)
            if slot.isInConflict || slot.current.contains(where: { slot.writes[$0].value != seen }) {
                paths.append(key.path)
            }
        }
        for path in paths.sorted() {
            refuse(
                .conflictOpen,
                path.description,
                "another device of the \(leg.role) wrote a value this event had not seen"
            )
        }
    }

    private mutating func checkSignature(
        _ name: Name,
        _ snapshot: Digest,
        _ statement: String,
        scheme: Scheme,
        leg: ChainState.Leg
    ) {
        guard let rule = scheme.signature(name), rule.role == event.role else {
            refuse(.notYourSignature, name.text)
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
        checkConflicts(of: leg)
        let values = state.values(of: leg.event, seenBy: clock)
        let judged = Judgement(scheme: scheme, values: values).reasons(at: name, of: rule.role)
        reasons.append(contentsOf: judged.errors)
        warnings.append(contentsOf: judged.warnings)
        warnings.append(contentsOf: discrepancies(at: name, scheme: scheme))
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

    /// Signatures that must come before: the signer's own are on its leg and among what the event has seen, so they
    /// are known by now; others' are anywhere in the chain, and may still be on somebody's device.
    mutating func checkEarlier(_ names: [Name], role: Name, leg: ChainState.Leg, scheme: Scheme) {
        for name in names {
            let isOwn = scheme.signature(name)?.role == role
            let isGiven = state.signatures.contains {
                $0.name == name && (!isOwn || $0.leg == leg.event && clock.sees($0.device, $0.seq))
            }
            if isGiven { continue }
            if isOwn {
                refuse(.signatureOutOfOrder, name.text)
            } else if !isProvisional {
                awaits.append(.signature(name))
            } else if state.opening != nil && !state.legs.contains(where: { $0.number == nil }) {
                // A device that took the load by code alone does not know what others signed; the server will.
                refuse(.signatureOutOfOrder, name.text)
            }
        }
    }

    private func discrepancies(at name: Name, scheme: Scheme) -> [Reason] {
        scheme.checks.filter { $0.at.contains(name) }.compactMap { check in
            check.difference(
                declared: state.currentValues(of: check.declared, scheme: scheme),
                received: state.currentValues(of: check.received, scheme: scheme)
            )
        }
    }
}

extension ChainState {
    /// What an event's author had seen when saying it: its parents and all their ancestors, and for an acceptance
    /// the offer that it answers.
    func clock(before event: Event) -> Clock {
        var clock = Clock()
        for parent in event.parents {
            if let seen = known[parent]?.clock { clock.merge(seen) }
        }
        switch event.content {
        case .handoffAccepted(let half), .handoffDeclined(let half, _):
            if let offer = offers[half.statement.offer] { clock.merge(offer.clock) }
        default: break
        }
        return clock
    }

    /// The values shown for a field, on the latest leg of the role that gives it; of every line where it is in lines.
    func currentValues(of reference: FieldReference, scheme: Scheme) -> [JSON] {
        let key = Scheme.FieldKey(list: reference.list, field: reference.field)
        guard let owner = scheme.fieldsByName[key]?.owner, let leg = legs.last(where: { $0.role == owner }) else {
            return []
        }
        return slots.compactMap { slot in
            let path = slot.key.path
            guard slot.key.leg == leg.event, path.field == reference.field, path.line?.list == reference.list else {
                return nil
            }
            return slot.value.value
        }
    }
}
