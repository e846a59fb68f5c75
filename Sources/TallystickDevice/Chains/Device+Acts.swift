import Schemes
package import Tallystick
import TallystickCrypto
import TallystickStore

/// What a person can say about a chain. Each is decided here first, and throws all reasons where it is refused.
extension Device {
    /// Opens a chain under a scheme, and gives the opener's first values.
    ///
    /// - Parameters:
    ///   - scheme: The scheme's name; the newest version that the server lists is taken, else the newest known here.
    ///   - role: The role to open it in, where the device has several that may.
    /// - Throws: ``DeviceError``: `scheme-unknown`, `choice-needed`, `nothing-to-do`, `refused`.
    package func openChain(scheme name: Name, role: Name? = nil, values: [EventContent.FieldChange] = []) throws -> Said
    {
        guard let scheme = newestScheme(name) else {
            throw DeviceError(
                .schemeUnknown,
                "expected the name of a scheme, got “\(name)”",
                remedy: "there are \(Set(schemes.references.map(\.id.text)).sorted().joined(separator: ", ")); “tally "
                    + "sync” fetches those that the server has besides"
            )
        }
        let openers = scheme.roles.map(\.name).filter { own in
            scheme.role(own)?.opens == true && certificate.roles.contains(own)
        }
        let opener =
            try role ?? Device.onlyOne(openers, of: "roles to open it in", named: { $0 }, option: "--role ROLE")
        // Beside the device and the moment an identifier has 12 random bits: a device that opens many chains at once
        // draws some twice, and then takes the next millisecond.
        for delay in Int64(0)..<64 {
            let milliseconds = now().milliseconds + delay
            guard let chain = UniqueID(openedBy: id, milliseconds: milliseconds, random: random(2)) else { break }
            do {
                return try say(chain) { folded in
                    guard folded.lastSeq == 0 else { throw ChainTaken() }
                    let opening = Word(role: opener, .chainOpened(scheme.reference))
                    return [opening] + Device.words(values, role: opener)
                }
            } catch is ChainTaken {}
        }
        throw DeviceError(.badInput, "expected two random bytes for an identifier", remedy: "try again")
    }

    /// This device has opened a chain of this identifier.
    private struct ChainTaken: Error {}

    /// Gives, changes or clears values.
    package func set(_ chain: UniqueID, _ values: [EventContent.FieldChange]) throws -> Said {
        try existing(chain)
        return try say(chain) { folded in
            Device.words(values, role: try role(toSet: values, in: folded.state))
        }
    }

    /// Signs what the chain says of the signer's own leg; nil signs the only signature that is open to the device.
    package func sign(_ chain: UniqueID, as name: Name? = nil) throws -> Said {
        try existing(chain)
        return try say(chain) { folded in
            let rule = try signature(name, in: folded.state)
            return [
                Word(role: rule.role) { state, parents, _ in
                    // Without a leg there is nothing to sign, and the engine says so.
                    let snapshot = state.signatureSnapshot(rule.name, by: self.certificate.party, parents: parents)
                    return .signed(
                        signature: rule.name,
                        snapshot: snapshot?.hash ?? SHA256.hash([UInt8]()),
                        statement: rule.statement
                    )
                }
            ]
        }
    }

    /// Adds a remark.
    package func note(_ chain: UniqueID, _ text: String) throws -> Said {
        try existing(chain)
        return try say(chain) { folded in
            let role = ownRoles(in: folded.state).first ?? certificate.roles.first
            return role.map { [Word(role: $0, .noteAdded(text: text))] } ?? []
        }
    }

    /// An offer that was made, with what its code carries.
    package struct OfferMade: Sendable {
        /// What was saved.
        package let said: Said
        /// The offer.
        package let offer: Offer
        /// The statement and the MAC, for the code.
        package let half: HandoffHalf
        /// The handoff, as the scheme has it.
        package let handoff: Scheme.HandoffRule

        /// The text of the compact code.
        package var code: String { CompactCode.text(for: half) }
    }

