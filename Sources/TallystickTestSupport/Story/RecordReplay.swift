package import Tallystick
import TallystickCrypto

/// Replays a record as the server's log it is, with the server's secret: every event decided again.
package struct RecordReplay {
    /// The record's header.
    package private(set) var header: Record.Header?
    /// What the events gave.
    package private(set) var ledger: ChainLedger?
    /// The final verdict on each event, in the order the events stand in.
    package private(set) var verdicts: [(event: SignedEvent, verdict: Verdict)] = []
    /// Where an entry says something else than deciding again does.
    package private(set) var differences: [String] = []
    /// Whether the last line is a seal of the authority's over all before it.
    package private(set) var isSealed = false

    private let secret: [UInt8]
    private var schemes: [Scheme] = []
    private var certificates: [Digest: Certificate] = [:]
    private var entered: [DeviceID: Certificate] = [:]
    private var revoked: Set<DeviceID> = []
    private var pending: SignedEvent?
    private var due: [ChainLedger.Decision] = []

    /// Replays a record's bytes; throws where a line is none of a record's.
    package init(_ record: [UInt8], secret: [UInt8]) throws(EventError) {
        self.secret = secret
        var end = 0
        for (index, byte) in record.enumerated() where byte == 0x0A {
            try take(try Record.read(line: Array(record[end..<index])), before: record[..<end])
            end = index + 1
        }
        if end != record.count { differences.append("expected a line feed at the end") }
        if let pending { differences.append("expected an entry about event \(pending.event.hash)") }
        for decision in due { differences.append("expected an entry about event \(decision.arrival.event.hash)") }
    }

    private mutating func take(_ line: Record.Line, before: ArraySlice<UInt8>) throws(EventError) {
        switch line {
        case .header(let header):
            self.header = header
            ledger = ChainLedger(chain: header.chain)
        case .scheme(let scheme): schemes.append(scheme)
        case .certificate(let certificate): certificates[SHA256.hash(certificate.line)] = certificate
        case .event(let signed): pending = signed
        case .entry(let entry): take(entry)
        case .seal(let lines, let digest, let object):
            let count = before.count { $0 == 0x0A }
            isSealed =
                lines == count && digest == SHA256.hash(before)
                && header.map { object.isSigned(by: $0.authority, domain: Record.sealDomain) } == true
        }
    }

    private mutating func take(_ entry: LogEntry) {
        switch entry.content {
        case .certificate(let digest, let device): entered[device] = certificates[digest]
        case .revocation(let device, _): revoked.insert(device)
        case .unreadable: break
        case .verdict(let verdict):
            if let signed = pending, signed.event.hash == verdict.event {
                decide(signed, received: verdict.received)
                pending = nil
            }
            guard !due.isEmpty, due[0].arrival.event.hash == verdict.event else {
                differences.append("entry \(entry.position): nothing to decide about event \(verdict.event)")
                return
            }
            let decision = due.removeFirst()
            if !decision.verdict.decides(sameAs: verdict.verdict) {
                differences.append("entry \(entry.position): another verdict on event \(verdict.event)")
            }
        }
    }

    private mutating func decide(_ signed: SignedEvent, received: Timestamp) {
        guard var ledger else { return }
        let certificate = entered[signed.event.device]
        let arrival = Arrival(
            event: signed.event,
            certificate: certificate,
            isRevoked: revoked.contains(signed.event.device),
            isSignatureValid: certificate.map { signed.isSigned(by: $0.key) } == true,
            received: received
        )
        let decisions = ledger.receive(arrival, in: Referee.context(secret: secret, schemes: schemes))
        self.ledger = ledger
        due.append(contentsOf: decisions)
        for decision in decisions {
            if let index = verdicts.firstIndex(where: { $0.event.event.hash == decision.arrival.event.hash }) {
                verdicts[index].verdict = decision.verdict
            } else {
                verdicts.append((signed, decision.verdict))
            }
        }
    }

    /// What the record comes to: the final state, the verdict on each event, what waits, and how often it is contested.
    package var summary: JSON {
        let state = ledger?.state
        return .members([
            ("contests", .integer(state?.contests.count ?? 0)),
            ("state", state.map(StateSummary.json(of:)) ?? .null),
            (
                "verdicts",
                .array(
                    verdicts.map { signed, verdict in
                        .members([
                            ("device", .string(signed.event.device.description)),
                            ("event", .string(signed.event.hash.hex)), ("seq", .integer(signed.event.seq)),
                            ("type", .string(signed.event.type)), ("verdict", verdict.json),
                        ])
                    }
                )
            ),
            ("waiting", .strings((ledger?.waiting ?? []).map(\.arrival.event.hash.hex).sorted())),
        ])
    }
}
