/// Base45, the text form of bytes that a QR code's alphanumeric mode stores best (RFC 9285).
///
/// Decoding is strict, so that one text stands for one sequence of bytes: it refuses what RFC 9285
/// section 6 warns about instead of guessing.
public enum Base45 {
    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8)

    private static let values: [UInt8?] = {
        var values = [UInt8?](repeating: nil, count: 256)
        for (value, character) in alphabet.enumerated() {
            values[Int(character)] = UInt8(truncatingIfNeeded: value)
        }
        return values
    }()

    /// Writes bytes as Base45: three characters for two bytes, two for a last single one (RFC 9285 section 4).
    public static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 2 * 3 + 2)
        var index = 0
        while index + 1 < bytes.count {
            let value = Int(bytes[index]) * 256 + Int(bytes[index + 1])
            text.append(alphabet[value % 45])
            text.append(alphabet[value / 45 % 45])
            text.append(alphabet[value / 2025])
            index += 2
        }
        if index < bytes.count {
            text.append(alphabet[Int(bytes[index]) % 45])
            text.append(alphabet[Int(bytes[index]) / 45])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads Base45 characters given as ASCII bytes, or returns nil where they are not exactly what `encode` writes.
    ///
    /// Refused are a length of 1 modulo 3, a triplet above 65,535, a final pair above 255 and every
    /// character outside the 45, lower-case letters among them.
    public static func decode(_ characters: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var value = 0
        var weight = 1
        for character in characters {
            guard let digit = values[Int(character)] else { return nil }
            value += Int(digit) * weight
            weight *= 45
            guard weight == 91_125 else { continue }  // 45 cubed: the triplet is whole
            guard value <= 0xFFFF else { return nil }
            bytes.append(UInt8(truncatingIfNeeded: value >> 8))
            bytes.append(UInt8(truncatingIfNeeded: value))
            value = 0
            weight = 1
        }
        switch weight {
        case 1: return bytes
        case 2025:
            guard value <= 0xFF else { return nil }
            return bytes + [UInt8(truncatingIfNeeded: value)]
        default: return nil
        }
    }

    /// Reads Base45 text, or returns nil where it is not exactly what `encode` writes.
    public static func decode(_ text: String) -> [UInt8]? {
        decode(text.utf8)
    }
}