    /// Offers the load, for somebody to take by the code.
    ///
    /// - Parameters:
    ///   - name: The receiving role, or the name of a handoff; needed where the scheme has several.
    ///   - seconds: How long the offer lasts; nil takes what the scheme says.
    ///   - party: The only party that may take it; nil lets anybody of the role.
    ///   - challenge: The taker's challenge that the offer is to answer.
    package func offer(
        _ chain: UniqueID,
        to name: Name? = nil,
        lasting seconds: Int? = nil,
        boundTo party: UniqueID? = nil,
        answering challenge: HandoffChallenge? = nil
    ) throws -> OfferMade {
        if let challenge, challenge.expires <= now().seconds {
            throw DeviceError(.badInput, "the challenge has ended", remedy: "ask the taker for a new one")
        }
        try existing(chain)
        var made: (offer: Offer, half: HandoffHalf, rule: Scheme.HandoffRule)?
        let said = try say(chain) { folded in
            if let challenge, folded.state.offers.values.contains(where: { $0.offer.id == challenge.offer }) {
                throw DeviceError(
                    .badInput,
                    "the challenge was answered before",
                    remedy: "show that offer again (“--again”), or ask the taker for a new challenge"
                )
            }
            let rule = try handoff(to: name, in: folded.state)
            return [
                Word(role: rule.from) { state, parents, at in
                    let (offer, half) = try self.draftOffer(
                        rule,
                        seconds,
                        party,
                        challenge,
                        state: state,
                        parents: parents,
                        at: at
                    )
                    made = (offer, half, rule)
                    return .handoffOffered(offer)
                }
            ]
        }
        guard let made else {
            throw DeviceError(.nothingToDo, "expected an offer to be made", remedy: "try again")
        }
        return OfferMade(said: said, offer: made.offer, half: made.half, handoff: made.rule)
    }

    private func draftOffer(
        _ rule: Scheme.HandoffRule,
        _ seconds: Int?,
        _ party: UniqueID?,
        _ challenge: HandoffChallenge?,
        state: ChainState,
        parents: [Digest],
        at: Timestamp
    ) throws -> (Offer, HandoffHalf) {
        let scheme = try scheme(of: state)
        let lasts = Int64(min(max(seconds ?? rule.lasts, 0), 1 << 31))
        let snapshot = state.handoffSnapshot(rule.name, by: certificate.party, parents: parents)
        guard let expires = Timestamp(milliseconds: (at.seconds + lasts) * 1_000),
            let name = challenge.map(\.offer) ?? OfferID(bytes: random(8)),
            let index = scheme.handoff(rule.name)?.index
        else { throw DeviceError(.badInput, "expected an offer that ends in this era", remedy: "correct the clock") }
        func offer(mac: Digest) -> Offer {
            Offer(
                expires: expires,
                handoff: rule.name,
                key: handoffKey.id,
                mac: mac,
                id: name,
                party: party,
                // Without a leg there is nothing to hand over, and the engine says so.
                snapshot: snapshot?.hash ?? SHA256.hash([UInt8]()),
                to: rule.to,
                challenge: challenge?.random
            )
        }
        // The statement does not hold the MAC that is made of it.
        let empty = SHA256.hash([UInt8]())
        guard
            let statement = HandoffStatement(
                offer(mac: empty),
                chain: state.chain,
                scheme: scheme.reference.hash,
                handoffIndex: index
            )
        else { throw DeviceError(.badInput, "expected a handoff that a code can state", remedy: "check the scheme") }
        let mac = handoffKey.mac(of: statement)
        guard let half = HandoffHalf(statement: statement, mac: Array(mac.bytes.prefix(HandoffHalf.macLength))) else {
            throw DeviceError(.badInput, "expected a MAC of 32 bytes", remedy: "try again")
        }
        // Kept, so that whoever takes the load by full code, and those after, can read what was handed over.
        if let snapshot { try keep(snapshot.bytes, of: state.chain, hash: snapshot.hash) }
        return (offer(mac: mac), half)
    }

    /// Takes an offer back; nil takes back the only one that is open.
    package func withdraw(_ chain: UniqueID, offer name: OfferID? = nil, why: String = "") throws -> Said {
        try existing(chain)
        return try say(chain) { folded in
            let own = folded.state.offers.values.filter { $0.device == self.id }
            let untouched = own.filter { $0.end == .open }
            // What somebody declined can still be taken by others.
            let declined = own.filter { if case .declined = $0.end { true } else { false } }
            let open = untouched.isEmpty ? declined : untouched
            let offer: OfferID
            if let name {
                offer = name
            } else if let only = open.first, open.count == 1 {
                offer = only.offer.id
            } else {
                throw DeviceError(
                    open.isEmpty ? .nothingToDo : .choiceNeeded,
                    "expected one open offer of this device, got \(open.count)",
                    remedy: open.isEmpty
                        ? "there is nothing to take back"
                        : "name one of \(open.map(\.offer.id.description).sorted().joined(separator: ", "))"
                )
            }
            let giver = folded.state.offers[offer].flatMap { folded.state.leg($0.leg) }?.role
            let role = giver ?? ownRoles(in: folded.state).first ?? certificate.roles.first
            return role.map { [Word(role: $0, .handoffWithdrawn(offer: offer, why: why))] } ?? []
        }
    }

