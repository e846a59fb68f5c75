import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// The giver's half: offers and withdrawals.
@Suite struct DecideOfferTests {
    @Test func acceptsAnOfferOfTheHolder() throws {
        let (scene, half) = try Scene.offered()
        let verdict = try #require(scene.referee.verdict(on: try present(scene.producer.said.last)))
        #expect(verdict == .accepted(handoff: HandoffFinding(time: nil, mac: .matched)))
        #expect(scene.state.offers[half.statement.offer]?.end == .open)
        #expect(scene.state.offers[half.statement.offer]?.statement == half.statement)
    }

    /// The scheme allows 60 to 86,400 s; an end in whole seconds may cut up to one of them.
    @Test(arguments: [(58, false), (59, true), (60, true), (86_400, true), (86_401, true), (86_402, false)])
    func judgesHowLongAnOfferLasts(seconds: Int64, isValid: Bool) throws {
        let scene = try Scene.described("\(#function)\(seconds)")
        try scene.producer.sign()
        scene.referee.receive(from: scene.producer)
        try scene.producer.offer(to: "carrier", lasting: seconds, insisting: true)
        let event = try #require(scene.producer.said.last)
        #expect(scene.result(of: event) == [isValid ? "accepted" : "offer-invalid"])
    }

    private func changed(
        _ scene: Scene,
        _ change: (Offer) throws -> Offer
    ) throws -> [String] {
        let rule = scene.teller.scheme.handoffs[0]
        let state = scene.producer.state
        let parents = state.nextParents(of: scene.producer.device)
        let snapshot = try #require(state.handoffSnapshot(rule.name, by: scene.producer.party, parents: parents))
        let (offer, _) = try scene.producer.makeOffer(rule, index: 0, snapshot: snapshot.hash)
        return scene.result(of: try scene.producer.say(.handoffOffered(try change(offer)), insisting: true))
    }

    private func copy(
        _ offer: Offer,
        handoff: Name? = nil,
        key: HandoffKeyID? = nil,
        mac: Digest? = nil,
        snapshot: Digest? = nil,
        to: Name? = nil
    ) -> Offer {
        Offer(
            expires: offer.expires,
            handoff: handoff ?? offer.handoff,
            key: key ?? offer.key,
            mac: mac ?? offer.mac,
            id: offer.id,
            party: offer.party,
            snapshot: snapshot ?? offer.snapshot,
            to: to ?? offer.to
        )
    }

    private func signed(_ name: String = #function) throws -> Scene {
        let scene = try Scene.described(name)
        try scene.producer.sign()
        scene.referee.receive(from: scene.producer)
        return scene
    }

    @Test func refusesAHandoffThatTheSchemeDoesNotHave() throws {
        #expect(try changed(signed("a")) { copy($0, handoff: try Derived.name("gift")) } == ["offer-invalid"])
        // The MAC covers the place in the scheme's list, so that differs too.
        let other = try changed(signed("b")) { copy($0, handoff: try Derived.name("delivery")) }
        #expect(other == ["mac-mismatch", "offer-invalid"])
        #expect(try changed(signed("c")) { copy($0, to: try Derived.name("receiver")) } == ["offer-invalid"])
    }

    @Test func refusesAMACThatIsNotTheDevices() throws {
        #expect(try changed(signed("a")) { copy($0, mac: SHA256.hash([])) } == ["mac-mismatch"])
        let key = try #require(HandoffKeyID(bytes: [1, 2, 3, 4]))
        #expect(try changed(signed("b")) { copy($0, key: key) } == ["mac-mismatch"])
    }

    @Test func refusesAnotherSnapshotThanTheEventsGive() throws {
        let scene = try signed()
        let (offer, _) = try scene.producer.makeOffer(
            scene.teller.scheme.handoffs[0],
            index: 0,
            snapshot: SHA256.hash([])
        )
        let event = try scene.producer.say(.handoffOffered(offer), insisting: true)
        #expect(scene.result(of: event) == ["snapshot-mismatch"])
    }

    @Test func refusesAnOfferIdThatTheChainHas() throws {
        let (scene, _) = try Scene.offered()
        let said = try #require(scene.producer.said.last)
        let again = try scene.producer.say(said.event.content, insisting: true)
        #expect(scene.result(of: again) == ["id-reused"])
    }

    @Test func refusesAnOfferBeforeTheGiversSignatureAndDoesNotWait() throws {
        let scene = try Scene.described()
        let half = try scene.producer.offer(to: "carrier", insisting: true)
        #expect(scene.result(of: try present(scene.producer.said.last)) == ["signature-out-of-order producer"])
        // Somebody took it all the same: that is answered too.
        #expect(scene.result(of: try scene.carrier.accept(half)) == ["offer-unknown"])
        // A signature afterwards changes nothing: the offer's snapshot does not have it.
        #expect(scene.result(of: try scene.producer.sign()) == ["accepted"])
    }

