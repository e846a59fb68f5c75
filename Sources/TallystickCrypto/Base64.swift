/// Base64 text of RFC 4648 section 4: the standard alphabet, padded.
public enum Base64 {
    /// Writes bytes as padded base64 without line breaks.
    public static func encode(_ bytes: [UInt8]) -> String {
        let span = bytes.span
        let table = alphabet
        let symbols = table.span
        let capacity = (span.count + 2) / 3 * 4
        return unsafe String(unsafeUninitializedCapacity: capacity) { text in
            var position = 0
            func put(_ first: UInt8, _ second: UInt8, _ third: UInt8) {
                unsafe text[position] = symbols[Int(first >> 2)]
                unsafe text[position + 1] = symbols[Int((first & 0x03) << 4 | second >> 4)]
                unsafe text[position + 2] = symbols[Int((second & 0x0f) << 2 | third >> 6)]
                unsafe text[position + 3] = symbols[Int(third & 0x3f)]
                position += 4
            }
            var index = 0
            while index + 2 < span.count {
                put(span[index], span[index + 1], span[index + 2])
                index += 3
            }
            switch span.count - index {
            case 1:
                put(span[index], 0, 0)
                unsafe text[position - 2] = padding
                unsafe text[position - 1] = padding
            case 2:
                put(span[index], span[index + 1], 0)
                unsafe text[position - 1] = padding
            default: break
            }
            return position
        }
    }

    /// Reads canonical padded base64; nil for anything else.
    ///
    /// Refused are white space, missing or extra padding, other alphabets and non-zero pad bits (RFC 4648
    /// section 3.5): each byte sequence has exactly one text, so a signature cannot be respelt.
    public static func decode(_ text: String) -> [UInt8]? {
        let source = text.utf8.span
        guard source.count.isMultiple(of: 4) else { return nil }
        guard source.count > 0 else { return [] }
        let padded = source[source.count - 1] != padding ? 0 : source[source.count - 2] != padding ? 1 : 2

        let inverse = values
        let table = inverse.span
        // A byte outside the alphabet has value 0xff; its high bits stay visible in the collected or.
        var seen: UInt8 = 0
        func value(_ index: Int) -> UInt8 {
            let value = table[Int(source[index])]
            seen |= value
            return value
        }

        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count / 4 * 3)
        let whole = padded == 0 ? source.count : source.count - 4
        var index = 0
        while index < whole {
            let (first, second) = (value(index), value(index + 1))
            let (third, fourth) = (value(index + 2), value(index + 3))
            bytes.append(first << 2 | second >> 4 & 0x03)
            bytes.append(second << 4 | third >> 2 & 0x0f)
            bytes.append(third << 6 | fourth & 0x3f)
            index += 4
        }
        if padded > 0 {
            let (first, second) = (value(index), value(index + 1))
            bytes.append(first << 2 | second >> 4 & 0x03)
            if padded == 2 {
                guard second & 0x0f == 0 else { return nil }
            } else {
                let third = value(index + 2)
                guard third & 0x03 == 0 else { return nil }
                bytes.append(second << 4 | third >> 2 & 0x0f)
            }
        }
        return seen <= 0x3f ? bytes : nil
    }

    private static let padding: UInt8 = 0x3d

    private static let alphabet: [UInt8] = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xff, count: 256)
        for (value, symbol) in alphabet.enumerated() { values[Int(symbol)] = UInt8(value) }
        return values
    }()
}
