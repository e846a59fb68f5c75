import CommandLineKit
import Tallystick
import TallystickCrypto
import TallystickDevice

/// What a chain's page says beside the legs.
extension ChainPage {
    /// What asks for attention, before everything else; the details are further down.
    func printConcerns(on console: Console) {
        if let ending = view.ending {
            let how = ending.outcome.map { "ended: \(ending.title ?? $0.text)" } ?? "CANCELLED"
            let why = ending.why.isEmpty ? "" : ": \(Console.plain(ending.why))"
            console.print("  \(how), by \(name(ending.party)), \(Moment.text(ending.at))\(why)")
            if let duty = ending.dutyTitle ?? ending.dutyTo?.text {
                console.print("  the duty for the load is that of the \(duty) again")
            }
        }
        for external in view.externals {
            console.print("  \(Console.plain("\(external.system): \(Scheme.text(of: external.value))"))")
        }
        let overdue = view.deadlines.filter(\.isOverdue)
        if !overdue.isEmpty {
            let titles = overdue.map(\.title).joined(separator: ", ")
            console.print("  " + console.styled("OVERDUE: ", .error, on: .output) + Console.plain(titles))
        }
        for discrepancy in view.discrepancies {
            console.print(
                "  " + console.styled("DISCREPANCY: ", .warning, on: .output) + Console.plain(discrepancy.sentence)
            )
        }
        if view.isInConflict {
            console.print(
                console.styled("  IN CONFLICT: values below contradict each other", .error, on: .output)
            )
        }
        let open = view.corrections.filter(\.waitsForOwn).count
        if open > 0 {
            console.print(
                "  \(counted(open, "correction waits", "corrections wait")) for you: `tally approve` or `tally refuse`"
            )
        }
    }

    /// How a signature was given.
    func words(_ signature: ChainView.Signature) -> String {
        let entered = Moment.text(signature.at)
        switch signature.way {
        case .own: return "signed by \(name(signature.party)), \(entered)\(title(of: signature))"
        case .delegate:
            return "signed for \(name(signature.party)) by \(name(signature.signer)), \(entered)\(title(of: signature))"
        case .paper(let paper):
            let when = paper.at.map { ", \(Moment.text($0))" } ?? ", at a time the paper does not say"
            return """
                signed on paper by \(Console.plain(paper.signer)) for \(name(signature.party))\(when)\(title(of: signature)); \
                attested by \(name(signature.signer)), \(entered), picture \(paper.picture.hex.prefix(8))
                """
        }
    }

    /// Which signature it is, where its role gives several.
    private func title(of signature: ChainView.Signature) -> String {
        let isOnly = view.legs.first { $0.signatures.contains { $0.event == signature.event } }?.signatures.count == 1
        return isOnly ? "" : " (\(signature.title ?? signature.name.text))"
    }

    func printDelegations(on console: Console) {
        guard !view.delegations.isEmpty else { return }
        heading("Signing for another", on: console)
        for delegation in view.delegations {
            let names = delegation.signatures.map(\.text).joined(separator: ", ")
            console.print(
                "  \(name(delegation.to)) may sign \(names) for \(name(delegation.from)) "
                    + "until \(Moment.text(delegation.until))"
            )
        }
    }

    /// A value that is corrected, before and after.
    static func words(_ change: ChainView.Correction.Change) -> String {
        let label = change.path.line.map { "\($0.list)/\($0.id) " } ?? ""
        func text(_ value: JSON?) -> String { value.map { Scheme.text(of: $0) } ?? "nothing" }
        let title = change.title ?? change.path.description
        return Console.plain("\(label)\(title): \(text(change.before)) → \(text(change.value))")
    }

