import TallystickCrypto

/// A UUID of version 7 (RFC 9562 §5.7), lower case: names a chain, an event or a party.
public struct UniqueID: Hashable, Comparable, Sendable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    /// Makes the identifier of the milliseconds since 1970 and ten random bytes.
    ///
    /// Nil if there are not ten bytes or the time does not fit 48 bits.
    public init?(milliseconds: Int64, random: [UInt8]) {
        guard random.count == 10, milliseconds >= 0, milliseconds < 1 << 48 else { return nil }
        let first = UInt64(random[0] & 0x0F) << 8 | UInt64(random[1])
        high = UInt64(milliseconds) << 16 | 0x7000 | first
        low = 0x8000_0000_0000_0000 | (UniqueID.word(random[2...]) & 0x3FFF_FFFF_FFFF_FFFF)
    }

    /// Reads the 16 bytes of an identifier, or nil if they are not one of version 7.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        high = UniqueID.word(bytes.prefix(8))
        low = UniqueID.word(bytes.dropFirst(8))
        guard high >> 12 & 0xF == 7, low >> 62 == 2 else { return nil }
    }

    /// Reads the 36 characters of an identifier, or nil if they are not one of version 7 in lower case.
    public init?(_ text: String) {
        var words: (UInt64, UInt64) = (0, 0)
        var index = 0
        for byte in text.utf8 {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                let digit: UInt8
                switch byte {
                case 0x30...0x39: digit = byte - 0x30
                case 0x61...0x66: digit = byte - 0x61 + 10
                default: return nil
                }
                if index < 18 {
                    words.0 = words.0 << 4 | UInt64(digit)
                } else {
                    words.1 = words.1 << 4 | UInt64(digit)
                }
            }
            index += 1
        }
        guard index == 36, words.0 >> 12 & 0xF == 7, words.1 >> 62 == 2 else { return nil }
        (high, low) = words
    }

    static func word(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The bytes of two words, most significant first.
    static func bytes(_ high: UInt64, _ low: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: high >> shift))
        }
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: low >> shift))
        }
        return bytes
    }

    /// The 16 bytes, most significant first.
    public var bytes: [UInt8] {
        UniqueID.bytes(high, low)
    }

    /// The milliseconds since 1970 at which the identifier says it was made; information only.
    public var milliseconds: Int64 { Int64(high >> 16) }

    /// The order of the bytes, which is the order of making.
    public static func < (left: UniqueID, right: UniqueID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    /// The text of 36 characters.
    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        var index = 0
        for word in [high, low] {
            for shift in stride(from: UInt64(60), through: 0, by: -4) {
                if index == 8 || index == 12 || index == 16 || index == 20 { text.append(UInt8(ascii: "-")) }
                index += 1
                let digit = UInt8(truncatingIfNeeded: word >> shift & 15)
                text.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
