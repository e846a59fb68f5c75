import TallystickCrypto

/// What the text of one of our QR codes says (`docs/handoff.md`); the first byte tells which.
public enum CodeMessage: Sendable, Equatable {
    /// The compact code of an offer.
    case offer(HandoffHalf)
    /// The full code of an offer: also the load, the giver's certificate and signature.
    case full(FullCode)
    /// A taker's answer to an offer.
    case reply(HandoffReply)
    /// A taker's answer together with its certificate.
    case fullReply(FullReply)
    /// A taker's challenge, which the offer must answer.
    case challenge(HandoffChallenge)
    /// One part of a longer message.
    case part(CodePart)

    /// The first bytes of messages: version 1 and a type.
    enum Kind {
        static let offer: UInt8 = 0x11
        static let full: UInt8 = 0x12
        static let accepted: UInt8 = 0x13
        static let part: UInt8 = 0x14
        static let declined: UInt8 = 0x15
        static let challenge: UInt8 = 0x16
        static let fullReply: UInt8 = 0x17
    }

    /// What a scanned text turned out to be.
    public enum Reading: Sendable, Equatable {
        /// One of ours.
        case message(CodeMessage)
        /// A code, but not one of ours.
        case foreign
        /// One of ours by its prefix, with bytes that are none; with what was expected.
        case damaged(String)
    }

    /// The message's bytes.
    public var bytes: [UInt8] {
        switch self {
        case .offer(let half): half.statement.bytes + half.mac
        case .full(let code): code.bytes
        case .reply(let reply): reply.bytes
        case .fullReply(let reply): reply.bytes
        case .challenge(let challenge): challenge.bytes
        case .part(let part): part.bytes
        }
    }

    /// The texts of the codes that carry the message: one where it fits a symbol of version 10, else its parts.
    public var texts: [String] {
        let bytes = bytes
        if bytes.count <= CodePart.largestSymbol { return [CodeMessage.text(for: bytes)] }
        return CodePart.split(bytes).map { CodeMessage.text(for: $0.bytes) }
    }

    /// The prefix and the Base45 (RFC 9285) of a message's bytes.
    static func text(for bytes: [UInt8]) -> String {
        CompactCode.prefix + Base45.encode(bytes)
    }

    /// Reads a scanned text.
    public static func read(text: [UInt8]) -> Reading {
        guard text.starts(with: CompactCode.prefix.utf8) else { return .foreign }
        guard text.count <= CompactCode.longestText,
            let bytes = Base45.decode(text.dropFirst(CompactCode.prefix.utf8.count))
        else { return .damaged("expected Base45 (RFC 9285) after “\(CompactCode.prefix)”") }
        return read(bytes: bytes)
    }

    /// Reads a message's bytes, as joined from parts or decoded from a text.
    public static func read(bytes: [UInt8]) -> Reading {
        guard let kind = bytes.first else { return .damaged("expected a message, got nothing") }
        let message: CodeMessage?
        switch kind {
        case Kind.offer:
            message = CodeMessage.half(bytes).map { .offer($0) }
        case Kind.full: message = FullCode(bytes: bytes).map { .full($0) }
        case Kind.accepted, Kind.declined: message = HandoffReply(bytes: bytes).map { .reply($0) }
        case Kind.part: message = CodePart(bytes: bytes).map { .part($0) }
        case Kind.challenge: message = HandoffChallenge(bytes: bytes).map { .challenge($0) }
        case Kind.fullReply: message = FullReply(bytes: bytes).map { .fullReply($0) }
        default: return .damaged("expected a message of version 1, got type \(kind)")
        }
        guard let message else {
            return .damaged("expected a message of type \(kind) whole, got \(bytes.count) bytes or an impossible value")
        }
        return .message(message)
    }

    static func half(_ bytes: [UInt8]) -> HandoffHalf? {
        guard bytes.count == HandoffStatement.length + HandoffHalf.macLength,
            let statement = HandoffStatement(bytes: Array(bytes[..<HandoffStatement.length]))
        else { return nil }
        return HandoffHalf(statement: statement, mac: Array(bytes[HandoffStatement.length...]))
    }

    static func bigEndian(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
    }
}
