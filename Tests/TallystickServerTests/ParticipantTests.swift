import Tallystick
import TallystickCrypto
import TallystickStore
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// Those who take part without having had the load: admitted to a role, or let sign in another's place.
struct ParticipantTests {
    private let story: FullStory
    private let fixture: ServerFixture

    init() throws {
        story = try FullStory("participants")
        fixture = try ServerFixture(story.teller.certificates)
    }

    private var now: Timestamp { story.teller.clock.now }

    private func events(of party: UniqueID) throws -> [Digest] {
        var seen: Set<Digest> = []
        return try fixture.feed(of: party).compactMap(\.event?.event.hash).filter { seen.insert($0).inserted }
    }

    private func expectAgreement() throws {
        try fixture.expectNoGaps()
        let report = try fixture.store.rebuild(check: true)
        #expect(report.differences == [])
        #expect(report.faults == [])
    }

    // MARK: From when on

    @Test(arguments: [false, true])
    func whoIsLetTakePartIsGivenTheWholeChainFromThere(_ forgets: Bool) throws {
        var pushed: [Digest] = []
        for signed in story.said {
            if forgets { try fixture.store.write { writer in try writer.reload() } }
            let actor = try #require(story.actors.first { $0.device == signed.event.device })
            let result = try fixture.push([signed], from: actor, at: signed.event.at)
            #expect(result.map(\.verdict?.outcome) == [.accepted])
            pushed.append(signed.event.hash)
            let members = Set(story.referee(after: pushed.count).participants)
            for other in story.actors {
                #expect(try events(of: other.party) == (members.contains(other.party) ? pushed : []))
            }
        }
        #expect(pushed.count == story.said.count)
        try expectAgreement()
    }

    @Test func readsTheChainAndItsRecord() throws {
        for signed in story.said { try fixture.push([signed.line], from: signed.event.device, at: signed.event.at) }
        for party in [story.broker.party, story.agent.party] {
            let chain = try #require(try fixture.store.chain(story.teller.chain, for: party))
            #expect(chain["chain"]?["ended"]?.text == "closed")
            #expect(chain["corrections"]?.elements?.count == 4)
            #expect(chain["correction_values"]?.elements?.first?["earlier"] != nil)
            #expect(chain["externals"]?.elements?.first?["identifier"]?.text == "26HRA0B2")
            #expect(chain["devices"]?.elements?.count == 6)
            #expect(try fixture.store.chains(of: party)["chains"]?.elements?.count == 1)
            let record = try #require(try fixture.store.record(of: story.teller.chain, for: party, now: now))
            #expect(Audit.report(on: record, trusting: fixture.store.authority).findings.isEmpty)
        }
        let stranger = try Derived.id("stranger", at: now)
        #expect(try fixture.store.chain(story.teller.chain, for: stranger) == nil)
        #expect(try fixture.store.chains(of: stranger)["chains"]?.elements?.count == 0)
    }

    @Test func theRecordReplaysToTheSameTables() throws {
        for signed in story.said { try fixture.push([signed.line], from: signed.event.device, at: signed.event.at) }
        let record = try #require(try fixture.store.record(of: story.teller.chain, for: nil, now: now))
        let path = TemporaryPath()
        _ = try ProjectionFile.write(record, to: path.path)
        let live = Projections(try Database(path: fixture.path, mode: .readOnly))
        let replayed = Projections(try Database(path: path.path, mode: .readOnly))
        for table in Projections.tables {
            #expect(try live.digest(of: table) == replayed.digest(of: table), "\(table.name)")
        }
    }

    // MARK: Any order

