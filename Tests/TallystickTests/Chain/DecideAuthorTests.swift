import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// Who says it: certificate, signature, identifiers, numbers, parents and role.
@Suite struct DecideAuthorTests {
    @Test func refusesAnEventThatItsDeviceDidNotSign() throws {
        let scene = try Scene.described()
        let note = try scene.producer.note("Mine")
        let forged = SignedEvent(note.event, by: try Derived.key("somebody"))
        #expect(scene.result(of: forged) == ["bad-signature"])
        // What was forged does not stand in the way of what was signed.
        #expect(scene.result(of: note) == ["accepted"])
    }

    @Test func refusesADeviceWithoutCertificateUntilItHasOne() throws {
        let scene = try Scene.described()
        let stranger = try scene.teller.actor("stranger", of: "Builder", as: "producer")
        let parents = scene.producer.said.suffix(1).map(\.event.hash)
        let note = try stranger.say(.noteAdded(text: "Hello"), parents: parents, insisting: true)
        #expect(scene.result(of: note) == ["unknown-device"])
        try scene.referee.enter(stranger.certificate)
        // The note's device has seen the chain through its parents.
        #expect(scene.result(of: note) == ["accepted"])
    }

    @Test(arguments: [
        ("2026-11-28T23:59:59.999Z", false), ("2026-11-29T00:00:00.000Z", true),
        ("2027-11-30T00:00:00.000Z", true), ("2027-11-30T00:00:00.001Z", false),
    ])
    func refusesDatesOutsideTheCertificate(at: String, isValid: Bool) throws {
        let scene = try Scene.described("\(#function)\(at)")
        let note = try scene.producer.say(.noteAdded(text: "When?"), at: Derived.moment(at), insisting: true)
        #expect(scene.result(of: note) == [isValid ? "accepted" : "certificate-not-valid"])
    }

    @Test func refusesWhatARevokedDeviceSendsButNotWhatItHadSent() throws {
        let scene = try Scene.described()
        let before = try scene.producer.note("Before")
        let after = try scene.producer.note("After")
        #expect(scene.result(of: before) == ["accepted"])
        scene.referee.revoke(scene.producer.device, why: "lost")
        #expect(scene.result(of: after) == ["device-revoked"])
        #expect(scene.referee.verdict(on: before)?.words == ["accepted"])
    }

    @Test func refusesATypeItDoesNotKnowAndKeepsIt() throws {
        let scene = try Scene.described()
        let unknown = EventContent.unknown(type: "seal.broken", version: 1, body: .object([]))
        let event = try scene.producer.say(unknown, insisting: true)
        let next = try scene.producer.note("After it")
        #expect(scene.result(of: event) == ["unsupported-version seal.broken 1"])
        #expect(scene.result(of: next) == ["accepted"])
    }

    @Test func refusesANewerVersionOfATypeItKnows() throws {
        let scene = try Scene.described()
        let body = JSON.object([JSONMember("text", .string("Hello"))])
        let newer = try scene.producer.say(.unknown(type: "note.added", version: 2, body: body), insisting: true)
        #expect(scene.result(of: newer) == ["unsupported-version note.added 2"])
    }

    /// An event whose ancestor waits, waits: also one of an unknown type, or its descendants would lose sight of it.
    @Test func decidesNothingBeforeItsParentsNotEvenAnUnknownType() throws {
        let scene = try Scene.described()
        let earlier = try scene.producer.note("Earlier")
        let unknown = try scene.producer.say(
            .unknown(type: "seal.broken", version: 1, body: .object([])),
            insisting: true
        )
        let later = try scene.producer.note("Later")
        #expect(scene.result(of: unknown) == ["waiting"])
        #expect(scene.result(of: later) == ["waiting"])
        #expect(scene.result(of: earlier) == ["accepted"])
        #expect(scene.referee.verdict(on: unknown)?.words == ["unsupported-version seal.broken 1"])
        #expect(scene.referee.verdict(on: later)?.words == ["accepted"])
        #expect(scene.state.heads == [later.event.hash])
    }

    @Test func refusesAnIdThatItsDeviceHasUsedForOtherBytes() throws {
        let scene = try Scene.described()
        let first = try scene.producer.note("First")
        let second = try scene.producer.say(.noteAdded(text: "Second"), id: first.event.id, insisting: true)
        #expect(scene.result(of: first) == ["accepted"])
        #expect(scene.result(of: second) == ["id-reused"])
    }

