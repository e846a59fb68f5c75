public import TallystickCrypto

/// Checks a record with nothing but the record, and the authority's key where one is trusted.
public enum Audit {
    /// Checks everything that can be checked, and says what could not.
    ///
    /// Never throws: bytes that are no record are findings. `trusting` is the authority's public key from a source
    /// other than the record; without it the report says that the key was taken from the file.
    public static func report(on record: [UInt8], trusting authority: PublicKey? = nil) -> AuditReport {
        var audit = Auditing(trusted: authority)
        audit.read(record)
        return audit.report
    }
}

/// One audit under way.
private struct Auditing {
    var report: AuditReport
    let trusted: PublicKey?
    var authority: PublicKey?
    var schemes: [Scheme] = []
    var certificates: [DeviceID: Certificate] = [:]
    var revoked: Set<DeviceID> = []
    var ledger: ChainLedger?
    var context: DecisionContext?
    /// An event whose first entry has not come.
    var pending: (event: SignedEvent, line: Int)?
    /// Decisions of the audit that the next entries must say too.
    var expected: [ChainLedger.Decision] = []
    var number = 0
    var position = 0
    /// What the log says of certificates; compared at the end, since nothing says which line comes first.
    var logged: [(digest: Digest, device: DeviceID, line: Int)] = []
    /// When the newest event so far was received.
    var received: Timestamp?
    var unreadable: (line: Int, name: String?)?

    init(trusted: PublicKey?) {
        self.trusted = trusted
        report = AuditReport(trustsRecord: trusted == nil)
    }

    mutating func read(_ record: [UInt8]) {
        report.skip(.inclusion, because: "the record has no proofs: its server keeps no public log")
        report.skip(.times, because: "the record has no checkpoints")
        guard record.count <= Record.longest else {
            report.find(.lines, "too-large", line: nil, "expected at most \(Record.longest) bytes")
            return
        }
        let lines = record.split(separator: 0x0A, omittingEmptySubsequences: false)
        if record.last != 0x0A {
            report.find(.lines, "truncated", line: lines.count, "expected the last line to end with a line feed")
        }
        let read = lines.enumerated().filter { !$0.element.isEmpty || $0.offset < lines.count - 1 }
            .map { (number: $0.offset + 1, bytes: Array($0.element)) }
        prepareContext(read.map(\.bytes))
        for line in read {
            report.count(.lines)
            do throws(EventError) {
                try take(Record.read(line: line.bytes), line: line.number, of: record, count: read.count)
            } catch {
                let name = Auditing.name(in: line.bytes)
                report.find(.lines, error.code.description, line: line.number, event: name, error.message)
                unreadable = (line.number, name)
            }
        }
        finish(lines: read.count)
    }

    /// The MACs cannot be made again without the server's secret: what the entries say of them is taken, and said so.
    private mutating func prepareContext(_ lines: [[UInt8]]) {
        var recorded: [Digest: HandoffFinding.MACResult] = [:]
        for line in lines where line.starts(with: Array("{\"entry\":".utf8)) {
            if case .entry(let entry)? = try? Record.read(line: line), case .verdict(let verdict) = entry.content,
                let mac = verdict.verdict.handoff?.mac
            {
                recorded[verdict.event] = mac
            }
        }
        for line in lines where line.starts(with: Array("{\"scheme\":".utf8)) {
            // What cannot be read is found again, and reported, when its line is taken.
            if case .scheme(let scheme)? = try? Record.read(line: line) { schemes.append(scheme) }
        }
        let results = recorded
        context = DecisionContext(stage: .final, schemes: schemes) { results[$0.event] ?? .unchecked }
        if !results.isEmpty {
            report.skip(
                .macs,
                because: "only giver and server have the key: the server's word was taken for \(results.count)"
            )
        }
    }

    /// As much of an unreadable line's event as can be made out.
    private static func name(in line: [UInt8]) -> String? {
        let id = (try? JSON.parse(line))?["event"]?["id"]?.text
        return id.flatMap(UniqueID.init(_:)).map { "event with id \($0)" }
    }

