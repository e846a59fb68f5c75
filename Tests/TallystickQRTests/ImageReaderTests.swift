import TallystickQR
import Testing

@Suite("ImageReaderTests")
struct ImageReaderTests {
    static let picture: GrayImage = {
        var state: UInt32 = 7
        let pixels = (0..<61 * 47).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
        guard let image = try? GrayImage(width: 61, height: 47, pixels: pixels) else { preconditionFailure("61 × 47") }
        return image
    }()

    func code(_ bytes: [UInt8]) -> QRError.Code? {
        Samples.code { () throws(QRError) in _ = try ImageReader.read(bytes) }
    }

    @Test func aPNGComesBackExactly() throws {
        #expect(try ImageReader.read(Self.picture.png()) == Self.picture)
    }

    @Test func aJPEGComesBackNearly() throws {
        let read = try ImageReader.read(Self.picture.jpeg(quality: 100))
        #expect(read.width == 61 && read.height == 47)
        let worst = zip(read.pixels, Self.picture.pixels).map { abs(Int($0) - Int($1)) }.max()
        #expect((worst ?? 255) <= 4)
    }

    @Test(arguments: [Int.min, 0, 101, Int.max])
    func refusesAJPEGQualityOf(_ quality: Int) {
        #expect(Samples.code { () throws(QRError) in _ = try Self.picture.jpeg(quality: quality) } == .invalidSize)
    }

    @Test func everyTruncationThrows() throws {
        for file in [try Self.picture.png(), try Self.picture.jpeg(quality: 60)] {
            for length in 0..<file.count {
                let found = code(Array(file.prefix(length)))
                #expect(found == (length < (file[0] == 0xFF ? 3 : 8) ? .notAnImage : .imageDamaged), "length \(length)")
            }
            #expect(code(file + [0, 1, 2]) == nil, "what follows the end is ignored")
        }
    }

    @Test func flippedBytesNeverTrap() throws {
        for file in [try Self.picture.png(), try Self.picture.jpeg(quality: 60)] {
            for index in file.indices {
                for change: UInt8 in [0x01, 0x80, 0xFF] {
                    var damaged = file
                    damaged[index] ^= change
                    // Some give a picture (a flipped bit in JPEG data), some an error; none may end the process.
                    _ = code(damaged)
                }
            }
        }
    }

    @Test(arguments: [
        [], [0], Array("GIF89a".utf8), Array("%PDF-1.7".utf8), Array("BM".utf8), [0xFF, 0xD8], [0, 0, 0, 0],
    ])
    func otherFormatsAreNoImage(_ bytes: [UInt8]) {
        #expect(code(bytes) == .notAnImage)
    }

    @Test(arguments: [
        (60_000, 60_000), (12_001, 1), (1, 12_001), (10_000, 5_001), (0x7FFF_FFFF, 1), (0xFFFF_FFFF, 0xFFFF_FFFF),
    ])
    func aPNGHeaderAboveTheLimitsIsRefusedBeforeDecoding(width: Int, height: Int) throws {
        var file = try Self.picture.png()
        for (offset, value) in [(16, width), (20, height)] {
            for byte in 0..<4 { file[offset + byte] = UInt8(truncatingIfNeeded: value >> (24 - 8 * byte)) }
        }
        #expect(code(file) == .imageTooLarge)
    }

    @Test(arguments: [(60_000, 60_000), (12_001, 1), (1, 12_001), (10_000, 5_001)])
    func aJPEGHeaderAboveTheLimitsIsRefusedBeforeDecoding(width: Int, height: Int) throws {
        #expect(code(try Self.jpeg(width: width, height: height)) == .imageTooLarge)
    }

    @Test func headersThatLieWithinTheLimitsAreDamage() throws {
        #expect(code(try Self.jpeg(width: 4_000, height: 4_000)) == .imageDamaged)
        #expect(code(try Self.jpeg(width: 0, height: 47)) == .imageDamaged)
        var file = try Self.picture.png()
        file[19] = 62  // the checksum no longer fits
        #expect(code(file) == .imageDamaged)
        file[19] = 0
        #expect(code(file) == .imageDamaged)
    }

    @Test func aFileAbove25MiBIsRefused() throws {
        let file = try Self.picture.png() + [UInt8](repeating: 0, count: 25 * 1024 * 1024)
        #expect(code(file) == .imageTooLarge)
    }

