import Tallystick
import TallystickCrypto
import Testing

@testable import TallystickDevice

/// The state machine by itself: no network, no file.
@Suite("Sync session")
struct SyncSessionTests {
    let authority = SigningKey.generate()
    let key = SigningKey.generate()
    let chain = UniqueID(milliseconds: 1_796_000_000_000, random: Array(repeating: 7, count: 10))
    let received = Timestamp(milliseconds: 1_796_000_000_000)
    /// The entry at number 5, which is where the device's cursor stands.
    static let newest = SHA256.hash(Array("entry 5".utf8))

    var device: DeviceID { DeviceID(key.publicKey) }

    func session(token: String? = "token") -> SyncSession {
        SyncSession(
            device: device,
            key: key,
            authority: authority.publicKey,
            epoch: "one",
            cursor: 5,
            newest: Self.newest,
            keys: [device: key.publicKey],
            token: token
        )
    }

    func line(_ seq: Int, chain other: UniqueID? = nil, padding: Int = 0) throws -> SyncSession.Line {
        let chain = try #require(other ?? chain)
        let id = try #require(UniqueID(milliseconds: Int64(seq), random: Array(repeating: 1, count: 10)))
        let event = try Event(
            Event.Draft(
                at: try #require(received),
                chain: chain,
                content: .noteAdded(text: "\(seq)" + String(repeating: "x", count: padding)),
                device: device,
                id: id,
                parents: [],
                role: World.name("producer"),
                seq: seq
            )
        )
        return SyncSession.Line(event: event.hash, chain: chain, bytes: SignedEvent(event, by: key).line)
    }

    func entry(_ line: SyncSession.Line, position: Int) throws -> LogEntry {
        LogEntry(
            position: position,
            content: .verdict(
                LogEntry.EventVerdict(
                    chain: line.chain,
                    event: line.event,
                    number: position,
                    received: try #require(received),
                    verdict: .accepted()
                )
            )
        )
    }

    func receipt(
        _ lines: [SyncSession.Line],
        epoch: String = "one",
        device: DeviceID? = nil,
        by signer: SigningKey? = nil,
        change: ([PushReceipt.Result]) -> [PushReceipt.Result] = { $0 }
    ) throws -> HTTPReply {
        let results = try lines.enumerated().map { index, line in
            PushReceipt.Result(
                line: SHA256.hash(line.bytes),
                status: .taken,
                entry: try entry(line, position: index + 1)
            )
        }
        let receipt = PushReceipt(
            epoch: epoch,
            device: device ?? self.device,
            received: try #require(received),
            results: change(results)
        )
        return HTTPReply(status: 200, body: try receipt.signed(by: signer ?? authority))
    }

    func page(
        after: Int,
        items: [PullPage.Item] = [],
        hasMore: Bool = false,
        epoch: String = "one",
        certificates: [Certificate] = [],
        previous: Digest? = newest,
        by signer: SigningKey? = nil
    ) throws -> HTTPReply {
        let page = PullPage(
            epoch: epoch,
            after: after,
            next: after + items.count,
            hasMore: hasMore,
            now: try #require(received),
            items: items,
            certificates: certificates,
            previous: previous
        )
        return HTTPReply(status: 200, body: try page.signed(by: signer ?? authority))
    }

    func path(_ action: SyncSession.Action) -> String? {
        if case .send(let request) = action { "\(request.method) \(request.path)" } else { nil }
    }

    func sent(_ action: SyncSession.Action) -> Int? {
        if case .send(let request) = action { request.body?.split(separator: 0x0A).count } else { nil }
    }

    func code(_ action: SyncSession.Action) -> DeviceError.Code? {
        if case .stop(let error, _, _) = action { error.code } else { nil }
    }

