import CommandLineKit
import Schemes
import Tallystick
import TallystickCrypto
import TallystickDevice
import TallystickQR

extension CommandDeclaration {
    static let offer = CommandDeclaration(
        ["offer"],
        summary: "Offer the load to the next holder by a QR code",
        discussion: """
            Makes an offer and shows its code: on the terminal, or as a file to show on a screen or print. Whoever \
            scans it first, before it ends, takes the load over.
            """,
        section: Tally.field,
        arguments: [.chain],
        options: [
            OptionDeclaration(
                "to",
                value: "ROLE",
                help: "the receiving role or the handoff's name, where there are several"
            ),
            OptionDeclaration("for", value: "TIME", help: "how long it lasts: 90s, 15m or 2h", ),
            OptionDeclaration("png", value: "FILE", values: .files, help: "write the code as a PNG picture"),
            OptionDeclaration("svg", value: "FILE", values: .files, help: "write the code as an SVG picture"),
            OptionDeclaration("text", value: "FILE", values: .files, help: "write the code's text"),
        ],
        examples: [
            ("tally offer 1f0c3a9e --png code.png", "writes a picture of the code"),
            ("tally offer 1f0c3a9e --to receiver --for 30m", "shows the code on the terminal for half an hour"),
        ],
        exitCodes: [(.noInput, "there is no such chain or home")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let made = try place.device.offer(
                chain,
                to: try invocation.option("to").flatMap(Name.init),
                lasting: try invocation.option("for").map(seconds(in:))
            )
            let until = Moment.text(
                made.offer.expires.at(offsetMinutes: try Moment.now().offsetMinutes) ?? made.offer.expires
            )
            let code = try QRCode(made.code)
            let caption = [
                "Offer \(made.offer.id.short)", "\(made.handoff.from) to \(made.handoff.to)", "until \(until)",
            ]
            var written: [String] = []
            if let path = try invocation.option("png") {
                try Files.write(try code.verifiedPNG(caption: caption), to: path)
                written.append(path)
            }
            if let path = try invocation.option("svg") {
                try Files.write(Array(try code.verifiedSVG(caption: caption).utf8), to: path)
                written.append(path)
            }
            if let path = try invocation.option("text") {
                try Files.write(Array((made.code + "\n").utf8), to: path)
                written.append(path)
            }
            if written.isEmpty, !invocation.isJSON { try show(code, on: place.console) }
            place.report(
                made.said,
                """
                Offer \(made.offer.id.short) of chain …\(Workplace.short(chain)) to a \(made.handoff.to), until \(until).\
                \(written.isEmpty ? "" : " Written: \(written.joined(separator: ", ")).")
                """,
                more: [
                    ("offer", .string(made.offer.id.description)), ("to", .string(made.handoff.to.text)),
                    ("expires", .string(made.offer.expires.description)), ("code", .string(made.code)),
                    ("files", .strings(written)),
                ]
            )
            return .done
        }
    )

    private static func show(_ code: QRCode, on console: Console) throws {
        guard console.isTerminal(.output) else {
            console.print(code.text)
            return
        }
        let picture = try code.verifiedTerminal()
        guard picture.columns <= console.width else {
            throw CommandError(
                exit: .failed,
                code: "window-too-small",
                message:
                    "the code needs \(picture.columns) columns and \(picture.rows) rows, the window has \(console.width) columns",
                remedy: "the offer is saved: make the window larger and offer again, or use --png FILE"
            )
        }
        console.write(picture.text)
    }

    private static func seconds(in text: String) throws(CommandError) -> Int {
        let units: [(String, Int)] = [("s", 1), ("m", 60), ("h", 3_600)]
        for (unit, size) in units where text.hasSuffix(unit) {
            if let count = Int(text.dropLast()), count > 0, count <= 86_400 { return count * size }
        }
        throw .usage("expected a time such as 90s, 15m or 2h, got '\(Console.plain(text))'", code: "time-invalid")
    }

