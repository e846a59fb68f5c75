import Tallystick
import TallystickCrypto
import Testing

@testable import TallystickDevice

@Suite("Letting parties take part and sign")
struct PartyActsTests {
    private let broker = World.name("broker")
    private let producer = World.name("producer")

    private func until(_ world: World, hours: Int64) throws -> Timestamp {
        try #require(Timestamp(milliseconds: world.clock.milliseconds + hours * 3_600_000))
    }

    @Test("admits a broker, who then reads, sets, remarks and is shown")
    func admits() throws {
        let world = try World()
        let owner = try world.device("producer", roles: ["producer"])
        let other = try world.device("broker", roles: ["broker"])
        let chain = try owner.openChain(scheme: World.waste, values: Values.producer).chain
        _ = try owner.admit(chain, other.certificate.party, as: broker)
        // Its certificate has not come, so it is known by its identifier only.
        let seat = try #require(try owner.view(chain).seats.first)
        #expect(seat.party.name == nil)
        #expect(seat.party.id == other.certificate.party)
        #expect(seat.role == broker && seat.number == nil && !seat.isCurrent)
        #expect(try owner.view(chain).legs.count == 1)

        try world.sync(owner, other)
        #expect(try other.roles(in: chain) == [broker])
        #expect(try other.chains().map(\.role) == ["broker"])
        _ = try other.set(chain, Values.changes([("brokerNumber", .string("CBDU987654"))]))
        _ = try other.note(chain, "Morning collection wanted")
        try world.sync(other, owner)
        let view = try owner.view(chain)
        #expect(view.seats.first?.party.name == "The broker")
        #expect(view.seats.first?.fields.map(\.path.description) == ["brokerNumber"])
        #expect(view.notes.map(\.role) == [broker])
        #expect(view.holder?.name == "The producer")
        #expect(try other.view(chain).badge == .confirmed)
        #expect(try owner.party(named: "The broker") == other.certificate.party)
    }

