/// A point in pixels, y downwards.
package struct Point: Equatable, Sendable {
    /// Pixels from the left edge.
    package var x: Double
    /// Pixels from the top edge.
    package var y: Double

    /// Makes a point.
    package init(_ x: Double, _ y: Double) {
        self.x = x
        self.y = y
    }
}

/// Four corners in the order top left, top right, bottom right, bottom left.
package struct Quadrilateral: Equatable, Sendable {
    /// The corners.
    package var topLeft, topRight, bottomRight, bottomLeft: Point

    /// Makes a quadrilateral from its corners.
    package init(_ topLeft: Point, _ topRight: Point, _ bottomRight: Point, _ bottomLeft: Point) {
        self.topLeft = topLeft
        self.topRight = topRight
        self.bottomRight = bottomRight
        self.bottomLeft = bottomLeft
    }
}

/// The change of view from one plane to another, as a 3 × 3 matrix.
package struct Homography: Equatable, Sendable {
    private var a, b, c, d, e, f, g, h, i: Double

    /// The view under which the unit square becomes the quadrilateral (Heckbert 1989, section 2.2.3).
    ///
    /// Three corners on a line give a degenerate view, under which points map to nil or anywhere.
    package init(unitSquareTo quad: Quadrilateral) {
        let (p0, p1, p2, p3) = (quad.topLeft, quad.topRight, quad.bottomRight, quad.bottomLeft)
        let (dx1, dx2, dx3) = (p1.x - p2.x, p3.x - p2.x, p0.x - p1.x + p2.x - p3.x)
        let (dy1, dy2, dy3) = (p1.y - p2.y, p3.y - p2.y, p0.y - p1.y + p2.y - p3.y)
        let determinant = dx1 * dy2 - dx2 * dy1
        g = determinant == 0 ? 0 : (dx3 * dy2 - dx2 * dy3) / determinant
        h = determinant == 0 ? 0 : (dx1 * dy3 - dx3 * dy1) / determinant
        a = p1.x - p0.x + g * p1.x
        b = p3.x - p0.x + h * p3.x
        c = p0.x
        d = p1.y - p0.y + g * p1.y
        e = p3.y - p0.y + h * p3.y
        f = p0.y
        i = 1
    }

    /// The view back, up to a common factor that does not matter.
    package var inverse: Homography {
        var result = self
        result.a = e * i - f * h
        result.b = c * h - b * i
        result.c = b * f - c * e
        result.d = f * g - d * i
        result.e = a * i - c * g
        result.f = c * d - a * f
        result.g = d * h - e * g
        result.h = b * g - a * h
        result.i = a * e - b * d
        return result
    }

    /// Where a point comes to lie, or nil where it is infinitely far.
    package func apply(_ x: Double, _ y: Double) -> Point? {
        let w = g * x + h * y + i
        guard w != 0 else { return nil }
        let point = Point((a * x + b * y + c) / w, (d * x + e * y + f) / w)
        return point.x.isFinite && point.y.isFinite ? point : nil
    }
}

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

    // Written so that NaN becomes 0: converting it to an integer would trap.
    private static func clamp(_ value: Double, to limit: Double) -> Double {
        value > 0 ? (value < limit ? value : limit) : 0
    }

    /// The picture with one side shortened to a keystone by `percent` of its length, 0 to 90.
    ///
    /// The outside is filled with the nearest edge, since a white border makes the decoder lose more codes than the
    /// warp finds (facts on QR decoding, section 5).
    package func keystoned(_ side: Side, percent: Double) -> GrayImage {
        let share = min(max(0, percent), 90) / 200
        let (w, h) = (Double(width), Double(height))
        var quad = Quadrilateral(Point(0, 0), Point(w, 0), Point(w, h), Point(0, h))
        switch side {
        case .top: (quad.topLeft.x, quad.topRight.x) = (w * share, w * (1 - share))
        case .bottom: (quad.bottomLeft.x, quad.bottomRight.x) = (w * share, w * (1 - share))
        case .left: (quad.topLeft.y, quad.bottomLeft.y) = (h * share, h * (1 - share))
        case .right: (quad.topRight.y, quad.bottomRight.y) = (h * share, h * (1 - share))
        }
        let back = Homography(unitSquareTo: quad).inverse
        var warped = pixels
        var index = 0
        for row in 0..<height {
            for column in 0..<width {
                if let unit = back.apply(Double(column) + 0.5, Double(row) + 0.5) {
                    warped[index] = UInt8(clamping: Int(sample(Point(unit.x * w, unit.y * h)).rounded()))
                }
                index += 1
            }
        }
        return GrayImage(width, height, warped)
    }
}
