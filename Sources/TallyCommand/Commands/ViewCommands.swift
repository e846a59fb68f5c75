import CommandLineKit
import Tallystick
import TallystickCrypto
import TallystickDevice

extension CommandDeclaration {
    static let list = CommandDeclaration(
        ["list"],
        summary: "List the chains on this device",
        discussion: """
            The state of a chain is one of: saved here (only on this device), at the server (received, still waiting \
            for something), confirmed (all accepted), refused (something of yours was refused; `tally show` says why).
            """,
        section: Tally.field,
        options: [
            OptionDeclaration(flag: "contested", help: "only chains that two parties say to have taken over")
        ],
        examples: [("tally list", "shows each chain with its state")],
        exitCodes: [(.noInput, "there is no such home")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let onlyContested = try invocation.flag("contested")
            let chains = try place.device.chains().filter { !onlyContested || $0.isContested }
            if invocation.isJSON {
                invocation.console.print(.object([("chains", .array(chains.map { json(of: $0) }))]))
                return .done
            }
            guard !chains.isEmpty else {
                invocation.console.note("There are no chains here. `tally open` makes one, `tally sync` gets yours.")
                return .done
            }
            var table = Table("CHAIN", "STATE", "YOUR ROLE", "HOLDER", "WHAT")
            for chain in chains {
                let holder = [chain.holderRole, chain.holder].compactMap { $0 }.joined(separator: ": ")
                table.add([
                    "…\(Workplace.short(chain.chain))",
                    chain.badge.rawValue + (chain.isContested ? ", CONTESTED" : ""),
                    chain.role ?? "none",
                    holder.isEmpty ? "not known here" : holder,
                    chain.title ?? "rules not known here",
                ])
            }
            invocation.console.print(table)
            return .done
        }
    )

    private static func json(of chain: ChainSummary) -> JSONOutput {
        .object([
            ("chain", .string(chain.chain.description)), ("title", .optional(chain.title)),
            ("scheme", .optional(chain.scheme)), ("badge", .string(chain.badge.rawValue)),
            ("role", .optional(chain.role)), ("holder", .optional(chain.holder)),
            ("holderRole", .optional(chain.holderRole)), ("contested", .bool(chain.isContested)),
            ("opened", .optional(chain.opened?.description)), ("updated", .string(chain.updated.description)),
            (
                "counts",
                .object([
                    ("savedHere", .int(chain.counts.savedHere)), ("atTheServer", .int(chain.counts.atTheServer)),
                    ("confirmed", .int(chain.counts.confirmed)), ("refused", .int(chain.counts.refused)),
                    ("legs", .int(chain.legs)), ("signatures", .int(chain.signatures)),
                    ("openOffers", .int(chain.openOffers)),
                ])
            ),
        ])
    }

    static let show = CommandDeclaration(
        ["show"],
        summary: "Show everything this device knows of a chain",
        section: Tally.field,
        arguments: [.chain],
        examples: [("tally show 1f0c3a9e", "shows legs, values, signatures, offers, and what waits or was refused")],
        exitCodes: [(.noInput, "there is no such chain or home")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let page = ChainPage(view: try place.device.view(try place.chain(invocation)))
            if invocation.isJSON {
                invocation.console.print(page.json)
            } else {
                page.print(on: invocation.console)
            }
            return .done
        }
    )

    static let refused = CommandDeclaration(
        ["refused"],
        summary: "List what the server refused of this device, and why",
        discussion: "A refused event is kept with its verdict. --done EVENT says that you have dealt with it.",
        section: Tally.field,
        options: [
            OptionDeclaration("done", value: "EVENT", help: "mark a refused event as dealt with, by its hash"),
            OptionDeclaration(flag: "all", help: "also those that were dealt with"),
            OptionDeclaration(flag: "strict", help: "exit with 2 if there are any"),
        ],
        examples: [("tally refused", "shows each refused event with every reason and what to do")],
        exitCodes: [(.foundProblems, "with --strict: there are refused events"), (.noInput, "there is no such home")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            if let text = try invocation.option("done") {
                let matches = try place.device.refusals().filter { text.count >= 4 && $0.event.hex.hasPrefix(text) }
                guard let event = matches.first?.event, matches.count == 1 else {
                    throw CommandError(
                        exit: .noInput,
                        code: "event-unknown",
                        message:
                            "expected one refused event that begins with “\(Console.plain(text))”, got \(matches.count)",
                        remedy: "`tally refused` shows their hashes"
                    )
                }
                try place.device.dealWith(refused: event)
            }
            let all = try invocation.flag("all")
            let refusals = try place.device.refusals().filter { all || !$0.isDealtWith }
            if invocation.isJSON {
                invocation.console.print(.object([("refused", .array(refusals.map { ChainPage.json($0) }))]))
            } else if refusals.isEmpty {
                invocation.console.print("Nothing is refused.")
            } else {
                for refusal in refusals { ChainPage.print(refusal, on: invocation.console) }
            }
            return try invocation.flag("strict") && !refusals.isEmpty ? .foundProblems : .done
        }
    )
}
