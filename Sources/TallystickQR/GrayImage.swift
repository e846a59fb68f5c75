/// A picture in shades of grey, one byte a pixel: 0 black, 255 white.
package struct GrayImage: Equatable, Sendable {
    /// Pixels in a row, 1 to 12,000.
    package let width: Int
    /// Rows, 1 to 12,000.
    package let height: Int
    /// The rows from top to bottom, `width` × `height` bytes.
    package private(set) var pixels: [UInt8]

    /// The longest side a picture may have, in pixels (design section 14).
    package static let maximumSide = 12_000
    /// The most pixels a picture may have (design section 14).
    package static let maximumPixels = 50_000_000

    /// Takes finished pixels; throws `invalid-size` or `image-too-large` where they do not fit the dimensions.
    package init(width: Int, height: Int, pixels: [UInt8]) throws(QRError) {
        try GrayImage.check(width: width, height: height)
        guard pixels.count == width * height else {
            throw QRError(.invalidSize, "expected \(width * height) pixels, got \(pixels.count)")
        }
        self.init(width, height, pixels)
    }

    /// Makes a picture of one shade; throws `invalid-size` or `image-too-large`.
    package init(width: Int, height: Int, shade: UInt8) throws(QRError) {
        try GrayImage.check(width: width, height: height)
        self.init(width, height, [UInt8](repeating: shade, count: width * height))
    }

    /// Takes what this module has computed: dimensions within the limits, and as many pixels as they say.
    init(_ width: Int, _ height: Int, _ pixels: [UInt8]) {
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    /// The shade at a place, or nil outside the picture.
    package subscript(x: Int, y: Int) -> UInt8? {
        guard (0..<width).contains(x), (0..<height).contains(y) else { return nil }
        return pixels[y * width + x]
    }

    /// Paints a rectangle, of which only the part inside the picture counts.
    package mutating func fill(x: Int, y: Int, width columns: Int, height rows: Int, shade: UInt8) {
        let left = min(max(0, x), width)
        let right = min(max(left, x.addingReportingOverflow(columns).partialValue), width)
        let top = min(max(0, y), height)
        let bottom = min(max(top, y.addingReportingOverflow(rows).partialValue), height)
        for row in top..<bottom {
            for index in (row * width + left)..<(row * width + right) {
                pixels[index] = shade
            }
        }
    }

    /// Copies another picture into this one with its corner at `x`, `y`; what would lie outside is left out.
    package mutating func draw(_ other: GrayImage, x: Int, y: Int) {
        for row in 0..<other.height {
            let (target, overflow) = y.addingReportingOverflow(row)
            guard !overflow, (0..<height).contains(target) else { continue }
            for column in 0..<other.width {
                let (place, overflow) = x.addingReportingOverflow(column)
                guard !overflow, (0..<width).contains(place) else { continue }
                pixels[target * width + place] = other.pixels[row * other.width + column]
            }
        }
    }

    /// The picture with black and white exchanged.
    package func inverted() -> GrayImage {
        GrayImage(width, height, pixels.map { 255 - $0 })
    }

    /// Throws unless both sides are at least 1 and within the limits of design section 14.
    static func check(width: Int, height: Int) throws(QRError) {
        guard width > 0, height > 0 else {
            throw QRError(.invalidSize, "expected a picture of at least 1 × 1 pixel, got \(width) × \(height)")
        }
        guard width <= maximumSide, height <= maximumSide, width * height <= maximumPixels else {
            let limit = "\(maximumSide) pixels a side and \(maximumPixels) in all"
            throw QRError(.imageTooLarge, "expected at most \(limit), got \(width) × \(height)")
        }
    }
}
