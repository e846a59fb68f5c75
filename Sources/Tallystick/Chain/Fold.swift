import TallystickCrypto

extension ChainState {
    /// Folds a decided event in: the one place where a chain's state changes.
    ///
    /// An accepted event takes effect. A refused one is remembered, so that its descendants can be decided and its
    /// number is not used again; one that its device did not sign is not even that. A waiting one changes nothing.
    public mutating func fold(_ arrival: Arrival, _ verdict: Verdict, in context: DecisionContext) {
        let event = arrival.event
        switch verdict.outcome {
        case .waiting: return
        case .refused:
            guard arrival.certificate != nil, arrival.isSignatureValid else { return }
        case .accepted: break
        }
        let isFork = hashBySeq[SeqKey(device: event.device, seq: event.seq)].map { $0 != event.hash } ?? false
        var clock = clock(before: event)
        // A clock's number stands for every earlier one: an event that skips some is not seen by its descendants.
        if !isFork, clock[event.device] == event.seq - 1 { clock.see(event.device, event.seq) }
        if verdict.outcome == .accepted {
            apply(arrival, clock: clock, warnings: verdict.warnings, finding: verdict.handoff, context: context)
        } else {
            remember(refused: arrival, verdict)
        }
        known[event.hash] = KnownEvent(clock: clock, isAccepted: verdict.outcome == .accepted)
        for parent in event.parents { heads.remove(parent) }
        if !isFork {
            remember(event.hash, of: event.device, seq: event.seq)
            heads.insert(event.hash)
        }
        let idKey = IDKey(device: event.device, id: event.id)
        if hashByID[idKey] == nil { hashByID[idKey] = event.hash }
    }

    /// The reasons that only others' earlier words give.
    private static let contestable: [ReasonCode] = [
        .offerTaken, .notTheHolder, .offerWithdrawn, .offerDeclined, .chainClosed,
    ]

    private mutating func remember(refused arrival: Arrival, _ verdict: Verdict) {
        switch arrival.event.content {
        case .handoffAccepted(let half):
            let offer = half.statement.offer
            let taker = legs.first { $0.offer == offer }
            let wasFirst = taker ?? offers[offer].flatMap { leg(after: $0.leg) }
            // Refused for nothing but what others said first: two parties then say to have the load.
            guard !verdict.reasons.isEmpty,
                verdict.reasons.allSatisfy({ ChainState.contestable.contains($0.code) }),
                let party = arrival.certificate?.party, wasFirst?.party != party
            else { return }
            contests.append(
                Contest(acceptance: arrival.event.hash, offer: offer, party: party, at: arrival.event.at)
            )
        case .handoffOffered(let offer) where verdict.handoff?.mac == .matched:
            guard let scheme, let index = scheme.handoff(offer.handoff)?.index,
                let statement = HandoffStatement(
                    offer,
                    chain: chain,
                    scheme: scheme.reference.hash,
                    handoffIndex: index
                )
            else { return }
            refusedOffers[SHA256.hash(statement.bytes)] = arrival.event.hash
        default: break
        }
    }

    private mutating func apply(
        _ arrival: Arrival,
        clock: Clock,
        warnings: [Reason],
        finding: HandoffFinding?,
        context: DecisionContext
    ) {
        let event = arrival.event
        // An accepted event was decided with a certificate.
        guard let party = arrival.certificate?.party else { return }
        let leg = leg(of: party, in: event.role, seenBy: clock)
        if !warnings.isEmpty {
            warned.append(Warned(event: event.hash, party: party, leg: leg?.event, at: event.at, reasons: warnings))
        }
        switch event.content {
        case .chainOpened(let reference):
            opening = Opening(event: event.hash, party: party, scheme: reference, at: event.at)
            scheme = context.scheme(reference)
            legs.insert(newLeg(event, party: party, role: event.role, number: 1, half: nil, finding: nil), at: 0)
        case .fieldsSet(let changes):
            guard let leg else { return }
            for change in changes { write(change, event: event, leg: leg.event, clock: clock) }
        case .signed(let name, let snapshot, _, let way):
            sign(name, snapshot, way, event: event, signer: party, warnings: warnings, clock: clock)
        case .partyAdmitted(let admitted, let role):
            seats.append(newLeg(event, party: admitted, role: role, number: nil, half: nil, finding: nil))
        case .signatureDelegated(let names, let to, let until):
            guard let leg else { return }
            delegations.append(
                Delegation(
                    event: event.hash,
                    leg: leg.event,
                    from: party,
                    to: to,
                    signatures: names,
                    until: until,
                    device: event.device,
                    seq: event.seq
                )
            )
        case .correctionProposed(let changes, let why):
            guard let leg else { return }
            propose(changes, why, event: event, party: party, leg: leg, clock: clock)
        case .correctionApproved(let correction): approve(correction, event: event, party: party, clock: clock)
        case .correctionRefused(let correction, let why):
            guard let index = corrections.firstIndex(where: { $0.event == correction }) else { return }
            corrections[index].end = .refused(by: party, why: why)
        case .chainLinked(let link):
            links.append(Link(link: link, event: event.hash, party: party, at: event.at))
        case .chainCancelled(let why): end(nil, why, event: event, party: party)
        case .chainClosed(let outcome, let why): end(outcome, why, event: event, party: party)
        case .noteAdded(let text):
            notes.append(Note(text: text, event: event.hash, party: party, role: event.role, at: event.at))
        case .handoffOffered(let offer):
            guard let leg, let scheme, let index = scheme.handoff(offer.handoff)?.index,
                let statement = HandoffStatement(
                    offer,
                    chain: event.chain,
                    scheme: scheme.reference.hash,
                    handoffIndex: index
                )
            else { return }
            offers[offer.id] = OfferState(
                offer: offer,
                event: event.hash,
                statement: statement,
                leg: leg.event,
                device: event.device,
                at: event.at,
                end: .open,
                clock: clock
            )
        case .handoffWithdrawn(let id, _): offers[id]?.end = .withdrawn
        case .handoffDeclined(let half, let why):
            offers[half.statement.offer]?.end = .declined(by: party, why: why)
            offers[half.statement.offer]?.decliners.insert(party)
        case .handoffAccepted(let half):
            let offer = offers[half.statement.offer]
            if scheme == nil { scheme = context.schemeByPrefix(half.statement.schemePrefix) }
            let giver = offer.flatMap { self.leg($0.leg) }
            let number = giver?.number.map { $0 + 1 }
            offers[half.statement.offer]?.end = .taken(event.hash)
            if let offer { heads.remove(offer.event) }
            legs.append(newLeg(event, party: party, role: event.role, number: number, half: half, finding: finding))
        case .handoffAcknowledged(let reply): offers[reply.offer]?.reply = reply
        case .unknown: unreadable.append(event.hash)
        }
    }

