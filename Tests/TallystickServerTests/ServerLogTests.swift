import Foundation
import Synchronization
import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// What those who run a server get to read.
struct ServerLogTests {
    private let story: Untold
    private let fixture: ServerFixture
    private let server: Server
    private let log = Log()

    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])

        func add(_ line: String) { lines.withLock { $0.append(line) } }

        /// The lines since it was asked last.
        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    init() throws {
        story = try Untold("log")
        fixture = try story.fixture()
        let clock = story.teller.clock
        server = Server(store: fixture.store, clock: { clock.now }, log: { [log] line in log.add(line) })
    }

    private var body: [UInt8] { Array(story.producer.said.map(\.line).joined(separator: [0x0A])) }

    @Test func saysThatTheDiskIsFull() throws {
        let client = Client(server)
        let token = try client.token(of: story.producer)
        try fixture.store.setLargestSize(pages: try fixture.number("PRAGMA page_count") ?? 0)
        try story.producer.note(String(repeating: "a long note, ", count: 600))
        #expect(client.post("v1/events", body, token: token).status == 503)
        let lines = log.take()
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("503 disk-full for POST /v1/events: disk-full: ") == true)
        #expect(lines.first?.contains("a long note") == false)
        #expect(lines.first?.contains(token) == false)
        try fixture.store.setLargestSize(pages: 1_000_000)
        #expect(client.post("v1/events", body, token: token).status == 200)
        #expect(client.get("v1/nothing", token: token).status == 404)
        #expect(client.get("v1/chains").status == 401)
        #expect(log.take() == [])
    }

    @Test func saysThatTheLogIsDamaged() throws {
        let client = Client(server)
        let token = try client.token(of: story.producer)
        #expect(client.post("v1/events", body, token: token).status == 200)
        try fixture.tamper("UPDATE feed SET number = number + 100 WHERE number > 2")
        #expect(client.get("v1/events", token: token).status == 500)
        #expect(log.take().first?.hasPrefix("500 internal for GET /v1/events: log-damaged: ") == true)
    }

    @Test func saysThatALineCouldNotBeWritten() throws {
        let client = Client(server)
        let token = try client.token(of: story.producer)
        try fixture.tamper("CREATE TRIGGER fail BEFORE INSERT ON fields BEGIN SELECT RAISE(ABORT, 'broken'); END")
        #expect(client.post("v1/events", body, token: token).status == 200)
        let lines = log.take()
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("a line of a push was put off: constraint: ") == true)
    }

    @Test func saysWhenItStartsAndStops() throws {
        try fixture.push(story.producer.said, from: story.producer, at: story.now)
        try server.start(address: "127.0.0.1", port: 0)
        let port = try #require(server.port)
        let position = try fixture.number("SELECT max(position) FROM entries") ?? 0
        #expect(
            log.take() == [
                "started on 127.0.0.1 port \(port) over HTTP, epoch \(fixture.store.epoch), log at position \(position)"
            ]
        )
        server.stop()
        server.stop()
        #expect(log.take() == ["stopped"])
    }

    @Test func saysThatTheClockIsBehind() throws {
        try fixture.push(story.producer.said, from: story.producer, at: story.now)
        story.teller.clock.advance(seconds: -90)
        try server.start(address: "127.0.0.1", port: 0)
        server.stop()
        #expect(log.take().contains { $0.hasPrefix("the clock is 90000 ms behind the newest time in the log") })
    }

    @Test func saysWhoEnrolled() throws {
        let code = try fixture.store.invite(
            party: "Aire Valley Builders",
            roles: [try Derived.name("producer")],
            validFor: 60,
            now: story.now
        )
        let key = SigningKey.generate()
        let proof = Base64.encode(key.signature(for: Array(code.utf8), domain: ServerStore.enrolDomain))
        let members = [("code", code), ("key", Base64.encode(key.publicKey.bytes)), ("proof", proof)]
        #expect(try Client(server).post("v1/enrol", members).status == 201)
        let lines = log.take()
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("enrolled device \(DeviceID(key.publicKey)) of “Aire Valley Builders”") == true)
        for (_, secret) in members { #expect(lines.first?.contains(secret) == false) }
        #expect(try Client(server).post("v1/enrol", [members[0], members[1], ("proof", "AAAA")]).status == 403)
        #expect(log.take() == [])
    }

    @Test(arguments: ["push", "pull", "session"])
    func saysOnceThatADeviceIsRevoked(_ occasion: String) throws {
        let client = Client(server)
        let token = try client.token(of: story.producer)
        let other = try client.token(of: story.first)
        let command = try ServerStore.open(
            path: fixture.path,
            schemes: fixture.store.schemes,
            random: SecureRandom.bytes
        )
        try command.revoke(story.producer.device, why: "a private matter", now: story.now)
        for _ in 0..<2 {
            switch occasion {
            case "push": #expect(client.post("v1/events", body, token: other).status == 200)
            case "pull": #expect(client.get("v1/events", token: token).status == 403)
            default: _ = try client.token(of: story.producer)
            }
        }
        #expect(client.post("v1/events", body, token: token).status == 200)
        #expect(
            log.take() == ["device \(story.producer.device) is revoked: its events are refused from here on"]
        )
        // What was revoked before it started is no news.
        let clock = story.teller.clock
        let next = Server(store: fixture.store, clock: { clock.now }, log: { [log] line in log.add(line) })
        #expect(Client(next).post("v1/events", body, token: try Client(next).token(of: story.first)).status == 200)
        #expect(log.take() == [])
    }

    @Test(arguments: [("a\nb\r\u{1B}[31m\u{2028}\u{202E}c", "a b  [31m  c"), ("“Brown & Söhne”", "“Brown & Söhne”")])
    func aLineIsALine(_ text: String, _ line: String) {
        #expect(Plain.line(text) == line)
        #expect(Plain.line(String(repeating: "x", count: 1_000)).count == 300)
    }
}
