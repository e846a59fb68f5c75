/// Reads picture files that come from users and cameras.
package enum ImageReader {
    /// The largest file read, in bytes: 25 MiB (design section 14).
    package static let maximumBytes = 25 * 1024 * 1024

    /// Decodes a PNG or JPEG file to grey; transparent places show white.
    ///
    /// The kind comes from the first bytes, never from a name, and the dimensions from the header before anything is
    /// decoded. Throws `not-an-image` for every other format, `image-too-large` above 25 MiB, 12,000 pixels a side or
    /// 50 megapixels, and `image-damaged` for a file that ends early or contradicts itself.
    package static func read(_ bytes: [UInt8]) throws(QRError) -> GrayImage {
        guard bytes.count <= maximumBytes else {
            throw QRError(.imageTooLarge, "expected a file of at most \(maximumBytes) bytes, got \(bytes.count)")
        }
        if bytes.starts(with: PNGCodec.signature) { return try PNGCodec.decode(bytes) }
        if bytes.starts(with: JPEGCodec.signature) { return try JPEGCodec.decode(bytes) }
        let start = bytes.prefix(4).map { String($0, radix: 16) }.joined(separator: " ")
        throw QRError(.notAnImage, "expected a PNG or JPEG file, got \(bytes.count) bytes that start with \"\(start)\"")
    }
}

extension GrayImage {
    /// The bytes of an 8-bit grey PNG file; throws `library-failure` where memory is short.
    package func png() throws(QRError) -> [UInt8] {
        try PNGCodec.encode(self)
    }

    /// The bytes of a grey JPEG file of quality 1 to 100, else throws `invalid-size`.
    package func jpeg(quality: Int) throws(QRError) -> [UInt8] {
        try JPEGCodec.encode(self, quality: quality)
    }
}
