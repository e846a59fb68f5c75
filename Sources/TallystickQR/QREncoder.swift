import CQREncode
import Glibc

/// The calls to libqrencode.
enum QREncoder {
    /// Modules row by row, `side` × `side` of them, true where dark.
    struct Symbol {
        let side: Int
        let modules: [Bool]
    }

    /// Makes the smallest symbol that holds the characters, which must be alphanumeric and at most 4,296.
    ///
    /// One segment is built by hand: `QRcode_encodeString` refuses the alphanumeric hint, splits the text by
    /// itself and stops at NUL (fukuchi/libqrencode#34, #233).
    static func symbol(alphanumeric characters: [UInt8], level: ErrorCorrection) throws(QRError) -> Symbol {
        guard let input = unsafe QRinput_new2(0, code(of: level)) else {
            throw QRError(.libraryFailure, "expected a libqrencode input, got errno \(errno)")
        }
        defer { unsafe QRinput_free(input) }
        let appended = unsafe characters.withUnsafeBufferPointer { buffer in
            unsafe QRinput_append(input, QR_MODE_AN, Int32(clamping: buffer.count), buffer.baseAddress)
        }
        guard appended == 0 else {
            let reason = errno
            if reason == ERANGE { throw tooLarge }
            throw QRError(.notAlphanumeric, "expected alphanumeric text, libqrencode refused it (errno \(reason))")
        }
        guard let symbol = unsafe QRcode_encodeInput(input) else {
            let reason = errno
            if reason == ERANGE { throw tooLarge }
            throw QRError(.libraryFailure, "expected a symbol from libqrencode, got errno \(reason)")
        }
        defer { unsafe QRcode_free(symbol) }
        let side = Int(unsafe symbol.pointee.width)
        guard (21...177).contains(side), let data = unsafe symbol.pointee.data else {
            throw QRError(.libraryFailure, "expected a symbol of 21 to 177 modules, got \(side)")
        }
        // Only bit 0 is the colour; the others say what the module is for.
        let modules = unsafe UnsafeBufferPointer(start: data, count: side * side).map { $0 & 1 == 1 }
        return Symbol(side: side, modules: modules)
    }

    private static let tooLarge = QRError(.tooLarge, "expected text that a version 40 symbol can hold, got more")

    private static func code(of level: ErrorCorrection) -> QRecLevel {
        switch level {
        case .low: QR_ECLEVEL_L
        case .medium: QR_ECLEVEL_M
        case .quartile: QR_ECLEVEL_Q
        case .high: QR_ECLEVEL_H
        }
    }
}
