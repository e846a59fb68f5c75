import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// Messages in codes: every kind read back, parts joined in any order, and nothing else read as one.
@Suite struct CodeMessageTests {
    static func messages() throws -> [CodeMessage] {
        let half = try HandoffStatementTests.half().0
        let key = try Derived.key("taker")
        let now = try Derived.moment("2026-11-30T06:00:00.000Z")
        let event = SHA256.hash(Array("event".utf8))
        let full = FullCode(
            half: half,
            signature: Derived.bytes("signature", count: 64),
            dictionary: 1,
            compressed: Derived.bytes("compressed", count: 500)
        )
        let reply = HandoffReply(isAcceptance: true, statement: half.statement, at: now, event: event, by: key)
        let refusal = HandoffReply(isAcceptance: false, statement: half.statement, at: now, event: event, by: key)
        return [
            .offer(half), .full(try #require(full)), .reply(try #require(reply)), .reply(try #require(refusal)),
            .fullReply(
                FullReply(
                    reply: try #require(reply),
                    dictionary: 1,
                    compressed: Derived.bytes("certificate", count: 240)
                )
            ),
            .challenge(
                try #require(HandoffChallenge(random: Derived.bytes("challenge", count: 16), expires: now.seconds))
            ),
        ]
    }

    @Test func readsEveryKindBack() throws {
        let messages = try Self.messages()
        #expect(messages.count == 6)
        for message in messages {
            #expect(CodeMessage.read(bytes: message.bytes) == .message(message))
            let texts = message.texts
            #expect(!texts.isEmpty)
            if texts.count == 1 {
                #expect(CodeMessage.read(text: Array(texts[0].utf8)) == .message(message))
            }
        }
    }

    @Test func keepsToTheSizesOfTheDesign() throws {
        let messages = try Self.messages()
        #expect(messages[0].bytes.count == 90)
        #expect(messages[2].bytes.count == 149)
        #expect(messages[5].bytes.count == 25)
        #expect(messages[2].texts.count == 1)
        for message in messages {
            // Version 10-M holds 311 alphanumeric characters (ISO/IEC 18004).
            #expect(message.texts.allSatisfy { $0.utf8.count <= 311 })
        }
    }

    @Test func refusesEveryOtherLengthAndType() throws {
        for message in try Self.messages() {
            for count in 0..<message.bytes.count where count < 152 {
                switch CodeMessage.read(bytes: Array(message.bytes.prefix(count))) {
                case .damaged: break
                case .foreign, .message: Issue.record("\(count) bytes of \(message.bytes.count) were read")
                }
            }
        }
        for kind in UInt8.min...UInt8.max where !(0x11...0x17).contains(kind) {
            var bytes = try #require(try Self.messages().first).bytes
            bytes[0] = kind
            #expect(CodeMessage.read(bytes: bytes) != .message(try #require(try Self.messages().first)))
        }
        #expect(CodeMessage.read(text: Array("https://example.org/TS1$".utf8)) == .foreign)
        #expect(CodeMessage.read(text: Array("-TS1$".utf8)) == .foreign)
        #expect(CodeMessage.read(text: []) == .foreign)
    }

    static func parts(of message: CodeMessage) throws -> [CodePart] {
        try message.texts.map { text in
            guard case .message(.part(let part)) = CodeMessage.read(text: Array(text.utf8)) else {
                throw StoryError("expected a part")
            }
            return part
        }
    }

    @Test func joinsPartsInAnyOrderWithDuplicatesAndOthersBetween() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let messages = try Self.messages()
        let parts = try Self.parts(of: messages[1])
        let others = try Self.parts(of: messages[4])
        #expect(parts.count == 4 && others.count >= 2)
        for _ in 0..<200 {
            var stream = parts + parts.shuffled(using: &random).prefix(2) + others.dropLast()
            stream.shuffle(using: &random)
            var joiner = PartJoiner()
            var complete: [[UInt8]] = []
            for part in stream {
                if case .complete(let bytes) = joiner.add(part) { complete.append(bytes) }
            }
            #expect(complete == [messages[1].bytes], "seed \(seed)")
        }
    }

    @Test func saysWhatIsMissing() throws {
        let parts = try Self.parts(of: try Self.messages()[1])
        var joiner = PartJoiner()
        #expect(joiner.add(parts[2]) == .incomplete(missing: [0, 1, 3], count: 4))
        #expect(joiner.add(parts[2]) == .incomplete(missing: [0, 1, 3], count: 4))
        #expect(joiner.add(parts[0]) == .incomplete(missing: [1, 3], count: 4))
        #expect(joiner.missing.map(\.have) == [2])
    }

