import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// The routes, asked without a socket.
struct RouteTests {
    private let story: Untold
    private let fixture: ServerFixture
    private let client: Client

    init() throws {
        story = try Untold("routes")
        fixture = try story.fixture()
        let clock = story.teller.clock
        client = Client(Server(store: fixture.store, clock: { clock.now }))
    }

    private func push(_ actor: StoryActor, token: String) -> HTTPResponse {
        client.post("v1/events", Array(actor.said.map(\.line).joined(separator: [0x0A])), token: token)
    }

    // MARK: Sessions

    @Test func opensASessionForWhoSignsTheChallenge() throws {
        let challenge = try client.challenge(for: story.producer.device)
        #expect(challenge.count == 32)
        let response = try client.answer(challenge, as: story.producer.device, key: story.producer.key)
        #expect(response.status == 200)
        let expires = try #require(try Client.json(response)["expires"]?.text.flatMap { Timestamp($0) })
        #expect(expires.milliseconds == story.now.milliseconds + 3_600_000)
    }

    @Test func refusesAReplayedChallenge() throws {
        let challenge = try client.challenge(for: story.producer.device)
        #expect(try client.answer(challenge, as: story.producer.device, key: story.producer.key).status == 200)
        let again = try client.answer(challenge, as: story.producer.device, key: story.producer.key)
        #expect(again.status == 401)
        #expect(Client.problem(again) == "challenge-invalid")
    }

    @Test func refusesAChallengeOfAnotherDevice() throws {
        let challenge = try client.challenge(for: story.producer.device)
        let response = try client.answer(challenge, as: story.first.device, key: story.first.key)
        #expect(response.status == 401)
        // It is used up all the same.
        #expect(try client.answer(challenge, as: story.producer.device, key: story.producer.key).status == 401)
    }

    @Test func refusesAnotherKeysSignature() throws {
        let challenge = try client.challenge(for: story.producer.device)
        #expect(try client.answer(challenge, as: story.producer.device, key: story.first.key).status == 401)
    }

    @Test func refusesAChallengeThatIsTooOld() throws {
        let challenge = try client.challenge(for: story.producer.device)
        story.teller.clock.advance(seconds: 60)
        #expect(try client.answer(challenge, as: story.producer.device, key: story.producer.key).status == 401)
    }

    @Test func refusesADeviceThatHasNotEnrolled() throws {
        let device = DeviceID(SigningKey.generate().publicKey)
        let response = try client.post("v1/session", [("device", device.description)])
        #expect(response.status == 401)
        #expect(Client.problem(response) == "unknown-device")
    }

    @Test(arguments: ["v1/events", "v1/chains", "v1/refusals", "v1/chains/0193790a-5a00-7000-8000-000000000000/record"])
    func asksForASession(_ path: String) throws {
        for token in [nil, "", "nonsense"] {
            let response = client.get(path, token: token)
            #expect(response.status == 401)
            #expect(Client.problem(response) == "session-needed")
            #expect(response.headers["WWW-Authenticate"] == "Bearer")
        }
    }

    @Test func refusesATokenThatHasExpired() throws {
        let token = try client.token(of: story.producer)
        #expect(client.get("v1/chains", token: token).status == 200)
        story.teller.clock.advance(seconds: 3_600)
        #expect(client.get("v1/chains", token: token).status == 401)
        #expect(push(story.producer, token: token).status == 401)
        #expect(try fixture.number("SELECT count(*) FROM events") == 0)
    }

    @Test func keepsChallengesAndTokensBounded() throws {
        var sessions = Sessions(mostChallenges: 8, mostTokens: 8)
        let now = story.now
        for number in 0..<100 {
            sessions.issue([UInt8(number)], to: story.producer.device, now: now)
            _ = sessions.open("\(number)", for: story.producer.device, now: now)
        }
        let challenges = (0..<100).filter { sessions.redeem([UInt8($0)], by: story.producer.device, now: now) }
        #expect(challenges.count <= 8)
        #expect(challenges.contains(99))
        let tokens = (0..<100).filter { sessions.device(of: "\($0)", now: now) != nil }
        #expect(tokens.count <= 8)
        #expect(tokens.contains(99))
    }

