import TallystickCrypto

extension Deciding {
    // MARK: Late entry

    /// Whether the original time that an event states is one the scheme lets it have.
    mutating func checkLate(_ scheme: Scheme) {
        guard let late = event.late else { return }
        guard let rule = scheme.lateEntry, rule.roles.contains(event.role) else {
            refuse(
                .lateNotAllowed,
                event.role.text,
                "the scheme does not let the \(event.role) enter things afterwards"
            )
            return
        }
        if late.at.milliseconds > event.at.milliseconds {
            refuse(.lateNotAllowed, late.at.description, "the original time is after the event's own, \(event.at)")
        } else if let longest = rule.longest,
            event.at.milliseconds - late.at.milliseconds > Int64(longest.count) * (longest.unit == .hours ? 1 : 24)
                * 3_600_000
        {
            refuse(
                .lateNotAllowed,
                late.at.description,
                "it is more than \(longest.count) \(longest.unit.rawValue) ago"
            )
        } else {
            warnings.append(Reason(.lateEntry, late.at.description, late.why))
        }
    }

    // MARK: Who takes part

    mutating func checkAdmission(of party: UniqueID, as role: Name, scheme: Scheme) {
        if scheme.role(event.role)?.admits.contains(role) != true {
            refuse(.roleInvalid, role.text, "the scheme does not let the \(event.role) admit it")
        } else if state.seats.contains(where: { $0.party == party && $0.role == role }) {
            refuse(.roleInvalid, role.text, "the party has it already")
        }
    }

    mutating func checkDelegation(_ names: [Name], _ to: UniqueID, _ until: Timestamp, scheme: Scheme) {
        for name in names {
            guard let rule = scheme.signature(name), rule.role == event.role else {
                refuse(.notYourSignature, name.text)
                continue
            }
            if !rule.isDelegable { refuse(.delegationInvalid, name.text, "the scheme wants it from the party itself") }
        }
        let longest: Int64 = 366 * 86_400_000
        let length = until.milliseconds - event.at.milliseconds
        if length < 0 || length > longest {
            refuse(.delegationInvalid, names.first?.text, "expected an end within 366 days from now, got \(until)")
        }
        if to == certificate.party { refuse(.delegationInvalid, names.first?.text, "it is the party's own already") }
    }

    // MARK: Links

    mutating func checkLink(_ link: ChainLink, scheme: Scheme, leg: ChainState.Leg) {
        guard let rule = scheme.link(link.link), rule.roles.contains(event.role) else {
            refuse(.linkInvalid, link.link.text, "the scheme does not let the \(event.role) make it")
            return
        }
        if link.chain == state.chain {
            refuse(.linkInvalid, link.link.text, "a chain does not hang together with itself")
        }
        let paths = Set(link.amounts.map(\.path))
        let made = state.links.filter { $0.link.link == link.link && $0.link.chain == link.chain }
        // A link that divides amounts can be made again for further rows.
        if made.contains(where: { rule.conserves == nil || $0.link.amounts.contains { paths.contains($0.path) } }) {
            refuse(.linkInvalid, link.link.text, "it was made before")
        }
        if rule.needsReason, link.why.isEmpty { refuse(.linkInvalid, link.link.text, "it needs a reason: say why") }
        checkEarlier(rule.after, role: event.role, leg: leg, scheme: scheme)
        guard let conserved = rule.conserves else {
            if !link.amounts.isEmpty { refuse(.linkInvalid, link.link.text, "it divides no amounts") }
            return
        }
        if link.amounts.isEmpty { refuse(.linkInvalid, link.link.text, "expected the amounts of “\(conserved)”") }
        for amount in link.amounts { check(amount, of: conserved, rule, scheme: scheme) }
    }

    private mutating func check(
        _ amount: EventContent.FieldChange,
        of conserved: FieldReference,
        _ rule: Scheme.LinkRule,
        scheme: Scheme
    ) {
        let path = amount.path.description
        guard let value = amount.value, amount.path.field == conserved.field, amount.path.line?.list == conserved.list,
            let field = scheme.field(amount.path)
        else {
            refuse(.linkInvalid, rule.name.text, "expected an amount of “\(conserved)”, got \(path)")
            return
        }
        if let fault = scheme.fault(of: value, in: field, on: day) {
            refuse(.fieldInvalid, path, fault)
            return
        }
        guard let whole = state.latestLeg(of: field.owner).flatMap({ state.slot(amount.path, on: $0.event) })?.value
        else {
            // A device that took the load by code alone does not know the whole; the server does.
            if !isProvisional || state.opening != nil {
                refuse(.linkInvalid, rule.name.text, "the chain has no value at \(path)")
            }
            return
        }
        let given = state.amounts(of: rule.name, at: amount.path) + [value]
        guard let sum = Total(given), let total = Total([whole]), sum.kind == total.kind, sum.scaled <= total.scaled
        else {
            let got = Total(given)?.text ?? "amounts that cannot be added"
            refuse(.amountsDiffer, rule.name.text, "\(path) is \(Scheme.text(of: whole)) in all, the links take \(got)")
            return
        }
    }

