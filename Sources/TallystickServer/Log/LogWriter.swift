import Schemes
import Tallystick
import TallystickCrypto
import TallystickStore

/// The one writer of the log: gives positions, decides, and writes entries, feeds and projections.
///
/// What it keeps in memory follows from the log, and is dropped whenever something fails half-way.
final class LogWriter {
    let database: Database
    let projections: Projections
    private(set) var directory: Directory
    /// The position of the newest entry.
    private(set) var position = 0
    /// Names the database.
    private(set) var epoch = ""
    /// When what came last came, in milliseconds.
    private(set) var newest: Int64 = 0

    private let keys: ServerKeys
    private let limits: ServerLimits
    /// The known schemes and the positions after which they count.
    private(set) var schemes: [(since: Int, reference: SchemeReference)] = []
    /// What was read of schemes, or can be read without the database; not all of it need be known to this log.
    private var library: SchemeLibrary
    private var contexts: [(since: Int, context: DecisionContext)] = []
    private var chains: ChainCache
    private var feed: Feed
    private var waiting: [DeviceID: Int] = [:]
    private var dataVersion: Int64 = 0

    /// Takes over a database that has the tables.
    ///
    /// - Parameter shipped: Schemes that need not be read from the database.
    init(
        _ database: Database,
        keys: ServerKeys,
        limits: ServerLimits,
        shipped: SchemeLibrary = SchemeLibrary()
    ) throws {
        library = shipped
        self.database = database
        self.keys = keys
        self.limits = limits
        projections = Projections(database)
        directory = Directory()
        chains = ChainCache(limit: limits.cachedEvents)
        feed = Feed(database)
        try reload()
    }

    // MARK: Memory

    /// Forgets everything and reads again who is known; positions and feeds are read when they are needed.
    func reload() throws {
        chains.removeAll()
        feed.forget()
        waiting.removeAll()
        directory = try Directory(database)
        try reloadSchemes()
        position = try storedPosition()
        newest = try storedNewest()
        epoch = try database.first("SELECT value FROM meta WHERE name = 'epoch'") { row in try row.text(0) } ?? ""
        dataVersion = try version()
    }

    /// Does all of `body` in one transaction, or nothing, and then nothing of it stays in memory either.
    func transaction<T>(_ body: () throws -> T) throws -> T {
        do {
            return try database.transaction {
                // Another process may have revoked a device or swapped tables since.
                if try version() != dataVersion { try reload() }
                return try body()
            }
        } catch {
            try reload()
            throw error
        }
    }

    private func version() throws -> Int64 {
        try database.first("PRAGMA data_version") { row in try row.int64(0) } ?? 0
    }

    private func storedPosition() throws -> Int {
        try database.first("SELECT coalesce(max(position), 0) FROM entries") { row in try row.int(0) } ?? 0
    }

    /// When what has the last position came: times follow positions, so it is the newest.
    private func storedNewest() throws -> Int64 {
        let sources = [("events", "received"), ("unreadable", "received"), ("revocations", "at")]
        return try sources.reduce(0) { newest, source in
            let sql = "SELECT \(source.1) FROM \(source.0) ORDER BY position DESC LIMIT 1"
            return max(newest, try database.first(sql) { row in try row.int64(0) } ?? 0)
        }
    }

    /// When something that comes now is taken to have come: never before what came earlier.
    ///
    /// A clock that is put back would otherwise write times that an audit takes for those of a changed log, and let
    /// an offer live that has been found to have ended.
    func arrivalTime(_ now: Timestamp) throws(ServerError) -> Timestamp {
        guard let time = Timestamp(milliseconds: max(newest, now.milliseconds)) else {
            throw ServerError(.badValue, "expected a time before the end of 9999")
        }
        newest = time.milliseconds
        return time
    }

    /// Gives the database another name.
    func rename(epoch new: String) throws(StoreError) {
        try database.run("UPDATE meta SET value = ? WHERE name = 'epoch'", new)
        epoch = new
    }

    private func chain(_ id: UniqueID) throws -> LiveChain {
        if let chain = chains.find(id) { return chain }
        let chain = try LiveChain(id, from: database, directory: directory, context: context(at:))
        chains.insert(chain)
        return chain
    }

    // MARK: Schemes

    private func reloadSchemes() throws {
        let rows = try database.query("SELECT since, hash FROM schemes ORDER BY since, hash") { row in
            (since: try row.int(0), hash: try row.blob(1))
        }
        schemes = try rows.map { row in
            // What a hash names never changes, so each is read once.
            if let hash = Digest(bytes: row.hash), let known = library.reference(of: hash) { return (row.since, known) }
            let bytes = try database.first("SELECT bytes FROM schemes WHERE hash = ?", row.hash) { row in
                try row.blob(0)
            }
            let scheme = try Scheme(bytes: bytes ?? [])
            library.add(scheme)
            return (row.since, scheme.reference)
        }
        prepareContexts()
    }

