import Glibc
import Tallystick
import TallystickCrypto
import TallystickStore

/// What folding the log again came to.
package struct RebuildReport: Sendable {
    /// A table that was compared.
    package struct Comparison: Sendable {
        /// The table's name.
        package let table: String
        /// Whether the log gives the rows that are stored.
        package let isEqual: Bool
    }

    /// The tables, the log's own first; none where the log could not be folded to its end.
    package let tables: [Comparison]
    /// The tables that nothing in the log gives: of these only the shape of the rows was looked at.
    package let underived: [String]
    /// The newest position.
    package let position: Int
    /// How many events were decided again.
    package let events: Int
    /// What was wrong with the stored log or the file itself, in words.
    package let faults: [String]
    /// Whether the projections were replaced.
    package let wasSwapped: Bool

    /// Whether everything stored is what the log gives.
    package var isClean: Bool { faults.isEmpty && tables.allSatisfy(\.isEqual) }
    /// The names of the tables that differ.
    package var differences: [String] { tables.filter { !$0.isEqual }.map(\.table) }
}

extension ServerStore {
    /// Folds the whole log again in another database, compares, and puts the projections in place unless only asked
    /// to check.
    ///
    /// Events are decided in the order they arrived, with certificates, revocations and schemes at their positions,
    /// and their signatures are checked again. The log's own tables are compared but never replaced: verdicts were
    /// signed and given out, and cursors count on the numbers. The pages of the file are checked too; where they are
    /// damaged, or the log cannot be folded to its end, nothing is replaced.
    ///
    /// - Throws: ``ServerError/Code/logMoved`` where pushes kept coming while it folded; `StoreError` where the copy
    ///   could not be written.
    package func rebuild(check: Bool) throws -> RebuildReport {
        for _ in 0..<3 {
            let shadow = path + ".rebuild-" + Hex.encode(random(8))
            defer {
                // A file of our own; what cannot be removed does no harm, as its name is used once.
                for suffix in ["", "-wal", "-shm"] { _ = unsafe unlink(shadow + suffix) }
            }
            let (report, isWhole) = try fold(into: shadow)
            if check || !isWhole { return report }
            if try swap(from: shadow, at: report.position) {
                return RebuildReport(
                    tables: report.tables,
                    underived: report.underived,
                    position: report.position,
                    events: report.events,
                    faults: report.faults,
                    wasSwapped: true
                )
            }
        }
        throw ServerError(.logMoved, "expected the log to rest while it was folded; run it again")
    }

    /// Folds the log again where the tables of the projections are newer than what fills them, as after an update.
    ///
    /// - Throws: ``ServerError/Code/logDamaged`` where the log cannot be folded; what ``rebuild(check:)`` throws.
    func foldStaleProjections() throws {
        let sql = "SELECT 1 FROM meta WHERE name = ?"
        let isStale = try readers.read { database in
            try database.first(sql, ServerSchema.staleProjections) { _ in true } ?? false
        }
        guard isStale else { return }
        let report = try rebuild(check: false)
        guard report.wasSwapped else {
            throw ServerError(
                .logDamaged,
                """
                expected to fold the log of an earlier version into the tables of this one, but \
                \(report.faults.first ?? "the file is damaged"); put back a copy of \(path) that is whole
                """
            )
        }
    }

    /// Folds the live file into a new one; says also whether the file is whole, so that it may be written to.
    private func fold(into shadow: String) throws -> (report: RebuildReport, isWhole: Bool) {
        // A connection of its own: one that was used before may still have pages as they were before the damage.
        let live = try Database(path: path, mode: .readOnly, applicationID: ServerSchema.applicationID)
        defer { live.close() }
        return try live.snapshot {
            let check = ServerCheck(live, authority: authority)
            let damage = check.damage()
            do {
                let report = try fold(live, into: shadow, faults: damage)
                return (report, damage.isEmpty)
            } catch let error where ServerCheck.isDamage(error) {
                let fault = "the log could not be folded to its end: \(error)"
                let report = RebuildReport(
                    tables: [],
                    underived: ServerSchema.underived,
                    position: 0,
                    events: 0,
                    faults: damage + [fault],
                    wasSwapped: false
                )
                return (report, false)
            }
        }
    }

