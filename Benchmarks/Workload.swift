import Schemes
import Tallystick
import TallystickCrypto

/// Parties and events for the benchmarks.
struct Workload {
    struct Missing: Error {}

    let scheme: Scheme
    let start: Timestamp
    let producer: Name

    init() throws {
        let id = "uk-waste-transfer-note"
        guard let file = ShippedSchemes.files.first(where: { sameBytes($0.id, id) }),
            let start = Timestamp("2026-11-30T06:00:00.000Z"),
            let producer = Name("producer")
        else { throw Missing() }
        scheme = try file.read()
        self.start = start
        self.producer = producer
    }

    func id() throws -> UniqueID {
        guard let id = UniqueID(milliseconds: start.milliseconds, random: SecureRandom.bytes(10)) else {
            throw Missing()
        }
        return id
    }

    /// What a producer changes: three fields, about 600 bytes with envelope and signature.
    func values(_ number: Int) throws -> [EventContent.FieldChange] {
        func change(_ path: String, _ value: JSON) throws -> EventContent.FieldChange {
            guard let path = FieldPath(path) else { throw Missing() }
            return EventContent.FieldChange(path: path, value: value)
        }
        return [
            try change("transferPlace", .string("Unit \(number), Station Road")),
            try change("wasteItems/1/description", .string("Mixed construction and demolition waste, load \(number)")),
            try change(
                "wasteItems/1/quantity",
                .members([("amount", .string("\(number % 900 + 1).5")), ("unit", .string("t"))])
            ),
        ]
    }

    /// Signed lines of chains that one device opens and fills, `perChain` events each.
    func lines(_ count: Int, perChain: Int, key: SigningKey) throws -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var chain = try id()
        var parents: [Digest] = []
        for number in 0..<count {
            let seq = number % perChain + 1
            if seq == 1 {
                let made = UniqueID(
                    openedBy: DeviceID(key.publicKey),
                    milliseconds: start.milliseconds + Int64(number),
                    random: SecureRandom.bytes(2)
                )
                guard let made else { throw Missing() }
                chain = made
                parents = []
            }
            let content: EventContent = seq == 1 ? .chainOpened(scheme.reference) : .fieldsSet(try values(number))
            let event = try Event(
                Event.Draft(
                    at: start,
                    chain: chain,
                    content: content,
                    device: DeviceID(key.publicKey),
                    id: try id(),
                    parents: parents,
                    role: producer,
                    seq: seq
                )
            )
            parents = [event.hash]
            lines.append(SignedEvent(event, by: key).line)
        }
        return lines
    }
}
