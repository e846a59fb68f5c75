package import Tallystick
package import TallystickCrypto

extension Projections {
    // MARK: Fields

    /// Writes the places that an event's changes were written to; the removal of a line writes to all of its fields.
    func writeFields(_ changes: [EventContent.FieldChange], of author: Author, state: ChainState) throws {
        let legs = state.seats.isEmpty ? state.legs : state.seats + state.legs
        for leg in legs.reversed() where leg.party == author.partyID && leg.role == author.event.role {
            // An event writes to one leg.
            if try writeFields(changes, of: author, on: leg, state: state) { return }
        }
    }

    /// Writes the places of a leg that an event has written to.
    ///
    /// - Returns: Whether it has written to any.
    @discardableResult
    func writeFields(
        _ changes: [EventContent.FieldChange],
        of author: Author,
        on leg: ChainState.Leg,
        state: ChainState
    ) throws -> Bool {
        var isFound = false
        let place = Place(leg: leg, author: author)
        for change in changes {
            if change.path.field != nil {
                guard let slot = state.slot(change.path, on: leg.event), Projections.wrote(author.event, slot) else {
                    continue
                }
                isFound = true
                try write(slot, at: change.path, in: place, state: state)
            } else {
                for (path, slot) in state.slots[leg.event] ?? [:] where path.line == change.path.line {
                    guard Projections.wrote(author.event, slot) else { continue }
                    isFound = true
                    try write(slot, at: path, in: place, state: state)
                }
            }
        }
        return isFound
    }

    private static func wrote(_ event: Event, _ slot: ChainState.Slot) -> Bool {
        slot.writes.last { $0.event == event.hash } != nil
    }

    /// The leg that an event writes to.
    private struct Place {
        let leg: String
        let role: String
        let party: String
        let author: Author

        init(leg: ChainState.Leg, author: Author) {
            self.leg = leg.event.hex
            role = leg.role.text
            // Who corrects another's values by approving does not make them its own.
            party = leg.party == author.partyID ? author.party : leg.party.description
            self.author = author
        }
    }

