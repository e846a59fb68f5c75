import Foundation
import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// The project's own fixtures: golden vectors and the logs of whole stories.
///
/// `script/fixtures` writes them again.
@Suite(.serialized) struct RecordedFixtureTests {
    static let folder = OutsideFixtures.root.appending(path: "fixtures")
    static let isRecording = ProcessInfo.processInfo.environment["TALLY_RECORD_FIXTURES"] == "1"

    static func read(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appending(path: path))) }

    static func names(in path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: path).path)
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    /// What every file is to hold, by its path.
    static func files() throws -> [(path: String, bytes: [UInt8])] {
        var files: [(path: String, bytes: [UInt8])] = []
        for vector in try Vectors.all() {
            let json = JSON.members(vector.members.map { ($0.0, .string($0.1)) })
            files.append(("vectors/\(vector.name).json", Array((try json.pretty() + "\n").utf8)))
        }
        for (name, tell) in Stories.all {
            let told = try tell()
            let created = try Derived.moment("2026-11-30T18:00:00.000Z")
            let record = try told.referee.record(of: told.teller.chain, at: created)
            let replay = try RecordReplay(record, secret: told.teller.secret)
            files.append(("logs/\(name).jsonl", record))
            files.append(("logs/\(name).expected.json", Array((try replay.summary.pretty() + "\n").utf8)))
        }
        return files
    }

    @Test(.enabled(if: isRecording, "only script/fixtures writes them")) func writesThemAgain() throws {
        for part in ["vectors", "logs"] {
            let place = Self.folder.appending(path: part)
            if FileManager.default.fileExists(atPath: place.path) { try FileManager.default.removeItem(at: place) }
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        }
        for file in try Self.files() { try Data(file.bytes).write(to: Self.folder.appending(path: file.path)) }
        let page = try String(contentsOf: FormatsPage.place, encoding: .utf8)
        let (refreshed, _) = try FormatsPage.refreshed(page, try Vectors.all())
        try Data(refreshed.utf8).write(to: FormatsPage.place)
    }

    /// The same stories give the same bytes today: a change here is a change of a format or a rule.
    @Test func areWhatTheStoriesGive() throws {
        let files = try Self.files()
        for file in files {
            #expect(
                try Self.read(file.path) == file.bytes,
                "\(file.path): run script/fixtures if it is meant to change"
            )
        }
        let present = try ["vectors", "logs"].flatMap { part in try Self.names(in: part).map { "\(part)/\($0)" } }
        let expected = Set(files.map(\.path))
        #expect(Set(present) == expected, "no file is missing, and none is left over")
        #expect(files.count == 42)
    }

    @Test func replayToWhatIsExpected() throws {
        let names = try Self.names(in: "logs")
        let logs = names.filter { $0.hasSuffix(".jsonl") }.map { $0.dropLast(6) }
        let expectations = names.filter { $0.hasSuffix(".expected.json") }.map { $0.dropLast(14) }
        #expect(logs == expectations && names.count == logs.count * 2)
        #expect(logs.map(String.init) == Stories.all.map(\.name).sorted())
        #expect(logs.count == 9)
        for name in logs {
            let record = try Self.read("logs/\(name).jsonl")
            let replay = try RecordReplay(record, secret: Derived.bytes("server-secret", count: 32))
            #expect(replay.differences.isEmpty, "\(name)")
            #expect(replay.isSealed, "\(name)")
            let expected = try JSON.parse(try Self.read("logs/\(name).expected.json"))
            #expect(try replay.summary.canonicalBytes() == expected.canonicalBytes(), "\(name)")
            let report = Audit.report(on: record, trusting: replay.header?.authority)
            #expect(report.isClean, "\(name): \(report.findings.first?.message ?? "")")
        }
    }

    /// What the stories are about, said once more in words, so that a mistake is not recorded as what is expected.
    @Test(arguments: [
        ("plain", 16, 0, 0, 4), ("refused-edits", 11, 6, 0, 2), ("two-takers", 15, 7, 1, 2),
        ("two-devices-of-one-role", 11, 3, 0, 2), ("late-arrivals", 11, 0, 0, 3), ("rejected-load", 13, 0, 0, 3),
        ("carrier-twice", 19, 0, 0, 5), ("agreements", 22, 1, 0, 3), ("cancelled", 3, 0, 0, 1),
    ])
    func sayWhatTheStoriesSay(name: String, events: Int, refused: Int, contests: Int, legs: Int) throws {
        let record = try Self.read("logs/\(name).jsonl")
        let replay = try RecordReplay(record, secret: Derived.bytes("server-secret", count: 32))
        #expect(replay.verdicts.count == events)
        #expect(replay.verdicts.count { $0.verdict.outcome == .refused } == refused)
        #expect(replay.ledger?.waiting.isEmpty == true)
        #expect(replay.ledger?.state.contests.count == contests)
        #expect(replay.ledger?.state.legs.count == legs)
    }

    /// Records that an earlier version wrote, under a scheme that has a newer version now, are as sound as they were.
    @Test func auditWhatEarlierVersionsWrote() throws {
        let names = try Self.names(in: "earlier")
        #expect(names.count == 4)
        for name in names {
            let record = try Self.read("earlier/\(name)")
            let replay = try RecordReplay(record, secret: Derived.bytes("server-secret", count: 32))
            #expect(replay.differences.isEmpty && replay.isSealed, "\(name)")
            let report = Audit.report(on: record, trusting: replay.header?.authority)
            #expect(report.isClean, "\(name): \(report.findings.first?.message ?? "")")
            #expect(replay.ledger?.state.scheme?.reference.version == 1)
        }
    }

    @Test func findAChangedRecord() throws {
        let record = try Self.read("logs/plain.jsonl")
        let text = String(decoding: record, as: UTF8.self)
        let changed = Array(text.replacing("\"7.5\"", with: "\"7.6\"").utf8)
        #expect(changed != record)
        let replay = try RecordReplay(changed, secret: Derived.bytes("server-secret", count: 32))
        #expect(!replay.isSealed && !replay.differences.isEmpty)
        #expect(!Audit.report(on: changed).isClean)
        #expect(!Audit.report(on: Array(record.dropLast(200))).isClean)
    }
}
