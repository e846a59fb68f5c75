import Foundation
import Testing

/// The vectors of others, which are kept outside the package: `TALLY_FIXTURES`, or `../shared/fixtures` beside it.
enum OutsideFixtures {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let asked = ProcessInfo.processInfo.environment["TALLY_FIXTURES"]
    private static let folder = asked.map { URL(filePath: $0) } ?? root.appending(path: "../shared/fixtures")

    /// A folder that was asked for by name and is absent fails, not skips.
    static let areExpected = asked != nil || FileManager.default.fileExists(atPath: folder.path)

    /// The same for the folder of real data.
    static let areRealExpected =
        asked != nil || FileManager.default.fileExists(atPath: folder.appending(path: "real").path)

    /// A file of real data.
    static func real(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: "real/\(path)")))
    }

    /// A file of real data, as Foundation reads it.
    static func realJSON(_ path: String) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(try real(path)), options: .fragmentsAllowed)
    }

    /// The JSON files in a folder of real data, in order; finding none is a fault.
    static func realNames(in path: String) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "real/\(path)").path)
            .filter { $0.hasSuffix(".json") }.sorted()
        try #require(!names.isEmpty, "expected files in real/\(path)")
        return names
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: "conformance/\(path)")))
    }

    static func cases(_ path: String) throws -> [[String: Any]] {
        let json = try JSONSerialization.jsonObject(with: Data(try bytes(path)))
        return try #require(json as? [[String: Any]], "an array of objects in \(path)")
    }

    static func names(in path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "conformance/\(path)").path).sorted()
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips, and says how many cases that leaves out, where the vectors are not on this machine.
    static func needsFixtures(_ count: Int) -> Self {
        .enabled(if: OutsideFixtures.areExpected, "\(count) cases skipped: set TALLY_FIXTURES to the vectors' folder")
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips, and says how many cases that leaves out, where the real data are not on this machine.
    static func needsRealFixtures(_ count: Int) -> Self {
        .enabled(
            if: OutsideFixtures.areRealExpected,
            "\(count) cases skipped: set TALLY_FIXTURES to the folder that has real/"
        )
    }
}

extension [String: Any] {
    func text(_ name: String) throws -> String { try #require(self[name] as? String, "text in \(name)") }

    func hex(_ name: String) throws -> [UInt8] {
        let text = Array(try text(name).utf8)
        return try stride(from: 0, to: text.count, by: 2).map { index in
            try #require(UInt8(String(decoding: text[index..<index + 2], as: UTF8.self), radix: 16))
        }
    }

    func base64(_ name: String) throws -> [UInt8] { Array(try #require(Data(base64Encoded: try text(name)))) }
}
