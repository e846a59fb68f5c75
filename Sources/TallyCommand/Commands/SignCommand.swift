import CommandLineKit
import Tallystick
import TallystickCrypto
import TallystickDevice

extension CommandDeclaration {
    static let sign = CommandDeclaration(
        ["sign"],
        summary: "Sign for what you say of a load",
        discussion: """
            Signs under the scheme's words over the values of your own leg. What is signed is sealed: it cannot be \
            set afterwards. On a terminal it shows the words and the values, and asks.

            With --for you sign in the place of a party that has delegated it to you (`tally delegate`); both names are \
            kept. With --paper you attest that somebody signed on paper: the SHA-256 of the picture goes into the \
            chain, and who signed, as the paper says. Keep the picture.
            """,
        section: Tally.field,
        arguments: [.chain],
        options: [
            OptionDeclaration("as", value: "NAME", help: "the signature, where several are open to you"),
            OptionDeclaration(
                "for",
                value: "PARTY",
                help: "the party in whose place you sign: its identifier or its name"
            ),
            OptionDeclaration("paper", value: "IMAGE", values: .files, help: "a picture of the signed paper"),
            OptionDeclaration("signer", value: "NAME", help: "who signed the paper"),
            OptionDeclaration("paper-at", value: "TIME", help: "when, as the paper says: 2026-11-30T06:12+00:00"), .yes,
        ] + lateOptions,
        examples: [
            ("tally sign 1f0c3a9e", "signs, or says everything that is still missing"),
            ("tally sign 1f0c3a9e --for 'Calder Haulage'", "signs in the place of a party that has let you"),
            (
                "tally sign 1f0c3a9e --as carrier --paper ticket.jpg --signer 'Tom Ackroyd'",
                "attests that the driver signed on paper"
            ),
        ],
        exitCodes: [chainExitCodes[0], (.noInput, "there is no such chain, file or home")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let way = try way(invocation, in: place)
            let late = try invocation.late()
            let rule = try place.device.signatureToGive(in: chain, as: try invocation.name("as"), way)
            try place.confirm(
                "Sign this?",
                invocation,
                about: SigningPage.lines(rule, way, of: try place.device.view(chain))
            )
            let said = try place.device.sign(chain, as: rule.name, way, late: late)
            place.report(
                said,
                try sentence(rule, way, in: chain, at: place),
                more: [
                    ("signature", .string(rule.name.text)), ("statement", .string(rule.statement)),
                    ("way", .string(way.word)), ("for", .optional(way.principal?.description)),
                    ("picture", .optional(way.paper?.picture.hex)),
                ]
            )
            return .done
        }
    )

    private static func way(_ invocation: Invocation, in place: Workplace) throws -> SigningWay {
        let principal = try invocation.option("for")
        let signer = try invocation.option("signer")
        let at = try invocation.option("paper-at")
        guard let paper = try invocation.option("paper") else {
            guard signer == nil, at == nil else {
                throw CommandError.usage(
                    "--signer and --paper-at are about a paper: give its picture with --paper IMAGE"
                )
            }
            return try principal.map { .delegate(of: try place.device.party(named: $0)) } ?? .own
        }
        guard principal == nil else {
            throw CommandError.usage("--for and --paper are two ways to sign: give one of them")
        }
        guard let signer else { throw CommandError.usage("--paper needs --signer NAME: who signed the paper") }
        try Invocation.check(signer, "a signer")
        let moment = try at.map { (text) throws(CommandError) in try Moment.typed(text, option: "paper-at") }
        return .paper(PaperSignature(at: moment, picture: try Files.pictureHash(paper), signer: signer))
    }

    private static func sentence(
        _ rule: Scheme.SignatureRule,
        _ way: SigningWay,
        in chain: UniqueID,
        at place: Workplace
    ) throws -> String {
        let short = Workplace.short(chain)
        switch way {
        case .own:
            return "Signed chain …\(short): “\(rule.statement)”\nNext: \(try place.next(in: chain))."
        case .delegate(let principal):
            let name = try place.device.name(of: principal)
            return """
                Signed chain …\(short) for \(Console.plain(name)): “\(rule.statement)”
                Next: `tally sync` when there is a network.
                """
        case .paper(let paper):
            return """
                Attested in chain …\(short) that \(Console.plain(paper.signer)) signed on paper: “\(rule.statement)”
                Keep the picture: the chain has only its SHA-256, \(paper.picture.hex.prefix(16))….
                """
        }
    }
}

extension SigningWay {
    /// What JSON output calls it.
    var word: String {
        switch self {
        case .own: "own"
        case .delegate: "delegate"
        case .paper: "paper"
        }
    }
}

/// What a person is about to sign: the words, and the values of the leg.
private enum SigningPage {
    static func lines(_ rule: Scheme.SignatureRule, _ way: SigningWay, of view: ChainView) throws -> [String] {
        let all = view.seats + view.legs
        var lines: [String]
        let leg: ChainView.Leg?
        switch way {
        case .own:
            lines = ["You sign, as \(rule.title):", "  “\(rule.statement)”", "over what you said:"]
            leg = all.last { $0.role == rule.role && $0.party.isOwn }
        case .delegate(let principal):
            leg = all.last { $0.role == rule.role && $0.party.id == principal }
            let name = leg?.party.text ?? principal.description
            lines = [
                "You sign in the place of \(Console.plain(name)), as \(rule.title):", "  “\(rule.statement)”",
                "over what they said:",
            ]
        case .paper(let paper):
            // Of the own leg, where that lacks the signature, else of the latest.
            let own = all.last { leg in
                leg.role == rule.role && leg.party.isOwn && !leg.signatures.contains { $0.name == rule.name }
            }
            leg = own ?? all.last { $0.role == rule.role }
            lines = [
                "You attest that \(Console.plain(paper.signer)) signed on paper, as \(rule.title):",
                "  “\(rule.statement)”", "over:",
            ]
        }
        for field in leg?.fields ?? [] {
            let label = field.path.line.map { "\($0.list)/\($0.id) " } ?? ""
            lines.append(
                "  "
                    + Console.plain("\(label)\(field.title ?? field.path.description): \(Scheme.text(of: field.value))")
            )
        }
        return lines
    }
}