    @Test("admits nobody twice, into no other role, and not by those who may not")
    func refusesToAdmit() throws {
        let story = try World.delivered()
        let party = try story.world.party()
        _ = try story.producer.admit(story.chain, party, as: broker)
        #expect(
            deviceError { try story.producer.admit(story.chain, party, as: broker) }?.reasons.map(\.code)
                == [.roleInvalid]
        )
        #expect(
            deviceError { try story.receiver.admit(story.chain, party, as: broker) }?.reasons.map(\.code)
                == [.roleInvalid]
        )
        #expect(
            deviceError { try story.producer.admit(story.chain, party, as: World.name("carrier")) }?.reasons.map(\.code)
                == [.roleInvalid]
        )
        let unknown = deviceError { try story.producer.admit(story.chain, party, as: World.name("brokr")) }
        #expect(unknown?.code == .badInput)
        #expect(unknown?.remedy.contains("broker") == true)
        let nowhere = try story.world.party()
        #expect(deviceError { try story.producer.admit(nowhere, party, as: broker) }?.code == .chainUnknown)
    }

    @Test("lets a delegate sign, and keeps both names")
    func delegates() throws {
        let world = try World()
        let owner = try world.device("producer", roles: ["producer"])
        let agent = try world.device("agent", roles: ["carrier"])
        let chain = try owner.openChain(scheme: World.waste, values: Values.producer).chain
        _ = try owner.delegate(chain, [producer], to: agent.certificate.party, until: try until(world, hours: 8))
        try world.sync(owner, agent)
        #expect(try agent.chains().map(\.role) == ["producer"])
        #expect(try agent.view(chain).delegations.map(\.to.isOwn) == [true])
        // Signing for another is never a guess.
        let own = deviceError { try agent.sign(chain) }
        #expect(own?.code == .nothingToDo)
        #expect(own?.remedy.contains("--for 'The producer'") == true)

        let principal = try agent.party(named: "The producer")
        #expect(try agent.signatureToGive(in: chain, as: nil, .delegate(of: principal)).name == producer)
        _ = try agent.sign(chain, as: nil, .delegate(of: principal))
        try world.sync(agent, owner)
        let signature = try #require(try owner.view(chain).legs.first?.signatures.first)
        #expect(signature.party.name == "The producer")
        #expect(signature.signer.name == "The agent")
        #expect(signature.way == .delegate(of: principal))
        #expect(try agent.view(chain).badge == .confirmed)
        #expect(try owner.view(chain).legs.first?.fields.allSatisfy { $0.isSealed } == true)
        // It was given, so there is nothing more to sign.
        #expect(
            deviceError { try agent.sign(chain, as: nil, .delegate(of: principal)) }?.reasons.map(\.code)
                == [.alreadySigned]
        )
    }

    @Test("guesses the only signature with something to sign, and says what else could be signed")
    func guessesWhatToSign() throws {
        let story = try World.delivered()
        // The carrier has signed for its leg; the schedule of a season ticket is empty.
        let nothing = deviceError { try story.carrier.sign(story.chain) }
        #expect(nothing?.code == .nothingToDo)
        #expect(nothing?.remedy.contains("schedule") == true)
        let until = try until(story.world, hours: 1)
        _ = try story.receiver.set(story.chain, Values.weighed("2.5"))
        _ = try story.receiver.delegate(
            story.chain,
            [World.name("receiver")],
            to: story.carrier.certificate.party,
            until: until
        )
        try story.world.sync(story.receiver, story.carrier)
        let asked = deviceError { try story.carrier.sign(story.chain) }
        #expect(asked?.remedy.contains("--for 'The receiver'") == true)
        let way = SigningWay.delegate(of: story.receiver.certificate.party)
        #expect(try story.carrier.sign(story.chain, as: nil, way).events.count == 1)
        #expect(deviceError { try story.carrier.sign(story.chain) }?.remedy.contains("schedule") == true)
        let moved = Values.changes([
            ("scheduleItems/1/movedAt", .string("2026-11-30T06:30:00.000Z")),
            ("scheduleItems/1/amount", .members([("amount", .string("2")), ("unit", .string("pieces"))])),
        ])
        _ = try story.carrier.set(story.chain, moved)
        #expect(try story.carrier.signatureToGive(in: story.chain, as: nil).name.text == "schedule")
    }

    @Test("signs for nobody who has not let it, after the time, or what was not named")
    func refusesDelegates() throws {
        let world = try World()
        let owner = try world.device("producer", roles: ["producer"])
        let agent = try world.device("agent", roles: ["carrier"])
        let stranger = try world.device("stranger", roles: ["broker"])
        let chain = try owner.openChain(scheme: World.waste, values: Values.producer).chain
        _ = try owner.delegate(chain, [producer], to: agent.certificate.party, until: try until(world, hours: 8))
        _ = try owner.admit(chain, stranger.certificate.party, as: broker)
        try world.sync(owner, agent, stranger)
        let way = SigningWay.delegate(of: owner.certificate.party)
        #expect(deviceError { try stranger.sign(chain, as: producer, way) }?.reasons.map(\.code) == [.notDelegated])
        #expect(deviceError { try stranger.sign(chain, as: nil, way) }?.code == .nothingToDo)
        world.clock.advance(seconds: 8 * 3_600 + 1)
        #expect(deviceError { try agent.sign(chain, as: producer, way) }?.reasons.map(\.code) == [.notDelegated])
    }

    @Test("delegates no signature that the scheme wants from the party itself, none of others, and not for years")
    func refusesToDelegate() throws {
        let story = try World.delivered()
        let party = try story.world.party()
        let soon = try until(story.world, hours: 8)
        func codes(_ name: String, until end: Timestamp, to other: UniqueID? = nil) -> [ReasonCode]? {
            deviceError {
                try story.carrier.delegate(story.chain, [World.name(name)], to: other ?? party, until: end)
            }?.reasons.map(\.code)
        }
        #expect(codes("schedule", until: soon) == [.delegationInvalid])
        #expect(codes("producer", until: soon)?.allSatisfy { $0 == .roleNotHeld } == true)
        #expect(codes("carrier", until: try until(story.world, hours: 24 * 400)) == [.delegationInvalid])
        #expect(codes("carrier", until: soon, to: story.carrier.certificate.party) == [.delegationInvalid])
        let unknown = deviceError {
            try story.carrier.delegate(story.chain, [World.name("driver")], to: party, until: soon)
        }
        #expect(unknown?.code == .badInput)
        #expect(unknown?.remedy.contains("carrier") == true)
        _ = try story.carrier.delegate(story.chain, [World.name("carrier")], to: party, until: soon)
        #expect(try story.carrier.view(story.chain).delegations.map(\.from.name) == ["The carrier"])
    }
}
