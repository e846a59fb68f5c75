import Glibc

/// For every output position along one axis, which input positions count and how much.
///
/// Scaling and blurring are both this: two passes of weighted sums, one along rows and one along columns.
struct FilterTaps {
    /// Output positions.
    let count: Int
    /// Weights for each output position.
    let width: Int
    /// The first input position of each output position.
    let starts: [Int]
    /// The weights, `width` for each output position, which add up to `one`.
    let weights: [Int]

    static let shift = 14
    static let one = 1 << shift

    /// Weights that stretch or shrink `input` positions to `output`, with a triangle as wide as one output position.
    static func scaling(from input: Int, to output: Int) -> FilterTaps {
        let ratio = Double(input) / Double(output)
        let radius = max(1, ratio)
        return FilterTaps(input: input, output: output, radius: radius) { position, sample in
            let center = (Double(position) + 0.5) * ratio - 0.5
            return max(0, 1 - abs(Double(sample) - center) / radius)
        } center: { position in
            (Double(position) + 0.5) * ratio - 0.5
        }
    }

    /// Weights of a Gaussian with standard deviation `sigma` in pixels.
    static func blurring(_ length: Int, sigma: Double) -> FilterTaps {
        FilterTaps(input: length, output: length, radius: sigma * 3) { position, sample in
            let distance = Double(sample - position)
            return exp(-distance * distance / (2 * sigma * sigma))
        } center: { position in
            Double(position)
        }
    }

    private init(
        input: Int,
        output: Int,
        radius: Double,
        weight: (_ position: Int, _ sample: Int) -> Double,
        center: (_ position: Int) -> Double
    ) {
        count = output
        width = min(input, Int(radius.rounded(.up)) * 2 + 1)
        var starts: [Int] = []
        var weights: [Int] = []
        starts.reserveCapacity(output)
        weights.reserveCapacity(output * width)
        for position in 0..<output {
            let ideal = Int((center(position) - radius).rounded(.up))
            let start = min(max(0, ideal), input - width)
            let exact = (0..<width).map { weight(position, start + $0) }
            let sum = exact.reduce(0, +)
            var rounded = exact.map { Int(($0 / sum * Double(FilterTaps.one)).rounded()) }
            // A plain white area must stay exactly white: the largest weight takes up the rounding.
            if let largest = rounded.indices.max(by: { rounded[$0] < rounded[$1] }) {
                rounded[largest] += FilterTaps.one - rounded.reduce(0, +)
            }
            starts.append(start)
            weights += rounded
        }
        self.starts = starts
        self.weights = weights
    }
}

extension GrayImage {
    /// The picture at another size: smooth when larger, averaged when smaller.
    ///
    /// Throws `invalid-size` or `image-too-large`.
    package func scaled(width newWidth: Int, height newHeight: Int) throws(QRError) -> GrayImage {
        try GrayImage.check(width: newWidth, height: newHeight)
        return resampled(newWidth, newHeight)
    }

    /// The picture softened by a Gaussian of standard deviation `sigma` pixels, 0.1 to 50; outside that, unchanged.
    package func blurred(sigma: Double) -> GrayImage {
        guard (0.1...50).contains(sigma) else { return self }
        return filtered(
            horizontal: .blurring(width, sigma: sigma),
            vertical: .blurring(height, sigma: sigma)
        )
    }

    /// The picture at a size already known to be within the limits.
    func resampled(_ newWidth: Int, _ newHeight: Int) -> GrayImage {
        guard newWidth != width || newHeight != height else { return self }
        return filtered(
            horizontal: .scaling(from: width, to: newWidth),
            vertical: .scaling(from: height, to: newHeight)
        )
    }

    private func filtered(horizontal: FilterTaps, vertical: FilterTaps) -> GrayImage {
        let rows = GrayImage.alongRows(pixels, width: width, height: height, taps: horizontal)
        let result = GrayImage.alongColumns(rows, width: horizontal.count, taps: vertical)
        return GrayImage(horizontal.count, vertical.count, result)
    }

    // Plain loops and wrapping arithmetic: every sum is at most 255 × 2^14, and these run over millions of pixels.
    private static func alongRows(_ source: [UInt8], width: Int, height: Int, taps: FilterTaps) -> [UInt8] {
        var target = [UInt8](repeating: 0, count: taps.count * height)
        var index = 0
        var row = 0
        while row < height {
            let line = row &* width
            var position = 0
            while position < taps.count {
                let start = line &+ taps.starts[position]
                let first = position &* taps.width
                var sum = FilterTaps.one / 2
                var tap = 0
                while tap < taps.width {
                    sum = sum &+ Int(source[start &+ tap]) &* taps.weights[first &+ tap]
                    tap = tap &+ 1
                }
                target[index] = UInt8(clamping: sum >> FilterTaps.shift)
                index = index &+ 1
                position = position &+ 1
            }
            row = row &+ 1
        }
        return target
    }

    private static func alongColumns(_ source: [UInt8], width: Int, taps: FilterTaps) -> [UInt8] {
        var target = [UInt8](repeating: 0, count: taps.count * width)
        var index = 0
        var position = 0
        while position < taps.count {
            let start = taps.starts[position] &* width
            let first = position &* taps.width
            var column = 0
            while column < width {
                var sum = FilterTaps.one / 2
                var place = start &+ column
                var tap = 0
                while tap < taps.width {
                    sum = sum &+ Int(source[place]) &* taps.weights[first &+ tap]
                    place = place &+ width
                    tap = tap &+ 1
                }
                target[index] = UInt8(clamping: sum >> FilterTaps.shift)
                index = index &+ 1
                column = column &+ 1
            }
            position = position &+ 1
        }
        return target
    }
}
