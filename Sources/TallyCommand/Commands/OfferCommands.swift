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

            With --full the code also holds the load, your certificate and your signature, so that the taker reads and \
            verifies all of it with no network; such a code has several parts, as one sheet, as separate pictures, or \
            as a loop. With --challenge the offer answers the code that the taker shows, so that nobody can use a \
            photograph of an earlier one.
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
            OptionDeclaration(
                "only",
                value: "PARTY",
                help: "the only party that may take it: its name or its identifier"
            ),
            OptionDeclaration(flag: "full", help: "a code that holds the load, to be verified with no network"),
            OptionDeclaration(
                "challenge",
                value: "IMAGE",
                values: .files,
                help: "answer the taker's challenge in this picture"
            ),
            OptionDeclaration(flag: "again", help: "show the code of the offer that is open, instead of making one"),
            OptionDeclaration(
                flag: "live",
                help:
                    "stay on the terminal, and make a new offer whenever one ends; Ctrl-C stops, and leaves the last one open"
            ),
            OptionDeclaration("png", value: "FILE", values: .files, help: "write the code as a PNG picture"),
            OptionDeclaration("svg", value: "FILE", values: .files, help: "write the code as an SVG picture"),
            OptionDeclaration("text", value: "FILE", values: .files, help: "write the code's text, a part a line"),
            OptionDeclaration("loop", value: "FILE", values: .files, help: "write the parts as an animated PNG"),
            OptionDeclaration(
                "parts",
                value: "DIR",
                values: .folders,
                help: "write each part as a picture into a folder"
            ),
        ],
        examples: [
            ("tally offer 1f0c3a9e --png code.png", "writes a picture of the code"),
            ("tally offer 1f0c3a9e --to receiver --for 30m", "shows the code on the terminal for half an hour"),
            ("tally offer 1f0c3a9e --full --png sheet.png", "writes a sheet of codes that hold the load"),
            ("tally offer 1f0c3a9e --live --for 2m", "shows a code that is made anew every two minutes"),
        ],
        exitCodes: chainExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let output = try CodeOutput(invocation)
            // Before the offer is made: one that nobody can be shown would stay open.
            let length =
                try invocation.flag("full") ? CodePart.largestSymbol : HandoffStatement.length + HandoffHalf.macLength
            try output.check(length, on: place.console)
            if try invocation.flag("live") { return try live(chain, place, invocation) }
            if try invocation.flag("again") { return try again(chain, place, output, invocation) }
            let made = try make(chain, place, invocation)
            try tell(made.said, made.offer, made.half, to: made.handoff, chain, place, output, invocation)
            return .done
        }
    )

    private static func make(
        _ chain: UniqueID,
        _ place: Workplace,
        _ invocation: Invocation
    ) throws -> Device.OfferMade {
        var challenge: HandoffChallenge?
        if let path = try invocation.option("challenge") {
            challenge = try ScannedMessage([try CodePicture(path)]).challenge()
        }
        return try place.device.offer(
            chain,
            to: try invocation.name("to"),
            lasting: try invocation.option("for").map(seconds(in:)),
            boundTo: try invocation.option("only").map { try place.device.party(named: $0) },
            answering: challenge
        )
    }

    private static func tell(
        _ said: Said,
        _ offer: Offer,
        _ half: HandoffHalf,
        to rule: Scheme.HandoffRule,
        _ chain: UniqueID,
        _ place: Workplace,
        _ output: CodeOutput,
        _ invocation: Invocation
    ) throws {
        let until = Moment.text(offer.expires.at(offsetMinutes: try Moment.now().offsetMinutes) ?? offer.expires)
        let message: CodeMessage =
            try invocation.flag("full") ? .full(try place.device.fullCode(of: offer.id, in: chain)) : .offer(half)
        let caption = ["Offer \(offer.id.short)", "\(rule.from) to \(rule.to)", "until \(until)"]
        let written = try output.write(message, caption: caption)
        let sentence = """
            Offer \(offer.id.short) of chain …\(Workplace.short(chain)) to a \(offer.to), until \(until).\
            \(written.isEmpty ? "" : " Written: \(written.joined(separator: ", ")).")
            """
        if written.isEmpty, !invocation.isJSON {
            try output.show(message, on: place.console, until: offer.expires)
            // Into a pipe goes the code alone, so that `tally accept -` can read it.
            guard place.console.isTerminal(.output) else {
                place.console.note(sentence)
                return
            }
        }
        place.report(
            said,
            sentence,
            more: [
                ("offer", .string(offer.id.description)), ("to", .string(offer.to.text)),
                ("expires", .string(offer.expires.description)),
                ("code", .string(message.texts.joined(separator: "\n"))),
                ("parts", .int(message.texts.count)), ("files", .strings(written)),
            ]
        )
    }

    private static func again(
        _ chain: UniqueID,
        _ place: Workplace,
        _ output: CodeOutput,
        _ invocation: Invocation
    ) throws -> ExitCode {
        let open = try place.device.openOffers(in: chain)
        guard let (offer, half) = open.last, let rule = try place.device.scheme(of: chain).handoff(offer.handoff)?.rule
        else {
            throw CommandError(
                exit: .failed,
                code: "nothing-to-do",
                message: "no offer of this device is open in chain …\(Workplace.short(chain))",
                remedy: "make one: `tally offer \(Workplace.short(chain))`"
            )
        }
        try tell(
            Said(chain: chain, events: [], warnings: []),
            offer,
            half,
            to: rule,
            chain,
            place,
            output,
            invocation
        )
        return .done
    }

    /// Shows one offer after the other, each with a new name, until interrupted.
    ///
    /// The last one stays open: whoever stops because the taker has scanned it must not take it back by that.
    private static func live(_ chain: UniqueID, _ place: Workplace, _ invocation: Invocation) throws -> ExitCode {
        let console = place.console
        guard console.isTerminal(.output), !console.isJSON else {
            throw CommandError.usage("--live needs a terminal to show codes on")
        }
        Interruption.watch()
        while !Interruption.came {
            let made = try make(chain, place, invocation)
            let message: CodeMessage =
                try invocation.flag("full")
                ? .full(try place.device.fullCode(of: made.offer.id, in: chain)) : .offer(made.half)
            console.print(
                "Offer \(made.offer.id.short) to a \(made.handoff.to), until \(Moment.text(made.offer.expires))"
            )
            try CodeOutput(invocation).show(message, on: console, until: made.offer.expires)
            while !Interruption.came, try Moment.now() < made.offer.expires { pause() }
            if Interruption.came {
                console.print("")
                console.print("Offer \(made.offer.id.short) can be taken until \(Moment.text(made.offer.expires)).")
                console.print(
                    "Where nobody scanned it: tally withdraw \(Workplace.short(chain)) --why 'nobody came'"
                )
            }
        }
        return .done
    }

    static func seconds(in text: String) throws(CommandError) -> Int {
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

}