    private mutating func take(_ line: Record.Line, line number: Int, of record: [UInt8], count: Int) throws(EventError)
    {
        if (number == 1) != { if case .header = line { true } else { false } }() {
            report.find(.lines, "header-missing", line: number, "expected the header as first line, and only there")
        }
        switch line {
        case .header(let header):
            guard report.header == nil else { return }
            report.header = header
            authority = trusted ?? header.authority
            ledger = ChainLedger(chain: header.chain)
            if let trusted, trusted != header.authority {
                report.find(
                    .certificates,
                    "authority-not-trusted",
                    line: number,
                    "the record names authority \(DeviceID(header.authority)), trusted is \(DeviceID(trusted))"
                )
            }
        case .scheme: break
        case .certificate(let certificate): take(certificate, line: number)
        case .event(let event): take(event, line: number)
        case .entry(let entry): take(entry, line: number)
        case .seal(let lines, let digest, let object):
            report.count(.seal)
            let covered = Auditing.bytes(of: record, upToLine: number)
            if number != count || lines != number - 1 || SHA256.hash(covered) != digest {
                report.find(.seal, "seal-broken", line: number, "the record's lines are not those that were sealed")
            }
            if let authority, !object.isSigned(by: authority, domain: Record.sealDomain) {
                report.find(.seal, "bad-signature", line: number, "the seal is not signed by the authority")
            }
        }
    }

    private static func bytes(of record: [UInt8], upToLine number: Int) -> ArraySlice<UInt8> {
        var feeds = 0
        for (index, byte) in record.enumerated() where byte == 0x0A {
            feeds += 1
            if feeds == number - 1 { return record[...index] }
        }
        return record[..<0]
    }

    private mutating func take(_ certificate: Certificate, line: Int) {
        report.count(.certificates)
        guard let authority, certificate.isSigned(by: authority) else {
            report.find(
                .certificates,
                "bad-signature",
                line: line,
                "the certificate of device \(certificate.device) is not the authority's"
            )
            return
        }
        certificates[certificate.device] = certificate
        report.certificates.append(certificate)
    }

    private mutating func take(_ event: SignedEvent, line: Int) {
        if let pending {
            report.find(
                .entries,
                "entry-missing",
                line: pending.line,
                event: pending.event.event.hash.hex,
                "expected an entry about the event after it"
            )
        }
        report.events += 1
        report.count(.signatures)
        if certificates[event.event.device].map({ event.isSigned(by: $0.key) }) != true {
            report.find(
                .signatures,
                certificates[event.event.device] == nil ? "unknown-device" : "bad-signature",
                line: line,
                event: event.event.hash.hex,
                "the event (\(event.event.type), id \(event.event.id)) is not signed by device \(event.event.device)"
            )
        }
        if let header = report.header, header.chain != event.event.chain {
            report.find(
                .lines,
                "foreign-event",
                line: line,
                event: event.event.hash.hex,
                "expected events of chain \(header.chain) only"
            )
        }
        pending = (event, line)
    }

    private mutating func take(_ entry: LogEntry, line: Int) {
        report.count(.entries)
        if entry.position <= position {
            report.find(.entries, "position-order", line: line, "expected a position above \(position)")
        }
        position = max(position, entry.position)
        switch entry.content {
        case .verdict(let verdict): take(verdict, line: line)
        case .revocation(let device, _): revoked.insert(device)
        case .certificate(let digest, let device): logged.append((digest, device, line))
        case .unreadable: break
        }
    }

    private mutating func take(_ entry: LogEntry.EventVerdict, line: Int) {
        number += 1
        if entry.number != number {
            report.find(
                .entries,
                "number-gap",
                line: line,
                event: entry.event.hex,
                "expected entry \(number) of the chain, got \(entry.number)"
            )
            number = entry.number
        }
        if let pending, pending.event.event.hash == entry.event {
            if let received, entry.received.milliseconds < received.milliseconds {
                report.find(
                    .entries,
                    "time-order",
                    line: line,
                    event: entry.event.hex,
                    "it says to have been received at \(entry.received), after one of \(received)"
                )
            }
            received = entry.received
            decide(pending.event, entry: entry, line: pending.line)
            self.pending = nil
        } else if let unreadable {
            let what = unreadable.name ?? "an event"
            report.find(
                .lines,
                "event-altered",
                line: unreadable.line,
                event: entry.event.hex,
                "the line held \(what), whose hash was \(entry.event)"
            )
        } else if let pending {
            report.find(
                .lines,
                "event-altered",
                line: pending.line,
                event: entry.event.hex,
                "the event with id \(pending.event.event.id) has hash \(pending.event.event.hash), logged was \(entry.event)"
            )
            self.pending = nil
        }
        unreadable = nil
        compare(entry, line: line)
    }

