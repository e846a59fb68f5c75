public import TallystickCrypto

/// The 8 random bytes that name an offer.
public struct OfferID: Hashable, Comparable, Sendable, CustomStringConvertible {
    let value: UInt64

    /// Makes an identifier of 8 bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 8 else { return nil }
        value = UniqueID.word(bytes)
    }

    /// Reads 16 lower-case hexadecimal digits.
    public init?(_ hex: String) {
        guard hex.utf8.count == 16, let bytes = Hex.decode(hex) else { return nil }
        self.init(bytes: bytes)
    }

    /// The 8 bytes.
    public var bytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
    }

    /// The order of the bytes.
    public static func < (left: OfferID, right: OfferID) -> Bool { left.value < right.value }

    /// The 16 digits.
    public var description: String { Hex.encode(bytes) }

    /// The first 8 digits in two groups: what people read to each other.
    public var short: String {
        let digits = description
        return "\(digits.prefix(4))-\(digits.dropFirst(4).prefix(4))".uppercased()
    }
}

/// Names one of a device's handoff keys: 4 bytes, derived with the key.
public struct HandoffKeyID: Hashable, Sendable, CustomStringConvertible {
    /// The 4 bytes.
    public let bytes: [UInt8]

    /// Makes an identifier of 4 bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 else { return nil }
        self.bytes = Array(bytes)
    }

    /// The 8 hexadecimal digits.
    public var description: String { Hex.encode(bytes) }
}

/// The secret a device and the server share to make and check the MACs of the device's offers.
public struct HandoffKey: Sendable {
    /// The key's name, which codes carry.
    public let id: HandoffKeyID
    /// The 32 bytes of the key.
    public let secret: [UInt8]

    /// Derives a device's key from the server's secret.
    ///
    /// HKDF-SHA256 (RFC 5869) without salt, info = `tallystick/handoff-key/v1` LF, the device id's 16 bytes and the
    /// key number as four big-endian bytes; the first 32 bytes are the key, the next 4 its name.
    public init(serverSecret: [UInt8], device: DeviceID, number: UInt32) throws(CryptoError) {
        var info = Array("tallystick/handoff-key/v1\n".utf8)
        info.append(contentsOf: device.bytes)
        info.append(contentsOf: (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) })
        let bytes = try HKDFSHA256.derive(secret: serverSecret, salt: [], info: info, length: 36)
        try self.init(bytes: bytes)
    }

    /// Reads a key and its name from 36 bytes, as derived.
    public init(bytes: [UInt8]) throws(CryptoError) {
        guard bytes.count == 36, let id = HandoffKeyID(bytes: bytes[32...]) else {
            throw CryptoError(.wrongLength, "expected a handoff key of 36 bytes, got \(bytes.count)")
        }
        self.id = id
        secret = Array(bytes[..<32])
    }

    /// The 36 bytes that `init(bytes:)` reads.
    public var bytes: [UInt8] { secret + id.bytes }

    /// The MAC of a statement, 32 bytes.
    public func mac(of statement: HandoffStatement) -> Digest {
        HMACSHA256.code(for: statement.signedBytes, key: secret)
    }
}

/// The giver's half of a handoff, as the event says it.
public struct Offer: Sendable {
    /// The taker's challenge that the offer answers, 16 bytes, where it does; it gives the offer its name.
    public let challenge: [UInt8]?
    /// When the offer ends; whole seconds.
    public let expires: Timestamp
    /// Which of the scheme's handoffs it is.
    public let handoff: Name
    /// The key its MAC is made with.
    public let key: HandoffKeyID
    /// HMAC-SHA256 of the statement.
    public let mac: Digest
    /// The offer's name.
    public let id: OfferID
    /// The only party that may take it, where it is bound to one.
    public let party: UniqueID?
    /// The hash of the snapshot handed over.
    public let snapshot: Digest
    /// The receiving role.
    public let to: Name

    /// Collects an offer.
    public init(
        expires: Timestamp,
        handoff: Name,
        key: HandoffKeyID,
        mac: Digest,
        id: OfferID,
        party: UniqueID?,
        snapshot: Digest,
        to: Name,
        challenge: [UInt8]? = nil
    ) {
        self.challenge = challenge
        self.expires = expires
        self.handoff = handoff
        self.key = key
        self.mac = mac
        self.id = id
        self.party = party
        self.snapshot = snapshot
        self.to = to
    }

    var body: JSON {
        .members([
            ("challenge", challenge.map { .string(Hex.encode($0)) }),
            ("expires", .string(expires.description)), ("handoff", .string(handoff.text)),
            ("key", .string(key.description)), ("mac", .string(mac.hex)), ("offer", .string(id.description)),
            ("party", party.map { .string($0.description) }), ("snapshot", .string(snapshot.hex)),
            ("to", .string(to.text)),
        ])
    }

    init(body: JSON) throws(EventError) {
        var reader = try MemberReader(body, of: "the body")
        if let text = reader.takeOptional("challenge") {
            guard let challenge = text.text.flatMap(Hex.decode), challenge.count == HandoffChallenge.length else {
                throw .malformed("challenge", "32 hexadecimal digits")
            }
            self.challenge = challenge
        } else {
            challenge = nil
        }
        expires = try reader.take("expires", Timestamp.init(_:))
        handoff = try reader.take("handoff", Name.init)
        key = try reader.take("key") { Hex.decode($0).flatMap { HandoffKeyID(bytes: $0) } }
        mac = try reader.take("mac", Digest.init(hex:))
        id = try reader.take("offer", OfferID.init(_:))
        if let text = reader.takeOptional("party") {
            guard let party = text.text.flatMap(UniqueID.init(_:)) else {
                throw .malformed("party", "a party's identifier")
            }
            self.party = party
        } else {
            party = nil
        }
        snapshot = try reader.take("snapshot", Digest.init(hex:))
        to = try reader.take("to", Name.init)
        try reader.finish()
        guard expires.milliseconds % 1_000 == 0, expires.offsetMinutes == 0 else {
            throw .malformed("expires", "whole seconds in UTC")
        }
    }
}
