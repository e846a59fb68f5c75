/// Modules read back from a finished picture that is not made of pixels, to be decoded before it is given out.
struct ModuleGrid: Equatable {
    /// Modules in a row, quiet zone included.
    let width: Int
    /// Rows of modules, quiet zone included.
    let height: Int
    private var dark: [Bool]

    /// Makes a light grid; nil where it is larger than any symbol of version 40 with its quiet zone and half a cell.
    init?(width: Int, height: Int) {
        guard (1...186).contains(width), (1...186).contains(height) else { return nil }
        self.width = width
        self.height = height
        dark = [Bool](repeating: false, count: width * height)
    }

    /// Darkens a module; false where it is outside or dark already.
    mutating func setDark(_ x: Int, _ y: Int) -> Bool {
        guard (0..<width).contains(x), (0..<height).contains(y), !dark[y * width + x] else { return false }
        dark[y * width + x] = true
        return true
    }

    /// The grid as a picture with 8 pixels a module.
    func picture() throws(QRError) -> GrayImage {
        let size = QRMatrix.minimumModulePixels
        var image = try GrayImage(width: width * size, height: height * size, shade: 255)
        for y in 0..<height {
            for x in 0..<width where dark[y * width + x] {
                image.fill(x: x * size, y: y * size, width: size, height: size, shade: 0)
            }
        }
        return image
    }
}
