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

    /// The view whose results are stretched by two factors.
    func scaled(by horizontal: Double, _ vertical: Double) -> Homography {
        var result = self
        (result.a, result.b, result.c) = (a * horizontal, b * horizontal, c * horizontal)
        (result.d, result.e, result.f) = (d * vertical, e * vertical, f * vertical)
        return result
    }

    /// Where a point comes to lie, as two numerators and the denominator they share, which may be 0.
    @inline(__always)
    func fraction(_ x: Double, _ y: Double) -> (x: Double, y: Double, w: Double) {
        (a * x + b * y + c, d * x + e * y + f, g * x + h * y + i)
    }
}
