import Tallystick
import TallystickCrypto

/// The handoffs: a row for every pair of halves, and for every half whose other half is not there.
extension Projections {
    func writeHandoff(_ decision: ChainLedger.Decision, state: ChainState) throws {
        switch decision.arrival.event.content {
        case .handoffOffered(let offer): try writeOffer(offer, decision, state: state)
        case .handoffAccepted(let half): try writeAcceptance(half, decision, state: state)
        case .handoffDeclined(let half, _) where decision.verdict.outcome == .accepted:
            try endOffer(half.statement.offer, state: state)
        case .handoffWithdrawn(let offer, _) where decision.verdict.outcome == .accepted:
            try endOffer(offer, state: state)
        default: break
        }
    }

    /// The giver's half; once it is taken, the row is that of the acceptance.
    private func writeOffer(_ offer: Offer, _ decision: ChainLedger.Decision, state: ChainState) throws {
        let event = decision.arrival.event
        let known = state.offers[offer.id].flatMap { $0.event == event.hash ? $0 : nil }
        var row = Row(chain: state.chain, offer: offer.id, snapshot: offer.snapshot)
        row.giverEvent = event.hash.hex
        row.giver(offer, party: decision.arrival.certificate?.party, device: event.device, at: event.at)
        row.mac = decision.verdict.handoff?.mac.rawValue
        switch decision.verdict.outcome {
        case .refused:
            row.result = "refused"
            row.reasons = try json(.array(decision.verdict.reasons.map(\.json)))
        case .waiting: row.result = "waiting"
        case .accepted:
            if case .taken? = known?.end {
                try remove(row)
                return
            }
            row.result = "waiting"
        }
        try write(row)
        if let known, known.end != .open { try endOffer(offer.id, state: state) }
    }

    /// The giver took the offer back, or the taker declined it.
    private func endOffer(_ id: OfferID, state: ChainState) throws {
        guard let offer = state.offers[id] else { return }
        let result: String
        var party: UniqueID?
        var reason: String?
        switch offer.end {
        case .open, .taken: return
        case .withdrawn: result = "withdrawn"
        case .declined(let by, let why):
            result = "declined"
            party = by
            reason = try json(.strings([why]))
        }
        try database.run(
            """
            UPDATE handoffs SET result = ?, taker_party = ?, reasons = ?
            WHERE chain = ? AND offer = ? AND giver_event = ? AND taker_event = ''
            """,
            result,
            party?.description,
            reason,
            state.chain.description,
            id.description,
            offer.event.hex
        )
    }

    private func writeAcceptance(_ half: HandoffHalf, _ decision: ChainLedger.Decision, state: ChainState) throws {
        let event = decision.arrival.event
        let id = half.statement.offer
        var row = Row(chain: state.chain, offer: id, snapshot: half.statement.snapshot)
        row.takerEvent = event.hash.hex
        row.takerParty = decision.arrival.certificate?.party.description
        row.takerRole = event.role.text
        row.takerDevice = event.device.description
        row.takenAt = event.at.description
        row.expires = half.statement.expiry?.description
        guard decision.verdict.outcome != .waiting else {
            row.result = "waiting"
            try write(row)
            return
        }
        try remove(row)  // where it waited
        if let offer = state.offers[id] {
            row.giverEvent = offer.event.hex
            row.giver(offer.offer, party: state.leg(offer.leg)?.party, device: offer.device, at: offer.at)
        }
        row.timeBasis = decision.verdict.handoff?.time?.rawValue
        row.mac = decision.verdict.handoff?.mac.rawValue
        if decision.verdict.outcome == .accepted {
            row.result = "verified"
            var given = row
            given.takerEvent = ""
            try remove(given)
        } else {
            row.result = "refused"
            row.reasons = try json(.array(decision.verdict.reasons.map(\.json)))
        }
        row.isContested = state.contests.contains { $0.acceptance == event.hash }
        try write(row)
        if row.isContested { try markContested(id, state: state) }
    }

    /// Marks the chain and the handoff that came first.
    private func markContested(_ id: OfferID, state: ChainState) throws(StoreError) {
        try writeChain(state)
        var offers = [id]
        if let given = state.offers[id]?.leg, let index = state.legs.firstIndex(where: { $0.event == given }),
            state.legs.indices.contains(index + 1), let first = state.legs[index + 1].offer, first != id
        {
            offers.append(first)
        }
        for offer in offers {
            try database.run(
                "UPDATE handoffs SET contested = 1 WHERE chain = ? AND offer = ? AND result = 'verified'",
                state.chain.description,
                offer.description
            )
        }
    }

    // MARK: Rows

    private struct Row {
        let chain: UniqueID
        let offer: OfferID
        let snapshot: Digest
        var giverEvent = ""
        var takerEvent = ""
        var result = ""
        var isContested = false
        var timeBasis: String?
        var mac: String?
        var reasons: String?
        var handoff: String?
        var giverParty: String?
        var giverDevice: String?
        var offeredAt: String?
        var takerParty: String?
        var takerRole: String?
        var takerDevice: String?
        var takenAt: String?
        var expires: String?

        init(chain: UniqueID, offer: OfferID, snapshot: Digest) {
            self.chain = chain
            self.offer = offer
            self.snapshot = snapshot
        }

        mutating func giver(_ offer: Offer, party: UniqueID?, device: DeviceID, at: Timestamp) {
            handoff = offer.handoff.text
            giverParty = party?.description
            giverDevice = device.description
            offeredAt = at.description
            expires = offer.expires.description
            if takerRole == nil { takerRole = offer.to.text }
            if takerParty == nil { takerParty = offer.party?.description }
        }
    }

    private func write(_ row: Row) throws(StoreError) {
        try database.run(
            "INSERT OR REPLACE INTO handoffs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row.chain.description,
            row.offer.description,
            row.giverEvent,
            row.takerEvent,
            row.result,
            row.isContested ? 1 : 0,
            row.timeBasis,
            row.mac,
            row.reasons,
            row.handoff,
            row.giverParty,
            row.giverDevice,
            row.offeredAt,
            row.takerParty,
            row.takerRole,
            row.takerDevice,
            row.takenAt,
            row.expires,
            row.snapshot.hex
        )
    }

    private func remove(_ row: Row) throws(StoreError) {
        try database.run(
            "DELETE FROM handoffs WHERE chain = ? AND offer = ? AND giver_event = ? AND taker_event = ?",
            row.chain.description,
            row.offer.description,
            row.giverEvent,
            row.takerEvent
        )
    }
}
