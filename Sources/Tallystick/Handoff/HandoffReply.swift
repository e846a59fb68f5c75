public import TallystickCrypto

/// The taker's answer to an offer, for the giver to keep before they part.
///
/// 149 bytes: type 1 (accepted or declined), the first bytes of the taker's device name 4, offer 8, SHA-256 of the
/// offer's statement 32, the taker's time in seconds 8, the hash of the taker's event 32, Ed25519 signature 64 over
/// `tallystick/reply/v1`, a line feed and the 85 bytes before.
public struct HandoffReply: Sendable, Hashable {
    /// How many bytes a reply has.
    public static let length = 149
    /// The domain a reply is signed under.
    public static let domain = "tallystick/reply/v1"

    /// Whether the load was taken; else it was declined.
    public let isAcceptance: Bool
    /// The first four bytes of the taker's device name.
    public let devicePrefix: [UInt8]
    /// The offer that is answered.
    public let offer: OfferID
    /// SHA-256 of the statement that was scanned.
    public let statement: Digest
    /// The taker's time, in seconds since 1970.
    public let seconds: Int64
    /// The hash of the taker's event.
    public let event: Digest
    /// The 149 bytes.
    public let bytes: [UInt8]

    /// Signs a reply with the taker's key.
    public init?(isAcceptance: Bool, statement: HandoffStatement, at: Timestamp, event: Digest, by key: SigningKey) {
        var bytes: [UInt8] = [isAcceptance ? CodeMessage.Kind.accepted : CodeMessage.Kind.declined]
        bytes += DeviceID(key.publicKey).bytes.prefix(4)
        bytes += statement.offer.bytes
        bytes += SHA256.hash(statement.bytes).bytes
        bytes += CodeMessage.bigEndian(UInt64(at.seconds))
        bytes += event.bytes
        bytes += key.signature(for: bytes, domain: HandoffReply.domain)
        self.init(bytes: bytes)
    }

    /// Reads a reply; the signature is read, not checked.
    public init?(bytes: [UInt8]) {
        guard bytes.count == HandoffReply.length,
            bytes[0] == CodeMessage.Kind.accepted || bytes[0] == CodeMessage.Kind.declined,
            let offer = OfferID(bytes: bytes[5..<13]), let statement = Digest(bytes: bytes[13..<45]),
            let event = Digest(bytes: bytes[53..<85])
        else { return nil }
        let seconds = UniqueID.word(bytes[45..<53])
        guard seconds < UInt64(Timestamp.greatest / 1_000) else { return nil }
        isAcceptance = bytes[0] == CodeMessage.Kind.accepted
        devicePrefix = Array(bytes[1..<5])
        self.offer = offer
        self.statement = statement
        self.seconds = Int64(seconds)
        self.event = event
        self.bytes = bytes
    }

    /// The taker's time.
    public var at: Timestamp? { Timestamp(milliseconds: seconds * 1_000) }

    /// Whether this key has signed the reply.
    public func isSigned(by key: PublicKey) -> Bool {
        DeviceID(key).bytes.starts(with: devicePrefix)
            && key.isValid(Array(bytes[85...]), for: bytes[..<85], domain: HandoffReply.domain)
    }
}

/// A reply with the taker's certificate, compressed: what a giver who has never heard of the taker can verify offline.
///
/// Type 1, dictionary 1, reply 149, raw deflate of the certificate's line.
public struct FullReply: Sendable, Hashable {
    /// The reply.
    public let reply: HandoffReply
    /// The version of the preset dictionary.
    public let dictionary: UInt8
    /// The certificate's line, compressed.
    public let compressed: [UInt8]

    /// Collects a full reply.
    public init(reply: HandoffReply, dictionary: UInt8, compressed: [UInt8]) {
        self.reply = reply
        self.dictionary = dictionary
        self.compressed = compressed
    }

    init?(bytes: [UInt8]) {
        guard bytes.count > 2 + HandoffReply.length, bytes[0] == CodeMessage.Kind.fullReply,
            let reply = HandoffReply(bytes: Array(bytes[2..<2 + HandoffReply.length]))
        else { return nil }
        self.init(reply: reply, dictionary: bytes[1], compressed: Array(bytes[(2 + HandoffReply.length)...]))
    }

    var bytes: [UInt8] { [CodeMessage.Kind.fullReply, dictionary] + reply.bytes + compressed }
}
