package import Tallystick
package import TallystickCrypto

/// The tables that say what the decided events come to, written from the folded state alone.
///
/// Live ingest, a rebuild and a replay all write through here, so that the same decisions give the same rows.
/// Everything is text that a person can read with any SQLite tool: hashes and identifiers in hexadecimal, times in
/// RFC 3339, values as JSON. An empty text stands in a key for what is not there.
package struct Projections {
    let database: Database

    /// Writes to and reads from this database, which has the tables.
    package init(_ database: Database) {
        self.database = database
    }

    // MARK: Decisions

    /// Writes what one arrival has changed.
    ///
    /// - Parameters:
    ///   - decisions: What the ledger's `receive` gave: the arrival's own first, then those it let decide.
    ///   - ledger: The ledger after that.
    package func apply(_ decisions: [ChainLedger.Decision], of ledger: ChainLedger) throws {
        var isFirst = true
        for decision in decisions {
            try apply(decision, state: ledger.state, hasWaited: !isFirst)
            isFirst = false
        }
        for waiting in ledger.stillWaiting {
            try removeWaiting(waiting.arrival.event)
            try writeWaiting(waiting.arrival, for: waiting.awaits)
        }
    }

    /// Writes what one decision has changed.
    ///
    /// - Parameters:
    ///   - decision: The event and its verdict.
    ///   - state: The chain's state with it folded in; later decisions may be folded in too.
    ///   - hasWaited: Whether the event had a verdict of waiting before.
    package func apply(_ decision: ChainLedger.Decision, state: ChainState, hasWaited: Bool) throws {
        let event = decision.arrival.event
        if hasWaited { try removeWaiting(event) }
        switch decision.verdict.outcome {
        case .waiting: try writeWaiting(decision.arrival, for: decision.verdict.awaits)
        case .refused: try writeRefusal(of: decision)
        case .accepted: try writeAccepted(decision, state: state)
        }
        try writeHandoff(decision, state: state)
    }

    private func writeAccepted(_ decision: ChainLedger.Decision, state: ChainState) throws {
        let event = decision.arrival.event
        // An accepted event was decided with a certificate.
        guard let party = decision.arrival.certificate?.party else { return }
        let author = Author(event, party: party, chain: state.chain)
        switch event.content {
        case .fieldsSet(let changes): try writeFields(changes, of: author, state: state)
        case .chainOpened, .handoffAccepted:
            if let leg = state.leg(event.hash) { try write(leg, state: state, admittedBy: nil) }
            try writeChain(state)
        case .partyAdmitted:
            if let seat = state.leg(event.hash) { try write(seat, state: state, admittedBy: party) }
        case .signatureDelegated(let names, let to, let until):
            try writeDelegation(of: names, to: to, until: until, by: author, state: state)
        case .signed:
            if let signature = state.signatures.last(where: { $0.event == event.hash }) {
                try write(signature, by: author, state: state)
            }
        case .correctionProposed: try writeCorrection(by: author, state: state)
        case .correctionApproved(let correction): try writeApproval(of: correction, by: author, state: state)
        case .correctionRefused(let correction, let why):
            try writeRefusal(of: correction, why: why, by: author, state: state)
        case .chainLinked(let link): try write(link, by: author, state: state)
        case .chainCancelled, .chainClosed: try writeChain(state)
        case .noteAdded(let text):
            try database.run(
                "INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?, ?, ?, ?)",
                author.chain,
                author.hash,
                text,
                author.role,
                author.party,
                author.device,
                author.at
            )
        case .handoffAcknowledged(let reply):
            try database.run(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                author.chain,
                reply.offer.description,
                author.hash,
                author.party,
                author.device,
                author.at,
                reply.isAcceptance ? 1 : 0,
                reply.event.hex,
                reply.at?.description
            )
        case .handoffOffered, .handoffWithdrawn, .handoffDeclined, .unknown: break
        }
        if let late = event.late { try write(late, by: author) }
        try write(decision.verdict.warnings, by: author)
        try writeGaps(after: decision, state: state)
        try writeDeadlines(after: event, state: state)
    }

    /// The texts that rows have of an accepted event and its author, each written once.
    struct Author {
        let event: Event
        let chain: String
        let hash: String
        let role: String
        let party: String
        let partyID: UniqueID
        let device: String
        let at: String

        init(_ event: Event, party: UniqueID, chain: UniqueID) {
            self.event = event
            self.chain = chain.description
            hash = event.hash.hex
            role = event.role.text
            self.party = party.description
            partyID = party
            device = event.device.description
            at = event.at.description
        }
    }

    func writeChain(_ state: ChainState) throws(StoreError) {
        let leg = state.currentLeg
        let ending = state.ending
        try database.run(
            "INSERT OR REPLACE INTO chains VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            state.chain.description,
            state.scheme?.reference.id.text,
            state.scheme?.reference.version,
            state.scheme?.reference.hash.hex,
            state.opening?.event.hex,
            state.opening?.at.description,
            state.opening?.party.description,
            leg?.number,
            leg?.role.text,
            leg?.party.description,
            state.isContested ? 1 : 0,
            ending.map { $0.outcome == nil ? "cancelled" : "closed" },
            ending?.outcome?.text,
            ending?.at.description,
            ending?.party.description,
            ending?.why,
            ending?.event.hex,
            state.duty?.text
        )
    }

    private func write(_ leg: ChainState.Leg, state: ChainState, admittedBy: UniqueID?) throws(StoreError) {
        try database.run(
            "INSERT OR REPLACE INTO legs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            state.chain.description,
            leg.event.hex,
            leg.number,
            leg.role.text,
            leg.party.description,
            leg.device.description,
            leg.at.description,
            leg.offer?.description,
            leg.received?.hex,
            leg.finding?.time?.rawValue,
            leg.finding?.mac.rawValue,
            admittedBy == nil ? 1 : 0,
            admittedBy?.description
        )
    }

    private func write(_ signature: ChainState.ChainSignature, by author: Author, state: ChainState) throws(StoreError)
    {
        let paper = signature.way.paper
        let way =
            switch signature.way {
            case .own: "own"
            case .delegate: "delegate"
            case .paper: "paper"
            }
        try database.run(
            "INSERT OR REPLACE INTO signatures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            author.chain,
            signature.leg.hex,
            signature.name.text,
            state.leg(signature.leg)?.role.text ?? author.role,
            signature.party.description,
            author.device,
            author.at,
            author.hash,
            signature.snapshot.hex,
            way,
            signature.signer.description,
            author.role,
            signature.happened.description,
            paper?.picture.hex,
            paper?.signer
        )
    }

    private func write(_ late: LateEntry, by author: Author) throws(StoreError) {
        try database.run(
            "INSERT OR REPLACE INTO late_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            author.chain,
            author.hash,
            author.event.type,
            author.role,
            author.party,
            author.device,
            author.at,
            late.at.description,
            late.why,
            late.paper?.hex
        )
    }

    private func write(_ warnings: [Reason], by author: Author) throws(StoreError) {
        for (number, warning) in warnings.enumerated() {
            try database.run(
                "INSERT OR REPLACE INTO warnings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                author.chain,
                author.hash,
                number + 1,
                warning.code.description,
                warning.subject,
                warning.detail,
                warning.rule,
                author.role,
                author.party,
                author.at
            )
        }
    }

    // MARK: Digests

    /// Gives SHA-256 over a table's rows; see ``Database/digest(of:orderedBy:)``.
    package func digest(of table: Table) throws -> Digest {
        try database.digest(of: table.name, orderedBy: table.key)
    }

    /// Gives the digest of every table, in the order of ``tables``.
    package func digests() throws -> [(table: Table, digest: Digest)] {
        try Projections.tables.map { ($0, try digest(of: $0)) }
    }
}
