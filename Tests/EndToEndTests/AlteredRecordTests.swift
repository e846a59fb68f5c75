import Foundation
import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// What an audit says of a record that was changed after it was sealed.
@Suite struct AlteredRecordTests {
    /// A line of a record: what it is, and where its bytes stand, without the line feed.
    private struct Line {
        let kind: String
        let range: Range<Int>
        let hash: String?
        let id: String?
    }

    @Test func findsEveryFlippedByteAndNamesTheEvent() throws {
        let (world, record) = try Self.recorded()
        let lines = try Self.lines(of: record)
        var random = SeededGenerator(seed: 20_261_130)
        var tried: [String: Int] = [:]
        for (kind, count) in [
            ("record", 8), ("scheme", 8), ("certificate", 12), ("event", 36), ("entry", 16), ("seal", 8),
        ] {
            let ofKind = lines.filter { $0.kind == kind }
            #expect(!ofKind.isEmpty, "the record has no line of kind \(kind)")
            for number in 0..<count {
                // Events take turns, so that each is altered.
                let line = ofKind[number % ofKind.count]
                let position = line.range.lowerBound + random.below(line.range.count)
                try Self.expectFound(flipping: position, by: UInt8(1 << random.below(8)), in: line, record, world)
                tried[kind, default: 0] += 1
            }
        }
        #expect(tried == ["record": 8, "scheme": 8, "certificate": 12, "event": 36, "entry": 16, "seal": 8])
        #expect(tried.values.reduce(0, +) == 88)
    }

    private static func expectFound(
        flipping position: Int,
        by mask: UInt8,
        in line: Line,
        _ record: [UInt8],
        _ world: World
    ) throws {
        var altered = record
        altered[position] ^= mask
        try world.write(altered, to: "altered.jsonl")
        let run = try world.run(["audit", "altered.jsonl", "--json"])
        let place = "byte \(position) xor \(mask) in a line of kind \(line.kind)"
        #expect(run.status == 2 || run.status == 65, "\(place): \(run)")
        guard line.kind == "event", let hash = line.hash, let id = line.id else { return }
        let findings = try run.json["findings"]?.elements ?? []
        let named = findings.filter { finding in
            let words = [finding["event"]?.text, finding["message"]?.text].compactMap { $0 }
            return words.contains { $0.contains(hash) || $0.contains(id) }
        }
        #expect(!named.isEmpty, "\(place): no finding names event \(hash): \(run)")
    }

    @Test func neverPassesARecordThatWasCutShort() throws {
        let (world, record) = try Self.recorded()
        let lines = try Self.lines(of: record)
        var tried = 0
        for line in lines {
            // At the line's end with and without its line feed, and in the middle.
            let ends = [
                line.range.upperBound + 1, line.range.upperBound, (line.range.lowerBound + line.range.upperBound) / 2,
            ]
            for end in ends where end < record.count {
                try world.write(Array(record[..<end]), to: "cut.jsonl")
                let run = try world.run(["audit", "cut.jsonl", "--json"])
                #expect(run.status == 2 || run.status == 65, "cut at \(end) of \(record.count): \(run)")
                tried += 1
            }
        }
        // Only the whole record is not cut.
        #expect(tried == lines.count * 3 - 1)
        for end in [0, 1] {
            try world.write(Array(record[..<end]), to: "cut.jsonl")
            try world.fails("not-a-record", 65, "audit", "cut.jsonl")
        }
    }

    @Test func findsALineThatWasTakenOutOrMovedOrDoubled() throws {
        let (world, record) = try Self.recorded()
        let lines = record.split(separator: 0x0A).map { Array($0) + [0x0A] }
        for (what, change) in [
            ("without its sixth line", { $0.remove(at: 5) }), ("with an event twice", { $0.insert($0[5], at: 5) }),
            ("with lines exchanged", { $0.swapAt(5, 7) }),
        ] as [(String, (inout [[UInt8]]) -> Void)] {
            var changed = lines
            change(&changed)
            try world.write(Array(changed.joined()), to: "changed.jsonl")
            let run = try world.run(["audit", "changed.jsonl", "--json"])
            #expect(run.status == 2, "\(what): \(run)")
        }
    }

    @Test func saysThatARecordIsOfAnotherAuthority() throws {
        let (world, _) = try Self.recorded()
        try world.tally("server", "init", "--db", "other.sqlite", "--origin", "Other Register")
        let trust = try world.tally("server", "trust", "--db", "other.sqlite")
        try world.write(trust.outputBytes, to: "other.json")
        let audit = try world.json("audit", "record.jsonl", "--trust", "other.json", exits: 2)
        let codes = audit["findings"]?.elements?.compactMap { $0["code"]?.text } ?? []
        #expect(codes.contains("authority-not-trusted"))
        #expect(try world.json("audit", "record.jsonl")["authorityFrom"]?.text == "record")
        let text = try world.tally("audit", "record.jsonl").output
        #expect(text.contains("taken from the record itself"))
    }

    // MARK: The record

    private static func recorded() throws -> (World, [UInt8]) {
        let world = try World()
        let server = try world.enrolled()
        _ = try world.recorded()
        server.stop()
        try world.json("audit", "record.jsonl", "--trust", "trust.json")
        return (world, try world.read("record.jsonl"))
    }

    private static func lines(of record: [UInt8]) throws -> [Line] {
        var lines: [Line] = []
        var start = 0
        for (end, byte) in record.enumerated() where byte == 0x0A {
            let line = Array(record[start..<end])
            let kind = try #require(JSON.parse(line).members?.first?.name)
            let event = kind == "event" ? try SignedEvent(line: line).event : nil
            lines.append(
                Line(kind: kind, range: start..<end, hash: event?.hash.hex, id: event?.id.description)
            )
            start = end + 1
        }
        return lines
    }
}
