import Tallystick
import TallystickCrypto
import TallystickStore

/// What a view has beside the legs.
extension ViewBuilder {
    /// The signatures that a leg lacks although what they should come before is done.
    func missing(on leg: ChainState.Leg) -> [Name] {
        guard let scheme = state.scheme, state.gaps.contains(where: { $0.event == leg.event }) else { return [] }
        let guards =
            scheme.signatures.flatMap(\.after) + scheme.handoffs.flatMap(\.after) + scheme.links.flatMap(\.after)
            + scheme.closings.flatMap(\.after)
        return scheme.signatures.map(\.name).filter { name in
            scheme.signature(name)?.role == leg.role && state.signature(name, on: leg.event) == nil
                && guards.contains { $0.isOptional && $0.stage == name }
        }
    }

    mutating func delegations() throws -> [ChainView.Delegation] {
        try state.delegations.map { delegation in
            ChainView.Delegation(
                event: delegation.event,
                from: try party(delegation.from),
                to: try party(delegation.to),
                signatures: delegation.signatures,
                until: delegation.until
            )
        }
    }

    mutating func corrections() throws -> [ChainView.Correction] {
        try state.corrections.map { correction in
            let became: ChainView.Correction.State =
                switch correction.end {
                case .open: .open
                case .applied(let event): .applied(event)
                case .refused(let by, let why): .refused(by: try party(by), why: why)
                }
            let awaited = correction.approvers.filter { correction.end == .open && !correction.approved.contains($0) }
            return ChainView.Correction(
                event: correction.event,
                leg: correction.leg,
                party: try party(correction.party),
                role: correction.role,
                changes: correction.changes.map { change in
                    ChainView.Correction.Change(
                        path: change.path,
                        title: state.scheme?.field(change.path)?.title,
                        value: change.value,
                        before: value(before: correction, at: change.path)
                    )
                },
                why: correction.why,
                at: correction.at,
                approved: try correction.approved.map { try party($0) },
                awaited: try awaited.map { try party($0) },
                state: became
            )
        }
    }

    /// What stood in a place before a correction took effect, or stands there while it has not.
    private func value(before correction: ChainState.Correction, at path: FieldPath) -> JSON? {
        guard let slot = state.slot(path, on: correction.leg) else { return nil }
        guard case .applied(let event) = correction.end,
            let index = slot.writes.firstIndex(where: { $0.event == event })
        else { return slot.value }
        return index > 0 ? slot.writes[index - 1].value : nil
    }

    mutating func links() throws -> [ChainView.Link] {
        try state.links.map { link in
            let rule = state.scheme?.link(link.link.link)
            return ChainView.Link(
                event: link.event,
                name: link.link.link,
                title: rule?.title,
                kind: rule?.kind,
                chain: link.link.chain,
                isHere: try device.isHere(link.link.chain),
                amounts: link.link.amounts.map { ($0.path, $0.value ?? .null) },
                why: link.link.why,
                party: try party(link.party),
                at: link.at
            )
        }
    }

    mutating func ending() throws -> ChainView.Ending? {
        guard let ending = state.ending else { return nil }
        return ChainView.Ending(
            event: ending.event,
            outcome: ending.outcome,
            title: ending.outcome.flatMap { state.scheme?.closing($0)?.title },
            why: ending.why,
            party: try party(ending.party),
            at: ending.at,
            dutyTo: state.duty,
            dutyTitle: state.duty.flatMap { state.scheme?.role($0)?.title }
        )
    }

    mutating func warned() throws -> [ChainView.Warned] {
        try state.warned.map { warned in
            ChainView.Warned(
                event: warned.event,
                party: try party(warned.party),
                at: warned.at,
                reasons: warned.reasons
            )
        }
    }

    mutating func late() throws -> [ChainView.Late] {
        var entries: [ChainView.Late] = []
        for warned in state.warned where warned.reasons.contains(where: { $0.code == .lateEntry }) {
            guard let event = try event(warned.event), let late = event.late else { continue }
            entries.append(
                ChainView.Late(
                    event: event.hash,
                    type: event.type,
                    party: try party(warned.party),
                    at: event.at,
                    happened: late.at,
                    why: late.why,
                    paper: late.paper
                )
            )
        }
        return entries
    }

    func deadlines() -> [ChainView.Deadline] {
        state.deadlines(at: device.now(), Zones.offsets).map { status in
            ChainView.Deadline(
                name: status.deadline.name,
                title: status.deadline.title,
                role: status.deadline.role,
                says: status.deadline.says,
                start: status.start,
                due: status.due,
                isCertain: status.isCertain,
                met: status.met,
                isOverdue: status.isOverdue,
                wasLate: status.wasLate
            )
        }
    }

    func keeping() -> [ChainView.Keeping] {
        guard let scheme = state.scheme else { return [] }
        var roles: [Name] = []
        for leg in state.legs + state.seats where leg.party == device.certificate.party {
            if !roles.contains(leg.role) { roles.append(leg.role) }
        }
        // A scheme without deadlines names no zone; a day more or less does not matter for years.
        let zone = scheme.deadlines.first?.zone ?? "Etc/UTC"
        return roles.compactMap { role in
            guard let retention = scheme.role(role)?.retention else { return nil }
            return ChainView.Keeping(
                role: role,
                period: retention.period,
                from: retention.from,
                until: state.keepUntil(role, in: zone, Zones.offsets)
            )
        }
    }

    func externals() -> [ChainView.External] {
        state.externals.map { field, value in
            ChainView.External(system: field.external ?? "", title: field.title, value: value)
        }
    }
}
