package import Tallystick
import TallystickCrypto

/// Whole stories, told the same in every run; `fixtures/logs` keeps their records.
package enum Stories {
    /// A story that has been told: who took part, and the server that heard it.
    package struct Told {
        /// The world it was told in.
        package let teller: StoryTeller
        /// The server.
        package let referee: Referee
    }

    /// Every story by its name.
    package static let all: [(name: String, tell: @Sendable () throws -> Told)] = [
        ("plain", plain), ("refused-edits", refusedEdits), ("two-takers", twoTakers),
        ("two-devices-of-one-role", twoDevicesOfOneRole), ("late-arrivals", lateArrivals),
        ("rejected-load", rejectedLoad), ("carrier-twice", carrierTwice), ("agreements", agreements),
        ("cancelled", cancelled),
    ]

    /// Producer, carrier, carrier and receiving site, each in reach of the server.
    package static func plain() throws -> Told {
        let teller = try StoryTeller("plain", openedBy: "producer-phone")
        let producer = try teller.actor("producer-phone", of: "Builder", as: "producer")
        let first = try teller.actor("first-phone", of: "Calder", as: "carrier")
        let second = try teller.actor("second-phone", of: "Pennine", as: "carrier")
        let site = try teller.actor("site-phone", of: "Holbeck", as: "receiver")
        let referee = try teller.referee()
        let collection = try teller.producerOffers(producer)
        referee.receive(from: producer)
        let transfer = try teller.carrierTakes(first, collection, SampleValues.carrier, offeringTo: "carrier")
        referee.receive(from: first)
        let delivery = try teller.carrierTakes(second, transfer, SampleValues.secondCarrier, offeringTo: "receiver")
        referee.receive(from: second)
        try teller.siteTakes(site, delivery)
        referee.receive(from: site)
        producer.learn(from: referee)
        try producer.note("Thank you, all received.")
        referee.receive(from: producer)
        return Told(teller: teller, referee: referee)
    }

    /// Edits that are refused: another's field, an unknown one, a bad value, a sealed one, and the device revoked.
    package static func refusedEdits() throws -> Told {
        let teller = try StoryTeller("refused-edits", openedBy: "producer-phone")
        let producer = try teller.actor("producer-phone", of: "Builder", as: "producer")
        let carrier = try teller.actor("carrier-phone", of: "Calder", as: "carrier")
        let referee = try teller.referee()
        try producer.open()
        try producer.set(SampleValues.producer)
        try producer.set(["carrierName": .string("Not mine to say")], insisting: true)
        try producer.set(["colour": .string("grey")], insisting: true)
        try producer.set(["sicCode": .string("4120")], insisting: true)
        try producer.sign()
        try producer.set(["wasteItems/1/quantity": SampleValues.quantity("9", "t")], insisting: true)
        let half = try producer.offer(to: "carrier")
        referee.receive(from: producer)
        try carrier.accept(half)
        try carrier.set(["wasteItems/1/quantity": SampleValues.quantity("2", "t")], insisting: true)
        referee.receive(from: carrier)
        referee.revoke(carrier.device, why: "lost on the road")
        try carrier.set(SampleValues.carrier)
        referee.receive(from: carrier)
        return Told(teller: teller, referee: referee)
    }

    /// Two carriers scan one code; the one whose acceptance comes first has the load, and the chain is contested.
    package static func twoTakers() throws -> Told {
        let teller = try StoryTeller("two-takers", openedBy: "producer-phone")
        let producer = try teller.actor("producer-phone", of: "Builder", as: "producer")
        let first = try teller.actor("first-phone", of: "Calder", as: "carrier")
        let second = try teller.actor("second-phone", of: "Pennine", as: "carrier")
        let site = try teller.actor("site-phone", of: "Holbeck", as: "receiver")
        let referee = try teller.referee()
        let half = try teller.producerOffers(producer)
        teller.clock.advance(seconds: 60)
        try first.accept(half)
        try second.accept(half)
        try teller.carrierDrives(first, SampleValues.carrier, offeringTo: "receiver")
        let delivery = try teller.carrierDrives(second, SampleValues.secondCarrier, offeringTo: "receiver")
        try teller.siteTakes(site, delivery)
        referee.receive(from: producer, first, second, site)
        return Told(teller: teller, referee: referee)
    }

    /// Two phones of the producer write one field without having seen each other; one settles it, then signs.
    package static func twoDevicesOfOneRole() throws -> Told {
        let teller = try StoryTeller("two-devices-of-one-role", openedBy: "office")
        let office = try teller.actor("office", of: "Builder", as: "producer")
        let yard = try teller.actor("yard", of: "Builder", as: "producer")
        let carrier = try teller.actor("carrier-phone", of: "Calder", as: "carrier")
        let referee = try teller.referee()
        try office.open()
        try office.set(SampleValues.producer)
        referee.receive(from: office)
        yard.learn(from: referee)
        try office.set(["wasteItems/1/quantity": SampleValues.quantity("8", "t")])
        try yard.set(["wasteItems/1/quantity": SampleValues.quantity("6", "t")])
        try office.sign()
        let lost = try office.offer(to: "carrier")
        referee.receive(from: yard, office)
        try carrier.accept(lost)
        referee.receive(from: carrier)
        office.learn(from: referee)
        teller.clock.advance(seconds: 60)
        try office.set(["wasteItems/1/quantity": SampleValues.quantity("7.5", "t")])
        try office.sign()
        let half = try office.offer(to: "carrier")
        referee.receive(from: office)
        carrier.learn(from: referee)
        try carrier.accept(half)
        referee.receive(from: carrier)
        return Told(teller: teller, referee: referee)
    }

    /// Everybody was offline: the last to speak is the first to be heard, after the offers have ended.
    package static func lateArrivals() throws -> Told {
        let teller = try StoryTeller("late-arrivals", openedBy: "producer-phone")
        let producer = try teller.actor("producer-phone", of: "Builder", as: "producer")
        let carrier = try teller.actor("carrier-phone", of: "Calder", as: "carrier")
        let site = try teller.actor("site-phone", of: "Holbeck", as: "receiver")
        let referee = try teller.referee()
        let collection = try teller.producerOffers(producer)
        let delivery = try teller.carrierTakes(carrier, collection, SampleValues.carrier, offeringTo: "receiver")
        try teller.siteTakes(site, delivery)
        for actor in [site, carrier, producer] {
            teller.clock.advance(seconds: 7_200)
            for signed in actor.said { referee.receive(signed, at: teller.clock.now) }
        }
        return Told(teller: teller, referee: referee)
    }

    /// The receiving site refuses the load; the carrier still has it, and takes it to another site.
    package static func rejectedLoad() throws -> Told {
        let teller = try StoryTeller("rejected-load", openedBy: "producer-phone")
        let producer = try teller.actor("producer-phone", of: "Builder", as: "producer")
        let carrier = try teller.actor("carrier-phone", of: "Calder", as: "carrier")
        let site = try teller.actor("site-phone", of: "Holbeck", as: "receiver")
        let other = try teller.actor("other-phone", of: "Armley", as: "receiver")
        let referee = try teller.referee()
        let collection = try teller.producerOffers(producer)
        referee.receive(from: producer)
        let refused = try teller.carrierTakes(carrier, collection, SampleValues.carrier, offeringTo: "receiver")
        try site.decline(refused, why: "There is plasterboard in it, which this site may not take.")
        referee.receive(from: carrier, site)
        carrier.learn(from: referee)
        teller.clock.advance(seconds: 600)
        let delivery = try carrier.offer(to: "receiver")
        try teller.siteTakes(other, delivery, SampleValues.received(SampleValues.quantity("7.1", "t")))
        referee.receive(from: carrier, other)
        return Told(teller: teller, referee: referee)
    }

    /// A carrier has the load, gives it to another, and gets it back: two legs of one party, each with its own values.
    package static func carrierTwice() throws -> Told {
        let teller = try StoryTeller("carrier-twice", openedBy: "producer-phone")
        let producer = try teller.actor("producer-phone", of: "Builder", as: "producer")
        let first = try teller.actor("first-phone", of: "Calder", as: "carrier")
        let second = try teller.actor("second-phone", of: "Pennine", as: "carrier")
        let site = try teller.actor("site-phone", of: "Holbeck", as: "receiver")
        let referee = try teller.referee()
        let collection = try teller.producerOffers(producer)
        let transfer = try teller.carrierTakes(first, collection, SampleValues.carrier, offeringTo: "carrier")
        let back = try teller.carrierTakes(second, transfer, SampleValues.secondCarrier, offeringTo: "carrier")
        var again = SampleValues.carrier
        again["vehicleRegistration"] = .string("YK24 DEF")
        let delivery = try teller.carrierTakes(first, back, again, offeringTo: "receiver")
        try teller.siteTakes(site, delivery)
        referee.receive(from: first, site, second, producer)
        return Told(teller: teller, referee: referee)
    }

    /// A broker is admitted and signs in the producer's place; values are entered late, corrected with and without the
    /// others' approval; the carrier's signature stood on paper; the chain follows a refused one and is closed.
    package static func agreements() throws -> Told {
        let teller = try StoryTeller("agreements", openedBy: "producer-phone")
        let producer = try teller.actor("producer-phone", of: "Builder", as: "producer")
        let broker = try teller.actor("broker-laptop", of: "Hollin", as: "broker")
        let carrier = try teller.actor("carrier-phone", of: "Calder", as: "carrier")
        let site = try teller.actor("site-phone", of: "Holbeck", as: "receiver")
        let referee = try teller.referee()
        try producer.open()
        let noted = try Derived.moment("2026-11-30T07:40:00.000Z")
        teller.clock.advance(seconds: 60)
        try producer.set(
            SampleValues.producer,
            late: LateEntry(
                at: noted,
                paper: SHA256.hash(Array("photograph of a page".utf8)),
                why: "The phone was flat."
            )
        )
        try producer.say(.partyAdmitted(party: broker.party, role: Derived.name("broker")))
        let evening = try Derived.moment("2026-11-30T18:00:00.000Z")
        try producer.say(
            .signatureDelegated(signatures: [Derived.name("producer")], to: broker.party, until: evening)
        )
        let refused = try Derived.chain("refused", openedBy: Derived.key("elsewhere"), at: noted)
        try producer.say(.chainLinked(ChainLink(link: Derived.name("was-refused"), chain: refused)))
        referee.receive(from: producer)
        broker.learn(from: referee)
        teller.clock.advance(seconds: 60)
        try broker.sign("producer", .delegate(of: producer.party))
        referee.receive(from: broker)
        producer.learn(from: referee)
        let collection = try producer.offer(to: "carrier")
        teller.clock.advance(seconds: 60)
        try carrier.accept(collection)
        try carrier.set(SampleValues.carrier)
        referee.receive(from: producer, carrier)
        carrier.learn(from: referee)
        let paper = PaperSignature(at: teller.clock.now, picture: SHA256.hash(Array("a note".utf8)), signer: "J. Moss")
        try carrier.sign("carrier", .paper(paper))
        let delivery = try carrier.offer(to: "receiver")
        referee.receive(from: carrier)
        producer.learn(from: referee)
        teller.clock.advance(seconds: 60)
        try producer.correct(["sicCode": .string("41202")], why: "The last digit was wrong.")
        let place = try producer.correct(["transferPlace": .string("Plot 5, Kirkstall Road")], why: "The other gate.")
            .event.hash
        let name = try producer.correct(["producerName": .string("Aire Valley Ltd")], why: "New name.").event.hash
        referee.receive(from: producer)
        carrier.learn(from: referee)
        try carrier.say(.correctionApproved(place))
        try carrier.say(.correctionRefused(name, why: "The old name stands on the gate."))
        referee.receive(from: carrier)
        try teller.siteTakes(site, delivery)
        referee.receive(from: site)
        site.learn(from: referee)
        teller.clock.advance(seconds: 60)
        try site.say(.chainClosed(outcome: Derived.name("delivered"), why: ""))
        try site.set(["defraTrackingId": .string("26ABC123")], insisting: true)
        try site.sign("schedule", insisting: true)
        referee.receive(from: site)
        return Told(teller: teller, referee: referee)
    }

    /// A chain that is cancelled before anybody has come for the load.
    package static func cancelled() throws -> Told {
        let teller = try StoryTeller("cancelled", openedBy: "producer-phone")
        let producer = try teller.actor("producer-phone", of: "Builder", as: "producer")
        let referee = try teller.referee()
        try producer.open()
        try producer.set(SampleValues.producer)
        try producer.say(.chainCancelled(why: "The skip stays another week."))
        referee.receive(from: producer)
        return Told(teller: teller, referee: referee)
    }
}

