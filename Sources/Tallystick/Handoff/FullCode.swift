public import TallystickCrypto

/// The full code of an offer: what the taker needs to read and verify the load with no network and no earlier sync.
///
/// Type 1, dictionary 1, statement 74, MAC 16, the giver's Ed25519 signature over the statement 64, and raw deflate of
/// the giver's certificate line and the snapshots, newest first, each ended by a line feed but the last.
public struct FullCode: Sendable, Hashable {
    static let fixedLength = 2 + HandoffStatement.length + HandoffHalf.macLength + 64
    /// The most bytes that its contents may have, decompressed.
    public static let longestContents = 65_536

    /// The statement and its MAC.
    public let half: HandoffHalf
    /// The giver's signature, in the domain of statements.
    public let signature: [UInt8]
    /// The version of the preset dictionary.
    public let dictionary: UInt8
    /// The contents, compressed.
    public let compressed: [UInt8]

    /// Collects a full code; nil if the signature has not 64 bytes.
    public init?(half: HandoffHalf, signature: [UInt8], dictionary: UInt8, compressed: [UInt8]) {
        guard signature.count == 64 else { return nil }
        self.half = half
        self.signature = signature
        self.dictionary = dictionary
        self.compressed = compressed
    }

    init?(bytes: [UInt8]) {
        guard bytes.count > FullCode.fixedLength, bytes[0] == CodeMessage.Kind.full,
            let half = CodeMessage.half(Array(bytes[2..<92]))
        else { return nil }
        self.init(
            half: half,
            signature: Array(bytes[92..<FullCode.fixedLength]),
            dictionary: bytes[1],
            compressed: Array(bytes[FullCode.fixedLength...])
        )
    }

    var bytes: [UInt8] {
        [CodeMessage.Kind.full, dictionary] + half.statement.bytes + half.mac + signature + compressed
    }

