/// The words under a code, made safe to draw and cut to a width.
struct Caption {
    /// The lines as drawn: no control characters, none longer than the columns asked for.
    let lines: [String]

    private static let maximumLines = 16
    private static let maximumScalars = 256

    /// Cleans the lines and wraps them at spaces, or inside a word that alone is too long; empty lines go.
    init(_ lines: [String], columns: Int) {
        let columns = max(1, columns)
        self.lines = lines.prefix(Caption.maximumLines).flatMap { line in
            Caption.wrap(Caption.clean(line), columns: columns)
        }
    }

    /// Takes out what could change how the rest is shown: control, formatting (bidirectional marks among them)
    /// and unassigned characters.
    static func clean(_ line: String) -> String {
        var kept = String.UnicodeScalarView()
        for scalar in line.unicodeScalars.prefix(maximumScalars) {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: continue
            default: kept.append(scalar)
            }
        }
        return String(kept)
    }

    private static func wrap(_ line: String, columns: Int) -> [String] {
        var wrapped: [String] = []
        var current = ""
        for word in line.split(separator: " ") {
            var rest = word
            if !current.isEmpty, current.count + 1 + rest.count > columns {
                wrapped.append(current)
                current = ""
            }
            while rest.count > columns {
                wrapped.append(String(rest.prefix(columns)))
                rest = rest.dropFirst(columns)
            }
            current += current.isEmpty ? String(rest) : " " + rest
        }
        if !current.isEmpty { wrapped.append(current) }
        return wrapped
    }
}
