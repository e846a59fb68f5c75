import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// What those say who take no part in a chain: kept, answered, and given to nobody else.
struct OutsiderTests {
    private let story: Untold
    private let stranger: StoryActor
    private let fixture: ServerFixture

    init() throws {
        story = try Untold("outsiders")
        stranger = try story.teller.actor("stranger", of: "Stranger", as: "carrier")
        fixture = try story.fixture()
    }

    private func rubbish(_ count: Int) throws -> [SignedEvent] {
        try (0..<count).map { try stranger.say(.noteAdded(text: "spam \($0)"), parents: [], insisting: true) }
    }

    private func push(_ actor: StoryActor) throws {
        try fixture.push(actor.said, from: actor, at: story.now)
    }

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

    // MARK: Feeds

    @Test(arguments: [false, true])
    func whatIsRefusedToAnOutsiderReachesOnlyItsOwnParty(_ forgets: Bool) throws {
        try push(story.producer)
        let before = try fixture.feed(of: story.producer.party).count
        let notes = try rubbish(100)
        let results = try fixture.push(notes, from: stranger, at: story.now)
        #expect(results.allSatisfy { $0.status == .taken && $0.verdict?.outcome == .refused })
        #expect(try fixture.feed(of: story.producer.party).count == before)
        #expect(try events(of: stranger.party) == notes.map(\.event.hash))
        if forgets { try fixture.store.write { writer in try writer.reload() } }
        // Who joins later gets the chain, and nothing of that.
        try push(story.first)
        #expect(try events(of: story.first.party) == (story.producer.said + story.first.said).map(\.event.hash))
        #expect(try events(of: story.producer.party) == (story.producer.said + story.first.said).map(\.event.hash))
        // It stays in the log and in the record.
        let record = try #require(try fixture.store.record(of: story.chain, for: story.first.party, now: story.now))
        let audit = Audit.report(on: record, trusting: fixture.store.authority)
        #expect(audit.findings.isEmpty)
        for note in notes { #expect(String(decoding: record, as: UTF8.self).contains(note.event.hash.hex)) }
        try expectAgreement()
    }

    @Test func whatWaitsOfAnOutsiderReachesOthersOnceItTakesPart() throws {
        try fixture.push(Array(story.producer.said.prefix(2)), from: story.producer, at: story.now)
        try push(story.first)
        #expect(try events(of: story.producer.party) == story.producer.said.prefix(2).map(\.event.hash))
        #expect(try events(of: story.first.party) == story.first.said.map(\.event.hash))
        try fixture.store.write { writer in try writer.reload() }
        try push(story.producer)
        let all = Set((story.producer.said + story.first.said).map(\.event.hash))
        #expect(Set(try events(of: story.producer.party)) == all)
        #expect(Set(try events(of: story.first.party)) == all)
        #expect(try fixture.number("SELECT count(*) FROM withheld") == 0)
        try expectAgreement()
    }

    @Test func theChainsPartiesSeeAnAcceptanceThatContestsAndNothingElseOfIt() throws {
        for actor in [story.producer, story.first, story.rival] { try push(actor) }
        for party in [story.producer.party, story.first.party] {
            let seen = try events(of: party)
            #expect(seen.contains(story.rival.said[0].event.hash))
            #expect(!seen.contains(story.rival.said[1].event.hash))
        }
        try expectAgreement()
    }

    @Test func aContestingAcceptanceBringsNoRubbishWithIt() throws {
        let notes = try (0..<20).map { try stranger.note("linked \($0)", insisting: true) }
        let half = try #require(
            story.first.said.compactMap { signed -> HandoffHalf? in
                if case .handoffAccepted(let half) = signed.event.content { half } else { nil }
            }.first
        )
        let scanned = story.first.said[0].event.at
        let acceptance = try stranger.say(.handoffAccepted(half), at: scanned, insisting: true)
        for actor in [story.producer, story.first, stranger] { try push(actor) }
        let seen = try events(of: story.producer.party)
        #expect(seen.contains(acceptance.event.hash))
        #expect(Set(seen).isDisjoint(with: notes.map(\.event.hash)))
        try expectAgreement()
    }

