import CommandLineKit
import Tallystick
import TallystickCrypto
import TallystickDevice

/// What an offer's code says, for a person.
struct OfferPage {
    let half: HandoffHalf
    let scheme: Scheme?
    let now: Timestamp
    /// What a full code said of the load, once it is verified.
    var load: ReceivedLoad?
    /// What the device makes of the offer's challenge and of the clocks.
    var challenge: Device.ChallengeStanding = .none
    var clock: Device.ClockStanding?

    private var rule: Scheme.HandoffRule? {
        let index = half.statement.handoffIndex
        return scheme.flatMap { $0.handoffs.indices.contains(index) ? $0.handoffs[index] : nil }
    }

    var isExpired: Bool { now.seconds >= half.statement.expires }

    var lines: [String] {
        let statement = half.statement
        let until = statement.expiry?.at(offsetMinutes: now.offsetMinutes).map(Moment.text) ?? "an impossible time"
        var lines = [
            "Offer \(statement.offer.short)" + (isExpired ? ", expired" : ""),
            rule.map { "  \($0.title): from \($0.from) to \($0.to)" } ?? "  under rules that are not known here",
            "  chain    …\(Workplace.short(statement.chain))",
            "  until    \(until)",
            "  covers   what the giver says and signed, hash \(statement.snapshot.hex.prefix(16))…",
        ]
        if statement.isBound { lines.append("  only for the party that the giver named") }
        switch challenge {
        case .none: break
        case .answered: lines.append("  answers this device's challenge: it was made for you, just now")
        case .ended: lines.append("  answers a challenge of this device that has ENDED: show a new one")
        case .foreign: lines.append("  ANSWERS ANOTHER DEVICE'S CHALLENGE: it was not made for you")
        case .unanswered: lines.append("  does NOT answer the challenge this device showed: it may be an old picture")
        }
        if case .doubtful(let why) = clock { lines.append("  CLOCK DOUBTFUL: \(why); the server decides") }
        if let load {
            lines.append(
                "  verified offline: signed by \(Console.plain(load.giver.partyName)), certified by this device's authority"
            )
            for snapshot in load.snapshots { lines += OfferPage.lines(of: snapshot, scheme: scheme) }
        } else {
            lines.append("  unverified until synced: only the giver and the server can check the code's MAC")
        }
        return lines
    }

    /// What one giver stated, by the titles of the scheme.
    static func lines(of snapshot: HandoffSnapshot, scheme: Scheme?) -> [String] {
        ["  The \(snapshot.from) states:"]
            + snapshot.fields.map { path, value in
                let title = scheme?.field(path)?.title ?? path.description
                let label = path.line.map { "\($0.list)/\($0.id) " } ?? ""
                return "    " + Console.plain("\(label)\(title): \(Scheme.text(of: value))")
            }
    }

    var json: JSONOutput {
        let statement = half.statement
        return .object([
            ("offer", .string(statement.offer.description)),
            ("chain", .string(statement.chain.description)),
            ("scheme", .optional(scheme?.reference.id.text)),
            ("handoff", .optional(rule?.name.text)),
            ("from", .optional(rule?.from.text)),
            ("to", .optional(rule?.to.text)),
            ("expires", .optional(statement.expiry?.description)),
            ("expired", .bool(isExpired)),
            ("bound", .bool(statement.isBound)),
            ("challenged", .bool(statement.isChallenged)),
            ("snapshot", .string(statement.snapshot.hex)),
            ("verified", .string(load == nil ? "not-until-synced" : "offline")),
            ("giver", .optional(load?.giver.partyName)),
            (
                "load",
                .array(
                    (load?.snapshots ?? []).map { snapshot in
                        .object([
                            ("from", .string(snapshot.from.text)), ("to", .string(snapshot.to.text)),
                            ("snapshot", .string(snapshot.hash.hex)),
                            (
                                "values",
                                .object(snapshot.fields.map { ($0.path.description, JSONOutput($0.value)) })
                            ),
                        ])
                    }
                )
            ),
        ])
    }
}
