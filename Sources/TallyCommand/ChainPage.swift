import CommandLineKit
import Tallystick
import TallystickCrypto
import TallystickDevice

/// A chain as text and as JSON.
struct ChainPage {
    let view: ChainView

    func print(on console: Console) {
        func heading(_ text: String) { console.print("\n" + console.styled(text, .heading, on: .output)) }
        console.print("Chain \(view.chain)")
        console.print("  \(view.title ?? "rules not known here")")
        console.print("  state: \(styled(view.badge, on: console))")
        if let holder = view.holder { console.print("  with:  \(name(holder))") }
        if view.isContested {
            console.print(
                console.styled("  CONTESTED: more than one party says to have taken the load over", .error, on: .output)
            )
            for contest in view.contests {
                console.print(
                    "    \(name(contest.party)) accepted offer \(contest.offer.short), \(Moment.text(contest.at)); refused"
                )
            }
        }
        if view.needsNewerVersion { console.print("  this chain has events that need a newer version of the program") }
        if view.opening == nil {
            console.print("  taken over by code: what others said of the load comes with `tally sync`")
        }
        for received in view.received {
            heading("As received by code: \(received.title ?? "\(received.from) to \(received.to)")")
            for field in received.fields {
                let label = field.path.line.map { "\($0.list)/\($0.id) " } ?? ""
                let codes = field.codeTitles.isEmpty ? "" : " (\(field.codeTitles.joined(separator: ", ")))"
                console.print(
                    "    "
                        + Console.plain(
                            "\(label)\(field.title ?? field.path.description): \(Scheme.text(of: field.value))\(codes)"
                        )
                )
            }
        }
        for leg in view.legs {
            heading("\(leg.number.map { "Leg \($0)" } ?? "Leg"): \(leg.roleTitle ?? leg.role.text), \(name(leg.party))")
            let standing = isHandedOver(view) ? ", handed over, both halves held" : ", has the load"
            console.print("  since \(Moment.text(leg.at))\(leg.isCurrent ? standing : "")\(finding(of: leg))")
            printFields(of: leg, on: console)
            for signature in leg.signatures {
                console.print("  signed by \(name(signature.party)), \(Moment.text(signature.at))")
                for warning in signature.warnings {
                    console.print(
                        "    " + console.styled("Warning: ", .warning, on: .output) + Console.plain(warning.sentence)
                    )
                }
            }
        }
        if !view.offers.isEmpty {
            heading("Offers")
            for offer in view.offers {
                console.print(
                    "  \(offer.id.short) to a \(offer.to), until \(Moment.text(offer.expires)): \(words(offer.state))"
                )
                if let reply = offer.reply {
                    let taker = reply.taker.map { name($0) } ?? "the taker"
                    let at = reply.at.map(Moment.text) ?? "at an unknown time"
                    console.print(
                        "    both halves held: \(taker) \(reply.isAcceptance ? "accepted" : "declined"), \(at)"
                    )
                }
            }
        }
        if !view.notes.isEmpty {
            heading("Remarks")
            for note in view.notes {
                console.print("  \(name(note.party)), \(Moment.text(note.at)): \(Console.plain(note.text))")
            }
        }
        if !view.waiting.isEmpty {
            heading("Waiting")
            for item in view.waiting {
                console.print("  \(item.isOwn ? "your" : "another's") \(item.type) (\(item.event.hex.prefix(8)))")
                for awaited in item.awaits { console.print("    \(awaited.sentence)") }
            }
        }
        if !view.refused.isEmpty {
            heading("Refused")
            for refusal in view.refused { ChainPage.print(refusal, on: console) }
        }
        if !view.doubtful.isEmpty {
            heading("The server will probably refuse")
            for refusal in view.doubtful { ChainPage.print(refusal, on: console) }
        }
    }

    private func printFields(of leg: ChainView.Leg, on console: Console) {
        var list: Name?
        for field in leg.fields {
            if let line = field.path.line, line.list != list { list = line.list }
            let value = Scheme.text(of: field.value)
            let titles = field.codeTitles.joined(separator: ", ")
            let codes = titles.isEmpty || titles == value ? "" : " (\(titles))"
            let others = field.others.map { $0.isNull ? "cleared" : Scheme.text(of: $0) }.joined(separator: ", ")
            let conflict = field.isInConflict ? "  IN CONFLICT with: \(others)" : ""
            let label = field.path.line.map { "\($0.list)/\($0.id) " } ?? ""
            console.print(
                "    \(Console.plain("\(label)\(field.title ?? field.path.description): \(value)\(codes)\(conflict)"))"
            )
        }
    }

    private func name(_ party: ChainView.Party) -> String {
        Console.plain(party.text) + (party.isOwn ? " (you)" : "")
    }

    /// Whether the giver holds an acceptance that has not come itself, so that no leg tells of it yet.
    private func isHandedOver(_ view: ChainView) -> Bool {
        view.offers.contains { offer in
            if case .taken = offer.state { return false }
            guard let reply = offer.reply, reply.isAcceptance else { return false }
            return !view.refused.contains { $0.event == reply.event }
        }
    }

    private func finding(of leg: ChainView.Leg) -> String {
        guard leg.offer != nil else { return "" }
        switch leg.finding?.time {
        case .witnessed?: return "; handoff verified, in time by the server's clock"
        case .claimed?: return "; handoff verified, in time by the taker's clock only"
        case nil: return "; handoff unverified until both halves reach the server"
        }
    }

    private func styled(_ badge: Badge, on console: Console) -> String {
        switch badge {
        case .confirmed: console.styled(badge.rawValue, .good, on: .output)
        case .refused: console.styled(badge.rawValue, .error, on: .output)
        case .savedHere, .atTheServer: console.styled(badge.rawValue, .warning, on: .output)
        }
    }

    private func words(_ state: ChainView.Offer.State) -> String {
        switch state {
        case .open: "open"
        case .expired: "expired"
        case .withdrawn: "withdrawn"
        case .declined(let why): "declined: \(Console.plain(why))"
        case .taken(let event): "taken (\(event.hex.prefix(8)))"
        }
    }

    static func print(_ refusal: ChainView.Refused, on console: Console) {
        let dealt = refusal.isDealtWith ? ", dealt with" : ""
        let owner = refusal.isOwn ? "your" : "another's"
        console.print(
            "  \(owner) \(refusal.type) of \(Moment.text(refusal.at)), chain …\(Workplace.short(refusal.chain)), "
                + "event \(refusal.event.hex.prefix(8))\(dealt)"
        )
        for reason in refusal.reasons {
            console.print(
                "    \(console.styled(reason.code.description, .error, on: .output)): \(Console.plain(reason.sentence))"
            )
        }
    }
}

extension ChainPage {
    var json: JSONOutput {
        .object([
            ("chain", .string(view.chain.description)),
            ("title", .optional(view.title)),
            ("scheme", .optional(view.scheme?.id.text)),
            ("schemeVersion", .optional(view.scheme?.version)),
            ("badge", .string(view.badge.rawValue)),
            ("contested", .bool(view.isContested)),
            ("needsNewerVersion", .bool(view.needsNewerVersion)),
            ("holder", view.holder.map { party($0) } ?? .null),
            ("openedBy", view.opening.map { party($0.party) } ?? .null),
            ("legs", .array(view.legs.map { leg($0) })),
            (
                "received",
                .array(
                    view.received.map { received in
                        .object([
                            ("from", .string(received.from.text)), ("to", .string(received.to.text)),
                            ("snapshot", .string(received.snapshot.hex)),
                            (
                                "values",
                                .object(received.fields.map { ($0.path.description, JSONOutput($0.value)) })
                            ),
                        ])
                    }
                )
            ),
            ("offers", .array(view.offers.map { offer($0) })),
            (
                "contests",
                .array(
                    view.contests.map {
                        .object([
                            ("event", .string($0.event.hex)), ("offer", .string($0.offer.description)),
                            ("party", party($0.party)), ("at", .string($0.at.description)),
                        ])
                    }
                )
            ),
            (
                "notes",
                .array(
                    view.notes.map {
                        .object([
                            ("text", .string($0.text)), ("party", party($0.party)), ("role", .string($0.role.text)),
                            ("at", .string($0.at.description)),
                        ])
                    }
                )
            ),
            (
                "waiting",
                .array(
                    view.waiting.map {
                        .object([
                            ("event", .string($0.event.hex)), ("type", .string($0.type)), ("own", .bool($0.isOwn)),
                            ("waitsFor", .array($0.awaits.map { ChainPage.json($0) })),
                        ])
                    }
                )
            ),
            ("refused", .array(view.refused.map { ChainPage.json($0) })),
            ("doubtful", .array(view.doubtful.map { ChainPage.json($0) })),
            ("warnings", JSONOutput(view.warnings)),
        ])
    }

