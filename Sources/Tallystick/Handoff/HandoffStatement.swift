public import TallystickCrypto

/// What both halves of a handoff and its code say, in 74 bytes (`docs/handoff.md`).
///
/// Big-endian: version and type 1, flags 1, key id 4, chain 16, offer 8, expiry in seconds 8, the first bytes of the
/// scheme's hash 4, snapshot hash 32.
public struct HandoffStatement: Sendable, Equatable {
    /// How many bytes a statement has.
    public static let length = 74
    /// The domain MACs and signatures over a statement are made under.
    public static let domain = "tallystick/handoff/v1"
    static let versionAndType: UInt8 = 0x11
    static let boundFlag: UInt8 = 0x80
    static let challengedFlag: UInt8 = 0x40

    /// The index of the handoff in the scheme's list, 0 to 15: tells the taker its role.
    public let handoffIndex: Int
    /// Whether only one party may take the offer.
    public let isBound: Bool
    /// Whether the offer answers a taker's challenge.
    public let isChallenged: Bool
    /// The key the MAC is made with.
    public let key: HandoffKeyID
    /// The chain.
    public let chain: UniqueID
    /// The offer.
    public let offer: OfferID
    /// When the offer ends, in seconds since 1970.
    public let expires: Int64
    /// The first four bytes of the scheme's hash.
    public let schemePrefix: [UInt8]
    /// The hash of the snapshot.
    public let snapshot: Digest
    /// The 74 bytes.
    public let bytes: [UInt8]

    /// States an offer; nil if the index or the expiry cannot be stated.
    public init?(_ offer: Offer, chain: UniqueID, scheme: Digest, handoffIndex: Int) {
        guard (0...15).contains(handoffIndex) else { return nil }
        var bytes: [UInt8] = [HandoffStatement.versionAndType]
        let flags =
            (offer.party == nil ? 0 : HandoffStatement.boundFlag)
            | (offer.challenge == nil ? 0 : HandoffStatement.challengedFlag)
        bytes.append(UInt8(handoffIndex) | flags)
        bytes.append(contentsOf: offer.key.bytes)
        bytes.append(contentsOf: chain.bytes)
        bytes.append(contentsOf: offer.id.bytes)
        let seconds = UInt64(offer.expires.seconds)
        bytes.append(contentsOf: (0..<8).map { UInt8(truncatingIfNeeded: seconds >> (56 - 8 * $0)) })
        bytes.append(contentsOf: scheme.bytes.prefix(4))
        bytes.append(contentsOf: offer.snapshot.bytes)
        self.init(bytes: bytes)
    }

    /// Reads a statement; nil if it has another length, version or type, unknown flags, or an impossible value.
    public init?(bytes: [UInt8]) {
        guard bytes.count == HandoffStatement.length, bytes[0] == HandoffStatement.versionAndType,
            bytes[1] & 0x30 == 0, let key = HandoffKeyID(bytes: bytes[2..<6]),
            let chain = UniqueID(bytes: bytes[6..<22]), let offer = OfferID(bytes: bytes[22..<30]),
            let snapshot = Digest(bytes: bytes[42..<74])
        else { return nil }
        let seconds = UniqueID.word(bytes[30..<38])
        guard seconds < UInt64(Timestamp.greatest / 1_000) else { return nil }
        handoffIndex = Int(bytes[1] & 0x0F)
        isBound = bytes[1] & HandoffStatement.boundFlag != 0
        isChallenged = bytes[1] & HandoffStatement.challengedFlag != 0
        self.key = key
        self.chain = chain
        self.offer = offer
        expires = Int64(seconds)
        schemePrefix = Array(bytes[38..<42])
        self.snapshot = snapshot
        self.bytes = bytes
    }

    /// Reads 148 hexadecimal digits.
    public init?(hex: String) {
        guard let bytes = Hex.decode(hex) else { return nil }
        self.init(bytes: bytes)
    }

    /// The 148 hexadecimal digits.
    public var hex: String { Hex.encode(bytes) }

    /// When the offer ends.
    public var expiry: Timestamp? { Timestamp(milliseconds: expires * 1_000) }

    /// What MAC and signature cover: the domain, a line feed and the bytes.
    public var signedBytes: [UInt8] {
        Array(HandoffStatement.domain.utf8) + [0x0A] + bytes
    }
}

/// What the taker scanned and repeats: the statement and the first half of its MAC.
public struct HandoffHalf: Sendable, Equatable {
    /// How many bytes of the MAC a code carries: the half-output truncation of RFC 2104 §5 and RFC 4868 §2.1.
    public static let macLength = 16

    /// The statement.
    public let statement: HandoffStatement
    /// The first 16 bytes of the MAC.
    public let mac: [UInt8]

    /// Collects a half; nil if the MAC has not 16 bytes.
    public init?(statement: HandoffStatement, mac: [UInt8]) {
        guard mac.count == HandoffHalf.macLength else { return nil }
        self.statement = statement
        self.mac = mac
    }

    init(_ reader: inout MemberReader) throws(EventError) {
        mac = try reader.take("mac", Hex.decode)
        statement = try reader.take("statement", HandoffStatement.init(hex:))
        guard mac.count == HandoffHalf.macLength else {
            throw .malformed("mac", "\(HandoffHalf.macLength * 2) hexadecimal digits")
        }
    }
}

/// The compact code: a handoff half as the text of a QR code.
public enum CompactCode {
    /// What the text begins with; `$` keeps it from looking like a URI.
    public static let prefix = "TS1$"
    /// The longest text that is tried.
    public static let longestText = 4_296

    /// The text of a half: the prefix and Base45 (RFC 9285) of statement and MAC, 90 bytes.
    public static func text(for half: HandoffHalf) -> String {
        prefix + Base45.encode(half.statement.bytes + half.mac)
    }

    /// What a scanned text turned out to be.
    public enum Reading: Sendable, Equatable {
        /// A compact code.
        case half(HandoffHalf)
        /// A code, but not one of ours.
        case foreign
        /// One of ours by its prefix, with bytes that are none.
        case damaged(String)
    }

    /// Reads a scanned text.
    public static func read(_ text: [UInt8]) -> Reading {
        guard text.starts(with: prefix.utf8) else { return .foreign }
        guard text.count <= longestText, let bytes = Base45.decode(text.dropFirst(prefix.utf8.count)) else {
            return .damaged("expected Base45 (RFC 9285) after “\(prefix)”")
        }
        guard bytes.count == HandoffStatement.length + HandoffHalf.macLength else {
            return .damaged(
                "expected \(HandoffStatement.length + HandoffHalf.macLength) bytes of an offer, got \(bytes.count)"
            )
        }
        guard let statement = HandoffStatement(bytes: Array(bytes[..<HandoffStatement.length])),
            let half = HandoffHalf(statement: statement, mac: Array(bytes[HandoffStatement.length...]))
        else {
            return .damaged("expected an offer of version 1, got another version or an impossible value")
        }
        return .half(half)
    }
}
