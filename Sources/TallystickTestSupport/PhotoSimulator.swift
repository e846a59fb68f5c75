import Glibc
package import TallystickQR

/// Makes pictures that look like photographs of a code, the same for the same seed.
package enum PhotoSimulator {
    /// Photographs a code picture lying on a textured grey table, under light that falls from one side.
    ///
    /// - `tiltPercent`: by how much the far (upper) side is shorter, 0 to 80.
    /// - `rotationDegrees`: turn of the paper, clockwise.
    /// - `blurSigma`: softness in pixels of the photograph, of which a pixel is one pixel of the code picture.
    /// - `noise`: standard deviation of the sensor's noise in grey levels.
    ///
    /// The result is about 1.4 times as wide and high as the code picture. Throws `image-too-large` where that is
    /// above the limits.
    package static func photograph(
        _ code: GrayImage,
        tiltPercent: Double = 0,
        rotationDegrees: Double = 0,
        blurSigma: Double = 0,
        noise: Double = 0,
        seed: UInt64
    ) throws(QRError) -> GrayImage {
        let width = code.width + code.width * 2 / 5
        let height = code.height + code.height * 2 / 5
        let view = View(
            width: width,
            height: height,
            center: Point(Double(width) / 2, Double(height) / 2),
            scale: 1,
            tiltPercent: tiltPercent,
            rotationDegrees: rotationDegrees
        )
        return try photograph(code, view, blurSigma: blurSigma, noise: noise, seed: seed)
    }

    /// Photographs a code picture on a large table, as a phone held far from it would.
    ///
    /// The code picture covers `areaPercent` of `width` × `height` pixels, 0.1 to 60, before it is tilted, somewhere
    /// not far from the middle; all else as for a photograph of the code alone.
    package static func scene(
        _ code: GrayImage,
        width: Int,
        height: Int,
        areaPercent: Double,
        tiltPercent: Double = 0,
        rotationDegrees: Double = 0,
        blurSigma: Double = 0,
        noise: Double = 0,
        seed: UInt64
    ) throws(QRError) -> GrayImage {
        var random = SplitMix64(seed: ~seed)
        let share = min(max(0.1, areaPercent), 60) / 100
        let area = Double(code.width) * Double(code.height)
        func middle(_ length: Int) -> Double { Double(length) * (0.44 + 0.12 * random.unit()) }
        let view = View(
            width: width,
            height: height,
            center: Point(middle(width), middle(height)),
            scale: (Double(width) * Double(height) * share / area).squareRoot(),
            tiltPercent: tiltPercent,
            rotationDegrees: rotationDegrees
        )
        return try photograph(code, view, blurSigma: blurSigma, noise: noise, seed: seed)
    }

    /// Where the camera stands.
    private struct View {
        let width: Int
        let height: Int
        let center: Point
        let scale: Double
        let tiltPercent: Double
        let rotationDegrees: Double

        /// Where the corners of the paper lie in the photograph.
        func outline(of code: GrayImage) -> Quadrilateral {
            let share = min(max(0, tiltPercent), 80) / 100
            let (halfWidth, halfHeight) = (Double(code.width) / 2 * scale, Double(code.height) / 2 * scale)
            // What leans back is not only narrower at the far side but also looks less high.
            let top = -halfHeight * (1 - share / 2)
            let angle = rotationDegrees * Double.pi / 180
            func place(_ x: Double, _ y: Double) -> Point {
                Point(center.x + x * cos(angle) - y * sin(angle), center.y + x * sin(angle) + y * cos(angle))
            }
            return Quadrilateral(
                place(-halfWidth * (1 - share), top),
                place(halfWidth * (1 - share), top),
                place(halfWidth, halfHeight),
                place(-halfWidth, halfHeight)
            )
        }
    }

    private static func photograph(
        _ code: GrayImage,
        _ view: View,
        blurSigma: Double,
        noise: Double,
        seed: UInt64
    ) throws(QRError) -> GrayImage {
        var random = SplitMix64(seed: seed)
        let (width, height) = (view.width, view.height)
        let table = Table(random: &random)
        let light = Light(width: width, height: height, random: &random)
        let back = Homography(unitSquareTo: view.outline(of: code)).inverse

        var pixels = [UInt8](repeating: 0, count: try GrayImage(width: width, height: height, shade: 0).pixels.count)
        for y in 0..<height {
            for x in 0..<width {
                let (px, py) = (Double(x) + 0.5, Double(y) + 0.5)
                var shade = 0.0
                if let unit = back.apply(px, py), (0...1).contains(unit.x), (0...1).contains(unit.y) {
                    let ink = code.sample(Point(unit.x * Double(code.width), unit.y * Double(code.height)))
                    shade = 32 + ink * 0.78  // ink is not black and paper not white
                } else {
                    shade = table.shade(px, py)
                }
                pixels[y * width + x] = byte(shade * light.strength(px, py))
            }
        }
        let soft = try GrayImage(width: width, height: height, pixels: pixels).blurred(sigma: blurSigma)
        return noise > 0 ? try noisy(soft, noise, &random) : soft
    }

    static func noisy(
        _ picture: GrayImage,
        _ noise: Double,
        _ random: inout SplitMix64
    ) throws(QRError) -> GrayImage {
        var pixels = picture.pixels
        for index in pixels.indices { pixels[index] = byte(Double(pixels[index]) + random.normal() * noise) }
        return try GrayImage(width: picture.width, height: picture.height, pixels: pixels)
    }

    static func byte(_ shade: Double) -> UInt8 {
        shade > 0 ? UInt8(min(255, shade.rounded())) : 0
    }
}