    /// One shape for everything that can be waited for, so that a script need not look for which member is there.
    private static func json(_ awaited: Awaited) -> JSONOutput {
        let (kind, what): (String, String?) =
            switch awaited {
            case .event(let hash): ("event", hash.hex)
            case .offer(let offer): ("offer", offer.description)
            case .opening: ("opening", nil)
            case .signature(let name): ("signature", name.text)
            case .handoff(let name): ("handoff", name.text)
            }
        return .object([
            ("kind", .string(kind)), ("what", .optional(what)), ("sentence", .string(awaited.sentence)),
        ])
    }

    static func json(_ refusal: ChainView.Refused) -> JSONOutput {
        .object([
            ("event", .string(refusal.event.hex)), ("chain", .string(refusal.chain.description)),
            ("type", .string(refusal.type)), ("own", .bool(refusal.isOwn)), ("at", .string(refusal.at.description)),
            ("received", .optional(refusal.received?.description)), ("dealtWith", .bool(refusal.isDealtWith)),
            ("reasons", JSONOutput(refusal.reasons)),
        ])
    }

    private func party(_ party: ChainView.Party) -> JSONOutput {
        .object([
            ("id", .string(party.id.description)), ("name", .optional(party.name)), ("own", .bool(party.isOwn)),
        ])
    }

