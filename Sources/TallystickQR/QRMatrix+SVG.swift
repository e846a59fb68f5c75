extension QRMatrix {
    /// Draws the symbol as an SVG document: an opaque white rectangle, one black path, the caption as text.
    ///
    /// One unit is one module, shown `modulePixels` (8 to 64) pixels wide; anything else throws `invalid-size`.
    /// Each dark run of a row is `Mx yhNv1h-Nz` in the path, x and y counted with the quiet zone.
    package func svg(
        caption lines: [String] = [],
        modulePixels: Int = QRMatrix.minimumModulePixels
    ) throws(QRError) -> String {
        let range = QRMatrix.minimumModulePixels...QRMatrix.maximumModulePixels
        guard range.contains(modulePixels) else {
            throw QRError(.invalidSize, "expected 8 to 64 pixels per module, got \(modulePixels)")
        }
        // A character of a monospaced font is about 0.6 of its size wide: 1.2 modules at size 2.
        let caption = Caption(lines, columns: side * 10 / 12).lines
        let width = framedSide
        let height = framedSide + (caption.isEmpty ? 0 : caption.count * QRMatrix.svgLineHeight + 2)
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" \
            width="\(width * modulePixels)" height="\(height * modulePixels)" shape-rendering="crispEdges">
            <rect width="\(width)" height="\(height)" fill="#ffffff"/>
            <path fill="#000000" d="\(svgPath)"/>

            """
        for (number, line) in caption.enumerated() {
            let baseline = framedSide + number * QRMatrix.svgLineHeight + 1
            text += """
                <text x="\(width / 2)" y="\(baseline)" font-family="monospace" font-size="2" text-anchor="middle" \
                fill="#000000">\(QRMatrix.escaped(line))</text>

                """
        }
        return text + "</svg>\n"
    }

    private static let svgLineHeight = 3

    private var svgPath: String {
        var path = ""
        for y in 0..<side {
            var x = 0
            while x < side {
                guard dark(x, y) else {
                    x += 1
                    continue
                }
                let start = x
                while dark(x, y) { x += 1 }
                let run = x - start
                path += "M\(start + QRMatrix.quietZone) \(y + QRMatrix.quietZone)h\(run)v1h-\(run)z"
            }
        }
        return path
    }

    private static func escaped(_ line: String) -> String {
        var text = ""
        for scalar in line.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension ModuleGrid {
    /// Reads the path of an SVG made by `QRMatrix.svg` back; nil where it is not in that form.
    init?(svg: String) {
        let marker = "<path fill=\"#000000\" d=\""
        let box = "viewBox=\"0 0 "
        guard let sideText = ModuleGrid.text(in: svg, after: box, until: " "), let side = Int(sideText),
            let path = ModuleGrid.text(in: svg, after: marker, until: "\""),
            var grid = ModuleGrid(width: side, height: side)
        else { return nil }
        for part in path.split(separator: "z") {
            let numbers = part.split { !$0.isASCII || !$0.isNumber }.compactMap { Int($0) }
            guard numbers.count == 5, numbers[3] == 1, numbers[2] == numbers[4],
                part == "M\(numbers[0]) \(numbers[1])h\(numbers[2])v1h-\(numbers[2])z".dropLast(),
                numbers[2] > 0, numbers[2] <= side
            else { return nil }
            for offset in 0..<numbers[2] {
                guard grid.setDark(numbers[0] + offset, numbers[1]) else { return nil }
            }
        }
        self = grid
    }

    private static func text(in whole: String, after marker: String, until end: Character) -> String? {
        guard let range = whole.firstRange(of: marker) else { return nil }
        return String(whole[range.upperBound...].prefix { $0 != end })
    }
}