    /// Makes schemes known from the next position on: what was decided before was decided without them.
    func add(_ new: [Scheme]) throws {
        for scheme in new where !schemes.contains(where: { $0.reference == scheme.reference }) {
            try database.run(
                "INSERT INTO schemes VALUES (?, ?, ?)",
                scheme.reference.hash.bytes,
                position,
                scheme.bytes
            )
            library.add(scheme)
            schemes.append((position, scheme.reference))
        }
        prepareContexts()
    }

    private func prepareContexts() {
        let keys = keys
        contexts = Set(schemes.map(\.since)).sorted().map { since in
            let references = Set(schemes.filter { $0.since <= since }.map(\.reference))
            let known = library.filter(references.contains)
            return (since, DecisionContext(stage: .final, schemes: known) { keys.answer($0) })
        }
    }

    /// What an event whose first entry has this position is decided with.
    private func context(at position: Int) -> DecisionContext {
        if let known = contexts.last(where: { $0.since < position }) { return known.context }
        return DecisionContext(stage: .final, schemes: []) { _ in .unchecked }
    }

    // MARK: Lines

    /// Takes one line that is part of a transaction; where it fails, only this line is not taken.
    ///
    /// - Throws: What ends the whole transaction, such as a full disk.
    func take(_ line: CheckedPush.Line, of push: CheckedPush) throws -> TakenLine {
        do {
            return try database.savepoint {
                switch line.content {
                case .event(let signed, let certificate):
                    try take(signed, certificate, line: line.digest, received: push.received)
                case .unreadable(let bytes, let verdict):
                    try take(unreadable: bytes, verdict, line: line.digest, of: push)
                }
            }
        } catch {
            guard database.isInTransaction, LogWriter.isAlone(error) else { throw error }
            if case .event(let signed, _) = line.content { chains.remove(signed.event.chain) }
            feed.forget()
            waiting.removeAll()
            position = try storedPosition()
            return TakenLine(line: line.digest, status: .deferred, entry: nil, failure: error)
        }
    }

    /// Whether a failure is that of one row, so that others can still be written.
    private static func isAlone(_ error: any Error) -> Bool {
        guard let error = error as? StoreError else { return true }
        switch error.code {
        case .constraint, .misuse, .wrongType, .invalidText, .other: return true
        default: return false
        }
    }

    private func take(
        _ signed: SignedEvent,
        _ certificate: Certificate,
        line: Digest,
        received: Timestamp
    ) throws -> TakenLine {
        let event = signed.event
        let chain = try chain(event.chain)
        if let place = chain.places[event.hash] {
            return TakenLine(line: line, status: .known, entry: try storedEntry(at: place.newest))
        }
        let first = position + 1
        let context = context(at: first)
        let arrival = Arrival(
            event: event,
            certificate: certificate,
            isRevoked: directory.isRevoked(event.device, before: first),
            isSignatureValid: true,
            received: received
        )
        if try isTooMuch(arrival, in: chain, context) {
            return TakenLine(line: line, status: .deferred, entry: nil)
        }
        let decisions = chain.receive(arrival, in: context)
        try keep(signed, received: received, at: first)
        var answer: [UInt8]?
        for decision in decisions {
            let entry = try enter(decision, in: chain)
            if answer == nil { answer = entry }
        }
        try projections.apply(decisions, of: chain.ledger)
        return TakenLine(line: line, status: .taken, entry: answer)
    }

    /// Whether the event would be one more that waits, or that is refused to somebody who takes no part, than a device
    /// may have.
    private func isTooMuch(_ arrival: Arrival, in chain: LiveChain, _ context: DecisionContext) throws -> Bool {
        let device = arrival.event.device
        let mayWait = try waitingCount(of: device) < limits.waitingPerDevice
        let takesPart = arrival.certificate.map { chain.parties.contains($0.party) } ?? false
        let mayBeRefused = takesPart || chain.refusals[device, default: 0] < limits.refusedPerOutsider
        if mayWait, mayBeRefused { return false }
        return switch chain.ledger.state.decide(arrival, in: context).outcome {
        case .accepted: false
        case .waiting: !mayWait
        case .refused: !mayBeRefused
        }
    }

    private func keep(_ signed: SignedEvent, received: Timestamp, at position: Int) throws(StoreError) {
        var statement = try database.statement(literal: "INSERT INTO events VALUES (?, ?, ?, ?)")
        try statement.bind(position, at: 1)
        try statement.bind(signed.event.device.bytes, at: 2)
        try statement.bind(received.milliseconds, at: 3)
        try statement.bind(signed.line, at: 4)
        try statement.run()
    }

    /// Enters a verdict in the log and in the feeds of those who may see it.
    private func enter(_ decision: ChainLedger.Decision, in chain: LiveChain) throws -> [UInt8] {
        let event = decision.arrival.event
        position += 1
        chain.number += 1
        let first = chain.places[event.hash]?.first ?? position
        let entry = LogEntry(
            position: position,
            content: .verdict(
                LogEntry.EventVerdict(
                    chain: chain.id,
                    event: event.hash,
                    number: chain.number,
                    received: decision.arrival.received,
                    verdict: decision.verdict
                )
            )
        )
        let bytes = try entry.canonicalBytes()
        try write(bytes, chain: chain, event: first)
        if first == position {
            chains.countEvent()
            if decision.verdict.outcome == .waiting { waiting[event.device, default: 0] += 1 }
        } else if let count = waiting[event.device] {
            waiting[event.device] = count - 1
        }
        let party = decision.arrival.certificate?.party
        if let party { try feed.add(decision, at: position, by: party, in: chain, directory) }
        chain.places[event.hash] = LiveChain.Place(first: first, newest: position, party: party)
        return bytes
    }

