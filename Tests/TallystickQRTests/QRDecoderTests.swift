import TallystickQR
import TallystickTestSupport
import Testing

@Suite("QRDecoderTests")
struct QRDecoderTests {
    let code: GrayImage

    init() throws {
        code = try QRMatrix(alphanumeric: Samples.offer).picture()
    }

    @Test func readsAnInvertedPicture() throws {
        #expect(try Samples.decode(code.inverted()).map(\.text) == [Samples.offer])
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func readsAPhotographAfterJPEG(_ seed: UInt64) throws {
        let photograph = try PhotoSimulator.photograph(
            code,
            tiltPercent: 12,
            rotationDegrees: 4,
            blurSigma: 1.5,
            noise: 5,
            seed: seed
        )
        let symbols = try Samples.decode(ImageReader.read(photograph.jpeg(quality: 60)))
        #expect(symbols.map(\.text) == [Samples.offer])
    }

    @Test func aWarpReadsWhatThePlainPictureLoses() throws {
        let photograph = try PhotoSimulator.photograph(code, tiltPercent: 30, blurSigma: 1, noise: 3, seed: 1)
        let symbols = try Samples.decode(photograph)
        #expect(symbols.map(\.text) == [Samples.offer])
        #expect(symbols.first?.stage.hasPrefix("keystone-") == true)
    }

    @Test func photographsAreTheSameForASeed() throws {
        let first = try PhotoSimulator.photograph(code, tiltPercent: 5, noise: 5, seed: 9)
        #expect(try PhotoSimulator.photograph(code, tiltPercent: 5, noise: 5, seed: 9) == first)
        #expect(try PhotoSimulator.photograph(code, tiltPercent: 5, noise: 5, seed: 10) != first)
    }

    @Test func readsALargePictureReduced() throws {
        var large = try GrayImage(width: 2_000, height: 1_700, shade: 140)
        large.draw(code, x: 900, y: 700)
        let symbols = try Samples.decode(large)
        #expect(symbols.map(\.text) == [Samples.offer])
        #expect(symbols.first?.stage == "1400")
    }

    @Test func aForeignCodeIsReportedAsItIs() throws {
        let foreign = try QRMatrix(alphanumeric: "HTTPS://EXAMPLE.ORG/").picture()
        let symbols = try Samples.decode(foreign)
        #expect(symbols.map(\.text) == ["HTTPS://EXAMPLE.ORG/"])
        #expect(symbols.map(\.kind) == [.code])
    }

    @Test func twoCodesGiveTwoSymbols() throws {
        let other = try QRMatrix(alphanumeric: "TS1$OTHER").picture()
        var both = try GrayImage(width: code.width + other.width, height: code.height, shade: 255)
        both.draw(code, x: 0, y: 0)
        both.draw(other, x: code.width, y: 0)
        #expect(Set(try Samples.decode(both).map(\.text)) == [Samples.offer, "TS1$OTHER"])
        both.draw(code, x: code.width - 16, y: 0)
        #expect(try Samples.decode(both).map(\.text).contains(Samples.offer))
    }

    @Test func theSameCodeTwiceGivesTwoSymbols() throws {
        var both = try GrayImage(width: code.width * 2, height: code.height, shade: 255)
        both.draw(code, x: 0, y: 0)
        both.draw(code, x: code.width, y: 0)
        #expect(try Samples.decode(both).map(\.text) == [Samples.offer, Samples.offer])
    }

    @Test func goesOnUntilTheCallerIsSatisfied() throws {
        var asked: [[UInt8]] = []
        let symbols = try QRDecoder.symbols(in: code) { bytes in
            asked.append(bytes)
            return false
        }
        #expect(asked == [Array(Samples.offer.utf8)], "each code is asked about once")
        #expect(symbols.map(\.stage) == ["native"])
    }

    @Test func aHalfPaintedCodeGivesNone() throws {
        var damaged = code
        damaged.fill(x: 0, y: 0, width: code.width / 2, height: code.height, shade: 255)
        #expect(try Samples.decode(damaged).isEmpty)
        damaged = code
        damaged.fill(x: 80, y: 120, width: code.width, height: code.height / 2, shade: 0)
        #expect(try Samples.decode(damaged).isEmpty)
    }

    @Test(arguments: [(1, 1), (1, 300), (300, 1), (2, 2), (7, 3), (64, 64)])
    func emptyPicturesGiveNone(width: Int, height: Int) throws {
        for shade: UInt8 in [0, 128, 255] {
            #expect(try Samples.decode(GrayImage(width: width, height: height, shade: shade)).isEmpty)
        }
    }

    @Test func keepsNULsAndEveryOtherByte() throws {
        let symbols = try QRDecoder.symbols(in: ForeignCode.bytes.picture())
        #expect(symbols.map(\.bytes) == [[0x00, 0xFF, 0x00, 0x41, 0x80, 0x00, 0x0A, 0x00]])
        #expect(symbols.map(\.text) == [nil])
    }

    @Test func aLonePartOfASetIsMarkedAndNeverWanted() throws {
        let symbols = try QRDecoder.symbols(in: ForeignCode.part.picture()) { _ in
            Issue.record("a part is not a code")
            return true
        }
        #expect(symbols.map(\.kind) == [.partial])
    }
}
