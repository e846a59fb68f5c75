/// A code drawn with characters.
package struct TerminalPicture: Equatable, Sendable {
    /// The lines, each ended by a line feed, with the escape sequences that set and reset the colours.
    package let text: String
    /// Character cells in every line.
    package let columns: Int
    /// Lines.
    package let rows: Int

    /// What moves the cursor from below this picture to its beginning, so that the next one is drawn over it.
    package var redraw: String { "\r\u{1B}[\(rows)A" }

    /// The picture with words centred below it, in the same colours, on a line of their own; cut where too long.
    package func labelled(_ words: String) -> TerminalPicture {
        let shown = Caption.clean(words).map { $0.isASCII ? $0 : "?" }.prefix(columns)
        let left = (columns - shown.count) / 2
        let right = columns - shown.count - left
        let line = String(repeating: " ", count: left) + String(shown) + String(repeating: " ", count: right)
        return TerminalPicture(
            text: text + QRMatrix.terminalColours + line + QRMatrix.terminalReset + "\n",
            columns: columns,
            rows: rows + 1
        )
    }

    /// Why a window cannot show the picture, and one line below it for the cursor; nil where it can.
    ///
    /// A measure that is not known counts as enough.
    package func tooSmall(windowColumns: Int?, windowRows: Int?) -> String? {
        let fits = (windowColumns ?? .max) >= columns && (windowRows ?? .max) > rows
        if fits { return nil }
        func said(_ count: Int?) -> String { count.map { "\($0)" } ?? "an unknown number of" }
        return """
            the code needs \(columns) columns and \(rows + 1) rows, \
            the window has \(said(windowColumns)) columns and \(said(windowRows)) rows
            """
    }
}

extension QRMatrix {
    // Colours 16 and 231 of the 256-colour cube are fixed black and white; the first 16 belong to the theme.
    static let terminalColours = "\u{1B}[38;5;16;48;5;231m"
    static let terminalReset = "\u{1B}[0m"

    /// Draws the symbol with its quiet zone in half blocks: one cell is one module wide and two high.
    ///
    /// Both colours are set on every line, so that it is black on white under any theme. Version 6 takes 49 × 25
    /// cells, version 10 65 × 33; below the last row the picture is white.
    package func terminal() -> TerminalPicture {
        let columns = framedSide
        let rows = (framedSide + 1) / 2
        var text = ""
        for row in 0..<rows {
            text += QRMatrix.terminalColours
            for column in 0..<columns {
                let x = column - QRMatrix.quietZone
                let y = row * 2 - QRMatrix.quietZone
                switch (dark(x, y), dark(x, y + 1)) {
                case (false, false): text += " "
                case (true, false): text += "▀"
                case (false, true): text += "▄"
                case (true, true): text += "█"
                }
            }
            text += QRMatrix.terminalReset + "\n"
        }
        return TerminalPicture(text: text, columns: columns, rows: rows)
    }
}

extension ModuleGrid {
    /// Reads the cells of a terminal picture back; nil where they are not in the form `QRMatrix.terminal` writes.
    init?(terminal picture: TerminalPicture) {
        guard var grid = ModuleGrid(width: picture.columns, height: picture.rows * 2) else { return nil }
        let lines = picture.text.split(separator: "\n")
        guard lines.count == picture.rows else { return nil }
        for (row, line) in lines.enumerated() {
            guard line.hasPrefix(QRMatrix.terminalColours), line.hasSuffix(QRMatrix.terminalReset) else { return nil }
            let cells = line.dropFirst(QRMatrix.terminalColours.count).dropLast(QRMatrix.terminalReset.count)
            guard cells.count == picture.columns else { return nil }
            for (column, cell) in cells.enumerated() {
                guard " ▀▄█".contains(cell) else { return nil }
                if cell == "▀" || cell == "█" { _ = grid.setDark(column, row * 2) }
                if cell == "▄" || cell == "█" { _ = grid.setDark(column, row * 2 + 1) }
            }
        }
        self = grid
    }
}
