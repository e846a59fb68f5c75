import Glibc
package import TallystickQR

/// What else happens between a code and a decoder; the same for the same seed.
extension PhotoSimulator {
    /// Adds a sensor's noise of this standard deviation in grey levels.
    package static func noisy(_ picture: GrayImage, _ noise: Double, seed: UInt64) throws(QRError) -> GrayImage {
        var random = SplitMix64(seed: seed)
        return try noisy(picture, noise, &random)
    }

    /// Burns a round light into the picture: white inside `radius` pixels, fading over a fifth of that, centred
    /// somewhere in the middle fifth.
    package static func glared(_ picture: GrayImage, radius: Double, seed: UInt64) throws(QRError) -> GrayImage {
        var random = SplitMix64(seed: seed)
        let x = Double(picture.width) * (0.4 + 0.2 * random.unit())
        let y = Double(picture.height) * (0.4 + 0.2 * random.unit())
        return try mapped(picture) { column, row, shade in
            let distance = ((column - x) * (column - x) + (row - y) * (row - y)).squareRoot()
            let light = 1 - (distance - radius) / (radius / 5)
            return shade + (255 - shade) * min(max(0, light), 1)
        }
    }

    /// Lays the bands over the picture that a camera sees on a screen: `strength` 0 to 1, about 9 pixels apart.
    package static func banded(_ picture: GrayImage, strength: Double, seed: UInt64) throws(QRError) -> GrayImage {
        var random = SplitMix64(seed: seed)
        let angle = random.unit() * Double.pi
        let period = 7 + 4 * random.unit()
        let (alongX, alongY) = (cos(angle) * 2 * Double.pi / period, sin(angle) * 2 * Double.pi / period)
        return try mapped(picture) { column, row, shade in
            shade * (1 - strength * (0.5 + 0.5 * sin(column * alongX + row * alongY)))
        }
    }

    /// Squeezes black and white together until only `levels` grey levels on either side of the middle are left.
    package static func faded(_ picture: GrayImage, levels: Double) throws(QRError) -> GrayImage {
        try mapped(picture) { _, _, shade in 128 + (shade - 127.5) / 127.5 * levels }
    }

    /// Moves the camera along a row while the shutter is open: each pixel is the mean of `length`.
    package static func smeared(_ picture: GrayImage, length: Int) throws(QRError) -> GrayImage {
        let count = max(1, length)
        return try mapped(picture) { column, row, _ in
            var sum = 0.0
            for step in 0..<count {
                sum += Double(picture[min(Int(column) + step, picture.width - 1), Int(row)] ?? 0)
            }
            return sum / Double(count)
        }
    }

    /// Cuts a frame of `pixels` off the picture and lays what is left on a plain dark ground as wide.
    package static func cropped(_ picture: GrayImage, by pixels: Int, ground: UInt8) throws(QRError) -> GrayImage {
        let edge = max(0, pixels)
        var inner = try GrayImage(width: picture.width - 2 * edge, height: picture.height - 2 * edge, shade: ground)
        inner.draw(picture, x: -edge, y: -edge)
        var result = try GrayImage(width: picture.width, height: picture.height, shade: ground)
        result.draw(inner, x: edge, y: edge)
        return result
    }

    private static func mapped(
        _ picture: GrayImage,
        _ shade: (_ x: Double, _ y: Double, _ shade: Double) -> Double
    ) throws(QRError) -> GrayImage {
        var pixels = picture.pixels
        var index = 0
        for y in 0..<picture.height {
            for x in 0..<picture.width {
                pixels[index] = byte(shade(Double(x), Double(y), Double(pixels[index])))
                index += 1
            }
        }
        return try GrayImage(width: picture.width, height: picture.height, pixels: pixels)
    }
}
