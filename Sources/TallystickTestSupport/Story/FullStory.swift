import Schemes
package import Tallystick
package import TallystickCrypto

/// One chain in which nearly everything happens that a scheme can provide for.
///
/// The producer enters its values late, lets an agent sign in its place and a broker take part. The first carrier never
/// signs; the second signs on paper, which the site attests. The site weighs another weight, refuses a part of it, signs
/// too late, and closes the chain once the refused part has gone on. Corrections are applied, refused and left open.
package struct FullStory {
    /// The world it is told in.
    package let teller: StoryTeller
    /// The server that everybody learns from.
    package let referee: Referee
    /// The producer, who opens the chain.
    package let producer: StoryActor
    /// Who signs in the producer's place.
    package let agent: StoryActor
    /// Who takes part without the load.
    package let broker: StoryActor
    /// The carrier that never signs.
    package let first: StoryActor
    /// The carrier that signs on paper.
    package let second: StoryActor
    /// The receiving site.
    package let site: StoryActor
    /// The corrections: applied after two approvals, applied at once, refused, and open.
    package let corrections: [Digest]
    /// The chain that the refused part goes on in.
    package let refusedPart: UniqueID

    /// The newest UK waste transfer note, read once.
    package static let scheme: Result<Scheme, any Error> = Result {
        let id = "uk-waste-transfer-note"
        let versions = try ShippedSchemes.read().filter { sameBytes($0.reference.id.text, id) }
        guard let newest = versions.max(by: { $0.reference.version < $1.reference.version }) else {
            throw StoryError("expected the scheme “\(id)” to ship")
        }
        return newest
    }

    /// Tells it.
    package init(_ name: String) throws {
        teller = try StoryTeller(name, scheme: FullStory.scheme.get(), openedBy: "producer-phone")
        producer = try teller.actor("producer-phone", of: "Builder", as: "producer")
        agent = try teller.actor("agent-phone", of: "Agent", as: "broker")
        broker = try teller.actor("broker-phone", of: "Broker", as: "broker")
        first = try teller.actor("first-phone", of: "Calder", as: "carrier")
        second = try teller.actor("second-phone", of: "Pennine", as: "carrier")
        site = try teller.actor("site-phone", of: "Holbeck", as: "receiver")
        referee = try teller.referee()
        refusedPart = try Derived.id("\(name)/refused-part", at: teller.clock.now)
        let collection = try FullStory.begin(teller, referee, producer, agent, broker)
        let delivery = try FullStory.carry(teller, referee, collection, first, second)
        try FullStory.receive(teller, referee, delivery, site, refusedPart)
        var corrections: [Digest] = []
        for (values, why) in FullStory.corrected {
            producer.learn(from: referee)
            corrections.append(try producer.correct(values, why: why).event.hash)
            referee.receive(from: producer)
        }
        self.corrections = corrections
        teller.clock.advance(seconds: 60)
        for carrier in [first, second] {
            carrier.learn(from: referee)
            try carrier.say(.correctionApproved(corrections[0]))
        }
        try first.say(.correctionRefused(corrections[2], why: "I loaded what the note says."))
        referee.receive(from: first, second)
        site.learn(from: referee)
        try site.say(.chainClosed(outcome: try Derived.name("delivered"), why: ""))
        referee.receive(from: site)
        broker.learn(from: referee)
        try broker.note("Invoice follows.")
        referee.receive(from: broker)
    }

    /// Everybody, in the order they begin to take part.
    package var actors: [StoryActor] { [producer, agent, broker, first, second, site] }
    /// Everything that was said, in the order the server heard it.
    package var said: [SignedEvent] {
        let events = actors.flatMap(\.said)
        return referee.decisions(of: teller.chain).compactMap { decision in
            events.first { $0.event.hash == decision.arrival.event.hash }
        }
    }

    private static let corrected: [(SampleValues.Values, String)] = [
        (["wasteItems/1/containerCount": .integer(2)], "There were two skips."),
        (["producerAddress": .string("Plot 5, Kirkstall Road, Leeds LS4 2AZ")], "A slip of the pen."),
        (["wasteItems/1/quantity": SampleValues.quantity("8.8", "t")], "The site weighed more."),
        (["transferPlace": .string("Plot 5, Kirkstall Road, Leeds LS4 2AZ")], "A slip of the pen."),
    ]

    private static func begin(
        _ teller: StoryTeller,
        _ referee: Referee,
        _ producer: StoryActor,
        _ agent: StoryActor,
        _ broker: StoryActor
    ) throws -> HandoffHalf {
        let role = producer.role
        try producer.open()
        let late = LateEntry(
            at: try Derived.moment("2026-11-30T07:30:00.000+01:00"),
            paper: SHA256.hash(Array("the note".utf8)),
            why: "There was no signal in the cellar."
        )
        try producer.set(SampleValues.producer, late: late)
        let end = try Derived.moment("2026-12-01T08:00:00.000Z")
        try producer.say(.signatureDelegated(signatures: [role], to: agent.party, until: end))
        try producer.say(.partyAdmitted(party: broker.party, role: broker.role))
        referee.receive(from: producer)
        agent.learn(from: referee)
        try agent.sign(role.text, of: producer.party, .delegate(of: producer.party), as: role)
        referee.receive(from: agent)
        broker.learn(from: referee)
        try broker.set(["brokerReference": .string("B-1187")])
        referee.receive(from: broker)
        producer.learn(from: referee)
        let half = try producer.offer(to: "carrier")
        referee.receive(from: producer)
        return half
    }

    private static func carry(
        _ teller: StoryTeller,
        _ referee: Referee,
        _ collection: HandoffHalf,
        _ first: StoryActor,
        _ second: StoryActor
    ) throws -> HandoffHalf {
        let unsigned: SampleValues.Values = ["unsignedReason": .string("The phone is nearly empty.")]
        teller.clock.advance(seconds: 60)
        try first.accept(collection)
        try first.set(SampleValues.carrier.merging(unsigned) { $1 })
        let transfer = try first.offer(to: "carrier")
        referee.receive(from: first)
        teller.clock.advance(seconds: 600)
        try second.accept(transfer)
        try second.set(SampleValues.secondCarrier.merging(unsigned) { $1 })
        let delivery = try second.offer(to: "receiver")
        referee.receive(from: second)
        return delivery
    }

    private static func receive(
        _ teller: StoryTeller,
        _ referee: Referee,
        _ delivery: HandoffHalf,
        _ site: StoryActor,
        _ refusedPart: UniqueID
    ) throws {
        teller.clock.advance(seconds: 600)
        try site.accept(delivery)
        referee.receive(from: site)
        site.learn(from: referee)
        let paper = PaperSignature(
            at: try Derived.moment("2026-11-30T08:12:00.000Z"),
            picture: SHA256.hash(Array("the carrier's copy".utf8)),
            signer: "J. Pennine"
        )
        try site.sign("carrier", attesting: paper)
        // The receipt is due within two working days.
        teller.clock.advance(seconds: 5 * 86_400)
        var values = SampleValues.received(SampleValues.quantity("9", "t"))
        values["receivedItems/1/acceptedWeight"] = SampleValues.quantity("8", "t")
        values["receivedItems/1/rejectedWeight"] = SampleValues.quantity("1", "t")
        values["receivedItems/1/rejectionReason"] = .string("Plasterboard, which this site may not take")
        values["receivedItems/1/treatmentWeight"] = SampleValues.quantity("8", "t")
        values["outcome"] = .string("accepted-in-part")
        try site.set(values)
        try site.sign()
        try site.set(["defraTrackingId": .string("26HRA0B2")])
        guard let path = FieldPath("receivedItems/1/rejectedWeight") else { throw StoryError("expected a path") }
        let amount = EventContent.FieldChange(path: path, value: SampleValues.quantity("1", "t"))
        try site.say(
            .chainLinked(
                ChainLink(
                    link: try Derived.name("refused-part"),
                    chain: refusedPart,
                    amounts: [amount],
                    why: "Plasterboard"
                )
            )
        )
        referee.receive(from: site)
    }
}

