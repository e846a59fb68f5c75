import CommandLineKit
import Tallystick
import TallystickCrypto
import TallystickDevice

/// A chain as text and as JSON.
struct ChainPage {
    let view: ChainView

    func print(on console: Console) {
        console.print("Chain \(view.chain)")
        let scheme = view.scheme.map { " (\($0.id), version \($0.version))" } ?? ""
        console.print("  \(view.title ?? "rules not known here")\(scheme)")
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
        printConcerns(on: console)
        if view.needsNewerVersion { console.print("  this chain has events that need a newer version of the program") }
        if view.opening == nil, view.legs.isEmpty, !view.refused.isEmpty {
            console.print(
                "  Taking it over was refused, below. If you have the load, keep it, and speak with the giver."
            )
        } else if view.opening == nil {
            console.print("  taken over by code: what others said of the load comes with `tally sync`")
        }
        printReceived(on: console)
        for leg in view.legs + view.seats { print(leg, on: console) }
        printDelegations(on: console)
        printCorrections(on: console)
        printOffers(on: console)
        printLinks(on: console)
        printNotes(on: console)
        printLateEntries(on: console)
        printWarnings(on: console)
        printDeadlines(on: console)
        printKeeping(on: console)
        if !view.waiting.isEmpty {
            heading("Waiting", on: console)
            for item in view.waiting {
                console.print("  \(item.isOwn ? "your" : "another's") \(item.type) (\(item.event.hex.prefix(8)))")
                for awaited in item.awaits { console.print("    \(awaited.sentence)") }
            }
        }
        if !view.refused.isEmpty {
            heading("Refused", on: console)
            for refusal in view.refused { ChainPage.print(refusal, on: console) }
        }
        if !view.doubtful.isEmpty {
            heading("The server will probably refuse", on: console)
            for refusal in view.doubtful { ChainPage.print(refusal, on: console) }
        }
    }

    func heading(_ text: String, on console: Console) {
        console.print("\n" + console.styled(text, .heading, on: .output))
    }

    private func printReceived(on console: Console) {
        for received in view.received {
            heading("As received by code: \(received.title ?? "\(received.from) to \(received.to)")", on: console)
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
    }

    private func print(_ leg: ChainView.Leg, on console: Console) {
        let turn =
            leg.number.map { "Leg \($0)" } ?? (view.seats.contains { $0.event == leg.event } ? "Takes part" : "Leg")
        heading("\(turn): \(leg.roleTitle ?? leg.role.text), \(name(leg.party))", on: console)
        let standing = isHandedOver(view) ? ", handed over, both halves held" : ", has the load"
        console.print("  since \(Moment.text(leg.at))\(leg.isCurrent ? standing : "")\(finding(of: leg))")
        printFields(of: leg, on: console)
        printSeals(of: leg, on: console)
        for signature in leg.signatures {
            console.print("  \(words(signature))")
            for warning in signature.warnings {
                console.print(
                    "    " + console.styled("Warning: ", .warning, on: .output) + Console.plain(warning.sentence)
                )
            }
        }
        for missing in leg.missing {
            console.print(
                "  " + console.styled("GAP: ", .warning, on: .output) + "the signature “\(missing)” is missing"
            )
        }
    }

    private func printOffers(on console: Console) {
        if !view.offers.isEmpty {
            heading("Offers", on: console)
            for offer in view.offers {
                console.print(
                    "  \(offer.id.short) to a \(offer.to), until \(Moment.text(offer.expires)): \(ChainPage.words(offer.state))"
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
    }

    private func printNotes(on console: Console) {
        if !view.notes.isEmpty {
            heading("Remarks", on: console)
            for note in view.notes {
                console.print("  \(name(note.party)), \(Moment.text(note.at)): \(Console.plain(note.text))")
            }
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
            let corrected = field.corrected.map { "  (corrected; before: \(Scheme.text(of: $0)))" } ?? ""
            let label = field.path.line.map { "\($0.list)/\($0.id) " } ?? ""
            let text = "\(label)\(field.title ?? field.path.description): \(value)\(codes)\(corrected)\(conflict)"
            console.print("    \(Console.plain(text))")
        }
    }

    /// Which of the values can be set no more: named by whichever are fewer, the sealed ones or the others.
    private func printSeals(of leg: ChainView.Leg, on console: Console) {
        let sealed = leg.fields.filter(\.isSealed)
        let others = leg.fields.filter { !$0.isSealed }
        guard !sealed.isEmpty else { return }
        func names(_ fields: [ChainView.Field]) -> String {
            let names = fields.map { field in
                (field.path.line.map { "\($0.list)/\($0.id) " } ?? "") + (field.title ?? field.path.description)
            }
            return Console.plain(names.joined(separator: ", "))
        }
        if others.isEmpty {
            console.print("  sealed: all of these values")
        } else if others.count < sealed.count {
            console.print("  sealed: all of these values but \(names(others))")
        } else {
            console.print("  sealed: \(names(sealed))")
        }
    }

    func name(_ party: ChainView.Party) -> String {
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

    private static func words(_ state: ChainView.Offer.State) -> String {
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
