import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// Events and their lines: read strictly, and written as they are read.
@Suite struct EventTests {
    static func event(_ content: EventContent = .noteAdded(text: "Hello"), seq: Int = 1) throws -> Event {
        let at = try Derived.moment("2026-11-30T06:12:00.000+01:00")
        return try Event(
            Event.Draft(
                at: at,
                chain: Derived.id("chain", at: at),
                content: content,
                device: DeviceID(Derived.key("device").publicKey),
                id: Derived.id("event", at: at),
                parents: [SHA256.hash([2]), SHA256.hash([1])],
                role: Derived.name("producer"),
                seq: seq
            )
        )
    }

    /// One of every type.
    static func contents() throws -> [EventContent] {
        let story = try StoryTeller("contents")
        let producer = try story.actor("producer", of: "Builder", as: "producer")
        let half = try story.producerOffers(producer)
        try producer.withdraw(half, why: "mistake")
        let other = try story.actor("carrier", of: "Calder", as: "carrier")
        try other.accept(half)
        let third = try story.actor("third", of: "Pennine", as: "carrier")
        try third.decline(half, why: "no")
        let body = JSON.object([JSONMember("x", .integer(1))])
        return (producer.said + other.said + third.said).map(\.event.content) + [
            .noteAdded(text: "Hello"), .unknown(type: "seal.broken", version: 1, body: body),
            .unknown(type: "note.added", version: 2, body: body),
            .fieldsSet([EventContent.FieldChange(path: try #require(FieldPath("items/1")), value: nil)]),
        ]
    }

    @Test func readsEveryTypeAsItWritesIt() throws {
        let contents = try Self.contents()
        #expect(Set(contents.map(\.type)).count == 9)
        for content in contents {
            let event = try Self.event(content)
            let read = try Event(bytes: event.bytes)
            #expect(read.hash == event.hash && read.bytes == event.bytes)
            #expect(read.content.type == content.type && read.version == content.version)
            #expect(try read.content.body.canonicalBytes() == content.body.canonicalBytes())
            #expect(read.parents == [SHA256.hash([1]), SHA256.hash([2])].sorted())
            #expect(read.hash == SHA256.hash(event.bytes))
        }
    }

    private func text(_ content: EventContent = .noteAdded(text: "Hello")) throws -> String {
        String(decoding: try Self.event(content).bytes, as: UTF8.self)
    }

    private func code(_ text: String) -> ReasonCode? {
        do {
            _ = try Event(bytes: Array(text.utf8)[...])
            return nil
        } catch {
            return error.code
        }
    }

    @Test(arguments: [
        ("\"seq\":1", "\"seq\":0"), ("\"seq\":1", "\"seq\":-1"), ("\"seq\":1", "\"seq\":\"1\""), ("\"v\":1", "\"v\":0"),
        ("\"v\":1", "\"v\":null"), ("2026-11-30T06:12:00.000+01:00", "2026-11-30T06:12:00Z"),
        ("\"log\":null", "\"log\":{}"),
        ("\"log\":null", "\"log\":{\"root\":\"00\",\"size\":1}"), ("\"log\":null", "\"log\":0"),
        ("\"producer\"", "\"pro ducer\""),
        ("\"type\":\"note.added\"", "\"type\":1"), ("{\"text\":\"Hello\"}", "{\"text\":\"\"}"),
        ("{\"text\":\"Hello\"}", "{}"),
        ("{\"text\":\"Hello\"}", "{\"text\":\"Hello\",\"x\":1}"), ("{\"text\":\"Hello\"}", "[]"),
        ("\"v\":1}", "\"v\":1,\"w\":1}"),
        ("{\"at\"", "{\"a\":1,\"at\""), ("\"chain\":\"0", "\"chain\":\"1x"), ("\"device\":\"", "\"device\":\"0"),
        ("\"log\":null,", ""), ("\"seq\":1,", ""), ("note.added", "signed"), ("note.added", "fields.set"),
        ("note.added", "handoff.accepted"), ("note.added", "handoff.offered"), ("note.added", "chain.opened"),
        ("note.added", "handoff.withdrawn"), ("note.added", "handoff.declined"),
    ])
    func refusesWhatIsNoEvent(old: String, new: String) throws {
        let text = try text()
        #expect(code(text) == nil)
        #expect(text.contains(old))
        #expect(code(text.replacing(old, with: new)) == .notAnEvent)
    }

    @Test func refusesWhatIsNotCanonical() throws {
        let text = try text()
        for changed in ["{ " + text.dropFirst(), text + "\n", text.replacing("Hello", with: "\\u0048ello"), "", "{}x"] {
            #expect(code(changed) == .notCanonical, "\(changed)")
        }
        #expect(code("{}") == .notAnEvent)
        #expect(code("[]") == .notAnEvent)
    }

    @Test func takesACheckpoint() throws {
        let log = "\"log\":{\"root\":\"\(SHA256.hash([]).hex)\",\"size\":12}"
        let changed = try text().replacing("\"log\":null", with: log)
        #expect(try Event(bytes: Array(changed.utf8)[...]).log["size"]?.integer == 12)
        #expect(code(changed.replacing("12}", with: "-1}")) == .notAnEvent)
    }

    @Test func wantsParentsSortedEachOnceAndNotTooMany() throws {
        let text = try text()
        let (low, high) = (min(SHA256.hash([1]), SHA256.hash([2])).hex, max(SHA256.hash([1]), SHA256.hash([2])).hex)
        let parents = "[\"\(low)\",\"\(high)\"]"
        #expect(text.contains(parents))
        for other in [
            "[\"\(high)\",\"\(low)\"]", "[\"\(low)\",\"\(low)\"]", "[\"\(low.uppercased())\"]", "[1]", "null", "[\"\"]",
        ] {
            #expect(code(text.replacing(parents, with: other)) == .notAnEvent, "\(other)")
        }
        let many = (0..<65).map { SHA256.hash([UInt8($0)]) }.sorted().map { "\"\($0)\"" }
        let most = "[" + many.prefix(64).joined(separator: ",") + "]"
        #expect(code(text.replacing(parents, with: most)) == nil)
        #expect(code(text.replacing(parents, with: "[" + many.joined(separator: ",") + "]")) == .notAnEvent)
    }

    @Test func boundsItsTextsAndItself() throws {
        let longest = String(repeating: "x", count: EventContent.longestText)
        _ = try Self.event(.noteAdded(text: longest))
        #expect(throws: EventError.self) { try Self.event(.noteAdded(text: longest + "x")) }
        func sized(_ count: Int) throws -> EventError? {
            let empty = try Self.event(.unknown(type: "big", version: 1, body: .string(""))).bytes.count
            do {
                let filling = String(repeating: "x", count: count - empty)
                _ = try Self.event(.unknown(type: "big", version: 1, body: .string(filling)))
                return nil
            } catch let error as EventError {
                return error
            }
        }
        #expect(try sized(Event.longest) == nil)
        #expect(try sized(Event.longest + 1)?.code == .tooLarge)
    }

    @Test func boundsItsValues() throws {
        func changes(_ count: Int) throws -> EventContent {
            .fieldsSet(
                try (0..<count).map {
                    EventContent.FieldChange(path: try present(FieldPath("f\($0)")), value: .integer(0))
                }
            )
        }
        _ = try Self.event(changes(2_000))
        #expect(throws: EventError.self) { try Self.event(changes(2_001)) }
        #expect(throws: EventError.self) { try Self.event(changes(0)) }
        let line = EventContent.FieldChange(path: try present(FieldPath("items/1")), value: .integer(1))
        #expect(throws: EventError.self) { try Self.event(.fieldsSet([line])) }
        let twice = EventContent.FieldChange(path: try present(FieldPath("a")), value: nil)
        #expect(throws: EventError.self) { try Self.event(.fieldsSet([twice, twice])) }
    }
}

@Suite struct SignedEventTests {
    private let key = Result { try Derived.key("device") }

    @Test func signsTheBytesThatStandInTheLine() throws {
        let event = try EventTests.event()
        let signed = SignedEvent(event, by: try key.get())
        let read = try SignedEvent(line: signed.line)
        #expect(read.event.hash == event.hash && read.signature == signed.signature)
        #expect(read.isSigned(by: try key.get().publicKey))
        #expect(!read.isSigned(by: try Derived.key("other").publicKey))
        let message = Array("tallystick/event/v1\n".utf8) + event.bytes
        #expect(try key.get().publicKey.isValid(read.signature, for: message))
    }

    @Test func keepsMembersOfLaterVersionsOnEitherSide() throws {
        let signed = SignedEvent(try EventTests.event(), by: try key.get())
        let line = String(decoding: signed.line, as: UTF8.self)
        let more = "{\"a\":[1]," + line.dropFirst().dropLast() + ",\"z\":{}}"
        let read = try SignedEvent(line: Array(more.utf8))
        #expect(read.line == Array(more.utf8))
        #expect(read.isSigned(by: try key.get().publicKey))
        guard case .event(let recorded) = try Record.read(line: read.line) else {
            Issue.record("expected a record to read it as an event")
            return
        }
        #expect(recorded.line == read.line)
    }

    @Test func isNotSignedOnceAByteIsChanged() throws {
        let signed = SignedEvent(try EventTests.event(), by: try key.get())
        let changed = String(decoding: signed.line, as: UTF8.self).replacing("Hello", with: "Jello")
        #expect(try !SignedEvent(line: Array(changed.utf8)).isSigned(by: key.get().publicKey))
    }

    @Test(arguments: [
        "{}", "[]", "{\"event\":{}}", "{\"event\":{},\"signature\":\"\"}", "{\"signature\":\"AA==\"}", "null",
        "{\"event\":{},\"signature\":null}",
    ])
    func refusesWhatIsNoLine(text: String) {
        let error = #expect(throws: EventError.self) { try SignedEvent(line: Array(text.utf8)) }
        #expect(error?.code == .notAnEvent)
    }

    /// What one device may push, everybody has to be able to pull: a page carries it four levels deeper.
    @Test func canBeCarriedInAPageHoweverDeepItIs() throws {
        func nested(_ depth: Int) -> JSON { (0..<depth).reduce(.null) { inner, _ in .array([inner]) } }
        let event = try EventTests.event(.unknown(type: "deep", version: 1, body: nested(Event.greatestDepth - 1)))
        let signed = SignedEvent(event, by: try key.get())
        _ = try SignedEvent(line: signed.line)
        let now = event.at
        let entry = LogEntry(position: 1, content: .revocation(event.device, why: "test"))
        let page = PullPage(
            epoch: "e",
            after: 0,
            next: 1,
            hasMore: false,
            now: now,
            items: [PullPage.Item(entry: entry, event: signed)],
            certificates: []
        )
        let authority = try Derived.key("authority")
        let read = try PullPage(line: page.signed(by: authority), signedBy: authority.publicKey)
        #expect(read.items.first?.event?.line == signed.line)
        #expect(throws: EventError.self) {
            try EventTests.event(.unknown(type: "deep", version: 1, body: nested(Event.greatestDepth)))
        }
        let deeper = String(decoding: signed.line, as: UTF8.self).replacing("[null]", with: "[[null]]")
        #expect(throws: EventError.self) { try SignedEvent(line: Array(deeper.utf8)) }
    }
}
