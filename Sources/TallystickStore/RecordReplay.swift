import Glibc
package import Tallystick
import TallystickCrypto

/// Folds an exported record with the same ledger as the server; what a record is worth, an audit says.
package struct RecordReplay {
    /// The record's first line.
    package let header: Record.Header
    /// The chain after the last event.
    package let ledger: ChainLedger
    /// The certificates, by device.
    package let certificates: [DeviceID: Certificate]
    /// How many events were folded.
    package let events: Int

    /// Folds a record, and hands on every step.
    ///
    /// MACs of offers cannot be made again without the server's secret: what the record's entries say of them is
    /// taken over. An event's receive time is that of its first entry.
    ///
    /// - Parameters:
    ///   - record: The bytes of the file.
    ///   - certified: Called for every certificate.
    ///   - revoked: Called for every revocation, in its place among the events.
    ///   - decided: Called with the decisions that one event led to, and the ledger after them.
    /// - Throws: ``StoreError/Code/badRecord`` naming the line; what the closures throw.
    package init(
        folding record: [UInt8],
        certified: (Certificate) throws -> Void = { _ in },
        revoked: (DeviceID, String) throws -> Void = { _, _ in },
        decided: ([ChainLedger.Decision], ChainLedger) throws -> Void = { _, _ in }
    ) throws {
        let lines = try RecordReplay.lines(of: record)
        guard case .header(let header)? = lines.first else {
            throw StoreError(.badRecord, "expected a record's header as first line")
        }
        var received: [Digest: Timestamp] = [:]
        var results: [Digest: HandoffFinding.MACResult] = [:]
        var schemes: [Scheme] = []
        var certificates: [DeviceID: Certificate] = [:]
        for line in lines {
            switch line {
            case .scheme(let scheme): schemes.append(scheme)
            case .certificate(let certificate):
                certificates[certificate.device] = certificate
                try certified(certificate)
            case .entry(let entry):
                guard case .verdict(let verdict) = entry.content else { continue }
                if received[verdict.event] == nil { received[verdict.event] = verdict.received }
                if let mac = verdict.verdict.handoff?.mac { results[verdict.event] = mac }
            case .header, .event, .seal: break
            }
        }
        let known = results
        let context = DecisionContext(stage: .final, schemes: schemes) { known[$0.event] ?? .unchecked }
        var ledger = ChainLedger(chain: header.chain)
        var banned: Set<DeviceID> = []
        var events = 0
        for (index, line) in lines.enumerated() {
            switch line {
            case .event(let signed):
                let event = signed.event
                guard event.chain == header.chain, !ledger.has(event.hash), let time = received[event.hash] else {
                    throw StoreError(
                        .badRecord,
                        "line \(index + 1): expected an event of this chain, once, with an entry about it"
                    )
                }
                let certificate = certificates[event.device]
                let arrival = Arrival(
                    event: event,
                    certificate: certificate,
                    isRevoked: banned.contains(event.device),
                    isSignatureValid: certificate.map { signed.isSigned(by: $0.key) } == true,
                    received: time
                )
                let decisions = ledger.receive(arrival, in: context)
                events += 1
                try decided(decisions, ledger)
            case .entry(let entry):
                guard case .revocation(let device, let why) = entry.content else { continue }
                banned.insert(device)
                try revoked(device, why)
            case .header, .scheme, .certificate, .seal: break
            }
        }
        self.header = header
        self.ledger = ledger
        self.certificates = certificates
        self.events = events
    }

    private static func lines(of record: [UInt8]) throws(StoreError) -> [Record.Line] {
        guard record.count <= Record.longest else {
            throw StoreError(.badRecord, "expected at most \(Record.longest) bytes, got \(record.count)")
        }
        var lines: [Record.Line] = []
        for line in record.split(separator: 0x0A) {
            do throws(EventError) {
                lines.append(try Record.read(line: Array(line)))
            } catch {
                throw StoreError(.badRecord, "line \(lines.count + 1): \(error.message)")
            }
        }
        return lines
    }
}

/// A fresh SQLite file with the projections of one record: what `tally replay FILE --db OUT` writes.
package enum ProjectionFile {
    /// What stands in the header of such a file (SQLite file format, section 1.3.17): “TLYP”.
    package static let applicationID: Int32 = 0x544C_5950

    /// Folds a record into a new file, all of it or nothing.
    ///
    /// - Throws: ``StoreError/Code/fileExists`` where something is at the path; ``StoreError/Code/badRecord``; other
    ///   ``StoreError``.
    package static func write(_ record: [UInt8], to path: String) throws -> RecordReplay {
        do {
            _ = try Database(path: path, mode: .readOnly)
            throw StoreError(.fileExists, "expected no file yet, got one: \(path)")
        } catch let error as StoreError where error.code == .notFound {
        } catch let error as StoreError where error.code == .notATallystickFile || error.code == .cannotOpen {
            throw StoreError(.fileExists, "expected a path for a new file, got \(path)")
        }
        do {
            let database = try Database(path: path, mode: .create, applicationID: applicationID)
            defer { database.close() }
            let replay = try database.transaction {
                try database.execute(Projections.schema)
                let projections = Projections(database)
                return try RecordReplay(
                    folding: record,
                    certified: { try projections.apply($0) },
                    revoked: { try projections.apply(revocationOf: $0, why: $1) },
                    decided: { try projections.apply($0, of: $1) }
                )
            }
            try database.checkpoint()
            return replay
        } catch {
            // What is left is an empty file of our own; if it cannot be removed, the next attempt says so.
            for suffix in ["", "-wal", "-shm"] { _ = unsafe unlink(path + suffix) }
            throw error
        }
    }
}