    private func leg(_ leg: ChainView.Leg) -> JSONOutput {
        .object([
            ("event", .string(leg.event.hex)), ("number", .optional(leg.number)), ("role", .string(leg.role.text)),
            ("party", party(leg.party)), ("current", .bool(leg.isCurrent)), ("at", .string(leg.at.description)),
            ("offer", .optional(leg.offer?.description)), ("received", .optional(leg.received?.hex)),
            ("handoff", leg.offer == nil ? .null : .string(leg.finding?.time == nil ? "unverified" : "verified")),
            ("time", .optional(leg.finding?.time?.rawValue)), ("mac", .optional(leg.finding?.mac.rawValue)),
            ("fields", .array(leg.fields.map { field($0) })),
            (
                "signatures",
                .array(
                    leg.signatures.map {
                        .object([
                            ("name", .string($0.name.text)), ("party", party($0.party)),
                            ("event", .string($0.event.hex)),
                            ("at", .string($0.at.description)), ("snapshot", .string($0.snapshot.hex)),
                            ("warnings", JSONOutput($0.warnings)),
                        ])
                    }
                )
            ),
        ])
    }

    private func field(_ field: ChainView.Field) -> JSONOutput {
        .object([
            ("path", .string(field.path.description)), ("title", .optional(field.title)),
            ("value", JSONOutput(field.value)), ("text", .string(Scheme.text(of: field.value))),
            ("conflict", .bool(field.isInConflict)), ("others", .array(field.others.map { JSONOutput($0) })),
            ("sealed", .bool(field.isSealed)), ("party", field.party.map { party($0) } ?? .null),
            ("at", .string(field.at.description)),
        ])
    }

    private func offer(_ offer: ChainView.Offer) -> JSONOutput {
        let state: String
        var why: String?
        switch offer.state {
        case .open: state = "open"
        case .expired: state = "expired"
        case .withdrawn: state = "withdrawn"
        case .declined(let reason):
            state = "declined"
            why = reason
        case .taken: state = "taken"
        }
        return .object([
            ("offer", .string(offer.id.description)), ("handoff", .string(offer.handoff.text)),
            ("to", .string(offer.to.text)), ("expires", .string(offer.expires.description)),
            ("state", .string(state)), ("why", .optional(why)),
            (
                "reply",
                offer.reply.map { reply in
                    .object([
                        ("accepted", .bool(reply.isAcceptance)), ("taker", .optional(reply.taker?.name)),
                        ("at", .optional(reply.at?.description)), ("event", .string(reply.event.hex)),
                    ])
                } ?? .null
            ),
        ])
    }
}
