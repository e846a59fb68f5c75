/// One of our codes: a text, and pictures of it that have been read back before they are given out.
package struct QRCode: Equatable, Sendable {
    /// The text, alphanumeric characters only.
    package let text: String
    /// The symbol that holds it.
    package let matrix: QRMatrix

    /// Encodes a text as `QRMatrix(alphanumeric:level:largestVersion:)` does, with the same failures.
    package init(
        _ text: String,
        level: ErrorCorrection = .medium,
        largestVersion: Int = QRMatrix.largestVersion
    ) throws(QRError) {
        self.text = text
        matrix = try QRMatrix(alphanumeric: text, level: level, largestVersion: largestVersion)
    }

    /// The bytes of a PNG file whose decoding gave `text` again, else throws `unreadable-code`.
    ///
    /// Sizes as for `QRMatrix.png(caption:modulePixels:)`.
    package func verifiedPNG(
        caption lines: [String] = [],
        modulePixels: Int = QRMatrix.minimumModulePixels
    ) throws(QRError) -> [UInt8] {
        let bytes = try matrix.png(caption: lines, modulePixels: modulePixels)
        try verify(ImageReader.read(bytes))
        return bytes
    }

    /// An SVG document whose modules, read back from its path and decoded, gave `text`, else throws `unreadable-code`.
    package func verifiedSVG(
        caption lines: [String] = [],
        modulePixels: Int = QRMatrix.minimumModulePixels
    ) throws(QRError) -> String {
        let svg = try matrix.svg(caption: lines, modulePixels: modulePixels)
        guard let grid = ModuleGrid(svg: svg) else {
            throw QRError(.unreadableCode, "expected the SVG to hold one path of modules, got something else")
        }
        try verify(grid.picture())
        return svg
    }

    /// A picture for a terminal whose cells, read back and decoded, gave `text`, else throws `unreadable-code`.
    package func verifiedTerminal() throws(QRError) -> TerminalPicture {
        let picture = matrix.terminal()
        guard let grid = ModuleGrid(terminal: picture) else {
            throw QRError(
                .unreadableCode,
                "expected \(picture.columns) × \(picture.rows) half blocks, got something else"
            )
        }
        try verify(grid.picture())
        return picture
    }

    /// Decodes a finished picture and throws `unreadable-code` unless it holds this code and nothing else.
    package func verify(_ image: GrayImage) throws(QRError) {
        let expected = Array(text.utf8)
        let symbols = try QRDecoder.symbols(in: image) { $0 == expected }
        guard symbols.count == 1, let symbol = symbols.first, symbol.kind == .code, symbol.bytes == expected else {
            let found = symbols.isEmpty ? "no code" : "\(symbols.count) codes, not all of that text"
            throw QRError(.unreadableCode, "expected the picture to decode to its text, got \(found)")
        }
    }
}
