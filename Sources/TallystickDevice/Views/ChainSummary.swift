package import Tallystick
import TallystickStore

/// How far what this device said about a chain has come.
package enum Badge: String, Sendable, CaseIterable {
    /// Something is only on this device.
    case savedHere = "saved here"
    /// The server has all of it, and something waits for something else.
    case atTheServer = "at the server"
    /// The server has accepted all of it.
    case confirmed = "confirmed"
    /// The server has refused something, and no person has dealt with it.
    case refused = "refused"
}

/// How many of this device's events about a chain have come how far.
package struct BadgeCounts: Sendable, Equatable {
    /// Only on this device.
    package let savedHere: Int
    /// Received, still waiting.
    package let atTheServer: Int
    /// Accepted.
    package let confirmed: Int
    /// Refused, not dealt with.
    package let refused: Int

    /// The one badge: what asks for attention first.
    package var badge: Badge {
        if refused > 0 { return .refused }
        if savedHere > 0 { return .savedHere }
        return atTheServer > 0 ? .atTheServer : .confirmed
    }
}

/// One chain in the list of chains.
package struct ChainSummary: Sendable {
    /// The chain.
    package let chain: UniqueID
    /// What a person calls the scheme; nil where it is not known.
    package let title: String?
    /// The scheme's name.
    package let scheme: String?
    /// The party's own latest role; nil where it takes no part.
    package let role: String?
    /// Who has the load, by name where it is known.
    package let holder: String?
    /// The holder's role.
    package let holderRole: String?
    /// The badge.
    package let badge: Badge
    /// This device's events by how far they came.
    package let counts: BadgeCounts
    /// How many legs, signatures and open offers there are.
    package let legs: Int
    /// How many signatures there are.
    package let signatures: Int
    /// How many offers are open; some may have ended.
    package let openOffers: Int
    /// Whether somebody disputes who has the load.
    package let isContested: Bool
    /// What there is to look after; nil in a row that an older version wrote.
    package let concerns: ChainConcerns?
    /// When it was opened, by the opener's clock.
    package let opened: Timestamp?
    /// When this device last heard or said something of it.
    package let updated: Timestamp

    /// The summary as it is stored, and as programs may read it.
    package var json: JSON {
        .members([
            ("badge", .string(badge.rawValue)),
            ("chain", .string(chain.description)),
            ("concerns", concerns?.json),
            ("contested", .boolean(isContested)),
            (
                "counts",
                .members([
                    ("atTheServer", .integer(counts.atTheServer)), ("confirmed", .integer(counts.confirmed)),
                    ("legs", .integer(legs)), ("openOffers", .integer(openOffers)),
                    ("refused", .integer(counts.refused)), ("savedHere", .integer(counts.savedHere)),
                    ("signatures", .integer(signatures)),
                ])
            ),
            ("holder", holder.map { .string($0) }),
            ("holderRole", holderRole.map { .string($0) }),
            ("opened", opened.map { .string($0.description) }),
            ("role", role.map { .string($0) }),
            ("scheme", scheme.map { .string($0) }),
            ("title", title.map { .string($0) }),
            ("updated", .string(updated.description)),
        ])
    }

    init?(_ json: JSON) {
        guard let badge = json["badge"]?.text.flatMap(Badge.init(rawValue:)),
            let chain = json["chain"]?.text.flatMap(UniqueID.init(_:)), let counts = json["counts"],
            let updated = json["updated"]?.text.flatMap(Timestamp.init)
        else { return nil }
        func count(_ name: String) -> Int { counts[name]?.integer ?? 0 }
        self.init(
            chain: chain,
            title: json["title"]?.text,
            scheme: json["scheme"]?.text,
            role: json["role"]?.text,
            holder: json["holder"]?.text,
            holderRole: json["holderRole"]?.text,
            badge: badge,
            counts: BadgeCounts(
                savedHere: count("savedHere"),
                atTheServer: count("atTheServer"),
                confirmed: count("confirmed"),
                refused: count("refused")
            ),
            legs: count("legs"),
            signatures: count("signatures"),
            openOffers: count("openOffers"),
            isContested: json["contested"]?.boolean ?? false,
            concerns: json["concerns"].flatMap(ChainConcerns.init),
            opened: json["opened"]?.text.flatMap(Timestamp.init),
            updated: updated
        )
    }

    init(
        chain: UniqueID,
        title: String?,
        scheme: String?,
        role: String?,
        holder: String?,
        holderRole: String?,
        badge: Badge,
        counts: BadgeCounts,
        legs: Int,
        signatures: Int,
        openOffers: Int,
        isContested: Bool,
        concerns: ChainConcerns?,
        opened: Timestamp?,
        updated: Timestamp
    ) {
        self.chain = chain
        self.title = title
        self.scheme = scheme
        self.role = role
        self.holder = holder
        self.holderRole = holderRole
        self.badge = badge
        self.counts = counts
        self.legs = legs
        self.signatures = signatures
        self.openOffers = openOffers
        self.isContested = isContested
        self.concerns = concerns
        self.opened = opened
        self.updated = updated
    }
}

