import Glibc
import Tallystick
import TallystickQR

/// The functions that libFuzzer calls with made-up input; TALLY_FUZZ_TARGET names one.
///
/// Built only where TALLY_FUZZ is set (`script/fuzz`), with Swift code instrumented for coverage and the address
/// sanitizer. The C libraries are Debian's, not instrumented: of them only crashes, and writes that the sanitizer's
/// own allocator sees, are found.
@main
struct Fuzz {
    typealias Target = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

    static let targets: [(name: String, run: Target)] = [
        ("pictures", { start, count in Fuzz.pictures(Fuzz.bytes(start, count)) }),
        ("decoder", { start, count in Fuzz.decoder(Fuzz.bytes(start, count)) }),
        ("answers", { start, count in Fuzz.answers(Fuzz.bytes(start, count)) }),
        ("texts", { start, count in Fuzz.texts(Fuzz.bytes(start, count)) }),
        ("messages", { start, count in Fuzz.messages(Fuzz.bytes(start, count)) }),
        ("parts", { start, count in Fuzz.parts(Fuzz.bytes(start, count)) }),
    ]

    static func main() {
        // Not an argument: libFuzzer starts this program again, with the arguments that it knows.
        let name = getenv("TALLY_FUZZ_TARGET").map { String(cString: $0) } ?? ""
        guard let target = targets.first(where: { $0.name == name }) else {
            print("TALLY_FUZZ_TARGET names none of \(targets.map(\.name).joined(separator: ", "))")
            exit(64)
        }
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        withUnsafeMutablePointer(to: &arguments) { exit(LLVMFuzzerRunDriver(&count, $0, target.run)) }
    }

    private static func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
        Array(UnsafeBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// A PNG or JPEG file: read whole, or refused by an error.
    private static func pictures(_ bytes: [UInt8]) -> CInt {
        // As it is, and with checksums that fit: else nothing made up would get past libpng's first look.
        for file in [bytes, mended(bytes)] {
            guard let image = try? ImageReader.read(file) else { continue }
            precondition(image.pixels.count == image.width * image.height)
        }
        return 0
    }

    /// A PNG file with the checksum of each chunk put right; anything else as it is.
    private static func mended(_ bytes: [UInt8]) -> [UInt8] {
        var file = bytes
        var position = 8
        while file.first == 0x89, position + 12 <= file.count {
            let length = file[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) }
            guard length <= file.count - position - 12 else { break }
            var sum: UInt32 = ~0
            for byte in file[(position + 4)..<(position + 8 + length)] {
                sum ^= UInt32(byte)
                for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
            }
            for index in 0..<4 {
                file[position + 8 + length + index] = UInt8(truncatingIfNeeded: ~sum >> (24 - 8 * index))
            }
            position += 12 + length
        }
        return file
    }

    /// The pixels of a picture, after two bytes for its width and its scale: the first stage, or all.
    private static func decoder(_ bytes: [UInt8]) -> CInt {
        guard bytes.count > 2 else { return -1 }
        let width = Int(bytes[0]) + 1
        let height = min((bytes.count - 2) / width, 300)
        guard height > 0 else { return -1 }
        let pixels = Array(bytes[2..<(2 + width * height)])
        guard let small = try? GrayImage(width: width, height: height, pixels: pixels) else { return 0 }
        let factor = Int(bytes[1] % 4) + 1
        // The later stages differ by size more than by content: seldom is often enough.
        let budget = bytes[1] >= 252 ? Duration.milliseconds(200) : .zero
        guard let image = try? small.scaled(width: width * factor, height: height * factor),
            let symbols = try? QRDecoder.symbols(in: image, budget: budget)
        else { return 0 }
        for symbol in symbols { precondition(symbol.bytes.count <= 65_536) }
        return 0
    }

    /// Base45, and the text of a code: what is read has one spelling.
    private static func texts(_ bytes: [UInt8]) -> CInt {
        if let decoded = Base45.decode(bytes) { precondition(Array(Base45.encode(decoded).utf8) == bytes) }
        let text = Array(CompactCode.prefix.utf8) + bytes
        if case .message(let message) = CodeMessage.read(text: text), message.bytes.count <= CodePart.largestSymbol {
            precondition(message.texts.count <= 1 || message.texts.allSatisfy { $0.utf8.count <= 311 })
        }
        return 0
    }

    /// The bytes of a message of any kind: what is read writes the same bytes.
    private static func messages(_ bytes: [UInt8]) -> CInt {
        if case .message(let message) = CodeMessage.read(bytes: bytes) { precondition(message.bytes == bytes) }
        if let statement = HandoffStatement(bytes: bytes) { precondition(statement.bytes == bytes) }
        _ = try? FullCode.Contents(bytes: bytes)
        return 0
    }

    /// Parts of messages one after the other, each with its length before it: joined or not, never trapped on.
    private static func parts(_ bytes: [UInt8]) -> CInt {
        var joiner = PartJoiner()
        var rest = bytes[...]
        while let length = rest.popFirst() {
            let part = [0x14] + rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            guard case .message(.part(let read)) = CodeMessage.read(bytes: part) else { continue }
            if case .complete(let whole) = joiner.add(read) { precondition(whole.count == read.total) }
            precondition(joiner.missing.count <= PartJoiner.mostMessages)
        }
        return 0
    }

    /// What a decoding process may print.
    private static func answers(_ bytes: [UInt8]) -> CInt {
        if let symbols = try? PictureDecoder.symbols(inAnswer: bytes) { precondition(symbols.count <= 256) }
        return 0
    }
}

@_silgen_name("LLVMFuzzerRunDriver")
func LLVMFuzzerRunDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ target: Fuzz.Target
) -> CInt
