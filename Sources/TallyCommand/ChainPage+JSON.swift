import CommandLineKit
import Tallystick
import TallystickCrypto
import TallystickDevice

extension ChainPage {
    var json: JSONOutput { .object(whose + said + unsettled + concerns) }

    // In parts: one literal of all members takes the compiler too long.
    private var whose: [(String, JSONOutput)] {
        [
            ("chain", .string(view.chain.description)),
            ("title", .optional(view.title)),
            ("scheme", .optional(view.scheme?.id.text)),
            ("schemeVersion", .optional(view.scheme?.version)),
            ("badge", .string(view.badge.rawValue)),
            ("contested", .bool(view.isContested)),
            ("needsNewerVersion", .bool(view.needsNewerVersion)),
            ("holder", view.holder.map { ChainPage.party($0) } ?? .null),
            ("openedBy", view.opening.map { ChainPage.party($0.party) } ?? .null),
        ]
    }

    private var said: [(String, JSONOutput)] {
        [
            ("legs", .array(view.legs.map { leg($0) })),
            ("received", .array(view.received.map { received($0) })),
            ("offers", .array(view.offers.map { offer($0) })),
            ("contests", .array(view.contests.map { contest($0) })),
            ("notes", .array(view.notes.map { note($0) })),
        ]
    }

    private var unsettled: [(String, JSONOutput)] {
        [
            ("waiting", .array(view.waiting.map { waiting($0) })),
            ("refused", .array(view.refused.map { ChainPage.json($0) })),
            ("doubtful", .array(view.doubtful.map { ChainPage.json($0) })),
            ("warnings", JSONOutput(view.warnings)),
        ]
    }

    private var concerns: [(String, JSONOutput)] {
        [
            ("conflict", .bool(view.isInConflict)),
            ("ending", view.ending.map { ending($0) } ?? .null),
            ("seats", .array(view.seats.map { leg($0) })),
            ("delegations", .array(view.delegations.map { delegation($0) })),
            ("corrections", .array(view.corrections.map { correction($0) })),
            ("links", .array(view.links.map { link($0) })),
            ("warned", .array(view.warned.map { warned($0) })),
            ("late", .array(view.late.map { late($0) })),
            ("discrepancies", JSONOutput(view.discrepancies)),
            ("deadlines", .array(view.deadlines.map { deadline($0) })),
            ("keeping", .array(view.keeping.map { keeping($0) })),
            ("externals", .array(view.externals.map { external($0) })),
        ]
    }

    private func received(_ received: ChainView.Received) -> JSONOutput {
        .object([
            ("from", .string(received.from.text)), ("to", .string(received.to.text)),
            ("snapshot", .string(received.snapshot.hex)),
            ("values", .object(received.fields.map { ($0.path.description, JSONOutput($0.value)) })),
        ])
    }

    private func contest(_ contest: ChainView.Contest) -> JSONOutput {
        .object([
            ("event", .string(contest.event.hex)), ("offer", .string(contest.offer.description)),
            ("party", ChainPage.party(contest.party)), ("at", .string(contest.at.description)),
        ])
    }

    private func note(_ note: ChainView.Note) -> JSONOutput {
        .object([
            ("text", .string(note.text)), ("party", ChainPage.party(note.party)), ("role", .string(note.role.text)),
            ("at", .string(note.at.description)),
        ])
    }

