/// One attempt at a picture: which pictures it is for, and what is done to them first.
///
/// What each gained is in the facts on QR decoding, section 5: every step but the first loses codes that the plain
/// picture gives, so each is a retry and none a replacement.
struct DecodingStage: Sendable {
    /// The picture a stage starts from.
    enum Source: Sendable {
        /// As it came.
        case original
        /// Not above 1,400 pixels on its long side.
        case working
    }

    /// The name that symbols read by it carry.
    let name: String
    /// The picture it starts from.
    let source: Source
    /// Says whether the stage is worth its time on a picture, by its dimensions.
    let applies: @Sendable (GrayImage) -> Bool
    /// What is done to the picture.
    let prepare: @Sendable (GrayImage) -> GrayImage

    /// The stages in the order they are tried.
    static let all: [DecodingStage] =
        [
            DecodingStage(name: "native", source: .original, applies: isSmall) { $0 },
            DecodingStage(name: "double", source: .original, applies: { isSmall($0) && $0.longSide <= 1_000 }) {
                $0.resampled($0.width * 2, $0.height * 2)
            },
            DecodingStage(name: "reduced", source: .working, applies: isLarge) { $0 },
            DecodingStage(name: "half", source: .original, applies: isLarge) { $0.halved },
            DecodingStage(name: "blurred", source: .working, applies: { _ in true }) { $0.blurred(sigma: 1.2) },
            DecodingStage(name: "full", source: .original, applies: { isLarge($0) && $0.area <= 16_000_000 }) { $0 },
        ]
        + GrayImage.Side.allCases.map { side in
            DecodingStage(name: "keystone-\(side.rawValue)-12", source: .working, applies: { _ in true }) {
                $0.keystoned(side, percent: 12)
            }
        }

    private static let smallSide = 1_600

    private static let isSmall: @Sendable (GrayImage) -> Bool = { $0.longSide <= smallSide }
    private static let isLarge: @Sendable (GrayImage) -> Bool = { $0.longSide > smallSide }
}

/// A picture, and the reduced copy that several stages share, made when first asked for.
struct PictureViews {
    private let original: GrayImage
    private var working: GrayImage?

    static let workingSide = 1_400

    /// Takes the picture to be decoded.
    init(_ original: GrayImage) {
        self.original = original
    }

    /// The picture as a stage wants it.
    mutating func picture(for stage: DecodingStage) -> GrayImage {
        switch stage.source {
        case .original: return stage.prepare(original)
        case .working:
            let reduced = working ?? original.reduced(toLongSide: PictureViews.workingSide)
            working = reduced
            return stage.prepare(reduced)
        }
    }
}

extension GrayImage {
    /// Pixels along the longer side.
    var longSide: Int { max(width, height) }
    /// Pixels in all.
    var area: Int { width * height }
    /// The picture at half its size.
    var halved: GrayImage { resampled(max(1, width / 2), max(1, height / 2)) }

    /// The picture made smaller so that its long side has at most `limit` pixels.
    func reduced(toLongSide limit: Int) -> GrayImage {
        guard longSide > limit else { return self }
        return resampled(max(1, width * limit / longSide), max(1, height * limit / longSide))
    }
}
