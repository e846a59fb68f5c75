/// Lower-case hexadecimal text.
public enum Hex {
    /// Writes two lower-case digits for each byte.
    public static func encode(_ bytes: [UInt8]) -> String {
        let span = bytes.span
        return unsafe String(unsafeUninitializedCapacity: 2 * span.count) { text in
            for index in span.indices {
                let byte = span[index]
                unsafe text[2 * index] = digit(byte >> 4)
                unsafe text[2 * index + 1] = digit(byte & 0x0f)
            }
            return 2 * span.count
        }
    }

    /// Reads pairs of lower-case digits; nil for an odd number of them or any other character.
    public static func decode(_ text: String) -> [UInt8]? {
        let digits = text.utf8.span
        guard digits.count.isMultiple(of: 2) else { return nil }
        let count = digits.count / 2
        // Also keeps the initialiser below from writing to the empty array all threads share (seen by TSan).
        guard count > 0 else { return [] }
        var seen: UInt8 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            for index in 0..<count {
                let high = value(ofDigit: digits[2 * index])
                let low = value(ofDigit: digits[2 * index + 1])
                seen |= high | low
                unsafe buffer.initializeElement(at: index, to: high << 4 | low & 0x0f)
            }
            initialized = count
        }
        return seen <= 0x0f ? bytes : nil
    }

    static func encode(_ block: Block32) -> String {
        unsafe String(unsafeUninitializedCapacity: 2 * Block32.count) { text in
            var position = 0
            func put(_ word: UInt64) {
                var shift: UInt64 = 64
                while shift > 0 {
                    shift -= 4
                    unsafe text[position] = digit(UInt8(truncatingIfNeeded: word >> shift) & 0x0f)
                    position += 1
                }
            }
            put(block.word0)
            put(block.word1)
            put(block.word2)
            put(block.word3)
            return position
        }
    }

    /// The digit of a value below 16.
    @inline(__always)
    private static func digit(_ value: UInt8) -> UInt8 {
        // Arithmetic, not a table: it vectorises and has no bounds check. 0x27 is "a" - "0" - 10.
        value &+ 0x30 &+ (value > 9 ? 0x27 : 0)
    }

    /// The value of a lower-case digit; a number above 15 for any other byte.
    @inline(__always)
    static func value(ofDigit digit: UInt8) -> UInt8 {
        switch digit {
        case 0x30...0x39: digit &- 0x30
        case 0x61...0x66: digit &- 0x57
        default: 0xff
        }
    }
}
