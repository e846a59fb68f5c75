/// Why a code could not be made, or a picture not be read.
///
/// A picture without a code is no error: the decoder then returns no symbols.
package struct QRError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What to branch on.
    package enum Code: String, Sendable, CaseIterable {
        /// The text needs a symbol above the largest version asked for, or is above 4,296 characters.
        case tooLarge = "too-large"
        /// There is nothing to put into a code.
        case empty = "empty"
        /// The text holds a character outside the 45 of alphanumeric mode.
        case notAlphanumeric = "not-alphanumeric"
        /// A number given by the caller (pixels per module, quality, dimensions) is out of range.
        case invalidSize = "invalid-size"
        /// A finished picture did not decode to the text it was made from.
        case unreadableCode = "unreadable-code"
        /// The bytes are neither PNG nor JPEG.
        case notAnImage = "not-an-image"
        /// The file or its dimensions are above the limits of design section 14.
        case imageTooLarge = "image-too-large"
        /// The file ends early, contradicts itself or does not decode.
        case imageDamaged = "image-damaged"
        /// The picture holds more codes than anybody shows at once.
        case tooManyCodes = "too-many-codes"
        /// The process that looked at the picture ended without an answer, or with one that is none.
        case decoderFailed = "decoder-failed"
        /// The process that looked at the picture had no answer in time and was ended.
        case decoderTimeout = "decoder-timeout"
        /// A library refused its set-up or ran out of memory.
        case libraryFailure = "library-failure"
    }

    /// The reason as a value.
    package let code: Code
    /// The reason in words: what was expected and what came.
    package let message: String

    /// Makes an error from its parts.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message in one line.
    package var description: String { "\(code.rawValue): \(message)" }
}
