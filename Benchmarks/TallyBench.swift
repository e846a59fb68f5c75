import Foundation
import Schemes
import Tallystick
import TallystickCrypto

@main
struct TallyBench {
    static func main() throws {
        let schemes = try ShippedSchemes.read()
        let scheme = schemes[0]
        let authority = try SigningKey(seed: [UInt8](repeating: 1, count: 32))
        let key = try SigningKey(seed: [UInt8](repeating: 2, count: 32))
        let start = Timestamp("2026-11-30T06:00:00.000Z")!
        let party = UniqueID(milliseconds: start.milliseconds, random: SecureRandom.bytes(10))!
        let cert = try Certificate(
            .init(
                key: key.publicKey,
                notBefore: start,
                notAfter: Timestamp("2030-01-01T00:00:00.000Z")!,
                party: party,
                partyName: "P",
                person: nil,
                roles: [Name("producer")!],
                serial: 1
            ),
            by: authority
        )
        let chain = UniqueID(milliseconds: start.milliseconds, random: SecureRandom.bytes(10))!
        var lines: [[UInt8]] = []
        var parents: [Digest] = []
        let device = DeviceID(key.publicKey)
        for seq in 1...5000 {
            let content: EventContent =
                seq == 1
                ? .chainOpened(scheme.reference)
                : .fieldsSet([
                    .init(
                        path: FieldPath("wasteItems/1/quantity")!,
                        value: .object([JSONMember("amount", .string("\(seq).5")), JSONMember("unit", .string("t"))])
                    ),
                    .init(
                        path: FieldPath("wasteItems/1/description")!,
                        value: .string("Mixed construction and demolition waste, load \(seq)")
                    ),
                    .init(path: FieldPath("transferPlace")!, value: .string("Unit \(seq), Station Road")),
                ])
            let e = try Event(
                .init(
                    at: start,
                    chain: chain,
                    content: content,
                    device: device,
                    id: UniqueID(milliseconds: start.milliseconds, random: SecureRandom.bytes(10))!,
                    parents: parents,
                    role: Name("producer")!,
                    seq: seq
                )
            )
            parents = [e.hash]
            lines.append(SignedEvent(e, by: key).line)
        }
        print("line bytes", lines[10].count)
        let clock = ContinuousClock()
        var parsed: [SignedEvent] = []
        var t = try clock.measure { parsed = try lines.map { try SignedEvent(line: $0) } }
        print("parse", t / 5000)
        t = clock.measure { for e in parsed { precondition(e.isSigned(by: key.publicKey)) } }
        print("verify", t / 5000)
        let ctx = DecisionContext(stage: .final, schemes: schemes) { _ in .matched }
        var ledger = ChainLedger(chain: chain)
        var n = 0
        t = clock.measure {
            for e in parsed {
                n +=
                    ledger.receive(
                        Arrival(
                            event: e.event,
                            certificate: cert,
                            isRevoked: false,
                            isSignatureValid: true,
                            received: start
                        ),
                        in: ctx
                    ).filter { $0.verdict.outcome == .accepted }.count
            }
        }
        print("decide+fold", t / 5000, n)
        t = try clock.measure {
            for e in parsed {
                _ = try LogEntry(
                    position: 1,
                    content: .verdict(
                        .init(chain: chain, event: e.event.hash, number: 3, received: start, verdict: .accepted())
                    )
                ).json.canonicalBytes()
            }
        }
        print("entry json", t / 5000)
    }
}
