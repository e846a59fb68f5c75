/// The frame of a PNG file: its chunks, looked at before libpng sees any of it.
struct PNGFile {
    /// Pixels in a row, within the limits.
    let width: Int
    /// Rows, within the limits.
    let height: Int
    /// The file reduced to the chunks that make the picture.
    ///
    /// Profiles, texts and the like are left out: they may be compressed, and have been the way into libpng before.
    let essential: [UInt8]

    private static let kept = ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]

    /// Walks the chunks (PNG section 5.3) up to `IEND`; what follows that is ignored.
    ///
    /// Throws `image-too-large` from the header alone, and `image-damaged` where the file ends before its last chunk.
    init(_ bytes: [UInt8]) throws(QRError) {
        let start = PNGCodec.signature.count
        guard let header = PNGFile.chunk(in: bytes, at: start), header.name == "IHDR", header.length == 13 else {
            throw QRError(.imageDamaged, "expected the PNG file to start with a header of 13 bytes, got something else")
        }
        width = PNGFile.number(in: bytes, at: start + 8)
        height = PNGFile.number(in: bytes, at: start + 12)
        guard width > 0, height > 0 else {
            throw QRError(.imageDamaged, "expected a PNG picture with an area, got \(width) × \(height)")
        }
        try GrayImage.check(width: width, height: height)
        var essential = Array(bytes.prefix(start))
        var position = start
        while let chunk = PNGFile.chunk(in: bytes, at: position) {
            let end = position + 12 + chunk.length
            if PNGFile.kept.contains(chunk.name) { essential += bytes[position..<end] }
            if chunk.name == "IEND" {
                self.essential = essential
                return
            }
            position = end
        }
        throw QRError(
            .imageDamaged,
            "expected the PNG file to end with an IEND chunk, got \(bytes.count) bytes without one"
        )
    }

    /// What the chunks of a name hold, in their order, up to the first that is cut off.
    static func chunks(in bytes: [UInt8], named name: String) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var position = PNGCodec.signature.count
        while let chunk = chunk(in: bytes, at: position) {
            if chunk.name == name { found.append(Array(bytes[(position + 8)..<(position + 8 + chunk.length)])) }
            position += 12 + chunk.length
        }
        return found
    }

    /// The chunk at a position, or nil where the file has no room for all of it.
    private static func chunk(in bytes: [UInt8], at position: Int) -> (name: String, length: Int)? {
        guard bytes.count - position >= 12 else { return nil }
        let length = number(in: bytes, at: position)
        guard length <= bytes.count - position - 12 else { return nil }
        return (String(decoding: bytes[(position + 4)..<(position + 8)], as: UTF8.self), length)
    }

    private static func number(in bytes: [UInt8], at position: Int) -> Int {
        bytes[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
}
