package import Tallystick
package import TallystickCrypto

/// Decides events as a server does, in the order they come, and keeps the log.
package final class Referee {
    /// The log, in order.
    package private(set) var log: [Line] = []
    private let authority: SigningKey
    private let secret: [UInt8]
    private let schemes: [Scheme]
    private let origin: String
    private let context: DecisionContext
    private var ledgers: [UniqueID: ChainLedger] = [:]
    private var settled: [UniqueID: [ChainLedger.Decision]] = [:]
    private var certificates: [DeviceID: Certificate] = [:]
    private var revoked: Set<DeviceID> = []
    private var numbers: [UniqueID: Int] = [:]
    private var newest: [UniqueID: Timestamp] = [:]
    private var position = 0

    /// One line of the log.
    package enum Line: Sendable {
        /// A device's certificate.
        case certificate(Certificate)
        /// An event, before the first entry about it.
        case event(SignedEvent)
        /// An entry.
        case entry(LogEntry)
    }

    /// A server with nothing in its log.
    package init(authority: SigningKey, secret: [UInt8], schemes: [Scheme], origin: String) {
        self.authority = authority
        self.secret = secret
        self.schemes = schemes
        self.origin = origin
        context = Referee.context(secret: secret, schemes: schemes)
    }

    /// What a server decides in: final, and able to make every device's MACs again.
    package static func context(secret: [UInt8], schemes: [Scheme]) -> DecisionContext {
        DecisionContext(stage: .final, schemes: schemes) { question in
            guard let key = try? HandoffKey(serverSecret: secret, device: question.giver, number: 1) else {
                return .unchecked
            }
            return key.result(question)
        }
    }

    /// Enters a certificate into the log; it counts from there on.
    package func enter(_ certificate: Certificate) throws {
        certificates[certificate.device] = certificate
        log.append(.certificate(certificate))
        append(.certificate(SHA256.hash(certificate.line), device: certificate.device))
    }

    /// Revokes a device; what comes after is refused.
    package func revoke(_ device: DeviceID, why: String) {
        revoked.insert(device)
        append(.revocation(device, why: why))
    }

    @discardableResult
    private func append(_ content: LogEntry.Content) -> LogEntry {
        position += 1
        let entry = LogEntry(position: position, content: content)
        log.append(.entry(entry))
        return entry
    }

    /// The event with what is known of its author now.
    package func arrival(of signed: SignedEvent, at received: Timestamp) -> Arrival {
        let certificate = certificates[signed.event.device]
        return Arrival(
            event: signed.event,
            certificate: certificate,
            isRevoked: revoked.contains(signed.event.device),
            isSignatureValid: certificate.map { signed.isSigned(by: $0.key) } == true,
            received: received
        )
    }

    /// Takes one event, and gives the entries about it and about what it let decide; none for one that has come.
    ///
    /// As at the server, times of receipt never go back within a chain.
    @discardableResult
    package func receive(_ signed: SignedEvent, at received: Timestamp) -> [LogEntry] {
        let chain = signed.event.chain
        var ledger = ledgers[chain] ?? ChainLedger(chain: chain)
        guard !ledger.has(signed.event.hash) else { return [] }
        let last = newest[chain]
        let received = last.map { $0.milliseconds > received.milliseconds ? $0 : received } ?? received
        newest[chain] = received
        let decisions = ledger.receive(arrival(of: signed, at: received), in: context)
        ledgers[chain] = ledger
        settled[chain, default: []].append(contentsOf: decisions)
        log.append(.event(signed))
        return decisions.map { decision in
            numbers[chain, default: 0] += 1
            return append(
                .verdict(
                    LogEntry.EventVerdict(
                        chain: chain,
                        event: decision.arrival.event.hash,
                        number: numbers[chain, default: 0],
                        received: decision.arrival.received,
                        verdict: decision.verdict
                    )
                )
            )
        }
    }

    /// Takes everything that actors have said and has not come yet, each at the time its device showed.
    package func receive(from actors: StoryActor...) {
        for actor in actors {
            for signed in actor.said { receive(signed, at: signed.event.at) }
        }
    }

    /// The ledger of a chain.
    package func ledger(of chain: UniqueID) -> ChainLedger { ledgers[chain] ?? ChainLedger(chain: chain) }

    /// Every decision on the chain's events, in the order of the log; an event that waited has two.
    package func decisions(of chain: UniqueID) -> [ChainLedger.Decision] { settled[chain, default: []] }

    /// The newest verdict on an event.
    package func verdict(on signed: SignedEvent) -> Verdict? {
        decisions(of: signed.event.chain).last { $0.arrival.event.hash == signed.event.hash }?.verdict
    }

    /// The record of a chain, sealed: its certificates and revocations, its events, the entries about them.
    package func record(of chain: UniqueID, at created: Timestamp) throws(EventError) -> [UInt8] {
        var writer = try RecordWriter(
            Record.Header(chain: chain, created: created, authority: authority.publicKey, origin: origin)
        )
        for scheme in schemes { writer.append(scheme) }
        for case .certificate(let certificate) in log { writer.append(certificate) }
        for line in log {
            switch line {
            case .certificate: break
            case .event(let signed): if signed.event.chain == chain { writer.append(signed) }
            case .entry(let entry):
                if case .verdict(let verdict) = entry.content, verdict.chain != chain { break }
                try writer.append(entry)
            }
        }
        return try writer.sealed(by: authority)
    }
}
