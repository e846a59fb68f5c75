import CommandLineKit
import Schemes
import Tallystick
import TallystickCrypto
import TallystickDevice
import TallystickQR

extension CommandDeclaration {
    static let accept = CommandDeclaration(
        ["accept"],
        summary: "Take a load over by the giver's code",
        discussion: """
            Reads the code, shows what it says, and asks. Nothing else need be known: the load can be taken with no \
            signal and without any earlier sync. A full code is verified on the spot, and the load it tells of is kept \
            and shown as received by code. --reply writes a code for the giver, who then holds both halves too.

            With --watch, IMAGE names a folder: each picture that arrives there, from a phone say, is tried until one \
            is accepted.
            """,
        section: Tally.field,
        arguments: [
            ArgumentDeclaration("IMAGE", values: .files, help: "a picture of the code, or - for standard input"),
            .values,
        ],
        options: [
            .also, .from, .order, .yes, OptionDeclaration(flag: "watch", help: "wait for pictures in the folder IMAGE"),
        ] + replyOptions,
        examples: [
            ("tally accept photo.jpg vehicleRegistration='AB12 CDE'", "takes the load and gives a value of yours"),
            ("tally accept photo.jpg --yes", "takes it without asking, for scripts"),
            ("tally accept sheet.jpg --reply reply.png", "takes it by a full code and writes a reply for the giver"),
            ("tally accept --watch ~/Pictures", "waits for a picture of the code to arrive in the folder"),
        ],
        exitCodes: takeExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let image = try invocation.argument("IMAGE")
            guard try invocation.flag("watch") else { return try take(try read(image, invocation), place, invocation) }
            // Parts may come in several pictures: what was read stays until all are there.
            var pictures: [CodePicture] = []
            return try await WatchedFolder(image).firstToPass(on: place.console) { path in
                pictures.append(try CodePicture(path))
                do {
                    return try take(pictures, place, invocation)
                } catch let error as CommandError where error.code != "parts-missing" {
                    pictures.removeLast()
                    throw error
                }
            }
        }
    )

    static let takeExitCodes: [(code: ExitCode, says: String)] = [
        (.badInput, "there is no code, or not one of ours, or several, or one that must not be believed"),
        (.noInput, "there is no such file or home"),
    ]

    private static let replyOptions: [OptionDeclaration] = [
        OptionDeclaration("reply", value: "FILE", values: .files, help: "write a code for the giver, as a PNG picture"),
        OptionDeclaration(
            flag: "compact",
            help: "a reply of one code, for a giver who knows this device from an earlier sync"
        ),
    ]

    private static func read(_ image: String, _ invocation: Invocation) throws -> [CodePicture] {
        try ([image] + invocation.options("also")).map { try CodePicture($0) }
    }

    private static func take(
        _ pictures: [CodePicture],
        _ place: Workplace,
        _ invocation: Invocation
    ) throws -> ExitCode {
        let (half, full) = try ScannedMessage(pictures).offer()
        let role = try place.device.taker(of: half.statement, role: nil)
        guard let scheme = place.scheme(of: half) else {
            throw CommandError(
                exit: .badInput,
                code: "scheme-unknown",
                message: "the rules that the code names are not known here",
                remedy: "install the version of the program that has them"
            )
        }
        let load = try full.map { try place.device.load(in: $0) }
        let values = try Values(invocation, scheme: scheme, role: role)
        if let reply = try invocation.option("reply") { try Files.probe(reply) }
        let page = try page(of: half, load: load, scheme: scheme, place)
        try confirm(page, question: "Take this load over?", invocation)
        let said = try place.device.accept(half, role: role, values: values.changes, load: load)
        let reply = try writeReply(said.chain, place, invocation)
        place.report(
            said,
            """
            Accepted as \(role): chain …\(Workplace.short(said.chain)), saved here. Verified when both halves reach the server.
            \(reply.map { "Show the giver \($0): with it the giver holds both halves too.\n" } ?? "")\
            Next: \(try place.next(in: said.chain)).
            """,
            more: [values.json, ("accepted", page.json), ("reply", .optional(reply))]
        )
        values.report(on: place.console)
        return .done
    }

    private static func page(
        of half: HandoffHalf,
        load: ReceivedLoad?,
        scheme: Scheme?,
        _ place: Workplace
    ) throws -> OfferPage {
        OfferPage(
            half: half,
            scheme: scheme,
            now: try Moment.now(),
            load: load,
            challenge: try place.device.standing(of: half.statement),
            clock: try place.device.clockStanding(of: half.statement)
        )
    }

    private static func writeReply(
        _ chain: UniqueID,
        _ place: Workplace,
        _ invocation: Invocation
    ) throws -> String? {
        guard let path = try invocation.option("reply") else { return nil }
        let (reply, full) = try place.device.reply(in: chain)
        let caption = [
            "Reply to offer \(reply.offer.short)", reply.isAcceptance ? "accepted" : "declined",
            "by \(place.device.certificate.partyName)",
        ]
        let message: CodeMessage = try invocation.flag("compact") ? .reply(reply) : .fullReply(full)
        _ = try CodeOutput(png: path).write(message, caption: caption)
        return path
    }

    static let decline = CommandDeclaration(
        ["decline"],
        summary: "Refuse a load by the giver's code",
        section: Tally.field,
        arguments: [
            ArgumentDeclaration("IMAGE", values: .files, help: "a picture of the code, or - for standard input")
        ],
        options: [
            .also, OptionDeclaration("why", value: "TEXT", required: true, help: "the reason, kept in the chain"), .yes,
        ] + replyOptions,
        examples: [("tally decline photo.jpg --why 'asbestos in the load'", "refuses the load; the giver keeps it")],
        exitCodes: takeExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let (half, full) = try ScannedMessage(try read(try invocation.argument("IMAGE"), invocation)).offer()
            let why = try invocation.requiredOption("why")
            try Invocation.check(why, "a reason")
            if let reply = try invocation.option("reply") { try Files.probe(reply) }
            let load = try full.map { try place.device.load(in: $0) }
            let page = try page(of: half, load: load, scheme: place.scheme(of: half), place)
            try confirm(page, question: "Refuse this load?", invocation)
            let said = try place.device.decline(half, why: why)
            let reply = try writeReply(said.chain, place, invocation)
            place.report(
                said,
                "Declined: chain …\(Workplace.short(said.chain)). The giver keeps the load."
                    + (reply.map { "\nShow the giver \($0)." } ?? ""),
                more: [("reply", .optional(reply))]
            )
            return .done
        }
    )

    /// Shows what was scanned and asks; a scan alone never commits anybody.
    private static func confirm(_ page: OfferPage, question: String, _ invocation: Invocation) throws {
        try ask(page.lines, question: question, look: "look at the code with `tally scan`, then add --yes", invocation)
    }

    /// Shows some lines and asks; throws where the answer is no, or there is nobody to ask.
    static func ask(_ lines: [String], question: String, look: String, _ invocation: Invocation) throws {
        let console = invocation.console
        if try invocation.flag("yes") { return }
        for line in lines { console.note(line) }
        switch invocation.isJSON ? nil : console.confirm(question) {
        case true?: return
        case false?:
            throw CommandError(exit: .failed, code: "not-confirmed", message: "nothing was done")
        case nil:
            throw CommandError.usage(
                "it was not confirmed, and there is no terminal to ask on",
                code: "confirmation-needed",
                remedy: look
            )
        }
    }

    static let ack = CommandDeclaration(
        ["ack"],
        summary: "Keep the taker's reply, so that you hold both halves",
        discussion: """
            Reads the reply that the taker shows after accepting or declining, verifies it with no network, and says in \
            the chain that you hold it.
            """,
        section: Tally.field,
        arguments: [
            ArgumentDeclaration("IMAGE", values: .files, help: "a picture of the reply, or - for standard input")
        ],
        options: [.also],
        examples: [("tally ack reply.jpg", "keeps the reply, before the taker drives off")],
        exitCodes: takeExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let (reply, full) = try ScannedMessage(try read(try invocation.argument("IMAGE"), invocation)).reply()
            let certificate = try full.map { try place.device.certificate(in: $0) }
            let done = try place.device.acknowledge(reply, certificate: certificate)
            let at = done.reply.at?.at(offsetMinutes: try Moment.now().offsetMinutes).map(Moment.text) ?? ""
            let verb = reply.isAcceptance ? "accepted" : "declined"
            place.report(
                done.said,
                "\(Console.plain(done.taker.partyName)) \(verb) offer \(reply.offer.short), \(at). "
                    + "Both halves held: verified with no network.",
                more: [
                    ("offer", .string(reply.offer.description)), ("accepted", .bool(reply.isAcceptance)),
                    ("taker", .string(done.taker.partyName)), ("at", .optional(done.reply.at?.description)),
                ]
            )
            return .done
        }
    )

    static let challenge = CommandDeclaration(
        ["challenge"],
        summary: "Show the giver a challenge, so that the offer is made for you and now",
        discussion: """
            The giver reads it with `tally offer --challenge IMAGE`. An offer that answers it cannot be a photograph \
            of an earlier one, and no other device accepts it.
            """,
        section: Tally.field,
        options: [
            OptionDeclaration("for", value: "TIME", default: .value("2m"), help: "how long it is good for, 1m to 1h"),
            OptionDeclaration("png", value: "FILE", values: .files, help: "write it as a PNG picture"),
            OptionDeclaration("svg", value: "FILE", values: .files, help: "write it as an SVG picture"),
            OptionDeclaration("text", value: "FILE", values: .files, help: "write its text"),
            OptionDeclaration("loop", value: "FILE", values: .files, help: "write it as an animated PNG"),
            OptionDeclaration("parts", value: "DIR", values: .folders, help: "write it into a folder"),
        ],
        examples: [("tally challenge --png challenge.png", "writes a code for the giver to read")],
        exitCodes: homeExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let output = try CodeOutput(invocation)
            try output.check(25, on: place.console)
            let lasting = try seconds(in: try invocation.option("for") ?? "2m")
            let challenge = try place.device.challenge(lasting: min(lasting, 3_600))
            let end = Timestamp(milliseconds: challenge.expires * 1_000)
            let caption = ["Challenge for an offer", "by \(place.device.certificate.partyName)"]
            let message = CodeMessage.challenge(challenge)
            let written = try output.write(message, caption: caption)
            if invocation.isJSON {
                invocation.console.print(
                    .object([
                        ("offer", .optional(challenge.offer?.description)), ("expires", .optional(end?.description)),
                        ("code", .string(message.texts.joined())), ("files", .strings(written)),
                    ])
                )
                return .done
            }
            if written.isEmpty { try output.show(message, on: invocation.console, until: end) }
            invocation.console.note(
                "Show it to the giver, who makes the offer with `tally offer --challenge`."
                    + (written.isEmpty ? "" : " Written: \(written.joined(separator: ", ")).")
            )
            return .done
        }
    )
}