extension StoryTeller {
    /// The producer opens, describes, signs and offers.
    @discardableResult
    package func producerOffers(_ producer: StoryActor) throws -> HandoffHalf {
        try producer.open()
        clock.advance(seconds: 60)
        try producer.set(SampleValues.producer)
        clock.advance(seconds: 60)
        try producer.sign()
        return try producer.offer(to: "carrier")
    }

    /// A carrier takes the load by a code alone, says its own part, signs, drives and offers.
    @discardableResult
    package func carrierTakes(
        _ carrier: StoryActor,
        _ half: HandoffHalf,
        _ values: SampleValues.Values,
        offeringTo role: String
    ) throws -> HandoffHalf {
        clock.advance(seconds: 60)
        try carrier.accept(half)
        return try carrierDrives(carrier, values, offeringTo: role)
    }

    /// A carrier who has the load says its own part, signs, drives and offers.
    @discardableResult
    package func carrierDrives(
        _ carrier: StoryActor,
        _ values: SampleValues.Values,
        offeringTo role: String
    ) throws -> HandoffHalf {
        try carrier.set(values)
        try carrier.sign()
        clock.advance(seconds: 1_800)
        return try carrier.offer(to: role)
    }

    /// The receiving site takes the load by a code alone, says what came and signs.
    package func siteTakes(
        _ site: StoryActor,
        _ half: HandoffHalf,
        _ values: SampleValues.Values = SampleValues.receiver
    ) throws {
        clock.advance(seconds: 60)
        try site.accept(half)
        try site.set(values)
        try site.sign()
    }
}
