/// Several codes, such as the parts of one message, to be shown as one picture or one after the other.
package struct QRSheet: Equatable, Sendable {
    /// The codes, in order.
    package let codes: [QRCode]
    /// Codes in a row of the sheet: the fewest that make it at least as wide as it is high.
    package let columns: Int

    /// The most codes on a sheet.
    package static let maximumCodes = QRDecoder.maximumSymbols
    /// The space between two codes, in modules: the quiet zones of both.
    package static let gap = 2 * QRMatrix.quietZone

    /// Collects 1 to 16 codes; throws `empty` or `too-many-codes`, and `invalid-size` where they differ in size.
    package init(_ codes: [QRCode]) throws(QRError) {
        guard let first = codes.first else { throw QRError(.empty, "expected codes for the sheet, got none") }
        guard codes.count <= QRSheet.maximumCodes else {
            throw QRError(.tooManyCodes, "expected at most \(QRSheet.maximumCodes) codes, got \(codes.count)")
        }
        if let other = codes.first(where: { $0.matrix.side != first.matrix.side }) {
            let sides = "\(first.matrix.side) and \(other.matrix.side)"
            throw QRError(.invalidSize, "expected codes of one size, got \(sides) modules a side")
        }
        self.codes = codes
        columns = (1...codes.count).first { $0 * $0 >= codes.count } ?? 1
    }

    /// What stands under a code: its number and how many there are, such as `2/4`.
    package func label(_ index: Int) -> String { "\(index + 1)/\(codes.count)" }

    /// One picture of all codes in rows from left to right, each with its label, and the caption lines below.
    ///
    /// A module is 8 to 64 whole pixels; anything else throws `invalid-size`, as does a sheet that is then too large.
    package func picture(
        caption lines: [String] = [],
        modulePixels: Int = QRMatrix.minimumModulePixels
    ) throws(QRError) -> GrayImage {
        let cells = try frames(modulePixels: modulePixels)
        let (width, height) = (cells[0].width, cells[0].height)
        let rows = (codes.count + columns - 1) / columns
        let words = CaptionDrawing(lines, width: width * columns, modulePixels: modulePixels)
        var sheet = try GrayImage(width: width * columns, height: height * rows + words.height, shade: 255)
        for (index, cell) in cells.enumerated() {
            sheet.draw(cell, x: index % columns * width, y: index / columns * height)
        }
        words.draw(in: &sheet, y: height * rows)
        return sheet
    }

    /// A picture for each code, all of one size, each with its label and the caption lines below.
    package func frames(
        caption lines: [String] = [],
        modulePixels: Int = QRMatrix.minimumModulePixels
    ) throws(QRError) -> [GrayImage] {
        var frames: [GrayImage] = []
        for (index, code) in codes.enumerated() {
            frames.append(try code.matrix.picture(caption: [label(index)] + lines, modulePixels: modulePixels))
        }
        return frames
    }

    /// The sheet as the bytes of a PNG file that was read back and gave every text, else throws `unreadable-code`.
    package func verifiedPNG(
        caption lines: [String] = [],
        modulePixels: Int = QRMatrix.minimumModulePixels
    ) throws(QRError) -> [UInt8] {
        let bytes = try picture(caption: lines, modulePixels: modulePixels).png()
        var open = Set(codes.map { Array($0.text.utf8) })
        let symbols = try QRDecoder.symbols(in: ImageReader.read(bytes)) { text in
            open.remove(text)
            return open.isEmpty
        }
        let expected = Set(codes.map { Array($0.text.utf8) })
        guard open.isEmpty, symbols.allSatisfy({ $0.kind == .code && expected.contains($0.bytes) }) else {
            throw QRError(
                .unreadableCode,
                "expected the sheet to decode to its \(codes.count) texts, got others or fewer"
            )
        }
        return bytes
    }

    /// The codes one after the other, for ever, as the bytes of an APNG file; `milliseconds` is how long each shows.
    ///
    /// Every frame was decoded before, else it throws `unreadable-code`. A viewer that knows no APNG shows the first.
    package func verifiedLoop(
        caption lines: [String] = [],
        modulePixels: Int = QRMatrix.minimumModulePixels,
        milliseconds: Int
    ) throws(QRError) -> [UInt8] {
        let frames = try frames(caption: lines, modulePixels: modulePixels)
        for (code, frame) in zip(codes, frames) { try code.verify(frame) }
        return try APNGFile.bytes(frames: frames, milliseconds: milliseconds)
    }

    /// The codes for a terminal, each with its label below.
    ///
    /// All have the same columns and rows; write `TerminalPicture.redraw` before each but the first.
    package func verifiedTerminalFrames() throws(QRError) -> [TerminalPicture] {
        var frames: [TerminalPicture] = []
        for (index, code) in codes.enumerated() {
            frames.append(try code.verifiedTerminal().labelled(label(index)))
        }
        return frames
    }
}
