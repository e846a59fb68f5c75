import Foundation
import Tallystick
import TallystickCrypto
import TallystickStore
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// What goes wrong takes nothing with it that was right.
struct FailureTests {
    private let story: Untold
    private let fixture: ServerFixture

    init() throws {
        story = try Untold("failures")
        fixture = try story.fixture()
    }

    private func expectAgreement() throws {
        try fixture.expectNoGaps()
        let report = try fixture.store.rebuild(check: true)
        #expect(report.differences == [])
        #expect(report.faults == [])
    }

    // MARK: Lines that are no events

    @Test func aBadSignatureUnderAVictimsHashDoesNotBlockTheVictim() throws {
        let victim = story.producer.said[0]
        var line = victim.line
        let text = Base64.encode(victim.signature)
        let forged = Base64.encode([victim.signature[0] ^ 1] + victim.signature.dropFirst())
        let range = try #require(String(decoding: line, as: UTF8.self).range(of: text))
        line = Array(String(decoding: line, as: UTF8.self).replacingCharacters(in: range, with: forged).utf8)
        let refused = try fixture.push([line], from: story.rival.device, at: story.now)
        #expect(refused[0].codes == [.badSignature])
        guard case .unreadable(let digest, let from, _, _)? = refused[0].entry?.content else {
            Issue.record("expected an entry keyed by the line's hash")
            return
        }
        #expect(digest == SHA256.hash(line))
        #expect(from == story.rival.device)
        let results = try fixture.push(story.producer.said, from: story.producer, at: story.now)
        #expect(results[0].status == .taken)
        #expect(results[0].verdict?.outcome == .accepted)
        let again = try fixture.push([line], from: story.rival.device, at: story.now)
        #expect(again[0].status == .known)
        #expect(again[0].entry == refused[0].entry)
        try expectAgreement()
    }

    @Test func anUnknownDevicesEventIsTakenOnceItHasEnrolled() throws {
        let other = try StoryTeller("stranger", openedBy: "phone")
        let stranger = try other.actor("phone", of: "Stranger", as: "producer")
        try stranger.open()
        let refused = try fixture.push(stranger.said, from: story.rival, at: story.now)
        #expect(refused[0].codes == [.unknownDevice])
        try fixture.admit(other.certificates)
        let results = try fixture.push(stranger.said, from: stranger, at: story.now)
        #expect(results[0].status == .taken)
        #expect(results[0].verdict?.outcome == .accepted)
        try expectAgreement()
    }

    @Test(arguments: ["", "{}", "{\"event\":{}}", "not json", "{\"event\": {}}", "\u{feff}{}"])
    func answersALineThatIsNoEvent(_ text: String) throws {
        let results = try fixture.push(
            [Array(text.utf8), story.producer.said[0].line],
            from: story.producer.device,
            at: story.now
        )
        #expect(results[0].verdict?.outcome == .refused)
        #expect([ReasonCode.notCanonical, .notAnEvent].contains(results[0].codes.first))
        #expect(results[1].verdict?.outcome == .accepted)
        let mine = try fixture.store.refusals(of: story.producer.party)["refusals"]?.elements
        #expect(mine?.count == 1)
        try expectAgreement()
    }