    // MARK: Enrolment

    private func enrol(_ code: String, _ key: SigningKey, signing text: String? = nil) throws -> HTTPResponse {
        let proof = key.signature(for: Array((text ?? code).utf8), domain: ServerStore.enrolDomain)
        return try client.post(
            "v1/enrol",
            [
                ("code", code), ("key", Base64.encode(key.publicKey.bytes)), ("proof", Base64.encode(proof)),
            ]
        )
    }

    private func invite(_ party: String = "Aire Valley Builders", seconds: Int = 600) throws -> String {
        let roles = [try Derived.name("producer")]
        return try fixture.store.invite(party: party, roles: roles, validFor: seconds, now: story.now)
    }

    @Test func enrolsADeviceThatCanThenWork() throws {
        let code = try invite()
        #expect(code.utf8.count == 19)
        let key = SigningKey.generate()
        let response = try enrol(code, key)
        #expect(response.status == 201)
        let json = try Client.json(response)
        let certificate = try Certificate(line: try #require(json["certificate"]).canonicalBytes())
        #expect(certificate.isSigned(by: fixture.store.authority))
        #expect(certificate.key == key.publicKey)
        #expect(certificate.partyName == "Aire Valley Builders")
        let handoffKey = try HandoffKey(bytes: try #require(json["handoffKey"]?.text.flatMap(Base64.decode)))
        let device = DeviceID(key.publicKey)
        let secret = Derived.bytes("server-secret", count: 32)
        #expect(handoffKey.bytes == (try HandoffKey(serverSecret: secret, device: device, number: 1).bytes))
        #expect(json["epoch"]?.text == fixture.store.epoch)
        #expect(json["origin"]?.text == "server.example")
        let session = try client.answer(try client.challenge(for: device), as: device, key: key)
        #expect(session.status == 200)
        #expect(try fixture.store.rebuild(check: true).isClean)
    }

    @Test func givesTheSameKeyTheSameCertificateAgain() throws {
        let code = try invite()
        let key = SigningKey.generate()
        let first = try Client.json(try enrol(code, key))
        story.teller.clock.advance(seconds: 10_000)
        let again = try enrol(code, key)
        #expect(again.status == 201)
        #expect(try Client.json(again)["certificate"] == first["certificate"])
        let other = try enrol(code, SigningKey.generate())
        #expect(other.status == 403)
        #expect(Client.problem(other) == "invitation-invalid")
    }

    @Test func refusesAWrongExpiredOrUnprovenCode() throws {
        let code = try invite(seconds: 60)
        let key = SigningKey.generate()
        for (text, signed) in [("0000-0000-0000-0000", nil), ("?", nil), (code, "another")] as [(String, String?)] {
            let response = try enrol(text, key, signing: signed)
            #expect(response.status == 403)
            #expect(Client.problem(response) == "invitation-invalid")
        }
        story.teller.clock.advance(seconds: 60)
        #expect(try enrol(code, key).status == 403)
        #expect(try fixture.number("SELECT count(*) FROM certificates") == 4)
    }

    @Test func readsACodeAsPeopleTypeIt() throws {
        let code = try invite()
        #expect(try enrol(" " + code.lowercased().replacing("-", with: " "), SigningKey.generate()).status == 201)
    }

    @Test func refusesAKeyThatEnrolledWithAnotherCode() throws {
        let key = SigningKey.generate()
        #expect(try enrol(try invite(), key).status == 201)
        let response = try enrol(try invite(), key)
        #expect(response.status == 403)
        #expect(Client.problem(response) == "already-enrolled")
    }

    @Test func oneNameIsOneParty() throws {
        let parties = try ["One", "One", "one"].map { name in
            let response = try enrol(try invite(name), SigningKey.generate())
            return try Client.json(response)["certificate"]?["certificate"]?["party"]?.text
        }
        #expect(parties[0] == parties[1])
        #expect(parties[0] != parties[2])
    }

    @Test func invitesOnlyToRolesThatThereAre() throws {
        let error = #expect(throws: ServerError.self) {
            try fixture.store.invite(
                party: "X",
                roles: [try Derived.name("pilot")],
                validFor: 60,
                now: story.now
            )
        }
        #expect(error?.code == .badValue)
    }

    // MARK: Events and chains

    @Test func takesEventsAndGivesThemBack() throws {
        let token = try client.token(of: story.producer)
        let response = push(story.producer, token: token)
        #expect(response.status == 200)
        let receipt = try PushReceipt(line: response.body, signedBy: fixture.store.authority)
        #expect(receipt.results.count == story.producer.said.count)
        let pulled = client.get("v1/events", token: token, [("after", "1"), ("limit", "2")])
        let page = try PullPage(line: pulled.body, signedBy: fixture.store.authority)
        #expect(page.after == 1)
        #expect(page.next == 3)
        #expect(page.hasMore)
        #expect(page.items.compactMap(\.event?.event.hash) == story.producer.said[1...2].map(\.event.hash))
    }

    @Test func aChainOfOthersIsNotThere() throws {
        let token = try client.token(of: story.producer)
        #expect(push(story.producer, token: token).status == 200)
        let stranger = try client.token(of: story.site)
        for path in ["v1/chains/\(story.chain)", "v1/chains/\(story.chain)/record"] {
            #expect(client.get(path, token: token).status == 200)
            let response = client.get(path, token: stranger)
            #expect(response.status == 404)
            let nowhere = client.get(path.replacing("\(story.chain)", with: "nonsense"), token: stranger)
            // Nobody can tell the two apart.
            #expect(nowhere.status == 404)
            #expect(nowhere.body == response.body)
        }
        #expect(try Client.json(client.get("v1/chains", token: stranger))["chains"]?.elements?.count == 0)
    }

    @Test func showsAPartysChains() throws {
        for actor in story.actors { #expect(push(actor, token: try client.token(of: actor)).status == 200) }
        let token = try client.token(of: story.first)
        let list = try Client.json(client.get("v1/chains", token: token))["chains"]?.elements ?? []
        #expect(list.count == 1)
        #expect(list.first?["chain"]?.text == story.chain.description)
        #expect(list.first?["role"]?.text == "receiver")
        #expect(list.first?["holder_name"]?.text == "Holbeck")
        #expect(list.first?["contested"]?.integer == 1)
        let chain = try Client.json(client.get("v1/chains/\(story.chain)", token: token))
        #expect(chain["legs"]?.elements?.compactMap { $0["role"]?.text } == ["producer", "carrier", "receiver"])
        let fields = chain["fields"]?.elements ?? []
        let quantity = fields.first { $0["path"]?.text == "wasteItems/1/quantity" }
        #expect(quantity?["value"] == SampleValues.quantity("7.5", "t"))
        #expect(quantity?["device"]?.text == story.producer.device.description)
        let refusals = try Client.json(client.get("v1/refusals", token: try client.token(of: story.rival)))
        let codes = (refusals["refusals"]?.elements ?? []).compactMap { $0["codes"]?.text }
        #expect(codes.contains("offer-taken"), "\(codes)")
    }

    @Test(arguments: [false, true])
    func aRevokedDeviceMayPushAndNotRead(_ opensItsSessionLater: Bool) throws {
        let early = try client.token(of: story.producer)
        try fixture.store.revoke(story.producer.device, why: "lost", now: story.now)
        let session = try client.answer(
            try client.challenge(for: story.producer.device),
            as: story.producer.device,
            key: story.producer.key
        )
        #expect(try Client.json(session)["revoked"]?.boolean == true)
        let token = opensItsSessionLater ? try #require(try Client.json(session)["token"]?.text) : early
        let response = push(story.producer, token: token)
        let receipt = try PushReceipt(line: response.body, signedBy: fixture.store.authority)
        #expect(receipt.results.allSatisfy { $0.codes.contains(.deviceRevoked) })
        for path in ["v1/events", "v1/chains", "v1/refusals"] {
            let refused = client.get(path, token: token)
            #expect(refused.status == 403)
            #expect(Client.problem(refused) == "device-revoked")
            let detail = try #require(try Client.json(refused)["detail"]?.text)
            #expect(detail.hasPrefix("this device was revoked"))
            #expect(detail.contains("it may still push"))
        }
    }

    @Test func refusesPushesThatAreTooLarge() throws {
        let token = try client.token(of: story.producer)
        let many = client.post("v1/events", Array(repeating: 0x0A, count: 501), token: token)
        #expect(many.status == 413)
        #expect(Client.problem(many) == "too-many-events")
        let large = client.post("v1/events", Array(repeating: 0x20, count: (1 << 20) + 1), token: token)
        #expect(large.status == 413)
        #expect(Client.problem(large) == "too-large")
        #expect(client.post("v1/events", [], token: token).status == 400)
        #expect(try fixture.number("SELECT count(*) FROM unreadable") == 0)
    }

    @Test func endsALineWithALineFeedOrNot() throws {
        let token = try client.token(of: story.producer)
        let response = client.post("v1/events", story.producer.said[0].line + [0x0A], token: token)
        #expect(try PushReceipt(line: response.body, signedBy: fixture.store.authority).results.count == 1)
    }

    // MARK: The rest

    @Test func tellsAboutItself() throws {
        let about = try Client.json(client.get("v1/server"))
        #expect(about["authority"]?.text == Base64.encode(fixture.store.authority.bytes))
        #expect(about["limits"]?["pushEvents"]?.integer == 500)
        #expect(about["schemes"]?.elements?.first?["id"]?.text == "uk-waste-transfer-note")
        #expect(about["now"]?.text == story.now.description)
        #expect(try Client.json(client.get("v1/health"))["status"]?.text == "ok")
    }

    @Test(arguments: ["", "v1", "v2/health", "v1/nothing", "v1/health/more", "v1/chains/x/y", "v1/chains/x/record/z"])
    func thereIsNothingElse(_ path: String) throws {
        let response = client.get(path, token: try client.token(of: story.producer))
        #expect(response.status == 404)
        #expect(Client.problem(response) == "not-found")
    }

    @Test(arguments: ["v1/enrol", "v1/session", "v1/health", "v1/server", "v1/chains", "v1/refusals"])
    func saysWhichMethodsThereAre(_ path: String) throws {
        let target = HTTPTarget(path: path.split(separator: "/").map(String.init))
        let token = try client.token(of: story.producer)
        let request = Client.with(token, HTTPRequest(method: "DELETE", target: target))
        let response = client.server.respond(to: request)
        #expect(response.status == 405)
        #expect(Client.problem(response) == "method-not-allowed")
        #expect(["GET", "POST"].contains(response.headers["Allow"] ?? ""))
    }

    @Test(arguments: ["v1/enrol", "v1/session"], ["", "{", "[]", "{\"code\":1}", "{\"device\":\"x\"}"])
    func refusesBodiesItDoesNotUnderstand(_ path: String, _ body: String) {
        let response = client.post(path, Array(body.utf8))
        #expect(response.status == 400)
        #expect(Client.problem(response) == "bad-request")
    }

    @Test(arguments: [[("after", "-1")], [("limit", "x")], [("after", "99999999999999999999")]])
    func refusesNumbersThatAreNone(_ query: [(String, String)]) throws {
        let response = client.get("v1/events", token: try client.token(of: story.producer), query)
        #expect(response.status == 400)
    }

    @Test func servesOverASocket() throws {
        let clock = story.teller.clock
        let server = Server(store: fixture.store, clock: { clock.now })
        #expect(server.port == nil)
        try server.start(address: "127.0.0.1", port: 0)
        defer { server.stop() }
        #expect(server.port ?? 0 > 0)
    }
}
