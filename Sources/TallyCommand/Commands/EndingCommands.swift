import CommandLineKit
import Tallystick
import TallystickDevice

extension CommandDeclaration {
    static let link = CommandDeclaration(
        ["link"],
        summary: "Tie a chain to another",
        discussion: """
            Says how two chains hang together: a load that is divided, refused and sent on, a collection of a round. \
            `tally scheme show` names the links. Where a link divides amounts, PATH=AMOUNT says how much of each row \
            goes into the other chain.
            """,
        section: Tally.field,
        arguments: [
            .chain, ArgumentDeclaration("LINK", help: "the link's name in the scheme"),
            ArgumentDeclaration(
                "OTHER-CHAIN",
                help: "the other chain: its identifier, or a beginning or end of it where it is on this device"
            ),
            ArgumentDeclaration("PATH=AMOUNT", .any, help: "an amount, such as wasteItems/1/quantity='3 t'"),
        ],
        options: [OptionDeclaration("why", value: "TEXT", help: "the reason, where the link asks for one")],
        examples: [
            (
                "tally link 1f0c3a9e refused-part 5d2e8b71 receivedItems/1/rejectedWeight='0.4 t'",
                "says where the refused part goes on"
            ),
            ("tally link 1f0c3a9e refused-load 5d2e8b71 --why 'asbestos found'", "gives the reason too"),
        ],
        exitCodes: [(.badInput, "an amount cannot be used, or a name fits several chains"), chainExitCodes[1]],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let scheme = try place.device.scheme(of: chain)
            let text = try invocation.argument("OTHER-CHAIN")
            let other = try UniqueID(text) ?? place.device.chain(named: text)
            let name = try invocation.nameArgument("LINK")
            let amounts = try invocation.arguments("PATH=AMOUNT").map {
                try Values.change($0, "PATH=AMOUNT", scheme: scheme)
            }
            let said = try place.device.link(chain, name, to: other, amounts: amounts, why: try invocation.why())
            place.report(
                said,
                "Linked chain …\(Workplace.short(chain)) to chain …\(Workplace.short(other)): \(name)."
                    + (try inverse(of: scheme.link(name), from: other, to: chain, at: place)),
                more: [("link", .string(name.text)), ("other", .string(other.description))]
            )
            return .done
        }
    )

    /// How the other chain names this one, where it is on this device and does not yet.
    private static func inverse(
        of rule: Scheme.LinkRule?,
        from other: UniqueID,
        to chain: UniqueID,
        at place: Workplace
    ) throws -> String {
        guard let rule, try place.device.chains().contains(where: { $0.chain == other }) else { return "" }
        let view = try place.device.view(other)
        let kind = rule.kind.inverse
        guard view.scheme != nil, !view.links.contains(where: { $0.kind == kind && $0.chain == chain }),
            let back = try place.device.scheme(of: other).links.first(where: { $0.kind == kind })
        else { return "" }
        return
            "\nNext: `tally link \(Workplace.short(other)) \(back.name) \(Workplace.short(chain))`, so that both say so."
    }

    static let cancel = CommandDeclaration(
        ["cancel"],
        summary: "End a chain before the load moved",
        discussion:
            "Only before the stages that the scheme names; a chain that is cancelled takes little more than remarks.",
        section: Tally.field,
        arguments: [.chain],
        options: [.why, .yes],
        examples: [("tally cancel 1f0c3a9e --why 'the skip was not filled'", "cancels the chain")],
        exitCodes: chainExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let why = try invocation.why()
            try place.confirm(
                "Cancel it?",
                invocation,
                about: ["Chain …\(Workplace.short(chain)) would end here, for good."]
            )
            let said = try place.device.cancel(chain, why: why)
            place.report(said, "Cancelled chain …\(Workplace.short(chain)).")
            return .done
        }
    )

    static let close = CommandDeclaration(
        ["close"],
        summary: "End a chain with an outcome",
        discussion: """
            The holder of the load says how it ended. `tally scheme show` names the outcomes, and which of them ask for \
            a reason.
            """,
        section: Tally.field,
        arguments: [
            .chain, ArgumentDeclaration("OUTCOME", help: "the outcome's name in the scheme, such as delivered"),
        ],
        options: [OptionDeclaration("why", value: "TEXT", help: "the reason, where the outcome asks for one"), .yes],
        examples: [
            ("tally close 1f0c3a9e delivered", "closes the chain"),
            ("tally close 1f0c3a9e lost --why 'the skip went overboard'", "says that the load is lost, and how"),
        ],
        exitCodes: chainExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let outcome = try invocation.nameArgument("OUTCOME")
            let why = try invocation.why()
            let scheme = try place.device.scheme(of: chain)
            let rule = scheme.closing(outcome)
            try place.confirm(
                "Close it?",
                invocation,
                about: ["Chain …\(Workplace.short(chain)) would end here, for good: \(rule?.title ?? outcome.text)."]
            )
            let said = try place.device.close(chain, outcome, why: why)
            let duty = rule?.dutyTo.map { role in
                "\nThe duty for the load is that of the \(scheme.role(role)?.title ?? role.text) again."
            }
            place.report(
                said,
                "Closed chain …\(Workplace.short(chain)): \(rule?.title ?? outcome.text).\(duty ?? "")",
                more: [("outcome", .string(outcome.text)), ("dutyTo", .optional(rule?.dutyTo?.text))]
            )
            return .done
        }
    )
}
