import TallystickTestSupport
import Testing

@testable import Tallystick

/// Admissions, delegations, corrections, links and endings: what comes of them does not depend on who is heard first.
@Suite struct LanguageOrderTests {
    /// A parcel scheme with everything that came after the handoffs.
    private static func scheme() throws -> Scheme {
        var text = ParcelScheme.text
        for (old, new) in [
            (
                "\"title\": \"Sender\", \"opens\": true}",
                "\"title\": \"Sender\", \"opens\": true, \"admits\": [\"agent\"]}"
            ),
            (
                "\"closes\": true}",
                "\"closes\": true}, {\"role\": \"agent\", \"title\": \"Agent\", \"custody\": false}"
            ),
            ("\"maximumLength\": 5}", "\"maximumLength\": 5, \"correct\": [\"carrier\", \"agent\"]}"),
            ("\"statement\": \"I have it.\"", "\"statement\": \"I have it.\", \"delegable\": true"),
            (
                "\"rules\": [],",
                """
                "rules": [], "cancelling": {"roles": ["producer"], "before": ["pickup"]},
                "closing": [{"outcome": "done", "title": "Done", "roles": ["receiver"], "after": ["receiver"]}],
                "links": [{"link": "follows", "kind": "continues", "title": "Follows", "role": "producer"}],
                """
            ),
        ] {
            try #require(text.contains(old), "the scheme has no \(old)")
            text = text.replacing(old, with: new)
        }
        return try Scheme(scheme: Array(text.utf8), codeLists: [("services", Array(ParcelScheme.services.utf8))])
    }

    private struct World {
        let teller: StoryTeller
        let actors: [StoryActor]
    }

    /// Sender, courier, recipient, the agent that the sender admits, and a neighbour who signs for the recipient.
    private static func told(_ name: String) throws -> World {
        let teller = try StoryTeller(name, scheme: scheme())
        let sender = try teller.actor("producer", of: "Sender", as: "producer")
        let courier = try teller.actor("courier", of: "Courier", as: "carrier")
        let recipient = try teller.actor("recipient", of: "Recipient", as: "receiver")
        let agent = try teller.actor("agent", of: "Agent", as: "agent")
        let neighbour = try teller.actor("neighbour", of: "Neighbour", as: "carrier")
        let referee = try teller.referee()
        func step(_ actor: StoryActor, _ body: () throws -> Void) throws {
            actor.learn(from: referee)
            try body()
            referee.receive(from: actor)
            teller.clock.advance(seconds: 60)
        }
        var pickup: HandoffHalf?
        try step(sender) {
            try sender.open()
            try sender.set(["label": .string("A1")])
            try sender.say(.partyAdmitted(party: agent.party, role: Derived.name("agent")))
            try sender.sign()
            let other = try Derived.chain("another", openedBy: Derived.key("elsewhere"), at: teller.clock.now)
            try sender.say(.chainLinked(ChainLink(link: Derived.name("follows"), chain: other)))
            pickup = try sender.offer(to: "carrier")
        }
        var drop: HandoffHalf?
        let scanned = try #require(pickup)
        try step(courier) {
            try courier.accept(scanned)
            try courier.sign("carrier")
            drop = try courier.offer(to: "receiver")
        }
        let path = try #require(FieldPath("label"))
        try step(sender) {
            let change = EventContent.FieldChange(path: path, value: .string("A2"))
            try sender.say(.correctionProposed([change], why: "misread"))
        }
        let correction = try #require(sender.said.last).event.hash
        try step(agent) { try agent.say(.correctionApproved(correction)) }
        try step(courier) { try courier.say(.correctionApproved(correction)) }
        let delivered = try #require(drop)
        try step(recipient) {
            try recipient.accept(delivered)
            let until = try #require(Timestamp(milliseconds: teller.clock.now.milliseconds + 3_600_000))
            try recipient.say(
                .signatureDelegated(signatures: [Derived.name("receiver")], to: neighbour.party, until: until)
            )
        }
        try step(neighbour) {
            let name = try Derived.name("receiver")
            let rule = try #require(teller.scheme.signature(name))
            let parents = neighbour.state.nextParents(of: neighbour.device)
            let snapshot = try #require(neighbour.state.signatureSnapshot(name, by: recipient.party, parents: parents))
            try neighbour.say(
                .signed(
                    signature: name,
                    snapshot: snapshot.hash,
                    statement: rule.statement,
                    .delegate(of: recipient.party)
                ),
                as: Derived.name("receiver")
            )
        }
        try step(recipient) { try recipient.say(.chainClosed(outcome: Derived.name("done"), why: "")) }
        try step(sender) { try sender.note("Thank you.") }
        return World(teller: teller, actors: [sender, courier, recipient, agent, neighbour])
    }

