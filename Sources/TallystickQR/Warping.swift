import Glibc

extension GrayImage {
    /// One side of a picture.
    package enum Side: String, Sendable, CaseIterable {
        /// The first row.
        case top
        /// The last column.
        case right
        /// The last row.
        case bottom
        /// The first column.
        case left
    }

    /// One corner of a picture.
    package enum Corner: String, Sendable, CaseIterable {
        /// First row, first column.
        case topLeft = "top-left"
        /// First row, last column.
        case topRight = "top-right"
        /// Last row, last column.
        case bottomRight = "bottom-right"
        /// Last row, first column.
        case bottomLeft = "bottom-left"
    }

    /// The picture with one side shortened to a keystone by `percent` of its length, 0 to 90.
    ///
    /// The outside is filled with the nearest edge, since a white border makes the decoder lose more codes than the
    /// warp finds (facts on QR decoding, section 5).
    package func keystoned(_ side: Side, percent: Double) -> GrayImage {
        let share = min(max(0, percent), 90) / 200
        let (w, h) = (Double(width), Double(height))
        var quad = outline
        switch side {
        case .top: (quad.topLeft.x, quad.topRight.x) = (w * share, w * (1 - share))
        case .bottom: (quad.bottomLeft.x, quad.bottomRight.x) = (w * share, w * (1 - share))
        case .left: (quad.topLeft.y, quad.bottomLeft.y) = (h * share, h * (1 - share))
        case .right: (quad.topRight.y, quad.bottomRight.y) = (h * share, h * (1 - share))
        }
        return warped(to: quad)
    }

    /// The picture with one corner pulled in along both sides by `percent` of their lengths, 0 to 45.
    package func keystoned(_ corner: Corner, percent: Double) -> GrayImage {
        let share = min(max(0, percent), 45) / 100
        let (w, h) = (Double(width), Double(height))
        var quad = outline
        switch corner {
        case .topLeft: quad.topLeft = Point(w * share, h * share)
        case .topRight: quad.topRight = Point(w * (1 - share), h * share)
        case .bottomRight: quad.bottomRight = Point(w * (1 - share), h * (1 - share))
        case .bottomLeft: quad.bottomLeft = Point(w * share, h * (1 - share))
        }
        return warped(to: quad)
    }

    private var outline: Quadrilateral {
        let (w, h) = (Double(width), Double(height))
        return Quadrilateral(Point(0, 0), Point(w, 0), Point(w, h), Point(0, h))
    }

    private func warped(to quad: Quadrilateral) -> GrayImage {
        let back = Homography(unitSquareTo: quad).inverse.scaled(by: Double(width), Double(height))
        return drawn(width, height) { x, y in back.fraction(x, y) }
    }

    /// The picture turned clockwise by 45°, on a canvas that holds all of it, filled with the nearest edge.
    package func turned45() -> GrayImage {
        let half = 0.5.squareRoot()
        // The canvas of a very large picture stays within the limits; what is cut off then are corners.
        let side = min(GrayImage.maximumSide, Int((Double(width + height) * half).rounded(.up)))
        let (middle, centerX, centerY) = (Double(side) / 2, Double(width) / 2, Double(height) / 2)
        return drawn(side, side) { x, y in
            let (dx, dy) = ((x - middle) * half, (y - middle) * half)
            return (centerX + dx + dy, centerY + dy - dx, 1)
        }
    }

    /// A picture of which each pixel is looked up in this one, between four pixels by distance.
    ///
    /// `place` gets the middle of a pixel and gives the coordinates to look at as two numerators and a denominator.
    @inline(__always)
    private func drawn(
        _ newWidth: Int,
        _ newHeight: Int,
        _ place: (_ x: Double, _ y: Double) -> (Double, Double, Double)
    ) -> GrayImage {
        let (width, height) = (width, height)
        // In 256ths of a pixel, counted from the middle of the first.
        let (right, bottom) = (Double((width - 1) * 256), Double((height - 1) * 256))
        let result = unsafe GrayImage.bytes(newWidth * newHeight) { target in
            unsafe pixels.withUnsafeBufferPointer { source in
                var index = 0
                for row in 0..<newHeight {
                    for column in 0..<newWidth {
                        let (u, v, w) = place(Double(column) + 0.5, Double(row) + 0.5)
                        let scale = 256 / w
                        let x = Int(GrayImage.clamp(u * scale - 128, to: right))
                        let y = Int(GrayImage.clamp(v * scale - 128, to: bottom))
                        let upper = (y >> 8) &* width
                        let lower = min(y >> 8 &+ 1, height &- 1) &* width
                        let (first, second) = (x >> 8, min(x >> 8 &+ 1, width &- 1))
                        let (fx, fy) = (x & 255, y & 255)
                        let above =
                            unsafe Int(source[upper &+ first]) &* (256 &- fx) &+ Int(source[upper &+ second]) &* fx
                        let below =
                            unsafe Int(source[lower &+ first]) &* (256 &- fx) &+ Int(source[lower &+ second]) &* fx
                        let sum = above &* (256 &- fy) &+ below &* fy
                        unsafe target[index] = UInt8(truncatingIfNeeded: (sum &+ 32_768) >> 16)
                        index &+= 1
                    }
                }
            }
        }
        return GrayImage(newWidth, newHeight, result)
    }

    // Written so that NaN becomes 0: converting it to an integer would trap.
    @inline(__always)
    private static func clamp(_ value: Double, to limit: Double) -> Double {
        value > 0 ? (value < limit ? value : limit) : 0
    }

    /// The shade between four pixels, by distance, at a point in pixel coordinates; points outside take the edge.
    package func sample(_ point: Point) -> Double {
        let x = GrayImage.clamp(point.x - 0.5, to: Double(width - 1))
        let y = GrayImage.clamp(point.y - 0.5, to: Double(height - 1))
        let (left, top) = (Int(x), Int(y))
        let (right, bottom) = (min(left + 1, width - 1), min(top + 1, height - 1))
        let (fx, fy) = (x - Double(left), y - Double(top))
        let upper = Double(pixels[top * width + left]) * (1 - fx) + Double(pixels[top * width + right]) * fx
        let lower = Double(pixels[bottom * width + left]) * (1 - fx) + Double(pixels[bottom * width + right]) * fx
        return upper * (1 - fy) + lower * fy
    }
}
