import Schemes
import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// Schemes that do not ship: how a server comes to know them, and how it decides with several versions.
struct SchemeTests {
    private let story: Untold
    private let fixture: ServerFixture
    private let client: Client

    init() throws {
        story = try Untold("schemes")
        fixture = try story.fixture()
        let clock = story.teller.clock
        client = Client(Server(store: fixture.store, clock: { clock.now }))
    }

    /// The store as another process has it open.
    private func another() throws -> ServerStore {
        try ServerStore.open(path: fixture.path, schemes: fixture.store.schemes, random: SecureRandom.bytes)
    }

    /// A parcel under a version, told by devices that the server knows; nobody has pushed.
    private func parcel(
        _ name: String,
        version: Int
    ) throws -> (teller: StoryTeller, sender: StoryActor, courier: StoryActor) {
        let teller = try StoryTeller(name, scheme: CourierParcel.scheme(version: version), openedBy: "sender")
        let sender = try teller.actor("sender", of: "Sender \(name)", as: "sender")
        let courier = try teller.actor("courier", of: "Courier \(name)", as: "courier")
        try fixture.admit(teller.certificates)
        try sender.open()
        return (teller, sender, courier)
    }

    private func codes(_ results: [PushReceipt.Result]) -> [[ReasonCode]] { results.map(\.codes) }

    // MARK: Adding

    @Test func decidesWithASchemeFromTheNextPositionOn() throws {
        let early = try parcel("early", version: 1)
        #expect(codes(try fixture.push(early.sender.said, from: early.sender, at: story.now)) == [[.schemeUnknown]])
        let position = try #require(try fixture.number("SELECT max(position) FROM entries"))
        #expect(try fixture.store.add(CourierParcel.scheme(version: 1)))
        #expect(try fixture.store.knownSchemes().last?.since == position)
        let late = try parcel("late", version: 1)
        #expect(codes(try fixture.push(late.sender.said, from: late.sender, at: story.now)) == [[]])
        // It was decided, and stays so.
        let again = try fixture.push(early.sender.said, from: early.sender, at: story.now)
        #expect(again.map(\.status) == [.known])
        #expect(codes(again) == [[.schemeUnknown]])
        #expect(try fixture.store.knownSchemes().map(\.chains) == [0, 1])
        #expect(try fixture.store.rebuild(check: true).isClean)
    }

    @Test func addsASchemeOnceAndRefusesOtherContentsUnderItsVersion() throws {
        let scheme = try CourierParcel.scheme(version: 1)
        #expect(try fixture.store.add(scheme))
        #expect(try !fixture.store.add(scheme))
        let other = try Scheme(
            scheme: Array(CourierParcel.text(version: 1, title: "Parcels").utf8),
            codeLists: [("services", Array(CourierParcel.services(version: 1).utf8))]
        )
        let error = #expect(throws: ServerError.self) { try fixture.store.add(other) }
        #expect(error?.code == .schemeTaken)
        #expect(error?.message.contains("courier-parcel") == true)
        #expect(try fixture.number("SELECT count(*) FROM schemes") == 2)
        #expect(try fixture.store.add(CourierParcel.scheme(version: 2)))
    }

    @Test func passesOverAShippedSchemeWhoseVersionIsTaken() throws {
        let scheme = try CourierParcel.scheme(version: 1)
        #expect(try fixture.store.add(scheme))
        let shipped = try Scheme(
            scheme: Array(CourierParcel.text(version: 1, title: "Shipped").utf8),
            codeLists: [("services", Array(CourierParcel.services(version: 1).utf8))]
        )
        let store = try ServerStore.open(path: fixture.path, schemes: [shipped], random: SecureRandom.bytes)
        #expect(store.passedOver == [shipped.reference])
        #expect(store.schemes.map(\.reference).contains(scheme.reference))
        #expect(!store.schemes.map(\.reference).contains(shipped.reference))
        #expect(fixture.store.passedOver == [])
    }

