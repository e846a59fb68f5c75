import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

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

    /// One party has one word on an offer, whichever of its devices says it.
    @Test func refusesWhatTheSamePartyDeclined() throws {
        let (scene, half) = try Scene.offered()
        let second = try scene.teller.actor("second", of: "Calder", as: "carrier")
        try scene.referee.enter(second.certificate)
        #expect(scene.result(of: try scene.carrier.decline(half, why: "too heavy")) == ["accepted"])
        #expect(
            scene.state.offers[half.statement.offer]?.end == .declined(by: scene.carrier.party, why: "too heavy")
        )
        // What another party says after it does not make it forgotten.
        #expect(scene.result(of: try scene.other.decline(half, why: "not us")) == ["accepted"])
        #expect(scene.result(of: try second.decline(half, why: "we said so", insisting: true)) == ["offer-declined"])
        #expect(scene.result(of: try second.accept(half)) == ["offer-declined"])
        #expect(scene.state.offers[half.statement.offer]?.decliners == [scene.carrier.party, scene.other.party])
        #expect(scene.state.currentLeg?.party == scene.producer.party)
        // The party that declined says to have the load.
        #expect(scene.state.contests.map(\.party) == [scene.carrier.party])
    }

    /// A code can be photographed by anybody.
    @Test(arguments: [false, true]) func letsNobodyDeclineForOthers(isWaiting: Bool) throws {
        let scene = try Scene.described("\(#function)\(isWaiting)")
        try scene.producer.sign()
        let half = try scene.producer.offer(to: "carrier")
        if !isWaiting { scene.referee.receive(from: scene.producer) }
        let first = try scene.other.decline(half, why: "not for us")
        #expect(scene.result(of: first) == [isWaiting ? "waiting" : "accepted"])
        let acceptance = try scene.carrier.accept(half)
        #expect(scene.result(of: acceptance) == [isWaiting ? "waiting" : "accepted"])
        scene.referee.receive(from: scene.producer)
        #expect(scene.referee.verdict(on: first)?.words == ["accepted"])
        #expect(scene.referee.verdict(on: acceptance)?.words == ["accepted"])
        #expect(scene.referee.verdict(on: acceptance)?.handoff == HandoffFinding(time: .witnessed, mac: .matched))
        #expect(scene.state.offers[half.statement.offer]?.end == .taken(acceptance.event.hash))
        #expect(scene.state.currentLeg?.party == scene.carrier.party)
        #expect(!scene.state.isContested)
    }

    /// The taker was offline when the giver took the offer back: it has the load, and the giver says otherwise.
    @Test func contestsAnAcceptanceThatAWithdrawalCameBefore() throws {
        let (scene, half) = try Scene.offered()
        let acceptance = try scene.carrier.accept(half)
        #expect(scene.result(of: try scene.producer.withdraw(half, why: "wrong carrier")) == ["accepted"])
        #expect(scene.result(of: acceptance) == ["offer-withdrawn"])
        #expect(scene.state.contests.map(\.acceptance) == [acceptance.event.hash])
        #expect(scene.state.contests.map(\.party) == [scene.carrier.party])
        #expect(scene.state.currentLeg?.party == scene.producer.party)
    }

    /// The party took the load by the offer that replaced the withdrawn one: nobody disputes that it has it.
    @Test func doesNotContestAWithdrawalWhereTheSamePartyTookAnotherOffer() throws {
        let (scene, half) = try Scene.offered()
        let late = try scene.teller.actor("late", of: "Calder", as: "carrier")
        try scene.referee.enter(late.certificate)
        #expect(scene.result(of: try scene.producer.withdraw(half)) == ["accepted"])
        let again = try scene.producer.offer(to: "carrier")
        scene.referee.receive(from: scene.producer)
        #expect(scene.result(of: try scene.carrier.accept(again)) == ["accepted"])
        #expect(scene.result(of: try late.accept(half)) == ["offer-withdrawn", "not-the-holder"])
        #expect(!scene.state.isContested)
    }

    /// What is refused for anything else too is no second taker.
    @Test func contestsNothingThatIsRefusedForMore() throws {
        let (scene, half) = try Scene.taken()
        let mac = half.mac.map { $0 ^ 1 }
        let altered = try #require(HandoffHalf(statement: half.statement, mac: mac))
        #expect(scene.result(of: try scene.other.accept(altered)) == ["mac-mismatch", "offer-taken"])
        #expect(scene.result(of: try scene.site.accept(half, insisting: true)).contains("offer-taken"))
        #expect(!scene.state.isContested)
        // A verdict without reasons, which no engine gives, says nothing about a second taker.
        let context = DecisionContext(stage: .final, schemes: [scene.teller.scheme]) { _ in .unchecked }
        let (second, again) = try Scene.taken("no reasons")
        var state = second.state
        let acceptance = try second.other.accept(again)
        state.fold(second.referee.arrival(of: acceptance, at: acceptance.event.at), .refused([]), in: context)
        #expect(!state.isContested)
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
        let teller = try StoryTeller("own offer", openedBy: "phone")
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

    /// Somebody else who has seen the code makes an offer of that name, with a MAC that is right for its own device:
    /// it is refused, and settles nothing about the giver's.
    @Test(arguments: [false, true]) func isNotMisledByAnotherDevicesOfferOfTheSameName(isFirst: Bool) throws {
        let scene = try Scene.described("\(#function)\(isFirst)")
        try scene.producer.sign()
        let half = try scene.producer.offer(to: "carrier")
        let offer = try #require(scene.producer.said.last)
        let acceptance = try scene.carrier.accept(half)
        for signed in scene.producer.said.dropLast() { scene.referee.receive(signed, at: signed.event.at) }
        let poison = try poison(half, offer, by: scene.other, in: scene)
        let order = isFirst ? [poison, acceptance, offer] : [acceptance, poison, offer]
        for signed in order.dropLast() {
            #expect(
                scene.result(of: signed) == [
                    signed.event.hash == poison.event.hash ? "not-the-holder carrier" : "waiting"
                ]
            )
        }
        // The attack is one: the MAC is the other device's own.
        #expect(scene.referee.verdict(on: poison)?.handoff?.mac == .matched)
        #expect(scene.referee.verdict(on: acceptance) == .waiting([.offer(half.statement.offer)]))
        #expect(scene.result(of: offer) == ["accepted"])
        #expect(
            scene.referee.verdict(on: acceptance)
                == .accepted(handoff: HandoffFinding(time: .witnessed, mac: .matched))
        )
        #expect(scene.state.currentLeg?.party == scene.carrier.party)
    }

    /// The offer of a code under another device's key: the same name, end, snapshot and role.
    private func poison(
        _ half: HandoffHalf,
        _ signed: SignedEvent,
        by actor: StoryActor,
        in scene: Scene
    ) throws -> SignedEvent {
        guard case .handoffOffered(let genuine) = signed.event.content else { throw StoryError("expected an offer") }
        func offer(_ mac: Digest) -> Offer {
            Offer(
                expires: genuine.expires,
                handoff: genuine.handoff,
                key: actor.handoffKey.id,
                mac: mac,
                id: genuine.id,
                party: genuine.party,
                snapshot: genuine.snapshot,
                to: genuine.to
            )
        }
        let statement = try #require(
            HandoffStatement(
                offer(SHA256.hash([])),
                chain: scene.teller.chain,
                scheme: scene.teller.scheme.reference.hash,
                handoffIndex: half.statement.handoffIndex
            )
        )
        #expect(statement != half.statement && statement.offer == half.statement.offer)
        return try actor.say(.handoffOffered(offer(actor.handoffKey.mac(of: statement))), insisting: true)
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
