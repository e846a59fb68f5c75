import Foundation
import Synchronization
import Tallystick
import TallystickCrypto
import TallystickStore
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// What every store of a server has to promise, and this one does.
struct StoreContractTests {
    @Test func givesAVerdictForEveryLineInItsOrder() throws {
        let story = try Untold("verdicts")
        let fixture = try story.fixture()
        let results = try fixture.push(story.producer.said, from: story.producer, at: story.now)
        #expect(results.allSatisfy { $0.status == .taken })
        for (result, event) in zip(results, story.producer.said) {
            guard case .verdict(let entry)? = result.entry?.content else {
                Issue.record("expected an entry about an event")
                continue
            }
            #expect(entry.event == event.event.hash)
            #expect(entry.chain == story.chain)
        }
        #expect(results.dropLast().allSatisfy { $0.verdict?.outcome == .accepted })
        #expect(results.last?.codes == [.notYourField])
        try fixture.expectNoGaps()
    }

    @Test func readsTheLogFromAPositionOn() throws {
        let story = try Untold("log")
        let fixture = try story.fixture()
        try fixture.push(story.producer.said, from: story.producer, at: story.now)
        let all = try fixture.store.entries(from: 1, limit: 1_000)
        #expect(all.map(\.entry.position) == Array(1...(4 + story.producer.said.count)))
        #expect(all.compactMap(\.event?.event.hash) == story.producer.said.map(\.event.hash))
        let later = try fixture.store.entries(from: 6, limit: 2)
        #expect(later.map(\.entry) == Array(all.map(\.entry)[5..<7]))
    }

    @Test func answersADuplicateFiveTimesWithTheStoredVerdict() throws {
        let story = try Untold("duplicates")
        let fixture = try story.fixture()
        let first = try fixture.push(story.producer.said, from: story.producer, at: story.now)
        let rows = try fixture.number("SELECT count(*) FROM entries")
        for _ in 0..<5 {
            story.teller.clock.advance(seconds: 60)
            let again = try fixture.push(story.producer.said, from: story.producer, at: story.now)
            #expect(again.allSatisfy { $0.status == .known })
            #expect(again.map(\.entry) == first.map(\.entry))
        }
        // Also when the chain has to be read back first, and from another device.
        try fixture.store.write { writer in try writer.reload() }
        let relayed = try fixture.push(story.producer.said, from: story.site, at: story.now)
        #expect(relayed.map(\.entry) == first.map(\.entry))
        #expect(try fixture.number("SELECT count(*) FROM entries") == rows)
    }

    @Test func answersADuplicateInOnePush() throws {
        let story = try Untold("twice")
        let fixture = try story.fixture()
        let opening = story.producer.said[0]
        let results = try fixture.push([opening, opening], from: story.producer, at: story.now)
        #expect(results.map(\.status) == [.taken, .known])
        #expect(results[0].entry == results[1].entry)
    }

    @Test func refusesOtherBytesUnderTheSameID() throws {
        let story = try Untold("same-id")
        let fixture = try story.fixture()
        try fixture.push(story.producer.said, from: story.producer, at: story.now)
        let note = try story.producer.note("the first")
        let copy = try story.producer.say(.noteAdded(text: "another"), id: note.event.id, insisting: true)
        let results = try fixture.push([note, copy], from: story.producer, at: story.now)
        #expect(results.map(\.status) == [.taken, .taken])
        #expect(results[0].verdict?.outcome == .accepted)
        #expect(results[1].codes == [.idReused])
    }

    @Test func keepsBothSidesOfAFork() throws {
        let story = try Untold("fork")
        let fixture = try story.fixture()
        let parents = story.producer.state.nextParents(of: story.producer.device)
        let seq = story.producer.said.count + 1
        let one = try story.producer.say(.noteAdded(text: "one"), parents: parents, seq: seq)
        let two = try story.producer.say(.noteAdded(text: "two"), parents: parents, seq: seq, insisting: true)
        let results = try fixture.push(story.producer.said, from: story.producer, at: story.now)
        #expect(results.suffix(2).map(\.verdict?.outcome) == [.accepted, .refused])
        #expect(results.last?.codes == [.sequenceForked])
        let kept = try fixture.store.entries(from: 1, limit: 1_000).compactMap(\.event?.event.hash)
        #expect(kept.contains(one.event.hash))
        #expect(kept.contains(two.event.hash))
    }

    @Test(arguments: [[0, 1, 3], [0, 3, 1], [1, 0, 3], [1, 3, 0], [3, 0, 1], [3, 1, 0]])
    func decidesWhatWaitedWhenItComesInAnyOrder(_ order: [Int]) throws {
        let story = try Untold("orders")
        let fixture = try story.fixture()
        for index in order {
            let actor = story.actors[index]
            try fixture.push(actor.said, from: actor, at: story.now)
        }
        #expect(try fixture.number("SELECT count(*) FROM waiting") == 0)
        #expect(try fixture.texts("SELECT result FROM handoffs ORDER BY taken_at") == ["verified", "verified"])
        #expect(try fixture.number("SELECT count(*) FROM signatures") == 3)
        #expect(try fixture.texts("SELECT role FROM chains") == ["receiver"])
        try fixture.expectNoGaps()
        #expect(try fixture.store.rebuild(check: true).isClean)
    }

