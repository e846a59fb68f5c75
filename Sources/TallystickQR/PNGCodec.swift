import CPNG

/// The calls to libpng, all through its simplified interface, which returns codes and never jumps over Swift.
enum PNGCodec {
    /// The eight bytes every PNG file starts with (PNG section 5.2).
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Decodes a PNG file to grey on white; throws `image-too-large` or `image-damaged`.
    static func decode(_ bytes: [UInt8]) throws(QRError) -> GrayImage {
        let file = try PNGFile(bytes)
        return try unsafe file.essential.withUnsafeBufferPointer { (buffer) throws(QRError) in
            try unsafe decode(buffer, width: file.width, height: file.height)
        }
    }

    private static func decode(
        _ buffer: UnsafeBufferPointer<UInt8>,
        width: Int,
        height: Int
    ) throws(QRError) -> GrayImage {
        var image = unsafe png_image()
        unsafe image.version = png_uint_32(PNG_IMAGE_VERSION)
        // Frees what the calls below allocate, on every way out; it does nothing where they have done so.
        defer { unsafe png_image_free(&image) }
        guard unsafe png_image_begin_read_from_memory(&image, buffer.baseAddress, buffer.count) != 0 else {
            throw unsafe damaged(image)
        }
        guard unsafe Int(image.width) == width, unsafe Int(image.height) == height else {
            throw QRError(.imageDamaged, "expected one size in the PNG file, got two")
        }
        // Without it libpng takes 16-bit files for linear light and brightens them.
        unsafe image.flags |= png_uint_32(PNG_IMAGE_FLAG_16BIT_sRGB)
        let hasAlpha = unsafe image.format & png_uint_32(PNG_FORMAT_FLAG_ALPHA) != 0
        let hasColour = unsafe image.format & png_uint_32(PNG_FORMAT_FLAG_COLOR) != 0
        unsafe image.format =
            (hasAlpha ? png_uint_32(PNG_FORMAT_FLAG_ALPHA) : 0) | (hasColour ? png_uint_32(PNG_FORMAT_FLAG_COLOR) : 0)
        let channels = (hasColour ? 3 : 1) + (hasAlpha ? 1 : 0)
        var pixels = [UInt8](repeating: 255, count: width * height * channels)
        let finished = unsafe pixels.withUnsafeMutableBytes { target in
            unsafe png_image_finish_read(&image, nil, target.baseAddress, Int32(width * channels), nil)
        }
        guard finished != 0 else { throw unsafe damaged(image) }
        if hasColour { pixels = gray(pixels, channels: channels) }
        return GrayImage(width, height, hasAlpha ? onWhite(pixels) : pixels)
    }

    /// Encodes a picture as an 8-bit grey PNG file.
    static func encode(_ picture: GrayImage) throws(QRError) -> [UInt8] {
        var image = unsafe png_image()
        unsafe image.version = png_uint_32(PNG_IMAGE_VERSION)
        unsafe image.width = png_uint_32(picture.width)
        unsafe image.height = png_uint_32(picture.height)
        unsafe image.format = 0  // PNG_FORMAT_GRAY
        defer { unsafe png_image_free(&image) }
        var size = 0
        let row = Int32(picture.width)
        let measured = unsafe picture.pixels.withUnsafeBytes { source in
            unsafe png_image_write_to_memory(&image, nil, &size, 0, source.baseAddress, row, nil)
        }
        guard measured != 0, size > 0 else { throw unsafe failure(image) }
        var bytes = [UInt8](repeating: 0, count: size)
        let written = unsafe bytes.withUnsafeMutableBytes { target in
            unsafe picture.pixels.withUnsafeBytes { source in
                unsafe png_image_write_to_memory(&image, target.baseAddress, &size, 0, source.baseAddress, row, nil)
            }
        }
        guard written != 0, size <= bytes.count else { throw unsafe failure(image) }
        return Array(bytes.prefix(size))
    }

    /// Turns colours into shades, and leaves opacity where it is.
    ///
    /// Weighted as in JPEG (ITU-R BT.601), over the values as they are: libpng would weigh amounts of light, and makes
    /// coloured modules too pale for libzbar so.
    private static func gray(_ colours: [UInt8], channels: Int) -> [UInt8] {
        let kept = channels - 2
        let count = colours.count / channels
        return unsafe GrayImage.bytes(count * kept) { target in
            unsafe colours.withUnsafeBufferPointer { source in
                for index in 0..<count {
                    let place = index &* channels
                    let red = unsafe Int32(source[place]) &* 19_595
                    let green = unsafe Int32(source[place &+ 1]) &* 38_470
                    let blue = unsafe Int32(source[place &+ 2]) &* 7_471  // 65,536 together
                    let shade = UInt8(truncatingIfNeeded: (red &+ green &+ blue &+ 32_768) >> 16)
                    unsafe target[index &* kept] = shade
                    if kept == 2 { unsafe target[index &* 2 &+ 1] = source[place &+ 3] }
                }
            }
        }
    }

    /// Puts pairs of shade and opacity on white.
    private static func onWhite(_ pairs: [UInt8]) -> [UInt8] {
        (0..<pairs.count / 2).map { index in
            let (shade, opacity) = (Int(pairs[index * 2]), Int(pairs[index * 2 + 1]))
            return UInt8(clamping: (shade * opacity + 255 * (255 - opacity) + 127) / 255)
        }
    }

    private static func damaged(_ image: png_image) -> QRError {
        QRError(.imageDamaged, "expected a whole PNG file, libpng says: \(unsafe message(image))")
    }

    private static func failure(_ image: png_image) -> QRError {
        QRError(.libraryFailure, "expected a PNG file from libpng, it says: \(unsafe message(image))")
    }

    private static func message(_ image: png_image) -> String {
        unsafe withUnsafeBytes(of: image.message) { text in
            unsafe String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
