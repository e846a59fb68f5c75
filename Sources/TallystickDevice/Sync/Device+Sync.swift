package import Tallystick
import TallystickCrypto
import TallystickStore

/// What a synchronisation did.
package struct SyncReport: Sendable, Equatable {
    /// Events on which the server gave a verdict.
    package internal(set) var pushed = 0
    /// Events that the server put off, or does not take: they are kept.
    package internal(set) var putOff = 0
    /// Items of the feed that were taken over.
    package internal(set) var pulled = 0
    /// Whether the server's database is another than before, so that everything was offered again.
    package internal(set) var hasStartedOver = false
    /// What came of asking for schemes that this device did not know.
    package internal(set) var schemes = SchemeFetch()
    /// How many events of this device are refused and not dealt with.
    package internal(set) var refused = 0
    /// When the next try is due, where the synchronisation was left for later.
    package internal(set) var notBefore: Timestamp?
}

/// When to synchronise.
package enum SyncOccasion: Sendable {
    /// At once: a person asked.
    case now
    /// Only what is due: a timer asked.
    case whenDue
}

extension Device {
    /// Pushes what is in the outbox and pulls what is new.
    ///
    /// - Parameters:
    ///   - transport: The way to the server.
    ///   - occasion: Whether waits between tries count.
    ///   - keep: A session of an earlier call, to be used again; updated.
    /// - Returns: What was done. With `whenDue` and nothing due, nothing, and when to come again.
    /// - Throws: ``DeviceError``: `server-unreachable`, `server-refused`, `server-misbehaved`, `sync-busy`, and those
    ///   of a home that cannot be written. What was saved before stays so, and everything is tried again later.
    package func sync(
        _ transport: Transport,
        _ occasion: SyncOccasion = .now,
        token: inout String?
    ) throws -> SyncReport {
        try atHome(home.path) {
            let lease = Lease(random: random(16), database: database)
            if case .whenDue = occasion, let due = try notDue() {
                var report = SyncReport()
                report.notBefore = due
                return report
            }
            try lease.take(at: now(), home: home.path)
            var driver = SyncDriver(device: self, transport: transport, occasion: occasion, lease: lease)
            do {
                let report = try driver.run(token: &token)
                try lease.release()
                return report
            } catch {
                do { try lease.release() } catch {}  // it ends by itself, and the first failure is the one to report
                throw error
            }
        }
    }

    /// Pushes what is in the outbox and pulls what is new, in a session of its own.
    package func sync(_ transport: Transport, _ occasion: SyncOccasion = .now) throws -> SyncReport {
        var token: String?
        return try sync(transport, occasion, token: &token)
    }

    /// When the next try is due, or nil if it is now.
    private func notDue() throws -> Timestamp? {
        let next = try database.first("SELECT next_attempt_ms FROM sync") { row in try row.int64(0) } ?? 0
        let time = now().milliseconds
        // A time further away than any wait was written under another clock.
        guard next > time, next <= time + 86_400_000 else { return nil }
        return Timestamp(milliseconds: next)
    }

    /// The server's address, as given at enrolment.
    package func serverAddress() throws -> String {
        try atHome(home.path) {
            try database.first("SELECT server FROM sync") { row in try row.text(0) } ?? ""
        }
    }
}

/// Does what the session asks for: requests, and reading and writing the database.
private struct SyncDriver {
    let device: Device
    let transport: Transport
    let occasion: SyncOccasion
    let lease: Lease
    var report = SyncReport()
    /// What was sent in this run and stayed: it waits for the next, and its chain with it.
    var left: Set<Digest> = []

    init(device: Device, transport: Transport, occasion: SyncOccasion, lease: Lease) {
        self.device = device
        self.transport = transport
        self.occasion = occasion
        self.lease = lease
    }

    var database: Database { device.database }
    private var isNow: Bool { if case .now = occasion { true } else { false } }
    var home: String { device.home.path }

    mutating func run(token: inout String?) throws -> SyncReport {
        var session = try makeSession(token: token)
        var action = session.start()
        while true {
            switch action {
            case .send(let request):
                try lease.take(at: device.now(), home: home)
                action = send(request, &session)
            case .loadBatch: action = session.push(try loadBatch())
            case .saveReceipt(let receipt, let lines):
                let device = device
                let fault = try apply { report in try device.apply(receipt, for: lines, &report) }
                if fault == nil { left.formUnion(lines.map(\.event)) }
                action = fault.map { session.refused($0) } ?? session.saved()
            case .savePage(let page):
                let device = device
                let fault = try apply { report in try device.apply(page, &report) }
                action = fault.map { session.refused($0) } ?? session.saved()
            case .startOver(let epoch):
                let device = device
                let fault = try apply { report in
                    report.hasStartedOver = true
                    try device.startOver(epoch: epoch)
                }
                left = []
                action = fault.map { session.failed($0) } ?? session.saved()
            case .park(let line, let error):
                let device = device
                let fault = try apply { report in
                    report.putOff += 1
                    try device.recordFailure(error, retryAfter: nil) { $0 == line.event }
                }
                left.insert(line.event)
                action = fault.map { session.failed($0) } ?? session.saved()
            case .finish:
                token = session.token
                // Last, so that no scheme of the server's can stand in the way of events and verdicts.
                if let token, device.isToAskForSchemes(on: occasion) {
                    let fetcher = SchemeFetcher(device: device, transport: transport, token: token, lease: lease)
                    report.schemes = try fetcher.run(retriesRefused: isNow)
                }
                try recordSuccess()
                return report
            case .stop(let error, let retryAfter, let lines):
                token = session.token
                try recordStop(error, retryAfter: retryAfter, lines)
                throw error
            }
        }
    }