    @Test func letsAnotherDeviceUseTheSameId() throws {
        let scene = try Scene.described()
        let yard = try scene.secondProducer()
        let first = try scene.producer.note("First")
        #expect(scene.result(of: first) == ["accepted"])
        #expect(scene.result(of: try yard.say(.noteAdded(text: "Mine"), id: first.event.id)) == ["accepted"])
    }

    @Test func refusesASecondEventOfOneNumberAndKeepsTheFirst() throws {
        let scene = try Scene.described()
        let parents = scene.producer.said.suffix(1).map(\.event.hash)
        let first = try scene.producer.note("First")
        let fork = try scene.producer.say(.noteAdded(text: "Fork"), parents: parents, seq: 3, insisting: true)
        #expect(scene.result(of: first) == ["accepted"])
        #expect(scene.result(of: fork) == ["sequence-forked 3"])
        #expect(scene.state.heads == [first.event.hash])
        #expect(scene.state.event(of: scene.producer.device, seq: 3) == first.event.hash)
    }

    @Test(arguments: [(3, ["accepted"]), (4, ["parents-invalid 4"]), (2, ["sequence-forked 2"])])
    func refusesANumberThatTheParentsDoNotLeadTo(seq: Int, expected: [String]) throws {
        let scene = try Scene.described("\(#function)\(seq)")
        let parents = scene.producer.said.suffix(1).map(\.event.hash)
        let note = try scene.producer.say(.noteAdded(text: "Which?"), parents: parents, seq: seq, insisting: true)
        #expect(scene.result(of: note) == expected)
    }

    @Test func refusesParentsThatLeaveOutTheDevicesOwnPreviousEvent() throws {
        let scene = try Scene.described()
        let opening = scene.producer.said.prefix(1).map(\.event.hash)
        let note = try scene.producer.say(.noteAdded(text: "Skips"), parents: opening, seq: 3, insisting: true)
        #expect(scene.result(of: note) == ["parents-invalid 3"])
    }

    /// A number stands for every earlier one: what skips some does not carry its descendants over the gap.
    @Test func refusesWhatFollowsASkippedNumberToo() throws {
        let scene = try Scene.described()
        let skips = try scene.producer.say(.noteAdded(text: "Nine"), seq: 9, insisting: true)
        let follows = try scene.producer.say(
            .noteAdded(text: "Ten"),
            parents: [skips.event.hash],
            seq: 10,
            insisting: true
        )
        #expect(scene.result(of: skips) == ["parents-invalid 9"])
        #expect(scene.result(of: follows) == ["parents-invalid 10"])
    }

    @Test func refusesARoleThatIsNotOnTheCertificate() throws {
        let scene = try Scene.described()
        let note = try scene.producer.say(
            .noteAdded(text: "As carrier"),
            as: Derived.name("carrier"),
            insisting: true
        )
        #expect(scene.result(of: note) == ["role-not-held carrier", "role-not-held carrier"])
    }

    @Test func refusesSomebodyWhoTakesNoPart() throws {
        let scene = try Scene.described()
        scene.other.learn(from: scene.referee)
        #expect(scene.result(of: try scene.other.note("Me too", insisting: true)) == ["role-not-held carrier"])
    }

    @Test func refusesALegThatTheEventHasNotSeen() throws {
        let (scene, half) = try Scene.taken()
        let second = try scene.teller.actor("second", of: "Calder", as: "carrier")
        try scene.referee.enter(second.certificate)
        let before = [try #require(scene.producer.said.first).event.hash]
        let note = try second.say(.noteAdded(text: "Not seen"), parents: before, insisting: true)
        #expect(scene.result(of: note) == ["role-not-held carrier"])
        second.learn(from: scene.referee)
        #expect(scene.result(of: try second.note("Seen")) == ["accepted"])
        _ = half
    }

    @Test func refusesAFirstWordThatCannotBeOne() throws {
        let scene = try Scene()
        let note = try scene.producer.note("Nothing is open", insisting: true)
        #expect(scene.result(of: note) == ["parents-invalid"])
        // Its descendants are decided on what is left: nothing. They do not wait for what can never count for them.
        #expect(scene.result(of: try scene.producer.note("Still", insisting: true)) == ["role-not-held producer"])
    }
}

/// How a chain begins.
@Suite struct DecideOpeningTests {
    @Test func acceptsAnOpeningByTheRoleThatOpens() throws {
        let scene = try Scene()
        #expect(scene.result(of: try scene.producer.open()) == ["accepted"])
        #expect(scene.state.legs.map(\.number) == [1])
        #expect(scene.state.currentLeg?.party == scene.producer.party)
    }

