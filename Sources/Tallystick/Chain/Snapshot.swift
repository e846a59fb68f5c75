public import TallystickCrypto

/// The values that a signature or a handoff covers, as canonical JSON (`docs/formats.md`).
///
/// A taker by compact code knows no values but its own, so a snapshot has the giver's own values and the hash of the
/// snapshot the giver received: through it, each names everything that was said before.
public struct Snapshot: Sendable {
    /// The canonical bytes.
    public let bytes: [UInt8]
    /// SHA-256 of the bytes.
    public let hash: Digest

    private init(_ json: JSON) {
        // The members are made here and hold strings only, so they have a canonical spelling.
        bytes = (try? json.canonicalBytes()) ?? []
        hash = SHA256.hash(bytes)
    }

    private static func fields(_ values: [FieldPath: JSON], _ covers: Scheme.Coverage) -> JSON {
        .object(
            values.filter { covers.contains($0.key) }.sorted { $0.key < $1.key }
                .map { JSONMember($0.key.description, $0.value) }
        )
    }

    /// What a signature covers.
    static func signature(
        _ rule: Scheme.SignatureRule,
        statement: String,
        leg: ChainState.Leg,
        values: [FieldPath: JSON],
        chain: UniqueID,
        scheme: Digest
    ) -> Snapshot {
        Snapshot(
            .members([
                ("chain", .string(chain.description)),
                ("fields", fields(values, rule.covers)),
                ("kind", .string("signature")),
                ("received", leg.received.map { .string($0.hex) } ?? .null),
                ("role", .string(leg.role.text)),
                ("scheme", .string(scheme.hex)),
                ("signature", .string(rule.name.text)),
                ("statement", .string(statement)),
            ])
        )
    }

    /// What a handoff covers: the giver's values, its signatures and what it received.
    static func handoff(
        _ rule: Scheme.HandoffRule,
        leg: ChainState.Leg,
        values: [FieldPath: JSON],
        signatures: [ChainState.ChainSignature],
        chain: UniqueID,
        scheme: Digest
    ) -> Snapshot {
        let signed = signatures.sorted { $0.name < $1.name }.map { JSONMember($0.name.text, .string($0.event.hex)) }
        return Snapshot(
            .members([
                ("chain", .string(chain.description)),
                ("fields", fields(values, rule.covers)),
                ("from", .string(rule.from.text)),
                ("handoff", .string(rule.name.text)),
                ("kind", .string("handoff")),
                ("received", leg.received.map { .string($0.hex) } ?? .null),
                ("scheme", .string(scheme.hex)),
                ("signatures", .object(signed)),
                ("to", .string(rule.to.text)),
            ])
        )
    }
}