    private func write(_ bytes: [UInt8], chain: LiveChain?, event: Int?) throws(StoreError) {
        var statement = try database.statement(literal: "INSERT INTO entries VALUES (?, ?, ?, ?, ?)")
        try statement.bind(position, at: 1)
        if let chain {
            try statement.bind(chain.key, at: 2)
            try statement.bind(chain.number, at: 3)
        }
        if let event { try statement.bind(event, at: 4) }
        try statement.bind(String(decoding: bytes, as: UTF8.self), at: 5)
        try statement.run()
    }

    private func storedEntry(at position: Int) throws -> [UInt8] {
        let entry = try database.first("SELECT json FROM entries WHERE position = ?", position) { row in
            Array(try row.text(0).utf8)
        }
        guard let entry else { throw ServerError(.logDamaged, "expected entry \(position)") }
        return entry
    }

    /// How many events of the device wait, anywhere.
    private func waitingCount(of device: DeviceID) throws -> Int {
        if let count = waiting[device] { return count }
        let sql = "SELECT count(*) FROM waiting WHERE device = ? AND number = 0"
        let count = try database.first(sql, device.description) { row in try row.int(0) } ?? 0
        waiting[device] = count
        return count
    }

    private func take(
        unreadable bytes: [UInt8],
        _ verdict: Verdict,
        line: Digest,
        of push: CheckedPush
    ) throws -> TakenLine {
        let known = try database.first("SELECT position FROM unreadable WHERE hash = ?", line.bytes) { row in
            try row.int(0)
        }
        if let known { return TakenLine(line: line, status: .known, entry: try storedEntry(at: known)) }
        let entry = try enter(unreadable: bytes, verdict, line: line, from: push.device, received: push.received)
        return TakenLine(line: line, status: .taken, entry: entry)
    }

    // MARK: Other entries

    /// Enters that a line is no event.
    func enter(
        unreadable bytes: [UInt8],
        _ verdict: Verdict,
        line: Digest,
        from device: DeviceID,
        received: Timestamp
    ) throws -> [UInt8] {
        position += 1
        let entry = LogEntry(
            position: position,
            content: .unreadable(line, from: device, received: received, verdict)
        )
        let json = try entry.json.canonicalBytes()
        try write(json, chain: nil, event: nil)
        try database.run(
            "INSERT INTO unreadable VALUES (?, ?, ?, ?, ?, ?)",
            position,
            line.bytes,
            device.bytes,
            received.milliseconds,
            String(decoding: try verdict.json.canonicalBytes(), as: UTF8.self),
            bytes
        )
        try projections.apply(
            unreadable: line,
            from: device,
            party: directory.certificates[device]?.party,
            received: received,
            verdict: verdict
        )
        return json
    }

    /// Enters that a certificate takes effect.
    func enter(_ certificate: Certificate) throws {
        position += 1
        let content = LogEntry.Content.certificate(SHA256.hash(certificate.line), device: certificate.device)
        try write(try LogEntry(position: position, content: content).json.canonicalBytes(), chain: nil, event: nil)
        try database.run(
            "INSERT INTO certificates VALUES (?, ?, ?)",
            position,
            certificate.device.bytes,
            certificate.line
        )
        try projections.apply(certificate)
        directory.add(certificate)
    }

    /// Enters that a device is revoked: what comes after is refused.
    func enter(revocationOf device: DeviceID, why: String, at: Timestamp) throws {
        position += 1
        let content = LogEntry.Content.revocation(device, why: why)
        try write(try LogEntry(position: position, content: content).json.canonicalBytes(), chain: nil, event: nil)
        try database.run(
            "INSERT INTO revocations VALUES (?, ?, ?, ?)",
            position,
            device.bytes,
            why,
            at.milliseconds
        )
        try projections.apply(revocationOf: device, why: why)
        directory.revoke(device, at: position)
    }

    /// Gives a party of this name its number, and makes one where there is none.
    func party(named name: String, otherwise id: UniqueID) throws -> Int {
        let known = try database.first("SELECT number FROM parties WHERE name = ?", name) { row in try row.int(0) }
        if let known { return known }
        try database.run("INSERT INTO parties (party, name) VALUES (?, ?)", id.description, name)
        let number = Int(database.lastInsertedRowID)
        directory.add(id, number: number)
        return number
    }

    /// Whether some known scheme has the role.
    func hasRole(_ role: Name) -> Bool {
        schemes.contains { library.scheme($0.reference)?.role(role) != nil }
    }

    /// A scheme that is known to this log, read.
    func scheme(_ reference: SchemeReference) -> Scheme? {
        schemes.contains { $0.reference == reference } ? library.scheme(reference) : nil
    }

    /// Lets go of chains beyond the limit.
    func trim() { chains.trim() }
}