    @Test func invitesForRolesOfAnAddedScheme() throws {
        let role = try Derived.name("courier")
        #expect(throws: ServerError.self) {
            try fixture.store.invite(party: "Fast", roles: [role], validFor: 60, now: story.now)
        }
        #expect(try another().add(CourierParcel.scheme(version: 1)))
        #expect(try !fixture.store.invite(party: "Fast", roles: [role], validFor: 60, now: story.now).isEmpty)
    }

    // MARK: A running server

    @Test func takesNoteOfWhatAnotherProcessAdded() throws {
        let token = try client.token(of: story.producer)
        func listed() throws -> [String?] {
            try Client.json(client.get("v1/server"))["schemes"]?.elements?.map { $0["id"]?.text } ?? []
        }
        #expect(try listed() == ["uk-waste-transfer-note"])
        let scheme = try CourierParcel.scheme(version: 1)
        #expect(try another().add(scheme))
        #expect(try listed() == ["uk-waste-transfer-note", "courier-parcel"])
        let list = SchemeList(line: client.get("v1/schemes", token: token).body, signedBy: fixture.store.authority)
        #expect(list?.schemes.last == scheme.reference)
        #expect(client.get("v1/schemes/\(scheme.reference.hash.hex)", token: token).body == scheme.bytes)
        let parcel = try parcel("other-process", version: 1)
        #expect(codes(try fixture.push(parcel.sender.said, from: parcel.sender, at: story.now)) == [[]])
        #expect(try fixture.store.rebuild(check: true).isClean)
    }

    // MARK: Routes

    @Test func givesASchemeByItsHashForGood() throws {
        let scheme = try StoryTeller.wasteTransferNote.get()
        let path = "v1/schemes/\(scheme.reference.hash.hex)"
        for path in ["v1/schemes", path] {
            let response = client.get(path)
            #expect(response.status == 401)
            #expect(Client.problem(response) == "session-needed")
        }
        let token = try client.token(of: story.producer)
        let response = client.get(path, token: token)
        #expect(response.status == 200)
        #expect(response.headers["Cache-Control"] == "private, max-age=31536000, immutable")
        #expect(response.headers["Content-Type"] == "application/json")
        #expect(SHA256.hash(response.body) == scheme.reference.hash)
        #expect(try Scheme(bytes: response.body).reference == scheme.reference)
        let list = client.get("v1/schemes", token: token)
        #expect(list.headers["Cache-Control"] == "no-store")
        #expect(
            SchemeList(line: list.body, signedBy: fixture.store.authority)?.schemes == [scheme.reference]
        )
        #expect(SchemeList(line: list.body, signedBy: SigningKey.generate().publicKey) == nil)
        let unknown = SHA256.hash([]).hex
        for path in ["v1/schemes/\(unknown)", "v1/schemes/\(unknown.uppercased())", "v1/schemes/x", "\(path)/x"] {
            let response = client.get(path, token: token)
            #expect(response.status == 404, "\(path)")
            #expect(Client.problem(response) == "not-found")
        }
        #expect(client.post("v1/schemes", [], token: token).status == 405)
        try fixture.store.revoke(story.producer.device, why: "lost", now: story.now)
        for path in ["v1/schemes", path] {
            #expect(Client.problem(client.get(path, token: token)) == "device-revoked")
        }
    }

    // MARK: Versions

    @Test func aChainKeepsTheVersionItWasOpenedUnder() throws {
        #expect(try fixture.store.add(CourierParcel.scheme(version: 1)))
        let old = try parcel("old", version: 1)
        try fixture.push(old.sender.said, from: old.sender, at: story.now)
        #expect(try another().add(CourierParcel.scheme(version: 2)))
        let new = try parcel("new", version: 2)

        for (teller, sender, _) in [old, new] {
            // 30 November: only version 2 has `drone`, from tomorrow.
            try sender.set(["contents": .string("Books"), "service": .string("night")])
            try sender.set(["service": .string("drone")], insisting: true)
            teller.clock.advance(seconds: 86_400)
        }
        // 1 December: `night` has ended in version 2 alone, which also asks for the value.
        try old.sender.set(["service": .string("night")])
        try old.sender.sign()
        try new.sender.set(["service": .string("night")], insisting: true)
        try new.sender.sign(insisting: true)
        try new.sender.set(["service": .string("drone"), "value": .integer(40)])
        try new.sender.sign()
        for (teller, sender, courier) in [old, new] {
            try courier.accept(try sender.offer(to: "courier"))
            try courier.set(["van": .string("7")])
            teller.clock.advance(seconds: 60)
        }
        let now = old.teller.clock.now
        #expect(
            codes(try fixture.push(old.sender.said, from: old.sender, at: now))
                == [[], [], [.fieldInvalid], [], [], []]
        )
        #expect(
            codes(try fixture.push(new.sender.said, from: new.sender, at: now))
                == [[], [], [.fieldInvalid], [.fieldInvalid], [.missingField], [], [], []]
        )
        for (_, _, courier) in [old, new] {
            #expect(codes(try fixture.push(courier.said, from: courier, at: now)) == [[], []])
        }
        #expect(try fixture.store.knownSchemes().map(\.chains) == [0, 1, 1])

        let report = try fixture.store.rebuild(check: true)
        #expect(report.differences == [])
        #expect(report.faults == [])
        for (version, teller) in [(1, old.teller), (2, new.teller)] {
            let record = try #require(try fixture.store.record(of: teller.chain, for: nil, now: now))
            let audit = Audit.report(on: record, trusting: fixture.store.authority)
            #expect(audit.findings.isEmpty)
            #expect(audit.state?.scheme?.reference.version == version)
        }
    }
}