extension Device {
    /// The chains on this device, the latest touched first.
    ///
    /// Rows that an older version wrote are made anew, once.
    package func chains() throws -> [ChainSummary] {
        try atHome(home.path) {
            let chains = try summaries()
            let old = chains.filter { $0.concerns == nil }
            guard !old.isEmpty else { return chains }
            // In parts, so that others who write do not wait long.
            for start in stride(from: 0, to: old.count, by: 100) {
                try database.transaction {
                    for summary in old[start..<min(start + 100, old.count)] {
                        let isCached = cache[summary.chain] != nil
                        try saveSummary(of: try folded(summary.chain), at: summary.updated)
                        if !isCached { cache[summary.chain] = nil }
                    }
                }
            }
            return try summaries()
        }
    }

    private func summaries() throws -> [ChainSummary] {
        try database.query("SELECT summary FROM chains ORDER BY updated DESC, chain DESC") { row in
            let bytes = try row.blob(0)
            guard let json = try? JSON.parse(bytes), let summary = ChainSummary(json) else {
                throw StoreError(.corrupt, "expected the summary of a chain")
            }
            return summary
        }
    }

    func counts(of chain: UniqueID) throws -> BadgeCounts {
        func count(_ sql: String) throws -> Int {
            try database.first(sql, chain.description) { row in try row.int(0) } ?? 0
        }
        let all = try count("SELECT count(*) FROM events WHERE chain = ? AND own = 1")
        let saved = try count("SELECT count(*) FROM outbox WHERE chain = ?")
        let refused = try count("SELECT count(*) FROM refused WHERE chain = ? AND is_dealt_with = 0")
        let allRefused = try count("SELECT count(*) FROM refused WHERE chain = ?")
        let waiting = try count(
            """
            SELECT count(*) FROM entries AS latest CROSS JOIN events ON events.hash = latest.event
            WHERE latest.chain = ? AND latest.outcome = 'waiting' AND events.own = 1
            AND latest.position = (SELECT max(position) FROM entries WHERE event = latest.event)
            """
        )
        return BadgeCounts(
            savedHere: saved,
            atTheServer: waiting,
            confirmed: max(0, all - saved - allRefused - waiting),
            refused: refused
        )
    }

    /// Writes the chain's row; in the transaction that changed it.
    func saveSummary(of folded: FoldedChain, at time: Timestamp) throws {
        let state = folded.state
        let counts = try counts(of: state.chain)
        let holder = state.currentLeg
        let summary = ChainSummary(
            chain: state.chain,
            title: state.scheme?.title,
            scheme: state.scheme?.reference.id.text,
            role: latestRole(in: state)?.text,
            holder: try holder.map { try partyName($0.party) ?? $0.party.description },
            holderRole: holder?.role.text,
            badge: counts.badge,
            counts: counts,
            legs: state.legs.count,
            signatures: state.signatures.count,
            openOffers: state.offers.values.count { $0.end == .open },
            isContested: state.isContested,
            concerns: ChainConcerns(of: state, at: time),
            opened: state.opening?.at,
            updated: time.at(offsetMinutes: 0) ?? time
        )
        try database.run(
            """
            INSERT INTO chains (chain, updated, summary) VALUES (?1, ?2, ?3)
            ON CONFLICT (chain) DO UPDATE SET updated = ?2, summary = ?3
            """,
            state.chain.description,
            summary.updated.description,
            try Device.bytes(of: summary.json)
        )
    }

    /// The role that the party has, or signs in for another.
    private func latestRole(in state: ChainState) -> Name? {
        if let own = (state.seats + state.legs).last(where: { $0.party == certificate.party }) { return own.role }
        return state.delegations.last { $0.to == certificate.party }.flatMap { state.leg($0.leg)?.role }
    }

    /// What the party is called in the newest certificate known.
    func partyName(_ party: UniqueID) throws -> String? {
        try database.first(
            "SELECT party_name FROM certificates WHERE party = ? ORDER BY serial DESC",
            party.description
        ) { row in try row.text(0) }
    }
}
