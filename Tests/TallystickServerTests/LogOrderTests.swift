import Foundation
import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// What others can hold the server's log against: the entry before each page, times that never go back, and who made
/// a chain's identifier.
@Suite struct LogOrderTests {
    /// A store in a folder of its own that knows a story's actors and has the keys it is told with.
    private final class Register {
        let store: ServerStore
        private let folder: String

        init(_ teller: StoryTeller) throws {
            folder = NSTemporaryDirectory() + "/tallystick-log-order-" + UUID().uuidString
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let secrets = teller.authority.seed + teller.secret
            store = try ServerStore.create(
                path: folder + "/server.sqlite",
                origin: "server.example",
                schemes: [teller.scheme]
            ) { count in count == secrets.count ? secrets : SecureRandom.bytes(count) }
            try store.write { writer in
                for certificate in teller.certificates {
                    _ = try writer.party(named: certificate.partyName, otherwise: certificate.party)
                    try writer.enter(certificate)
                }
            }
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        @discardableResult
        func push(_ events: [SignedEvent], by actor: StoryActor, at received: Timestamp) throws -> [Verdict?] {
            let line = try store.ingest(events.map { $0.line[...] }, from: actor.device, received: received)
            return try PushReceipt(line: line, signedBy: store.authority).results.map { result in
                if case .verdict(let verdict)? = result.entry?.content { verdict.verdict } else { nil }
            }
        }

        func page(_ party: UniqueID, after: Int, limit: Int, at now: Timestamp) throws -> PullPage {
            try PullPage(
                line: store.pull(party: party, after: after, limit: limit, now: now),
                signedBy: store.authority
            )
        }

        func audit(_ chain: UniqueID, at now: Timestamp) throws -> [String] {
            let record = try #require(try store.record(of: chain, for: nil, now: now))
            return Audit.report(on: record, trusting: store.authority).findings.map { "\($0.code): \($0.message)" }
        }

        func expectSameWhenFoldedAgain() throws {
            let report = try store.rebuild(check: true)
            #expect(report.faults.isEmpty)
            for table in report.tables { #expect(table.isEqual, "\(table.table)") }
        }
    }

    /// Producer, carrier and site have said everything; nothing has been pushed.
    private func story(
        _ name: String
    ) throws -> (StoryTeller, producer: StoryActor, carrier: StoryActor, site: StoryActor) {
        let teller = try StoryTeller(name)
        let producer = try teller.actor("producer", of: "Builder", as: "producer")
        let carrier = try teller.actor("carrier", of: "Calder", as: "carrier")
        let site = try teller.actor("site", of: "Holbeck", as: "receiver")
        let collection = try teller.producerOffers(producer)
        let delivery = try teller.carrierTakes(carrier, collection, SampleValues.carrier, offeringTo: "receiver")
        try teller.siteTakes(site, delivery)
        return (teller, producer, carrier, site)
    }

    @Test(arguments: [1, 2, 3, 500]) func saysWhatEachPageFollows(limit: Int) throws {
        let (teller, producer, carrier, site) = try story("pages \(limit)")
        let register = try Register(teller)
        let now = teller.clock.now
        for actor in [carrier, site, producer] { try register.push(actor.said, by: actor, at: now) }
        var expected: Digest?
        var after = 0
        while true {
            let page = try register.page(producer.party, after: after, limit: limit, at: now)
            #expect(page.previous == expected, "after \(after)")
            after = page.next
            if let last = page.items.last { expected = try last.entry.digest() }
            guard page.hasMore else { break }
        }
        #expect(after > producer.said.count)
        let end = try register.page(producer.party, after: after, limit: limit, at: now)
        #expect(end.items.isEmpty && end.previous == expected && expected != nil)
        // A device that has more than the log is told that there is nothing where it stands.
        #expect(try register.page(producer.party, after: after + 1, limit: limit, at: now).previous == nil)
        // Each party has a feed of its own.
        let other = try register.page(site.party, after: 1, limit: limit, at: now)
        #expect(try other.previous == register.page(site.party, after: 0, limit: 1, at: now).items.last?.entry.digest())
    }

    /// The clock was set back, or a push that came later was written first.
    @Test(arguments: [false, true]) func neverLetsAChainsTimesGoBack(isReadAgain: Bool) throws {
        let (teller, producer, carrier, site) = try story("times \(isReadAgain)")
        let register = try Register(teller)
        let now = teller.clock.now
        let hours: [Int64] = [0, -2, 3, -1]
        let pushes = [
            (carrier, carrier.said), (producer, Array(producer.said.prefix(2))),
            (producer, Array(producer.said.dropFirst(2))), (site, site.said),
        ]
        for (hour, push) in zip(hours, pushes) {
            let moment = try #require(Timestamp(milliseconds: now.milliseconds + hour * 3_600_000))
            try register.push(push.1, by: push.0, at: moment)
            if isReadAgain { try register.store.write { writer in try writer.reload() } }
        }
        let entries = try register.store.entries(from: 1, limit: 1_000)
        let times: [Int64] = entries.compactMap { line in
            guard line.event != nil, case .verdict(let verdict) = line.entry.content else { return nil }
            return (verdict.received.milliseconds - now.milliseconds) / 3_600_000
        }
        #expect(
            times == Array(repeating: 0, count: carrier.said.count + 2)
                + Array(repeating: 3, count: 2 + site.said.count)
        )
        #expect(try register.audit(teller.chain, at: now) == [])
        try register.expectSameWhenFoldedAgain()
    }

    /// Whoever has seen a code knows the chain, and is the first to open it at the server.
    @Test func letsOnlyItsMakerOpenAChain() throws {
        let (teller, producer, carrier, site) = try story("squatting")
        let squatter = try teller.actor("squatter", of: "Squatters", as: "producer")
        let opening = try squatter.say(.chainOpened(teller.scheme.reference), insisting: true)
        let values = try squatter.set(SampleValues.producer, insisting: true)
        let register = try Register(teller)
        let now = teller.clock.now
        let refused = try register.push([opening, values], by: squatter, at: now)
        #expect(refused.map { $0?.reasons.map(\.code) } == [[.chainNotYours], [.roleNotHeld]])
        for actor in [producer, carrier, site] {
            let verdicts = try register.push(actor.said, by: actor, at: now)
            #expect(verdicts.allSatisfy { $0?.outcome == .accepted }, "\(actor.name)")
        }
        #expect(try register.audit(teller.chain, at: now) == [])
        try register.expectSameWhenFoldedAgain()
        // The squatter takes no part: it is given its own words, and no record.
        let feed = try register.page(squatter.party, after: 0, limit: 500, at: now)
        #expect(feed.items.compactMap(\.event?.event.device) == [squatter.device, squatter.device])
        #expect(try register.store.record(of: teller.chain, for: squatter.party, now: now) == nil)
        #expect(try register.store.record(of: teller.chain, for: producer.party, now: now) != nil)
    }
}