    func printCorrections(on console: Console) {
        guard !view.corrections.isEmpty else { return }
        heading("Corrections", on: console)
        for correction in view.corrections {
            console.print(
                "  \(correction.event.hex.prefix(8)) by \(name(correction.party)), \(Moment.text(correction.at)): "
                    + Console.plain(correction.why)
            )
            for change in correction.changes { console.print("    \(ChainPage.words(change))") }
            if !correction.approved.isEmpty {
                console.print("    approved by \(correction.approved.map { name($0) }.joined(separator: ", "))")
            }
            switch correction.state {
            case .open:
                console.print("    open: waits for \(correction.awaited.map { name($0) }.joined(separator: ", "))")
            case .applied: console.print("    applied")
            case .refused(let by, let why): console.print("    refused by \(name(by)): \(Console.plain(why))")
            }
        }
    }

    func printLinks(on console: Console) {
        guard !view.links.isEmpty else { return }
        heading("Other chains", on: console)
        for link in view.links {
            let here = link.isHere ? "" : " (not on this device)"
            let why = link.why.isEmpty ? "" : ": \(Console.plain(link.why))"
            console.print(
                "  \(link.title ?? link.name.text): chain …\(Workplace.short(link.chain))\(here), by \(name(link.party)), "
                    + "\(Moment.text(link.at))\(why)"
            )
            for amount in link.amounts {
                console.print("    \(Console.plain("\(amount.path): \(Scheme.text(of: amount.value))"))")
            }
        }
    }

    func printLateEntries(on console: Console) {
        guard !view.late.isEmpty else { return }
        heading("Entered afterwards", on: console)
        for late in view.late {
            let what =
                switch late.type {
                case "chain.opened": "opening"
                case "fields.set": "values"
                case "signed": "signature"
                case "note.added": "remark"
                default: late.type
                }
            let paper = late.paper.map { "; paper \($0.hex.prefix(8))" } ?? ""
            console.print(
                "  \(what) of \(name(late.party)): happened \(Moment.text(late.happened)), entered \(Moment.text(late.at)): "
                    + Console.plain(late.why) + paper
            )
        }
    }

    /// What was warned about elsewhere than at signatures and late entries, which are shown where they stand.
    func printWarnings(on console: Console) {
        let signatures = Set((view.legs + view.seats).flatMap(\.signatures).map(\.event))
        let others = view.warned.filter { !signatures.contains($0.event) }.flatMap { warned in
            warned.reasons.filter { $0.code != .lateEntry }.map { (warned.party, warned.at, $0) }
        }
        guard !others.isEmpty else { return }
        heading("Warnings", on: console)
        for (party, at, reason) in others {
            console.print("  \(name(party)), \(Moment.text(at)): \(Console.plain(reason.sentence))")
        }
    }

    func printDeadlines(on console: Console) {
        guard !view.deadlines.isEmpty else { return }
        heading("Deadlines", on: console)
        for deadline in view.deadlines {
            let due = deadline.due.map { "due \(Moment.text($0))" } ?? "due at a time that cannot be told here"
            let doubt = deadline.due == nil || deadline.isCertain ? "" : " (holidays of that time are not known)"
            let standing =
                switch (deadline.met, deadline.isOverdue) {
                case (nil, true): ", " + console.styled("OVERDUE", .error, on: .output)
                case (nil, false): ", not done yet"
                case (let met?, _): ", done \(Moment.text(met))\(deadline.wasLate ? ", too late" : "")"
                }
            console.print("  \(Console.plain(deadline.title)) (\(deadline.role)): \(due)\(doubt)\(standing)")
            if deadline.met == nil { console.print("    \(Console.plain(deadline.says))") }
        }
    }

    func printKeeping(on console: Console) {
        guard !view.keeping.isEmpty else { return }
        heading("Keep this record", on: console)
        for keeping in view.keeping {
            let count = keeping.period.count
            let unit =
                switch keeping.period.unit {
                case .hours: counted(count, "hour")
                case .days: counted(count, "day")
                case .workingDays: counted(count, "working day")
                case .months: counted(count, "month")
                case .years: counted(count, "year")
                }
            let until =
                keeping.until.map { "until \($0)" }
                ?? "for \(unit) from “\(keeping.from.words)”, which is still to come"
            console.print("  as \(keeping.role): \(until)")
        }
    }
}
