package import Tallystick
package import TallystickCrypto
import TallystickStore

/// What has not reached the server, and how the last synchronisations went.
package struct OutboxStatus: Sendable {
    /// All own events by how far they came.
    package let counts: BadgeCounts
    /// The events that are only on this device, oldest first.
    package let rows: [Row]
    /// When a synchronisation last went to its end, by this device's clock.
    package let lastSuccess: Timestamp?
    /// Why the last one did not; nil where it did.
    package let lastError: (code: String, message: String)?
    /// When the next try is due; nil where none waits.
    package let nextAttempt: Timestamp?
    /// The server's address.
    package let server: String
    /// How many milliseconds the server's clock was ahead of this device's when it last answered.
    package let clockSkew: Int64
    /// Whether this home was copied or restored, so that it may say nothing new.
    package let isCopied: Bool

    /// One event that is only on this device.
    package struct Row: Sendable {
        /// The event.
        package let event: Digest
        /// The chain.
        package let chain: UniqueID
        /// The event's type.
        package let type: String
        /// How often it was tried.
        package let attempts: Int
        /// When it is tried again by itself; nil where it can go at once.
        package let nextAttempt: Timestamp?
        /// Why the last try failed.
        package let lastError: String?
        /// The code of that failure.
        package let lastErrorCode: String?
    }
}

extension Device {
    /// What has not reached the server.
    package func outbox() throws -> OutboxStatus {
        try atHome(home.path) {
            try database.snapshot {
                var counts = (saved: 0, waiting: 0, confirmed: 0, refused: 0)
                for chain in try database.query("SELECT chain FROM chains", row: { row in UniqueID(try row.text(0)) }) {
                    guard let chain else { continue }
                    let part = try self.counts(of: chain)
                    counts.saved += part.savedHere
                    counts.waiting += part.atTheServer
                    counts.confirmed += part.confirmed
                    counts.refused += part.refused
                }
                let isCopied = try database.first("SELECT is_copied FROM meta") { row in try row.int(0) } ?? 0
                let status = try database.first(
                    """
                    SELECT server, skew_ms, next_attempt_ms, last_success, last_error_code, last_error FROM sync
                    """
                ) { row in
                    OutboxStatus(
                        counts: BadgeCounts(
                            savedHere: counts.saved,
                            atTheServer: counts.waiting,
                            confirmed: counts.confirmed,
                            refused: counts.refused
                        ),
                        rows: try outboxRows(),
                        lastSuccess: try row.optionalText(3).flatMap(Timestamp.init),
                        lastError: try row.optionalText(5).map { (try row.optionalText(4) ?? "", $0) },
                        nextAttempt: try time(row.int64(2)),
                        server: try row.text(0),
                        clockSkew: try row.int64(1),
                        isCopied: isCopied != 0
                    )
                }
                guard let status else { throw StoreError(.corrupt, "expected the state of synchronisation") }
                return status
            }
        }
    }

    private func time(_ milliseconds: Int64) -> Timestamp? {
        milliseconds == 0 ? nil : Timestamp(milliseconds: milliseconds)
    }

    private func outboxRows() throws -> [OutboxStatus.Row] {
        try database.query(
            """
            SELECT events.line, outbox.attempts, outbox.next_attempt_ms, outbox.last_error, outbox.last_error_code
            FROM outbox JOIN events ON events.hash = outbox.event ORDER BY events.row
            """
        ) { row in
            let event = try SignedEvent(line: try row.blob(0)).event
            return OutboxStatus.Row(
                event: event.hash,
                chain: event.chain,
                type: event.type,
                attempts: try row.int(1),
                nextAttempt: try time(row.int64(2)),
                lastError: try row.optionalText(3),
                lastErrorCode: try row.optionalText(4)
            )
        }
    }
}
