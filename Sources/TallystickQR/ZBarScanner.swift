import CZBar

/// Owns one libzbar image scanner, set to look for QR codes only.
@safe struct ZBarScanner: ~Copyable {
    private let handle: OpaquePointer

    /// What libzbar found: the bytes it holds, and whether it is a whole code or a part of a set.
    struct Result: Equatable {
        let bytes: [UInt8]
        let isWhole: Bool
    }

    // Not more than a sheet of parts holds by far; a picture of thousands of codes is an attack.
    private static let maximumSymbols = 64

    init() throws(QRError) {
        guard let handle = unsafe zbar_image_scanner_create() else {
            throw QRError(.libraryFailure, "expected a libzbar scanner, got none")
        }
        // Binary keeps byte segments as they are: converted by guess, they came back altered every time.
        let settings: [(zbar_symbol_type_t, zbar_config_t, Int32)] = [
            (ZBAR_NONE, ZBAR_CFG_ENABLE, 0),
            (ZBAR_QRCODE, ZBAR_CFG_ENABLE, 1),
            (ZBAR_QRCODE, ZBAR_CFG_BINARY, 1),
            (ZBAR_NONE, ZBAR_CFG_TEST_INVERTED, 0),  // the negative is scanned on its own
        ]
        for (symbology, setting, value) in settings {
            guard unsafe zbar_image_scanner_set_config(handle, symbology, setting, value) == 0 else {
                unsafe zbar_image_scanner_destroy(handle)
                throw QRError(.libraryFailure, "expected libzbar to take setting \(setting.rawValue), it refused")
            }
        }
        unsafe self.handle = unsafe handle  // last: throwing after this line would run deinit
    }

    deinit { unsafe zbar_image_scanner_destroy(handle) }

    /// Looks for codes in a picture, along every row and column or, faster, along every second of them.
    func scan(_ picture: GrayImage, everySecondLine: Bool = false) throws(QRError) -> [Result] {
        for setting in [ZBAR_CFG_X_DENSITY, ZBAR_CFG_Y_DENSITY] {
            guard unsafe zbar_image_scanner_set_config(handle, ZBAR_NONE, setting, everySecondLine ? 2 : 1) == 0 else {
                throw QRError(.libraryFailure, "expected libzbar to take setting \(setting.rawValue), it refused")
            }
        }
        guard let image = unsafe zbar_image_create() else {
            throw QRError(.libraryFailure, "expected a libzbar image, got none")
        }
        defer { unsafe zbar_image_destroy(image) }
        return try unsafe picture.pixels.withUnsafeBufferPointer { (buffer) throws(QRError) in
            unsafe zbar_image_set_format(image, 0x3030_3859)  // "Y800", little-endian: 8-bit grey
            unsafe zbar_image_set_size(image, UInt32(picture.width), UInt32(picture.height))
            // No clean-up handler: the pixels are lent, and taken back before the closure ends.
            unsafe zbar_image_set_data(image, buffer.baseAddress, UInt(buffer.count), nil)
            defer { unsafe zbar_image_set_data(image, nil, 0, nil) }
            guard unsafe zbar_scan_image(handle, image) >= 0 else {
                throw QRError(.libraryFailure, "expected libzbar to scan the picture, it failed")
            }
            return unsafe results(of: image)
        }
    }

    /// The version of the library in use: major, minor, patch; nil where it does not say.
    static var version: (Int, Int, Int)? {
        var (major, minor, patch) = (UInt32(0), UInt32(0), UInt32(0))
        guard unsafe zbar_version(&major, &minor, &patch) == 0 else { return nil }
        return (Int(major), Int(minor), Int(patch))
    }

    private func results(of image: OpaquePointer) -> [Result] {
        var results: [Result] = []
        var symbol = unsafe zbar_image_first_symbol(image)
        while let current = unsafe symbol, results.count < ZBarScanner.maximumSymbols {
            let kind = unsafe zbar_symbol_get_type(current)
            if kind == ZBAR_QRCODE || kind == ZBAR_PARTIAL {
                // The length counts, not a NUL: bytes in a code may hold any value.
                let count = Int(unsafe zbar_symbol_get_data_length(current))
                let data = unsafe zbar_symbol_get_data(current)
                let bytes = unsafe UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count)
                results.append(Result(bytes: unsafe Array(bytes), isWhole: kind == ZBAR_QRCODE))
            }
            unsafe symbol = unsafe zbar_symbol_next(current)
        }
        return results
    }
}