    @Test func showsAHalfWithoutItsOtherHalfAsWaiting() throws {
        let story = try Untold("half")
        let fixture = try story.fixture()
        let waiting = try fixture.push(story.first.said, from: story.first, at: story.now)
        #expect(waiting.allSatisfy { $0.verdict?.outcome == .waiting })
        #expect(try fixture.texts("SELECT result FROM handoffs") == ["waiting", "waiting"])
        #expect(
            try fixture.texts("SELECT kind FROM waiting WHERE event = '\(story.first.said[0].event.hash)'") == ["offer"]
        )
        let again = try fixture.push(story.first.said, from: story.first, at: story.now)
        #expect(again.map(\.entry) == waiting.map(\.entry))
        try fixture.push(story.producer.said, from: story.producer, at: story.now)
        let settled = try fixture.push(story.first.said, from: story.first, at: story.now)
        #expect(settled.allSatisfy { $0.status == .known && $0.verdict?.outcome == .accepted })
        #expect(Set(try fixture.texts("SELECT result FROM handoffs")) == ["verified", "waiting"])
    }

    @Test func marksBothTakersOfOneCode() throws {
        let story = try Untold("contest")
        let fixture = try story.fixture()
        for actor in story.actors { try fixture.push(actor.said, from: actor, at: story.now) }
        #expect(try fixture.number("SELECT contested FROM chains") == 1)
        #expect(
            try fixture.texts("SELECT result FROM handoffs WHERE contested = 1 ORDER BY result") == [
                "refused", "verified",
            ]
        )
        #expect(try fixture.texts("SELECT mac FROM handoffs WHERE result = 'verified'") == ["matched", "matched"])
    }

    @Test func defersWhatWouldWaitBeyondTheBound() throws {
        let story = try Untold("bound")
        var limits = ServerLimits()
        limits.waitingPerDevice = 3
        let fixture = try story.fixture(limits: limits)
        let results = try fixture.push(story.first.said, from: story.first, at: story.now)
        #expect(results.map(\.status) == [.taken, .taken, .taken, .deferred])
        #expect(results.last?.entry == nil)
        #expect(try fixture.number("SELECT count(*) FROM events") == 3)
        // Another device has a bound of its own, and what can be decided is never deferred.
        #expect(try fixture.push(story.site.said, from: story.site, at: story.now).allSatisfy { $0.status == .taken })
        try fixture.push(story.producer.said, from: story.producer, at: story.now)
        let later = try fixture.push(story.first.said, from: story.first, at: story.now)
        #expect(later.map(\.status) == [.known, .known, .known, .taken])
        #expect(later.allSatisfy { $0.verdict?.outcome == .accepted })
        #expect(try fixture.store.rebuild(check: true).isClean)
    }

    @Test func givesPositionsWithoutGapsToManyConnections() async throws {
        let stories = try (0..<6).map { try Untold("connection-\($0)") }
        let fixture = try ServerFixture(stories.flatMap(\.teller.certificates))
        // Every push of every actor, twice, from as many threads as there are stories.
        let pushes = stories.map { story in
            story.actors.flatMap { actor in
                [actor.said, actor.said].map { (actor.device, $0.map(\.line), story.now) }
            }
        }
        let taken = Mutex<[LogEntry]>([])
        let failures = Mutex<[String]>([])
        await onThreads(pushes.count) { number in
            for (device, lines, now) in pushes[number] {
                do {
                    let results = try fixture.push(lines, from: device, at: now)
                    taken.withLock { $0 += results.filter { $0.status == .taken }.compactMap(\.entry) }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let positions = taken.withLock { $0.map(\.position) }
        #expect(Set(positions).count == positions.count)
        #expect(positions.count == stories.reduce(0) { $0 + $1.actors.reduce(0) { $0 + $1.said.count } })
        try fixture.expectNoGaps()
        #expect(try fixture.store.rebuild(check: true).isClean)
    }

    @Test func keepsDecidingTheSameWithHardlyAnyMemory() throws {
        let stories = try (0..<4).map { try Untold("memory-\($0)") }
        var limits = ServerLimits()
        limits.cachedEvents = 1
        let fixture = try ServerFixture(stories.flatMap(\.teller.certificates), limits: limits)
        for index in 0..<20 {
            for story in stories {
                for actor in story.actors where index < actor.said.count {
                    try fixture.push([actor.said[index]], from: actor, at: story.now)
                }
            }
        }
        try fixture.expectNoGaps()
        #expect(try fixture.store.rebuild(check: true).isClean)
    }
}
