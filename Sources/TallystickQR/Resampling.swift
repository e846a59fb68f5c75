import Glibc

/// For every output position along one axis, which input positions count and how much.
struct FilterTaps {
    /// Output positions.
    let count: Int
    /// Weights for each output position.
    let width: Int
    /// The first input position of each output position; `width` of them from there are inside the input.
    let starts: [Int]
    /// The weights, `width` for each output position, which add up to `one`.
    let weights: [Int32]

    static let shift: Int32 = 14
    static let one: Int32 = 1 << shift

    /// Weights that stretch or shrink `input` positions to `output`, with a triangle as wide as one output position.
    init(scaling input: Int, to output: Int) {
        let ratio = Double(input) / Double(output)
        let radius = max(1, ratio)
        count = output
        width = min(input, Int(radius.rounded(.up)) * 2 + 1)
        var starts: [Int] = []
        var weights: [Int32] = []
        starts.reserveCapacity(output)
        weights.reserveCapacity(output * width)
        for position in 0..<output {
            let center = (Double(position) + 0.5) * ratio - 0.5
            let start = min(max(0, Int((center - radius).rounded(.up))), input - width)
            let exact = (0..<width).map { max(0, 1 - abs(Double(start + $0) - center) / radius) }
            starts.append(start)
            weights += FilterTaps.rounded(exact)
        }
        self.starts = starts
        self.weights = weights
    }

    /// The weights of a Gaussian with standard deviation `sigma`, centred: an odd number of them.
    static func gaussian(sigma: Double) -> [Int32] {
        let radius = Int((sigma * 3).rounded(.up))
        return rounded((-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) })
    }

    /// The weights as integers that add up to `one`.
    private static func rounded(_ exact: [Double]) -> [Int32] {
        let sum = exact.reduce(0, +)
        var weights = exact.map { Int32(($0 / sum * Double(one)).rounded()) }
        // A plain white area must stay exactly white: the largest weight takes up the rounding.
        if let largest = weights.indices.max(by: { weights[$0] < weights[$1] }) {
            weights[largest] += one - weights.reduce(0, +)
        }
        return weights
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

    /// The picture at a size already known to be within the limits.
    func resampled(_ newWidth: Int, _ newHeight: Int) -> GrayImage {
        guard newWidth != width || newHeight != height else { return self }
        let horizontal = FilterTaps(scaling: width, to: newWidth)
        let vertical = FilterTaps(scaling: height, to: newHeight)
        // Columns are the cheap direction (whole rows are added up): they come where there is more to do.
        return newHeight > height
            ? alongRows(horizontal).alongColumns(vertical) : alongColumns(vertical).alongRows(horizontal)
    }

    /// The picture softened by a Gaussian of standard deviation `sigma` pixels, 0.1 to 50; outside that, unchanged.
    ///
    /// Places outside count as the nearest edge.
    package func blurred(sigma: Double) -> GrayImage {
        guard (0.1...50).contains(sigma) else { return self }
        let weights = FilterTaps.gaussian(sigma: sigma)
        let radius = weights.count / 2
        let (width, height) = (width, height)
        var sums = [Int32](repeating: 0, count: width)
        var padded = [UInt8](repeating: 0, count: width + 2 * radius)
        let result = unsafe GrayImage.bytes(width * height) { target in
            unsafe pixels.withUnsafeBufferPointer { source in
                unsafe sums.withUnsafeMutableBufferPointer { sums in
                    unsafe padded.withUnsafeMutableBufferPointer { padded in
                        for row in 0..<height {
                            unsafe sums.update(repeating: FilterTaps.one / 2)
                            for tap in 0..<weights.count {
                                let from = min(max(0, row + tap - radius), height - 1)
                                unsafe GrayImage.add(source, at: from * width, times: weights[tap], to: sums)
                            }
                            for column in 0..<width {
                                unsafe padded[radius + column] = UInt8(
                                    truncatingIfNeeded: sums[column] >> FilterTaps.shift
                                )
                            }
                            for place in 0..<radius {
                                unsafe padded[place] = padded[radius]
                                unsafe padded[radius + width + place] = padded[radius + width - 1]
                            }
                            unsafe sums.update(repeating: FilterTaps.one / 2)
                            let line = UnsafeBufferPointer(padded)
                            for tap in 0..<weights.count {
                                unsafe GrayImage.add(line, at: tap, times: weights[tap], to: sums)
                            }
                            for column in 0..<width {
                                unsafe target[row * width + column] = UInt8(
                                    truncatingIfNeeded: sums[column] >> FilterTaps.shift
                                )
                            }
                        }
                    }
                }
            }
        }
        return GrayImage(width, height, result)
    }

    // Wrapping arithmetic is exact here: weights are not negative and add up to 2^14, so a sum is at most 255 × 2^14.

    private func alongRows(_ taps: FilterTaps) -> GrayImage {
        let (width, height, count) = (width, height, taps.count)
        let result = unsafe GrayImage.bytes(count * height) { target in
            unsafe pixels.withUnsafeBufferPointer { source in
                unsafe taps.starts.withUnsafeBufferPointer { starts in
                    unsafe taps.weights.withUnsafeBufferPointer { weights in
                        for row in 0..<height {
                            for position in 0..<count {
                                let start = unsafe row &* width &+ starts[position]
                                let first = position &* taps.width
                                var sum = FilterTaps.one / 2
                                var tap = 0
                                while tap < taps.width {
                                    unsafe sum = sum &+ Int32(source[start &+ tap]) &* weights[first &+ tap]
                                    tap &+= 1
                                }
                                unsafe target[row &* count &+ position] = UInt8(
                                    truncatingIfNeeded: sum >> FilterTaps.shift
                                )
                            }
                        }
                    }
                }
            }
        }
        return GrayImage(count, height, result)
    }

    private func alongColumns(_ taps: FilterTaps) -> GrayImage {
        let width = width
        var sums = [Int32](repeating: 0, count: width)
        let result = unsafe GrayImage.bytes(width * taps.count) { target in
            unsafe pixels.withUnsafeBufferPointer { source in
                unsafe sums.withUnsafeMutableBufferPointer { sums in
                    for position in 0..<taps.count {
                        unsafe sums.update(repeating: FilterTaps.one / 2)
                        for tap in 0..<taps.width {
                            let weight = taps.weights[position * taps.width + tap]
                            guard weight != 0 else { continue }
                            let from = (taps.starts[position] + tap) * width
                            unsafe GrayImage.add(source, at: from, times: weight, to: sums)
                        }
                        for column in 0..<width {
                            unsafe target[position &* width &+ column] = UInt8(
                                truncatingIfNeeded: sums[column] >> FilterTaps.shift
                            )
                        }
                    }
                }
            }
        }
        return GrayImage(width, taps.count, result)
    }

    /// Adds a run of pixels from `start`, times a weight, to as many sums; both must have them.
    @inline(__always)
    private static func add(
        _ source: UnsafeBufferPointer<UInt8>,
        at start: Int,
        times weight: Int32,
        to sums: UnsafeMutableBufferPointer<Int32>
    ) {
        for index in 0..<sums.count {
            unsafe sums[index] = sums[index] &+ Int32(source[start &+ index]) &* weight
        }
    }

    /// An array of `count` bytes, all of which the body writes.
    static func bytes(_ count: Int, _ body: (UnsafeMutableBufferPointer<UInt8>) -> Void) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            unsafe body(buffer)
            filled = count
        }
    }
}