    @Test("opens a session with its key, pushes, pulls to the end, and finishes")
    func goesThrough() throws {
        var session = session(token: nil)
        #expect(path(session.start()) == "POST /v1/session")
        let challenge = Base64.encode(Array(repeating: 9, count: 32))
        let asked = HTTPReply(status: 200, body: Array("{\"challenge\":\"\(challenge)\"}".utf8))
        guard case .send(let request) = session.receive(asked) else {
            Issue.record("expected an answer to the challenge")
            return
        }
        let answer = try JSON.parse(request.body ?? [])
        let signature = try #require(answer["signature"]?.text.flatMap(Base64.decode))
        #expect(key.publicKey.isValid(signature, for: Array(repeating: 9, count: 32), domain: "tallystick/session/v1"))
        guard case .loadBatch = session.receive(HTTPReply(status: 200, body: Array("{\"token\":\"abc\"}".utf8))) else {
            Issue.record("expected to load a batch")
            return
        }
        let lines = try [line(1), line(2)]
        let push = session.push(lines)
        #expect(path(push) == "POST /v1/events")
        #expect(sent(push) == 2)
        guard case .saveReceipt(let receipt, let answered) = session.receive(try receipt(lines)) else {
            Issue.record("expected to save a receipt")
            return
        }
        #expect(receipt.results.count == 2)
        #expect(answered == lines)
        guard case .loadBatch = session.saved() else {
            Issue.record("expected to load a batch")
            return
        }
        #expect(path(session.push([])) == "GET /v1/events?after=5&limit=500")
        let event = try SignedEvent(line: lines[0].bytes)
        let item = PullPage.Item(entry: try entry(lines[0], position: 1), event: event)
        guard case .savePage = session.receive(try page(after: 5, items: [item], hasMore: true)) else {
            Issue.record("expected to save a page")
            return
        }
        #expect(path(session.saved()) == "GET /v1/events?after=6&limit=500")
        let second = try page(after: 6, previous: item.entry.digest())
        guard case .savePage = session.receive(second), case .finish = session.saved() else {
            Issue.record("expected to finish")
            return
        }
        #expect(session.token == "abc")
    }

    static let statuses: [(Int, DeviceError.Code)] = [
        (403, .serverRefused), (404, .serverRefused), (405, .serverRefused), (409, .serverRefused),
        (408, .serverUnreachable), (425, .serverUnreachable), (429, .serverUnreachable), (500, .serverUnreachable),
        (502, .serverUnreachable), (503, .serverUnreachable), (504, .serverUnreachable), (599, .serverUnreachable),
        (201, .serverMisbehaved), (204, .serverMisbehaved), (301, .serverMisbehaved), (302, .serverMisbehaved),
        (304, .serverMisbehaved),
    ]

    @Test("stops for later at a status, wherever it comes", arguments: statuses)
    func stopsAtAStatus(status: Int, expected: DeviceError.Code) throws {
        let reply = HTTPReply(status: status, headers: [.init(name: "retry-after", value: "77")])
        var opening = session(token: nil)
        _ = opening.start()
        #expect(code(opening.receive(reply)) == expected)
        var pushing = session()
        _ = pushing.start()
        let lines = try [line(1), line(2)]
        _ = pushing.push(lines)
        guard case .stop(let error, let retryAfter, let kept) = pushing.receive(reply) else {
            Issue.record("expected to stop")
            return
        }
        #expect(error.code == expected)
        #expect(retryAfter == 77)
        #expect(kept == lines)
        var pulling = session()
        _ = pulling.start()
        _ = pulling.push([])
        #expect(code(pulling.receive(reply)) == expected)
    }

    static let retryAfters: [(String, Int?)] = [
        ("5", 5), ("999999", 86_400), ("-1", nil), ("", nil), ("soon", nil), ("99999999999999999999", nil),
    ]

    @Test("reads a wait in seconds only, and at most a day", arguments: retryAfters)
    func readsRetryAfter(text: String, seconds: Int?) {
        let reply = HTTPReply(status: 429, headers: [.init(name: "Retry-After", value: text)])
        #expect(SyncSession.retryAfter(reply) == seconds)
    }

