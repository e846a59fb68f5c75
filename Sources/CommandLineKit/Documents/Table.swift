/// Rows under headings, for people; scripts use `--json`.
package struct Table: Sendable {
    /// Where a cell stands in its column.
    package enum Alignment: Sendable {
        /// At the left: text.
        case left
        /// At the right: numbers.
        case right
    }

    private let headings: [(text: String, alignment: Alignment)]
    private var rows: [[String]] = []

    /// Makes a table with these columns aligned at the left.
    package init(_ headings: String...) {
        self.init(columns: headings.map { ($0, .left) })
    }

    /// Makes a table with these columns.
    package init(columns: [(String, Alignment)]) {
        headings = columns.map { (Console.plain($0.0), $0.1) }
    }

    /// Whether it has no rows.
    package var isEmpty: Bool { rows.isEmpty }

    /// Adds a row; cells are made plain, missing ones stay empty, further ones get columns without a heading.
    package mutating func add(_ cells: [String]) {
        rows.append(cells.map(Console.plain))
    }

    /// The lines of the table, headings first, aligned by the width of characters and not wrapped.
    package var lines: [String] {
        let columnCount = rows.reduce(headings.count) { max($0, $1.count) }
        var widths = Array(repeating: 0, count: columnCount)
        let titles = headings.map(\.text)
        for row in [titles] + rows {
            for (column, cell) in row.enumerated() {
                widths[column] = max(widths[column], TextLayout.width(of: cell))
            }
        }
        let alignments =
            headings.map(\.alignment) + Array(repeating: .left, count: columnCount - headings.count)
        return ([titles] + rows).map { row in
            let cells = zip(row, zip(widths, alignments)).map { cell, column in
                let (width, alignment) = column
                let space = TextLayout.spaces(width - TextLayout.width(of: cell))
                return alignment == .left ? cell + space : space + cell
            }
            let line = cells.joined(separator: "  ")
            let end = line.lastIndex { $0 != " " }
            return end.map { String(line[...$0]) } ?? ""
        }
    }
}
