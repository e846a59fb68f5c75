import Tallystick
import TallystickCrypto

/// What the steps of examples say, as events carry it.
extension ExampleRun {
    // MARK: What is said

    /// What belongs to a step beside what is said.
    static let details = [
        "at", "received", "late", "unseen", "why", "party", "hours", "chain", "amounts", "for", "paper", "paperAt",
        "lasts",
        "to",
    ]

    static let verbs = [
        "open", "set", "sign", "note", "offer", "accept", "decline", "withdraw", "admit", "delegate", "correct",
        "approve",
        "refuse", "link", "cancel", "close",
    ]

    func content(
        of step: JSON,
        _ speaker: Speaker,
        _ parents: [Digest],
        _ state: ChainState,
        _ place: String
    ) throws(ExampleError) -> EventContent {
        let given = ExampleRun.verbs.filter { step[$0] != nil }
        guard given.count == 1, let value = step[given[0]] else {
            throw ExampleError("\(place): expected exactly one of \(ExampleRun.verbs.joined(separator: ", "))")
        }
        func text() throws(ExampleError) -> String {
            guard let text = value.text else { throw ExampleError("\(place): expected “\(given[0])” as a text") }
            return text
        }
        func name(_ json: JSON? = nil) throws(ExampleError) -> Name {
            guard let name = (json ?? value).text.flatMap({ Name($0) }) else {
                throw ExampleError("\(place): expected “\(given[0])” as a name")
            }
            return name
        }
        let why = step["why"]?.text ?? ""
        switch given[0] {
        case "open": return .chainOpened(scheme.reference)
        case "set": return .fieldsSet(try changes(value, place))
        case "sign": return try signature(name(), step, speaker, parents, state, place)
        case "note": return .noteAdded(text: try text())
        case "offer": return .handoffOffered(try offer(name(), step, speaker, parents, state, place))
        case "accept": return .handoffAccepted(try half(named: name(), state, place))
        case "decline": return .handoffDeclined(try half(named: nil, state, place), why: try text())
        case "withdraw":
            return .handoffWithdrawn(offer: try half(named: nil, state, place).statement.offer, why: try text())
        case "admit": return .partyAdmitted(party: try party(step, place), role: try name())
        case "delegate":
            let names = (value.elements ?? []).compactMap { $0.text.flatMap { Name($0) } }
            let hours = step["hours"] == nil ? 24 : step["hours"]?.integer
            guard let hours, (-100_000...100_000).contains(hours),
                let until = Timestamp(milliseconds: clock.milliseconds + Int64(hours) * 3_600_000)
            else {
                throw ExampleError("\(place): expected “hours” as a whole number")
            }
            return .signatureDelegated(signatures: names, to: try party(step, place), until: until)
        case "correct": return .correctionProposed(try changes(value, place), why: why.isEmpty ? "it was wrong" : why)
        case "approve": return .correctionApproved(try correction(state, place))
        case "refuse": return .correctionRefused(try correction(state, place), why: try text())
        case "link":
            let label = step["chain"]?.text ?? ""
            guard
                let other = UniqueID(
                    milliseconds: ExampleRun.beginning.milliseconds,
                    random: ExampleRun.bytes("chain/\(label)", 10)
                ),
                !label.isEmpty
            else { throw ExampleError("\(place): expected “chain”, a name for the other chain") }
            let chain = sameBytes(label, "itself") ? state.chain : other
            let amounts = try step["amounts"].map { (json) throws(ExampleError) in try changes(json, place) } ?? []
            return .chainLinked(ChainLink(link: try name(), chain: chain, amounts: amounts, why: why))
        case "cancel": return .chainCancelled(why: try text())
        default: return .chainClosed(outcome: try name(), why: why)
        }
    }

    func party(_ step: JSON, _ place: String) throws(ExampleError) -> UniqueID {
        guard let party = step["party"]?.text else { throw ExampleError("\(place): expected “party”") }
        return try ExampleRun.party(party)
    }

