/// Thirty-two bytes kept inline, without an allocation.
///
/// The words are big-endian readings of the bytes, so that comparing words as numbers compares bytes.
struct Block32: Hashable, Sendable {
    let word0, word1, word2, word3: UInt64

    static let count = 32

    /// Takes exactly 32 bytes; nil for any other number.
    init?(_ bytes: some Collection<UInt8>) {
        // One witness call for contiguous callers, where unspecialised generic code would make 32.
        let contiguous = bytes.withContiguousStorageIfAvailable { buffer in
            unsafe Block32(buffer.span)
        }
        guard let block = contiguous ?? Block32([UInt8](bytes).span) else { return nil }
        self = block
    }

    init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.count else { return nil }
        func word(_ start: Int) -> UInt64 {
            var word: UInt64 = 0
            for index in start..<(start + 8) { word = word << 8 | UInt64(bytes[index]) }
            return word
        }
        self.init(word(0), word(8), word(16), word(24))
    }

    /// Takes 64 lower-case hexadecimal digits; nil for anything else.
    init?(hex: Span<UInt8>) {
        guard hex.count == 2 * Self.count else { return nil }
        // An invalid digit sets bits above the low four; one test at the end sees any of them.
        var seen: UInt8 = 0
        func word(_ start: Int) -> UInt64 {
            var word: UInt64 = 0
            for index in start..<(start + 16) {
                let value = Hex.value(ofDigit: hex[index])
                seen |= value
                word = word << 4 | UInt64(value & 0x0f)
            }
            return word
        }
        self.init(word(0), word(16), word(32), word(48))
        guard seen <= 0x0f else { return nil }
    }

    init(_ word0: UInt64, _ word1: UInt64, _ word2: UInt64, _ word3: UInt64) {
        self.word0 = word0
        self.word1 = word1
        self.word2 = word2
        self.word3 = word3
    }

    /// Runs a C call that writes the 32 bytes; nil where it reports failure by `false`.
    @safe init?(filledBy fill: (UnsafeMutablePointer<UInt8>) -> Bool) {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        let isFilled = unsafe withUnsafeMutableBytes(of: &words) { buffer in
            unsafe buffer.withMemoryRebound(to: UInt8.self) { bytes in
                guard let start = bytes.baseAddress else { return false }
                return unsafe fill(start)
            }
        }
        guard isFilled else { return nil }
        self.init(
            UInt64(bigEndian: words.0),
            UInt64(bigEndian: words.1),
            UInt64(bigEndian: words.2),
            UInt64(bigEndian: words.3)
        )
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.count)
        for word in [word0, word1, word2, word3] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        return bytes
    }

    var hex: String { Hex.encode(self) }
}

extension Block32: Comparable {
    /// Whether the bytes come first in byte order.
    static func < (left: Block32, right: Block32) -> Bool {
        if left.word0 != right.word0 { return left.word0 < right.word0 }
        if left.word1 != right.word1 { return left.word1 < right.word1 }
        if left.word2 != right.word2 { return left.word2 < right.word2 }
        return left.word3 < right.word3
    }
}
