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
    /// The day that codes are judged by.
    lazy var day = String(event.happened.description.prefix(10))

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
        // Who signs in another's place does so in a role of that other.
        if !certificate.roles.contains(event.role), signingWay?.principal == nil {
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

    /// How the event signs, where it does.
    private var signingWay: SigningWay? {
        if case .signed(_, _, _, let way) = event.content { way } else { nil }
    }

    mutating func checkContent() {
        let count = reasons.count
        checkEnding()
        // What else may be wrong with it does not matter once the chain has ended.
        guard reasons.count == count else { return }
        switch event.content {
        case .chainOpened(let reference): checkOpening(reference)
        case .handoffAccepted(let half): checkAcceptance(half)
        case .handoffDeclined(let half, _): checkDecline(half)
        case .fieldsSet, .noteAdded, .signed, .handoffOffered, .handoffWithdrawn, .handoffAcknowledged, .partyAdmitted,
            .signatureDelegated, .correctionProposed, .correctionApproved, .correctionRefused, .chainLinked,
            .chainCancelled, .chainClosed:
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
        let party = signingWay?.principal ?? certificate.party
        guard let leg = state.leg(of: party, in: event.role, seenBy: clock) else {
            if case .handoffOffered = event.content {
                refuse(.notTheHolder, event.role.text, "the party has not taken the load as \(event.role)")
            } else {
                refuse(.roleNotHeld, event.role.text, "the party has no leg as \(event.role) that the event has seen")
            }
            return
        }
        checkLate(scheme)
        switch event.content {
        case .fieldsSet(let changes): checkFields(changes, scheme: scheme, leg: leg)
        case .signed(let name, let snapshot, let statement, let way):
            checkSignature(name, snapshot, statement, way, scheme: scheme, leg: leg)
        case .handoffOffered(let offer): checkOffer(offer, scheme: scheme, leg: leg)
        case .handoffWithdrawn(let offer, _): checkWithdrawal(offer)
        case .handoffAcknowledged(let reply): checkAcknowledgement(reply)
        case .partyAdmitted(let party, let role): checkAdmission(of: party, as: role, scheme: scheme)
        case .signatureDelegated(let names, let to, let until): checkDelegation(names, to, until, scheme: scheme)
        case .correctionProposed(let changes, _): checkCorrection(changes, scheme: scheme, leg: leg)
        case .correctionApproved(let correction): checkAnswer(to: correction)
        case .correctionRefused(let correction, _): checkAnswer(to: correction)
        case .chainLinked(let link): checkLink(link, scheme: scheme, leg: leg)
        case .chainCancelled: checkCancelling(scheme, leg: leg)
        case .chainClosed(let outcome, let why): checkClosing(outcome, why, scheme: scheme, leg: leg)
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
        checkLate(scheme)
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
}
