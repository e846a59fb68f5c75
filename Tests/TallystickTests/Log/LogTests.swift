import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// Entries, receipts and pages: read as they were written, by whoever holds the server's key only.
@Suite struct LogTests {
    private static func entries() throws -> [LogEntry] {
        let told = try Stories.twoTakers()
        told.referee.revoke(told.teller.certificates[0].device, why: "lost")
        let entries: [LogEntry] = told.referee.log.compactMap { line in
            if case .entry(let entry) = line { entry } else { nil }
        }
        let device = told.teller.certificates[0].device
        let waiting = Verdict.waiting([.event(SHA256.hash([])), .offer(try Derived.offer("o")), .opening])
        let received = told.teller.clock.now
        return entries + [
            LogEntry(
                position: 99,
                content: .verdict(
                    LogEntry.EventVerdict(
                        chain: told.teller.chain,
                        event: SHA256.hash([]),
                        number: 16,
                        received: received,
                        verdict: waiting
                    )
                )
            ),
            LogEntry(
                position: 100,
                content: .unreadable(SHA256.hash([1]), from: device, received: received, .refused([]))
            ),
        ]
    }

    @Test func readsEntriesAsTheyWereWritten() throws {
        let entries = try Self.entries()
        #expect(entries.count > 20)
        for entry in entries {
            let bytes = try entry.json.canonicalBytes()
            #expect(try LogEntry(JSON.parseCanonical(bytes[...])) == entry)
        }
    }

    @Test(arguments: [
        "{}", "[]", "null", "{\"position\":1}",
        "{\"position\":0,\"revoked\":\"00000000000000000000000000000000\",\"why\":\"\"}",
        "{\"position\":1.0,\"revoked\":\"00000000000000000000000000000000\",\"why\":\"\"}",
        "{\"position\":1,\"revoked\":\"0000\",\"why\":\"\"}",
        "{\"position\":1,\"revoked\":\"00000000000000000000000000000000\"}",
    ])
    func refusesWhatIsNoEntry(text: String) throws {
        let json = try JSON.parse(Array(text.utf8))
        #expect(throws: EventError.self) { try LogEntry(json) }
    }

    @Test(arguments: [
        "{}", "{\"outcome\":\"maybe\"}", "{\"outcome\":\"refused\",\"reasons\":[{}]}",
        "{\"outcome\":\"waiting\",\"waitsFor\":[{}]}",
        "{\"outcome\":\"accepted\",\"warnings\":[1]}", "{\"handoff\":{},\"outcome\":\"accepted\"}",
        "{\"handoff\":{\"mac\":\"matched\",\"time\":\"guessed\"},\"outcome\":\"accepted\"}",
    ])
    func refusesWhatIsNoVerdict(text: String) throws {
        #expect(Verdict(try JSON.parse(Array(text.utf8))) == nil)
    }

    private func receipt() throws -> PushReceipt {
        PushReceipt(
            epoch: "e",
            device: DeviceID(try Derived.key("device").publicKey),
            received: try Derived.moment("2026-11-30T13:00:00.000Z"),
            results: [
                PushReceipt.Result(line: SHA256.hash([1]), status: .taken, entry: try Self.entries().last),
                PushReceipt.Result(line: SHA256.hash([2]), status: .known, entry: try Self.entries().first),
                PushReceipt.Result(line: SHA256.hash([3]), status: .deferred, entry: nil),
            ]
        )
    }

