extension GrayImage {
    /// The picture in black and white: black where a pixel is darker than the mean around it by more than `margin`.
    ///
    /// `window` is the side of the square around the pixel, in pixels; outside the picture its nearest edge counts.
    package func thresholded(window: Int, margin: Int = 0) -> GrayImage {
        // The largest sum, 255 times a window of 2,001 squared, fits the 32 bits.
        let radius = min(max(1, window / 2), 1_000)
        let (width, height) = (width, height)
        let area = Int32((2 * radius + 1) * (2 * radius + 1))
        let allowance = Int32(min(max(-255, margin), 255)) * area
        var columns = [Int32](repeating: 0, count: width)
        let result = unsafe GrayImage.bytes(width * height) { target in
            unsafe pixels.withUnsafeBufferPointer { source in
                unsafe columns.withUnsafeMutableBufferPointer { columns in
                    func row(_ y: Int) -> Int { min(max(0, y), height - 1) * width }
                    for y in -radius...radius {
                        let line = row(y)
                        for x in 0..<width { unsafe columns[x] &+= Int32(source[line + x]) }
                    }
                    for y in 0..<height {
                        var sum: Int32 = 0
                        for x in -radius...radius { unsafe sum &+= columns[min(max(0, x), width - 1)] }
                        for x in 0..<width {
                            let value = unsafe Int32(source[y &* width &+ x]) &* area
                            unsafe target[y &* width &+ x] = value < sum &- allowance ? 0 : 255
                            unsafe sum &+= columns[min(x &+ radius &+ 1, width &- 1)]
                            unsafe sum &-= columns[max(x &- radius, 0)]
                        }
                        let (next, last) = (row(y + radius + 1), row(y - radius))
                        for x in 0..<width {
                            unsafe columns[x] &+= Int32(source[next &+ x]) &- Int32(source[last &+ x])
                        }
                    }
                }
            }
        }
        return GrayImage(width, height, result)
    }
}
