extension Console {
    /// The text with everything invisible that could act on a terminal made visible, such as `<U+001B>`.
    ///
    /// Control characters (C0, DEL, C1: escape sequences, cursor moves, bells), line and paragraph separators,
    /// Unicode bidirectional controls (which can show text in another order than it is signed in), and deprecated and
    /// interlinear format characters. A line break counts: a name with one could forge a line of output. Use it on
    /// whatever came from a file, a network or another person before it is printed.
    package static func plain(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                plain.append(contentsOf: visible(scalar).unicodeScalars)
            } else {
                plain.append(scalar)
            }
        }
        return String(plain)
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0x2028, 0x2029: true
        // The property Bidi_Control, UAX #9 §2.
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        case 0x206A...0x206F, 0xFFF9...0xFFFB: true
        default: false
        }
    }

    private static func visible(_ scalar: Unicode.Scalar) -> String {
        "<U+\(hexadecimal(scalar.value, digits: 4))>"
    }

    /// Whether JSON output escapes the scalar though it need not, so that a terminal never acts on it.
    static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
        isUnsafe(scalar)
    }

    /// The number in capital hexadecimal digits, at least this many.
    static func hexadecimal(_ value: UInt32, digits: Int) -> String {
        let text = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