    private func write(_ slot: ChainState.Slot, at path: FieldPath, in place: Place, state: ChainState) throws {
        guard let shown = slot.shown else { return }
        let isInConflict = slot.hadRivals && slot.isInConflict
        let isOwn = shown.event == place.author.event.hash
        let value = try shown.value.map(json)
        let device = isOwn ? place.author.device : shown.device.description
        let at = isOwn ? place.author.at : shown.at.description
        let event = isOwn ? place.author.hash : shown.event.hex
        // A place written before has its row: changing it is cheaper than finding out by a conflict.
        var isWritten = false
        if slot.writes.count > 1 {
            var statement = try database.statement(
                literal: """
                    UPDATE fields SET value = ?, device = ?, at = ?, event = ?, conflict = ?
                    WHERE chain = ? AND leg = ? AND path = ?
                    """
            )
            if let value { try statement.bind(value, at: 1) }
            try statement.bind(device, at: 2)
            try statement.bind(at, at: 3)
            try statement.bind(event, at: 4)
            try statement.bind(isInConflict ? 1 : 0, at: 5)
            try statement.bind(place.author.chain, at: 6)
            try statement.bind(place.leg, at: 7)
            try statement.bind(path.description, at: 8)
            try statement.run()
            isWritten = database.changes > 0
        }
        if !isWritten {
            var statement = try database.statement(
                literal: "INSERT OR REPLACE INTO fields VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            )
            try statement.bind(place.author.chain, at: 1)
            try statement.bind(place.leg, at: 2)
            try statement.bind(path.description, at: 3)
            try statement.bind(place.role, at: 4)
            if let value { try statement.bind(value, at: 5) }
            try statement.bind(place.party, at: 6)
            try statement.bind(device, at: 7)
            try statement.bind(at, at: 8)
            try statement.bind(event, at: 9)
            try statement.bind(isInConflict ? 1 : 0, at: 10)
            try statement.run()
        }
        if let system = state.scheme?.field(path)?.external {
            try writeExternal(shown.value, of: system, at: path, on: place.leg, chain: place.author.chain)
        }
        guard slot.hadRivals else { return }
        try database.run(
            "DELETE FROM conflicts WHERE chain = ? AND leg = ? AND path = ?",
            place.author.chain,
            place.leg,
            path.description
        )
        guard isInConflict else { return }
        for index in slot.current where slot.writes.indices.contains(index) {
            let write = slot.writes[index]
            try database.run(
                "INSERT OR REPLACE INTO conflicts VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                place.author.chain,
                place.leg,
                path.description,
                write.event.hex,
                try write.value.map(json),
                write.device.description,
                write.at.description,
                write.event == shown.event ? 1 : 0
            )
        }
    }

    /// Writes the identifiers that a value of another system's has, so that the chain is found by them.
    private func writeExternal(
        _ value: JSON?,
        of system: String,
        at path: FieldPath,
        on leg: String,
        chain: String
    ) throws {
        try database.run(
            "DELETE FROM externals WHERE chain = ? AND leg = ? AND path = ?",
            chain,
            leg,
            path.description
        )
        guard let value else { return }
        for item in value.elements ?? [value] {
            try database.run(
                "INSERT OR REPLACE INTO externals VALUES (?, ?, ?, ?, ?)",
                chain,
                leg,
                path.description,
                try item.text ?? json(item),
                system
            )
        }
    }

    // MARK: Waiting and refused

    func writeWaiting(_ arrival: Arrival, for awaits: [Awaited]) throws(StoreError) {
        for (number, awaited) in awaits.enumerated() {
            let (kind, what) =
                switch awaited {
                case .event(let hash): ("event", hash.hex)
                case .offer(let offer): ("offer", offer.description)
                case .opening: ("opening", "")
                case .signature(let name): ("signature", name.text)
                case .handoff(let name): ("handoff", name.text)
                }
            try database.run(
                "INSERT OR REPLACE INTO waiting VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                arrival.event.chain.description,
                arrival.event.hash.hex,
                number,
                arrival.event.type,
                arrival.event.device.description,
                arrival.certificate?.party.description,
                arrival.received.description,
                kind,
                what
            )
        }
    }

    func removeWaiting(_ event: Event) throws(StoreError) {
        try database.run("DELETE FROM waiting WHERE chain = ? AND event = ?", event.chain.description, event.hash.hex)
    }

    func writeRefusal(of decision: ChainLedger.Decision) throws {
        let event = decision.arrival.event
        try database.run(
            "INSERT OR REPLACE INTO refusals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            event.chain.description,
            event.hash.hex,
            event.type,
            event.device.description,
            decision.arrival.certificate?.party.description,
            event.at.description,
            decision.arrival.received.description,
            codes(decision.verdict),
            try json(.array(decision.verdict.reasons.map(\.json)))
        )
    }

    /// Writes that a line was no event that could be decided.
    ///
    /// - Parameters:
    ///   - line: SHA-256 of the line, which stands in place of an event's hash.
    ///   - device: The device that pushed it.
    ///   - party: The party of that device.
    ///   - received: When.
    ///   - verdict: The refusal.
    package func apply(
        unreadable line: Digest,
        from device: DeviceID,
        party: UniqueID?,
        received: Timestamp,
        verdict: Verdict
    ) throws {
        try database.run(
            "INSERT OR REPLACE INTO refusals VALUES ('', ?, NULL, ?, ?, NULL, ?, ?, ?)",
            line.hex,
            device.description,
            party?.description,
            received.description,
            codes(verdict),
            try json(.array(verdict.reasons.map(\.json)))
        )
    }

    // MARK: Devices

    /// Writes that a device was certified.
    package func apply(_ certificate: Certificate) throws(StoreError) {
        try database.run(
            "INSERT OR REPLACE INTO devices VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, NULL)",
            certificate.device.description,
            certificate.party.description,
            certificate.partyName,
            certificate.person,
            certificate.roles.map(\.text).joined(separator: ","),
            Base64.encode(certificate.key.bytes),
            certificate.notBefore.description,
            certificate.notAfter.description,
            certificate.serial
        )
    }

    /// Writes that a device was revoked, and why.
    package func apply(revocationOf device: DeviceID, why: String) throws(StoreError) {
        try database.run("UPDATE devices SET revoked = 1, why = ? WHERE device = ?", why, device.description)
    }

    // MARK: Texts

    func codes(_ verdict: Verdict) -> String {
        verdict.reasons.map(\.code.description).joined(separator: ",")
    }

    /// The canonical text of a value.
    func json(_ value: JSON) throws -> String {
        String(decoding: try value.canonicalBytes(), as: UTF8.self)
    }
}
