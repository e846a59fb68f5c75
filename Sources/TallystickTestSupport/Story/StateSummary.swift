package import Tallystick
import TallystickCrypto

/// A chain's state as canonical JSON, in an order of its own: two states with the same summary say the same.
///
/// What first-come decides is left out: of values in conflict the set is given, not the one that is shown.
package enum StateSummary {
    /// The summary of everything a state says.
    package static func json(of state: ChainState) -> JSON {
        .members([
            ("chain", .string(state.chain.description)),
            ("contests", .array(sorted(state.contests.map(contest)))),
            ("corrections", some(state.corrections.map(correction))),
            ("delegations", some(state.delegations.map(delegation))),
            ("ending", state.ending.map(ending)),
            ("heads", .strings(state.heads.sorted().map(\.hex))),
            ("legs", .array(state.legs.map { leg($0, in: state) })),
            ("links", some(state.links.map(link))),
            ("notes", .array(sorted(state.notes.map(note)))),
            ("offers", .object(state.offers.values.sorted { $0.offer.id < $1.offer.id }.map(offer))),
            ("opening", state.opening.map { .string($0.event.hex) } ?? .null),
            ("seats", some(state.seats.map { leg($0, in: state) })),
            ("scheme", state.scheme.map { .string($0.reference.hash.hex) } ?? .null),
            ("signatures", .array(sorted(state.signatures.map(signature)))),
            ("unreadable", .strings(state.unreadable.sorted().map(\.hex))),
        ])
    }

    /// SHA-256 of the summary's canonical bytes, in hexadecimal digits.
    package static func digest(of state: ChainState) throws(JSONError) -> String {
        SHA256.hash(try json(of: state).canonicalBytes()).hex
    }

    /// Left out where there is none, in an order of its own otherwise.
    private static func some(_ elements: [JSON]) -> JSON? { elements.isEmpty ? nil : .array(sorted(elements)) }

    private static func correction(_ correction: ChainState.Correction) -> JSON {
        let end =
            switch correction.end {
            case .open: "open"
            case .applied(let event): "applied by \(event)"
            case .refused(let party, let why): "refused by \(party): \(why)"
            }
        return .members([
            ("approved", .strings(correction.approved.map(\.description).sorted())),
            ("approvers", .strings(correction.approvers.map(\.description).sorted())),
            ("end", .string(end)), ("event", .string(correction.event.hex)), ("leg", .string(correction.leg.hex)),
        ])
    }

    private static func delegation(_ delegation: ChainState.Delegation) -> JSON {
        .members([
            ("event", .string(delegation.event.hex)), ("from", .string(delegation.from.description)),
            ("signatures", .strings(delegation.signatures.map(\.text))), ("to", .string(delegation.to.description)),
            ("until", .string(delegation.until.description)),
        ])
    }

    private static func ending(_ ending: ChainState.Ending) -> JSON {
        .members([
            ("event", .string(ending.event.hex)), ("outcome", ending.outcome.map { .string($0.text) }),
            ("party", .string(ending.party.description)), ("why", .string(ending.why)),
        ])
    }

    private static func link(_ link: ChainState.Link) -> JSON {
        .members([
            ("amounts", .object(link.link.amounts.map { JSONMember($0.path.description, $0.value ?? .null) })),
            ("chain", .string(link.link.chain.description)), ("event", .string(link.event.hex)),
            ("link", .string(link.link.link.text)),
        ])
    }

    private static func sorted(_ elements: [JSON]) -> [JSON] {
        elements.map { (key: (try? $0.canonicalBytes()) ?? [], value: $0) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    }

    private static func leg(_ leg: ChainState.Leg, in state: ChainState) -> JSON {
        let slots = (state.slots[leg.event] ?? [:]).sorted { $0.key < $1.key }
        return .members([
            ("device", .string(leg.device.description)),
            ("event", .string(leg.event.hex)),
            ("finding", leg.finding?.json),
            ("number", leg.number.map { .integer($0) } ?? .null),
            ("offer", leg.offer.map { .string($0.description) }),
            ("party", .string(leg.party.description)),
            ("received", leg.received.map { .string($0.hex) }),
            ("role", .string(leg.role.text)),
            ("values", .object(slots.map { JSONMember($0.key.description, values(of: $0.value)) })),
        ])
    }

    private static func values(of slot: ChainState.Slot) -> JSON {
        let current = slot.current.map { slot.writes[$0] }
        guard slot.isInConflict else { return slot.value ?? .null }
        return .members([
            (
                "conflict",
                .array(
                    sorted(
                        current.map { .members([("event", .string($0.event.hex)), ("value", $0.value ?? .null)]) }
                    )
                )
            )
        ])
    }

    private static func signature(_ signature: ChainState.ChainSignature) -> JSON {
        .members([
            ("event", .string(signature.event.hex)),
            ("leg", .string(signature.leg.hex)),
            ("name", .string(signature.name.text)),
            ("party", .string(signature.party.description)),
            ("signer", signature.signer == signature.party ? nil : .string(signature.signer.description)),
            ("snapshot", .string(signature.snapshot.hex)),
            ("warnings", signature.warnings.isEmpty ? nil : .array(signature.warnings.map(\.json))),
        ])
    }

    private static func offer(_ state: ChainState.OfferState) -> JSONMember {
        let end: JSON =
            switch state.end {
            case .open: .string("open")
            case .withdrawn: .string("withdrawn")
            case .declined(_, let why):
                // Of several the set is given, not the one that came last.
                .members([
                    ("declined", .strings(state.decliners.map(\.description).sorted())),
                    ("why", state.decliners.count == 1 ? .string(why) : nil),
                ])
            case .taken(let event): .members([("taken", .string(event.hex))])
            }
        return JSONMember(
            state.offer.id.description,
            .members([
                ("end", end), ("event", .string(state.event.hex)), ("leg", .string(state.leg.hex)),
                ("statement", .string(state.statement.hex)),
            ])
        )
    }

    private static func contest(_ contest: ChainState.Contest) -> JSON {
        .members([
            ("acceptance", .string(contest.acceptance.hex)), ("offer", .string(contest.offer.description)),
            ("party", .string(contest.party.description)),
        ])
    }

    private static func note(_ note: ChainState.Note) -> JSON {
        .members([
            ("event", .string(note.event.hex)), ("party", .string(note.party.description)),
            ("role", .string(note.role.text)), ("text", .string(note.text)),
        ])
    }
}
