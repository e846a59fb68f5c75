/// A QR code found in a picture.
package struct QRSymbol: Equatable, Sendable {
    /// What was found.
    package enum Kind: String, Sendable {
        /// A whole code.
        case code
        /// A part of a set (structured append) whose other parts are not in the picture.
        case partial
    }

    /// Whether the code is whole.
    package let kind: Kind
    /// The bytes it holds, NULs included; nothing is converted.
    package let bytes: [UInt8]
    /// The name of the stage that read it first, such as `native` or `keystone-left-12`.
    package let stage: String

    /// The bytes as text, or nil where they are not UTF-8.
    package var text: String? { String(validating: bytes, as: UTF8.self) }
}

/// Finds QR codes in pictures, in this process.
package enum QRDecoder {
    /// Looks for codes until one is wanted.
    ///
    /// The stages of `DecodingStage.all` that apply to the picture run in their order. `wanted` is asked once for
    /// each new whole code, in the order they are found, and the search ends after the stage in which it said yes; it
    /// may keep count, so as to say yes only to the last part of a message. All symbols found until then are returned,
    /// each as often as one stage saw it, or none: that is no error. Throws `library-failure` only.
    package static func symbols(
        in image: GrayImage,
        wanted: ([UInt8]) -> Bool = { _ in true }
    ) throws(QRError) -> [QRSymbol] {
        let scanner = try ZBarScanner()
        var views = PictureViews(image)
        var found: [QRSymbol] = []
        for stage in DecodingStage.all where stage.applies(image) {
            let results = try scanner.scan(views.picture(for: stage))
            let known = found
            var isDone = false
            for result in results {
                let kind: QRSymbol.Kind = result.isWhole ? .code : .partial
                guard !known.contains(where: { $0.kind == kind && $0.bytes == result.bytes }) else { continue }
                found.append(QRSymbol(kind: kind, bytes: result.bytes, stage: stage.name))
                if result.isWhole, wanted(result.bytes) { isDone = true }
            }
            if isDone { break }
        }
        return found
    }
}