    @Test func endsTheSameInEveryOrder() throws {
        var random = Seed.generator()
        let world = try Self.told("language")
        let arrivals = try ArrivalOrderTests.Arrivals(world.actors, in: world.teller, at: "2026-11-30T08:05:00.000Z")
        let (expected, state) = try arrivals.end(arrivals.byDevice.flatMap { $0 })
        #expect(expected.waiting == 0)
        #expect(expected.verdicts.values.allSatisfy { $0.contains("\"accepted\"") }, "\(expected.verdicts.values)")
        #expect(state.ending?.outcome?.text == "done")
        #expect(state.seats.map(\.role.text) == ["agent"])
        #expect(state.links.count == 1)
        let signature = try #require(state.signatures.first { $0.name.text == "receiver" })
        #expect(signature.party != signature.signer)
        let label = try #require(FieldPath("label"))
        #expect(state.legs.first.flatMap { state.slot(label, on: $0.event) }?.value == .string("A2"))
        guard case .applied = state.corrections.first?.end else {
            Issue.record("expected the correction to be applied")
            return
        }
        for round in 0..<120 {
            let order = round.isMultiple(of: 2) ? arrivals.interleaved(&random) : arrivals.shuffled(&random)
            let (ending, _) = try arrivals.end(order)
            #expect(ending == expected, "round \(round), \(Seed.note)")
            if ending != expected { return }
        }
    }

    /// What a device says offline while the chain is being closed elsewhere stands; the load can not be taken any more,
    /// and who says to have taken it is shown.
    @Test func keepsWhatWasSaidBeforeTheEndWasHeardOf() throws {
        let teller = try StoryTeller("late word", scheme: Self.scheme())
        let sender = try teller.actor("producer", of: "Sender", as: "producer")
        let tablet = try teller.actor("tablet", of: "Sender", as: "producer")
        let courier = try teller.actor("courier", of: "Courier", as: "carrier")
        let referee = try teller.referee()
        try sender.open()
        try sender.set(["label": .string("A1")])
        let half = try sender.offer(to: "carrier")
        referee.receive(from: sender)
        tablet.learn(from: referee)
        try tablet.set(["pieces": .integer(3)])
        try courier.accept(half)
        #expect(
            sender.refusal { try sender.say(.chainCancelled(why: "the buyer has withdrawn")) } == ["outcome-invalid"]
        )
        try sender.withdraw(half)
        try sender.say(.chainCancelled(why: "the buyer has withdrawn"))
        referee.receive(from: sender)
        referee.receive(from: tablet)
        let last = try #require(tablet.said.last)
        #expect(referee.verdict(on: last)?.outcome == .accepted)
        let taken = try #require(courier.said.last)
        referee.receive(from: courier)
        #expect(referee.verdict(on: taken)?.words == ["chain-closed"])
        let state = referee.ledger(of: teller.chain).state
        #expect(state.isContested)
        #expect(state.contests.map(\.acceptance) == [taken.event.hash])
        tablet.learn(from: referee)
        #expect(tablet.refusal { try tablet.set(["pieces": .integer(4)]) } == ["chain-closed"])
        #expect(tablet.refusal { try tablet.note("I had not heard.") } == ["accepted"])
    }
}
