import TallystickCrypto

extension Deciding {
    mutating func checkFields(_ changes: [EventContent.FieldChange], scheme: Scheme, leg: ChainState.Leg) {
        let seals = seals(on: leg, scheme: scheme)
        for change in changes {
            guard let field = field(change, scheme: scheme) else { continue }
            if seals.contains(where: { $0.contains(change.path) }), field?.isSealable != false {
                let isSigned = state.signatures.contains { signature in
                    signature.leg == leg.event
                        && scheme.signature(signature.name)?.covers.contains(change.path) == true
                }
                refuse(
                    .fieldSealed,
                    change.path.description,
                    isSigned ? nil : "it is part of an offer: where that is still open, take it back to change it"
                )
            }
        }
        checkLineCounts(changes, scheme: scheme, leg: leg)
    }

    /// The field that a change is of, inside nil for a whole line; nil where it cannot be set, which is refused.
    private mutating func field(_ change: EventContent.FieldChange, scheme: Scheme) -> Scheme.Field?? {
        let path = change.path.description
        let field = scheme.field(change.path)
        guard let owner = field?.owner ?? lineOwner(of: change.path, in: scheme) else {
            refuse(.fieldUnknown, path)
            return .none
        }
        guard owner == event.role else {
            refuse(.notYourField, path, "it belongs to the \(owner)")
            return .none
        }
        if let value = change.value, let field,
            let fault = scheme.fault(of: value, in: field, on: day)
        {
            refuse(.fieldInvalid, path, fault)
        }
        return .some(field)
    }

    /// Whose a whole line is; nil for the path of a field.
    private func lineOwner(of path: FieldPath, in scheme: Scheme) -> Name? {
        path.field == nil ? path.line.flatMap { scheme.lines($0.list) }?.owner : nil
    }

    /// What is sealed on a leg: what its signatures cover, and the handoffs that seal.
    private func seals(on leg: ChainState.Leg, scheme: Scheme) -> [Scheme.Coverage] {
        let signed = state.signatures.compactMap { signature -> Scheme.Coverage? in
            guard signature.leg == leg.event else { return nil }
            return scheme.signature(signature.name)?.covers
        }
        guard scheme.handoffs.contains(where: { $0.seals && $0.from == leg.role }) else { return signed }
        let offered = state.offers.values.compactMap { offer -> Scheme.Coverage? in
            guard offer.leg == leg.event, let rule = scheme.handoff(offer.offer.handoff)?.rule, rule.seals,
                isSealing(offer)
            else { return nil }
            return rule.covers
        }
        return signed + offered
    }

    /// Whether an offer binds its giver: it was taken, or somebody may still take it.
    private func isSealing(_ offer: ChainState.OfferState) -> Bool {
        switch offer.end {
        case .taken: true
        case .withdrawn: false
        case .open, .declined:
            isProvisional && isHandedOver(offer)
                || clock.sees(offer.device, offer.clock[offer.device]) && event.at.seconds < offer.offer.expires.seconds
        }
    }

    private mutating func checkLineCounts(
        _ changes: [EventContent.FieldChange],
        scheme: Scheme,
        leg: ChainState.Leg
    ) {
        let slots = state.slots[leg.event] ?? [:]
        // With fewer values in all than any group may have lines, there is nothing to count.
        let mostValues = changes.count + slots.count
        guard scheme.lines.contains(where: { mostValues > $0.maximum }) else { return }
        let touched = changes.filter { $0.path.line != nil }
        guard !touched.isEmpty else { return }
        let removed = Set(touched.compactMap { $0.path.field == nil ? $0.path.line : nil })
        let written = Set(touched.compactMap { $0.path.field == nil ? nil : $0.path })
        for group in scheme.lines where touched.contains(where: { $0.path.line?.list == group.name }) {
            // What stands after the event: what it writes, and what it leaves as it is.
            var ids: Set<Name> = []
            for change in touched where change.value != nil {
                if let line = change.path.line, line.list == group.name { ids.insert(line.id) }
            }
            for (path, slot) in slots where path.line?.list == group.name {
                guard let line = path.line, slot.value != nil, !removed.contains(line), !written.contains(path) else {
                    continue
                }
                ids.insert(line.id)
            }
            if ids.count > group.maximum {
                refuse(.fieldInvalid, group.name.text, "expected at most \(group.maximum) lines, got \(ids.count)")
            }
        }
    }