    @Test func everyColourTypeComesOutAsGreyOnWhite() throws {
        func pixels(_ file: [UInt8]) throws -> [UInt8] { try ImageReader.read(file).pixels }
        let bit = RawPNG.file(width: 9, height: 1, depth: 1, colour: 0, rows: [0, 0b1010_1010, 0x80])
        #expect(try pixels(bit) == [255, 0, 255, 0, 255, 0, 255, 0, 255])
        let alpha = RawPNG.file(width: 3, height: 1, depth: 8, colour: 4, rows: [0, 0, 0, 0, 255, 0, 128])
        #expect(try pixels(alpha) == [255, 0, 127])
        let colour = RawPNG.file(width: 2, height: 1, depth: 8, colour: 2, rows: [0, 90, 90, 90, 0, 0, 0])
        #expect(try pixels(colour) == [90, 0])
        let opaque = RawPNG.file(width: 2, height: 1, depth: 8, colour: 6, rows: [0, 0, 0, 0, 0, 255, 0, 0, 255])
        #expect(try pixels(opaque)[0] == 255)
        let deep = RawPNG.file(width: 2, height: 1, depth: 16, colour: 0, rows: [0, 90, 90, 200, 200])
        #expect(try pixels(deep) == [90, 200], "16 bits are the same shades, not linear light")
        let palette = [("PLTE", [0, 0, 0, 255, 255, 255, 0, 0, 0] as [UInt8]), ("tRNS", [255, 255, 0])]
        let indexed = RawPNG.file(width: 3, height: 1, depth: 8, colour: 3, extra: palette, rows: [0, 0, 1, 2])
        #expect(try pixels(indexed) == [0, 255, 255])
        let woven = RawPNG.file(width: 2, height: 1, depth: 8, colour: 0, interlaced: true, rows: [0, 7, 0, 8])
        #expect(try pixels(woven) == [7, 8])
    }

    @Test func chunksThatLieAreDamageAndStrangeOnesAreIgnored() throws {
        func file(_ extra: [(String, [UInt8])], colour: UInt8 = 0, rows: [UInt8] = [0, 1]) -> [UInt8] {
            RawPNG.file(width: 1, height: 1, depth: 8, colour: colour, extra: extra, rows: rows)
        }
        #expect(code(file([("tEXt", [0]), ("iCCP", [1, 2, 3]), ("zTXt", [9]), ("gAMA", [])])) == nil)
        #expect(code(file([], colour: 3)) == .imageDamaged, "a palette is missing")
        #expect(code(file([], rows: [0])) == .imageDamaged, "pixels are missing")
        #expect(code(file([("IHDR", [UInt8](repeating: 1, count: 13))])) == .imageDamaged)
    }

    @Test(arguments: [(0, 5), (5, 0), (-1, -1), (Int.max, Int.max), (12_001, 1)])
    func aPictureNeedsAnAreaWithinTheLimits(width: Int, height: Int) {
        let found = Samples.code { () throws(QRError) in _ = try GrayImage(width: width, height: height, shade: 0) }
        #expect(found == .invalidSize || found == .imageTooLarge)
        let scaled = Samples.code { () throws(QRError) in _ = try Self.picture.scaled(width: width, height: height) }
        #expect(scaled == found)
    }

    @Test func filtersKeepPlainAreasAndSizes() throws {
        let plain = try GrayImage(width: 40, height: 30, shade: 201)
        #expect(plain.blurred(sigma: 2) == plain)
        #expect(plain.blurred(sigma: .nan) == plain)
        #expect(Set(try plain.scaled(width: 97, height: 11).pixels) == [201])
        #expect(plain.keystoned(.left, percent: 12) == plain)
        #expect(Self.picture.keystoned(.top, percent: 0) == Self.picture)
        #expect(plain.sample(Point(.nan, .infinity)) == 201)
        #expect(
            try GrayImage(width: 1, height: 1, shade: 9).blurred(sigma: 50).scaled(width: 3, height: 3).pixels.count
                == 9
        )
    }

    /// The sample picture's JPEG file with other dimensions in its frame header.
    static func jpeg(width: Int, height: Int) throws -> [UInt8] {
        var file = try picture.jpeg(quality: 60)
        let frame = try #require(file.indices.first { file[$0] == 0xFF && file[$0 + 1] == 0xC0 })
        for (offset, value) in [(5, height), (7, width)] {
            file[frame + offset] = UInt8(truncatingIfNeeded: value >> 8)
            file[frame + offset + 1] = UInt8(truncatingIfNeeded: value)
        }
        return file
    }
}
