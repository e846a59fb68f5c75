import Tallystick
import TallystickCrypto
import TallystickStore
import Testing

@testable import TallystickDevice

/// A device's database and a server in memory, with everything going wrong between them.
@Suite("Synchronisation")
struct SyncTests {
    private func opened() throws -> (world: World, device: Device, chain: UniqueID) {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        let chain = try device.openChain(scheme: World.waste, values: Values.producer).chain
        return (world, device, chain)
    }

    @Test("says that the work is saved where the server is not reached")
    func savesTheWork() throws {
        let (world, device, chain) = try opened()
        world.server.faults = [("/v1/session", .dropBefore)]
        let error = deviceError { try device.sync(world.server.transport) }
        #expect(error?.code == .serverUnreachable)
        #expect(error?.remedy.contains("the work is saved") == true)
        let status = try device.outbox()
        #expect(status.rows.map(\.attempts) == [1, 1])
        #expect(status.rows.allSatisfy { $0.lastErrorCode == "server-unreachable" })
        #expect(status.lastError?.code == "server-unreachable")
        #expect(status.lastSuccess == nil)
        let wait = try #require(status.nextAttempt).milliseconds - world.clock.milliseconds
        #expect((2_500...5_000).contains(wait))
        // A timer waits, a person does not.
        #expect(try device.sync(world.server.transport, .whenDue).notBefore == status.nextAttempt)
        #expect(try device.view(chain).badge == .savedHere)
        #expect(try device.sync(world.server.transport).pushed == 2)
        #expect(try device.view(chain).badge == .confirmed)
        #expect(try device.outbox().lastSuccess == world.clock.now)
        #expect(try device.outbox().lastError == nil)
        #expect(try device.outbox().nextAttempt == nil)
    }

    @Test("waits as long as the server asks")
    func waitsAsAsked() throws {
        let (world, device, _) = try opened()
        let field = HTTPReply.Field(name: "Retry-After", value: "120")
        world.server.faults = [("/v1/events", .status(429, headers: [field]))]
        #expect(deviceError { try device.sync(world.server.transport) }?.code == .serverUnreachable)
        let status = try device.outbox()
        #expect(status.nextAttempt?.milliseconds == world.clock.milliseconds + 120_000)
        #expect(status.rows.map(\.nextAttempt) == [status.nextAttempt, status.nextAttempt])
        world.clock.advance(seconds: 119)
        #expect(try device.sync(world.server.transport, .whenDue).notBefore != nil)
        world.clock.advance(seconds: 1)
        #expect(try device.sync(world.server.transport, .whenDue).pushed == 2)
    }

    static let faults: [(String, FakeServer.Fault)] = [
        ("/v1/session", .dropBefore), ("/v1/session", .dropAfter), ("/v1/session", .status(500)),
        ("/v1/session", .change { _ in Array("<html>log in</html>".utf8) }),
        ("/v1/events", .dropBefore), ("/v1/events", .dropAfter), ("/v1/events", .status(500)),
        ("/v1/events", .status(404)), ("/v1/events", .status(302)), ("/v1/events", .change { Array($0.dropLast(9)) }),
        ("/v1/events", .change { _ in Array("<html>log in</html>".utf8) }),
        ("/v1/events", .change { $0.map { $0 == 0x61 ? 0x62 : $0 } }),
        ("/v1/events?", .dropBefore), ("/v1/events?", .dropAfter), ("/v1/events?", .status(503)),
        ("/v1/events?", .change { Array($0.dropLast(9)) }), ("/v1/events?", .change { _ in [] }),
        ("/v1/events?", .change { $0.map { $0 == 0x61 ? 0x62 : $0 } }),
    ]

    @Test("loses nothing and doubles nothing, whatever is lost", arguments: 0..<18)
    func losesNothing(index: Int) throws {
        let (world, device, chain) = try opened()
        world.server.faults = [Self.faults[index]]
        #expect(throws: DeviceError.self) { try device.sync(world.server.transport) }
        #expect(try device.view(chain).legs.first?.fields.count == Values.producer.count)
        _ = try device.sign(chain)
        _ = try device.sync(world.server.transport)
        #expect(try device.view(chain).badge == .confirmed)
        #expect(try device.outbox().rows.isEmpty)
        #expect(world.server.feeds[device.certificate.party]?.count == 3)
        #expect(try device.sync(world.server.transport).pulled == 0)
    }

