import CommandLineKit
import Schemes
import Tallystick
import TallystickCrypto
import TallystickQR

extension CommandDeclaration {
    static let scan = CommandDeclaration(
        ["scan"],
        summary: "Show what codes a picture holds",
        discussion: "Shows and does nothing else: a scan never opens, accepts or runs what it read.",
        section: Tally.field,
        arguments: [
            ArgumentDeclaration("IMAGE", .many, values: .files, help: "a PNG or JPEG picture, or - for standard input")
        ],
        examples: [("tally scan photo.jpg", "shows each code, ours or foreign")],
        exitCodes: [(.badInput, "a picture cannot be read or has no code"), (.noInput, "there is no such file")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let schemes = try Workplace.schemes(invocation)
            let now = try Moment.now()
            var isEmpty = false
            var pictures: [CodePicture] = []
            for path in try invocation.arguments("IMAGE") {
                let picture = try CodePicture(path)
                pictures.append(picture)
                isEmpty = isEmpty || picture.symbols.isEmpty
                let page = ScanPage(picture: picture, schemes: schemes, now: now)
                if invocation.isJSON { invocation.console.print(page.json) } else { page.print(on: invocation.console) }
            }
            let scanned = ScannedMessage(pictures)
            if !invocation.isJSON {
                for part in scanned.incomplete {
                    invocation.console.print("  together: \(part.have) of \(part.count) parts of a code")
                }
                for message in scanned.messages where message.texts.count > 1 {
                    invocation.console.print("  together: \(ScanPage.words(message)), whole")
                }
            }
            return isEmpty ? .badInput : .done
        }
    )
}

/// What a scan shows.
private struct ScanPage {
    let picture: CodePicture
    let schemes: SchemeLibrary
    let now: Timestamp

    private func page(_ half: HandoffHalf) -> OfferPage {
        OfferPage(half: half, scheme: schemes.scheme(prefix: half.statement.schemePrefix), now: now)
    }

    static func kind(_ message: CodeMessage) -> String {
        switch message {
        case .offer: "offer"
        case .full: "full-offer"
        case .reply, .fullReply: "reply"
        case .challenge: "challenge"
        case .part: "part"
        }
    }

    static func words(_ message: CodeMessage) -> String {
        switch message {
        case .offer(let half): "offer \(half.statement.offer.short)"
        case .full(let code):
            "a full offer \(code.half.statement.offer.short): `tally accept` verifies and shows the load"
        case .reply(let reply): "a reply to offer \(reply.offer.short): \(reply.isAcceptance ? "accepted" : "declined")"
        case .fullReply(let full):
            "a reply to offer \(full.reply.offer.short): \(full.reply.isAcceptance ? "accepted" : "declined")"
        case .challenge(let challenge):
            "a taker's challenge, until \(Timestamp(milliseconds: challenge.expires * 1_000).map(Moment.text) ?? "?")"
        case .part(let part): "part \(part.index + 1) of \(part.count) of a longer code"
        }
    }

    func print(on console: Console) {
        console.print("\(Console.plain(picture.path)):\(picture.symbols.isEmpty ? " no code was found" : "")")
        for symbol in picture.symbols {
            switch symbol.reading {
            case .message(.offer(let half)): for line in page(half).lines { console.print("  \(line)") }
            case .message(let message): console.print("  \(ScanPage.words(message))")
            case .damaged(let why): console.print("  one of our codes, damaged: \(why)")
            case .foreign:
                let text =
                    String(validating: symbol.text, as: UTF8.self) ?? "\(symbol.text.count) bytes that are no text"
                console.print(
                    "  a foreign code\(symbol.isPartial ? " (one part of several)" : ""): \(Console.plain(text))"
                )
            }
            console.print("    read by stage \(symbol.stage)")
        }
    }

    var json: JSONOutput {
        .object([
            ("image", .string(picture.path)),
            (
                "codes",
                .array(
                    picture.symbols.map { symbol in
                        let kind: String
                        var offer = JSONOutput.null
                        var why: String?
                        switch symbol.reading {
                        case .message(.offer(let half)):
                            kind = "offer"
                            offer = page(half).json
                        case .message(let message): kind = ScanPage.kind(message)
                        case .damaged(let reason):
                            kind = "damaged"
                            why = reason
                        case .foreign: kind = symbol.isPartial ? "partial" : "foreign"
                        }
                        let text = String(validating: symbol.text, as: UTF8.self)
                        return .object([
                            ("kind", .string(kind)), ("stage", .string(symbol.stage)), ("text", .optional(text)),
                            ("offer", offer), ("why", .optional(why)),
                        ])
                    }
                )
            ),
        ])
    }
}
