import CommandLineKit
import Tallystick
import TallystickCrypto
import TallystickQR

/// What was found in a picture, or in a text that a hand scanner typed.
struct CodePicture {
    let path: String
    let symbols: [Symbol]

    struct Symbol {
        let reading: CodeMessage.Reading
        let text: [UInt8]
        let stage: String
        let isPartial: Bool
    }

    /// The largest file that is looked at, in bytes.
    static let largest = 25 << 20

    init(_ path: String) throws {
        self.path = path
        let bytes = try Files.read(path, limit: CodePicture.largest)
        if bytes.starts(with: CompactCode.prefix.utf8) {
            // One text a line: the parts of a long message are several.
            symbols = bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map { line in
                Symbol(reading: CodeMessage.read(text: Array(line)), text: Array(line), stage: "text", isPartial: false)
            }
            return
        }
        do throws(QRError) {
            symbols = try PictureDecoder.ownProgram.symbols(in: bytes).map { symbol in
                Symbol(
                    reading: CodeMessage.read(text: symbol.bytes),
                    text: symbol.bytes,
                    stage: symbol.stage,
                    isPartial: symbol.kind == .partial
                )
            }
        } catch {
            throw CommandError(
                exit: .badInput,
                code: error.code.rawValue,
                message: "\(path): \(error.message)",
                remedy: "take the picture again, as PNG or JPEG"
            )
        }
    }
}

/// The one message that some pictures hold together.
struct ScannedMessage {
    /// The pictures' paths, for messages.
    let paths: String
    /// The whole messages, each once; joined ones among them.
    private(set) var messages: [CodeMessage] = []
    /// How many parts there are of messages that are not whole.
    private(set) var incomplete: [(have: Int, count: Int)] = []
    private var damaged: [[UInt8]] = []
    private var damage: String?
    private var hasForeign = false

    init(_ pictures: [CodePicture]) {
        paths = pictures.map(\.path).joined(separator: ", ")
        var joiner = PartJoiner()
        for symbol in pictures.flatMap(\.symbols) {
            switch symbol.reading {
            case .message(.part(let part)):
                switch joiner.add(part) {
                case .complete(let bytes): take(CodeMessage.read(bytes: bytes), text: bytes)
                case .incomplete: break
                case .damaged: take(.damaged("its parts do not fit together"), text: symbol.text)
                }
            case .foreign: hasForeign = true
            case let reading: take(reading, text: symbol.text)
            }
        }
        incomplete = joiner.missing
    }

    private mutating func take(_ reading: CodeMessage.Reading, text: [UInt8]) {
        switch reading {
        case .message(let message): if !messages.contains(message) { messages.append(message) }
        case .damaged(let why):
            if !damaged.contains(text) { damaged.append(text) }
            damage = why
        case .foreign: hasForeign = true
        }
    }

    /// The one whole message; throws, by name, where there is none or more than one.
    func only() throws(CommandError) -> CodeMessage {
        if let message = messages.first, messages.count == 1, damaged.isEmpty { return message }
        // A damaged one counts: nobody can say that it was not the one that was meant.
        if messages.count + damaged.count > 1 {
            throw failure(
                "several-codes",
                "there are \(messages.count + damaged.count) different codes of ours in it",
                "show one code at a time"
            )
        }
        if let damage {
            throw failure("damaged-code", "the code is one of ours but damaged: \(damage)", "ask to be shown it again")
        }
        if let part = incomplete.first {
            throw failure(
                "parts-missing",
                "\(part.have) of \(part.count) parts of the code were read",
                "take another picture of the rest and add it with --also FILE"
            )
        }
        if hasForeign {
            throw failure("foreign-code", "the code in it is not one of ours", "look at it with `tally scan`")
        }
        throw failure(
            "no-code",
            "no code was found in it",
            "take the picture again: the whole code with its white edge, sharp, filling half of the picture"
        )
    }

    /// The offer in the pictures, compact or full.
    func offer() throws(CommandError) -> (half: HandoffHalf, full: FullCode?) {
        switch try only() {
        case .offer(let half): return (half, nil)
        case .full(let code): return (code.half, code)
        case .reply, .fullReply:
            throw failure(
                "other-code",
                "the code is a taker's reply, not an offer",
                "the giver reads it with `tally ack`"
            )
        case .challenge:
            throw failure(
                "other-code",
                "the code is a taker's challenge, not an offer",
                "the giver answers it with `tally offer --challenge IMAGE`"
            )
        case .part: throw failure("parts-missing", "it is one part of a code", "add the others with --also FILE")
        }
    }

    /// The reply in the pictures.
    func reply() throws(CommandError) -> (reply: HandoffReply, full: FullReply?) {
        switch try only() {
        case .reply(let reply): return (reply, nil)
        case .fullReply(let full): return (full.reply, full)
        case .offer, .full, .challenge, .part:
            throw failure(
                "other-code",
                "the code is not a taker's reply",
                "the taker makes one with `tally accept --reply FILE`"
            )
        }
    }

    /// The challenge in the pictures.
    func challenge() throws(CommandError) -> HandoffChallenge {
        guard case .challenge(let challenge) = try only() else {
            throw failure("other-code", "the code is not a challenge", "the taker makes one with `tally challenge`")
        }
        return challenge
    }

    private func failure(_ code: String, _ message: String, _ remedy: String) -> CommandError {
        CommandError(exit: .badInput, code: code, message: "\(paths): \(message)", remedy: remedy)
    }
}
