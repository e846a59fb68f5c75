import Foundation
import Tallystick
import TallystickCrypto
import TallystickStore
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// A server's store in a folder of its own, with the keys that stories are told with.
final class ServerFixture: Sendable {
    let path: String
    let store: ServerStore
    private let folder: String

    /// - Parameter certificates: Devices that are known from the start, by certificates of the stories' authority.
    init(_ certificates: [Certificate] = [], limits: ServerLimits = ServerLimits()) throws {
        folder = NSTemporaryDirectory() + "/tallystick-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        path = folder + "/server.sqlite"
        let secrets = try Derived.key("authority").seed + Derived.bytes("server-secret", count: 32)
        let schemes = [try StoryTeller.wasteTransferNote.get(), try FullStory.scheme.get()]
        _ = try ServerStore.create(path: path, origin: "server.example", schemes: schemes) { count in
            count == secrets.count ? secrets : SecureRandom.bytes(count)
        }
        store = try ServerStore.open(path: path, schemes: schemes, limits: limits, random: SecureRandom.bytes)
        try admit(certificates)
    }

    /// A store of what ``bytes()`` gave of another.
    init(_ bytes: Bytes) throws {
        folder = NSTemporaryDirectory() + "/tallystick-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        path = folder + "/server.sqlite"
        for (file, data) in [(path, bytes.database), (path + ".keys", bytes.keys)] {
            let isMade = FileManager.default.createFile(
                atPath: file,
                contents: data,
                attributes: [.posixPermissions: 0o600]
            )
            #expect(isMade)
        }
        store = try ServerStore.open(path: path, schemes: bytes.schemes, random: SecureRandom.bytes)
    }

    /// A server's files, and the schemes it knows.
    struct Bytes {
        let database: Data
        let keys: Data
        let schemes: [Scheme]
    }

    /// The files as they are now.
    func bytes() throws -> Bytes {
        let copy = folder + "/copy.sqlite"
        try Database(path: path, mode: .open).execute("VACUUM INTO '\(copy)'")
        defer { try? FileManager.default.removeItem(atPath: copy) }
        return Bytes(
            database: try Data(contentsOf: URL(filePath: copy)),
            keys: try Data(contentsOf: URL(filePath: path + ".keys")),
            schemes: store.schemes
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Enters certificates as if their devices had enrolled.
    func admit(_ certificates: [Certificate]) throws {
        try store.write { writer in
            for certificate in certificates {
                _ = try writer.party(named: certificate.partyName, otherwise: certificate.party)
                try writer.enter(certificate)
            }
        }
    }

    /// Pushes lines as a device, and reads the receipt as that device would.
    @discardableResult
    func push(_ lines: [[UInt8]], from device: DeviceID, at received: Timestamp) throws -> [PushReceipt.Result] {
        let line = try store.ingest(lines.map { $0[...] }, from: device, received: received)
        let receipt = try PushReceipt(line: line, signedBy: store.authority)
        #expect(receipt.device == device)
        #expect(receipt.epoch == store.epoch)
        #expect(receipt.results.map(\.line) == lines.map { SHA256.hash($0) })
        return receipt.results
    }

    /// Pushes events.
    @discardableResult
    func push(_ events: [SignedEvent], from actor: StoryActor, at received: Timestamp) throws -> [PushReceipt.Result] {
        try push(events.map(\.line), from: actor.device, at: received)
    }

    /// All of a party's feed, in pages of this many items; every page's numbers must follow the last one's.
    func feed(of party: UniqueID, by limit: Int = 500) throws -> [PullPage.Item] {
        var items: [PullPage.Item] = []
        while true {
            let now = try Derived.moment("2026-12-01T00:00:00.000Z")
            let line = try store.pull(party: party, after: items.count, limit: limit, now: now)
            let page = try PullPage(line: line, signedBy: store.authority)
            #expect(page.after == items.count)
            #expect(page.items.count <= limit)
            for item in page.items {
                if let device = item.event?.event.device {
                    #expect(page.certificates.contains { $0.device == device })
                }
            }
            items += page.items
            guard page.hasMore else { return items }
        }
    }

    /// Runs SQL on the file from outside, as an intruder or another program would.
    func tamper(_ sql: String) throws {
        let database = try Database(path: path, mode: .open)
        try database.execute(sql)
        database.close()
    }

    /// A number that SQL gives.
    func number(_ sql: String) throws -> Int? {
        try Database(path: path, mode: .readOnly).first(sql) { row in try row.int(0) }
    }

    /// The rows of a text column.
    func texts(_ sql: String) throws -> [String] {
        try Database(path: path, mode: .readOnly).query(sql) { row in try row.text(0) }
    }

    /// The positions are 1, 2, 3…, each chain's numbers too, and each party's feed has no gap.
    func expectNoGaps() throws {
        #expect(try number("SELECT count(*) - max(position) FROM entries") == 0)
        #expect(
            try number(
                "SELECT count(*) FROM (SELECT count(*) - max(number) AS gap FROM entries WHERE chain IS NOT NULL GROUP BY chain) WHERE gap <> 0"
            ) == 0
        )
        #expect(
            try number(
                "SELECT count(*) FROM (SELECT count(*) - max(number) AS gap FROM feed GROUP BY party) WHERE gap <> 0"
            )
                == 0
        )
    }
}

extension PushReceipt.Result {
    /// The verdict, whatever the entry is about.
    var verdict: Verdict? {
        switch entry?.content {
        case .verdict(let entry): entry.verdict
        case .unreadable(_, _, _, let verdict): verdict
        default: nil
        }
    }

    /// The reasons' codes.
    var codes: [ReasonCode] { verdict?.reasons.map(\.code) ?? [] }
}

/// A story whose actors have said everything and pushed nothing: producer, two carriers, site, and a second taker.
struct Untold {
    let teller: StoryTeller
    let producer: StoryActor
    let first: StoryActor
    let rival: StoryActor
    let site: StoryActor

    init(_ name: String) throws {
        teller = try StoryTeller(name, openedBy: "producer-phone")
        producer = try teller.actor("producer-phone", of: "Builder", as: "producer")
        first = try teller.actor("first-phone", of: "Calder", as: "carrier")
        rival = try teller.actor("rival-phone", of: "Pennine", as: "carrier")
        site = try teller.actor("site-phone", of: "Holbeck", as: "receiver")
        let collection = try teller.producerOffers(producer)
        teller.clock.advance(seconds: 60)
        try first.accept(collection)
        try rival.accept(collection)
        try rival.note("We have the load.", insisting: true)
        let delivery = try teller.carrierDrives(first, SampleValues.carrier, offeringTo: "receiver")
        try teller.siteTakes(site, delivery)
        try producer.set(["carrierName": .string("Not mine to say")], insisting: true)
    }

    var actors: [StoryActor] { [producer, first, rival, site] }
    var chain: UniqueID { teller.chain }
    var now: Timestamp { teller.clock.now }

    /// A store that knows the actors.
    func fixture(limits: ServerLimits = ServerLimits()) throws -> ServerFixture {
        try ServerFixture(teller.certificates, limits: limits)
    }
}

/// A path where nothing is, removed with what was put there.
final class TemporaryPath: Sendable {
    let path = NSTemporaryDirectory() + "/tallystick-" + UUID().uuidString

    deinit {
        for suffix in ["", "-wal", "-shm", ".keys"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
}