    func changes(_ json: JSON, _ place: String) throws(ExampleError) -> [EventContent.FieldChange] {
        var changes: [EventContent.FieldChange] = []
        func add(_ text: String, _ value: JSON) throws(ExampleError) {
            guard let path = FieldPath(text) else { throw ExampleError("\(place): expected a field, got “\(text)”") }
            changes.append(EventContent.FieldChange(path: path, value: value.isNull ? nil : value))
        }
        for member in json.members ?? [] {
            guard let name = Name(member.name), let group = scheme.lines(name) else {
                try add(member.name, member.value)
                continue
            }
            let rows: [(id: String, row: JSON)] =
                member.value.elements.map { $0.enumerated().map { ("\($0.offset + 1)", $0.element) } }
                ?? (member.value.members ?? []).map { ($0.name, $0.value) }
            guard !rows.isEmpty else { throw ExampleError("\(place): expected rows of “\(group.name)”") }
            for (id, row) in rows {
                if row.isNull { try add("\(group.name)/\(id)", .null) }
                for field in row.members ?? [] { try add("\(group.name)/\(id)/\(field.name)", field.value) }
            }
        }
        guard !changes.isEmpty else { throw ExampleError("\(place): expected an object of values") }
        return changes
    }

    func signature(
        _ name: Name,
        _ step: JSON,
        _ speaker: Speaker,
        _ parents: [Digest],
        _ state: ChainState,
        _ place: String
    ) throws(ExampleError) -> EventContent {
        var way = SigningWay.own
        var party = speaker.actor.party
        if let principal = step["for"]?.text {
            party = try ExampleRun.party(principal)
            way = .delegate(of: party)
        } else if let signer = step["paper"]?.text {
            way = .paper(
                PaperSignature(
                    at: step["paperAt"]?.text.flatMap { Timestamp($0) },
                    picture: SHA256.hash(ExampleRun.bytes("paper", 32)),
                    signer: signer
                )
            )
        }
        let isForeign = way.paper != nil && scheme.signature(name)?.role != speaker.role
        let snapshot =
            isForeign
            ? state.paperSnapshot(name, parents: parents)
            : state.signatureSnapshot(name, by: party, parents: parents)
        return .signed(
            signature: name,
            snapshot: snapshot?.hash ?? SHA256.hash([UInt8]()),
            statement: scheme.signature(name)?.statement ?? "",
            way
        )
    }

    // MARK: Handoffs and corrections

    func offer(
        _ name: Name,
        _ step: JSON,
        _ speaker: Speaker,
        _ parents: [Digest],
        _ state: ChainState,
        _ place: String
    ) throws(ExampleError) -> Offer {
        guard let (_, rule) = scheme.handoff(name) else {
            throw ExampleError("\(place): expected a handoff of the scheme, got “\(name)”")
        }
        let seconds = step["lasts"]?.integer ?? rule.lasts
        guard (0...10_000_000).contains(seconds),
            let expires = Timestamp(milliseconds: (clock.seconds + Int64(seconds)) * 1_000),
            let id = OfferID(bytes: ExampleRun.bytes("offer/\(speaker.actor.label)/\(clock)", 8))
        else { throw ExampleError("\(place): expected “lasts” in seconds") }
        let mac = SHA256.hash(ExampleRun.bytes("mac/\(id)", 32))
        do {
            return Offer(
                expires: expires,
                handoff: name,
                key: try HandoffKey(
                    serverSecret: ExampleRun.bytes("secret", 32),
                    device: speaker.actor.device,
                    number: 1
                ).id,
                mac: mac,
                id: id,
                party: try step["to"]?.text.map { (label) throws(ExampleError) in try ExampleRun.party(label) },
                snapshot: state.handoffSnapshot(name, by: speaker.actor.party, parents: parents)?.hash
                    ?? SHA256.hash([UInt8]()),
                to: rule.to
            )
        } catch {
            throw ExampleError("\(place): \(error)")
        }
    }

    /// The latest offer that is open, or the latest there is, of one handoff or of any.
    func half(named name: Name?, _ state: ChainState, _ place: String) throws(ExampleError) -> HandoffHalf {
        let offers = state.offers.values.filter { name == nil || $0.offer.handoff == name }
            .sorted { ($0.at, $0.offer.id) < ($1.at, $1.offer.id) }
        guard let offer = offers.last(where: { $0.end == .open }) ?? offers.last,
            let half = HandoffHalf(
                statement: offer.statement,
                mac: Array(offer.offer.mac.bytes.prefix(HandoffHalf.macLength))
            )
        else { throw ExampleError("\(place): expected an offer to answer, and there is none") }
        return half
    }

    func correction(_ state: ChainState, _ place: String) throws(ExampleError) -> Digest {
        guard let correction = state.corrections.last(where: { $0.end == .open }) ?? state.corrections.last else {
            throw ExampleError("\(place): expected a correction to answer, and there is none")
        }
        return correction.event
    }
}
