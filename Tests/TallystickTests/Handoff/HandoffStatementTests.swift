import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// What codes say: statements, keys, and the compact code.
@Suite struct HandoffStatementTests {
    static func half(_ name: String = "statement") throws -> (HandoffHalf, StoryActor) {
        let story = try StoryTeller(name)
        let producer = try story.actor("producer", of: "Builder", as: "producer")
        return (try story.producerOffers(producer), producer)
    }

    @Test func laysItsBytesOutAsDocumented() throws {
        let (half, producer) = try Self.half()
        let (statement, bytes) = (half.statement, half.statement.bytes)
        guard case .handoffOffered(let offer) = try #require(producer.said.last).event.content else {
            Issue.record("expected an offer")
            return
        }
        #expect(bytes.count == 74 && bytes[0] == 0x11 && bytes[1] == 0)
        #expect(Array(bytes[2..<6]) == producer.handoffKey.id.bytes)
        #expect(Array(bytes[6..<22]) == (try #require(producer.said.last)).event.chain.bytes)
        #expect(Array(bytes[22..<30]) == offer.id.bytes)
        #expect(bytes[30..<38].reduce(0) { $0 << 8 | Int64($1) } == offer.expires.seconds)
        #expect(statement.expiry == offer.expires)
        #expect(Array(bytes[42..<74]) == offer.snapshot.bytes)
        #expect(statement.schemePrefix == Array(bytes[38..<42]))
        #expect(half.mac == Array(producer.handoffKey.mac(of: statement).bytes.prefix(16)))
        #expect(HandoffStatement(bytes: bytes) == statement)
        #expect(HandoffStatement(hex: statement.hex) == statement)
        #expect(HandoffStatement(hex: statement.hex.uppercased()) == nil)
        #expect(statement.signedBytes == Array("tallystick/handoff/v1\n".utf8) + bytes)
    }

    /// Position and value: version, type, unknown flags, the chain's version and variant, an end after the year 9999.
    @Test(arguments: [
        (0, 0x12), (0, 0x21), (1, 0x10), (1, 0x20), (1, 0x40), (12, 0x40), (14, 0x00), (30, 0x01), (30, 0xFF),
    ])
    func refusesImpossibleValues(index: Int, value: UInt8) throws {
        var bytes = try Self.half().0.statement.bytes
        bytes[index] = value
        #expect(HandoffStatement(bytes: bytes) == nil)
    }

    @Test(arguments: [0, 1, 73, 75, 90])
    func refusesOtherLengths(count: Int) throws {
        let bytes = try Self.half().0.statement.bytes + [UInt8](repeating: 0, count: 20)
        #expect(HandoffStatement(bytes: Array(bytes.prefix(count))) == nil)
        #expect(HandoffHalf(statement: try Self.half().0.statement, mac: Array(bytes.prefix(count))) == nil)
    }

    @Test func readsFlagsApart() throws {
        var bytes = try Self.half().0.statement.bytes
        bytes[1] = 0x8F
        let statement = try #require(HandoffStatement(bytes: bytes))
        #expect(statement.isBound && statement.handoffIndex == 15)
    }

    @Test func derivesOneKeyForEachDeviceAndNumber() throws {
        let device = DeviceID(try Derived.key("a").publicKey)
        let other = DeviceID(try Derived.key("b").publicKey)
        let secret = Derived.bytes("secret", count: 32)
        let keys = try [(device, UInt32(1)), (device, 2), (other, 1)].map {
            try HandoffKey(serverSecret: secret, device: $0.0, number: $0.1)
        }
        #expect(Set(keys.map(\.secret)).count == 3 && Set(keys.map(\.id)).count == 3)
        #expect(try HandoffKey(bytes: keys[0].bytes).secret == keys[0].secret)
        #expect(throws: CryptoError.self) { try HandoffKey(bytes: Array(keys[0].bytes.dropLast())) }
        #expect(throws: CryptoError.self) { try HandoffKey(bytes: keys[0].bytes + [0]) }
    }
}

@Suite struct CompactCodeTests {
    private func read(_ text: String) -> CompactCode.Reading { CompactCode.read(Array(text.utf8)) }

    private func isDamaged(_ reading: CompactCode.Reading) -> Bool {
        if case .damaged = reading { true } else { false }
    }

    @Test func readsWhatItWrites() throws {
        let half = try HandoffStatementTests.half().0
        let text = CompactCode.text(for: half)
        #expect(text.utf8.count == 139 && text.hasPrefix("TS1$"))
        #expect(read(text) == .half(half))
    }

    @Test(arguments: [
        "", "T", "TS1", "ts1$", "TS2$", "TS1:", " TS1$", "https://example.org/TS1$", "WIFI:S:x;;", "\u{0}TS1$",
    ])
    func leavesForeignCodesAlone(text: String) throws {
        #expect(read(text) == .foreign)
        let ours = CompactCode.text(for: try HandoffStatementTests.half().0)
        if !ours.hasPrefix(text) { #expect(read(text + ours.dropFirst(4)) == .foreign) }
    }

    @Test func findsEveryOddLengthDamaged() throws {
        let text = CompactCode.text(for: try HandoffStatementTests.half().0)
        for count in 4..<text.utf8.count { #expect(isDamaged(read(String(text.prefix(count)))), "\(count) characters") }
        for more in ["0", "00", "000", "0000", "\n", " "] { #expect(isDamaged(read(text + more)), "and “\(more)”") }
        #expect(isDamaged(read("TS1$" + String(repeating: "0", count: 10_000))))
    }

    @Test func findsLowerCaseAndForeignCharactersDamaged() throws {
        let text = CompactCode.text(for: try HandoffStatementTests.half().0)
        #expect(isDamaged(read("TS1$" + text.dropFirst(4).lowercased())))
        for character in ["#", "é", "\u{0}", "\u{FF21}"] {
            #expect(isDamaged(read("TS1$" + character + text.dropFirst(5))), "\(character)")
        }
    }

    /// Each single character changed is either found damaged or another half, whose MAC the server will not make.
    @Test func neverReadsTheSameHalfFromAChangedText() throws {
        let (half, producer) = try HandoffStatementTests.half()
        let text = Array(CompactCode.text(for: half).utf8)
        for index in 4..<text.count {
            var changed = text
            changed[index] = text[index] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            guard case .half(let other) = CompactCode.read(changed) else { continue }
            #expect(other != half)
            #expect(Array(producer.handoffKey.mac(of: other.statement).bytes.prefix(16)) != other.mac, "at \(index)")
        }
    }
}