    /// Takes a load by the code that was scanned, and gives the taker's first values.
    ///
    /// Nothing else of the chain need be known.
    ///
    /// - Parameter load: What a full code said of the load; it is kept with the acceptance.
    /// - Throws: ``DeviceError``: `bad-code` for an offer that answers another device's challenge; `refused` with `offer-taken` or `offer-declined` where this device has used the
    ///   offer, even long ago, with `offer-expired` where it has ended; `bad-input` for another role than the offer's.
    package func accept(
        _ half: HandoffHalf,
        role: Name? = nil,
        values: [EventContent.FieldChange] = [],
        load: ReceivedLoad? = nil
    ) throws -> Said {
        let taker = try self.taker(of: half.statement, role: role)
        let standing = try standing(of: half.statement)
        if standing == .foreign || standing == .ended {
            throw DeviceError(
                .badCode,
                standing == .ended
                    ? "the offer answers a challenge of this device that has ended"
                    : "the offer answers another device's challenge",
                remedy: "show the giver a new challenge of this device (“tally challenge”) and scan the new offer"
            )
        }
        return try say(half.statement.chain) { _ in
            if let load { try keep(load) }
            try use(half.statement.offer, in: half.statement.chain, as: "accepted", type: "handoff.accepted")
            let acceptance = Word(role: taker, .handoffAccepted(half))
            return [acceptance] + Device.words(values, role: taker)
        }
    }

    /// Refuses a load by the code that was scanned.
    package func decline(_ half: HandoffHalf, why: String) throws -> Said {
        let taker = try self.taker(of: half.statement, role: nil)
        return try say(half.statement.chain) { _ in
            try use(half.statement.offer, in: half.statement.chain, as: "declined", type: "handoff.declined")
            return [Word(role: taker, .handoffDeclined(half, why: why))]
        }
    }

    /// The role that a code offers the load to.
    package func taker(of statement: HandoffStatement, role: Name?) throws -> Name {
        guard let scheme = context.schemeByPrefix(statement.schemePrefix) else {
            throw DeviceError(
                .schemeUnknown,
                "the rules that the code names are not known here",
                remedy: "run “tally sync”: the server may have them; else install a version of the program that does"
            )
        }
        guard scheme.handoffs.indices.contains(statement.handoffIndex) else {
            let fault = "the scheme has no handoff \(statement.handoffIndex)"
            throw DeviceError.refused(
                "handoff.accepted",
                [Reason(.offerInvalid, statement.offer.description, fault)]
            )
        }
        let taker = scheme.handoffs[statement.handoffIndex].to
        if let role, role != taker {
            throw DeviceError(
                .badInput,
                "the offer is to a \(taker), not to a \(role)",
                remedy: "leave the role out, or ask for an offer to a \(role)"
            )
        }
        return taker
    }

    /// Says values in as few events as hold them: one, unless together they are too large for one.
    private static func words(_ values: [EventContent.FieldChange], role: Name) -> [Word] {
        // Room for the envelope; a single value that is larger is refused by the engine, by name.
        let room = Event.longest - 8_192
        var words: [Word] = []
        var part: [EventContent.FieldChange] = []
        var size = 0
        for change in values {
            let bytes = change.path.description.utf8.count + 8 + Device.size(of: change.value ?? .null)
            if !part.isEmpty, size + bytes > room || part.count >= 2_000 {
                words.append(Word(role: role, .fieldsSet(part)))
                part = []
                size = 0
            }
            part.append(change)
            size += bytes
        }
        if !part.isEmpty { words.append(Word(role: role, .fieldsSet(part))) }
        return words
    }

    /// How many bytes a value takes; what has no canonical spelling is refused later, by name.
    private static func size(of value: JSON) -> Int {
        (try? value.canonicalBytes())?.count ?? Event.longest
    }

    /// Marks an offer as used; undone with the transaction where the event is refused.
    private func use(_ offer: OfferID, in chain: UniqueID, as kind: String, type: String) throws {
        let used = try database.first(
            "SELECT kind, used FROM used_offers WHERE offer = ?",
            offer.description
        ) { row in (kind: try row.text(0), at: try row.text(1)) }
        if let used {
            let isAccepted = sameBytes(used.kind, "accepted")
            throw DeviceError.refused(
                type,
                [
                    Reason(
                        isAccepted ? .offerTaken : .offerDeclined,
                        offer.description,
                        isAccepted ? "this device accepted it at \(used.at)" : "this device declined it at \(used.at)"
                    )
                ]
            )
        }
        try database.run(
            "INSERT INTO used_offers (offer, chain, used, kind) VALUES (?, ?, ?, ?)",
            offer.description,
            chain.description,
            now().description,
            kind
        )
    }

    private func existing(_ chain: UniqueID) throws {
        let isKnown = try atHome(home.path) {
            try database.first("SELECT 1 FROM chains WHERE chain = ?", chain.description) { _ in true } ?? false
        }
        guard !isKnown else { return }
        throw DeviceError(
            .chainUnknown,
            "expected a chain on this device, got \(chain)",
            remedy: "“tally list” shows the chains; “tally sync” gets those of other devices"
        )
    }
}