/// The table under the paper: mid-grey, mottled, with a grain.
private struct Table {
    private let knots: [Double]
    private static let size = 64

    init(random: inout SplitMix64) {
        var knots: [Double] = []
        for _ in 0..<Table.size * Table.size { knots.append(random.unit() - 0.5) }
        self.knots = knots
    }

    func shade(_ x: Double, _ y: Double) -> Double {
        118 + 44 * noise(x / 53, y / 61) + 26 * noise(x / 4, y / 29)
    }

    private func noise(_ x: Double, _ y: Double) -> Double {
        let (column, row) = (Int(x), Int(y))
        let (fx, fy) = (x - Double(column), y - Double(row))
        let upper = knot(column, row) * (1 - fx) + knot(column + 1, row) * fx
        let lower = knot(column, row + 1) * (1 - fx) + knot(column + 1, row + 1) * fx
        return upper * (1 - fy) + lower * fy
    }

    private func knot(_ column: Int, _ row: Int) -> Double {
        knots[row % Table.size * Table.size + column % Table.size]
    }
}

/// Light from one side that also falls off towards the corners.
private struct Light {
    private let width: Double
    private let height: Double
    private let towardsX: Double
    private let towardsY: Double

    init(width: Int, height: Int, random: inout SplitMix64) {
        self.width = Double(width)
        self.height = Double(height)
        let angle = random.unit() * 2 * Double.pi
        (towardsX, towardsY) = (cos(angle), sin(angle))
    }

    func strength(_ x: Double, _ y: Double) -> Double {
        let (u, v) = (x / width - 0.5, y / height - 0.5)
        return 0.92 + 0.3 * (u * towardsX + v * towardsY) - 0.25 * (u * u + v * v)
    }
}

/// Random numbers that are the same on every machine for a seed (Steele, Lea and Flood 2014).
struct SplitMix64 {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Evenly from 0 up to, but not, 1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Nearly normal: the sum of four even numbers, scaled to a standard deviation of 1.
    mutating func normal() -> Double {
        let bits = next()
        let sum = Double(bits & 0xFFFF) + Double(bits >> 16 & 0xFFFF) + Double(bits >> 32 & 0xFFFF) + Double(bits >> 48)
        return (sum / 65_535 - 2) * 3.0.squareRoot()
    }
}
