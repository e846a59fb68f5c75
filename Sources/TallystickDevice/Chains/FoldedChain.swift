import Tallystick
import TallystickCrypto
import TallystickStore

/// A chain as this device sees it: what the server decided, in its order, and the device's own words on top.
struct FoldedChain {
    /// The state, provisional where own events have no final verdict.
    var state: ChainState
    /// The number in `chains.revision` at which the server's part was read.
    let revision: Int
    /// The row of the last own event folded.
    var lastRow: Int
    /// The number of the device's last own event.
    var lastSeq: Int
    /// SQLite's count of other connections' commits when the chain was last compared with the file.
    var dataVersion = 0
    /// What this device expects the server to say about own events that have no final verdict.
    var expected: [(event: Digest, verdict: Verdict)] = []
}

extension Device {
    /// Gives a chain folded up to now; inside a transaction or a snapshot.
    ///
    /// Own events of another process are folded on top of what is cached; after a pull it is folded anew.
    func folded(_ chain: UniqueID) throws -> FoldedChain {
        let version = try database.first("PRAGMA data_version") { row in try row.int(0) } ?? 0
        if let cached = cache[chain], cached.dataVersion == version { return cached }
        try refreshSchemes()  // another process may have fetched one
        let revision = try revision(of: chain)
        var folded: FoldedChain
        if let cached = cache[chain], cached.revision == revision {
            folded = cached
        } else {
            folded = try foldServerPart(of: chain, revision: revision)
        }
        try foldOwnPart(into: &folded)
        folded.dataVersion = version
        cache[chain] = folded
        return folded
    }

    func revision(of chain: UniqueID) throws -> Int {
        try database.first("SELECT revision FROM chains WHERE chain = ?", chain.description) { row in
            try row.int(0)
        } ?? 0
    }

    private func foldServerPart(of chain: UniqueID, revision: Int) throws -> FoldedChain {
        var folded = FoldedChain(state: ChainState(chain: chain), revision: revision, lastRow: 0, lastSeq: 0)
        let rows = try database.query(
            """
            SELECT entries.json, events.line FROM entries JOIN events ON events.hash = entries.event
            WHERE entries.chain = ? AND entries.number IS NOT NULL ORDER BY entries.number
            """,
            chain.description
        ) { row in (json: try row.blob(0), line: try row.blob(1)) }
        var certificates = CertificateReader(database)
        for row in rows {
            guard case .verdict(let entry) = try Device.entry(row.json).content, entry.verdict.outcome != .waiting
            else {
                continue
            }
            let event = try SignedEvent(line: row.line).event
            let arrival = Arrival(
                event: event,
                certificate: try certificates.certificate(of: event.device),
                isRevoked: false,
                isSignatureValid: true,
                received: entry.received
            )
            folded.state.fold(arrival, entry.verdict, in: context)
        }
        return folded
    }

    /// Folds the events from `lastRow` on that the server has not finally decided: this device's own.
    ///
    /// After the server's database was replaced, those of others that the new one has not sent yet are among them, in
    /// their former order, so that work can go on meanwhile.
    private func foldOwnPart(into folded: inout FoldedChain) throws {
        let rows = try database.query(
            """
            SELECT row, line, seq, own FROM events WHERE chain = ? AND row > ?
            AND (own = 1 OR NOT EXISTS (SELECT 1 FROM entries WHERE event = events.hash))
            ORDER BY place IS NULL, place, row
            """,
            folded.state.chain.description,
            folded.lastRow
        ) { row in (row: try row.int(0), line: try row.blob(1), seq: try row.int(2), isOwn: try row.int(3) != 0) }
        var certificates = CertificateReader(database)
        for row in rows {
            folded.lastRow = max(folded.lastRow, row.row)
            if row.isOwn { folded.lastSeq = max(folded.lastSeq, row.seq) }
            let event = try SignedEvent(line: row.line).event
            guard !folded.state.knows(event.hash) else { continue }
            if row.isOwn {
                let verdict = try storedRefusal(of: event.hash) ?? folded.state.decide(arrival(of: event), in: context)
                fold(event, verdict, into: &folded)
            } else {
                let arrival = Arrival(
                    event: event,
                    certificate: try certificates.certificate(of: event.device),
                    isRevoked: false,
                    isSignatureValid: true,
                    received: event.at
                )
                folded.state.fold(arrival, folded.state.decide(arrival, in: context), in: context)
            }
        }
    }

    /// Folds an own event with the verdict this device expects.
    func fold(_ event: Event, _ verdict: Verdict, into folded: inout FoldedChain) {
        folded.expected.append((event.hash, verdict))
        folded.state.fold(arrival(of: event), verdict, in: context)
        folded.lastSeq = max(folded.lastSeq, event.seq)
    }

    /// An own event as this device decides it: in time by its own clock, which is all that is known here.
    func arrival(of event: Event) -> Arrival {
        Arrival(
            event: event,
            certificate: certificate,
            isRevoked: false,
            isSignatureValid: true,
            received: event.at
        )
    }

    /// The refusal of an own line that the server could not take as an event of this chain.
    private func storedRefusal(of event: Digest) throws -> Verdict? {
        try database.first(
            "SELECT verdict FROM refused WHERE event = ? AND epoch = (SELECT epoch FROM sync)",
            event.hex
        ) { row in try Device.verdict(try row.blob(0)) }
    }

    static func entry(_ bytes: [UInt8]) throws -> LogEntry {
        do {
            return try LogEntry(try JSON.parse(bytes))
        } catch let error as JSONError {
            throw StoreError(.corrupt, "expected an entry of the log: \(error)")
        }
    }

    static func verdict(_ bytes: [UInt8]) throws -> Verdict {
        do {
            guard let verdict = Verdict(try JSON.parse(bytes)) else {
                throw StoreError(.corrupt, "expected a verdict, got another object")
            }
            return verdict
        } catch let error as JSONError {
            throw StoreError(.corrupt, "expected a verdict: \(error)")
        }
    }
}

/// Finds certificates, each read once.
struct CertificateReader {
    private let database: Database
    private var known: [DeviceID: Certificate] = [:]

    init(_ database: Database) {
        self.database = database
    }

    /// The newest certificate of the device, if one is known.
    mutating func certificate(of device: DeviceID) throws -> Certificate? {
        if let certificate = known[device] { return certificate }
        let line = try database.first(
            "SELECT line FROM certificates WHERE device = ? ORDER BY serial DESC",
            device.description
        ) { row in try row.blob(0) }
        guard let line else { return nil }
        let certificate = try Certificate(line: line)
        known[device] = certificate
        return certificate
    }
}