    @Test func whatAPartySaidBeforeItJoinedComesWithWhatItSaysAfter() throws {
        let teller = try StoryTeller("early", openedBy: "producer-phone")
        let producer = try teller.actor("producer-phone", of: "Builder", as: "producer")
        let carrier = try teller.actor("carrier-phone", of: "Calder", as: "carrier")
        let site = try teller.actor("site-phone", of: "Holbeck", as: "receiver")
        let fixture = try ServerFixture(teller.certificates)
        let half = try teller.producerOffers(producer)
        let early = try carrier.note("We are on our way.", insisting: true)
        try fixture.push(producer.said, from: producer, at: teller.clock.now)
        try fixture.push([early], from: carrier, at: teller.clock.now)
        let delivery = try teller.carrierTakes(carrier, half, SampleValues.carrier, offeringTo: "receiver")
        try teller.siteTakes(site, delivery)
        #expect(try fixture.feed(of: producer.party).count == producer.said.count)
        try fixture.push(carrier.said, from: carrier, at: teller.clock.now)
        try fixture.push(site.said, from: site, at: teller.clock.now)
        let whole = try folded(
            fixture.store.entries(from: 1, limit: 10_000),
            of: teller,
            among: [producer, carrier, site]
        )
        #expect(whole.legs.count == 3)
        for actor in [producer, carrier, site] {
            let items = try fixture.feed(of: actor.party).map { ($0.entry, $0.event) }
            #expect(items.contains { $0.1?.event.hash == early.event.hash })
            let state = try folded(items, of: teller, among: [producer, carrier, site])
            expectSame(state, whole)
        }
        #expect(try fixture.store.rebuild(check: true).isClean)
    }

    /// Pushes in any order, with outsiders, whose words a participant also cites: every participant folds from its
    /// feed what the server folds.
    @Test(arguments: 1...10)
    func everyPartyFoldsFromItsFeedWhatTheServerFolds(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let notes = try (0..<6).map { try stranger.note("linked \($0)", insisting: true) }
        let last = story.producer.state.nextParents(of: story.producer.device)
        // A device that has been given the note by other means: this one would not say it.
        let seq = story.producer.said.count + 1
        let parents = ([notes[5].event.hash] + last).sorted()
        let cites = try story.producer.say(.noteAdded(text: "I saw."), parents: parents, seq: seq, insisting: true)
        let after = [cites.event.hash]
        try story.producer.say(.noteAdded(text: "And this."), parents: after, seq: seq + 1, insisting: true)
        let actors = story.actors + [stranger]
        var pushes: [(events: [SignedEvent], actor: StoryActor)] = []
        for actor in actors {
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
            try fixture.push(push.events, from: push.actor, at: story.now)
        }
        try expectAgreement()
        let whole = try folded(fixture.store.entries(from: 1, limit: 10_000), of: story.teller, among: actors)
        // Who comes first of the two takers has the load; only the one has said where it goes.
        #expect((2...3).contains(whole.legs.count))
        #expect(whole.notes.map(\.text).filter { $0 != "We have the load." } == ["I saw.", "And this."])
        for leg in whole.legs {
            let items = try fixture.feed(of: leg.party).map { ($0.entry, $0.event) }
            expectSame(try folded(items, of: story.teller, among: actors), whole)
            // Nothing that was accepted comes without what it says to follow.
            let seen = Set(items.compactMap { $0.1?.event.hash })
            for (entry, signed) in items {
                guard case .verdict(let entry) = entry.content, entry.verdict.outcome == .accepted else { continue }
                #expect(seen.isSuperset(of: signed?.event.parents ?? []))
            }
        }
    }

