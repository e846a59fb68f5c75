import Tallystick
import TallystickCrypto
import TallystickStore
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// What each party gets to see.
struct FeedTests {
    private let story: Untold
    private let fixture: ServerFixture

    init() throws {
        story = try Untold("feeds")
        fixture = try story.fixture()
    }

    private func events(of party: UniqueID) throws -> [Digest] {
        var seen: Set<Digest> = []
        return try fixture.feed(of: party).compactMap(\.event?.event.hash).filter { seen.insert($0).inserted }
    }

    @Test func aTakerWhoJoinsLateGetsTheWholeChain() throws {
        try fixture.push(story.producer.said, from: story.producer, at: story.now)
        #expect(try fixture.feed(of: story.first.party).isEmpty)
        try fixture.push(story.first.said, from: story.first, at: story.now)
        let expected = story.producer.said + story.first.said
        #expect(try events(of: story.first.party) == expected.map(\.event.hash))
        #expect(try events(of: story.producer.party) == expected.map(\.event.hash))
        #expect(try fixture.feed(of: story.site.party).isEmpty)
    }

    @Test func aTakerWhoWasHeardFirstMissesNothing() throws {
        try fixture.push(story.first.said, from: story.first, at: story.now)
        let waiting = try fixture.feed(of: story.first.party)
        #expect(waiting.count == story.first.said.count)
        try fixture.push(story.producer.said, from: story.producer, at: story.now)
        let items = try fixture.feed(of: story.first.party)
        #expect(items.prefix(waiting.count).map(\.entry) == waiting.map(\.entry))
        // Every entry of the chain, each once.
        let positions = items.map(\.entry.position)
        #expect(Set(positions).count == positions.count)
        let all = try fixture.store.entries(from: 1, limit: 1_000).compactMap { line -> Int? in
            guard case .verdict = line.entry.content else { return nil }
            return line.entry.position
        }
        #expect(positions.sorted() == all)
        #expect(try fixture.feed(of: story.producer.party).map(\.entry.position).sorted() == all)
    }

    @Test func whoWasRefusedSeesOnlyTheVerdictsOnItsOwn() throws {
        for actor in [story.producer, story.first, story.rival] {
            try fixture.push(actor.said, from: actor, at: story.now)
        }
        #expect(try events(of: story.rival.party) == story.rival.said.map(\.event.hash))
        let outcomes = try fixture.feed(of: story.rival.party).map { item -> Verdict.Outcome? in
            guard case .verdict(let entry) = item.entry.content else { return nil }
            return entry.verdict.outcome
        }
        #expect(outcomes.allSatisfy { $0 == .refused })
        // The others see that somebody else claims the load.
        #expect(try events(of: story.producer.party).contains(story.rival.said[0].event.hash))
    }

    @Test(arguments: [1, 2, 3, 500])
    func pagesFollowEachOtherWithoutGaps(_ limit: Int) throws {
        for actor in story.actors { try fixture.push(actor.said, from: actor, at: story.now) }
        let whole = try fixture.feed(of: story.producer.party)
        #expect(try fixture.feed(of: story.producer.party, by: limit).map(\.entry) == whole.map(\.entry))
    }

    @Test func pagesStayWithinTheirSize() throws {
        let text = String(repeating: "A note that takes some room. ", count: 250)
        for _ in 0..<160 { try story.producer.note(text) }
        for start in stride(from: 0, to: story.producer.said.count, by: 100) {
            let events = Array(story.producer.said.dropFirst(start).prefix(100))
            try fixture.push(events, from: story.producer, at: story.now)
        }
        let line = try fixture.store.pull(party: story.producer.party, after: 0, limit: 500, now: story.now)
        let page = try PullPage(line: line, signedBy: fixture.store.authority)
        #expect(page.hasMore)
        #expect(line.count < (1 << 20) + 100_000)
        #expect(try fixture.feed(of: story.producer.party).count == story.producer.said.count)
    }

    @Test func splicedLinesAreThoseTheEngineSigns() throws {
        for actor in story.actors { try fixture.push(actor.said, from: actor, at: story.now) }
        let line = try fixture.store.pull(party: story.producer.party, after: 2, limit: 7, now: story.now)
        let page = try PullPage(line: line, signedBy: fixture.store.authority)
        #expect(try page.signed(by: story.teller.authority) == line)
        let receipt = try fixture.store.ingest(
            story.site.said.map { $0.line[...] } + [[0x7B]],
            from: story.site.device,
            received: story.now
        )
        let read = try PushReceipt(line: receipt, signedBy: fixture.store.authority)
        #expect(try read.signed(by: story.teller.authority) == receipt)
    }

    @Test func storedEntriesAreCanonical() throws {
        for actor in story.actors.reversed() { try fixture.push(actor.said, from: actor, at: story.now) }
        let database = try Database(path: fixture.path, mode: .readOnly)
        let texts = try database.query("SELECT json FROM entries") { row in Array(try row.text(0).utf8) }
        for text in texts {
            let json = try JSON.parseCanonical(text[...])
            #expect(try LogEntry(json).json.canonicalBytes() == text)
            #expect(try LogEntry(json).canonicalBytes() == text)
        }
    }

    // MARK: Records

    @Test func theRecordPassesTheAuditAndReplaysToTheSameTables() throws {
        for actor in story.actors.reversed() { try fixture.push(actor.said, from: actor, at: story.now) }
        let record = try #require(try fixture.store.record(of: story.chain, for: story.producer.party, now: story.now))
        let report = Audit.report(on: record, trusting: fixture.store.authority)
        #expect(report.findings.isEmpty)
        let folder = TemporaryPath()
        _ = try ProjectionFile.write(record, to: folder.path)
        let live = Projections(try Database(path: fixture.path, mode: .readOnly))
        let replayed = Projections(try Database(path: folder.path, mode: .readOnly))
        for table in Projections.tables {
            #expect(try live.digest(of: table) == replayed.digest(of: table), "\(table.name)")
        }
    }

    @Test func theRecordHasARevocationInItsPlace() throws {
        try fixture.push(Array(story.producer.said.prefix(3)), from: story.producer, at: story.now)
        try fixture.store.revoke(story.producer.device, why: "lost", now: story.now)
        try fixture.push(story.producer.said, from: story.producer, at: story.now)
        let record = try #require(try fixture.store.record(of: story.chain, for: nil, now: story.now))
        #expect(Audit.report(on: record, trusting: fixture.store.authority).findings.isEmpty)
    }

    @Test func thereIsNoRecordForOthers() throws {
        try fixture.push(story.producer.said, from: story.producer, at: story.now)
        #expect(try fixture.store.record(of: story.chain, for: story.site.party, now: story.now) == nil)
        #expect(try fixture.store.chain(story.chain, for: story.site.party) == nil)
        let unknown = try Derived.id("nowhere", at: story.now)
        #expect(try fixture.store.record(of: unknown, for: nil, now: story.now) == nil)
    }
}