    // MARK: The end

    /// What can still be said once a chain has ended.
    ///
    /// Who had not seen the end spoke of a chain that went on; only the
    /// load cannot be taken any more.
    mutating func checkEnding() {
        guard let ending = state.ending else { return }
        let detail = "event \(ending.event) ended it"
        switch event.content {
        case .handoffAccepted, .chainCancelled, .chainClosed: refuse(.chainClosed, state.chain.description, detail)
        case .noteAdded, .correctionProposed, .correctionApproved, .correctionRefused, .handoffAcknowledged,
            .chainOpened,
            .unknown:
            break
        case .chainLinked(let link) where state.scheme?.link(link.link)?.conserves == nil: break
        case .fieldsSet(let changes) where changes.allSatisfy({ state.scheme?.field($0.path)?.isSealable == false }):
            break
        case .fieldsSet, .signed, .handoffOffered, .handoffWithdrawn, .handoffDeclined, .partyAdmitted,
            .signatureDelegated, .chainLinked:
            if clock.sees(ending.device, ending.seq) { refuse(.chainClosed, state.chain.description, detail) }
        }
    }

    mutating func checkCancelling(_ scheme: Scheme, leg: ChainState.Leg) {
        guard let rule = scheme.cancelling, rule.roles.contains(event.role) else {
            refuse(.roleNotHeld, event.role.text, "the scheme does not let the \(event.role) cancel a chain")
            return
        }
        for stage in rule.before where isDone(stage, scheme: scheme) { refuse(.tooLate, stage.text) }
        checkOffersAreClosed(leg)
    }

    mutating func checkClosing(_ outcome: Name, _ why: String, scheme: Scheme, leg: ChainState.Leg) {
        guard let rule = scheme.closing(outcome), rule.roles.contains(event.role) else {
            let all = scheme.closings.filter { $0.roles.contains(event.role) }.map(\.outcome.text)
            refuse(
                .outcomeInvalid,
                outcome.text,
                all.isEmpty ? "the \(event.role) closes no chain" : "there are \(all.joined(separator: ", "))"
            )
            return
        }
        if state.currentLeg?.event != leg.event {
            refuse(.notTheHolder, event.role.text, "only the holder closes a chain")
        }
        if rule.needsReason, why.isEmpty { refuse(.outcomeInvalid, outcome.text, "it needs a reason: say why") }
        checkEarlier(rule.after, role: event.role, leg: leg, scheme: scheme)
        checkOffersAreClosed(leg)
        checkConservation(scheme)
    }

    /// Whoever ends a chain takes back first what somebody could still take.
    private mutating func checkOffersAreClosed(_ leg: ChainState.Leg) {
        let open = state.offers.values.filter {
            $0.leg == leg.event && $0.end == .open && clock.sees($0.device, $0.clock[$0.device])
                && event.at.seconds < $0.offer.expires.seconds
        }
        for offer in open.sorted(by: { $0.offer.id < $1.offer.id }) {
            refuse(.outcomeInvalid, offer.offer.id.description, "the offer is open: take it back first")
        }
    }

    /// Where links divide amounts, they divide all of them by the end.
    private mutating func checkConservation(_ scheme: Scheme) {
        for rule in scheme.links {
            guard let conserved = rule.conserves,
                rule.isDue || state.links.contains(where: { $0.link.link == rule.name }),
                let owner = scheme.field(conserved)?.owner, let leg = state.latestLeg(of: owner)
            else { continue }
            let wholes = (state.slots[leg.event] ?? [:]).filter {
                $0.key.field == conserved.field && $0.key.line?.list == conserved.list
            }
            for (path, slot) in wholes.sorted(by: { $0.key < $1.key }) {
                guard let whole = slot.value, Total([whole])?.scaled != 0 else { continue }
                let sum = Total(state.amounts(of: rule.name, at: path))
                if let sum, let total = Total([whole]), sum.kind == total.kind, sum.scaled == total.scaled { continue }
                refuse(
                    .amountsDiffer,
                    rule.name.text,
                    "\(path) is \(Scheme.text(of: whole)) in all, the links take \(sum?.text ?? "nothing")"
                )
            }
        }
    }
}

extension ChainState {
    /// What the links of this name take of an amount.
    func amounts(of link: Name, at path: FieldPath) -> [JSON] {
        links.filter { $0.link.link == link }.flatMap { $0.link.amounts.filter { $0.path == path }.compactMap(\.value) }
    }
}
