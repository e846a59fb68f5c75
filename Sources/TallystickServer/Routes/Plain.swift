/// Text from outside, made fit for a line of a log or a report.
enum Plain {
    /// At most 300 characters of the text, without those that end lines or move a terminal's cursor.
    static func line(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(300) {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            // Line and paragraph separators, and what turns the direction of writing.
            let isFormat = (0x2028...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
            line.append(isControl || isFormat ? " " : scalar)
        }
        return String(line)
    }
}