    static let withdraw = CommandDeclaration(
        ["withdraw"],
        summary: "Take an offer back",
        section: Tally.field,
        arguments: [.chain],
        options: [
            OptionDeclaration("offer", value: "ID", help: "the offer, where several are open"),
            OptionDeclaration("why", value: "TEXT", help: "the reason"),
        ],
        examples: [("tally withdraw 1f0c3a9e --why 'wrong skip'", "takes the open offer back")],
        exitCodes: [(.noInput, "there is no such chain or home")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let said = try place.device.withdraw(
                try place.chain(invocation),
                offer: try invocation.option("offer").flatMap(OfferID.init(_:)),
                why: try invocation.option("why") ?? ""
            )
            place.report(said, "The offer is withdrawn. A taker who scanned it before may still be first.")
            return .done
        }
    )

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
            let schemes = try ShippedSchemes.read()
            let now = try Moment.now()
            var isEmpty = false
            for path in try invocation.arguments("IMAGE") {
                let picture = try CodePicture(path)
                isEmpty = isEmpty || picture.symbols.isEmpty
                let page = ScanPage(picture: picture, schemes: schemes, now: now)
                if invocation.isJSON { invocation.console.print(page.json) } else { page.print(on: invocation.console) }
            }
            return isEmpty ? .badInput : .done
        }
    )

    static let accept = CommandDeclaration(
        ["accept"],
        summary: "Take a load over by the giver's code",
        discussion: """
            Reads the code, shows what it says, and asks. Nothing else need be known: the load can be taken with no \
            signal and without any earlier sync.

            With --watch, IMAGE names a folder: each picture that arrives there, from a phone say, is tried until one \
            is accepted.
            """,
        section: Tally.field,
        arguments: [
            ArgumentDeclaration("IMAGE", values: .files, help: "a picture of the code, or - for standard input"),
            .values,
        ],
        options: [
            .from, .yes, OptionDeclaration(flag: "watch", help: "wait for pictures to arrive in the folder IMAGE"),
        ],
        examples: [
            ("tally accept photo.jpg vehicleRegistration='AB12 CDE'", "takes the load and gives a value of yours"),
            ("tally accept photo.jpg --yes", "takes it without asking, for scripts"),
            ("tally accept --watch ~/Pictures", "waits for a picture of the code to arrive in the folder"),
        ],
        exitCodes: [
            (.badInput, "there is no code, or not one of ours, or several"),
            (.noInput, "there is no such file or home"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let image = try invocation.argument("IMAGE")
            guard try invocation.flag("watch") else { return try accept(image, in: place, invocation) }
            return try await WatchedFolder(image).firstToPass(on: place.console) {
                try accept($0, in: place, invocation)
            }
        }
    )

    private static func accept(_ image: String, in place: Workplace, _ invocation: Invocation) throws -> ExitCode {
        let half = try CodePicture(image).offer()
        let scheme = place.device.schemes.first {
            $0.reference.hash.bytes.starts(with: half.statement.schemePrefix)
        }
        let role = try place.device.taker(of: half.statement, role: nil)
        guard let scheme else { return .failed }
        let values = try Values(invocation, scheme: scheme, role: role)
        try confirm(half, scheme: scheme, question: "Take this load over?", invocation)
        let said = try place.device.accept(half, role: role, values: values.changes)
        place.report(
            said,
            """
            Accepted as \(role): chain …\(Workplace.short(said.chain)), saved here. Verified when both halves reach the server.
            Next: `tally sign \(Workplace.short(said.chain))`.
            """,
            more: [values.json, ("accepted", OfferPage(half: half, scheme: scheme, now: try Moment.now()).json)]
        )
        values.report(on: place.console)
        return .done
    }

    static let decline = CommandDeclaration(
        ["decline"],
        summary: "Refuse a load by the giver's code",
        section: Tally.field,
        arguments: [
            ArgumentDeclaration("IMAGE", values: .files, help: "a picture of the code, or - for standard input")
        ],
        options: [
            OptionDeclaration("why", value: "TEXT", required: true, help: "the reason, kept in the chain"), .yes,
        ],
        examples: [("tally decline photo.jpg --why 'asbestos in the load'", "refuses the load; the giver keeps it")],
        exitCodes: [
            (.badInput, "there is no code, or not one of ours, or several"),
            (.noInput, "there is no such file or home"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let half = try CodePicture(try invocation.argument("IMAGE")).offer()
            let why = try invocation.requiredOption("why")
            let scheme = place.device.schemes.first {
                $0.reference.hash.bytes.starts(with: half.statement.schemePrefix)
            }
            try confirm(half, scheme: scheme, question: "Refuse this load?", invocation)
            let said = try place.device.decline(half, why: why)
            place.report(said, "Declined: chain …\(Workplace.short(said.chain)). The giver keeps the load.")
            return .done
        }
    )

    /// Shows what was scanned and asks; a scan alone never commits anybody.
    private static func confirm(
        _ half: HandoffHalf,
        scheme: Scheme?,
        question: String,
        _ invocation: Invocation
    ) throws {
        let console = invocation.console
        if try invocation.flag("yes") { return }
        for line in OfferPage(half: half, scheme: scheme, now: try Moment.now()).lines { console.note(line) }
        switch invocation.isJSON ? nil : console.confirm(question) {
        case true?: return
        case false?:
            throw CommandError(exit: .failed, code: "not-confirmed", message: "nothing was done")
        case nil:
            throw CommandError.usage(
                "it was not confirmed, and there is no terminal to ask on",
                code: "confirmation-needed",
                remedy: "look at the code with `tally scan`, then add --yes"
            )
        }
    }
}

/// What a scan shows.
private struct ScanPage {
    let picture: CodePicture
    let schemes: [Scheme]
    let now: Timestamp

    private func page(_ half: HandoffHalf) -> OfferPage {
        let scheme = schemes.first { $0.reference.hash.bytes.starts(with: half.statement.schemePrefix) }
        return OfferPage(half: half, scheme: scheme, now: now)
    }

    func print(on console: Console) {
        console.print("\(Console.plain(picture.path)): \(picture.symbols.isEmpty ? "no code was found" : "")")
        for symbol in picture.symbols {
            switch symbol.reading {
            case .half(let half): for line in page(half).lines { console.print("  \(line)") }
            case .damaged(let why): console.print("  one of our codes, damaged: \(why)")
            case .foreign:
                let text =
                    String(validating: symbol.text, as: UTF8.self) ?? "\(symbol.text.count) bytes that are no text"
                console.print(
                    "  a foreign code\(symbol.isPartial ? " (one part of several)" : ""): \(Console.plain(text))"
                )
            }
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
                        var more: [(String, JSONOutput)] = []
                        switch symbol.reading {
                        case .half(let half):
                            kind = "offer"
                            more = [("offer", page(half).json)]
                        case .damaged(let why):
                            kind = "damaged"
                            more = [("why", .string(why))]
                        case .foreign: kind = symbol.isPartial ? "partial" : "foreign"
                        }
                        let text = String(validating: symbol.text, as: UTF8.self)
                        return .object(
                            [("kind", .string(kind)), ("stage", .string(symbol.stage)), ("text", .optional(text))]
                                + more
                        )
                    }
                )
            ),
        ])
    }
}