    private func folded(
        _ items: [(entry: LogEntry, event: SignedEvent?)],
        of teller: StoryTeller,
        among actors: [StoryActor]
    ) throws -> ChainState {
        // An event that waited is only with its first entry where the log itself is read.
        let events = Dictionary(items.compactMap { $0.event.map { ($0.event.hash, $0.event) } }) { first, _ in first }
        let verdicts = items.compactMap { item -> LogEntry.EventVerdict? in
            if case .verdict(let verdict) = item.entry.content, verdict.verdict.outcome != .waiting {
                verdict
            } else {
                nil
            }
        }
        let context = DecisionContext(stage: .provisional, schemes: [teller.scheme]) { _ in .unchecked }
        var state = ChainState(chain: teller.chain)
        for verdict in verdicts.sorted(by: { $0.number < $1.number }) {
            let event = try #require(events[verdict.event])
            let arrival = Arrival(
                event: event,
                certificate: actors.first { $0.device == event.device }?.certificate,
                isRevoked: false,
                isSignatureValid: true,
                received: verdict.received
            )
            state.fold(arrival, verdict.verdict, in: context)
        }
        return state
    }

    private func expectSame(_ state: ChainState, _ whole: ChainState) {
        #expect(state.legs.map(\.event) == whole.legs.map(\.event))
        for leg in whole.legs { #expect(state.values(of: leg.event) == whole.values(of: leg.event)) }
        #expect(state.signatures.map(\.event) == whole.signatures.map(\.event))
        #expect(state.contests.map(\.acceptance) == whole.contests.map(\.acceptance))
        #expect(state.notes.map(\.event) == whole.notes.map(\.event))
    }

    // MARK: The bound

    @Test(arguments: [false, true])
    func putsOffWhatWouldBeRefusedToAnOutsiderBeyondTheBound(_ forgets: Bool) throws {
        var limits = ServerLimits()
        limits.refusedPerOutsider = 3
        let fixture = try story.fixture(limits: limits)
        try fixture.push(story.producer.said, from: story.producer, at: story.now)
        let notes = try rubbish(5)
        #expect(try fixture.push([notes[0]], from: stranger, at: story.now).map(\.status) == [.taken])
        if forgets { try fixture.store.write { writer in try writer.reload() } }
        let results = try fixture.push(notes, from: stranger, at: story.now)
        #expect(results.map(\.status) == [.known, .taken, .taken, .deferred, .deferred])
        #expect(results.suffix(2).allSatisfy { $0.entry == nil })
        // Those who take part have no such bound, and what can be accepted is taken.
        for text in 0..<5 {
            try story.producer.set(["carrierName": .string("Not mine to say \(text)")], insisting: true)
        }
        let mine = try fixture.push(story.producer.said, from: story.producer, at: story.now)
        #expect(mine.suffix(5).allSatisfy { $0.status == .taken && $0.verdict?.outcome == .refused })
        let joined = try fixture.push(story.first.said, from: story.first, at: story.now)
        #expect(joined.allSatisfy { $0.status == .taken && $0.verdict?.outcome == .accepted })
        // In another chain the device begins anew.
        let other = try Untold("outsiders-elsewhere")
        let elsewhere = try other.teller.actor("stranger", of: "Stranger", as: "carrier")
        try fixture.admit(other.teller.certificates)
        try fixture.push(other.producer.said, from: other.producer, at: other.now)
        let there = try (0..<4).map { try elsewhere.note("spam \($0)", insisting: true) }
        #expect(
            try fixture.push(there, from: elsewhere, at: other.now).map(\.status) == [
                .taken, .taken, .taken, .deferred,
            ]
        )
        #expect(try fixture.store.rebuild(check: true).isClean)
    }

    @Test func tellsTheBound() throws {
        #expect(ServerLimits().refusedPerOutsider == 200)
        let clock = story.teller.clock
        let client = Client(Server(store: fixture.store, clock: { clock.now }))
        #expect(try Client.json(client.get("v1/server"))["limits"]?["refusedPerOutsider"]?.integer == 200)
    }
}
