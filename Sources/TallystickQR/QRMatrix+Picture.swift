extension QRMatrix {
    /// The fewest pixels a module may have in a file: below, photographs of the picture lose modules.
    package static let minimumModulePixels = 8
    /// The most pixels a module may have in a file.
    package static let maximumModulePixels = 64

    /// Modules from edge to edge of a picture, quiet zone included.
    package var framedSide: Int { side + 2 * QRMatrix.quietZone }

    /// Draws the symbol in pure black on white with its quiet zone, and the caption lines under it.
    ///
    /// A module is `modulePixels` × `modulePixels` whole pixels, 8 to 64; anything else throws `invalid-size`.
    package func picture(
        caption lines: [String] = [],
        modulePixels: Int = QRMatrix.minimumModulePixels
    ) throws(QRError) -> GrayImage {
        let range = QRMatrix.minimumModulePixels...QRMatrix.maximumModulePixels
        guard range.contains(modulePixels) else {
            throw QRError(.invalidSize, "expected 8 to 64 pixels per module, got \(modulePixels)")
        }
        let width = framedSide * modulePixels
        let words = CaptionDrawing(lines, width: width, modulePixels: modulePixels)
        var image = try GrayImage(width: width, height: width + words.height, shade: 255)
        for y in 0..<side {
            for x in 0..<side where dark(x, y) {
                image.fill(
                    x: (x + QRMatrix.quietZone) * modulePixels,
                    y: (y + QRMatrix.quietZone) * modulePixels,
                    width: modulePixels,
                    height: modulePixels,
                    shade: 0
                )
            }
        }
        words.draw(in: &image, y: width)
        return image
    }

    /// The picture of `picture(caption:modulePixels:)` as the bytes of a PNG file: 8-bit grey, opaque.
    package func png(
        caption lines: [String] = [],
        modulePixels: Int = QRMatrix.minimumModulePixels
    ) throws(QRError) -> [UInt8] {
        try picture(caption: lines, modulePixels: modulePixels).png()
    }
}

/// Caption lines laid out in the bitmap font for a picture of a given width.
struct CaptionDrawing {
    private let lines: [String]
    private let scale: Int
    private let margin: Int

    /// Takes three times the font's size where every line fits, else two times, and wraps what is still too long.
    init(_ lines: [String], width: Int, modulePixels: Int) {
        let pixel = modulePixels / QRMatrix.minimumModulePixels
        let room = width - 2 * modulePixels
        func columns(_ scale: Int) -> Int { room / (BitmapFont.advance * scale) }
        // One character, one cell: what the font cannot show becomes a question mark before the lines are measured.
        let plain = lines.map { line in String(Caption.clean(line).map { $0.isASCII ? $0 : "?" }) }
        let longest = plain.map(\.count).max() ?? 0
        scale = longest <= columns(3 * pixel) ? 3 * pixel : 2 * pixel
        self.lines = Caption(plain, columns: columns(scale)).lines
        margin = 2 * modulePixels
    }

    /// Pixels needed under the quiet zone: the lines and a margin below them, or nothing.
    var height: Int {
        lines.isEmpty ? 0 : lines.count * BitmapFont.lineHeight * scale + margin
    }

    /// Draws the lines, each centred, from row `y` down.
    func draw(in image: inout GrayImage, y: Int) {
        for (number, line) in lines.enumerated() {
            let scalars = Array(line.unicodeScalars)
            let length = (scalars.count * BitmapFont.advance - 1) * scale
            let left = max(0, (image.width - length) / 2)
            let top = y + number * BitmapFont.lineHeight * scale
            for (index, scalar) in scalars.enumerated() {
                draw(scalar, in: &image, x: left + index * BitmapFont.advance * scale, y: top)
            }
        }
    }

    private func draw(_ scalar: Unicode.Scalar, in image: inout GrayImage, x: Int, y: Int) {
        for (row, bits) in BitmapFont.rows(of: scalar).enumerated() {
            for column in 0..<BitmapFont.glyphWidth where bits >> (BitmapFont.glyphWidth - 1 - column) & 1 == 1 {
                image.fill(x: x + column * scale, y: y + row * scale, width: scale, height: scale, shade: 0)
            }
        }
    }
}
