import Foundation
import FoundationXML
import TallystickQR
import Testing

@Suite("RenderingTests")
struct RenderingTests {
    // `attribute(forName:)` of FoundationXML finds nothing in an element that declares a default namespace.
    private func attribute(_ name: String, of element: XMLElement) -> String? {
        element.attributes?.first { $0.name == name }?.stringValue
    }

    @Test(arguments: [8, 9, 16])
    func aPNGDecodesToItsText(_ modulePixels: Int) throws {
        let code = try QRCode(Samples.offer)
        let bytes = try code.verifiedPNG(caption: Samples.caption, modulePixels: modulePixels)
        let symbols = try Samples.decode(ImageReader.read(bytes))
        #expect(symbols.map(\.text) == [Samples.offer])
        #expect(symbols.map(\.stage) == ["native"])
    }

    @Test func aPictureHasWholeModulesInAWhiteFrame() throws {
        let matrix = try QRMatrix(alphanumeric: Samples.offer)
        let image = try matrix.picture()
        #expect(image.width == (matrix.side + 8) * 8 && image.height == image.width)
        for y in 0..<image.height {
            for x in 0..<image.width {
                let expected: UInt8 = matrix.dark(x / 8 - 4, y / 8 - 4) && x >= 32 && y >= 32 ? 0 : 255
                guard image[x, y] == expected else {
                    Issue.record("pixel \(x), \(y) is not \(expected)")
                    return
                }
            }
        }
    }

    @Test func theCaptionStandsBelowTheFrameAndIsWrapped() throws {
        let matrix = try QRMatrix(alphanumeric: Samples.offer)
        let plain = try matrix.picture()
        let words = try matrix.picture(caption: ["A", "", "\u{202E}\u{7}"])
        #expect(words.width == plain.width && words.height > plain.height)
        #expect(Array(words.pixels.prefix(plain.pixels.count)) == plain.pixels)
        #expect(words.pixels.suffix(from: plain.pixels.count).contains(0))
        let long = try matrix.picture(caption: [String(repeating: "W", count: 100), "é 🙂 ~"])
        #expect(long.width == plain.width && long.height > words.height)
        #expect(try Samples.decode(long).map(\.text) == [Samples.offer])
    }

    @Test(arguments: [Int.min, -8, 0, 7, 65, Int.max])
    func refusesModulesThatAreTooSmallOrTooLarge(_ modulePixels: Int) throws {
        let code = try QRCode("TS1$")
        #expect(
            Samples.code { () throws(QRError) in _ = try code.verifiedPNG(modulePixels: modulePixels) } == .invalidSize
        )
        #expect(
            Samples.code { () throws(QRError) in _ = try code.verifiedSVG(modulePixels: modulePixels) } == .invalidSize
        )
    }

    @Test func anSVGIsOneRectangleOnePathAndEscapedText() throws {
        let code = try QRCode(Samples.offer)
        let svg = try code.verifiedSVG(caption: ["<b>&\"'\u{0}\u{202E}x", "Zoë"])
        let document = try XMLDocument(xmlString: svg)
        let root = try #require(document.rootElement())
        #expect(root.name == "svg")
        #expect(attribute("shape-rendering", of: root) == "crispEdges")
        #expect(root.elements(forName: "path").count == 1)
        let rectangle = try #require(root.elements(forName: "rect").first)
        #expect(attribute("fill", of: rectangle) == "#ffffff")
        let box = try #require(attribute("viewBox", of: root)).split(separator: " ")
        #expect(box.first == "0" && box.count == 4)
        #expect(
            box.suffix(2).map(String.init) == ["width", "height"].map { attribute($0, of: rectangle) }
        )
        #expect(root.elements(forName: "text").map(\.stringValue) == ["<b>&\"'x", "Zoë"])
        #expect(root.children?.compactMap(\.name) == ["rect", "path", "text", "text"])
    }

    @Test func theSVGPathDrawsTheMatrix() throws {
        let code = try QRCode(Samples.offer)
        let svg = try code.verifiedSVG()
        let path = try #require(XMLDocument(xmlString: svg).rootElement()?.elements(forName: "path").first)
        let data = try #require(attribute("d", of: path))
        var dark: Set<[Int]> = []
        for run in data.split(separator: "z") {
            let numbers = run.split { "Mhv- ".contains($0) }.compactMap { Int($0) }
            try #require(numbers.count == 5 && numbers[2] == numbers[4] && numbers[3] == 1)
            for offset in 0..<numbers[2] { dark.insert([numbers[0] + offset - 4, numbers[1] - 4]) }
        }
        let side = code.matrix.side
        let expected = (0..<side).flatMap { y in (0..<side).map { [$0, y] } }.filter { code.matrix.dark($0[0], $0[1]) }
        #expect(dark == Set(expected))
    }

    @Test func aTerminalPictureIsTheMatrixInHalfBlocks() throws {
        let code = try QRCode(Samples.offer)
        let picture = try code.verifiedTerminal()
        #expect(picture.columns == code.matrix.side + 8)
        #expect(picture.rows == (code.matrix.side + 9) / 2)
        let lines = picture.text.split(separator: "\n")
        #expect(lines.count == picture.rows)
        for (row, line) in lines.enumerated() {
            let parts = line.split(separator: "\u{1B}[")
            // Black ink, white ground, then the cells; then everything back.
            #expect(parts.count == 2 && parts[0].hasPrefix("38;5;16;48;5;231m") && parts[1] == "0m")
            let cells = Array(parts[0].drop { $0 != "m" }.dropFirst())
            try #require(cells.count == picture.columns)
            for (column, cell) in cells.enumerated() {
                let upper = code.matrix.dark(column - 4, row * 2 - 4)
                let lower = code.matrix.dark(column - 4, row * 2 - 3)
                #expect(cell == (upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ")))
            }
        }
    }

    @Test func aPictureOfAnotherTextIsNotGivenOut() throws {
        let code = try QRCode(Samples.offer)
        let other = try QRMatrix(alphanumeric: "TS1$OTHER").picture()
        #expect(Samples.code { () throws(QRError) in try code.verify(other) } == .unreadableCode)
        let blank = try GrayImage(width: 300, height: 300, shade: 255)
        #expect(Samples.code { () throws(QRError) in try code.verify(blank) } == .unreadableCode)
    }
}
