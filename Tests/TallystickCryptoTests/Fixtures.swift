import Foundation
import TallystickCrypto
import Testing

/// The shared conformance vectors, which are kept outside the package.
enum Fixtures {
    /// `TALLY_FIXTURES`, or `../shared/fixtures` beside the package.
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["TALLY_FIXTURES"] {
            return URL(fileURLWithPath: path, isDirectory: true)
        }
        return URL(fileURLWithPath: #filePath)  // root/Tests/TallystickCryptoTests/Fixtures.swift
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("shared/fixtures", isDirectory: true)
    }()

    /// Whether the vectors can be run.
    ///
    /// A folder that was asked for by name and is absent fails, not skips.
    static let areExpected =
        ProcessInfo.processInfo.environment["TALLY_FIXTURES"] != nil
        || FileManager.default.fileExists(atPath: folder.path)

    static func json<Top>(_ path: String, as type: Top.Type) throws -> Top {
        let file = folder.appendingPathComponent("conformance").appendingPathComponent(path)
        return try #require(JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? Top, "shape of \(path)")
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips, and says so, where the shared vectors are not on this machine.
    static var needsFixtures: Self {
        .enabled(if: Fixtures.areExpected, "no shared fixtures here: set TALLY_FIXTURES to their folder")
    }
}

/// One JSON object of a vector file.
typealias Case = [String: Any]

extension Case {
    func text(_ name: String) throws -> String {
        try #require(self[name] as? String, "text in \(name)")
    }

    func bytes(_ name: String) throws -> [UInt8] {
        try #require(Hex.decode(text(name)), "hexadecimal in \(name)")
    }

    func flag(_ name: String) throws -> Bool {
        try #require(self[name] as? Bool, "true or false in \(name)")
    }

    func number(_ name: String) throws -> Int {
        try #require(self[name] as? Int, "an integer in \(name)")
    }

    func cases(_ name: String) throws -> [Case] {
        try #require(self[name] as? [Case], "objects in \(name)")
    }

    /// Whether a Wycheproof case is valid; `acceptable` ones, of which our files have none, fail the test.
    func isValidInWycheproof() throws -> Bool {
        switch try text("result") {
        case "valid": true
        case "invalid": false
        case let result: throw UnknownResult(result: result)
        }
    }
}

struct UnknownResult: Error {
    let result: String
}