    private func fold(_ live: Database, into path: String, faults: [String]) throws -> RebuildReport {
        let database = try Database(path: path, mode: .create, applicationID: ServerSchema.applicationID)
        defer { database.close() }
        // Nothing of it has to outlive a crash.
        try database.execute("PRAGMA synchronous = OFF; PRAGMA cache_size = -65536")
        try ServerSchema.migrator.migrate(database)
        let check = ServerCheck(live, authority: authority)
        try check.copyParties(to: database)
        var unbounded = limits
        unbounded.waitingPerDevice = .max  // what was taken was within the bounds
        unbounded.refusedPerOutsider = .max
        var refold = Refold(
            from: live,
            to: try LogWriter(database, keys: keys, limits: unbounded),
            authority: authority
        )
        try refold.run()
        let compared = ServerSchema.log + Projections.tables
        let tables = try compared.map { table in
            let stored = try live.digest(of: table.name, orderedBy: table.key)
            let folded = try database.digest(of: table.name, orderedBy: table.key)
            return RebuildReport.Comparison(table: table.name, isEqual: stored == folded)
        }
        try database.checkpoint()
        return RebuildReport(
            tables: tables,
            underived: ServerSchema.underived,
            position: refold.lastPosition,
            events: refold.events,
            faults: faults + refold.faults + (try check.shape(like: database, upTo: refold.lastPosition)),
            wasSwapped: false
        )
    }

    /// Puts the folded projections in place; false where the log has grown since.
    private func swap(from shadow: String, at position: Int) throws -> Bool {
        try writer.withLock { writer in
            try writer.database.run("ATTACH DATABASE ? AS shadow", shadow)
            defer {
                // It fails only where it is not attached any more.
                do { try writer.database.execute("DETACH DATABASE shadow") } catch {}
            }
            return try writer.transaction {
                guard writer.position == position else { return false }
                for table in Projections.tables {
                    try writer.database.execute(
                        """
                        DELETE FROM main.\(table.name);
                        INSERT INTO main.\(table.name) SELECT * FROM shadow.\(table.name);
                        """
                    )
                }
                try writer.database.run("DELETE FROM main.meta WHERE name = ?", ServerSchema.staleProjections)
                return true
            }
        }
    }
}

/// One folding of a stored log through another writer.
private struct Refold {
    let live: Database
    let writer: LogWriter
    let authority: PublicKey
    private(set) var events = 0
    private(set) var faults: [String] = []
    private(set) var lastPosition = 0
    private var newest: Int64 = 0

    /// How many entries are folded in one transaction.
    private static let batch = 5_000

    init(from live: Database, to writer: LogWriter, authority: PublicKey) {
        self.live = live
        self.writer = writer
        self.authority = authority
    }

    mutating func run() throws {
        var schemes = try live.query("SELECT since, bytes FROM schemes ORDER BY since, hash") { row in
            (since: try row.int(0), scheme: try Scheme(bytes: try row.blob(1)))
        }[...]
        let last = try live.first("SELECT coalesce(max(position), 0) FROM entries") { row in try row.int(0) } ?? 0
        lastPosition = last
        var next = 1
        while next <= last {
            let end = min(last, next + Refold.batch - 1)
            let steps = try steps(from: next, through: end)
            try writer.transaction {
                for step in steps {
                    while let scheme = schemes.first, scheme.since < step.position {
                        try writer.add([scheme.scheme])
                        schemes.removeFirst()
                    }
                    try take(step)
                }
            }
            writer.trim()
            next = end + 1
        }
        // Those that nothing has come after yet.
        try writer.transaction { try writer.add(schemes.map(\.scheme)) }
    }