    @Test("renews its session once, sends the same batch again, and may renew after it went well")
    func renews() throws {
        var session = session()
        _ = session.start()
        let lines = try [line(1)]
        _ = session.push(lines)
        #expect(path(session.receive(HTTPReply(status: 401))) == "POST /v1/session")
        let challenge = Base64.encode(Array(repeating: 1, count: 32))
        _ = session.receive(HTTPReply(status: 200, body: Array("{\"challenge\":\"\(challenge)\"}".utf8)))
        let again = session.receive(HTTPReply(status: 200, body: Array("{\"token\":\"new\"}".utf8)))
        #expect(sent(again) == 1)
        if case .send(let request) = again {
            #expect(request.headers.contains { $0.name == "Authorization" && $0.value == "Bearer new" })
        }
        var second = session
        #expect(code(second.receive(HTTPReply(status: 401))) == .serverRefused)
        #expect(second.token == nil)
        _ = session.receive(try receipt(lines))
        _ = session.saved()
        #expect(path(session.push([])) == "GET /v1/events?after=5&limit=500")
        #expect(path(session.receive(HTTPReply(status: 401))) == "POST /v1/session")
        _ = session.receive(HTTPReply(status: 200, body: Array("{\"challenge\":\"\(challenge)\"}".utf8)))
        #expect(
            path(session.receive(HTTPReply(status: 200, body: Array("{\"token\":\"newer\"}".utf8))))
                == "GET /v1/events?after=5&limit=500"
        )
    }

    static let garbage = [
        "", "{", "null", "[]", "{}", "<html>", "{\"challenge\":\"AAAA\"}", "{\"token\":\"\"}", "{\"token\":\"a b\"}",
    ]

    @Test("believes no garbage", arguments: garbage)
    func believesNoGarbage(text: String) throws {
        let reply = HTTPReply(status: 200, body: Array(text.utf8))
        var opening = session(token: nil)
        _ = opening.start()
        #expect(code(opening.receive(reply)) == .serverMisbehaved)
        var answering = session(token: nil)
        _ = answering.start()
        let challenge = Base64.encode(Array(repeating: 1, count: 32))
        _ = answering.receive(HTTPReply(status: 200, body: Array("{\"challenge\":\"\(challenge)\"}".utf8)))
        #expect(code(answering.receive(reply)) == .serverMisbehaved)
        var pushing = session()
        _ = pushing.start()
        _ = pushing.push([try line(1)])
        #expect(code(pushing.receive(reply)) == .serverMisbehaved)
        var pulling = session()
        _ = pulling.start()
        _ = pulling.push([])
        #expect(code(pulling.receive(reply)) == .serverMisbehaved)
    }

    @Test("believes no receipt that was cut anywhere", arguments: 1...40)
    func believesNoPart(part: Int) throws {
        var session = session()
        _ = session.start()
        let lines = try [line(1)]
        _ = session.push(lines)
        let body = try receipt(lines).body
        let reply = HTTPReply(status: 200, body: Array(body.prefix(body.count * part / 41)))
        #expect(code(session.receive(reply)) == .serverMisbehaved)
    }

    @Test("believes no receipt for other lines, another device, or by another key")
    func believesNoOtherReceipt() throws {
        let lines = try [line(1), line(2)]
        let replies = try [
            receipt(lines, by: key),
            receipt(lines, device: DeviceID(authority.publicKey)),
            receipt([lines[0]]),
            receipt([lines[1], lines[0]]),
            receipt(lines + [line(3)]),
            // The right line with the verdict on another.
            receipt(lines) { results in
                results.map { PushReceipt.Result(line: $0.line, status: .taken, entry: results[0].entry) }
            },
            receipt(lines) { results in
                results.map { PushReceipt.Result(line: $0.line, status: .taken, entry: nil) }
            },
            receipt(lines) { results in
                results.map { PushReceipt.Result(line: $0.line, status: .deferred, entry: $0.entry) }
            },
            // An unreadable line cannot be accepted.
            receipt(lines) { results in
                results.map { result in
                    PushReceipt.Result(
                        line: result.line,
                        status: .taken,
                        entry: received.map { time in
                            LogEntry(
                                position: 1,
                                content: .unreadable(result.line, from: device, received: time, .accepted())
                            )
                        }
                    )
                }
            },
        ]
        for (index, reply) in replies.enumerated() {
            var session = session()
            _ = session.start()
            _ = session.push(lines)
            #expect(code(session.receive(reply)) == .serverMisbehaved, "\(index)")
        }
    }

    @Test("believes no page with a gap, another signature, or events that are not their devices'")
    func believesNoOtherPage() throws {
        let stranger = SigningKey.generate()
        let line = try line(1)
        let entry = try entry(line, position: 1)
        let event = try SignedEvent(line: line.bytes)
        func certificate(by signer: SigningKey, of key: SigningKey) throws -> Certificate {
            try Certificate(
                Certificate.Draft(
                    key: key.publicKey,
                    notBefore: try #require(received),
                    notAfter: try #require(received),
                    party: try #require(chain),
                    partyName: "x",
                    person: nil,
                    roles: [World.name("producer")],
                    serial: 1
                ),
                by: signer
            )
        }
        let forged = try SignedEvent(
            line: Array(
                String(decoding: line.bytes, as: UTF8.self).replacing(
                    Base64.encode(event.signature),
                    with: Base64.encode(stranger.signature(for: event.event.bytes, domain: Event.domain))
                ).utf8
            )
        )
        let foreign = try SignedEvent(
            Event(
                Event.Draft(
                    at: try #require(received),
                    chain: try #require(chain),
                    content: .noteAdded(text: "x"),
                    device: DeviceID(stranger.publicKey),
                    id: try #require(chain),
                    parents: [],
                    role: World.name("producer"),
                    seq: 1
                )
            ),
            by: stranger
        )
        let foreignEntry = try self.entry(
            SyncSession.Line(event: foreign.event.hash, chain: foreign.event.chain, bytes: []),
            position: 1
        )
        let replies = try [
            page(after: 4), page(after: 6), page(after: 0), page(after: 5, by: key), page(after: 5, hasMore: true),
            page(after: 5, items: [PullPage.Item(entry: entry, event: forged)]),
            page(after: 5, items: [PullPage.Item(entry: foreignEntry, event: event)]),
            page(after: 5, items: [PullPage.Item(entry: foreignEntry, event: foreign)]),
            page(
                after: 5,
                items: [PullPage.Item(entry: foreignEntry, event: foreign)],
                certificates: [certificate(by: stranger, of: stranger)]
            ),
            page(after: 5, certificates: [certificate(by: key, of: key)]),
        ]
        for (index, reply) in replies.enumerated() {
            var session = session()
            _ = session.start()
            _ = session.push([])
            #expect(code(session.receive(reply)) == .serverMisbehaved, "\(index)")
        }
        var good = session()
        _ = good.start()
        _ = good.push([])
        let reply = try page(
            after: 5,
            items: [PullPage.Item(entry: foreignEntry, event: foreign)],
            certificates: [certificate(by: authority, of: stranger)]
        )
        guard case .savePage = good.receive(reply) else {
            Issue.record("expected to save a good page")
            return
        }
    }

    @Test("divides pushes by number and bytes, in order")
    func divides() throws {
        let small = try (1...1_201).map { try line($0) }
        #expect(SyncSession.batches(of: small).map(\.count) == [500, 500, 201])
        #expect(SyncSession.batches(of: small).flatMap { $0 } == small)
        let large = try (1...300).map { try line($0, padding: 8_000) }
        let batches = SyncSession.batches(of: large)
        #expect(batches.flatMap { $0 } == large)
        for batch in batches {
            #expect(batch.reduce(0) { $0 + $1.bytes.count + 1 } <= SyncSession.mostBytes)
        }
        #expect(batches.count == 3)
        let chain = try #require(chain)
        let oversize = SyncSession.Line(
            event: small[0].event,
            chain: chain,
            bytes: Array(repeating: 0, count: SyncSession.mostBytes + 1)
        )
        #expect(SyncSession.batches(of: [small[0], oversize, small[1]]).map(\.count) == [1, 1, 1])
    }

    @Test("halves what is too large until one event is kept back alone", arguments: [400, 413, 422])
    func halves(status: Int) throws {
        let other = try #require(UniqueID(milliseconds: 1, random: Array(repeating: 3, count: 10)))
        let lines = try [line(1), line(2), line(3, chain: other), line(4)]
        var session = session()
        _ = session.start()
        #expect(sent(session.push(lines)) == 4)
        #expect(sent(session.receive(HTTPReply(status: status))) == 2)
        #expect(sent(session.receive(HTTPReply(status: status))) == 1)
        guard case .park(let parked, let error) = session.receive(HTTPReply(status: status)) else {
            Issue.record("expected to keep one line back")
            return
        }
        #expect(parked == lines[0])
        #expect(error.code == (status == 413 ? .tooLarge : .serverRefused))
        // What follows it in its chain stays too; other chains go on.
        let next = session.saved()
        #expect(sent(next) == 1)
        guard case .saveReceipt(_, let answered) = session.receive(try receipt([lines[2]])) else {
            Issue.record("expected a receipt for the other chain")
            return
        }
        #expect(answered == [lines[2]])
    }

    @Test("starts over once when the server's database is another, and trusts no second change")
    func startsOver() throws {
        let lines = try [line(1)]
        var session = session()
        _ = session.start()
        _ = session.push(lines)
        guard case .startOver("two") = session.receive(try receipt(lines, epoch: "two")),
            case .saveReceipt(_, let answered) = session.saved(), case .loadBatch = session.saved()
        else {
            Issue.record("expected to start over and then save the receipt")
            return
        }
        #expect(answered == lines)
        #expect(path(session.push([])) == "GET /v1/events?after=0&limit=500")
        #expect(code(session.receive(try page(after: 0, epoch: "three"))) == .serverMisbehaved)

        var pulling = self.session()
        _ = pulling.start()
        _ = pulling.push([])
        let other = try page(after: 5, epoch: "two")
        guard case .startOver("two") = pulling.receive(other), case .loadBatch = pulling.saved() else {
            Issue.record("expected to start over from a page")
            return
        }
    }

    @Test("waits longer each time, by chance, and never more than half an hour", arguments: 1...40)
    func waits(attempts: Int) {
        let least = Backoff.milliseconds(after: attempts, chance: [0, 0])
        let most = Backoff.milliseconds(after: attempts, chance: [255, 255])
        #expect(least >= 2_500 && least < most && most <= 30 * 60_000)
        #expect(most >= Backoff.milliseconds(after: attempts - 1, chance: [255, 255]))
        #expect(Backoff.milliseconds(after: Int.max, chance: [255, 255]) == 30 * 60_000)
    }
}
