import TallystickCrypto

/// A taker's challenge: the offer that answers it was made after it, and so not for somebody else's photograph.
///
/// 25 bytes: type 1, random 16, end in seconds 8. The offer's name is the first 8 bytes of SHA-256 of
/// `tallystick/challenge/v1`, a line feed and the random bytes, so that the offer's statement, its MAC and its signature
/// all answer it.
public struct HandoffChallenge: Sendable, Hashable {
    /// How many random bytes a challenge has.
    public static let length = 16

    /// The random bytes.
    public let random: [UInt8]
    /// When the challenge ends, in seconds since 1970.
    public let expires: Int64

    /// States a challenge; nil if there are not 16 bytes or the end is impossible.
    public init?(random: [UInt8], expires: Int64) {
        guard random.count == HandoffChallenge.length, expires >= 0, expires < Timestamp.greatest / 1_000 else {
            return nil
        }
        self.random = random
        self.expires = expires
    }

    init?(bytes: [UInt8]) {
        guard bytes.count == 25, bytes[0] == CodeMessage.Kind.challenge else { return nil }
        let seconds = UniqueID.word(bytes[17...])
        guard seconds < UInt64(Timestamp.greatest / 1_000) else { return nil }
        self.init(random: Array(bytes[1..<17]), expires: Int64(seconds))
    }

    var bytes: [UInt8] {
        [CodeMessage.Kind.challenge] + random + CodeMessage.bigEndian(UInt64(expires))
    }

    /// The name of the one offer that answers the challenge.
    public var offer: OfferID? { HandoffChallenge.offer(answering: random) }

    static func offer(answering random: [UInt8]) -> OfferID? {
        let digest = SHA256.hash(Array("tallystick/challenge/v1\n".utf8) + random)
        return OfferID(bytes: digest.bytes.prefix(8))
    }
}
