public import TallystickCrypto

/// What a device needs to say its next word: the parents, its leg, and the snapshots that signatures and offers name.
extension ChainState {
    /// The parents of a device's next event: the newest events known, and through them its own previous one.
    ///
    /// Sorted, at most `Event.mostParents`; where there are more, the device's own are among those named.
    public func nextParents(of device: DeviceID) -> [Digest] {
        var parents = heads
        if let own = event(of: device, seq: lastSeq(of: device)) {
            let seq = lastSeq(of: device)
            let isAncestor = heads.contains { known[$0]?.clock.sees(device, seq) == true }
            if !isAncestor { parents.insert(own) }
        }
        guard parents.count > Event.mostParents else { return parents.sorted() }
        let seq = lastSeq(of: device)
        let ordered = parents.sorted { left, right in
            let isLeft = known[left]?.clock.sees(device, seq) == true
            let isRight = known[right]?.clock.sees(device, seq) == true
            return isLeft == isRight ? left < right : isLeft
        }
        return ordered.prefix(Event.mostParents).sorted()
    }

    /// The latest leg of a party in a role among what these parents and their ancestors say.
    public func leg(of party: UniqueID, in role: Name, knowing parents: [Digest]) -> Leg? {
        leg(of: party, in: role, seenBy: clock(of: parents))
    }

    /// What the party's signature of this name would cover, in an event with these parents.
    ///
    /// Nil where the scheme is not known or has no such signature, or the party has no leg in its role.
    public func signatureSnapshot(_ name: Name, by party: UniqueID, parents: [Digest]) -> Snapshot? {
        let clock = clock(of: parents)
        guard let scheme, let rule = scheme.signature(name), let leg = leg(of: party, in: rule.role, seenBy: clock)
        else { return nil }
        return Snapshot.signature(
            rule,
            statement: rule.statement,
            leg: leg,
            values: values(of: leg.event, seenBy: clock),
            chain: chain,
            scheme: scheme.reference.hash
        )
    }

    /// What an attested signature of this name would cover, in an event with these parents: the values of the latest
    /// leg of its role that has not signed.
    public func paperSnapshot(_ name: Name, parents: [Digest]) -> Snapshot? {
        let clock = clock(of: parents)
        guard let scheme, let rule = scheme.signature(name), let leg = leg(toAttest: rule, seenBy: clock) else {
            return nil
        }
        return Snapshot.signature(
            rule,
            statement: rule.statement,
            leg: leg,
            values: values(of: leg.event, seenBy: clock),
            chain: chain,
            scheme: scheme.reference.hash
        )
    }

    /// What the party's offer of this handoff would cover, in an event with these parents.
    ///
    /// Nil where the scheme is not known or has no such handoff, or the party has no leg in the giving role.
    public func handoffSnapshot(_ name: Name, by party: UniqueID, parents: [Digest]) -> Snapshot? {
        let clock = clock(of: parents)
        guard let scheme, let (_, rule) = scheme.handoff(name),
            let leg = leg(of: party, in: rule.from, seenBy: clock)
        else { return nil }
        return Snapshot.handoff(
            rule,
            leg: leg,
            values: values(of: leg.event, seenBy: clock),
            signatures: signatures.filter { $0.leg == leg.event && clock.sees($0.device, $0.seq) },
            chain: chain,
            scheme: scheme.reference.hash
        )
    }

    /// The snapshot of an offer made in this chain, folded again from what its giver had seen; nil where none has
    /// this hash.
    public func handoffSnapshot(withHash hash: Digest) -> Snapshot? {
        guard let scheme, let offer = offers.values.first(where: { $0.statement.snapshot == hash }),
            let (_, rule) = scheme.handoff(offer.offer.handoff), let leg = leg(offer.leg)
        else { return nil }
        let snapshot = Snapshot.handoff(
            rule,
            leg: leg,
            values: values(of: leg.event, seenBy: offer.clock),
            signatures: signatures.filter { $0.leg == leg.event && offer.clock.sees($0.device, $0.seq) },
            chain: chain,
            scheme: scheme.reference.hash
        )
        return snapshot.hash == hash ? snapshot : nil
    }

    private func clock(of parents: [Digest]) -> Clock {
        var clock = Clock()
        for parent in parents {
            if let seen = known[parent]?.clock { clock.merge(seen) }
        }
        return clock
    }
}