    @Test func readsAReceiptOfItsOwnServerOnly() throws {
        let key = try Derived.key("authority")
        let receipt = try receipt()
        let line = try receipt.signed(by: key)
        let read = try PushReceipt(line: line, signedBy: key.publicKey)
        #expect(read.epoch == "e" && read.device == receipt.device && read.received == receipt.received)
        #expect(read.results.map(\.status) == [.taken, .known, .deferred])
        #expect(read.results.map(\.entry) == receipt.results.map(\.entry))
        let other = try Derived.key("somebody").publicKey
        let error = #expect(throws: EventError.self) { try PushReceipt(line: line, signedBy: other) }
        #expect(error?.code == .badSignature)
        let changed = String(decoding: line, as: UTF8.self).replacing("deferred", with: "known")
        let altered = #expect(throws: EventError.self) {
            try PushReceipt(line: Array(changed.utf8), signedBy: key.publicKey)
        }
        #expect(altered?.code == .badSignature)
    }

    /// A receipt is no page, though one domain signs both.
    @Test func keepsReceiptsAndPagesApart() throws {
        let key = try Derived.key("authority")
        let line = try receipt().signed(by: key)
        #expect(throws: EventError.self) { try PullPage(line: line, signedBy: key.publicKey) }
        let page = try page(after: 0, next: 2).signed(by: key)
        #expect(throws: EventError.self) { try PushReceipt(line: page, signedBy: key.publicKey) }
    }

    private func page(after: Int, next: Int) throws -> PullPage {
        let told = try Stories.plain()
        let events: [SignedEvent] = told.referee.log.compactMap { line in
            if case .event(let signed) = line { signed } else { nil }
        }
        let entries = try Self.entries()
        return PullPage(
            epoch: "e",
            after: after,
            next: next,
            hasMore: true,
            now: told.teller.clock.now,
            items: [
                PullPage.Item(entry: entries[0], event: nil), PullPage.Item(entry: entries[1], event: events[1]),
            ],
            certificates: told.teller.certificates,
            previous: after == 0 ? nil : SHA256.hash(Array("previous".utf8))
        )
    }

    @Test func readsAPageAsItWasWritten() throws {
        let key = try Derived.key("authority")
        let page = try page(after: 7, next: 9)
        let read = try PullPage(line: page.signed(by: key), signedBy: key.publicKey)
        #expect(read.after == 7 && read.next == 9 && read.hasMore && read.now == page.now)
        #expect(read.items.map(\.entry) == page.items.map(\.entry))
        #expect(read.items.map(\.event?.line) == page.items.map(\.event?.line))
        #expect(read.certificates.map(\.line) == page.certificates.map(\.line))
        let authority = read.certificates.allSatisfy { $0.isSigned(by: key.publicKey) }
        #expect(authority)
        let other = try Derived.key("somebody").publicKey
        #expect(throws: EventError.self) { try PullPage(line: page.signed(by: key), signedBy: other) }
    }

    @Test func readsWhatThePageFollows() throws {
        let key = try Derived.key("authority")
        let followed = try PullPage(line: page(after: 7, next: 9).signed(by: key), signedBy: key.publicKey)
        #expect(followed.previous == SHA256.hash(Array("previous".utf8)))
        let first = try PullPage(line: page(after: 0, next: 2).signed(by: key), signedBy: key.publicKey)
        #expect(first.previous == nil)
    }

    /// Signed as it stands: a page that says nothing about what it follows, or something else, is none.
    @Test(arguments: [nil, "1", "\"\"", "\"00\"", "[]", "true"] as [String?])
    func refusesAPageThatDoesNotSayWhatItFollows(previous: String?) throws {
        let key = try Derived.key("authority")
        let line = String(decoding: try page(after: 0, next: 2).signed(by: key), as: UTF8.self)
        let start = try #require(line.firstRange(of: "{\"page\":")).upperBound
        let end = try #require(line.ranges(of: ",\"signature\":").last).lowerBound
        let member = ",\"previous\":null"
        let body = String(line[start..<end])
        #expect(body.contains(member))
        let changed = Array(body.replacing(member, with: previous.map { ",\"previous\":\($0)" } ?? "").utf8)
        let signature = Base64.encode(key.signature(for: changed, domain: PushReceipt.domain))
        let signed = Array("{\"page\":".utf8) + changed + Array(",\"signature\":\"\(signature)\"}".utf8)
        let error = #expect(throws: EventError.self) { try PullPage(line: signed, signedBy: key.publicKey) }
        #expect(error?.code == .notAnEvent)
    }

    @Test func namesAnEntryByItsCanonicalBytes() throws {
        for entry in try Self.entries() {
            #expect(try entry.digest() == SHA256.hash(entry.json.canonicalBytes()))
        }
    }

    @Test(arguments: [(7, 8), (7, 10), (9, 7), (0, 9_007_199_254_740_991)])
    func refusesAPageWithAGap(after: Int, next: Int) throws {
        let key = try Derived.key("authority")
        let line = try page(after: after, next: next).signed(by: key)
        #expect(throws: EventError.self) { try PullPage(line: line, signedBy: key.publicKey) }
    }
}

/// What devices come to know.
@Suite struct StoryTests {
    @Test(arguments: Stories.all.map(\.name)) func leavesNothingWaiting(name: String) throws {
        let told = try #require(Stories.all.first { $0.name == name }).tell()
        #expect(told.referee.ledger(of: told.teller.chain).waiting.isEmpty)
    }

    @Test func givesADeviceThatHasLearnedEverythingTheServersState() throws {
        let (scene, _) = try Scene.taken()
        try scene.carrier.set(SampleValues.carrier)
        try scene.carrier.sign()
        scene.referee.receive(from: scene.carrier)
        let expected = try StateSummary.digest(of: scene.state)
        for actor in [scene.producer, scene.carrier, scene.other, scene.site] {
            actor.learn(from: scene.referee)
            #expect(try StateSummary.digest(of: actor.state) == expected, "\(actor.name)")
        }
    }

    @Test func decidesADevicesOwnWordsAgainOverWhatItLearned() throws {
        let scene = try Scene.described()
        let yard = try scene.secondProducer()
        scene.referee.receive(try yard.set(["sicCode": .string("01110")]), at: scene.teller.clock.now)
        try scene.producer.set(["sicCode": .string("01120")])
        scene.producer.learn(from: scene.referee)
        #expect(scene.producer.state.isInConflict)
        #expect(scene.producer.refusal { try scene.producer.sign() } == ["conflict-open sicCode"])
    }

    @Test func tellsTheSameBytesEveryTime() throws {
        let records = try (0..<2).map { _ in
            let told = try Stories.carrierTwice()
            return SHA256.hash(try told.referee.record(of: told.teller.chain, at: told.teller.clock.now))
        }
        #expect(records[0] == records[1])
    }

    @Test func movesAClockByHandOnly() throws {
        let clock = ManualClock(try Derived.moment("2026-11-30T08:00:00.000Z"))
        clock.advance(seconds: 61)
        #expect(clock.now.description == "2026-11-30T08:01:01.000Z")
        clock.advance(seconds: .max)
        clock.advance(seconds: .min)
        clock.advance(seconds: -3_000_000_000_000)
        #expect(clock.now.description == "2026-11-30T08:01:01.000Z")
        clock.advance(seconds: -1)
        #expect(clock.now.description == "2026-11-30T08:01:00.000Z")
    }
}