    /// Values that contradict each other, or that the event has not seen: nobody can sign or hand over across them.
    mutating func checkConflicts(of leg: ChainState.Leg, in covers: Scheme.Coverage) {
        var paths: [FieldPath] = []
        for (path, slot) in state.slots[leg.event] ?? [:] where covers.contains(path) {
            let seen = slot.value(seenBy: clock)
            if slot.isInConflict || slot.current.contains(where: { slot.writes[$0].value != seen }) {
                paths.append(path)
            }
        }
        for path in paths.sorted() {
            refuse(
                .conflictOpen,
                path.description,
                "another device of the \(leg.role) wrote a value this event had not seen"
            )
        }
    }

    // MARK: Corrections

    mutating func checkCorrection(_ changes: [EventContent.FieldChange], scheme: Scheme, leg: ChainState.Leg) {
        let seals = seals(on: leg, scheme: scheme)
        for change in changes {
            let path = change.path.description
            guard let field = field(change, scheme: scheme) else { continue }
            guard let field else {
                refuse(.correctionInvalid, path, "correct the fields of a line one by one")
                continue
            }
            if !field.isSealable || !seals.contains(where: { $0.contains(change.path) }) {
                refuse(.correctionInvalid, path, "it is not sealed: set it")
            } else if state.slot(change.path, on: leg.event)?.value == change.value {
                refuse(.correctionInvalid, path, "it says so already")
            } else if field.correct == nil {
                refuse(.correctionInvalid, path, "the scheme lets it stand as it was signed")
            } else if state.corrections.contains(where: { correction in
                correction.leg == leg.event && correction.end == .open
                    && correction.changes.contains { $0.path == change.path }
            }) {
                refuse(.correctionOpen, path)
            }
        }
        checkLineCounts(changes, scheme: scheme, leg: leg)
        guard reasons.isEmpty else { return }
        // What was signed has to stay something that could have been signed.
        var values = state.values(of: leg.event, seenBy: clock)
        let before = values
        for change in changes { values[change.path] = change.value }
        for signature in state.signatures where signature.leg == leg.event {
            let earlier = judge(signature.name, leg: leg, values: before, scheme: scheme).errors
            let later = judge(signature.name, leg: leg, values: values, scheme: scheme).errors
            reasons.append(contentsOf: later.filter { !earlier.contains($0) && !reasons.contains($0) })
        }
    }

    mutating func checkAnswer(to event: Digest) {
        guard let correction = state.correction(event) else {
            if state.knows(event) {
                refuse(.correctionSettled, event.hex, "the event is not a correction that stands")
            } else if isProvisional {
                refuse(.correctionSettled, event.hex, "no such correction is known here")
            } else {
                awaits.append(.event(event))
            }
            return
        }
        if !clock.sees(correction.device, correction.seq) {
            refuse(.parentsInvalid, event.hex, "who answers a correction has to have seen it")
        }
        if correction.end != .open {
            refuse(.correctionSettled, event.hex, "it was applied or refused before")
        } else if case .correctionRefused = self.event.content, correction.party == certificate.party {
            // Who proposed it takes it back.
            return
        } else if !correction.approvers.contains(certificate.party) {
            refuse(.correctionSettled, event.hex, "the party has no say in it")
        } else if correction.approved.contains(certificate.party) {
            refuse(.correctionSettled, event.hex, "the party has approved it before")
        }
    }
}
