/// One attempt at a picture: at which size it is looked at, and what is done to it first.
///
/// What each gained is in `docs/decoding.md`: every step but the first loses codes that the plain picture gives, so
/// each is a retry and none a replacement.
struct DecodingStage: Equatable, Sendable {
    /// The size a stage works at.
    enum Scale: Equatable, Sendable {
        /// As it came.
        case original
        /// Times a fraction.
        case times(Int, over: Int)
        /// So that the long side has this many pixels.
        case longSide(Int)
    }

    /// What is done to the picture at that size.
    enum Treatment: Equatable, Sendable {
        case plain
        /// Softened by a Gaussian of this standard deviation, in pixels.
        case blurred(Double)
        /// Softened a little, then black and white by the mean of a square of 10 % of the long side.
        case thresholded
        /// By 45°.
        case turned
        /// One side shortened by this percentage.
        case side(GrayImage.Side, Double)
        /// One corner pulled in by this percentage.
        case corner(GrayImage.Corner, Double)
    }

    /// The name that symbols read by it carry.
    let name: String
    /// The size.
    let scale: Scale
    /// The treatment.
    let treatment: Treatment

    init(_ name: String, _ scale: Scale, _ treatment: Treatment = .plain) {
        self.name = name
        self.scale = scale
        self.treatment = treatment
    }

    /// The longest side of a picture that is looked at as it came first, in pixels.
    static let smallSide = 1_600
    /// The most pixels that are looked at in one stage.
    static let largestArea = 16_000_000

    /// The stages for a picture of this size, in the order they are tried.
    static func ladder(width: Int, height: Int) -> [DecodingStage] {
        let longSide = max(width, height)
        return longSide <= smallSide ? small(longSide) : large(longSide, area: width * height)
    }

    private static func small(_ longSide: Int) -> [DecodingStage] {
        let enlarged = longSide > 1_000 ? Scale.times(3, over: 2) : .times(2, over: 1)
        let reduced = longSide < 700 ? Scale.times(1, over: 2) : .times(1, over: 3)
        var stages = [
            DecodingStage("native", .original),
            DecodingStage("enlarged", enlarged),
            DecodingStage("reduced", reduced),
            DecodingStage("blurred", .original, .blurred(2)),
            DecodingStage("thresholded", .original, .thresholded),
            DecodingStage("turned", .original, .turned),
            DecodingStage("three-quarters", .times(3, over: 4)),
        ]
        // Pictures of less than a stamp: modules of one or two pixels give zbar nothing to follow a slant by.
        if longSide <= 300 {
            stages += [
                DecodingStage("quadrupled", .times(4, over: 1)),
                DecodingStage("quadrupled-blurred", .times(4, over: 1), .blurred(2)),
            ]
        }
        return stages + keystones(longSide <= 500 ? enlarged : .original)
    }

    private static func large(_ longSide: Int, area: Int) -> [DecodingStage] {
        var stages = [DecodingStage("1400", .longSide(1_400))]
        if longSide > 2_000 { stages.append(DecodingStage("2000", .longSide(2_000))) }
        stages += [
            DecodingStage("1000", .longSide(1_000)),
            DecodingStage("700", .longSide(700)),
            DecodingStage("1400-blurred", .longSide(1_400), .blurred(2)),
            DecodingStage("1400-turned", .longSide(1_400), .turned),
        ]
        if area <= largestArea { stages.append(DecodingStage("full", .original)) }
        return stages + keystones(.longSide(1_400))
    }

    private static func keystones(_ scale: Scale) -> [DecodingStage] {
        func sides(_ percent: Int) -> [DecodingStage] {
            GrayImage.Side.allCases.map {
                DecodingStage("keystone-\($0.rawValue)-\(percent)", scale, .side($0, Double(percent)))
            }
        }
        func corners(_ percent: Int) -> [DecodingStage] {
            GrayImage.Corner.allCases.map {
                DecodingStage("keystone-\($0.rawValue)-\(percent)", scale, .corner($0, Double(percent)))
            }
        }
        return sides(12) + sides(24) + corners(12) + corners(24)
    }
}

/// A picture, and the last reduced copy of it, which several stages share.
struct PictureViews {
    private let original: GrayImage
    private var kept: (scale: DecodingStage.Scale, picture: GrayImage)?

    /// Takes the picture to be decoded.
    init(_ original: GrayImage) {
        self.original = original
    }

    /// The pixels a stage has to look at.
    func area(for stage: DecodingStage) -> Int {
        let (width, height) = size(stage.scale)
        return stage.treatment == .turned ? (width + height) * (width + height) / 2 : width * height
    }

    /// The picture as a stage wants it.
    mutating func picture(for stage: DecodingStage) -> GrayImage {
        let base = base(stage.scale)
        return switch stage.treatment {
        case .plain: base
        case .blurred(let sigma): base.blurred(sigma: sigma)
        case .thresholded: base.blurred(sigma: 1.2).thresholded(window: base.longSide / 10, margin: 3)
        case .turned: base.turned45()
        case .side(let side, let percent): base.keystoned(side, percent: percent)
        case .corner(let corner, let percent): base.keystoned(corner, percent: percent)
        }
    }

    private mutating func base(_ scale: DecodingStage.Scale) -> GrayImage {
        guard scale != .original else { return original }
        if let kept, kept.scale == scale { return kept.picture }
        let (width, height) = size(scale)
        let picture = original.resampled(width, height)
        kept = (scale, picture)
        return picture
    }

    private func size(_ scale: DecodingStage.Scale) -> (Int, Int) {
        let (width, height) = (original.width, original.height)
        let (numerator, denominator) =
            switch scale {
            case .original: (1, 1)
            case .times(let numerator, let denominator): (numerator, denominator)
            case .longSide(let side): (side, original.longSide)
            }
        return (max(1, width * numerator / denominator), max(1, height * numerator / denominator))
    }
}

extension GrayImage {
    /// Pixels along the longer side.
    var longSide: Int { max(width, height) }
    /// Pixels in all.
    var area: Int { width * height }
}
