import CommandLineKit
import Schemes
import Tallystick
import TallystickDevice

extension CommandDeclaration {
    static let open = CommandDeclaration(
        ["open"],
        summary: "Open a chain for a new load",
        discussion: """
            Opens a chain under a scheme and gives its first values. Nothing is sent: the chain is saved here until \
            `tally sync`.
            """,
        section: Tally.field,
        arguments: [.values],
        options: [
            OptionDeclaration("scheme", value: "ID", required: true, help: "the rules it follows"), .from, .order,
            .role,
        ],
        examples: [
            ("tally open --scheme uk-waste-transfer-note --from load.json", "opens a chain with the values of a file"),
            ("tally open --scheme uk-waste-transfer-note sicCode=41201", "opens one with a value typed in"),
        ],
        exitCodes: [(.badInput, "a value or a file cannot be used"), (.noInput, "there is no such file or home")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let id = try invocation.requiredOption("scheme")
            guard let name = Name(id), let scheme = place.device.newestScheme(name) else {
                throw CommandError(
                    exit: .badInput,
                    code: "scheme-unknown",
                    message: "there is no scheme “\(Console.plain(id))”",
                    remedy: "`tally scheme list` names those there are; `tally sync` fetches those of the server"
                )
            }
            let role = try invocation.name("role") ?? scheme.roles.first { $0.opens }?.name
            let values = try Values(invocation, scheme: scheme, role: role)
            let said = try place.device.openChain(
                scheme: name,
                role: try invocation.name("role"),
                values: values.changes
            )
            place.report(
                said,
                """
                Opened \(scheme.title), chain …\(Workplace.short(said.chain)), with \(counted(values.changes.count, "value")).
                Next: `tally sign \(Workplace.short(said.chain))` when everything is in, then `tally offer`.
                """,
                more: [values.json]
            )
            values.report(on: place.console)
            return .done
        }
    )

    static let set = CommandDeclaration(
        ["set"],
        summary: "Give, change or clear values",
        section: Tally.field,
        arguments: [.chain, .values],
        options: [.from, .order, .role],
        examples: [
            ("tally set 1f0c3a9e wasteItems/1/quantity='7.5 t'", "declares a weight"),
            ("tally set 1f0c3a9e vehicleRegistration=", "clears a value"),
        ],
        exitCodes: [(.badInput, "a value cannot be used"), (.noInput, "there is no such chain, file or home")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let scheme = try place.device.scheme(of: chain)
            let role = try invocation.name("role") ?? place.device.roles(in: chain).first
            let values = try Values(invocation, scheme: scheme, role: role)
            guard !values.changes.isEmpty else {
                values.report(on: place.console)
                throw CommandError.usage("there is no value to set", remedy: "give FIELD=VALUE, or --from FILE")
            }
            let said = try place.device.set(chain, values.changes)
            place.report(
                said,
                "Saved \(counted(values.changes.count, "value")) in chain …\(Workplace.short(chain)).",
                more: [values.json]
            )
            values.report(on: place.console)
            return .done
        }
    )

    static let note = CommandDeclaration(
        ["note"],
        summary: "Add a remark to a chain",
        section: Tally.field,
        arguments: [.chain, ArgumentDeclaration("TEXT", help: "the remark")],
        examples: [("tally note 1f0c3a9e 'skip lid damaged on arrival'", "adds a remark")],
        exitCodes: [
            (.badInput, "the remark is empty or too long, or the name fits several chains"), chainExitCodes[1],
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let text = try invocation.argument("TEXT")
            try Invocation.check(text, "a remark")
            let said = try place.device.note(try place.chain(invocation), text)
            place.report(said, "Noted in chain …\(Workplace.short(said.chain)).")
            return .done
        }
    )

    static let sign = CommandDeclaration(
        ["sign"],
        summary: "Sign for what you say of a load",
        discussion: """
            Signs under the scheme's words over the values of your own leg. What is signed is sealed: it cannot be \
            changed afterwards. On a terminal it shows the words and the values, and asks.
            """,
        section: Tally.field,
        arguments: [.chain],
        options: [OptionDeclaration("as", value: "NAME", help: "the signature, where several are open to you"), .yes],
        examples: [("tally sign 1f0c3a9e", "signs, or says everything that is still missing")],
        exitCodes: chainExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let rule = try place.device.signatureToGive(in: chain, as: try invocation.name("as"))
            if try !invocation.flag("yes"), !invocation.isJSON, place.console.isTerminal(.output) {
                for line in try SigningPage.lines(rule, of: try place.device.view(chain)) { place.console.note(line) }
                if place.console.confirm("Sign this?") == false {
                    throw CommandError(exit: .failed, code: "not-confirmed", message: "nothing was signed")
                }
            }
            let said = try place.device.sign(chain, as: rule.name)
            let role = try place.device.roles(in: chain).first
            let canOffer = try place.device.scheme(of: chain).handoffs.contains { $0.from == role }
            let next =
                canOffer
                ? "`tally offer \(Workplace.short(chain))` to hand it over" : "`tally sync` when there is a network"
            place.report(
                said,
                "Signed chain …\(Workplace.short(chain)): “\(rule.statement)”\nNext: \(next).",
                more: [("signature", .string(rule.name.text)), ("statement", .string(rule.statement))]
            )
            return .done
        }
    )
}

/// What a person is about to sign: the words, and the values of the own leg.
private enum SigningPage {
    static func lines(_ rule: Scheme.SignatureRule, of view: ChainView) throws -> [String] {
        var lines = ["You sign, as \(rule.title):", "  “\(rule.statement)”", "over what you said:"]
        let leg = view.legs.last { $0.role == rule.role && $0.party.isOwn }
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