    /// Equal where the bytes are.
    public static func == (left: FullCode, right: FullCode) -> Bool { left.bytes == right.bytes }
    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension FullCode {
    /// What a full code holds, once decompressed: the giver's certificate, and the snapshots, newest first.
    public struct Contents: Sendable {
        /// The giver's certificate.
        public let certificate: Certificate
        /// The snapshots: the one that is handed over, then the one the giver received, and so on as far as known.
        public let snapshots: [HandoffSnapshot]

        /// Reads the decompressed contents; nothing is verified.
        public init(bytes: [UInt8]) throws(EventError) {
            let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            guard let first = lines.first, lines.count >= 2, lines.count <= 64 else {
                throw EventError(code: .notAnEvent, message: "expected a certificate and one to 63 snapshots")
            }
            certificate = try Certificate(line: Array(first))
            var snapshots: [HandoffSnapshot] = []
            for line in lines.dropFirst() { snapshots.append(try HandoffSnapshot(bytes: Array(line))) }
            self.snapshots = snapshots
        }

        /// The bytes to compress.
        public static func bytes(certificate: Certificate, snapshots: [[UInt8]]) -> [UInt8] {
            var bytes = certificate.line
            for snapshot in snapshots {
                bytes.append(0x0A)
                bytes.append(contentsOf: snapshot)
            }
            return bytes
        }
    }

    /// Verifies a full code with nothing but the authority's key: every reason it must not be believed for.
    ///
    /// Empty means: the authority certified the giver's device for the giving role, that device signed this statement,
    /// the load read is the one that the statement names, and each earlier snapshot is the one that the next one names.
    public func faults(in contents: Contents, authority: PublicKey, at now: Timestamp) -> [Reason] {
        var reasons: [Reason] = []
        let certificate = contents.certificate
        let offer = half.statement.offer.description
        if !certificate.isSigned(by: authority) {
            reasons.append(
                Reason(.unknownDevice, certificate.device.description, "not certified by this device's authority")
            )
        }
        if !certificate.key.isValid(signature, for: half.statement.bytes, domain: HandoffStatement.domain) {
            reasons.append(Reason(.badSignature, offer, "the statement is not signed by device \(certificate.device)"))
        }
        if now.milliseconds < certificate.notBefore.milliseconds || now.milliseconds > certificate.notAfter.milliseconds
        {
            reasons.append(
                Reason(
                    .certificateNotValid,
                    now.description,
                    "valid from \(certificate.notBefore) to \(certificate.notAfter)"
                )
            )
        }
        var expected = half.statement.snapshot
        for (index, snapshot) in contents.snapshots.enumerated() {
            if snapshot.hash != expected {
                reasons.append(Reason(.snapshotMismatch, offer, "expected snapshot \(expected), got \(snapshot.hash)"))
                break
            }
            if snapshot.chain != half.statement.chain
                || !snapshot.scheme.bytes.starts(with: half.statement.schemePrefix)
            {
                reasons.append(Reason(.snapshotMismatch, offer, "the snapshot is of another chain or scheme"))
            }
            if index == 0, !certificate.roles.contains(snapshot.from) {
                reasons.append(
                    Reason(.roleNotHeld, snapshot.from.text, "the giver's device may not act as \(snapshot.from)")
                )
            }
            guard let received = snapshot.received else {
                if index < contents.snapshots.count - 1 {
                    reasons.append(Reason(.snapshotMismatch, offer, "more snapshots than the load has had handoffs"))
                }
                break
            }
            expected = received
        }
        return reasons
    }
}

/// The snapshot of a handoff, read from its bytes: what a giver stated when handing over.
public struct HandoffSnapshot: Sendable {
    /// The chain.
    public let chain: UniqueID
    /// The giver's own values, by path, in the order of paths.
    public let fields: [(path: FieldPath, value: JSON)]
    /// The giving role.
    public let from: Name
    /// The handoff's name.
    public let handoff: Name
    /// The hash of the snapshot that the giver received; nil where it opened the chain.
    public let received: Digest?
    /// The hash of the scheme.
    public let scheme: Digest
    /// The events of the giver's signatures, by the signature's name.
    public let signatures: [(name: Name, event: Digest)]
    /// The taking role.
    public let to: Name
    /// The bytes.
    public let bytes: [UInt8]
    /// SHA-256 of the bytes.
    public let hash: Digest

    /// Reads a snapshot, which must be canonical JSON.
    public init(bytes: [UInt8]) throws(EventError) {
        let json: JSON
        do {
            json = try JSON.parseCanonical(bytes)
        } catch {
            throw EventError(code: .notCanonical, message: error.description)
        }
        var reader = try MemberReader(json, of: "the snapshot")
        chain = try reader.take("chain", UniqueID.init(_:))
        let fields = try reader.take("fields")
        from = try reader.take("from", Name.init)
        handoff = try reader.take("handoff", Name.init)
        guard sameBytes(try reader.takeText("kind"), "handoff") else { throw .malformed("kind", "“handoff”") }
        let received = try reader.take("received")
        scheme = try reader.take("scheme", Digest.init(hex:))
        let signatures = try reader.take("signatures")
        to = try reader.take("to", Name.init)
        try reader.finish()
        self.received = received.text.flatMap(Digest.init(hex:))
        guard received.isNull == (self.received == nil) else { throw .malformed("received", "a hash or null") }
        var values: [(path: FieldPath, value: JSON)] = []
        for member in fields.members ?? [] {
            guard let path = FieldPath(member.name), path.field != nil else {
                throw .malformed("fields", "field paths")
            }
            values.append((path, member.value))
        }
        var signed: [(name: Name, event: Digest)] = []
        for member in signatures.members ?? [] {
            guard let name = Name(member.name), let event = member.value.text.flatMap(Digest.init(hex:)) else {
                throw .malformed("signatures", "signature names with the hashes of their events")
            }
            signed.append((name, event))
        }
        guard fields.members != nil, signatures.members != nil else {
            throw .malformed("fields", "objects of fields and signatures")
        }
        self.fields = values
        self.signatures = signed
        self.bytes = bytes
        hash = SHA256.hash(bytes)
    }
}