    private func makeSession(token: String?) throws -> SyncSession {
        let state = try database.first("SELECT authority, epoch, cursor FROM sync") { row in
            (authority: try row.blob(0), epoch: try row.text(1), cursor: try row.int(2))
        }
        guard let state, let authority = PublicKey(bytes: state.authority) else {
            throw StoreError(.corrupt, "expected the server's authority and epoch")
        }
        let newest = try database.first("SELECT json FROM entries WHERE feed = ?", state.cursor) { row in
            SHA256.hash(try row.blob(0))
        }
        var keys: [DeviceID: PublicKey] = [:]
        for line in try database.query("SELECT line FROM certificates", row: { row in try row.blob(0) }) {
            let certificate = try Certificate(line: line)
            keys[certificate.device] = certificate.key
        }
        return SyncSession(
            device: device.id,
            key: device.key,
            authority: authority,
            epoch: state.epoch,
            cursor: state.cursor,
            newest: newest,
            keys: keys,
            token: token
        )
    }

    private func send(_ request: HTTPRequestValue, _ session: inout SyncSession) -> SyncSession.Action {
        do {
            return session.receive(try transport.send(request))
        } catch let error as DeviceError {
            return session.failed(error)
        } catch {
            return session.failed(.unreachable("the server was not reached: \(error)"))
        }
    }

    /// Writes in one transaction what a step brought; gives the error where the server was wrong.
    private mutating func apply(_ body: (inout SyncReport) throws -> Void) throws -> DeviceError? {
        var report = report
        let cached = device.cache
        do {
            try database.transaction {
                try lease.check(home: home)
                try body(&report)
            }
        } catch let error as DeviceError where error.code == .serverMisbehaved || error.code == .logChanged {
            device.cache = cached
            return error
        } catch {
            device.cache = cached
            throw error
        }
        self.report = report
        return nil
    }

    /// The lines that can go now, oldest first: nothing overtakes an earlier line of its chain.
    private func loadBatch() throws -> [SyncSession.Line] {
        let time = device.now().milliseconds
        var blocked: Set<String> = []
        var size = 0
        var lines: [SyncSession.Line] = []
        var statement = try database.statement(
            """
            SELECT events.hash, events.chain, events.line, outbox.next_attempt_ms
            FROM outbox JOIN events ON events.hash = outbox.event ORDER BY events.row
            """
        )
        while try statement.step() {
            let chain = try statement.text(1)
            guard !blocked.contains(chain) else { continue }
            guard let event = Digest(hex: try statement.text(0)), let chainID = UniqueID(chain) else {
                throw StoreError(.corrupt, "expected an event's hash and chain in the outbox")
            }
            let next = try statement.int64(3)
            // A time further away than any wait was written under another clock.
            let isEarly = next > time && next <= time + 86_400_000
            let isLate: Bool = if case .whenDue = occasion { isEarly } else { false }
            guard !left.contains(event), !isLate else {
                blocked.insert(chain)
                continue
            }
            let bytes = try statement.blob(2)
            // A few batches at a time, so that a long outbox does not fill the memory.
            size += bytes.count
            lines.append(SyncSession.Line(event: event, chain: chainID, bytes: bytes))
            if size >= 4 * SyncSession.mostBytes { break }
        }
        return lines
    }

    private mutating func recordSuccess() throws {
        try database.transaction {
            try database.run(
                """
                UPDATE sync SET attempts = 0, next_attempt_ms = 0, last_error = NULL, last_error_code = NULL,
                last_success = ?
                """,
                device.now().description
            )
        }
        report.refused =
            try database.first("SELECT count(*) FROM refused WHERE is_dealt_with = 0") { row in try row.int(0) } ?? 0
    }

    private func recordStop(_ error: DeviceError, retryAfter: Int?, _ lines: [SyncSession.Line]) throws {
        try database.transaction {
            // Where no lines are named, all are concerned that this run has not dealt with.
            let named = Set(lines.map(\.event))
            try device.recordFailure(error, retryAfter: retryAfter) { event in
                named.isEmpty ? !left.contains(event) : named.contains(event)
            }
            let attempts = (try database.first("SELECT attempts FROM sync") { row in try row.int(0) } ?? 0) + 1
            let wait =
                retryAfter.map { Int64($0) * 1_000 }
                ?? Backoff.milliseconds(after: attempts, chance: device.random(2))
            try database.run(
                "UPDATE sync SET attempts = ?, next_attempt_ms = ?, last_error = ?, last_error_code = ?",
                attempts,
                device.now().milliseconds + wait,
                error.message,
                error.code.rawValue
            )
        }
    }
}