    @Test func refusesASecondOpening() throws {
        let scene = try Scene.described()
        let yard = try scene.teller.actor("yard", of: "Builder", as: "producer")
        try scene.referee.enter(yard.certificate)
        // Its own device refuses too: the identifier is not its own.
        #expect(yard.refusal { try yard.open() } == ["chain-not-yours"])
        let opening = try yard.say(.chainOpened(scene.teller.scheme.reference), insisting: true)
        #expect(scene.result(of: opening) == ["already-opened", "chain-not-yours"])
        let again = try scene.producer.say(.chainOpened(scene.teller.scheme.reference), insisting: true)
        #expect(scene.result(of: again) == ["already-opened", "parents-invalid"])
    }

    @Test func refusesAnOpeningThatIsNotAFirstWord() throws {
        let scene = try Scene()
        let note = try scene.producer.note("Too early", insisting: true)
        #expect(scene.result(of: note) == ["parents-invalid"])
        let opening = try scene.producer.say(.chainOpened(scene.teller.scheme.reference), insisting: true)
        #expect(scene.result(of: opening) == ["parents-invalid"])
    }

    @Test func refusesASchemeThatIsNotKnownHere() throws {
        let scene = try Scene()
        let known = scene.teller.scheme.reference
        let changed = SchemeReference(id: known.id, version: known.version, hash: SHA256.hash([1]))
        let opening = try scene.producer.say(.chainOpened(changed), insisting: true)
        let next = try scene.producer.note("Anybody?", insisting: true)
        #expect(scene.result(of: opening) == ["scheme-unknown uk-waste-transfer-note version 2"])
        #expect(scene.result(of: next) == ["role-not-held producer"])
        #expect(scene.referee.ledger(of: scene.teller.chain).waiting.isEmpty)
    }

    /// Whoever has seen a code knows the chain; opening it first takes nothing from the device that made it.
    @Test func refusesAnotherDevicesOpeningThoughItComesFirst() throws {
        let scene = try Scene()
        let squatter = try scene.teller.actor("squatter", of: "Squatters", as: "producer")
        let yard = try scene.teller.actor("yard", of: "Builder", as: "producer")
        for actor in [squatter, yard] {
            try scene.referee.enter(actor.certificate)
            let opening = try actor.say(.chainOpened(scene.teller.scheme.reference), insisting: true)
            #expect(scene.result(of: opening) == ["chain-not-yours"])
            #expect(scene.result(of: try actor.note("Ours", insisting: true)) == ["role-not-held producer"])
        }
        #expect(scene.state.opening == nil && scene.state.legs.isEmpty)
        // Also where the true opener has seen the other's words before it says its own.
        let half = try scene.teller.producerOffers(scene.producer)
        try scene.carrier.accept(half)
        for actor in [scene.producer, scene.carrier] {
            for signed in actor.said { #expect(scene.result(of: signed) == ["accepted"]) }
        }
        #expect(scene.state.legs.map(\.party) == [scene.producer.party, scene.carrier.party])
        scene.producer.learn(from: scene.referee)
        #expect(scene.result(of: try scene.producer.note("All here.")) == ["accepted"])
        let created = scene.teller.clock.now
        let record = try scene.referee.record(of: scene.teller.chain, at: created)
        #expect(Audit.report(on: record, trusting: scene.teller.authority.publicKey).isClean)
    }

    @Test func refusesAnOpeningByAnotherRole() throws {
        let scene = try Scene(openedBy: "carrier")
        #expect(
            scene.result(
                of: try scene.carrier.say(
                    .chainOpened(scene.teller.scheme.reference),
                    insisting: true
                )
            ) == ["role-not-held carrier"]
        )
    }
}