    @Test func refusesWhatARevokedDeviceSaysFromThereOn() throws {
        let count = story.producer.said.count
        try fixture.push(Array(story.producer.said.prefix(2)), from: story.producer, at: story.now)
        try fixture.store.revoke(story.producer.device, why: "lost", now: story.now)
        try fixture.store.revoke(story.producer.device, why: "lost", now: story.now)
        let results = try fixture.push(story.producer.said, from: story.producer, at: story.now)
        #expect(results.prefix(2).allSatisfy { $0.status == .known && $0.verdict?.outcome == .accepted })
        #expect(results.count == count)
        #expect(results.dropFirst(2).allSatisfy { $0.codes.contains(.deviceRevoked) })
        #expect(try fixture.number("SELECT count(*) FROM revocations") == 1)
        try expectAgreement()
        #expect(throws: ServerError.self) {
            try fixture.store.revoke(DeviceID(SigningKey.generate().publicKey), why: "?", now: story.now)
        }
    }

    @Test func noticesARevocationByAnotherProcess() throws {
        try fixture.push([story.producer.said[0]], from: story.producer, at: story.now)
        let other = try ServerStore.open(
            path: fixture.path,
            schemes: fixture.store.schemes,
            random: SecureRandom.bytes
        )
        try other.revoke(story.producer.device, why: "stolen", now: story.now)
        let results = try fixture.push([story.producer.said[1]], from: story.producer, at: story.now)
        #expect(results[0].codes == [.deviceRevoked])
        try expectAgreement()
    }

    // MARK: Failing writes

    @Test(arguments: ["notes", "fields", "events", "feed", "signatures", "handoffs"])
    func oneRowThatCannotBeWrittenCostsOnlyItsEvent(_ table: String) throws {
        try story.producer.note("boom")
        let number = try fixture.number("SELECT max(position) FROM entries") ?? 0
        try fixture.tamper("CREATE TRIGGER fail BEFORE INSERT ON \(table) BEGIN SELECT RAISE(ABORT, 'broken'); END")
        let results = try fixture.push(story.producer.said, from: story.producer, at: story.now)
        #expect(results.contains { $0.status == .deferred && $0.entry == nil })
        let taken = results.filter { $0.status == .taken }.compactMap(\.entry?.position)
        #expect(taken == Array(number + 1..<number + 1 + taken.count))
        try fixture.tamper("DROP TRIGGER fail")
        try expectAgreement()
        let later = try fixture.push(story.producer.said, from: story.producer, at: story.now)
        #expect(later.allSatisfy { $0.status != .deferred })
        #expect(later.dropLast(2).allSatisfy { $0.verdict?.outcome == .accepted })
        try expectAgreement()
    }

    @Test func aTransactionThatIsLostLeavesMemoryAndDatabaseAgreeing() throws {
        try fixture.push([story.producer.said[0]], from: story.producer, at: story.now)
        let before = try fixture.number("SELECT max(position) FROM entries")
        // Half-way through the push everything is rolled back, as by a process that ends.
        try fixture.tamper(
            "CREATE TRIGGER fail BEFORE INSERT ON signatures BEGIN SELECT RAISE(ROLLBACK, 'gone'); END"
        )
        #expect(throws: StoreError.self) {
            try fixture.push(story.producer.said, from: story.producer, at: story.now)
        }
        #expect(try fixture.number("SELECT max(position) FROM entries") == before)
        try fixture.tamper("DROP TRIGGER fail")
        try expectAgreement()
        let results = try fixture.push(story.producer.said, from: story.producer, at: story.now)
        #expect(results.map(\.status) == [.known] + Array(repeating: .taken, count: results.count - 1))
        #expect(results.dropLast().allSatisfy { $0.verdict?.outcome == .accepted })
        try expectAgreement()
    }

    @Test func aFullDiskTakesNothingAndRecovers() throws {
        try fixture.push([story.producer.said[0]], from: story.producer, at: story.now)
        let clock = story.teller.clock
        let server = Server(store: fixture.store, clock: { clock.now })
        let token = try Client(server).token(of: story.producer)
        let pages = try fixture.number("PRAGMA page_count") ?? 0
        try fixture.store.setLargestSize(pages: pages)
        let note = try story.producer.note(String(repeating: "a long note, ", count: 600))
        var request = HTTPRequest(method: "POST", target: HTTPTarget(path: ["v1", "events"]), body: note.line)
        request = Client.with(
            token,
            request,
            body: story.producer.said.map(\.line).joined(separator: [0x0A]).map { $0 }
        )
        let response = server.respond(to: request)
        #expect(response.status == 503)
        #expect(Client.problem(response) == "disk-full")
        try expectAgreement()
        try fixture.store.setLargestSize(pages: 1_000_000)
        #expect(server.respond(to: request).status == 200)
        let results = try fixture.push(story.producer.said, from: story.producer, at: story.now)
        #expect(results.allSatisfy { $0.status == .known })
        try expectAgreement()
    }

    // MARK: Files

    @Test func refusesKeysOfAnotherDatabase() throws {
        let other = try ServerFixture()
        let keys = fixture.path + ".keys"
        #expect(try FileManager.default.attributesOfItem(atPath: keys)[.posixPermissions] as? Int == 0o600)
        try Data(SecureRandom.bytes(64)).write(to: URL(filePath: other.path + ".keys"))
        let error = #expect(throws: ServerError.self) {
            try ServerStore.open(path: other.path, schemes: [], random: SecureRandom.bytes)
        }
        #expect(error?.code == .wrongKeys)
    }

    @Test func neverOverwritesADatabase() throws {
        let error = #expect(throws: ServerError.self) {
            try ServerStore.create(path: fixture.path, origin: "x", schemes: [], random: SecureRandom.bytes)
        }
        #expect(error?.code == .exists)
    }
}
