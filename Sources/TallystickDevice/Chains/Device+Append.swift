package import Tallystick
package import TallystickCrypto
import TallystickStore

/// What is to be said next, made of the chain as it is when the write lock is held.
struct Word {
    let role: Name
    /// The original time, of what is entered afterwards.
    let late: LateEntry?
    /// Makes the content for an event with these parents, in this state.
    let content: (_ state: ChainState, _ parents: [Digest], _ at: Timestamp) throws -> EventContent

    init(
        role: Name,
        late: LateEntry? = nil,
        content: @escaping (ChainState, [Digest], Timestamp) throws -> EventContent
    ) {
        self.role = role
        self.late = late
        self.content = content
    }

    init(role: Name, late: LateEntry? = nil, _ content: EventContent) {
        self.init(role: role, late: late) { _, _, _ in content }
    }
}

/// What became of a chain when a device said something.
package struct Said: Sendable {
    /// The chain.
    package let chain: UniqueID
    /// The events made, in order.
    package let events: [Digest]
    /// What the scheme warns about; the events are saved all the same.
    package let warnings: [Reason]

    /// Tells what became of a chain.
    package init(chain: UniqueID, events: [Digest], warnings: [Reason]) {
        self.chain = chain
        self.events = events
        self.warnings = warnings
    }
}

extension Device {
    /// Says something: all of it is decided first, then all of it is saved in one transaction with view and outbox.
    ///
    /// - Parameter words: Gives what to say in the state of the chain as it is once the write lock is held.
    /// - Throws: ``DeviceError/Code/refused`` with every reason; then nothing is written.
    func say(_ chain: UniqueID, _ words: (FoldedChain) throws -> [Word]) throws -> Said {
        let (said, result) = try writing {
            var folded = try self.folded(chain)
            // The only copy, so that folding changes it in place; it comes back when the commit has passed.
            cache[chain] = nil
            var said: [Digest] = []
            var warnings: [Reason] = []
            for word in try words(folded) {
                let (signed, verdict) = try decide(word, in: folded)
                fold(signed.event, verdict, into: &folded)
                folded.lastRow = try insertOwn(signed)
                said.append(signed.event.hash)
                warnings.append(contentsOf: verdict.warnings)
            }
            try saveSummary(of: folded, at: now())
            return (Said(chain: chain, events: said, warnings: warnings), folded)
        }
        // Only now: a commit that fails must leave nothing behind.
        cache[chain] = result
        return said
    }

    /// Runs a body in a write transaction of this home, unless the home has been copied.
    func writing<T>(_ body: () throws -> T) throws -> T {
        try atHome(home.path) {
            try database.transaction {
                let isCopied = try database.first("SELECT is_copied FROM meta") { row in try row.int(0) } ?? 0
                guard isCopied == 0 else { throw homeCopied() }
                return try body()
            }
        }
    }

    private func homeCopied() -> DeviceError {
        DeviceError(
            .homeCopied,
            "the server knows events of this device that the home \(home.path) does not have: it was copied, or "
                + "restored from a backup",
            remedy: "enrol a new device in another folder for what is to be said from now on; this one still syncs "
                + "what it has"
        )
    }

    private func decide(_ word: Word, in folded: FoldedChain) throws -> (SignedEvent, Verdict) {
        let at = now()
        let parents = folded.state.nextParents(of: id)
        guard let eventID = UniqueID(milliseconds: at.milliseconds, random: random(10)) else {
            throw DeviceError(.badInput, "expected ten random bytes for an identifier", remedy: "try again")
        }
        let content = try word.content(folded.state, parents, at)
        let event: Event
        do {
            event = try Event(
                Event.Draft(
                    at: at,
                    chain: folded.state.chain,
                    content: content,
                    device: id,
                    id: eventID,
                    parents: parents,
                    role: word.role,
                    seq: folded.lastSeq + 1,
                    late: word.late
                )
            )
        } catch {
            throw DeviceError.refused(content.type, [Reason(error.code, nil, error.message)])
        }
        let verdict = folded.state.decide(arrival(of: event), in: context)
        switch verdict.outcome {
        case .refused: throw DeviceError.refused(content.type, verdict.reasons)
        case .accepted, .waiting: return (SignedEvent(event, by: key), verdict)
        }
    }

    /// Saves an own event with its outbox row, and gives the number of its row.
    private func insertOwn(_ signed: SignedEvent) throws -> Int {
        let event = signed.event
        try database.run(
            """
            INSERT INTO events (hash, chain, device, seq, line, line_hash, own) VALUES (?, ?, ?, ?, ?, ?, 1)
            """,
            event.hash.hex,
            event.chain.description,
            event.device.description,
            event.seq,
            signed.line,
            SHA256.hash(signed.line).hex
        )
        let row = Int(database.lastInsertedRowID)
        try database.run(
            "INSERT INTO outbox (event, chain) VALUES (?, ?)",
            event.hash.hex,
            event.chain.description
        )
        return row
    }
}