    @Test func whatWasSaidBeforeTheAdmissionCameIsSettledWithIt() throws {
        let broker = Array(story.broker.said.prefix(1))
        let waiting = try fixture.push(broker, from: story.broker, at: now)
        #expect(waiting.map(\.verdict?.outcome) == [.waiting])
        #expect(try events(of: story.producer.party) == [])
        let agent = story.agent.said
        #expect(try fixture.push(agent, from: story.agent, at: now).map(\.verdict?.outcome) == [.waiting])
        try fixture.store.write { writer in try writer.reload() }
        let begun = Array(story.producer.said.prefix(4))
        try fixture.push(begun, from: story.producer, at: now)
        let all = Set((begun + agent + broker).map(\.event.hash))
        for actor in [story.producer, story.agent, story.broker] { #expect(Set(try events(of: actor.party)) == all) }
        #expect(try fixture.number("SELECT count(*) FROM withheld") == 0)
        #expect(try fixture.texts("SELECT way FROM signatures") == ["delegate"])
        try expectAgreement()
    }

    @Test(arguments: 1...8)
    func agreesAfterAnyOrderOfPushes(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var pushes: [(events: [SignedEvent], actor: StoryActor)] = []
        for actor in story.actors {
            var rest = actor.said[...]
            while !rest.isEmpty {
                let piece = rest.prefix(1 + random.below(4))
                rest = rest.dropFirst(piece.count)
                pushes.append((Array(piece), actor))
            }
        }
        pushes.shuffle(using: &random)
        for push in pushes {
            if random.below(4) == 0 { try fixture.store.write { writer in try writer.reload() } }
            try fixture.push(push.events, from: push.actor, at: now)
        }
        try expectAgreement()
        for actor in story.actors { #expect(Set(try events(of: actor.party)).count == story.said.count) }
        #expect(try fixture.number("SELECT count(*) FROM waiting") == 0)
        let record = try #require(try fixture.store.record(of: story.teller.chain, for: nil, now: now))
        #expect(Audit.report(on: record, trusting: fixture.store.authority).findings.isEmpty)
    }

    // MARK: Strangers

    @Test func anAdmissionOfAPartyThatThisServerDoesNotKnowStands() throws {
        let teller = try StoryTeller("unknown", scheme: FullStory.scheme.get(), openedBy: "producer-phone")
        let producer = try teller.actor("producer-phone", of: "Builder", as: "producer")
        let fixture = try ServerFixture(teller.certificates)
        let nobody = try Derived.id("nobody", at: teller.clock.now)
        try producer.open()
        try producer.say(.partyAdmitted(party: nobody, role: try Derived.name("broker")))
        try producer.say(
            .signatureDelegated(
                signatures: [producer.role],
                to: nobody,
                until: try Derived.moment("2026-12-01T08:00:00.000Z")
            )
        )
        try producer.note("Anybody there?")
        let results = try fixture.push(producer.said, from: producer, at: teller.clock.now)
        #expect(results.allSatisfy { $0.status == .taken && $0.verdict?.outcome == .accepted })
        #expect(try fixture.feed(of: producer.party).count == 4)
        #expect(try fixture.feed(of: nobody).isEmpty)
        try fixture.store.write { writer in try writer.reload() }
        try producer.note("No.")
        #expect(try fixture.push(producer.said, from: producer, at: teller.clock.now).last?.status == .taken)
        #expect(try fixture.store.rebuild(check: true).isClean)
    }

    @Test func whoTakesPartHasNoBoundOnWhatIsRefused() throws {
        var limits = ServerLimits()
        limits.refusedPerOutsider = 2
        let fixture = try ServerFixture(story.teller.certificates, limits: limits)
        for signed in story.said { try fixture.push([signed.line], from: signed.event.device, at: signed.event.at) }
        for number in 0..<4 {
            try story.broker.set(["carrierName": .string("Not mine to say \(number)")], insisting: true)
        }
        let results = try fixture.push(story.broker.said, from: story.broker, at: now)
        #expect(results.suffix(4).allSatisfy { $0.status == .taken && $0.verdict?.outcome == .refused })
    }
}

extension FullStory {
    /// What the chain had come to after so many of the events heard.
    fileprivate func referee(after count: Int) -> ChainState {
        var ledger = ChainLedger(chain: teller.chain)
        let context = DecisionContext(stage: .final, schemes: [teller.scheme]) { _ in .matched }
        for decision in referee.decisions(of: teller.chain).prefix(count) {
            _ = ledger.receive(decision.arrival, in: context)
        }
        return ledger.state
    }
}
