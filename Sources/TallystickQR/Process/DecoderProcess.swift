import Glibc
import Tallystick
import TallystickCrypto

/// The process that looks at one picture and prints what it found.
///
/// Pictures come from anybody, and the libraries that read them are in C: whatever they do to this process, it holds
/// nothing but the picture, and can reach nothing.
package enum DecoderProcess {
    /// The first argument that makes `tally` this process.
    package static let argument = "__decode"

    /// Reads a picture file from standard input, and prints one JSON line for each symbol and one at the end.
    ///
    /// Returns the exit status: 0, or 1 after a line that names the error. Sets limits on the process before the first
    /// byte is read.
    package static func run(wanted: ([UInt8]) -> Bool) -> Int32 {
        let start = ContinuousClock.now
        do throws(QRError) {
            try Confinement.enter()
            let image = try ImageReader.read(try input())
            let rest = QRDecoder.usualBudget - (ContinuousClock.now - start)
            let symbols = try QRDecoder.symbols(in: image, budget: rest, wanted: wanted)
            try print(DecoderLines.bytes(of: symbols))
            return 0
        } catch {
            do throws(QRError) {
                try print(DecoderLines.bytes(of: error))
            } catch {
                return 2  // nobody can be told
            }
            return 1
        }
    }

    /// Standard input up to its end, or up to one byte more than a picture file may have.
    private static func input() throws(QRError) -> [UInt8] {
        let limit = ImageReader.maximumBytes + 1
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while bytes.count < limit {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(STDIN_FILENO, $0.baseAddress, $0.count) }
            let code = errno
            if count == 0 { break }
            if count < 0, code == EINTR { continue }
            guard count > 0 else { throw QRError(.decoderFailed, "expected a picture to read, got errno \(code)") }
            bytes += buffer[..<count]
        }
        return bytes
    }

    private static func print(_ bytes: [UInt8]) throws(QRError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
                return unsafe write(STDOUT_FILENO, rest.baseAddress, rest.count)
            }
            let code = errno
            if count < 0, code == EINTR { continue }
            guard count > 0 else { throw QRError(.decoderFailed, "expected the answer to be read, got errno \(code)") }
            written += count
        }
    }
}

/// What the decoding process prints: one JSON object a line.
///
/// A symbol is `{"kind":"code","stage":"native","text":"…base64…"}`, an error `{"code":"…","error":"…"}`, and the end
/// of a whole answer `{"end":2}` with the number of symbols.
enum DecoderLines {
    static func bytes(of symbols: [QRSymbol]) throws(QRError) -> [UInt8] {
        var lines: [JSON] = symbols.map { symbol in
            .members([
                ("kind", .string(symbol.kind.rawValue)), ("stage", .string(symbol.stage)),
                ("text", .string(Base64.encode(symbol.bytes))),
            ])
        }
        lines.append(.members([("end", .integer(symbols.count))]))
        var bytes: [UInt8] = []
        for line in lines { bytes += try text(of: line) }
        return bytes
    }

    static func bytes(of error: QRError) throws(QRError) -> [UInt8] {
        try text(of: .members([("code", .string(error.code.rawValue)), ("error", .string(error.message))]))
    }

    /// Reads a whole answer back; the process may be in anybody's hands by then, so nothing of it is taken on trust.
    ///
    /// Throws the error that the answer names, and `decoder-failed` for what is no whole answer.
    static func symbols(in bytes: [UInt8]) throws(QRError) -> [QRSymbol] {
        var symbols: [QRSymbol] = []
        var isWhole = false
        for line in bytes.split(separator: 0x0A) {
            guard !isWhole, let object = try? JSON.parse(line) else { throw noAnswer }
            if let code = object["code"]?.text.flatMap(QRError.Code.init(rawValue:)), let why = object["error"]?.text {
                throw QRError(code, why)
            }
            if let count = object["end"]?.integer {
                guard count == symbols.count else { throw noAnswer }
                isWhole = true
                continue
            }
            guard symbols.count < mostSymbols,
                let kind = object["kind"]?.text.flatMap(QRSymbol.Kind.init(rawValue:)),
                let stage = object["stage"]?.text, isName(stage),
                let text = object["text"]?.text.flatMap(Base64.decode)
            else { throw noAnswer }
            symbols.append(QRSymbol(kind: kind, bytes: text, stage: stage))
        }
        guard isWhole else { throw noAnswer }
        return symbols
    }

    /// Symbols in an answer: as many different ones as there may be, and each as often as libzbar tells.
    private static let mostSymbols = 256

    private static let noAnswer = QRError(
        .decoderFailed,
        "expected an answer of the decoding process, got none or half"
    )

    private static func isName(_ stage: String) -> Bool {
        stage.utf8.count <= 64
            && stage.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }

    private static func text(of line: JSON) throws(QRError) -> [UInt8] {
        do {
            return try line.canonicalBytes() + [0x0A]
        } catch {
            throw QRError(.decoderFailed, "expected an answer that can be written, got \(error)")
        }
    }
}
