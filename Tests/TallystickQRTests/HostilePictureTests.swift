import TallystickQR
import TallystickTestSupport
import Testing

@Suite("HostilePictureTests")
struct HostilePictureTests {
    let code: GrayImage

    init() throws {
        code = try QRMatrix(alphanumeric: Samples.offer).picture()
    }

    /// Pictures side by side on white.
    func row(_ pictures: [GrayImage]) throws -> GrayImage {
        let width = pictures.reduce(0) { $0 + $1.width }
        var all = try GrayImage(width: width, height: pictures.map(\.height).max() ?? 1, shade: 255)
        var x = 0
        for picture in pictures {
            all.draw(picture, x: x, y: 0)
            x += picture.width
        }
        return all
    }

    @Test func anInvertedCodeBesideANormalOneIsNotHidden() throws {
        let other = try QRMatrix(alphanumeric: "TS1$OTHER").picture()
        let symbols = try Samples.decode(row([code, other.inverted()]))
        #expect(Set(symbols.map(\.text)) == [Samples.offer, "TS1$OTHER"])
        #expect(Set(symbols.map(\.stage)) == ["native"])
    }

    @Test func upTo16CodesAreReadAndMoreAreRefused() throws {
        func codes(_ count: Int) throws -> GrayImage {
            var all = try GrayImage(width: 6 * 232, height: 3 * 232, shade: 255)
            for index in 0..<count {
                let one = try QRMatrix(alphanumeric: "CODE \(index)").picture()
                all.draw(one, x: index % 6 * 232, y: index / 6 * 232)
            }
            return all
        }
        let symbols = try QRDecoder.symbols(in: codes(16))
        #expect(Set(symbols.compactMap(\.text)) == Set((0..<16).map { "CODE \($0)" }))
        let many = try codes(17)
        #expect(Samples.code { () throws(QRError) in _ = try QRDecoder.symbols(in: many) } == .tooManyCodes)
    }

    @Test func bytesWithoutAnECIComeBackAsTheyAre() throws {
        #expect(try QRDecoder.symbols(in: ForeignCode.plainUTF8.picture()).map(\.text) == ["é測"])
    }

    // The conversion that an ECI asks for happens in libzbar whatever is set; our codes have none.
    @Test(arguments: [
        (ForeignCode.eciUTF8, "é測"), (ForeignCode.eciLatin1, "café"), (ForeignCode.eciShiftJIS, "テス"),
        (ForeignCode.eciGreek, "αβ"),
    ])
    func anECIIsFollowed(_ foreign: ForeignCode, text: String) throws {
        #expect(try QRDecoder.symbols(in: foreign.picture()).map(\.text) == [text])
    }

    @Test func aLonePartBesideOneOfOursIsMarkedAsThat() throws {
        let symbols = try Samples.decode(row([ForeignCode.part.picture(), code]))
        #expect(Set(symbols.map(\.kind)) == [.partial, .code])
        #expect(symbols.first { $0.kind == .code }?.text == Samples.offer)
    }

    @Test func thousandsOfFinderPatternsAndNoiseGiveNothing() throws {
        var finders = try GrayImage(width: 900, height: 900, shade: 255)
        for y in stride(from: 0, to: 900, by: 18) {
            for x in stride(from: 0, to: 900, by: 18) {
                for (inset, shade) in [(0, 0), (2, 255), (4, 0)] as [(Int, UInt8)] {
                    let side = 14 - 2 * inset
                    finders.fill(x: x + inset, y: y + inset, width: side, height: side, shade: shade)
                }
            }
        }
        #expect(try Samples.decode(finders).isEmpty)
        let noise = try PhotoSimulator.noisy(GrayImage(width: 700, height: 700, shade: 128), 80, seed: 3)
        #expect(try Samples.decode(noise).isEmpty)
    }

    @Test func damagedModulesNeverGiveAnotherText() throws {
        for seed in 0..<60 {
            var state = UInt64(seed + 1) &* 0x9E37_79B9_7F4A_7C15
            var damaged = code
            for _ in 0..<(10 + seed * 6) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let (x, y) = (Int(state >> 40 % 41), Int(state >> 20 & 0xFFFF) % 41)
                damaged.fill(x: (x + 4) * 8, y: (y + 4) * 8, width: 8, height: 8, shade: state >> 63 == 0 ? 0 : 255)
            }
            let texts = try QRDecoder.symbols(in: damaged, budget: .zero) { _ in true }.map(\.text)
            #expect(texts.isEmpty || texts == [Samples.offer])
        }
    }

    /// What a camera held so would store, for the orientation tag that undoes it (EXIF 2.3 section 4.6.4).
    static func stored(_ picture: GrayImage, orientation: Int) throws -> GrayImage {
        let turned = orientation > 4
        let (width, height) = turned ? (picture.height, picture.width) : (picture.width, picture.height)
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let (right, below) = (width - 1 - x, height - 1 - y)
                let (column, row) =
                    switch orientation {
                    case 2: (right, y)
                    case 3: (right, below)
                    case 4: (x, below)
                    case 5: (y, x)
                    case 6: (below, x)
                    case 7: (below, right)
                    case 8: (y, right)
                    default: (x, y)
                    }
                pixels.append(picture[column, row] ?? 0)
            }
        }
        return try GrayImage(width: width, height: height, pixels: pixels)
    }

    /// A JPEG file with an EXIF segment that holds the orientation and nothing else.
    static func jpeg(_ picture: GrayImage, orientation: UInt8) throws -> [UInt8] {
        let file = try picture.jpeg(quality: 80)
        let header: [UInt8] = Array("Exif\0\0MM\0*".utf8) + [0, 0, 0, 8]
        let entry: [UInt8] = [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
        let segment = header + entry
        return file[..<2] + [0xFF, 0xE1, 0, UInt8(segment.count + 2)] + segment + file[2...]
    }

    @Test(arguments: 1...8)
    func theEXIFOrientationDoesNotMatter(_ orientation: Int) throws {
        let photograph = try PhotoSimulator.photograph(code, tiltPercent: 5, blurSigma: 1, noise: 3, seed: 4)
        let held = try Self.stored(photograph, orientation: orientation)
        // Mirrored by the tag (2, 4, 5, 7) or only turned, told or not told: the text is the same.
        for tag in [UInt8(orientation), 1] {
            let image = try ImageReader.read(Self.jpeg(held, orientation: tag))
            #expect(image.width == held.width && image.height == held.height)
            #expect(try Samples.decode(image).map(\.text) == [Samples.offer])
        }
    }

    @Test func colouredModulesAreAsDarkAsTheyLook() throws {
        // By amounts of light, red would be 127 of 255 and blue 76; as in JPEG it is 76 and 29.
        let rows: [UInt8] = [0, 255, 0, 0, 0, 0, 255]
        let file = RawPNG.file(width: 2, height: 1, depth: 8, colour: 2, rows: rows)
        #expect(try ImageReader.read(file).pixels == [76, 29])
        let clear = RawPNG.file(width: 2, height: 1, depth: 8, colour: 6, rows: [0, 255, 0, 0, 255, 0, 0, 255, 0])
        #expect(try ImageReader.read(clear).pixels == [76, 255])
    }
}
