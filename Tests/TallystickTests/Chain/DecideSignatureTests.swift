import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// Signatures: whose, over what, after which, and what the scheme asks for.
@Suite struct DecideSignatureTests {
    @Test func acceptsASignatureOverWhatTheSignerSaw() throws {
        let scene = try Scene.described()
        #expect(scene.result(of: try scene.producer.sign()) == ["accepted"])
        #expect(scene.state.signatures.map(\.name.text) == ["producer"])
    }

    @Test(arguments: [
        (["sicCode"], ["missing-field sicCode"]), (["wasteItems/1"], ["missing-field wasteItems"]),
        (
            ["wasteItems/1/quantity", "transferAt"],
            ["missing-field transferAt", "missing-field wasteItems/1/quantity"]
        ),
    ])
    func refusesWithoutAFieldThatMustBeThere(cleared: [String], expected: [String]) throws {
        let scene = try Scene.described("\(#function)\(cleared)")
        try scene.producer.set(Dictionary(uniqueKeysWithValues: cleared.map { ($0, JSON.null) }))
        scene.referee.receive(from: scene.producer)
        #expect(scene.producer.refusal { try scene.producer.sign() } == expected)
        #expect(scene.result(of: try scene.producer.sign(insisting: true)) == expected)
    }

    @Test func refusesAFieldThatMustNotBeThere() throws {
        let (scene, _) = try Scene.taken()
        var values = SampleValues.carrier
        values["noRegistrationReason"] = .string("ON_SITE")
        try scene.carrier.set(values)
        scene.referee.receive(from: scene.carrier)
        #expect(
            scene.result(of: try scene.carrier.sign(insisting: true)) == ["forbidden-field noRegistrationReason"]
        )
    }

    @Test func refusesWhatARuleDoesNotAllow() throws {
        let scene = try Scene.described()
        try scene.producer.set(["wasteItems/1/ewcCodes": .strings(["170903"])])
        scene.referee.receive(from: scene.producer)
        #expect(scene.result(of: try scene.producer.sign(insisting: true)) == ["rule-broken wasteItems/1/ewcCodes"])
    }

    @Test func acceptsWithAWarning() throws {
        let scene = try Scene.described()
        try scene.producer.set(["producerCapacity": .strings(["permit-holder"])])
        scene.referee.receive(from: scene.producer)
        let verdict = try #require(scene.verdict(on: try scene.producer.sign()))
        #expect(verdict.outcome == .accepted)
        #expect(verdict.warnings.map(\.words) == ["missing-field producerNumbers"])
        #expect(scene.state.signatures.first?.warnings == verdict.warnings)
    }

    @Test func refusesASecondSignatureOfOneNameOnOneLeg() throws {
        let (scene, _) = try Scene.offered()
        #expect(scene.result(of: try scene.producer.sign(insisting: true)) == ["already-signed producer"])
    }

    @Test func refusesASignatureOfAnotherRole() throws {
        let scene = try Scene.described()
        let statement = try #require(scene.teller.scheme.signatures.last).statement
        let content = EventContent.signed(
            signature: try Derived.name("receiver"),
            snapshot: SHA256.hash([]),
            statement: statement
        )
        #expect(scene.result(of: try scene.producer.say(content, insisting: true)) == ["not-your-signature receiver"])
        let unknown = EventContent.signed(
            signature: try Derived.name("witness"),
            snapshot: SHA256.hash([]),
            statement: statement
        )
        #expect(scene.result(of: try scene.producer.say(unknown, insisting: true)) == ["not-your-signature witness"])
    }

    @Test func refusesAnotherSnapshotThanTheEventsGive() throws {
        let scene = try Scene.described()
        let rule = try #require(scene.teller.scheme.signatures.first)
        let content = EventContent.signed(
            signature: rule.name,
            snapshot: SHA256.hash([]),
            statement: rule.statement
        )
        #expect(scene.result(of: try scene.producer.say(content, insisting: true)) == ["snapshot-mismatch producer"])
    }

    @Test func refusesOtherWordsThanTheSchemes() throws {
        let scene = try Scene.described()
        let rule = try #require(scene.teller.scheme.signatures.first)
        let parents = scene.producer.state.nextParents(of: scene.producer.device)
        let snapshot = scene.producer.state.signatureSnapshot(
            rule.name,
            by: scene.producer.party,
            parents: parents
        )
        let content = EventContent.signed(
            signature: rule.name,
            snapshot: try #require(snapshot).hash,
            statement: "I promise nothing."
        )
        #expect(scene.result(of: try scene.producer.say(content, insisting: true)) == ["snapshot-mismatch producer"])
    }

    @Test func waitsForASignatureThatMayStillBeOnSomebodysDevice() throws {
        let scene = try Scene("waits", scheme: ParcelScheme.read())
        try scene.producer.open()
        let half = try scene.producer.offer(to: "carrier")
        scene.referee.receive(from: scene.producer)
        try scene.carrier.accept(half)
        try scene.carrier.set(["van": .string("3")])
        let signed = try scene.carrier.sign()
        scene.referee.receive(from: scene.carrier)
        let verdict = try #require(scene.referee.verdict(on: signed))
        #expect(verdict == .waiting([.signature(try Derived.name("producer"))]))
        #expect(scene.result(of: try scene.producer.sign()) == ["accepted"])
        #expect(scene.referee.verdict(on: signed)?.words == ["accepted"])
    }

    /// A device that took the load by code alone lets the server judge; one that knows the chain does not sign early.
    @Test func refusesOnTheDeviceWhatItKnowsToBeTooEarly() throws {
        let scene = try Scene("early", scheme: ParcelScheme.read())
        try scene.producer.open()
        let half = try scene.producer.offer(to: "carrier")
        scene.referee.receive(from: scene.producer)
        scene.carrier.learn(from: scene.referee)
        try scene.carrier.accept(half)
        #expect(scene.carrier.refusal { try scene.carrier.sign() } == ["signature-out-of-order producer"])
    }

    @Test func neverWaitsForTheSignersOwnEarlierSignature() throws {
        let scene = try Scene("own", scheme: ParcelScheme.read())
        try scene.producer.open()
        scene.referee.receive(from: scene.producer)
        #expect(
            scene.result(of: try scene.producer.sign("seal", insisting: true)) == ["signature-out-of-order producer"]
        )
        #expect(scene.result(of: try scene.producer.sign()) == ["accepted"])
        #expect(scene.result(of: try scene.producer.sign("seal")) == ["accepted"])
    }

    @Test func keepsSigningOverAnEventItCannotReadToNewerPrograms() throws {
        let scene = try Scene.described()
        // A newer server has accepted what this device cannot read.
        let unknown = EventContent.unknown(type: "seal.broken", version: 1, body: .object([]))
        let event = try scene.producer.say(unknown, insisting: true)
        var state = scene.state
        let context = DecisionContext(stage: .provisional, schemes: [scene.teller.scheme]) { _ in .unchecked }
        state.fold(scene.referee.arrival(of: event, at: event.event.at), .accepted(), in: context)
        let signed = try scene.producer.sign()
        let arrival = scene.referee.arrival(of: signed, at: signed.event.at)
        #expect(state.decide(arrival, in: context).words == ["unsupported-version"])
    }

    @Test(arguments: [
        ("7.5", "t", false), ("7500", "kg", false), ("7.875", "t", false), ("7875000", "g", false),
        ("7.125", "t", false), ("7.875001", "t", true), ("7124999", "g", true), ("7.124999", "t", true),
        ("0.1", "g", true),
    ])
    func warnsWhenReceivedDiffersByMoreThanFivePercent(amount: String, unit: String, differs: Bool) throws {
        let teller = try StoryTeller("five percent \(amount) \(unit)")
        let producer = try teller.actor("producer", of: "Builder", as: "producer")
        let carrier = try teller.actor("carrier", of: "Calder", as: "carrier")
        let site = try teller.actor("site", of: "Holbeck", as: "receiver")
        let referee = try teller.referee()
        let collection = try teller.producerOffers(producer)
        let delivery = try teller.carrierTakes(carrier, collection, SampleValues.carrier, offeringTo: "receiver")
        try teller.siteTakes(site, delivery, SampleValues.received(SampleValues.quantity(amount, unit)))
        referee.receive(from: producer, carrier, site)
        let verdict = try #require(referee.verdict(on: try present(site.said.last)))
        #expect(verdict.outcome == .accepted)
        #expect(verdict.warnings.map(\.words) == (differs ? ["discrepancy received-differs"] : []))
    }
}
