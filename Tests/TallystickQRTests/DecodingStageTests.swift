import TallystickTestSupport
import Testing

@testable import TallystickQR

@Suite("DecodingStageTests")
struct DecodingStageTests {
    static let sides = ["top", "right", "bottom", "left"]
    static let corners = ["top-left", "top-right", "bottom-right", "bottom-left"]
    static let keystones =
        sides.map { "keystone-\($0)-12" } + sides.map { "keystone-\($0)-24" } + corners.map { "keystone-\($0)-12" }
        + corners.map { "keystone-\($0)-24" }

    func names(_ width: Int, _ height: Int) -> [String] {
        DecodingStage.ladder(width: width, height: height).map(\.name)
    }

    @Test(arguments: [(301, 200), (700, 1_000), (1_000, 1), (1_600, 1_600)])
    func smallPicturesAreLookedAtAsTheyCame(width: Int, height: Int) {
        let plain = ["native", "enlarged", "reduced", "blurred", "thresholded", "turned", "three-quarters"]
        #expect(names(width, height) == plain + Self.keystones)
    }

    @Test func stampsAreAlsoMuchEnlarged() {
        #expect(names(300, 40).contains("quadrupled"))
    }

    @Test func scalesDependOnTheSize() {
        func scales(_ side: Int) -> [DecodingStage.Scale] {
            DecodingStage.ladder(width: side, height: side)[1...2].map(\.scale)
        }
        #expect(scales(699) == [.times(2, over: 1), .times(1, over: 2)])
        #expect(scales(1_000) == [.times(2, over: 1), .times(1, over: 3)])
        #expect(scales(1_001) == [.times(3, over: 2), .times(1, over: 3)])
    }

    @Test func largePicturesAreReducedFirst() {
        let reduced = ["1000", "700", "1400-blurred", "1400-turned"]
        #expect(names(4_000, 3_000) == ["1400", "2000"] + reduced + ["full"] + Self.keystones)
        #expect(names(1_601, 9) == ["1400"] + reduced + ["full"] + Self.keystones)
        #expect(names(8_000, 6_000) == ["1400", "2000"] + reduced + Self.keystones, "48 megapixels are never full")
    }

    @Test func namesAreUnique() {
        for side in [200, 800, 1_300, 5_000] { #expect(Set(names(side, side)).count == names(side, side).count) }
    }

    @Test func theFirstStageRunsWithoutAnyTimeAndNoOther() throws {
        let code = try QRMatrix(alphanumeric: Samples.offer).picture()
        #expect(try QRDecoder.symbols(in: code, budget: .zero).map(\.stage) == ["native"])
        let tilted = try PhotoSimulator.photograph(code, tiltPercent: 30, blurSigma: 1, noise: 3, seed: 1)
        #expect(try QRDecoder.symbols(in: tilted, budget: .zero).isEmpty)
        #expect(try QRDecoder.symbols(in: tilted, budget: .seconds(-5)).isEmpty)
    }

    @Test(arguments: 0..<8)
    func anOfferIsReadAt20PercentTiltFromEverySide(_ number: Int) throws {
        let code = try QRMatrix(alphanumeric: Samples.offer)
        #expect(code.version == 6)
        let photograph = try PhotoSimulator.photograph(
            code.picture(),
            tiltPercent: 20,
            rotationDegrees: Double(number % 4) * 90 + (number < 4 ? 3 : -4),
            blurSigma: 1,
            noise: 3,
            seed: UInt64(number)
        )
        #expect(try Samples.decode(photograph).map(\.text) == [Samples.offer])
    }

    @Test(arguments: [(1, 1), (1, 12_000), (12_000, 1), (3, 2)])
    func everyTreatmentTakesEverySize(width: Int, height: Int) throws {
        let picture = try GrayImage(width: width, height: height, shade: 77)
        var views = PictureViews(picture)
        for stage in DecodingStage.ladder(width: width, height: height) where stage.treatment != .thresholded {
            #expect(Set(views.picture(for: stage).pixels) == [77], "a plain picture stays plain: \(stage.name)")
        }
        #expect(Set(picture.thresholded(window: 1_000_000, margin: 3).pixels) == [255])
        #expect(Set(picture.thresholded(window: -4, margin: -300).pixels) == [0])
    }

    @Test func theThresholdFollowsTheLight() throws {
        // Stripes of 40 grey levels on a slope of 160: no one level parts them.
        let pixels = (0..<200).map { (x: Int) -> UInt8 in
            let dark = x / 10 % 2 == 1
            return UInt8(60 + x * 4 / 5 - (dark ? 40 : 0))
        }
        let stripes = try GrayImage(width: 200, height: 2, pixels: pixels + pixels)
        let parted = stripes.thresholded(window: 21)
        for x in 20..<180 where x % 10 == 5 { #expect(parted[x, 0] == (x / 10 % 2 == 1 ? 0 : 255), "column \(x)") }
    }
}
