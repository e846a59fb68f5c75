package import Tallystick
package import TallystickCrypto

/// The tables that say what the decided events come to, written from the folded state alone.
///
/// Live ingest, a rebuild and a replay all write through here, so that the same decisions give the same rows.
/// Everything is text that a person can read with any SQLite tool: hashes and identifiers in hexadecimal, times in
/// RFC 3339, values as JSON. An empty text stands in a key for what is not there.
package struct Projections {
    /// One of the tables.
    package struct Table: Sendable, Hashable {
        /// Its name.
        package let name: String
        /// The columns of its primary key.
        package let key: [String]

        /// Names a table and the columns that give its order.
        package init(name: String, key: [String]) {
            self.name = name
            self.key = key
        }
    }

    /// The tables, in the order they are reported.
    package static let tables: [Table] = [
        Table(name: "chains", key: ["chain"]),
        Table(name: "legs", key: ["chain", "leg"]),
        Table(name: "fields", key: ["chain", "leg", "path"]),
        Table(name: "conflicts", key: ["chain", "leg", "path", "event"]),
        Table(name: "signatures", key: ["chain", "leg", "signature"]),
        Table(name: "handoffs", key: ["chain", "offer", "giver_event", "taker_event"]),
        Table(name: "replies", key: ["chain", "offer"]),
        Table(name: "notes", key: ["chain", "event"]),
        Table(name: "warnings", key: ["chain", "event", "number"]),
        Table(name: "refusals", key: ["chain", "event"]),
        Table(name: "waiting", key: ["chain", "event", "number"]),
        Table(name: "devices", key: ["device"]),
    ]

    /// What makes the tables in an empty file.
    package static let schema = """
        CREATE TABLE chains (
            chain TEXT PRIMARY KEY, scheme TEXT, scheme_version INTEGER, scheme_hash TEXT, opening TEXT,
            opened_at TEXT, opened_by TEXT, leg INTEGER, role TEXT, holder TEXT, contested INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE legs (
            chain TEXT NOT NULL, leg TEXT NOT NULL, number INTEGER, role TEXT NOT NULL, party TEXT NOT NULL,
            device TEXT NOT NULL, at TEXT NOT NULL, offer TEXT, received TEXT, time_basis TEXT, mac TEXT,
            PRIMARY KEY (chain, leg)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX legs_by_party ON legs (party);
        CREATE TABLE fields (
            chain TEXT NOT NULL, leg TEXT NOT NULL, path TEXT NOT NULL, role TEXT NOT NULL, value TEXT,
            party TEXT NOT NULL, device TEXT NOT NULL, at TEXT NOT NULL, event TEXT NOT NULL,
            conflict INTEGER NOT NULL, PRIMARY KEY (chain, leg, path)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE conflicts (
            chain TEXT NOT NULL, leg TEXT NOT NULL, path TEXT NOT NULL, event TEXT NOT NULL, value TEXT,
            device TEXT NOT NULL, at TEXT NOT NULL, shown INTEGER NOT NULL,
            PRIMARY KEY (chain, leg, path, event)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE signatures (
            chain TEXT NOT NULL, leg TEXT NOT NULL, signature TEXT NOT NULL, role TEXT NOT NULL,
            party TEXT NOT NULL, device TEXT NOT NULL, at TEXT NOT NULL, event TEXT NOT NULL,
            snapshot TEXT NOT NULL, PRIMARY KEY (chain, leg, signature)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE handoffs (
            chain TEXT NOT NULL, offer TEXT NOT NULL, giver_event TEXT NOT NULL, taker_event TEXT NOT NULL,
            result TEXT NOT NULL, contested INTEGER NOT NULL, time_basis TEXT, mac TEXT, reasons TEXT, handoff TEXT,
            giver_party TEXT, giver_device TEXT, offered_at TEXT, taker_party TEXT, taker_role TEXT,
            taker_device TEXT, taken_at TEXT, expires TEXT, snapshot TEXT NOT NULL,
            PRIMARY KEY (chain, offer, giver_event, taker_event)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE replies (
            chain TEXT NOT NULL, offer TEXT NOT NULL, event TEXT NOT NULL, giver_party TEXT NOT NULL,
            giver_device TEXT NOT NULL, at TEXT NOT NULL, accepted INTEGER NOT NULL, taker_event TEXT NOT NULL,
            taken_at TEXT, PRIMARY KEY (chain, offer)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE notes (
            chain TEXT NOT NULL, event TEXT NOT NULL, text TEXT NOT NULL, role TEXT NOT NULL, party TEXT NOT NULL,
            device TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (chain, event)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE warnings (
            chain TEXT NOT NULL, event TEXT NOT NULL, number INTEGER NOT NULL, code TEXT NOT NULL, subject TEXT,
            detail TEXT, PRIMARY KEY (chain, event, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE refusals (
            chain TEXT NOT NULL, event TEXT NOT NULL, type TEXT, device TEXT NOT NULL, party TEXT, at TEXT,
            received TEXT NOT NULL, codes TEXT NOT NULL, reasons TEXT NOT NULL, PRIMARY KEY (chain, event)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX refusals_by_party ON refusals (party);
        CREATE TABLE waiting (
            chain TEXT NOT NULL, event TEXT NOT NULL, number INTEGER NOT NULL, type TEXT NOT NULL,
            device TEXT NOT NULL, party TEXT, received TEXT NOT NULL, kind TEXT NOT NULL, what TEXT NOT NULL,
            PRIMARY KEY (chain, event, number)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX waiting_by_device ON waiting (device, number);
        CREATE INDEX waiting_by_party ON waiting (party, number);
        CREATE TABLE devices (
            device TEXT PRIMARY KEY, party TEXT NOT NULL, party_name TEXT NOT NULL, person TEXT, roles TEXT NOT NULL,
            key TEXT NOT NULL, not_before TEXT NOT NULL, not_after TEXT NOT NULL, serial INTEGER NOT NULL,
            revoked INTEGER NOT NULL, why TEXT
        ) STRICT, WITHOUT ROWID;
        """

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
        switch event.content {
        case .fieldsSet(let changes):
            guard let party = decision.arrival.certificate?.party else { return }
            try writeFields(changes, of: event, party: party, state: state)
        case .chainOpened, .handoffAccepted:
            if let leg = state.leg(event.hash) { try write(leg, state: state) }
            try writeChain(state)
        case .signed:
            if let signature = state.signatures.last(where: { $0.event == event.hash }) {
                try write(signature, role: event.role, chain: state.chain)
            }
        case .noteAdded(let text):
            try database.run(
                "INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?, ?, ?, ?)",
                state.chain.description,
                event.hash.hex,
                text,
                event.role.text,
                decision.arrival.certificate?.party.description,
                event.device.description,
                event.at.description
            )
        case .handoffAcknowledged(let reply):
            try database.run(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                state.chain.description,
                reply.offer.description,
                event.hash.hex,
                decision.arrival.certificate?.party.description,
                event.device.description,
                event.at.description,
                reply.isAcceptance ? 1 : 0,
                reply.event.hex,
                reply.at?.description
            )
        case .handoffOffered, .handoffWithdrawn, .handoffDeclined, .partyAdmitted, .signatureDelegated,
            .correctionProposed, .correctionApproved, .correctionRefused, .chainLinked, .chainCancelled, .chainClosed,
            .unknown:
            break
        }
        for (number, warning) in decision.verdict.warnings.enumerated() {
            try database.run(
                "INSERT OR REPLACE INTO warnings VALUES (?, ?, ?, ?, ?, ?)",
                state.chain.description,
                event.hash.hex,
                number + 1,
                warning.code.description,
                warning.subject,
                warning.detail
            )
        }
    }

    func writeChain(_ state: ChainState) throws(StoreError) {
        let leg = state.currentLeg
        try database.run(
            "INSERT OR REPLACE INTO chains VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
            state.isContested ? 1 : 0
        )
    }

    private func write(_ leg: ChainState.Leg, state: ChainState) throws(StoreError) {
        try database.run(
            "INSERT OR REPLACE INTO legs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
            leg.finding?.mac.rawValue
        )
    }

    private func write(_ signature: ChainState.ChainSignature, role: Name, chain: UniqueID) throws(StoreError) {
        try database.run(
            "INSERT OR REPLACE INTO signatures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            chain.description,
            signature.leg.hex,
            signature.name.text,
            role.text,
            signature.party.description,
            signature.device.description,
            signature.at.description,
            signature.event.hex,
            signature.snapshot.hex
        )
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
