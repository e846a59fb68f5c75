/// Measures, wraps and pads text for a terminal.
package enum TextLayout {
    /// The columns a text takes on a terminal.
    package static func width(of text: String) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    /// The columns a character takes: 0 for marks alone, 2 for East Asian wide characters and emoji, else 1.
    static func width(of character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        // U+FE0F asks for the emoji form of what came before it.
        if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: return isWide(scalar) ? 2 : 1
        }
    }

    /// Whether the scalar is of the East Asian Width W or F (UAX #11), in ranges; emoji among them.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.isEmojiPresentation { return true }
        return switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF: true
        case 0xA000...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF: true
        case 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6: true
        case 0x17000...0x18CD5, 0x1B000...0x1B2FB, 0x20000...0x2FFFD, 0x30000...0x3FFFD: true
        default: false
        }
    }

    /// The text followed by spaces up to this width.
    package static func padded(_ text: String, to width: Int) -> String {
        text + spaces(width - self.width(of: text))
    }

    /// This many spaces; none for a negative number.
    static func spaces(_ count: Int) -> String {
        String(repeating: " ", count: max(0, count))
    }

    /// As much of the text as fits into this width, with `…` where it was cut.
    static func truncated(_ text: String, to width: Int) -> String {
        guard self.width(of: text) > width else { return text }
        var kept = ""
        var used = 1
        for character in text {
            used += self.width(of: character)
            guard used <= width else { break }
            kept.append(character)
        }
        return kept + "…"
    }

    /// The pieces on lines no wider than this, broken only between pieces.
    ///
    /// A piece wider than a line gets a line to itself and is not cut, so that it can be copied.
    static func lines(of pieces: [String], width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var used = 0
        for piece in pieces {
            let needed = self.width(of: piece)
            if used > 0, used + 1 + needed > width {
                lines.append(line)
                line = ""
                used = 0
            }
            if used > 0 {
                line += " "
                used += 1
            }
            line += piece
            used += needed
        }
        if used > 0 { lines.append(line) }
        return lines
    }

    /// The words of the text on lines no wider than this.
    package static func wrapped(_ text: String, width: Int) -> [String] {
        lines(of: text.split(whereSeparator: \.isWhitespace).map(String.init), width: width)
    }

    /// A block of prose and of lines to keep.
    enum Block {
        /// Prose, on as many lines as it takes.
        case paragraph(String)
        /// A line that starts with a space, kept as it is.
        case kept(String)
        /// An empty line.
        case gap
    }

    /// The blocks of a discussion: paragraphs parted by empty lines, and indented lines.
    static func blocks(of text: String) -> [Block] {
        var blocks: [Block] = []
        var paragraph: [Substring] = []
        func endParagraph() {
            guard !paragraph.isEmpty else { return }
            blocks.append(.paragraph(paragraph.joined(separator: " ")))
            paragraph = []
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.allSatisfy(\.isWhitespace) {
                endParagraph()
                blocks.append(.gap)
            } else if line.first == " " {
                endParagraph()
                blocks.append(.kept(String(line)))
            } else {
                paragraph.append(line)
            }
        }
        endParagraph()
        return blocks
    }
}
