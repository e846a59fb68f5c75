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
            OptionDeclaration("for", value: "TIME", help: "how long it lasts, 1m to 24h: 90s, 15m or 2h"),
            OptionDeclaration("png", value: "FILE", values: .files, help: "write the code as a PNG picture"),
            OptionDeclaration("svg", value: "FILE", values: .files, help: "write the code as an SVG picture"),
            OptionDeclaration("text", value: "FILE", values: .files, help: "write the code's text"),
        ],
        examples: [
            ("tally offer 1f0c3a9e --png code.png", "writes a picture of the code"),
            ("tally offer 1f0c3a9e --to receiver --for 30m", "shows the code on the terminal for half an hour"),
        ],
        exitCodes: chainExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let files = try ["png", "svg", "text"].compactMap { try invocation.option($0) }
            if files.isEmpty, !invocation.isJSON { try checkWindow(of: place.console) }
            let made = try place.device.offer(
                chain,
                to: try invocation.name("to"),
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
            let sentence = """
                Offer \(made.offer.id.short) of chain …\(Workplace.short(chain)) to a \(made.handoff.to), until \(until).\
                \(written.isEmpty ? "" : " Written: \(written.joined(separator: ", ")).")
                """
            if written.isEmpty, !invocation.isJSON {
                try show(code, on: place.console)
                // Into a pipe goes the code alone, so that `tally accept -` can read it.
                guard place.console.isTerminal(.output) else {
                    place.console.note(sentence)
                    return .done
                }
            }
            place.report(
                made.said,
                sentence,
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
        console.write(try code.verifiedTerminal().text)
    }

    /// Throws where a code would not be seen whole; before anything is offered, so that no offer is left that nobody saw.
    private static func checkWindow(of console: Console) throws {
        guard console.isTerminal(.output) else { return }
        // All compact codes are as long as each other.
        let length = HandoffStatement.length + HandoffHalf.macLength
        let sample = CompactCode.prefix + Base45.encode([UInt8](repeating: 0xFF, count: length))
        let picture = try QRCode(sample).matrix.terminal()
        // Below it stand a line about the offer and the prompt.
        let rows = picture.rows + 2
        guard picture.columns > console.width || rows > console.height ?? rows else { return }
        let window = "\(console.width) columns" + (console.height.map { " and \($0) rows" } ?? "")
        throw CommandError(
            exit: .failed,
            code: "window-too-small",
            message: "the code needs \(picture.columns) columns and \(rows) rows, the window has \(window)",
            remedy: "nothing was offered: make the window larger, or write a picture with --png FILE"
        )
    }

    private static func seconds(in text: String) throws(CommandError) -> Int {
        let units: [(String, Int)] = [("s", 1), ("m", 60), ("h", 3_600)]
        for (unit, size) in units where text.hasSuffix(unit) {
            guard let count = Int(text.dropLast()), (1...86_400).contains(count) else { break }
            if (60...86_400).contains(count * size) { return count * size }
        }
        throw .usage(
            "expected a time from 1m to 24h such as 90s, 15m or 2h, got '\(Console.plain(text))'",
            code: "time-invalid"
        )
    }

    static let withdraw = CommandDeclaration(
        ["withdraw"],
        summary: "Take an offer back",
        section: Tally.field,
        arguments: [.chain],
        options: [
            OptionDeclaration(
                "offer",
                value: "ID",
                help: "the offer, where several are open: its identifier, or its first digits as `tally show` has them"
            ),
            OptionDeclaration("why", value: "TEXT", help: "the reason"),
        ],
        examples: [("tally withdraw 1f0c3a9e --why 'wrong skip'", "takes the open offer back")],
        exitCodes: [chainExitCodes[0], (.noInput, "there is no such chain, offer or home")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let why = try invocation.option("why") ?? ""
            if !why.isEmpty { try Invocation.check(why, "a reason") }
            let said = try place.device.withdraw(
                chain,
                offer: try invocation.option("offer").map { try offer(named: $0, in: chain, of: place) },
                why: why
            )
            place.report(said, "The offer is withdrawn. A taker who scanned it before may still be first.")
            return .done
        }
    )

    /// The offer that a person means: its digits, in whichever grouping and case.
    private static func offer(named text: String, in chain: UniqueID, of place: Workplace) throws -> OfferID {
        let digits = text.lowercased().filter { $0 != "-" }
        let offers = try place.device.view(chain).offers.map(\.id)
        let matches = offers.filter { digits.utf8.count >= 4 && $0.description.hasPrefix(digits) }
        guard let offer = matches.first, matches.count == 1 else {
            throw CommandError(
                exit: .noInput,
                code: "offer-unknown",
                message: "\(counted(matches.count, "offer")) of this chain named “\(Console.plain(text))”",
                remedy: "`tally show \(Workplace.short(chain))` lists them"
            )
        }
        return offer
    }

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
            """,
        section: Tally.field,
        arguments: [
            ArgumentDeclaration("IMAGE", values: .files, help: "a picture of the code, or - for standard input"),
            .values,
        ],
        options: [.from, .yes],
        examples: [
            ("tally accept photo.jpg vehicleRegistration='AB12 CDE'", "takes the load and gives a value of yours"),
            ("tally accept photo.jpg --yes", "takes it without asking, for scripts"),
        ],
        exitCodes: [
            (.badInput, "there is no code, or not one of ours, or several"),
            (.noInput, "there is no such file or home"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let half = try CodePicture(try invocation.argument("IMAGE")).offer()
            let role = try place.device.taker(of: half.statement, role: nil)
            guard let scheme = place.scheme(of: half) else {
                throw CommandError(
                    exit: .badInput,
                    code: "scheme-unknown",
                    message: "the rules that the code names are not known here",
                    remedy: "install the version of the program that has them"
                )
            }
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
    )

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
            try Invocation.check(why, "a reason")
            try confirm(half, scheme: place.scheme(of: half), question: "Refuse this load?", invocation)
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
        console.print("\(Console.plain(picture.path)):\(picture.symbols.isEmpty ? " no code was found" : "")")
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
                        var offer = JSONOutput.null
                        var why: String?
                        switch symbol.reading {
                        case .half(let half):
                            kind = "offer"
                            offer = page(half).json
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
