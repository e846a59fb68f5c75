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
        #expect(scene.carrier.refusal { try scene.carrier.offer(to: "receiver") } == ["signature-out-of-order carrier"])
        try scene.carrier.offer(to: "receiver", insisting: true)
        #expect(scene.result(of: try present(scene.carrier.said.last)) == ["signature-out-of-order carrier"])
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

    @Test func refusesToWithdrawWhatIsTakenOrDeclined() throws {
        let (scene, half) = try Scene.taken()
        #expect(scene.result(of: try scene.producer.withdraw(half)) == ["offer-taken"])
        let (second, declined) = try Scene.offered("declined")
        #expect(second.result(of: try second.carrier.decline(declined, why: "too heavy")) == ["accepted"])
        #expect(second.result(of: try second.producer.withdraw(declined)) == ["offer-declined"])
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

/// The taker's half: acceptances and refusals.
@Suite struct DecideAcceptanceTests {
    @Test func acceptsWhatWasOffered() throws {
        let (scene, half) = try Scene.offered()
        let verdict = try #require(scene.verdict(on: try scene.carrier.accept(half)))
        #expect(verdict == .accepted(handoff: HandoffFinding(time: .witnessed, mac: .matched)))
        #expect(scene.state.legs.map(\.number) == [1, 2])
        #expect(scene.state.currentLeg?.party == scene.carrier.party)
        #expect(scene.state.currentLeg?.received == half.statement.snapshot)
        #expect(!scene.state.isContested)
    }

    /// The offer ends at 08:15: said at / received at.
    @Test(arguments: [
        ("08:14:59.999", "08:14:59.999", "witnessed"), ("08:14:59.999", "08:15:00.000", "claimed"),
        ("08:15:00.000", "08:14:59.999", "witnessed"), ("08:15:00.000", "08:15:00.000", "offer-expired"),
        ("08:00:00.000", "23:00:00.000", "claimed"), ("09:00:00.000", "09:00:00.000", "offer-expired"),
    ])
    func judgesTheTimeByWhatIsKnown(said: String, received: String, expected: String) throws {
        let (scene, half) = try Scene.offered("\(#function)\(said)\(received)")
        let event = try scene.carrier.say(
            .handoffAccepted(half),
            at: Derived.moment("2026-11-30T\(said)Z"),
            insisting: true
        )
        let verdict = try #require(scene.verdict(on: event, at: Derived.moment("2026-11-30T\(received)Z")))
        #expect(verdict.handoff?.mac == .matched)
        if expected == "offer-expired" {
            #expect(verdict.words == [expected])
            #expect(verdict.handoff?.time == nil)
        } else {
            #expect(verdict.words == ["accepted"])
            #expect(verdict.handoff?.time?.rawValue == expected)
        }
    }

    @Test func waitsForTheOfferAndThenDecides() throws {
        let scene = try Scene.described()
        try scene.producer.sign()
        let half = try scene.producer.offer(to: "carrier")
        let acceptance = try scene.carrier.accept(half)
        let values = try scene.carrier.set(SampleValues.carrier)
        #expect(scene.result(of: values) == ["waiting"])
        #expect(scene.verdict(on: acceptance) == .waiting([.offer(half.statement.offer)]))
        scene.referee.receive(from: scene.producer)
        #expect(scene.referee.verdict(on: acceptance)?.words == ["accepted"])
        #expect(scene.referee.verdict(on: values)?.words == ["accepted"])
        #expect(scene.referee.ledger(of: scene.teller.chain).waiting.isEmpty)
    }

    @Test func refusesASecondTakerAndMarksTheChainContested() throws {
        let (scene, half) = try Scene.taken()
        let second = try scene.other.accept(half)
        #expect(scene.result(of: second) == ["offer-taken"])
        #expect(scene.state.isContested)
        #expect(scene.state.contests.map(\.acceptance) == [second.event.hash])
        #expect(scene.state.contests.map(\.party) == [scene.other.party])
        #expect(scene.state.currentLeg?.party == scene.carrier.party)
    }

    @Test func doesNotContestAPartyThatTookItTwice() throws {
        let (scene, half) = try Scene.taken()
        let second = try scene.teller.actor("second", of: "Calder", as: "carrier")
        try scene.referee.enter(second.certificate)
        #expect(scene.result(of: try second.accept(half)) == ["offer-taken"])
        #expect(scene.result(of: try scene.carrier.accept(half, insisting: true)) == ["offer-taken"])
        #expect(!scene.state.isContested)
    }

    @Test func contestsATakerByAnotherOfferOfTheSameGiver() throws {
        let (scene, first) = try Scene.offered()
        let second = try scene.producer.offer(to: "carrier")
        scene.referee.receive(from: scene.producer)
        #expect(scene.result(of: try scene.carrier.accept(first)) == ["accepted"])
        #expect(scene.result(of: try scene.other.accept(second)) == ["not-the-holder"])
        #expect(scene.state.contests.map(\.party) == [scene.other.party])
    }

    /// Who was first is whoever has the leg after the giver's, not the chain's first other leg.
    @Test func knowsWhoWasFirstAlsoOnLaterLegs() throws {
        let (scene, _) = try Scene.taken()
        try scene.carrier.set(SampleValues.carrier)
        try scene.carrier.sign()
        let first = try scene.carrier.offer(to: "carrier")
        let second = try scene.carrier.offer(to: "carrier")
        scene.referee.receive(from: scene.carrier)
        let phone = try scene.teller.actor("phone", of: "Pennine", as: "carrier")
        try scene.referee.enter(phone.certificate)
        #expect(scene.result(of: try scene.other.accept(first)) == ["accepted"])
        #expect(scene.result(of: try phone.accept(second)) == ["not-the-holder"])
        #expect(scene.state.contests.isEmpty, "one party took it, with two phones")
    }

    @Test func refusesWhatWasDeclined() throws {
        let (scene, half) = try Scene.offered()
        #expect(scene.result(of: try scene.carrier.decline(half, why: "too heavy")) == ["accepted"])
        #expect(
            scene.state.offers[half.statement.offer]?.end == .declined(by: scene.carrier.party, why: "too heavy")
        )
        #expect(scene.result(of: try scene.other.accept(half)) == ["offer-declined"])
        #expect(scene.result(of: try scene.other.decline(half, why: "me too", insisting: true)) == ["offer-declined"])
        #expect(scene.state.currentLeg?.party == scene.producer.party)
    }

    @Test func refusesAnotherMACThanTheOffers() throws {
        let (scene, half) = try Scene.offered()
        let mac = half.mac.map { $0 ^ 1 }
        let altered = try #require(HandoffHalf(statement: half.statement, mac: mac))
        #expect(scene.result(of: try scene.carrier.accept(altered)) == ["mac-mismatch"])
        #expect(scene.result(of: try scene.other.decline(altered, why: "no")) == ["mac-mismatch"])
    }

    /// Where nobody has the key, as in an audit, the giver's signed offer still says what the MAC is.
    @Test func refusesAnotherMACThanTheOffersAlsoWithoutTheKey() throws {
        let (scene, half) = try Scene.offered()
        let context = DecisionContext(stage: .final, schemes: [scene.teller.scheme]) { _ in .unchecked }
        let altered = try #require(HandoffHalf(statement: half.statement, mac: half.mac.map { $0 ^ 1 }))
        for (half, expected) in [(half, ["accepted"]), (altered, ["mac-mismatch"])] {
            let signed = try scene.carrier.accept(half, insisting: true)
            let arrival = scene.referee.arrival(of: signed, at: signed.event.at)
            var state = scene.state
            // The acceptances are of one device; the second follows the first.
            for earlier in scene.carrier.said.dropLast() {
                state.fold(scene.referee.arrival(of: earlier, at: earlier.event.at), .refused([]), in: context)
            }
            #expect(state.decide(arrival, in: context).words == expected)
        }
    }

    private func half(_ half: HandoffHalf, changing index: Int) throws -> HandoffHalf {
        var bytes = half.statement.bytes
        bytes[index] ^= 1
        return try #require(HandoffHalf(statement: present(HandoffStatement(bytes: bytes)), mac: half.mac))
    }

    @Test func refusesAnotherStatementThanTheOffers() throws {
        let (scene, offered) = try Scene.offered()
        // The last byte is the snapshot's, 38 the scheme's, 37 the end's.
        let snapshot = try scene.carrier.accept(half(offered, changing: 73))
        #expect(scene.result(of: snapshot) == ["snapshot-mismatch", "mac-mismatch"])
        let scheme = try scene.other.accept(half(offered, changing: 38), insisting: true)
        #expect(scene.result(of: scheme) == ["offer-invalid", "mac-mismatch"])
        let (second, again) = try Scene.offered("end")
        #expect(
            second.result(of: try second.carrier.accept(half(again, changing: 37))) == [
                "offer-invalid", "mac-mismatch",
            ]
        )
    }

    @Test func refusesAnOfferOfAnotherChain() throws {
        let (scene, half) = try Scene.offered()
        let (elsewhere, _) = try Scene.offered("elsewhere")
        let event = try elsewhere.carrier.accept(half, insisting: true)
        #expect(elsewhere.result(of: event) == ["offer-invalid"])
        _ = scene
    }

    @Test func refusesTheGiversOwnDevice() throws {
        let teller = try StoryTeller("own offer")
        let device = try teller.actor("phone", of: "Builder", as: "producer", "carrier")
        let referee = try teller.referee()
        let half = try teller.producerOffers(device)
        let event = try device.say(.handoffAccepted(half), as: Derived.name("carrier"), insisting: true)
        referee.receive(from: device)
        #expect(referee.verdict(on: event)?.words == ["own-offer"])
    }

    @Test func refusesAnotherPartyOrRoleThanTheOfferIsTo() throws {
        let (scene, half) = try Scene.offered(party: StoryTeller.party("Calder"))
        #expect(half.statement.isBound)
        #expect(scene.result(of: try scene.other.accept(half)) == ["role-not-held carrier"])
        let event = try scene.site.accept(half, insisting: true)
        #expect(scene.result(of: event) == ["role-not-held receiver", "role-not-held receiver"])
        #expect(scene.result(of: try scene.carrier.accept(half)) == ["accepted"])
    }

    @Test func refusesAnAcceptanceOfAnOfferThatWasRefused() throws {
        let scene = try Scene.described()
        let half = try scene.producer.offer(to: "carrier", insisting: true)
        let acceptance = try scene.carrier.accept(half)
        #expect(scene.result(of: acceptance) == ["waiting"])
        scene.referee.receive(from: scene.producer)
        #expect(scene.referee.verdict(on: acceptance)?.words == ["offer-unknown"])
    }

    /// Somebody else who has seen the code cannot end the wait by an offer of that name.
    @Test func goesOnWaitingWhereTheRefusedOfferIsNotTheGivers() throws {
        let scene = try Scene.described()
        try scene.producer.sign()
        let half = try scene.producer.offer(to: "carrier")
        let acceptance = try scene.carrier.accept(half)
        #expect(scene.result(of: acceptance) == ["waiting"])
        for signed in scene.producer.said.dropLast() { scene.referee.receive(signed, at: signed.event.at) }
        let real = try #require(scene.producer.said.last)
        let copy = try scene.other.say(real.event.content, insisting: true)
        #expect(scene.result(of: copy) == ["not-the-holder carrier"])
        #expect(scene.referee.verdict(on: acceptance)?.words == ["waiting"])
        #expect(scene.result(of: real) == ["accepted"])
        #expect(scene.referee.verdict(on: acceptance)?.words == ["accepted"])
    }

    /// The loser of two takers drove on and handed over: whoever took it from there gets an answer too.
    @Test func answersWhoeverTookTheLoadFromTheSecondTaker() throws {
        let told = try Stories.twoTakers()
        let ledger = told.referee.ledger(of: told.teller.chain)
        #expect(ledger.waiting.isEmpty)
        #expect(ledger.state.isContested)
        let site = try #require(
            told.referee.decisions(of: told.teller.chain).last { decision in
                if case .handoffAccepted = decision.arrival.event.content { true } else { false }
            }
        )
        #expect(site.verdict.words == ["offer-unknown"])
    }

    // MARK: On the taker's device, which has nothing but the code

    @Test func acceptsByTheCodeAlone() throws {
        let (scene, half) = try Scene.offered()
        try scene.carrier.accept(half)
        #expect(scene.carrier.state.legs.map(\.number) == [nil])
        #expect(scene.carrier.state.scheme?.reference == scene.teller.scheme.reference)
        #expect(scene.carrier.refusal { try scene.carrier.accept(half) } == ["offer-taken"])
    }

    @Test func judgesACodeByWhatItSays() throws {
        let (scene, half) = try Scene.offered()
        #expect(scene.site.refusal { try scene.site.accept(half) } == ["role-not-held receiver"])
        let scheme = try self.half(half, changing: 38)
        #expect(scene.other.refusal { try scene.other.accept(scheme) }.map { $0.prefix(14) } == ["scheme-unknown"])
        var bytes = half.statement.bytes
        bytes[1] = 0x0F
        let index = try #require(HandoffHalf(statement: present(HandoffStatement(bytes: bytes)), mac: half.mac))
        #expect(scene.other.refusal { try scene.other.accept(index) } == ["offer-invalid"])
        scene.teller.clock.advance(seconds: 899)
        #expect(scene.carrier.refusal { try scene.carrier.accept(half) } == ["accepted"])
        scene.teller.clock.advance(seconds: 1)
        #expect(scene.other.refusal { try scene.other.accept(half) } == ["offer-expired"])
    }
}