    @Test("renews a session that has ended in the middle")
    func renews() throws {
        let (world, device, chain) = try opened()
        var token: String?
        _ = try device.sync(world.server.transport, .now, token: &token)
        let first = token
        _ = try device.sign(chain)
        _ = try device.sync(world.server.transport, .now, token: &token)
        #expect(token == first)
        world.server.tokens = [:]
        _ = try device.offer(chain)
        #expect(try device.sync(world.server.transport, .now, token: &token).pushed == 1)
        #expect(token != first)
        world.server.faults = [("/v1/events", .status(401)), ("/v1/events", .status(401))]
        #expect(deviceError { try device.sync(world.server.transport) }?.code == .serverRefused)
    }

    @Test("keeps a refused event with its reasons while everything else goes on")
    func parksRefusals() throws {
        let (world, device, chain) = try opened()
        let party = device.certificate.party
        let second = try world.device("second", party: party, roles: ["producer"])
        _ = try device.sync(world.server.transport)
        _ = try second.sync(world.server.transport)
        _ = try device.sign(chain)
        _ = try device.sync(world.server.transport)
        _ = try second.set(chain, Values.changes([("sicCode", .string("22222"))]))
        _ = try second.note(chain, "after the refused one")
        let other = try second.openChain(scheme: World.waste).chain
        let report = try second.sync(world.server.transport)
        #expect(report.pushed == 3)
        #expect(report.refused == 1)
        #expect(try second.view(chain).badge == .refused)
        #expect(try second.view(other).badge == .confirmed)
        #expect(try second.view(chain).notes.map(\.text) == ["after the refused one"])
        #expect(try second.refusals().first?.reasons.map(\.code) == [.fieldSealed])
        #expect(try second.outbox().counts == BadgeCounts(savedHere: 0, atTheServer: 0, confirmed: 2, refused: 1))
    }

    @Test("keeps what the server puts off, and its chain with it")
    func keepsPutOff() throws {
        let world = try World()
        let story = try OfflineStoryTests.tell()
        _ = world
        story.world.server.waitingPerDevice = 1
        let report = try story.carrier.sync(story.world.server.transport)
        #expect(report.pushed == 1)
        #expect(report.putOff == 3)
        let status = try story.carrier.outbox()
        #expect(status.rows.count == 3)
        #expect(status.rows.allSatisfy { $0.attempts == 1 && $0.nextAttempt != nil })
        #expect(try story.carrier.view(story.chain).badge == .savedHere)
        #expect(try story.carrier.sync(story.world.server.transport, .whenDue).pushed == 0)
        _ = try story.producer.sync(story.world.server.transport)
        #expect(try story.carrier.sync(story.world.server.transport).pushed == 3)
        #expect(try story.carrier.view(story.chain).badge == .confirmed)
    }