    private mutating func decide(_ event: SignedEvent, entry: LogEntry.EventVerdict, line: Int) {
        guard var ledger, let context else { return }
        // Taken out while it is changed: two owners would mean a copy of the whole chain for every event.
        self.ledger = nil
        defer { self.ledger = ledger }
        let certificate = certificates[event.event.device]
        guard !ledger.has(event.event.hash) else {
            report.find(.lines, "event-twice", line: line, event: event.event.hash.hex, "expected each event once")
            return
        }
        let arrival = Arrival(
            event: event.event,
            certificate: certificate,
            isRevoked: revoked.contains(event.event.device),
            isSignatureValid: certificate.map { event.isSigned(by: $0.key) } == true,
            received: entry.received
        )
        expected.append(contentsOf: ledger.receive(arrival, in: context))
    }

    private mutating func compare(_ entry: LogEntry.EventVerdict, line: Int) {
        guard let index = expected.firstIndex(where: { $0.arrival.event.hash == entry.event }) else {
            report.count(.decisions)
            report.find(
                .decisions,
                "verdict-unfounded",
                line: line,
                event: entry.event.hex,
                "the log says \(entry.verdict.outcome.rawValue) where the audit has nothing to decide"
            )
            return
        }
        let decision = expected.remove(at: index)
        report.count(.decisions)
        if case .handoffAccepted = decision.arrival.event.content, decision.verdict.outcome != .waiting {
            report.count(.handoffs)
        }
        guard !decision.verdict.decides(sameAs: entry.verdict) else {
            if index == 0 { return }
            report.find(
                .decisions,
                "verdict-order",
                line: line,
                event: entry.event.hex,
                "the log settles it before an event that comes first"
            )
            return
        }
        let subject: AuditReport.Subject =
            if case .handoffAccepted = decision.arrival.event.content { .handoffs } else { .decisions }
        func words(_ verdict: Verdict) -> String {
            let codes = verdict.reasons.map(\.code.description).joined(separator: ", ")
            return codes.isEmpty ? verdict.outcome.rawValue : "\(verdict.outcome.rawValue) (\(codes))"
        }
        report.find(
            subject,
            "verdict-differs",
            line: line,
            event: entry.event.hex,
            "the log says \(words(entry.verdict)), the audit comes to \(words(decision.verdict))"
        )
    }

    private mutating func finish(lines: Int) {
        if report.header == nil {
            report.find(.lines, "header-missing", line: 1, "expected a record's header as first line")
        }
        if let pending {
            report.find(
                .entries,
                "entry-missing",
                line: pending.line,
                event: pending.event.event.hash.hex,
                "expected an entry about the event after it"
            )
        }
        for entry in logged {
            guard let certificate = certificates[entry.device], SHA256.hash(certificate.line) != entry.digest else {
                continue
            }
            report.find(
                .certificates,
                "certificate-differs",
                line: entry.line,
                "the log has another certificate of device \(entry.device) than the record"
            )
        }
        for decision in expected {
            report.find(
                .decisions,
                "verdict-missing",
                line: nil,
                event: decision.arrival.event.hash.hex,
                "the audit comes to \(decision.verdict.outcome.rawValue), the log says nothing"
            )
        }
        if report.checks.contains(where: { $0.subject == .seal && $0.count == 0 }) {
            report.find(.seal, "seal-missing", line: lines, "expected a seal as last line: the record may be cut short")
        }
        if let ledger {
            report.state = ledger.state
            report.outcomes[.waiting] = ledger.waiting.count
            report.outcomes[.accepted] = ledger.state.count(accepted: true)
            report.outcomes[.refused] = ledger.state.count(accepted: false)
        }
        for index in report.checks.indices
        where report.checks[index].count == 0 && report.checks[index].notDone == nil
            && report.checks[index].failures == 0
        {
            report.checks[index].notDone = "the record has nothing of this kind"
        }
    }
}

extension ChainState {
    /// How many decided events were accepted, or refused.
    public func count(accepted: Bool) -> Int { known.values.count { $0.isAccepted == accepted } }
}
