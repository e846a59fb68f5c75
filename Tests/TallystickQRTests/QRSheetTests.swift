import Tallystick
import TallystickQR
import Testing

@Suite("QRSheetTests")
struct QRSheetTests {
    static func sheet(_ count: Int) throws -> QRSheet {
        try QRSheet(
            (0..<count).map { part in
                let bytes = (0..<204).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ part &* 7) }
                return try QRCode("TS1$" + Base45.encode(bytes))
            }
        )
    }

    @Test(arguments: [(1, 1), (2, 2), (3, 2), (4, 2), (5, 3), (9, 3), (10, 4)])
    func aSheetHoldsEveryCode(count: Int, columns: Int) throws {
        let sheet = try Self.sheet(count)
        #expect(sheet.columns == columns)
        #expect(sheet.codes.allSatisfy { $0.matrix.version == 10 })
        let image = try ImageReader.read(sheet.verifiedPNG(caption: Samples.caption))
        let expected = Set(sheet.codes.map(\.text))
        var open = expected
        let symbols = try QRDecoder.symbols(in: image) { text in
            open.remove(String(decoding: text, as: UTF8.self))
            return open.isEmpty
        }
        #expect(Set(symbols.compactMap(\.text)) == expected)
        #expect(sheet.label(count - 1) == "\(count)/\(count)")
    }

    @Test func codesAreEightModulesApartAtLeast() throws {
        let sheet = try Self.sheet(4)
        let image = try sheet.picture(modulePixels: 8)
        let side = sheet.codes[0].matrix.side * 8
        let gap = QRSheet.gap * 8
        #expect(gap == 64)
        // Between the codes of the first row, and from the left edge to the first: nothing but white.
        for y in 32..<(32 + side) {
            for x in (32 + side)..<(32 + side + gap) where image[x, y] != 255 { Issue.record("ink at \(x), \(y)") }
            for x in 0..<32 where image[x, y] != 255 { Issue.record("ink at \(x), \(y)") }
        }
    }

    @Test func refusesNoneTooManyAndDifferentSizes() throws {
        #expect(Samples.code { () throws(QRError) in _ = try QRSheet([]) } == .empty)
        let many = try Self.sheet(1).codes[0]
        let codes = [QRCode](repeating: many, count: 17)
        #expect(Samples.code { () throws(QRError) in _ = try QRSheet(codes) } == .tooManyCodes)
        let small = try QRCode("A")
        #expect(Samples.code { () throws(QRError) in _ = try QRSheet([many, small]) } == .invalidSize)
    }

    /// The chunks of a PNG file, with what is wrong with their checksums.
    private func chunks(_ file: [UInt8]) -> [(name: String, data: [UInt8])] {
        var chunks: [(String, [UInt8])] = []
        var position = 8
        while position + 12 <= file.count {
            let length = file[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) }
            let body = file[(position + 4)..<(position + 8 + length)]
            #expect(RawPNG.number(RawPNG.crc32(Array(body))) == Array(file[(position + 8 + length)...].prefix(4)))
            chunks.append((String(decoding: body.prefix(4), as: UTF8.self), Array(body.dropFirst(4))))
            position += 12 + length
        }
        #expect(position == file.count)
        return chunks
    }

    @Test func aLoopHoldsEachCodeAsAFrame() throws {
        let sheet = try Self.sheet(3)
        let file = try sheet.verifiedLoop(caption: ["Offer 7K2M-9QXD"], milliseconds: 500)
        let chunks = chunks(file)
        #expect(chunks.first?.name == "IHDR" && chunks.last?.name == "IEND")
        #expect(chunks[1].name == "acTL")
        #expect(chunks[1].data == [0, 0, 0, 3, 0, 0, 0, 0], "three frames, for ever")
        let numbered = chunks.filter { ["fcTL", "fdAT"].contains($0.name) }.map { Array($0.data.prefix(4)) }
        #expect(numbered == numbered.indices.map { RawPNG.number($0) }, "one sequence over both kinds")
        let controls = chunks.filter { $0.name == "fcTL" }
        #expect(controls.count == 3)
        #expect(controls.allSatisfy { Array($0.data[20..<26]) == [0x01, 0xF4, 0x03, 0xE8, 0, 0] }, "500 / 1000 s")
        // Each frame, as a still picture, gives its text.
        for (index, code) in sheet.codes.enumerated() {
            let frame = try #require(chunks.indices.filter { chunks[$0].name == "fcTL" }.dropFirst(index).first)
            let data = chunks[(frame + 1)...].prefix { $0.name == "IDAT" || $0.name == "fdAT" }
            var still = Array(file[..<8]) + RawPNG.chunk("IHDR", chunks[0].data)
            for part in data { still += RawPNG.chunk("IDAT", part.name == "IDAT" ? part.data : Array(part.data[4...])) }
            try code.verify(ImageReader.read(still + RawPNG.chunk("IEND", [])))
        }
        // A viewer that does not know loops sees the first.
        try sheet.codes[0].verify(ImageReader.read(file))
    }

    @Test(arguments: [Int.min, 0, 19, 60_001, Int.max])
    func refusesAFrameTimeOf(_ milliseconds: Int) throws {
        let sheet = try Self.sheet(2)
        let found = Samples.code { () throws(QRError) in _ = try sheet.verifiedLoop(milliseconds: milliseconds) }
        #expect(found == .invalidSize)
    }

    @Test func terminalFramesAreOfOneSizeAndLabelled() throws {
        let frames = try Self.sheet(3).verifiedTerminalFrames()
        #expect(frames.map(\.columns) == [65, 65, 65])
        #expect(frames.map(\.rows) == [34, 34, 34])
        for (index, frame) in frames.enumerated() {
            let lines = frame.text.split(separator: "\n")
            #expect(lines.count == frame.rows)
            #expect(lines.last?.contains(" \(index + 1)/3 ") == true)
            #expect(frame.redraw == "\r\u{1B}[34A")
        }
    }

    @Test func aWindowThatIsTooSmallIsSaid() throws {
        let picture = try QRCode(Samples.offer).verifiedTerminal()
        #expect(picture.tooSmall(windowColumns: 49, windowRows: 26) == nil)
        #expect(picture.tooSmall(windowColumns: nil, windowRows: nil) == nil)
        let sentence = "the code needs 49 columns and 26 rows, the window has 49 columns and 25 rows"
        #expect(picture.tooSmall(windowColumns: 49, windowRows: 25) == sentence)
        #expect(picture.tooSmall(windowColumns: 48, windowRows: 80) != nil)
        #expect(picture.tooSmall(windowColumns: 48, windowRows: nil)?.hasSuffix("an unknown number of rows") == true)
    }

    @Test func labelsCannotMoveTheCursor() throws {
        let picture = try QRMatrix(alphanumeric: "A").terminal().labelled("\u{1B}[2J1/2\n\u{202E}é")
        #expect(picture.text.split(separator: "\n").last?.contains("[2J1/2?") == true)
        let long = try QRMatrix(alphanumeric: "A").terminal().labelled(String(repeating: "x", count: 200))
        #expect(long.text.split(separator: "\n").last?.contains(String(repeating: "x", count: 29)) == true)
        #expect(long.text.contains(String(repeating: "x", count: 30)) == false)
    }
}