    private mutating func sign(
        _ name: Name,
        _ snapshot: Digest,
        _ way: SigningWay,
        event: Event,
        signer: UniqueID,
        warnings: [Reason],
        clock: Clock
    ) {
        guard let rule = scheme?.signature(name) else { return }
        let own = leg(of: way.principal ?? signer, in: event.role, seenBy: clock)
        let isAttested = way.paper != nil && rule.role != event.role
        guard let leg = isAttested ? leg(toAttest: rule, seenBy: clock) : own else { return }
        signatures.append(
            ChainSignature(
                name: name,
                event: event.hash,
                leg: leg.event,
                party: leg.party,
                signer: signer,
                way: way,
                device: event.device,
                seq: event.seq,
                snapshot: snapshot,
                at: event.at,
                happened: way.paper?.at ?? event.happened,
                warnings: warnings
            )
        )
    }

    private mutating func propose(
        _ changes: [EventContent.FieldChange],
        _ why: String,
        event: Event,
        party: UniqueID,
        leg: Leg,
        clock: Clock
    ) {
        let roles = Set(changes.flatMap { scheme?.field($0.path)?.correct ?? [] })
        // Who takes part in one of the roles is asked; a role that nobody has asks nobody.
        var approvers: [UniqueID] = []
        for other in legs + seats where roles.contains(other.role) && other.party != party {
            if !approvers.contains(other.party) { approvers.append(other.party) }
        }
        corrections.append(
            Correction(
                event: event.hash,
                leg: leg.event,
                party: party,
                role: event.role,
                changes: changes,
                why: why,
                at: event.at,
                approvers: approvers,
                end: approvers.isEmpty ? .applied(event.hash) : .open,
                device: event.device,
                seq: event.seq
            )
        )
        guard approvers.isEmpty else { return }
        for change in changes { write(change, event: event, leg: leg.event, clock: clock) }
    }

    private mutating func approve(_ name: Digest, event: Event, party: UniqueID, clock: Clock) {
        guard let index = corrections.firstIndex(where: { $0.event == name }) else { return }
        corrections[index].approved.append(party)
        let correction = corrections[index]
        guard correction.approved.count == correction.approvers.count else { return }
        corrections[index].end = .applied(event.hash)
        for change in correction.changes { write(change, event: event, leg: correction.leg, clock: clock) }
    }

    private mutating func end(_ outcome: Name?, _ why: String, event: Event, party: UniqueID) {
        ending = Ending(
            outcome: outcome,
            why: why,
            event: event.hash,
            party: party,
            at: event.at,
            device: event.device,
            seq: event.seq
        )
    }

    private func newLeg(
        _ event: Event,
        party: UniqueID,
        role: Name,
        number: Int?,
        half: HandoffHalf?,
        finding: HandoffFinding?
    ) -> Leg {
        Leg(
            event: event.hash,
            number: number,
            role: role,
            party: party,
            device: event.device,
            seq: event.seq,
            offer: half?.statement.offer,
            received: half?.statement.snapshot,
            finding: finding,
            at: event.at
        )
    }

    private func leg(after event: Digest) -> Leg? {
        guard let index = legs.firstIndex(where: { $0.event == event }), index + 1 < legs.endIndex else { return nil }
        return legs[index + 1]
    }

    /// Writes a value, or removes a whole line.
    ///
    /// A removal is also a write to the line's fields that come later, so that it does not matter which of two devices
    /// that had not seen each other is heard first.
    private mutating func write(_ change: EventContent.FieldChange, event: Event, leg: Digest, clock: Clock) {
        let write = Slot.Write(
            value: change.value,
            event: event.hash,
            device: event.device,
            seq: event.seq,
            at: event.at,
            clock: clock
        )
        if change.path.field != nil {
            if let line = change.path.line, let earlier = removals[LineKey(leg: leg, line: line)],
                slots[leg]?[change.path] == nil
            {
                var slot = Slot()
                for removal in earlier { slot.append(removal) }
                slots[leg, default: [:]][change.path] = slot
            }
            // In place: a copy of the slot would copy all its writes.
            slots[leg, default: [:]][change.path, default: Slot()].append(write)
        } else if let line = change.path.line {
            removals[LineKey(leg: leg, line: line), default: []].append(write)
            for path in (slots[leg] ?? [:]).keys where path.line == line { slots[leg]?[path]?.append(write) }
        }
    }
}
