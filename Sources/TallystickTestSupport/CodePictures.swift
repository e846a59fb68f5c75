import TallystickQR

/// Pictures of codes, ours and foreign, for tests of what reads them.
package enum CodePictures {
    /// A PNG file with a code for each text side by side; with none, an empty white picture.
    ///
    /// Texts are alphanumeric (ISO/IEC 18004 section 7.4.4); throws as `QRMatrix` does.
    package static func png(_ texts: String...) throws -> [UInt8] {
        try picture(texts).png()
    }

    /// The same as a JPEG file.
    package static func jpeg(_ texts: String...) throws -> [UInt8] {
        try picture(texts).jpeg(quality: 80)
    }

    /// A PNG file of a symbol that was drawn elsewhere: its rows, with `#` for dark modules.
    package static func png(rows: [String]) throws -> [UInt8] {
        let side = (rows.count + 2 * QRMatrix.quietZone) * modulePixels
        var image = try GrayImage(width: side, height: side, shade: 255)
        for (y, row) in rows.enumerated() {
            for (x, module) in row.enumerated() where module == "#" {
                image.fill(
                    x: (x + QRMatrix.quietZone) * modulePixels,
                    y: (y + QRMatrix.quietZone) * modulePixels,
                    width: modulePixels,
                    height: modulePixels,
                    shade: 0
                )
            }
        }
        return try image.png()
    }

    private static let modulePixels = QRMatrix.minimumModulePixels

    private static func picture(_ texts: [String]) throws(QRError) -> GrayImage {
        var codes: [GrayImage] = []
        for text in texts { codes.append(try QRMatrix(alphanumeric: text).picture()) }
        let width = codes.reduce(0) { $0 + $1.width }
        let height = codes.map(\.height).max() ?? 0
        var image = try GrayImage(width: max(width, 400), height: max(height, 400), shade: 255)
        var x = 0
        for code in codes {
            image.draw(code, x: x, y: 0)
            x += code.width
        }
        return image
    }
}
