import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// Bytes from anywhere never trap a reader, and what a reader takes it writes back as it was.
@Suite struct ReaderFuzzTests {
    /// Lines and texts of every kind that is read.
    private static let samples: Result<[[UInt8]], any Error> = Result {
        let told = try Stories.plain()
        let record = try told.referee.record(of: told.teller.chain, at: told.teller.clock.now)
        let scheme = try ParcelScheme.read()
        var samples = record.split(separator: 0x0A).map(Array.init).filter { $0.count < 10_000 }
        samples.append(scheme.bytes)
        samples.append(Array("{\"scheme\":".utf8) + scheme.bytes + Array("}".utf8))
        for signed in told.teller.certificates.prefix(1).map(\.line) { samples.append(signed) }
        for decision in told.referee.decisions(of: told.teller.chain) {
            samples.append(Array(decision.arrival.event.bytes))
            if case .handoffAccepted(let half) = decision.arrival.event.content {
                samples.append(half.statement.bytes)
                samples.append(Array(CompactCode.text(for: half).utf8))
            }
        }
        return samples
    }

    /// Puts the bytes through every reader, and checks that what is read is written back.
    private func readAll(_ bytes: [UInt8]) throws {
        let slice = ([0, 0] + bytes)[2...]
        if let json = try? JSON.parse(slice), let written = try? json.canonicalBytes() {
            let again = try JSON.parseCanonical(written[...])
            #expect(try again.canonicalBytes() == written)
        }
        if let json = try? JSON.parseCanonical(slice) { #expect(try json.canonicalBytes() == bytes) }
        if let event = try? Event(bytes: slice) { #expect(Array(event.bytes) == bytes) }
        if let signed = try? SignedEvent(line: bytes) {
            #expect(signed.line == bytes)
            _ = signed.isSigned(by: try Derived.key("somebody").publicKey)
        }
        if let certificate = try? Certificate(line: bytes) { #expect(certificate.line == bytes) }
        if let line = try? Record.read(line: bytes), case .entry(let entry) = line {
            let again = try LogEntry(entry.json)
            #expect(again == entry)
        }
        if let json = try? JSON.parse(bytes), let entry = try? LogEntry(json) {
            #expect(try LogEntry(entry.json) == entry)
        }
        if let scheme = try? Scheme(bytes: bytes) { #expect(scheme.bytes == bytes) }
        if let statement = HandoffStatement(bytes: bytes) { #expect(statement.bytes == bytes) }
        if case .half(let half) = CompactCode.read(bytes) {
            #expect(CompactCode.text(for: half) == String(decoding: bytes, as: UTF8.self))
        }
        let text = String(decoding: bytes, as: UTF8.self)
        if let moment = Timestamp(text) { #expect(moment.description == text) }
        if let number = DecimalNumber(text) { #expect(DecimalNumber(number.description) == number) }
        if let path = FieldPath(text) { #expect(path.description == text) }
        if let id = UniqueID(text) { #expect(id.description == text) }
        _ = HandoffStatement(hex: text)
        _ = Audit.report(on: bytes)
        _ = try? PushReceipt(line: bytes, signedBy: Derived.key("authority").publicKey)
        _ = try? PullPage(line: bytes, signedBy: Derived.key("authority").publicKey)
    }

    @Test func readsRandomBytes() throws {
        var random = Seed.generator()
        let marks = Array("{}[]\",:\\u0123456789abcdefeE+-.truefalsn \n\u{0}é".utf8)
        for _ in 0..<3_000 {
            let count = random.below(120)
            let isText = random.below(2) == 0
            let bytes = random.bytes(count)
            try readAll(isText ? bytes.map { marks[Int($0) % marks.count] } : bytes)
        }
    }

    @Test func readsDamagedLines() throws {
        var random = Seed.generator()
        let samples = try Self.samples.get()
        #expect(samples.count > 60)
        for sample in samples { try readAll(sample) }
        for _ in 0..<2_500 {
            var bytes = samples[random.below(samples.count)]
            for _ in 0...random.below(3) {
                let index = random.below(bytes.count)
                switch random.below(7) {
                case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes[index] ^= 1 << UInt8(random.below(8))
                case 2: bytes.remove(at: index)
                case 3: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
                case 4: bytes.removeSubrange(index...)
                case 5:
                    let other = samples[random.below(samples.count)]
                    let from = random.below(other.count)
                    bytes.insert(contentsOf: other[from..<min(other.count, from + 40)], at: index)
                default: bytes.replaceSubrange(index..<index, with: Array("9999999999999999999999".utf8))
                }
                if bytes.isEmpty { bytes = [0] }
            }
            try readAll(bytes)
        }
    }

    /// Canonical JSON of any shape is read back as it was, and written as it was.
    @Test func writesAndReadsAnyValue() throws {
        var random = Seed.generator()
        for _ in 0..<1_500 {
            let value = Self.value(&random, depth: 0)
            let bytes = try value.canonicalBytes()
            let read = try JSON.parseCanonical(bytes[...])
            #expect(try read.canonicalBytes() == bytes, "\(Seed.note)")
        }
    }

    private static func text(_ random: inout SeededGenerator) -> String {
        let pools: [ClosedRange<UInt32>] = [0...0x1F, 0x20...0x7E, 0x7F...0x7FF, 0xE000...0xFFFF, 0x10000...0x10FFFF]
        var text = ""
        for _ in 0..<random.below(12) {
            let pool = pools[random.below(pools.count)]
            let value = pool.lowerBound + UInt32(random.below(Int(pool.upperBound - pool.lowerBound) + 1))
            if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
        }
        return text
    }

    private static func value(_ random: inout SeededGenerator, depth: Int) -> JSON {
        switch random.below(depth > 5 ? 4 : 6) {
        case 0: return .null
        case 1: return .boolean(random.below(2) == 0)
        case 2: return .integer(Int(truncatingIfNeeded: random.next()) % 9_007_199_254_740_992)
        case 3: return .string(text(&random))
        case 4: return .array((0..<random.below(4)).map { _ in value(&random, depth: depth + 1) })
        default:
            var members: [[UInt8]: JSONMember] = [:]
            for _ in 0..<random.below(20) {
                let name = text(&random)
                members[Array(name.utf8)] = JSONMember(name, value(&random, depth: depth + 1))
            }
            return .object(Array(members.values))
        }
    }

    /// Events that a changed program signs: well formed, and about anything.
    ///
    /// Deciding and folding them never traps.
    @Test func decidesWhateverIsSaid() throws {
        var random = Seed.generator()
        for round in 0..<12 {
            let teller = try StoryTeller("fuzz \(round)")
            let actors = [
                try teller.actor("producer", of: "Builder", as: "producer", "carrier"),
                try teller.actor("first", of: "Calder", as: "carrier", "receiver"),
                try teller.actor("site", of: "Holbeck", as: "receiver", "producer"),
            ]
            let half = try teller.producerOffers(actors[0])
            var contents = try EventTests.contents() + actors[0].said.map(\.event.content)
            contents += [.handoffAccepted(half), .handoffDeclined(half, why: "no")]
            contents.append(.handoffWithdrawn(offer: half.statement.offer, why: ""))
            for _ in 0..<60 {
                let actor = actors[random.below(3)]
                let all = actors.flatMap { $0.said.map(\.event.hash) }
                let parents = (0..<random.below(4)).map { _ in all[random.below(all.count)] }
                try actor.say(
                    contents[random.below(contents.count)],
                    as: Derived.name(["producer", "carrier", "receiver"][random.below(3)]),
                    parents: random.below(3) == 0 ? nil : Array(Set(parents)),
                    seq: random.below(3) == 0 ? 1 + random.below(20) : nil,
                    id: Derived.id("\(random.below(100))", at: teller.clock.now),
                    insisting: true
                )
            }
            let referee = try teller.referee()
            let lines = actors.flatMap(\.said).shuffled(using: &random)
            for signed in lines { referee.receive(signed, at: teller.clock.now) }
            let ledger = referee.ledger(of: teller.chain)
            for signed in lines { #expect(ledger.has(signed.event.hash), "\(Seed.note)") }
            for actor in actors { actor.learn(from: referee) }
            _ = try StateSummary.digest(of: ledger.state)
            let record = try referee.record(of: teller.chain, at: teller.clock.now)
            let report = Audit.report(on: record, trusting: teller.authority.publicKey)
            #expect(report.findings.isEmpty, "\(report.findings.first?.message ?? ""), \(Seed.note)")
        }
    }
}
