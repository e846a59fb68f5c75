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

            With several of the options a chain is listed where all of them hold.
            """,
        section: Tally.field,
        options: [
            OptionDeclaration(flag: "overdue", help: "only chains in which something is overdue"),
            OptionDeclaration(flag: "discrepancies", help: "only chains in which quantities differ"),
            OptionDeclaration(
                flag: "contested",
                help: "only chains that two parties say to have taken over, or with values that contradict each other"
            ),
            OptionDeclaration(flag: "gaps", help: "only chains in which a signature is missing that should have come"),
            OptionDeclaration(
                "external",
                value: "ID",
                help: "only the chains that another system knows by this identifier, such as a tracking number"
            ),
            OptionDeclaration(flag: "ended", help: "only chains that are closed or cancelled"),
            OptionDeclaration(flag: "open", help: "only chains that are neither closed nor cancelled"),
        ],
        examples: [
            ("tally list", "shows each chain with its state"),
            ("tally list --open --overdue", "shows what has to be done now, and since when"),
            ("tally list --external 26HRA0B2", "finds the chain of a regulator's tracking number"),
        ],
        exitCodes: homeExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let filter = try ChainFilter(invocation)
            let all = try place.device.chains()
            let chains = all.filter { filter.passes($0) }
            if invocation.isJSON {
                let now = filter.now
                invocation.console.print(.object([("chains", .array(chains.map { json(of: $0, at: now) }))]))
                return .done
            }
            guard !all.isEmpty else {
                invocation.console.note("There are no chains here. `tally open` makes one, `tally sync` gets yours.")
                return .done
            }
            guard !chains.isEmpty else {
                invocation.console.print(filter.none)
                return .done
            }
            var table = Table("CHAIN", "STATE", "YOUR ROLE", "HOLDER", "WHAT")
            for chain in chains {
                let holder = [chain.holderRole, chain.holder].compactMap { $0 }.joined(separator: ": ")
                table.add([
                    "…\(Workplace.short(chain.chain))",
                    ([chain.badge.rawValue] + concerns(of: chain, at: filter.now)).joined(separator: ", "),
                    chain.role ?? "none",
                    holder.isEmpty ? "not known here" : holder,
                    chain.title ?? "rules not known here",
                ])
            }
            invocation.console.print(table)
            if filter.isOverdue { printOverdue(chains, at: filter.now, on: invocation.console) }
            return .done
        }
    )

    /// What there is to look after, in words beside the badge.
    private static func concerns(of chain: ChainSummary, at now: Timestamp) -> [String] {
        var words: [String] = chain.isContested ? ["CONTESTED"] : []
        guard let concerns = chain.concerns else { return words }
        if concerns.isInConflict { words.append("IN CONFLICT") }
        if !concerns.overdue(at: now).isEmpty { words.append("OVERDUE") }
        if concerns.discrepancies > 0 { words.append("discrepancy") }
        if !concerns.gaps.isEmpty { words.append("gap") }
        if let ending = concerns.ending { words.append("ended: \(ending.title)") }
        return words
    }

    private static func printOverdue(_ chains: [ChainSummary], at now: Timestamp, on console: Console) {
        var table = Table("CHAIN", "OVERDUE", "WHO", "DUE", "DONE")
        for chain in chains {
            for deadline in chain.concerns?.overdue(at: now) ?? [] {
                table.add([
                    "…\(Workplace.short(chain.chain))", deadline.title, deadline.role,
                    deadline.due.map(Moment.text) ?? "", deadline.met.map(Moment.text) ?? "not yet",
                ])
            }
        }
        console.print("")
        console.print(table)
    }

    private static func json(of chain: ChainSummary, at now: Timestamp) -> JSONOutput {
        .object([
            ("chain", .string(chain.chain.description)), ("title", .optional(chain.title)),
            ("scheme", .optional(chain.scheme)), ("badge", .string(chain.badge.rawValue)),
            ("role", .optional(chain.role)), ("holder", .optional(chain.holder)),
            ("holderRole", .optional(chain.holderRole)), ("contested", .bool(chain.isContested)),
            ("opened", .optional(chain.opened?.description)), ("updated", .string(chain.updated.description)),
            ("counts", counts(of: chain)),
            ("conflict", .bool(chain.concerns?.isInConflict ?? false)),
            ("overdue", .bool(chain.concerns?.overdue(at: now).isEmpty == false)),
            ("deadlines", .array((chain.concerns?.deadlines ?? []).map { json(of: $0, at: now) })),
            ("discrepancies", .int(chain.concerns?.discrepancies ?? 0)),
            ("gaps", .strings(chain.concerns?.gaps ?? [])),
            ("ended", .optional(chain.concerns?.ending.map { $0.outcome ?? "cancelled" })),
            (
                "externals",
                .array(
                    (chain.concerns?.externals ?? []).map {
                        .object([("system", .string($0.system)), ("value", .string($0.value))])
                    }
                )
            ),
        ])
    }

    private static func counts(of chain: ChainSummary) -> JSONOutput {
        .object([
            ("savedHere", .int(chain.counts.savedHere)), ("atTheServer", .int(chain.counts.atTheServer)),
            ("confirmed", .int(chain.counts.confirmed)), ("refused", .int(chain.counts.refused)),
            ("legs", .int(chain.legs)), ("signatures", .int(chain.signatures)),
            ("openOffers", .int(chain.openOffers)),
        ])
    }

    private static func json(of deadline: ChainConcerns.Due, at now: Timestamp) -> JSONOutput {
        .object([
            ("name", .string(deadline.name)), ("title", .string(deadline.title)), ("role", .string(deadline.role)),
            ("due", .optional(deadline.due?.description)), ("met", .optional(deadline.met?.description)),
            ("overdue", .bool(deadline.isOverdue(at: now))),
        ])
    }

    static let show = CommandDeclaration(
        ["show"],
        summary: "Show everything this device knows of a chain",
        discussion: """
            Who had the load and who else takes part, what each said and signed and how, corrections, other chains it \
            hangs together with, what was entered afterwards, what the rules warn about, what is due when, and how long \
            you must keep the record.
            """,
        section: Tally.field,
        arguments: [.chain],
        examples: [("tally show 1f0c3a9e", "shows legs, values, signatures, offers, and what waits or was refused")],
        exitCodes: chainExitCodes,
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
        exitCodes: [
            (.foundProblems, "with --strict: there are refused events"), homeExitCodes[0],
            (.noInput, "there is no such home or refused event"),
        ],
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

/// Which chains `tally list` is asked for.
private struct ChainFilter {
    let now: Timestamp
    let isOverdue: Bool
    private let hasDiscrepancies: Bool
    private let isContested: Bool
    private let hasGaps: Bool
    private let external: String?
    private let isEnded: Bool
    private let isOpen: Bool

    init(_ invocation: Invocation) throws {
        now = try Moment.now()
        isOverdue = try invocation.flag("overdue")
        hasDiscrepancies = try invocation.flag("discrepancies")
        isContested = try invocation.flag("contested")
        hasGaps = try invocation.flag("gaps")
        external = try invocation.option("external")
        isEnded = try invocation.flag("ended")
        isOpen = try invocation.flag("open")
        guard !isEnded || !isOpen else {
            throw CommandError.usage("--ended and --open exclude each other: give one of them, or neither")
        }
    }

    func passes(_ chain: ChainSummary) -> Bool {
        let concerns = chain.concerns
        if isOverdue, concerns?.overdue(at: now).isEmpty != false { return false }
        if hasDiscrepancies, (concerns?.discrepancies ?? 0) == 0 { return false }
        if isContested, !chain.isContested, concerns?.isInConflict != true { return false }
        if hasGaps, concerns?.gaps.isEmpty != false { return false }
        if let external, concerns?.externals.contains(where: { $0.isNamed(external) }) != true { return false }
        if isEnded, concerns?.ending == nil { return false }
        if isOpen, concerns?.ending != nil { return false }
        return true
    }

    /// What to say where no chain passes.
    var none: String {
        var words: [String] = []
        if isOverdue { words.append("overdue") }
        if hasDiscrepancies { words.append("with a discrepancy") }
        if isContested { words.append("contested") }
        if hasGaps { words.append("with a gap") }
        if let external { words.append("known as “\(Console.plain(external))”") }
        if isEnded { words.append("ended") }
        if isOpen { words.append("open") }
        return "No chain is \(words.joined(separator: " and ")) here."
    }
}