    @Test("keeps one event back that is too large, and sends all others")
    func keepsOversizeBack() throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        let chains = try (0..<4).map { _ in try device.openChain(scheme: World.waste).chain }
        _ = try device.note(chains[1], String(repeating: "x", count: 6_000))
        _ = try device.note(chains[1], "after it")
        _ = try device.note(chains[2], "another")
        world.server.mostBytes = 3_000
        let report = try device.sync(world.server.transport)
        #expect(report.pushed == 5)
        #expect(report.putOff == 1)
        let rows = try device.outbox().rows
        #expect(rows.map(\.chain) == [chains[1], chains[1]])
        #expect(rows.map(\.lastErrorCode) == ["too-large", nil])
        #expect(try chains.map { try device.view($0).badge } == [.confirmed, .savedHere, .confirmed, .confirmed])
        world.server.mostBytes = 1 << 20
        #expect(try device.sync(world.server.transport).pushed == 2)
    }

    @Test("offers everything again to a server whose database was replaced", arguments: [true, false])
    func startsOver(hasNews: Bool) throws {
        let story = try OfflineStoryTests.tell()
        let devices = [story.producer, story.carrier, story.receiver]
        for _ in 0..<2 { for device in devices { _ = try device.sync(story.world.server.transport) } }
        story.world.server.restoreEmpty(epoch: "epoch-2")
        if hasNews { _ = try story.receiver.note(story.chain, "news") }
        // The last comes first: everything it refers to is missing there.
        let report = try story.receiver.sync(story.world.server.transport)
        #expect(report.hasStartedOver)
        #expect(try story.receiver.view(story.chain).badge == .atTheServer)
        // What it knew of the others it still shows, and goes on from.
        #expect(try story.receiver.view(story.chain).legs.map(\.number) == [1, 2, 3])
        _ = try story.receiver.note(story.chain, "meanwhile")
        for _ in 0..<2 { for device in devices { _ = try device.sync(story.world.server.transport) } }
        for device in devices {
            let view = try device.view(story.chain)
            #expect(view.badge == .confirmed, "\(view.refused)")
            #expect(view.legs.map(\.number) == [1, 2, 3])
            #expect(view.notes.count == (hasNews ? 2 : 1))
        }
        #expect(try story.receiver.sync(story.world.server.transport).hasStartedOver == false)
    }

    @Test("pulls in pages, and goes on where it was broken off")
    func pullsInPages() throws {
        let (world, device, _) = try opened()
        for _ in 0..<5 { _ = try device.openChain(scheme: World.waste, values: Values.producer) }
        _ = try device.sync(world.server.transport)
        let second = try world.device("second", party: device.certificate.party, roles: ["producer"])
        world.server.pageItems = 5
        world.server.faults = [("/v1/none", .dropBefore)]
        var pages = 0
        let flaky = Transport { request in
            if request.path.hasPrefix("/v1/events?") {
                pages += 1
                if pages == 2 { throw DeviceError.unreachable("dropped") }
            }
            return try world.server.handle(request)
        }
        #expect(deviceError { try second.sync(flaky) }?.code == .serverUnreachable)
        let cursor = try second.database.first("SELECT cursor FROM sync") { row in try row.int(0) }
        #expect(cursor == 5)
        #expect(try second.sync(flaky).pulled == 7)
        #expect(try second.chains().count == 6)
        #expect(try second.chains().allSatisfy { $0.badge == .confirmed })
    }

    static let changes: [@Sendable (PullPage) -> PullPage] = [
        // A gap.
        { page in copy(page, after: page.after + 1, next: page.next + 1) },
        // An entry about an event that is not there.
        { page in copy(page, items: page.items.map { PullPage.Item(entry: $0.entry, event: nil) }) },
        // Two entries at one position.
        { page in
            copy(
                page,
                items: page.items.map { item in
                    PullPage.Item(entry: LogEntry(position: 1, content: item.entry.content), event: item.event)
                }
            )
        },
        // An entry twice.
        { page in copy(page, items: page.items.map { _ in page.items[0] }) },
        // An entry that puts a known event into another chain.
        { page in
            guard let first = page.items.first, case .verdict(let verdict) = first.entry.content,
                let other = UniqueID(milliseconds: 1, random: Array(repeating: 1, count: 10))
            else { return page }
            let moved = LogEntry.EventVerdict(
                chain: other,
                event: verdict.event,
                number: 1,
                received: verdict.received,
                verdict: verdict.verdict
            )
            let entry = LogEntry(position: 1_000, content: .verdict(moved))
            return copy(page, next: page.next + 1, items: page.items + [PullPage.Item(entry: entry, event: nil)])
        },
        // No certificate.
        { page in copy(page, certificates: []) },
        // An entry whose event is another.
        { page in
            copy(
                page,
                items: zip(page.items, page.items.reversed()).map { PullPage.Item(entry: $0.entry, event: $1.event) }
            )
        },
    ]

    private static func copy(
        _ page: PullPage,
        after: Int? = nil,
        next: Int? = nil,
        items: [PullPage.Item]? = nil,
        certificates: [Certificate]? = nil
    ) -> PullPage {
        PullPage(
            epoch: page.epoch,
            after: after ?? page.after,
            next: next ?? page.next,
            hasMore: page.hasMore,
            now: page.now,
            items: items ?? page.items,
            certificates: certificates ?? page.certificates,
            previous: page.previous
        )
    }

    /// Whether the devices say something new before they meet the restored server: then positions are given twice.
    @Test("offers everything again to a server that was restored from an older backup", arguments: [false, true])
    func outlivesARestoredServer(saysMore: Bool) throws {
        let story = try OfflineStoryTests.tell()
        let server = story.world.server
        _ = try story.producer.sync(server.transport)
        let backup = server.backup()
        for device in [story.carrier, story.receiver, story.producer, story.carrier] {
            _ = try device.sync(server.transport)
        }
        #expect(try story.producer.view(story.chain).badge == .confirmed)
        server.restore(backup)
        if saysMore {
            for device in [story.producer, story.carrier, story.receiver] {
                _ = try device.note(story.chain, "after the restore")
            }
        }
        var hasStartedOver = false
        for device in [story.receiver, story.producer, story.carrier, story.producer, story.receiver, story.carrier] {
            hasStartedOver = try device.sync(server.transport).hasStartedOver || hasStartedOver
        }
        #expect(hasStartedOver)
        for device in [story.producer, story.carrier, story.receiver] {
            let view = try device.view(story.chain)
            #expect(view.badge == .confirmed, "\(view.refused)")
            #expect(view.legs.map(\.number) == [1, 2, 3])
            #expect(view.notes.count == (saysMore ? 3 : 0))
            #expect(try device.outbox().rows.isEmpty)
        }
        #expect(server.waitingCount(of: story.chain) == 0)
        #expect(server.state(of: story.chain)?.legs.count == 3)
    }

    /// The other party's events, which this device never sees, had the positions that its own get now.
    @Test("offers everything again where only its own chain's numbers show that the log went back")
    func noticesItsNumbersAtOtherPositions() throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        let other = try world.device("other", roles: ["producer"])
        let chain = try device.openChain(scheme: World.waste).chain
        _ = try device.sync(world.server.transport)
        let backup = world.server.backup()
        _ = try other.openChain(scheme: World.waste)
        _ = try other.sync(world.server.transport)
        _ = try device.note(chain, "one")
        _ = try device.sync(world.server.transport)
        let former = try device.database.query("SELECT json FROM entries ORDER BY position") { row in try row.blob(0) }
        #expect(former.count == 2)
        world.server.restore(backup)
        _ = try device.note(chain, "two")
        let report = try device.sync(world.server.transport)
        #expect(report.hasStartedOver)
        let view = try device.view(chain)
        #expect(view.badge == .confirmed)
        #expect(view.notes.map(\.text) == ["one", "two"])
        #expect(try device.outbox().rows.isEmpty)
        // What the server had signed before is kept.
        let kept = try device.database.query("SELECT json FROM former_entries ORDER BY position") { row in
            try row.blob(0)
        }
        #expect(kept == former)
        #expect(try device.sync(world.server.transport).hasStartedOver == false)
    }

    @Test("starts over for no page that goes on from what it has, and once where none does")
    func startsOverOnce() throws {
        let (world, device, chain) = try opened()
        _ = try device.sync(world.server.transport)
        #expect(try device.sync(world.server.transport).hasStartedOver == false)
        world.server.changePage = { page in
            PullPage(
                epoch: page.epoch,
                after: page.after,
                next: page.next,
                hasMore: page.hasMore,
                now: page.now,
                items: page.items,
                certificates: page.certificates,
                previous: SHA256.hash([])
            )
        }
        #expect(deviceError { try device.sync(world.server.transport) }?.code == .serverMisbehaved)
        world.server.changePage = nil
        _ = try device.sync(world.server.transport)
        #expect(try device.view(chain).badge == .confirmed)
        #expect(try device.outbox().rows.isEmpty)
    }

    @Test("uses nothing of a page that is wrong anywhere", arguments: 0..<7)
    func usesNothingOfWrongPages(index: Int) throws {
        let story = try OfflineStoryTests.tell()
        for device in [story.producer, story.carrier] { _ = try device.sync(story.world.server.transport) }
        let second = try story.world.device("second", party: story.producer.certificate.party, roles: ["producer"])
        story.world.server.changePage = Self.changes[index]
        #expect(deviceError { try second.sync(story.world.server.transport) }?.code == .serverMisbehaved)
        for table in ["events", "entries", "chains"] {
            let count = try second.database.first("SELECT count(*) FROM \(table)") { row in try row.int(0) }
            #expect(count == 0, "\(table)")
        }
        story.world.server.changePage = nil
        _ = try second.sync(story.world.server.transport)
        #expect(try second.view(story.chain).legs.count == 2)
    }

    @Test("believes no impostor, whatever it signs with")
    func believesNoImpostor() throws {
        let (world, device, chain) = try opened()
        world.server.signer = SigningKey.generate()
        #expect(deviceError { try device.sync(world.server.transport) }?.code == .serverMisbehaved)
        #expect(try device.outbox().rows.count == 2)
        #expect(try device.view(chain).badge == .savedHere)
    }

    @Test("keeps lines that the server can make nothing of as refused, and offers them to the next database")
    func keepsUnreadable() throws {
        let (world, device, chain) = try opened()
        world.server.forgotten = [device.id]
        let report = try device.sync(world.server.transport)
        #expect(report.pushed == 2)
        #expect(report.pulled == 2)
        #expect(try device.outbox().rows.isEmpty)
        #expect(try device.view(chain).badge == .refused)
        #expect(try device.refusals().map { $0.reasons.map(\.code) } == [[.unknownDevice], [.unknownDevice]])
        world.server.forgotten = []
        world.server.restoreEmpty(epoch: "epoch-2")
        _ = try device.sync(world.server.transport)
        #expect(try device.view(chain).badge == .confirmed)
        #expect(try device.refusals().isEmpty)
        #expect(try device.view(chain).legs.first?.fields.count == Values.producer.count)
    }
}
