import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// Times of arrival follow the log's order, whatever the clock does.
struct ReceiveTimeTests {
    private let story: Untold
    private let fixture: ServerFixture

    init() throws {
        story = try Untold("times")
        fixture = try story.fixture()
    }

    private func later(_ seconds: Int64) throws -> Timestamp {
        try #require(Timestamp(milliseconds: story.now.milliseconds + seconds * 1_000))
    }

    private func received(_ result: PushReceipt.Result) -> Timestamp? {
        switch result.entry?.content {
        case .verdict(let entry): entry.received
        case .unreadable(_, _, let received, _): received
        default: nil
        }
    }

    @Test func neverGoBackWhenTheClockDoes() throws {
        let noon = story.now
        let before = try later(-3_600)
        try fixture.push(Array(story.producer.said.prefix(2)), from: story.producer, at: noon)
        let line = try fixture.store.ingest(
            story.producer.said.dropFirst(2).map { $0.line[...] } + [[0x7B]],
            from: story.producer.device,
            received: before
        )
        let receipt = try PushReceipt(line: line, signedBy: fixture.store.authority)
        #expect(receipt.received == noon)
        #expect(receipt.results.allSatisfy { received($0) == noon })
        try fixture.store.revoke(story.site.device, why: "lost", now: before)
        #expect(try fixture.number("SELECT at FROM revocations") == Int(noon.milliseconds))
        let record = try #require(try fixture.store.record(of: story.chain, for: nil, now: noon))
        #expect(Audit.report(on: record, trusting: fixture.store.authority).findings.isEmpty)
        #expect(try fixture.store.rebuild(check: true).isClean)
        // Once the clock has caught up, it tells the time again.
        let after = try later(60)
        #expect(received(try fixture.push([[0x7B, 0x7D]], from: story.site.device, at: after)[0]) == after)
    }

    @Test(arguments: ["events", "unreadable", "revocations"])
    func neverGoBackAcrossARestart(_ newest: String) throws {
        try fixture.push([story.producer.said[0]], from: story.producer, at: story.now)
        let noon = try later(60)
        switch newest {
        case "events": try fixture.push([story.producer.said[1]], from: story.producer, at: noon)
        case "unreadable": try fixture.push([[0x7B]], from: story.producer.device, at: noon)
        default: try fixture.store.revoke(story.site.device, why: "lost", now: noon)
        }
        let store = try ServerStore.open(path: fixture.path, schemes: fixture.store.schemes, random: SecureRandom.bytes)
        let line = try store.ingest(
            [story.producer.said[2].line[...]],
            from: story.producer.device,
            received: story.now
        )
        #expect(try PushReceipt(line: line, signedBy: store.authority).received == noon)
        // The first process takes note of what the second wrote.
        let result = try fixture.push([story.producer.said[3]], from: story.producer, at: story.now)[0]
        #expect(received(result) == noon)
    }

    @Test(arguments: [false, true])
    func anOfferThatHasEndedDoesNotLiveAgain(_ hasEnded: Bool) throws {
        try fixture.push(story.producer.said, from: story.producer, at: story.producer.said[0].event.at)
        if hasEnded { try fixture.push([[0x7B]], from: story.site.device, at: try later(86_400)) }
        let acceptance = story.first.said[0]
        let moment = acceptance.event.at
        let result = try fixture.push([acceptance], from: story.first, at: moment)[0]
        #expect(result.verdict?.outcome == .accepted)
        #expect(result.verdict?.handoff?.time == (hasEnded ? .claimed : .witnessed))
        #expect(try fixture.store.rebuild(check: true).isClean)
    }
}