    /// What stands at a position that a line, certificate or revocation came at.
    private struct Step {
        enum Content {
            case event([UInt8], Int64)
            case unreadable([UInt8], Int64, device: [UInt8], verdict: String)
            case certificate([UInt8])
            case revocation([UInt8], why: String, Int64)
        }

        let position: Int
        let content: Content
    }

    private func steps(from first: Int, through last: Int) throws -> [Step] {
        var steps = try live.query(
            "SELECT position, line, received FROM events WHERE position BETWEEN ? AND ?",
            first,
            last
        ) { row in Step(position: try row.int(0), content: .event(try row.blob(1), try row.int64(2))) }
        steps += try live.query(
            "SELECT position, line, received, device, verdict FROM unreadable WHERE position BETWEEN ? AND ?",
            first,
            last
        ) { row in
            Step(
                position: try row.int(0),
                content: .unreadable(
                    try row.blob(1),
                    try row.int64(2),
                    device: try row.blob(3),
                    verdict: try row.text(4)
                )
            )
        }
        steps += try live.query(
            "SELECT position, line FROM certificates WHERE position BETWEEN ? AND ?",
            first,
            last
        ) { row in Step(position: try row.int(0), content: .certificate(try row.blob(1))) }
        steps += try live.query(
            "SELECT position, device, why, at FROM revocations WHERE position BETWEEN ? AND ?",
            first,
            last
        ) { row in
            Step(
                position: try row.int(0),
                content: .revocation(try row.blob(1), why: try row.text(2), try row.int64(3))
            )
        }
        return steps.sorted { $0.position < $1.position }
    }

    private mutating func take(_ step: Step) throws {
        do {
            switch step.content {
            case .event(let line, let received): try take(event: line, received, at: step.position)
            case .unreadable(let line, let received, let device, let verdict):
                guard let verdict = Verdict(try JSON.parse(Array(verdict.utf8))),
                    let device = DeviceID(Hex.encode(device)), let received = Timestamp(milliseconds: received)
                else { throw ServerError(.logDamaged, "expected an unreadable line with its verdict") }
                let hash = SHA256.hash(line)
                follow(received.milliseconds, at: step.position)
                _ = try writer.enter(unreadable: line, verdict, line: hash, from: device, received: received)
            case .certificate(let line):
                let certificate = try Certificate(line: line)
                if !certificate.isSigned(by: authority) { fault(step.position, "the certificate is not signed") }
                try writer.enter(certificate)
            case .revocation(let device, let why, let at):
                guard let device = DeviceID(Hex.encode(device)), let at = Timestamp(milliseconds: at) else {
                    throw ServerError(.logDamaged, "expected a device and a time in a revocation")
                }
                follow(at.milliseconds, at: step.position)
                try writer.enter(revocationOf: device, why: why, at: at)
            }
        } catch let error where error is EventError || error is JSONError || error is ServerError {
            fault(step.position, "\(error)")
        }
    }

    private mutating func take(event line: [UInt8], _ received: Int64, at position: Int) throws {
        guard let received = Timestamp(milliseconds: received) else {
            throw ServerError(.logDamaged, "expected a time of arrival")
        }
        follow(received.milliseconds, at: position)
        let push = CheckedPush(
            device: DeviceID(authority),
            received: received,
            lines: [line[...]],
            certificates: writer.directory.certificates
        )
        for checked in push.lines {
            guard case .event = checked.content else {
                throw ServerError(.logDamaged, "expected an event signed by its device")
            }
            let taken = try writer.take(checked, of: push)
            events += 1
            if taken.status != .taken { fault(position, "expected the event once, got it again or not at all") }
        }
    }

    /// Times follow positions.
    private mutating func follow(_ time: Int64, at position: Int) {
        if time < newest { fault(position, "it says to have come before what stands before it") }
        newest = max(newest, time)
    }

    private mutating func fault(_ position: Int, _ message: String) {
        if faults.count < 100 { faults.append("position \(position): \(message)") }
    }
}