extension StoryActor {
    /// Proposes a correction of sealed values.
    @discardableResult
    package func correct(_ values: SampleValues.Values, why: String) throws -> SignedEvent {
        try say(.correctionProposed(try changes(values), why: why))
    }

    /// Signs in a role of another party that lets it, or in its own, in some way.
    @discardableResult
    package func sign(
        _ signature: String,
        of party: UniqueID,
        _ way: SigningWay,
        as role: Name? = nil
    ) throws -> SignedEvent {
        let name = try Derived.name(signature)
        let parents = state.nextParents(of: device)
        let snapshot = state.signatureSnapshot(name, by: party, parents: parents)
        return try say(signed(name, snapshot, way), as: role)
    }

    /// Attests another's signature on paper.
    @discardableResult
    package func sign(_ signature: String, attesting paper: PaperSignature) throws -> SignedEvent {
        let name = try Derived.name(signature)
        let snapshot = state.paperSnapshot(name, parents: state.nextParents(of: device))
        return try say(signed(name, snapshot, .paper(paper)))
    }

    private func signed(_ name: Name, _ snapshot: Snapshot?, _ way: SigningWay) throws(StoryError) -> EventContent {
        guard let snapshot, let rule = state.scheme?.signature(name) else {
            throw StoryError("expected \(self.name) to have something to sign as “\(name)”")
        }
        return .signed(signature: name, snapshot: snapshot.hash, statement: rule.statement, way)
    }
}