    @Test func keepsFewMessagesOpen() throws {
        var joiner = PartJoiner()
        for number in 0..<20 {
            let full = FullCode(
                half: try HandoffStatementTests.half().0,
                signature: Derived.bytes("s\(number)", count: 64),
                dictionary: 1,
                compressed: Derived.bytes("c\(number)", count: 500)
            )
            _ = joiner.add(try Self.parts(of: .full(try #require(full)))[0])
        }
        #expect(joiner.missing.count == PartJoiner.mostMessages)
    }

    @Test func noticesADamagedPart() throws {
        let text = try #require(try Self.messages()[1].texts.last)
        var bytes = try #require(Base45.decode(text.dropFirst(4).description))
        bytes[20] ^= 1
        var joiner = PartJoiner()
        for part in try Self.parts(of: try Self.messages()[1]).dropLast() { _ = joiner.add(part) }
        guard case .message(.part(let damaged)) = CodeMessage.read(bytes: bytes) else {
            Issue.record("expected a part")
            return
        }
        #expect(joiner.add(damaged) == .damaged)
    }

    @Test func refusesPartsThatCannotBe() throws {
        let text = try #require(try Self.messages()[1].texts.first)
        let good = try #require(Base45.decode(text.dropFirst(4).description))
        // Index at or past the count, a count of 1 or 17, a total that the parts cannot hold or that leaves one empty.
        for (index, value) in [(5, UInt8(4)), (5, 255), (6, 1), (6, 0), (6, 17), (7, 255), (7, 0)] {
            var bytes = good
            bytes[index] = value
            if case .message = CodeMessage.read(bytes: bytes) { Issue.record("byte \(index) = \(value) was read") }
        }
    }

    @Test func splitsUpToTheLongestMessageAndNoFurther() throws {
        let half = try HandoffStatementTests.half().0
        func full(_ count: Int) throws -> CodeMessage {
            let compressed = [UInt8](repeating: 7, count: count - 156)
            return .full(
                try #require(
                    FullCode(
                        half: half,
                        signature: [UInt8](repeating: 1, count: 64),
                        dictionary: 1,
                        compressed: compressed
                    )
                )
            )
        }
        #expect(try full(204).texts.count == 1)
        #expect(try full(205).texts.count == 2)
        #expect(try full(CodePart.longestMessage).texts.count == CodePart.mostParts)
        #expect(try full(CodePart.longestMessage + 1).texts.isEmpty)
        for count in [205, 382, 383, 1_000, CodePart.longestMessage] {
            let message = try full(count)
            var joiner = PartJoiner()
            let results = try Self.parts(of: message).map { joiner.add($0) }
            #expect(results.last == .complete(message.bytes))
            #expect(Set(message.texts.map(\.utf8.count)).count == 1, "equal parts have one size")
        }
    }

    @Test func checksTheSignatureOfAReply() throws {
        guard case .reply(let reply) = try Self.messages()[2] else { return }
        let key = try Derived.key("taker").publicKey
        #expect(reply.isSigned(by: key))
        #expect(!reply.isSigned(by: try Derived.key("other").publicKey))
        for index in reply.bytes.indices {
            var bytes = reply.bytes
            bytes[index] ^= 1
            if let altered = HandoffReply(bytes: bytes) { #expect(!altered.isSigned(by: key), "byte \(index)") }
        }
    }

    @Test func anOfferIsNamedByTheChallengeItAnswers() throws {
        guard case .challenge(let challenge) = try Self.messages()[5] else { return }
        let other = try #require(
            HandoffChallenge(random: Derived.bytes("other", count: 16), expires: challenge.expires)
        )
        #expect(challenge.offer != nil && challenge.offer != other.offer)
        #expect(HandoffChallenge(random: [1], expires: 0) == nil)
        #expect(HandoffChallenge(random: challenge.random, expires: -1) == nil)
    }

    @Test func randomAndAlteredBytesNeverTrap() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var joiner = PartJoiner()
        let good =
            try Self.messages().map(\.bytes) + Self.parts(of: try Self.messages()[1]).map { CodeMessage.part($0).bytes }
        var read = 0
        for _ in 0..<20_000 {
            var bytes = random.below(2) == 0 ? random.bytes(random.below(210)) : good[random.below(good.count)]
            for _ in 0..<random.below(3) where !bytes.isEmpty {
                bytes[random.below(bytes.count)] = UInt8(random.below(256))
            }
            if case .message(let message) = CodeMessage.read(bytes: bytes) {
                read += 1
                #expect(message.bytes == bytes, "seed \(seed)")
                if case .part(let part) = message { _ = joiner.add(part) }
            }
        }
        #expect(read > 1_000, "seed \(seed)")
    }
}
