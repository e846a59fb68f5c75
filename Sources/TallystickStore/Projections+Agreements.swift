import Tallystick
import TallystickCrypto

/// What parties let each other do: sign in their place, correct what was signed, and tie chains together.
extension Projections {
    // MARK: Delegations

    func writeDelegation(
        of signatures: [Name],
        to party: UniqueID,
        until: Timestamp,
        by author: Author,
        state: ChainState
    ) throws(StoreError) {
        guard let delegation = state.delegations.last(where: { $0.event == author.event.hash }) else { return }
        for signature in signatures {
            try database.run(
                "INSERT OR REPLACE INTO delegations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                author.chain,
                author.hash,
                signature.text,
                delegation.leg.hex,
                author.role,
                author.party,
                party.description,
                author.device,
                author.at,
                until.description
            )
        }
    }

    // MARK: Corrections

    /// Writes a correction as it is proposed; what becomes of it is written with the answers.
    func writeCorrection(by author: Author, state: ChainState) throws {
        guard let correction = state.correction(author.event.hash) else { return }
        try database.run(
            "INSERT OR REPLACE INTO corrections VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'open', NULL, NULL, NULL, NULL)",
            author.chain,
            author.hash,
            correction.leg.hex,
            author.role,
            author.party,
            author.device,
            author.at,
            correction.why
        )
        for change in correction.changes {
            try database.run(
                "INSERT OR REPLACE INTO correction_values VALUES (?, ?, ?, ?, ?)",
                author.chain,
                author.hash,
                change.path.description,
                try change.value.map(json),
                try earlier(change.path, before: correction, state: state).map(json)
            )
        }
        for party in correction.approvers {
            try database.run(
                "INSERT OR REPLACE INTO correction_approvers VALUES (?, ?, ?, NULL, NULL, NULL, NULL)",
                author.chain,
                author.hash,
                party.description
            )
        }
        try settle(correction, by: author, state: state)
    }

    /// The value that a correction changes: the newest that was written before the correction took effect.
    ///
    /// What is sealed is changed by corrections only, and by one after the other.
    private func earlier(_ path: FieldPath, before correction: ChainState.Correction, state: ChainState) -> JSON? {
        guard let writes = state.slot(path, on: correction.leg)?.writes else { return nil }
        guard case .applied(let event) = correction.end, let index = writes.firstIndex(where: { $0.event == event })
        else { return writes.last?.value }
        return index == 0 ? nil : writes[index - 1].value
    }

    func writeApproval(of correction: Digest, by author: Author, state: ChainState) throws {
        try writeAnswer("approved", to: correction, by: author)
        guard let correction = state.correction(correction) else { return }
        try settle(correction, by: author, state: state)
    }

    func writeRefusal(of correction: Digest, why: String, by author: Author, state: ChainState) throws(StoreError) {
        try writeAnswer("refused", to: correction, by: author)
        try writeEnd("refused", of: correction, why: why, by: author)
    }

    /// Writes that a correction took effect, with the values it changed, where this event made it so.
    private func settle(_ correction: ChainState.Correction, by author: Author, state: ChainState) throws {
        guard correction.end == .applied(author.event.hash), let leg = state.leg(correction.leg) else { return }
        try writeEnd("applied", of: correction.event, why: nil, by: author)
        try writeFields(correction.changes, of: author, on: leg, state: state)
    }

    private func writeAnswer(_ answer: String, to correction: Digest, by author: Author) throws(StoreError) {
        try database.run(
            """
            UPDATE correction_approvers SET answer = ?, event = ?, device = ?, at = ?
            WHERE chain = ? AND correction = ? AND party = ?
            """,
            answer,
            author.hash,
            author.device,
            author.at,
            author.chain,
            correction.hex,
            author.party
        )
    }

    private func writeEnd(
        _ end: String,
        of correction: Digest,
        why: String?,
        by author: Author
    ) throws(StoreError) {
        try database.run(
            """
            UPDATE corrections SET state = ?, settled_at = ?, settled_by = ?, settled_event = ?, settled_why = ?
            WHERE chain = ? AND correction = ?
            """,
            end,
            author.at,
            author.party,
            author.hash,
            why,
            author.chain,
            correction.hex
        )
    }

    // MARK: Links

    func write(_ link: ChainLink, by author: Author, state: ChainState) throws {
        guard let rule = state.scheme?.link(link.link) else { return }
        try database.run(
            "INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            author.chain,
            author.hash,
            link.link.text,
            rule.kind.rawValue,
            link.chain.description,
            link.why,
            author.role,
            author.party,
            author.device,
            author.at
        )
        for amount in link.amounts {
            guard let value = amount.value else { continue }
            try database.run(
                "INSERT OR REPLACE INTO link_amounts VALUES (?, ?, ?, ?)",
                author.chain,
                author.hash,
                amount.path.description,
                try json(value)
            )
        }
    }
}
