/// Animated PNG files (PNG third edition, section 11.3.3.5), put together from frames that libpng wrote.
enum APNGFile {
    /// The bytes of a file that shows the frames one after the other, for ever, each for so many milliseconds.
    ///
    /// All frames must have the size of the first, and `milliseconds` be 20 to 60,000, else throws `invalid-size`;
    /// `empty` without frames.
    static func bytes(frames: [GrayImage], milliseconds: Int) throws(QRError) -> [UInt8] {
        guard let first = frames.first else { throw QRError(.empty, "expected frames to show, got none") }
        guard (20...60_000).contains(milliseconds) else {
            throw QRError(.invalidSize, "expected 20 to 60,000 ms for each frame, got \(milliseconds)")
        }
        guard frames.allSatisfy({ $0.width == first.width && $0.height == first.height }) else {
            throw QRError(.invalidSize, "expected frames of one size, got several")
        }
        var file = PNGCodec.signature
        var sequence = 0
        for (index, frame) in frames.enumerated() {
            let still = try PNGCodec.encode(frame)
            if index == 0 {
                file += PNGFile.chunks(in: still, named: "IHDR").flatMap { chunk("IHDR", $0) }
                // No number of plays is for ever.
                file += chunk("acTL", number(frames.count) + number(0))
            }
            let size = number(first.width) + number(first.height)
            // At the corner, for so many thousandths of a second, left as it is, replacing what was there.
            let place = number(0) + number(0) + Array(number(milliseconds).suffix(2)) + Array(number(1_000).suffix(2))
            file += chunk("fcTL", number(sequence) + size + place + [0, 0])
            sequence += 1
            for data in PNGFile.chunks(in: still, named: "IDAT") {
                if index == 0 {
                    file += chunk("IDAT", data)
                } else {
                    file += chunk("fdAT", number(sequence) + data)
                    sequence += 1
                }
            }
        }
        return file + chunk("IEND", [])
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + data
        return number(data.count) + body + number(Int(checksum(body)))
    }

    private static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// The CRC-32 of a chunk (PNG annex D).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }
}
