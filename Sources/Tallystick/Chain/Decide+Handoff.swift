import TallystickCrypto

extension Deciding {
    /// Makes an offer's MAC again.
    ///
    /// Asked before anything refuses the offer: an acceptance of an offer that the giver's own device made has an
    /// answer, whatever the offer is refused for, and must not wait for another one.
    mutating func checkMAC() {
        guard case .handoffOffered(let offer) = event.content, let scheme = state.scheme,
            let index = scheme.handoff(offer.handoff)?.index,
            let statement = HandoffStatement(
                offer,
                chain: event.chain,
                scheme: scheme.reference.hash,
                handoffIndex: index
            )
        else { return }
        let question = DecisionContext.MACQuestion(
            event: event.hash,
            giver: event.device,
            statement: statement,
            mac: offer.mac.bytes
        )
        finding = HandoffFinding(time: nil, mac: context.mac(question))
    }

    mutating func checkOffer(_ offer: Offer, scheme: Scheme, leg: ChainState.Leg) {
        if finding?.mac == .mismatched { refuse(.macMismatch, offer.id.description) }
        guard let rule = scheme.handoff(offer.handoff)?.rule, rule.from == event.role, rule.to == offer.to else {
            refuse(.offerInvalid, offer.id.description, "the scheme has no handoff “\(offer.handoff)” of this kind")
            return
        }
        if let challenge = offer.challenge, HandoffChallenge.offer(answering: challenge) != offer.id {
            refuse(.offerInvalid, offer.id.description, "it does not answer the challenge that it names")
        }
        if state.offers[offer.id] != nil { refuse(.idReused, offer.id.description, "the chain has this offer already") }
        let lifetime = offer.expires.seconds - event.at.seconds
        // The offer's end is in whole seconds, its start is not.
        if lifetime < 59 || lifetime > Int64(rule.longest) + 1 {
            refuse(
                .offerInvalid,
                offer.id.description,
                "expected it to last 60 to \(rule.longest) seconds, got \(lifetime)"
            )
        }
        // Judged by what the giver had seen: whether somebody else's acceptance came before or after this offer must not
        // matter, or an acceptance of it would be answered differently.
        if state.legs.last(where: { clock.sees($0.device, $0.seq) })?.event != leg.event {
            refuse(.notTheHolder, event.role.text, "the load has passed on")
            return
        }
        if isProvisional, state.offers.values.contains(where: { $0.leg == leg.event && isHandedOver($0) }) {
            refuse(.notTheHolder, event.role.text, "this device holds the taker's reply: the load has passed on")
        }
        checkEarlier(rule.after, role: rule.from, leg: leg, scheme: scheme)
        checkConflicts(of: leg, in: rule.covers)
        let values = state.values(of: leg.event, seenBy: clock)
        let judged = judge(rule.name, leg: leg, values: values, scheme: scheme)
        reasons.append(contentsOf: judged.errors)
        warnings.append(contentsOf: judged.warnings)
        let snapshot = Snapshot.handoff(
            rule,
            leg: leg,
            values: values,
            signatures: state.signatures.filter { $0.leg == leg.event && clock.sees($0.device, $0.seq) },
            chain: event.chain,
            scheme: scheme.reference.hash
        )
        if snapshot.hash != offer.snapshot {
            refuse(.snapshotMismatch, offer.id.description, "expected \(snapshot.hash), got \(offer.snapshot)")
        }
    }

    mutating func checkWithdrawal(_ id: OfferID) {
        // An offer that the event has not seen may as well not have come yet.
        guard let offer = state.offers[id], clock.sees(offer.device, offer.clock[offer.device]) else {
            refuse(.offerUnknown, id.description)
            return
        }
        if state.leg(offer.leg)?.party != certificate.party { refuse(.notTheHolder, id.description) }
        checkIsOpen(offer)
        if isProvisional, isHandedOver(offer) {
            refuse(.offerTaken, id.description, "this device holds the taker's reply")
        }
    }

    /// Whether the giver holds an acceptance of the offer that has not come itself.
    ///
    /// Asked of the giver's own device only, which should not be brought to contradict itself. The server goes by the
    /// acceptance, which says the same whatever the order in which the two arrive.
    func isHandedOver(_ offer: ChainState.OfferState) -> Bool {
        offer.reply.map { $0.isAcceptance && !state.knows($0.event) } ?? false
    }

    /// The giver's word that it holds the taker's reply.
    mutating func checkAcknowledgement(_ reply: HandoffReply) {
        let id = reply.offer.description
        guard let offer = state.offers[reply.offer] else {
            refuse(.offerUnknown, id)
            return
        }
        if state.leg(offer.leg)?.party != certificate.party { refuse(.notTheHolder, id) }
        // Who declined speaks for no other taker: an acceptance may still come.
        if let held = offer.reply, held == reply {
            refuse(.alreadyAcknowledged, id)
        } else if let held = offer.reply, held.isAcceptance || !reply.isAcceptance {
            refuse(.offerTaken, id, "another taker's reply to it was acknowledged first")
        }
        if SHA256.hash(offer.statement.bytes) != reply.statement {
            refuse(.snapshotMismatch, id, "the reply answers another statement than the giver's")
        }
        guard reasons.isEmpty, !state.knows(reply.event) else {
            if reasons.isEmpty { checkAnswered(offer, by: reply) }
            return
        }
        // The taker's own event may still be on its device; the giver goes on with the reply it holds.
        if !isProvisional { awaits.append(.event(reply.event)) }
    }