    private func waiting(_ waiting: ChainView.Waiting) -> JSONOutput {
        .object([
            ("event", .string(waiting.event.hex)), ("type", .string(waiting.type)), ("own", .bool(waiting.isOwn)),
            ("waitsFor", .array(waiting.awaits.map { ChainPage.json($0) })),
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

    static func party(_ party: ChainView.Party) -> JSONOutput {
        .object([
            ("id", .string(party.id.description)), ("name", .optional(party.name)), ("own", .bool(party.isOwn)),
        ])
    }

    private func leg(_ leg: ChainView.Leg) -> JSONOutput {
        .object([
            ("event", .string(leg.event.hex)), ("number", .optional(leg.number)), ("role", .string(leg.role.text)),
            ("party", ChainPage.party(leg.party)), ("current", .bool(leg.isCurrent)),
            ("at", .string(leg.at.description)),
            ("offer", .optional(leg.offer?.description)), ("received", .optional(leg.received?.hex)),
            ("handoff", leg.offer == nil ? .null : .string(leg.finding?.time == nil ? "unverified" : "verified")),
            ("time", .optional(leg.finding?.time?.rawValue)), ("mac", .optional(leg.finding?.mac.rawValue)),
            ("fields", .array(leg.fields.map { field($0) })),
            ("signatures", .array(leg.signatures.map { signature($0) })),
            ("missing", .strings(leg.missing.map(\.text))),
        ])
    }

    private func field(_ field: ChainView.Field) -> JSONOutput {
        .object([
            ("path", .string(field.path.description)), ("title", .optional(field.title)),
            ("value", JSONOutput(field.value)), ("text", .string(Scheme.text(of: field.value))),
            ("conflict", .bool(field.isInConflict)), ("others", .array(field.others.map { JSONOutput($0) })),
            ("sealed", .bool(field.isSealed)), ("correctable", .bool(field.isCorrectable)),
            ("corrected", .bool(field.corrected != nil)), ("before", field.corrected.map { JSONOutput($0) } ?? .null),
            ("party", field.party.map { ChainPage.party($0) } ?? .null),
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

extension ChainPage {
    private func signature(_ signature: ChainView.Signature) -> JSONOutput {
        .object([
            ("name", .string(signature.name.text)), ("party", ChainPage.party(signature.party)),
            ("event", .string(signature.event.hex)), ("at", .string(signature.at.description)),
            ("snapshot", .string(signature.snapshot.hex)), ("warnings", JSONOutput(signature.warnings)),
            ("way", .string(signature.way.word)), ("signer", ChainPage.party(signature.signer)),
            ("happened", .string(signature.happened.description)),
            (
                "paper",
                signature.way.paper.map { paper in
                    .object([
                        ("signer", .string(paper.signer)), ("at", .optional(paper.at?.description)),
                        ("picture", .string(paper.picture.hex)),
                    ])
                } ?? .null
            ),
        ])
    }

    private func delegation(_ delegation: ChainView.Delegation) -> JSONOutput {
        .object([
            ("event", .string(delegation.event.hex)), ("from", ChainPage.party(delegation.from)),
            ("to", ChainPage.party(delegation.to)), ("signatures", .strings(delegation.signatures.map(\.text))),
            ("until", .string(delegation.until.description)),
        ])
    }

    private func correction(_ correction: ChainView.Correction) -> JSONOutput {
        let state: String
        var refusedBy: ChainView.Party?
        var refusal: String?
        switch correction.state {
        case .open: state = "open"
        case .applied: state = "applied"
        case .refused(let by, let why):
            state = "refused"
            refusedBy = by
            refusal = why
        }
        return .object([
            ("correction", .string(correction.event.hex)), ("leg", .string(correction.leg.hex)),
            ("role", .string(correction.role.text)), ("party", ChainPage.party(correction.party)),
            ("at", .string(correction.at.description)), ("why", .string(correction.why)),
            (
                "changes",
                .array(
                    correction.changes.map { change in
                        .object([
                            ("path", .string(change.path.description)), ("title", .optional(change.title)),
                            ("value", JSONOutput(change.value ?? .null)),
                            ("before", JSONOutput(change.before ?? .null)),
                        ])
                    }
                )
            ),
            ("state", .string(state)), ("approved", .array(correction.approved.map { ChainPage.party($0) })),
            ("waitsFor", .array(correction.awaited.map { ChainPage.party($0) })),
            ("refusedBy", refusedBy.map { ChainPage.party($0) } ?? .null), ("refusal", .optional(refusal)),
        ])
    }

    private func link(_ link: ChainView.Link) -> JSONOutput {
        .object([
            ("link", .string(link.name.text)), ("title", .optional(link.title)),
            ("kind", .optional(link.kind?.rawValue)),
            ("other", .string(link.chain.description)), ("here", .bool(link.isHere)),
            ("amounts", .object(link.amounts.map { ($0.path.description, JSONOutput($0.value)) })),
            ("why", .string(link.why)), ("party", ChainPage.party(link.party)), ("at", .string(link.at.description)),
        ])
    }

    private func ending(_ ending: ChainView.Ending) -> JSONOutput {
        .object([
            ("outcome", .optional(ending.outcome?.text)), ("title", .optional(ending.title)),
            ("cancelled", .bool(ending.outcome == nil)), ("why", .string(ending.why)),
            ("party", ChainPage.party(ending.party)), ("at", .string(ending.at.description)),
            ("dutyTo", .optional(ending.dutyTo?.text)),
        ])
    }

    private func warned(_ warned: ChainView.Warned) -> JSONOutput {
        .object([
            ("event", .string(warned.event.hex)), ("party", ChainPage.party(warned.party)),
            ("at", .string(warned.at.description)), ("warnings", JSONOutput(warned.reasons)),
        ])
    }

    private func late(_ late: ChainView.Late) -> JSONOutput {
        .object([
            ("event", .string(late.event.hex)), ("type", .string(late.type)), ("party", ChainPage.party(late.party)),
            ("at", .string(late.at.description)), ("happened", .string(late.happened.description)),
            ("why", .string(late.why)), ("paper", .optional(late.paper?.hex)),
        ])
    }

    private func deadline(_ deadline: ChainView.Deadline) -> JSONOutput {
        .object([
            ("name", .string(deadline.name.text)), ("title", .string(deadline.title)),
            ("role", .string(deadline.role.text)), ("says", .string(deadline.says)),
            ("start", .string(deadline.start.description)), ("due", .optional(deadline.due?.description)),
            ("certain", .bool(deadline.isCertain)), ("met", .optional(deadline.met?.description)),
            ("overdue", .bool(deadline.isOverdue)), ("late", .bool(deadline.wasLate)),
        ])
    }

    private func keeping(_ keeping: ChainView.Keeping) -> JSONOutput {
        .object([
            ("role", .string(keeping.role.text)), ("count", .int(keeping.period.count)),
            ("unit", .string(keeping.period.unit.rawValue)), ("from", .string(keeping.from.words)),
            ("until", .optional(keeping.until?.description)),
        ])
    }

    private func external(_ external: ChainView.External) -> JSONOutput {
        .object([
            ("system", .string(external.system)), ("title", .string(external.title)),
            ("value", JSONOutput(external.value)),
        ])
    }
}

extension ChainMoment {
    /// As schemes write it: a stage or a field by its name.
    var words: String {
        switch self {
        case .opened: "opened"
        case .closed: "closed"
        case .stage(let name): name.text
        case .field(let reference): reference.description
        }
    }
}
