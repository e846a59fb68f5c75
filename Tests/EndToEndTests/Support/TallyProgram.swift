import Foundation
import Tallystick

/// The built program `tally`, and running it.
enum TallyProgram {
    /// The binary: `TALLY_BINARY`, else beside the test bundle, else the debug product of the package.
    static let path: String = {
        if let path = ProcessInfo.processInfo.environment["TALLY_BINARY"] { return path }
        // `swift test` names the bundle on the command line of its helper.
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") }
        let beside = bundle.map { URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent("tally") }
        if let path = beside?.path, FileManager.default.isExecutableFile(atPath: path) { return path }
        return packageRoot.appendingPathComponent(".build/debug/tally").path
    }()

    /// The package's folder.
    static let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// A file of the package's, as text.
    static func packageFile(_ path: String) throws -> String {
        try String(contentsOf: packageRoot.appendingPathComponent(path), encoding: .utf8)
    }

    /// A process for these arguments; what is not given here does not reach the program.
    static func process(_ arguments: [String], in folder: String, environment: [String: String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        let inherited = ProcessInfo.processInfo.environment.filter { $0.key == "PATH" || $0.key.hasPrefix("LD_") }
        process.environment = inherited.merging(["HOME": folder, "LANG": "C.UTF-8", "TZ": "UTC"]) { $1 }
            .merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        return process
    }
}

/// How one run of `tally` ended, and what it printed.
struct Run: CustomStringConvertible {
    let arguments: [String]
    let status: Int32
    let outputBytes: [UInt8]
    let errorBytes: [UInt8]

    /// Standard output as text.
    var output: String { String(decoding: outputBytes, as: UTF8.self) }
    /// Standard error as text.
    var errors: String { String(decoding: errorBytes, as: UTF8.self) }

    /// The one JSON object on standard output, read by the strict parser.
    var json: JSON {
        get throws {
            guard outputBytes.last == 0x0A, outputBytes.count(where: { $0 == 0x0A }) == 1 else {
                throw UnexpectedRun("expected one line of JSON from \(self)")
            }
            return try JSON.parse(Array(outputBytes.dropLast()))
        }
    }

    /// Every line of standard output as JSON.
    var jsonLines: [JSON] {
        get throws {
            try outputBytes.split(separator: 0x0A).map { try JSON.parse(Array($0)) }
        }
    }

    /// The code of the error object, or nil where the output is none.
    var errorCode: String? { (try? json)?["error"]?["code"]?.text }

    var description: String {
        "tally \(arguments.joined(separator: " ")) → \(status)\n\(output)\(errors)"
    }
}

/// Why a test cannot go on: the program did something else than every later step needs.
struct UnexpectedRun: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
