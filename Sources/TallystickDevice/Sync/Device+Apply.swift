import Tallystick
import TallystickCrypto
import TallystickStore

/// What was verified, written: each of these runs inside one transaction of the driver's.
extension Device {
    /// Writes the verdicts of a receipt; lines that were put off stay, to be tried again later.
    func apply(_ receipt: PushReceipt, for lines: [SyncSession.Line], _ report: inout SyncReport) throws {
        var touched: Set<UniqueID> = []
        var putOff: Set<Digest> = []
        for (result, line) in zip(receipt.results, lines) {
            if let entry = result.entry {
                report.pushed += 1
                try apply(entry, feed: nil, event: nil, touched: &touched)
            } else {
                putOff.insert(line.event)
            }
        }
        report.putOff += putOff.count
        if !putOff.isEmpty {
            let error = DeviceError(
                .serverRefused,
                "the server puts the event off: too many of this device's events wait there",
                remedy: "let the others sync, so that what they wait for arrives"
            )
            try recordFailure(error, retryAfter: nil, of: putOff.contains)
        }
        try refold(touched)
    }

    /// Writes a page: events, entries, certificates, cursor and views.
    func apply(_ page: PullPage, _ report: inout SyncReport) throws {
        let cursor = try database.first("SELECT cursor FROM sync") { row in try row.int(0) }
        guard cursor == page.after else {
            throw DeviceError(.syncBusy, "another process has read the feed on", remedy: "let it finish")
        }
        for certificate in page.certificates { try Device.store(certificate, in: database) }
        var touched: Set<UniqueID> = []
        var feed = page.after
        for item in page.items {
            feed += 1
            report.pulled += 1
            try apply(item.entry, feed: feed, event: item.event, touched: &touched)
        }
        try database.run(
            "UPDATE sync SET cursor = ?, skew_ms = ?",
            page.next,
            page.now.milliseconds - now().milliseconds
        )
        try refold(touched)
    }

    /// Forgets the verdicts of a server's database that is no more, and offers all own events to the new one.
    ///
    /// Events are kept: other devices' are still signed, and come again with the new database's verdicts.
    func startOver(epoch: String) throws {
        // Kept as evidence: they were signed, and what comes now may contradict them.
        try database.run(
            """
            INSERT OR IGNORE INTO former_entries (epoch, position, json)
            SELECT sync.epoch, entries.position, entries.json FROM entries, sync
            """
        )
        try database.run("DELETE FROM entries")
        try database.run("UPDATE sync SET epoch = ?, cursor = 0", epoch)
        try database.run(
            "INSERT OR IGNORE INTO outbox (event, chain) SELECT hash, chain FROM events WHERE own = 1 ORDER BY row"
        )
        let chains = try database.query("SELECT chain FROM chains") { row in UniqueID(try row.text(0)) }
        try refold(Set(chains.compactMap { $0 }))
    }

    /// Keeps the events of the outbox that are concerned for later, with why they did not go.
    func recordFailure(_ error: DeviceError, retryAfter: Int?, of concerns: (Digest) -> Bool) throws {
        let rows = try database.query("SELECT event, attempts FROM outbox") { row in
            (event: Digest(hex: try row.text(0)), attempts: try row.int(1))
        }
        for row in rows {
            guard let event = row.event, concerns(event) else { continue }
            let attempts = row.attempts + 1
            let wait = retryAfter.map { Int64($0) * 1_000 } ?? Backoff.milliseconds(after: attempts, chance: random(2))
            try database.run(
                """
                UPDATE outbox SET attempts = ?2, next_attempt_ms = ?3, last_error = ?4, last_error_code = ?5
                WHERE event = ?1
                """,
                event.hex,
                attempts,
                now().milliseconds + wait,
                error.message,
                error.code.rawValue
            )
        }
    }

    private func apply(
        _ entry: LogEntry,
        feed: Int?,
        event: SignedEvent?,
        touched: inout Set<UniqueID>
    ) throws {
        if let event { try insertPulled(event) }
        switch entry.content {
        case .verdict(let verdict):
            let hash = verdict.event.hex
            let stored = try database.first("SELECT chain, own FROM events WHERE hash = ?", hash) { row in
                (chain: try row.text(0), isOwn: try row.int(1) != 0)
            }
            guard let stored, sameBytes(stored.chain, verdict.chain.description) else {
                throw DeviceError.misbehaved("expected the event that entry \(entry.position) is about, got none")
            }
            try insert(entry, feed: feed, chain: verdict.chain, number: verdict.number, event: hash, verdict.verdict)
            touched.insert(verdict.chain)
            if verdict.verdict.outcome != .waiting {
                try database.run("UPDATE events SET place = ? WHERE hash = ?", verdict.number, hash)
            }
            if stored.isOwn {
                try settle(verdict.event, in: verdict.chain, verdict.verdict, received: verdict.received)
            }
        case .unreadable(let line, let device, let received, let verdict):
            let own = try database.first(
                "SELECT hash, chain FROM events WHERE line_hash = ? AND own = 1",
                line.hex
            ) { row in (event: Digest(hex: try row.text(0)), chain: UniqueID(try row.text(1))) }
            try insert(entry, feed: feed, chain: own?.chain, number: nil, event: own?.event?.hex, verdict)
            if device == id, let event = own?.event, let chain = own?.chain {
                touched.insert(chain)
                try settle(event, in: chain, verdict, received: received)
            }
        case .certificate, .revocation:
            try insert(entry, feed: feed, chain: nil, number: nil, event: nil, nil)
        }
    }

