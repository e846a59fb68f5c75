import Tallystick
import TallystickCrypto

/// What one event costs on one core, step by step.
enum EngineBench {
    static func run(events count: Int) throws {
        let work = try Workload()
        let authority = SigningKey.generate()
        let key = SigningKey.generate()
        guard let end = Timestamp("2030-01-01T00:00:00.000Z") else { throw Workload.Missing() }
        let certificate = try Certificate(
            Certificate.Draft(
                key: key.publicKey,
                notBefore: work.start,
                notAfter: end,
                party: try work.id(),
                partyName: "Producer",
                person: nil,
                roles: [work.producer],
                serial: 1
            ),
            by: authority
        )
        let lines = try work.lines(count, perChain: 25, key: key)
        let context = DecisionContext(stage: .final, schemes: [work.scheme]) { _ in .matched }
        var read: [SignedEvent] = []
        let parse = try Figures.seconds { read = try lines.map { try SignedEvent(line: $0) } }
        var valid = 0
        let verify = Figures.seconds { valid = read.count { $0.isSigned(by: key.publicKey) } }
        var accepted = 0
        let decide = Figures.seconds {
            var ledger = ChainLedger(chain: read[0].event.chain)
            for signed in read {
                if signed.event.chain != ledger.state.chain { ledger = ChainLedger(chain: signed.event.chain) }
                let arrival = Arrival(
                    event: signed.event,
                    certificate: certificate,
                    isRevoked: false,
                    isSignatureValid: true,
                    received: work.start
                )
                accepted += ledger.receive(arrival, in: context).count { $0.verdict.outcome == .accepted }
            }
        }
        Figures.heading("Engine, one core, \(count) events (\(valid) valid, \(accepted) accepted)")
        let micro = 1e6 / Double(count)
        Figures.line("read a line: strict, canonical, typed", parse * micro, "µs an event")
        Figures.line("verify its signature", verify * micro, "µs an event")
        Figures.line("decide and fold", decide * micro, "µs an event")
    }
}
