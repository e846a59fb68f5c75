package import Tallystick
package import TallystickCrypto

/// A party with one device, which says things as a device does: signed, with parents only of what it knows, and never
/// what its own provisional decision refuses, unless it insists.
package final class StoryActor {
    /// The device's name.
    package let name: String
    /// The device's key.
    package let key: SigningKey
    /// The device's certificate.
    package let certificate: Certificate
    /// The role it speaks in unless told otherwise.
    package let role: Name
    /// The device's handoff key.
    package let handoffKey: HandoffKey
    /// The device's provisional view.
    package private(set) var state: ChainState
    /// What it has said, in order.
    package private(set) var said: [SignedEvent] = []
    private let story: StoryTeller
    private let context: DecisionContext

    init(_ name: String, key: SigningKey, certificate: Certificate, role: Name, in story: StoryTeller) throws {
        self.name = name
        self.key = key
        self.certificate = certificate
        self.role = role
        self.story = story
        let handoffKey = try HandoffKey(serverSecret: story.secret, device: certificate.device, number: 1)
        self.handoffKey = handoffKey
        state = ChainState(chain: story.chain)
        let device = certificate.device
        context = DecisionContext(stage: .provisional, schemes: [story.scheme]) { question in
            guard question.giver == device else { return .unchecked }
            return handoffKey.result(question)
        }
    }

    /// The device's identifier.
    package var device: DeviceID { certificate.device }
    /// The party it acts for.
    package var party: UniqueID { certificate.party }

    // MARK: Saying

    /// Says something; the low-level form that every other one uses.
    ///
    /// Throws `StoryRefusal` if the device's own decision refuses it, unless it insists: then it is signed and sent
    /// all the same, as a changed program would.
    @discardableResult
    package func say(
        _ content: EventContent,
        as role: Name? = nil,
        parents: [Digest]? = nil,
        seq: Int? = nil,
        id: UniqueID? = nil,
        at: Timestamp? = nil,
        late: LateEntry? = nil,
        insisting: Bool = false
    ) throws -> SignedEvent {
        let now = at ?? story.clock.now
        let event = try Event(
            Event.Draft(
                at: now,
                chain: story.chain,
                content: content,
                device: device,
                id: try id ?? Derived.id("\(story.name)/\(name)/\(said.count + 1)", at: now),
                parents: parents ?? state.nextParents(of: device),
                role: role ?? self.role,
                seq: seq ?? state.lastSeq(of: device) + 1,
                late: late
            )
        )
        let signed = SignedEvent(event, by: key)
        let arrival = Arrival(
            event: event,
            certificate: certificate,
            isRevoked: false,
            isSignatureValid: true,
            received: now
        )
        let verdict = state.decide(arrival, in: context)
        if verdict.outcome != .accepted && !insisting { throw StoryRefusal(reasons: verdict.reasons) }
        state.fold(arrival, verdict, in: context)
        said.append(signed)
        return signed
    }

    /// Opens the chain.
    @discardableResult
    package func open() throws -> SignedEvent {
        try say(.chainOpened(story.scheme.reference))
    }

    /// Gives, changes or (null) clears values.
    @discardableResult
    package func set(
        _ values: SampleValues.Values,
        late: LateEntry? = nil,
        insisting: Bool = false
    ) throws -> SignedEvent {
        try say(.fieldsSet(try changes(values)), late: late, insisting: insisting)
    }

    /// The changes that give these values, or (null) clear them.
    package func changes(_ values: SampleValues.Values) throws(StoryError) -> [EventContent.FieldChange] {
        var changes: [EventContent.FieldChange] = []
        for (text, value) in values {
            guard let path = FieldPath(text) else { throw StoryError("expected a path, got “\(text)”") }
            changes.append(EventContent.FieldChange(path: path, value: value.isNull ? nil : value))
        }
        return changes
    }

    /// The reply to the last offer that the actor accepted or declined, signed by its key.
    package func reply() throws -> HandoffReply {
        for signed in said.reversed() {
            let answer: (half: HandoffHalf, isAcceptance: Bool)
            switch signed.event.content {
            case .handoffAccepted(let half): answer = (half, true)
            case .handoffDeclined(let half, _): answer = (half, false)
            default: continue
            }
            let reply = HandoffReply(
                isAcceptance: answer.isAcceptance,
                statement: answer.half.statement,
                at: signed.event.at,
                event: signed.event.hash,
                by: key
            )
            if let reply { return reply }
        }
        throw StoryError("expected \(name) to have answered an offer")
    }

    /// Says that it holds the taker's reply.
    @discardableResult
    package func acknowledge(_ reply: HandoffReply, insisting: Bool = false) throws -> SignedEvent {
        try say(.handoffAcknowledged(reply), insisting: insisting)
    }

    /// Says a remark.
    @discardableResult
    package func note(_ text: String, insisting: Bool = false) throws -> SignedEvent {
        try say(.noteAdded(text: text), insisting: insisting)
    }

    /// Signs; the signature of the role's own name unless told otherwise.
    @discardableResult
    package func sign(_ signature: String? = nil, insisting: Bool = false) throws -> SignedEvent {
        let name = try signature.map { (text) throws(StoryError) in try Derived.name(text) } ?? role
        let snapshot = state.signatureSnapshot(name, by: party, parents: state.nextParents(of: device))
        guard let rule = story.scheme.signature(name), let hash = snapshot?.hash ?? (insisting ? anyHash : nil) else {
            throw StoryError("expected \(self.name) to have something to sign as “\(name)”")
        }
        return try say(.signed(signature: name, snapshot: hash, statement: rule.statement), insisting: insisting)
    }

    /// Attests a signature that was given on paper, in the actor's own role or another, as entered afterwards.
    @discardableResult
    package func attest(
        _ signature: String,
        _ paper: PaperSignature,
        late: LateEntry? = nil,
        insisting: Bool = false
    ) throws -> SignedEvent {
        let name = try Derived.name(signature)
        let parents = state.nextParents(of: device)
        let isOwn = story.scheme.signature(name)?.role == role
        let snapshot =
            isOwn
            ? state.signatureSnapshot(name, by: party, parents: parents)
            : state.paperSnapshot(name, parents: parents)
        guard let rule = story.scheme.signature(name), let hash = snapshot?.hash ?? (insisting ? anyHash : nil) else {
            throw StoryError("expected \(self.name) to have something to attest as “\(name)”")
        }
        return try say(
            .signed(signature: name, snapshot: hash, statement: rule.statement, .paper(paper)),
            late: late,
            insisting: insisting
        )
    }

    /// Ends the chain with an outcome.
    @discardableResult
    package func close(_ outcome: String, why: String = "", insisting: Bool = false) throws -> SignedEvent {
        try say(.chainClosed(outcome: try Derived.name(outcome), why: why), insisting: insisting)
    }

    /// A hash of nothing, for actors who insist on signing what they do not have.
    private var anyHash: Digest { SHA256.hash([]) }

    /// Offers the load, and gives what the code carries.
    @discardableResult
    package func offer(
        to: String,
        lasting seconds: Int64 = 900,
        party: UniqueID? = nil,
        insisting: Bool = false
    ) throws -> HandoffHalf {
        let to = try Derived.name(to)
        guard let index = story.scheme.handoffs.firstIndex(where: { $0.from == role && $0.to == to }) else {
            throw StoryError("expected a handoff from \(role) to \(to)")
        }
        let rule = story.scheme.handoffs[index]
        let snapshot = state.handoffSnapshot(rule.name, by: self.party, parents: state.nextParents(of: device))
        guard let hash = snapshot?.hash ?? (insisting ? anyHash : nil) else {
            throw StoryError("expected \(name) to have something to offer")
        }
        let (offer, statement) = try makeOffer(rule, index: index, snapshot: hash, lasting: seconds, party: party)
        try say(.handoffOffered(offer), insisting: insisting)
        let mac = Array(offer.mac.bytes.prefix(HandoffHalf.macLength))
        guard let half = HandoffHalf(statement: statement, mac: mac) else {
            throw StoryError("expected half a MAC of \(HandoffHalf.macLength) bytes")
        }
        return half
    }

    /// Makes an offer without saying it.
    package func makeOffer(
        _ rule: Scheme.HandoffRule,
        index: Int,
        snapshot: Digest,
        lasting seconds: Int64 = 900,
        party: UniqueID? = nil
    ) throws -> (offer: Offer, statement: HandoffStatement) {
        let end = (story.clock.now.seconds + seconds) * 1_000
        guard let expires = Timestamp(milliseconds: end) else { throw StoryError("expected an end within the years") }
        let id = try Derived.offer("\(story.name)/\(name)/\(said.count + 1)")
        func offer(_ mac: Digest) -> Offer {
            Offer(
                expires: expires,
                handoff: rule.name,
                key: handoffKey.id,
                mac: mac,
                id: id,
                party: party,
                snapshot: snapshot,
                to: rule.to
            )
        }
        let hash = story.scheme.reference.hash
        let draft = offer(SHA256.hash([]))
        guard let statement = HandoffStatement(draft, chain: story.chain, scheme: hash, handoffIndex: index) else {
            throw StoryError("expected an offer that can be stated")
        }
        return (offer(handoffKey.mac(of: statement)), statement)
    }

    /// Accepts what was scanned.
    @discardableResult
    package func accept(_ half: HandoffHalf, insisting: Bool = false) throws -> SignedEvent {
        try say(.handoffAccepted(half), insisting: insisting)
    }

    /// Refuses the load.
    @discardableResult
    package func decline(_ half: HandoffHalf, why: String, insisting: Bool = false) throws -> SignedEvent {
        try say(.handoffDeclined(half, why: why), insisting: insisting)
    }

    /// Takes an offer back.
    @discardableResult
    package func withdraw(_ half: HandoffHalf, why: String = "", insisting: Bool = false) throws -> SignedEvent {
        try say(.handoffWithdrawn(offer: half.statement.offer, why: why), insisting: insisting)
    }

    // MARK: Learning

    /// Syncs: what the referee has settled is folded as settled, and its own words not there yet are decided again.
    package func learn(from referee: Referee) {
        var state = ChainState(chain: story.chain)
        for decision in referee.decisions(of: story.chain) where decision.verdict.outcome != .waiting {
            state.fold(decision.arrival, decision.verdict, in: context)
        }
        for signed in said where !state.knows(signed.event.hash) {
            let arrival = Arrival(
                event: signed.event,
                certificate: certificate,
                isRevoked: false,
                isSignatureValid: true,
                received: signed.event.at
            )
            state.fold(arrival, state.decide(arrival, in: context), in: context)
        }
        self.state = state
    }
}

extension HandoffKey {
    /// Makes a MAC again and compares it: 32 bytes, or the first 16, under this key and no other.
    package func result(_ question: DecisionContext.MACQuestion) -> HandoffFinding.MACResult {
        let isSame =
            question.statement.key == id
            && HMACSHA256.isValid(question.mac, for: question.statement.signedBytes, key: secret)
        return isSame ? .matched : .mismatched
    }
}