    /// A carrier who has the load again signs for the new leg: the signature of its earlier one does not count.
    @Test func refusesAnOfferOnALegThatWasNotSigned() throws {
        let (scene, _) = try Scene.taken()
        let there = try scene.teller.carrierDrives(scene.carrier, SampleValues.carrier, offeringTo: "carrier")
        let back = try scene.teller.carrierTakes(scene.other, there, SampleValues.secondCarrier, offeringTo: "carrier")
        scene.referee.receive(from: scene.carrier, scene.other)
        scene.teller.clock.advance(seconds: 60)
        #expect(scene.result(of: try scene.carrier.accept(back)) == ["accepted"])
        #expect(scene.carrier.refusal { try scene.carrier.offer(to: "receiver") } == ["missing-field unsignedReason"])
        try scene.carrier.offer(to: "receiver", insisting: true)
        #expect(scene.result(of: try present(scene.carrier.said.last)) == ["missing-field unsignedReason"])
        // With a reason the load goes on, and the leg is shown as a gap.
        try scene.carrier.set(["unsignedReason": .string("The driver's signature pad broke.")], insisting: true)
        try scene.carrier.offer(to: "receiver", insisting: true)
        scene.referee.receive(from: scene.carrier)
        let verdict = try #require(scene.referee.verdict(on: try present(scene.carrier.said.last)))
        #expect(verdict.outcome == .accepted)
        #expect(verdict.warnings.map(\.words).contains("signature-missing carrier"))
        #expect(scene.state.gaps.map(\.party) == [scene.carrier.party])
    }

    @Test func waitsToOfferForASignatureOfAnotherRole() throws {
        let scene = try Scene("offer waits", scheme: ParcelScheme.read())
        try scene.producer.open()
        let pickup = try scene.producer.offer(to: "carrier")
        scene.referee.receive(from: scene.producer)
        try scene.carrier.accept(pickup)
        try scene.carrier.offer(to: "receiver")
        scene.referee.receive(from: scene.carrier)
        let offer = try #require(scene.carrier.said.last)
        #expect(scene.referee.verdict(on: offer) == .waiting([.signature(try Derived.name("producer"))]))
        #expect(scene.result(of: try scene.producer.sign()) == ["accepted"])
        #expect(scene.referee.verdict(on: offer)?.words == ["accepted"])
    }

    @Test func refusesAnOfferAcrossAConflict() throws {
        let scene = try Scene("conflict", scheme: ParcelScheme.read())
        try scene.producer.open()
        scene.referee.receive(from: scene.producer)
        let yard = try scene.secondProducer()
        let first = try scene.producer.set(["label": .string("A1")])
        #expect(scene.result(of: try yard.set(["label": .string("B2")])) == ["accepted"])
        #expect(scene.result(of: first) == ["accepted"])
        try scene.producer.offer(to: "carrier")
        #expect(scene.result(of: try present(scene.producer.said.last)) == ["conflict-open label"])
    }

    @Test func refusesAnOfferBySomebodyWhoNeverHadTheLoad() throws {
        let (scene, _) = try Scene.offered()
        try scene.other.offer(to: "receiver", insisting: true)
        // It is also that device's first word.
        #expect(scene.result(of: try present(scene.other.said.last)) == ["not-the-holder carrier"])
    }

    @Test func refusesAnOfferByAGiverWhoHasSeenTheLoadPassOn() throws {
        let (scene, _) = try Scene.taken()
        scene.producer.learn(from: scene.referee)
        try scene.producer.offer(to: "carrier", insisting: true)
        #expect(scene.result(of: try present(scene.producer.said.last)) == ["not-the-holder producer"])
    }

    @Test func takesAnOfferBackOnce() throws {
        let (scene, half) = try Scene.offered()
        #expect(scene.result(of: try scene.producer.withdraw(half, why: "wrong carrier")) == ["accepted"])
        #expect(scene.state.offers[half.statement.offer]?.end == .withdrawn)
        #expect(scene.result(of: try scene.producer.withdraw(half, insisting: true)) == ["offer-withdrawn"])
        #expect(scene.result(of: try scene.carrier.accept(half)) == ["offer-withdrawn"])
    }

    @Test func refusesToWithdrawWhatIsTaken() throws {
        let (scene, half) = try Scene.taken()
        #expect(scene.result(of: try scene.producer.withdraw(half)) == ["offer-taken"])
    }

    @Test func takesBackWhatSomebodyDeclined() throws {
        let (scene, half) = try Scene.offered()
        #expect(scene.result(of: try scene.carrier.decline(half, why: "too heavy")) == ["accepted"])
        #expect(scene.result(of: try scene.producer.withdraw(half)) == ["accepted"])
        #expect(scene.state.offers[half.statement.offer]?.end == .withdrawn)
        #expect(scene.result(of: try scene.other.accept(half)) == ["offer-withdrawn"])
    }

    @Test func refusesToWithdrawAnOfferThatIsNotKnownOrNotSeen() throws {
        let (scene, half) = try Scene.offered()
        let unknown = EventContent.handoffWithdrawn(offer: try Derived.offer("none"), why: "")
        #expect(scene.result(of: try scene.producer.say(unknown, insisting: true)) == ["offer-unknown"])
        // A device that was told of the offer, and has not seen it: the same, whether or not it has come by now.
        let (other, _) = try Scene.offered("not seen")
        let yard = try other.teller.actor("yard", of: "Builder", as: "producer")
        try other.referee.enter(yard.certificate)
        let seen = [try #require(other.producer.said.first).event.hash]
        let offer = try #require(other.state.offers.keys.first)
        let withdrawal = try yard.say(.handoffWithdrawn(offer: offer, why: ""), parents: seen, insisting: true)
        #expect(other.result(of: withdrawal) == ["offer-unknown"])
        _ = half
    }

    @Test func refusesToWithdrawAnothersOffer() throws {
        let (scene, half) = try Scene.taken()
        try scene.carrier.set(SampleValues.carrier)
        try scene.carrier.sign()
        let delivery = try scene.carrier.offer(to: "receiver")
        scene.referee.receive(from: scene.carrier)
        scene.producer.learn(from: scene.referee)
        let withdrawal = try scene.producer.withdraw(delivery, insisting: true)
        #expect(scene.result(of: withdrawal) == ["not-the-holder"])
        _ = half
    }
}
