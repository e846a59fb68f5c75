import Foundation
import Tallystick
import TallystickCrypto
import TallystickDevice
import TallystickStore
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// An operator puts an older copy of the database back, and says so.
struct RestoreTests {
    private let story: Untold
    private let fixture: ServerFixture

    init() throws {
        story = try Untold("restore")
        fixture = try story.fixture()
    }

    /// A copy of the database as it is now, with its keys.
    private func copy() throws -> TemporaryPath {
        let copy = TemporaryPath()
        let database = try Database(path: fixture.path, mode: .open)
        try database.checkpoint()
        database.close()
        for suffix in ["", ".keys"] {
            try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: copy.path + suffix)
        }
        return copy
    }

    private func open(_ path: TemporaryPath) throws -> ServerStore {
        try ServerStore.open(path: path.path, schemes: fixture.store.schemes, random: SecureRandom.bytes)
    }

    private func page(_ store: ServerStore, after: Int) throws -> PullPage {
        let line = try store.pull(party: story.producer.party, after: after, limit: 500, now: story.now)
        return try PullPage(line: line, signedBy: store.authority)
    }

    @Test func theEpochChangesForGoodAndEverywhere() throws {
        let first = fixture.store.epoch
        let new = try fixture.store.renewEpoch()
        #expect(new != first)
        #expect(Hex.decode(new)?.count == 16)
        #expect(fixture.store.epoch == new)
        #expect(try page(fixture.store, after: 0).epoch == new)
        try fixture.push(story.producer.said, from: story.producer, at: story.now)
        let clock = story.teller.clock
        let client = Client(Server(store: fixture.store, clock: { clock.now }))
        #expect(try Client.json(client.get("v1/server"))["epoch"]?.text == new)
        let again = try ServerStore.open(
            path: fixture.path,
            schemes: fixture.store.schemes,
            random: SecureRandom.bytes
        )
        #expect(again.epoch == new)
        #expect(try fixture.store.rebuild(check: true).isClean)
        // A server that runs takes note of what a command did.
        let newer = try again.renewEpoch()
        #expect(try page(fixture.store, after: 0).epoch == newer)
        #expect(try Client.json(client.get("v1/server"))["epoch"]?.text == newer)
        let line = try fixture.store.ingest([[0x7B]], from: story.producer.device, received: story.now)
        #expect(try PushReceipt(line: line, signedBy: fixture.store.authority).epoch == newer)
        #expect(fixture.store.epoch == newer)
    }

    @Test func whatTheCopyHasIsKnownAndWhatItLacksIsTakenOnceMore() throws {
        let said = story.producer.said
        let first = try fixture.push(Array(said.prefix(3)), from: story.producer, at: story.now)
        let older = try copy()
        try fixture.push(said, from: story.producer, at: story.now)
        let before = try page(fixture.store, after: 0)
        let restored = try open(older)
        try restored.renewEpoch()
        let after = try page(restored, after: before.next)
        #expect(after.epoch != before.epoch)
        #expect(after.items.isEmpty)
        #expect(after.previous == nil)
        let line = try restored.ingest(said.map { $0.line[...] }, from: story.producer.device, received: story.now)
        let results = try PushReceipt(line: line, signedBy: restored.authority).results
        #expect(results.prefix(3).map(\.status) == [.known, .known, .known])
        #expect(results.prefix(3).map(\.entry) == first.map(\.entry))
        #expect(results.dropFirst(3).allSatisfy { $0.status == .taken })
        #expect(try restored.rebuild(check: true).isClean)
    }

    // MARK: With a device

    /// The server a device talks to, which can be another all of a sudden.
    private final class Site {
        var server: Server

        init(_ server: Server) { self.server = server }

        var transport: Transport {
            Transport { request in
                var headers: HTTPHeaders = [:]
                for field in request.headers { headers.add(field.name, field.value) }
                let response = self.server.respond(
                    to: HTTPRequest(
                        method: request.method,
                        target: try HTTPTarget(parsing: request.path),
                        headers: headers,
                        body: request.body ?? []
                    )
                )
                return HTTPReply(status: response.status, body: response.body)
            }
        }
    }

    @Test(arguments: [true, false])
    func aDeviceBringsBackWhatTheCopyLacks(_ renews: Bool) throws {
        let clock = story.teller.clock
        let site = Site(Server(store: fixture.store, clock: { clock.now }))
        let code = try fixture.store.invite(
            party: "Brown Builders",
            roles: [try Derived.name("producer")],
            validFor: 600,
            now: story.now
        )
        let folder = TemporaryPath()
        defer { try? FileManager.default.removeItem(atPath: folder.path) }
        let device = try Device.enrol(
            home: DeviceHome(path: folder.path),
            server: "https://server.example",
            code: code,
            transport: site.transport,
            schemes: [try StoryTeller.wasteTransferNote.get()],
            clock: { clock.now },
            random: SecureRandom.bytes
        )
        let chain = try device.openChain(scheme: try Derived.name("uk-waste-transfer-note")).chain
        _ = try device.sync(site.transport)
        let older = try copy()
        for text in ["one", "two", "three"] { _ = try device.note(chain, text) }
        #expect(try device.sync(site.transport).pushed == 3)
        let restored = try open(older)
        if renews { try restored.renewEpoch() }
        site.server = Server(store: restored, clock: { clock.now })
        let report = try device.sync(site.transport)
        #expect(report.hasStartedOver)
        #expect(report.pushed == 4)
        #expect(report.pulled == 4)
        #expect(try device.outbox().counts.confirmed == 4)
        #expect(try restored.entries(from: 1, limit: 100).compactMap(\.event).count == 4)
        let next = try device.sync(site.transport)
        #expect(!next.hasStartedOver)
        #expect(next.pushed == 0)
        #expect(try restored.rebuild(check: true).isClean)
    }
}