    private func insertPulled(_ signed: SignedEvent) throws {
        let event = signed.event
        let isKnown = try database.first("SELECT 1 FROM events WHERE hash = ?", event.hash.hex) { _ in true } ?? false
        guard !isKnown else { return }
        if event.device == id {
            // Only this home makes this device's events, and it made this one in another life.
            try database.run("UPDATE meta SET is_copied = 1")
        }
        // Two of this device's events can have one number only where its home was copied; one then counts as foreign.
        let isTaken =
            try database.first(
                "SELECT 1 FROM events WHERE chain = ? AND seq = ? AND own = 1",
                event.chain.description,
                event.seq
            ) { _ in true } ?? false
        try database.run(
            "INSERT INTO events (hash, chain, device, seq, line, line_hash, own) VALUES (?, ?, ?, ?, ?, ?, ?)",
            event.hash.hex,
            event.chain.description,
            event.device.description,
            event.seq,
            signed.line,
            SHA256.hash(signed.line).hex,
            event.device == id && !isTaken ? 1 : 0
        )
    }

    private func insert(
        _ entry: LogEntry,
        feed: Int?,
        chain: UniqueID?,
        number: Int?,
        event: String?,
        _ verdict: Verdict?
    ) throws {
        let bytes = try Device.bytes(of: entry.json)
        let stored = try database.first("SELECT json, feed FROM entries WHERE position = ?", entry.position) { row in
            (json: try row.blob(0), hasFeed: !row.isNull(1))
        }
        if let stored {
            guard stored.json == bytes else {
                throw Device.logChanged("another entry at position \(entry.position) than before")
            }
            guard !stored.hasFeed || feed == nil else {
                throw DeviceError.misbehaved("expected one entry at position \(entry.position), got two")
            }
            if let feed { try database.run("UPDATE entries SET feed = ? WHERE position = ?", feed, entry.position) }
            return
        }
        if let chain, let number {
            let other = try database.first(
                "SELECT position FROM entries WHERE chain = ? AND number = ?",
                chain.description,
                number
            ) { row in try row.int(0) }
            if let other {
                throw Device.logChanged(
                    "entry \(number) of chain \(chain) at position \(entry.position), and had it at \(other) before"
                )
            }
        }
        try database.run(
            "INSERT INTO entries (position, feed, chain, number, event, outcome, json) VALUES (?, ?, ?, ?, ?, ?, ?)",
            entry.position,
            feed,
            chain?.description,
            number,
            event,
            verdict?.outcome.rawValue,
            bytes
        )
    }

    private static func logChanged(_ what: String) -> DeviceError {
        DeviceError(
            .logChanged,
            "the server's log has \(what)",
            remedy: "ask the server's operator whether its database was restored from a backup"
        )
    }

    /// A signed verdict on an own event: its outbox row goes, and a refusal is kept with its reasons.
    private func settle(_ event: Digest, in chain: UniqueID, _ verdict: Verdict, received: Timestamp) throws {
        try database.run("DELETE FROM outbox WHERE event = ?", event.hex)
        guard verdict.outcome == .refused else {
            try database.run("DELETE FROM refused WHERE event = ?", event.hex)
            return
        }
        try database.run(
            """
            INSERT INTO refused (event, chain, epoch, verdict, received)
            VALUES (?, ?, (SELECT epoch FROM sync), ?, ?)
            ON CONFLICT (event) DO UPDATE SET
            epoch = excluded.epoch, verdict = excluded.verdict, received = excluded.received
            """,
            event.hex,
            chain.description,
            try Device.bytes(of: verdict.json),
            received.description
        )
    }

    /// Folds chains anew over what was written, and writes their rows.
    func refold(_ chains: Set<UniqueID>) throws {
        for chain in chains.sorted() {
            cache[chain] = nil
            try database.run(
                """
                INSERT INTO chains (chain, revision, updated, summary) VALUES (?, 1, '', x'')
                ON CONFLICT (chain) DO UPDATE SET revision = revision + 1
                """,
                chain.description
            )
            try saveSummary(of: try folded(chain), at: now())
        }
    }
}