    private mutating func checkAnswered(_ offer: ChainState.OfferState, by reply: HandoffReply) {
        let id = offer.offer.id.description
        switch offer.end {
        case .taken(let event) where reply.isAcceptance && event == reply.event: break
        case .declined where !reply.isAcceptance: break
        case .taken(let event): refuse(.offerTaken, id, "event \(event) accepted it first")
        case .open, .withdrawn, .declined: refuse(.offerUnknown, id, "the taker's event \(reply.event) was refused")
        }
    }

    private mutating func checkIsOpen(_ offer: ChainState.OfferState) {
        let id = offer.offer.id.description
        switch offer.end {
        case .open, .declined: break
        case .withdrawn: refuse(.offerWithdrawn, id)
        case .taken(let acceptance): refuse(.offerTaken, id, "event \(acceptance) accepted it first")
        }
    }

    /// A code can be photographed by anybody: who declines speaks for no other taker, and not against the giver.
    private mutating func checkIsOpenToTaker(_ offer: ChainState.OfferState) {
        checkIsOpen(offer)
        guard case .declined = offer.end, offer.decliners.contains(certificate.party) else { return }
        refuse(.offerDeclined, offer.offer.id.description)
    }

    mutating func checkAcceptance(_ half: HandoffHalf) {
        guard let offer = offer(of: half) else { return }
        checkHalf(half, against: offer)
        checkIsOpenToTaker(offer)
        // Whoever was first may have taken the load by another offer of the same giver.
        if state.currentLeg?.event != offer.leg, !reasons.contains(where: { $0.code == .offerTaken }) {
            refuse(.notTheHolder, offer.offer.id.description, "the giver had handed the load to somebody else")
        }
        let time: HandoffFinding.TimeBasis?
        if arrival.received.seconds < half.statement.expires {
            time = .witnessed
        } else if event.at.seconds < half.statement.expires {
            time = .claimed
        } else {
            time = nil
            refuse(.offerExpired, offer.offer.id.description, "it ended at \(offer.offer.expires)")
        }
        finding = HandoffFinding(time: time, mac: finding?.mac ?? .unchecked)
    }

    mutating func checkDecline(_ half: HandoffHalf) {
        guard let offer = offer(of: half) else { return }
        checkHalf(half, against: offer)
        checkIsOpenToTaker(offer)
    }

    /// The offer that a half answers; without it the server waits and a device judges the half alone.
    private mutating func offer(of half: HandoffHalf) -> ChainState.OfferState? {
        let statement = half.statement
        if statement.chain != event.chain {
            refuse(.offerInvalid, statement.offer.description, "the offer is of chain \(statement.chain)")
            return nil
        }
        if let offer = state.offers[statement.offer] { return offer }
        if let refused = state.refusedOffers[SHA256.hash(statement.bytes)] {
            refuse(.offerUnknown, statement.offer.description, "the giver's event \(refused) was refused")
        } else if isProvisional {
            checkHalfAlone(half)
        } else {
            awaits.append(.offer(statement.offer))
        }
        return nil
    }

    private mutating func checkHalfAlone(_ half: HandoffHalf) {
        let id = half.statement.offer.description
        if state.legs.contains(where: { $0.offer == half.statement.offer }) {
            refuse(.offerTaken, id, "this device has accepted it already")
        } else if let leg = state.legs.last, leg.device == event.device,
            !state.offers.values.contains(where: { $0.leg == leg.event })
        {
            // Nobody gives a load to a device that has it and has not offered it since.
            refuse(.notTheHolder, id, "this device has the load of chain \(event.chain) already")
        }
        if event.at.seconds >= half.statement.expires {
            refuse(.offerExpired, id, half.statement.expiry.map { "it ended at \($0)" })
        }
        guard let scheme = state.scheme ?? context.schemeByPrefix(half.statement.schemePrefix) else {
            refuse(.schemeUnknown, Hex.encode(half.statement.schemePrefix), "no scheme here begins with these bytes")
            return
        }
        checkRole(half.statement, scheme: scheme)
    }

    private mutating func checkRole(_ statement: HandoffStatement, scheme: Scheme) {
        guard scheme.handoffs.indices.contains(statement.handoffIndex) else {
            refuse(.offerInvalid, statement.offer.description, "the scheme has no handoff \(statement.handoffIndex)")
            return
        }
        let rule = scheme.handoffs[statement.handoffIndex]
        if rule.to != event.role { refuse(.roleNotHeld, event.role.text, "the offer is to a \(rule.to)") }
    }

    private mutating func checkHalf(_ half: HandoffHalf, against offer: ChainState.OfferState) {
        let id = offer.offer.id.description
        if half.statement != offer.statement {
            if half.statement.snapshot != offer.statement.snapshot {
                refuse(.snapshotMismatch, id, "scanned \(half.statement.snapshot), offered \(offer.statement.snapshot)")
            } else {
                refuse(.offerInvalid, id, "what was scanned is not what the giver's event says")
            }
        }
        let result = context.mac(
            DecisionContext.MACQuestion(
                event: event.hash,
                giver: offer.device,
                statement: half.statement,
                mac: half.mac
            )
        )
        finding = HandoffFinding(time: nil, mac: result)
        let isOffered = ConstantTime.equal(Array(offer.offer.mac.bytes.prefix(HandoffHalf.macLength)), half.mac)
        if result == .mismatched || !isOffered { refuse(.macMismatch, id) }
        if offer.device == event.device { refuse(.ownOffer, id) }
        if let party = offer.offer.party, party != certificate.party {
            refuse(.roleNotHeld, event.role.text, "the offer is to party \(party) only")
        }
        if offer.offer.to != event.role { refuse(.roleNotHeld, event.role.text, "the offer is to a \(offer.offer.to)") }
    }
}
