import CTurboJPEG

/// The calls to libjpeg-turbo, through its TurboJPEG interface, which returns codes and never jumps over Swift.
enum JPEGCodec {
    /// The start-of-image marker and the first byte of the next one.
    static let signature: [UInt8] = [0xFF, 0xD8, 0xFF]

    /// Decodes a JPEG file to grey; throws `image-too-large` or `image-damaged`.
    static func decode(_ bytes: [UInt8]) throws(QRError) -> GrayImage {
        guard let handle = unsafe tjInitDecompress() else {
            throw QRError(.libraryFailure, "expected a JPEG decoder, got none")
        }
        let transform = unsafe JPEGTransform(handle)
        return try transform.decode(bytes)
    }

    /// Encodes a picture as a grey JPEG file of quality 1 to 100.
    static func encode(_ picture: GrayImage, quality: Int) throws(QRError) -> [UInt8] {
        guard (1...100).contains(quality) else {
            throw QRError(.invalidSize, "expected a JPEG quality of 1 to 100, got \(quality)")
        }
        guard let handle = unsafe tjInitCompress() else {
            throw QRError(.libraryFailure, "expected a JPEG encoder, got none")
        }
        let transform = unsafe JPEGTransform(handle)
        return try transform.encode(picture, quality: quality)
    }
}

/// Owns one TurboJPEG instance.
@safe private struct JPEGTransform: ~Copyable {
    private let handle: tjhandle

    init(_ handle: tjhandle) {
        unsafe self.handle = unsafe handle
    }

    // The code says only that the instance was none: there is nothing left to free or to report.
    deinit { _ = unsafe tjDestroy(handle) }

    func decode(_ bytes: [UInt8]) throws(QRError) -> GrayImage {
        var (width, height, subsampling, colours) = (Int32(0), Int32(0), Int32(0), Int32(0))
        let size = UInt(bytes.count)
        let header = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe tjDecompressHeader3(handle, buffer.baseAddress, size, &width, &height, &subsampling, &colours)
        }
        guard header == 0, width > 0, height > 0 else { throw damaged() }
        try GrayImage.check(width: Int(width), height: Int(height))
        var pixels = [UInt8](repeating: 255, count: Int(width) * Int(height))
        let result = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe pixels.withUnsafeMutableBufferPointer { target in
                // The limit on scans stops small progressive files that would take minutes.
                unsafe tjDecompress2(
                    handle,
                    buffer.baseAddress,
                    size,
                    target.baseAddress,
                    width,
                    width,
                    height,
                    TJPF_GRAY.rawValue,
                    TJFLAG_LIMITSCANS
                )
            }
        }
        if result != 0 {
            // Cameras write files that decode with a warning; only one that ends early is refused for it.
            let isWarning = unsafe tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue)
            guard isWarning, !message.contains("remature end") else { throw damaged() }
        }
        return GrayImage(Int(width), Int(height), pixels)
    }

    func encode(_ picture: GrayImage, quality: Int) throws(QRError) -> [UInt8] {
        var buffer: UnsafeMutablePointer<UInt8>?
        var size: UInt = 0
        defer { unsafe tjFree(buffer) }
        let (width, height) = (Int32(picture.width), Int32(picture.height))
        let result = unsafe picture.pixels.withUnsafeBufferPointer { source in
            unsafe tjCompress2(
                handle,
                source.baseAddress,
                width,
                width,
                height,
                TJPF_GRAY.rawValue,
                &buffer,
                &size,
                Int32(TJSAMP_GRAY.rawValue),
                Int32(quality),
                0
            )
        }
        guard result == 0, let data = unsafe buffer else {
            throw QRError(.libraryFailure, "expected a JPEG file from libjpeg-turbo, it says: \(message)")
        }
        return unsafe Array(UnsafeBufferPointer(start: data, count: Int(size)))
    }

    private var message: String {
        guard let text = unsafe tjGetErrorStr2(handle) else { return "no reason" }
        return unsafe String(cString: text)
    }

    private func damaged() -> QRError {
        QRError(.imageDamaged, "expected a whole JPEG file, libjpeg-turbo says: \(message)")
    }
}
