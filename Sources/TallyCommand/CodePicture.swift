import CommandLineKit
import Tallystick
import TallystickCrypto
import TallystickQR

/// What was found in a picture, or in a text that a hand scanner typed.
struct CodePicture {
    let path: String
    let symbols: [Symbol]

    struct Symbol {
        let reading: CompactCode.Reading
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
            var text = bytes
            while text.last == 0x0A || text.last == 0x0D { text.removeLast() }
            symbols = [Symbol(reading: CompactCode.read(text), text: text, stage: "text", isPartial: false)]
            return
        }
        let found: [QRSymbol]
        do {
            found = try PictureDecoder.ownProgram.symbols(in: bytes)
        } catch {
            throw CommandError(
                exit: .badInput,
                code: error.code.rawValue,
                message: "\(path): \(error.message)",
                remedy: "take the picture again, as PNG or JPEG"
            )
        }
        symbols = found.map { symbol in
            Symbol(
                reading: CompactCode.read(symbol.bytes),
                text: symbol.bytes,
                stage: symbol.stage,
                isPartial: symbol.kind == .partial
            )
        }
    }

    /// The one offer in the picture; throws, by name, where there is none or more than one.
    func offer() throws(CommandError) -> HandoffHalf {
        var halves: [HandoffHalf] = []
        var damage: String?
        for symbol in symbols {
            switch symbol.reading {
            case .half(let half): if !halves.contains(half) { halves.append(half) }
            case .damaged(let why): damage = why
            case .foreign: break
            }
        }
        if let half = halves.first, halves.count == 1 { return half }
        if halves.count > 1 {
            throw failure(
                "several-codes",
                "there are \(halves.count) different offers in it",
                "show one code at a time"
            )
        }
        if let damage {
            throw failure(
                "damaged-code",
                "the code is one of ours but damaged: \(damage)",
                "ask the giver to show it again"
            )
        }
        if !symbols.isEmpty {
            throw failure("foreign-code", "the code in it is not a handoff", "look at it with `tally scan`")
        }
        throw failure(
            "no-code",
            "no code was found in it",
            "take the picture again: the whole code with its white edge, sharp, filling half of the picture"
        )
    }

    private func failure(_ code: String, _ message: String, _ remedy: String) -> CommandError {
        CommandError(exit: .badInput, code: code, message: "\(path): \(message)", remedy: remedy)
    }
}

/// What an offer's code says, for a person.
struct OfferPage {
    let half: HandoffHalf
    let scheme: Scheme?
    let now: Timestamp

    private var rule: Scheme.HandoffRule? {
        let index = half.statement.handoffIndex
        return scheme.flatMap { $0.handoffs.indices.contains(index) ? $0.handoffs[index] : nil }
    }

    var isExpired: Bool { now.seconds >= half.statement.expires }

    var lines: [String] {
        let statement = half.statement
        let until = statement.expiry?.at(offsetMinutes: now.offsetMinutes).map(Moment.text) ?? "an impossible time"
        return [
            "Offer \(statement.offer.short)" + (isExpired ? ", expired" : ""),
            rule.map { "  \($0.title): from \($0.from) to \($0.to)" } ?? "  under rules that are not known here",
            "  chain    …\(Workplace.short(statement.chain))",
            "  until    \(until)",
            "  covers   what the giver says and signed, hash \(statement.snapshot.hex.prefix(16))…",
        ] + (statement.isBound ? ["  only for the party that the giver named"] : [])
            + ["  unverified until synced: only the giver and the server can check the code's MAC"]
    }

    var json: JSONOutput {
        let statement = half.statement
        return .object([
            ("offer", .string(statement.offer.description)),
            ("chain", .string(statement.chain.description)),
            ("scheme", .optional(scheme?.reference.id.text)),
            ("handoff", .optional(rule?.name.text)),
            ("from", .optional(rule?.from.text)),
            ("to", .optional(rule?.to.text)),
            ("expires", .optional(statement.expiry?.description)),
            ("expired", .bool(isExpired)),
            ("bound", .bool(statement.isBound)),
            ("snapshot", .string(statement.snapshot.hex)),
            ("verified", .string("not-until-synced")),
        ])
    }
}
