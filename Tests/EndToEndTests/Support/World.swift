import Foundation
import Synchronization
import Tallystick
import Testing

/// A folder of one test's own, with everything the program makes in it; it goes with the test.
final class World: Sendable {
    /// The folder.
    let folder: String
    private let runs = Atomic<Int>(0)

    init() throws {
        folder = NSTemporaryDirectory() + "tallystick-e2e-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: Running

    /// Runs `tally` in the folder and waits for its end.
    ///
    /// Output goes to files: a pipe could be held open by another test's server that was started meanwhile.
    func run(
        _ arguments: [String],
        input: [UInt8]? = nil,
        environment: [String: String] = [:]
    ) throws -> Run {
        let number = runs.wrappingAdd(1, ordering: .relaxed).newValue
        let process = TallyProgram.process(arguments, in: folder, environment: environment)
        process.standardOutput = try newFile("run-\(number).out")
        process.standardError = try newFile("run-\(number).err")
        if let input {
            try write(input, to: "run-\(number).in")
            process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: file("run-\(number).in")))
        }
        try process.run()
        process.waitUntilExit()
        guard process.terminationReason == .exit else {
            throw UnexpectedRun(
                "tally \(arguments.joined(separator: " ")) ended by signal \(process.terminationStatus)"
            )
        }
        return Run(
            arguments: arguments,
            status: process.terminationStatus,
            outputBytes: try read("run-\(number).out"),
            errorBytes: try read("run-\(number).err")
        )
    }

    /// Runs `tally` as a device, where one is named, and expects how it ends.
    @discardableResult
    func tally(
        _ arguments: String...,
        as device: String? = nil,
        exits status: Int32 = 0,
        input: [UInt8]? = nil,
        environment: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Run {
        let home = device.map { ["--home", "homes/\($0)"] } ?? []
        let run = try run(home + arguments, input: input, environment: environment)
        #expect(run.status == status, "\(run)", sourceLocation: sourceLocation)
        return run
    }

    /// Runs `tally --json`, expects how it ends, and gives the object.
    @discardableResult
    func json(
        _ arguments: String...,
        as device: String? = nil,
        exits status: Int32 = 0,
        input: [UInt8]? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> JSON {
        let home = device.map { ["--home", "homes/\($0)"] } ?? []
        let run = try run(home + arguments + ["--json"], input: input)
        #expect(run.status == status, "\(run)", sourceLocation: sourceLocation)
        #expect(
            run.errors.isEmpty,
            "under --json everything is on standard output: \(run)",
            sourceLocation: sourceLocation
        )
        return try run.json
    }

    /// Expects a failure by its code and exit status; the error object says the same status, and something to read.
    @discardableResult
    func fails(
        _ code: String,
        _ status: Int32,
        _ arguments: String...,
        as device: String? = nil,
        input: [UInt8]? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> JSON {
        let home = device.map { ["--home", "homes/\($0)"] } ?? []
        let run = try run(home + arguments + ["--json"], input: input)
        let error = try #require(run.json["error"], "\(run)", sourceLocation: sourceLocation)
        #expect(error["code"]?.text == code, "\(run)", sourceLocation: sourceLocation)
        #expect(run.status == status, "\(run)", sourceLocation: sourceLocation)
        #expect(error["exit"]?.integer == Int(status), "\(run)", sourceLocation: sourceLocation)
        #expect(error["message"]?.text?.isEmpty == false, sourceLocation: sourceLocation)
        return error
    }

    // MARK: Files

    /// The path of a file in the folder.
    func file(_ name: String) -> String { folder + "/" + name }

    func read(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: file(name))))
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    }

    func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

    /// An empty file, open for writing.
    func newFile(_ name: String) throws -> FileHandle {
        try write([UInt8](), to: name)
        return try FileHandle(forWritingTo: URL(fileURLWithPath: file(name)))
    }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }
}

// MARK: - Setting the scene

extension World {
    /// The values that the demo gives for a role.
    static func demo(_ name: String) -> String {
        TallyProgram.packageRoot.appendingPathComponent("fixtures/demo/\(name).json").path
    }

    /// Makes a server's files and the file that trusts it.
    func makeServer() throws {
        try tally("server", "init", "--db", "server.sqlite", "--origin", "Derwent Waste Register")
        try tally("server", "trust", "--db", "server.sqlite", "-o", "trust.json")
    }

    /// Makes a folder a device of a party with one role.
    @discardableResult
    func enrol(_ device: String, of party: String, as role: String, at server: RunningServer) throws -> JSON {
        let invitation = try json("server", "invite", "--db", "server.sqlite", "--party", party, "--roles", role)
        let code = try #require(invitation["code"]?.text)
        return try json("enrol", "--server", server.url, "--code", code, "--trust", "trust.json", as: device)
    }

    /// A server, and a device for each of the roles.
    func enrolled() throws -> RunningServer {
        try makeServer()
        let server = try RunningServer(in: self)
        try enrol("producer", of: "Hartley Build Ltd", as: "producer", at: server)
        try enrol("carrier", of: "Pennine Skips Ltd", as: "carrier", at: server)
        try enrol("receiver", of: "Erewash Recycling Park", as: "receiver", at: server)
        return server
    }

    /// The producer opens a chain, signs it and offers it to a carrier, as `offer.png` and `offer.txt`; gives its name.
    func offered() throws -> String {
        let opened = try json(
            "open",
            "--scheme",
            "uk-waste-transfer-note",
            "--from",
            World.demo("producer"),
            as: "producer"
        )
        let chain = try #require(opened["chain"]?.text)
        try json("sign", chain, as: "producer")
        try json("offer", chain, "--for", "2h", "--png", "offer.png", "--text", "offer.txt", as: "producer")
        return chain
    }

    /// A whole chain over carrier and receiver, synchronised, and its record in `record.jsonl`; gives its name.
    func recorded() throws -> String {
        let chain = try offered()
        try json("accept", "offer.png", "--yes", "--from", World.demo("carrier-1"), as: "carrier")
        try json("sign", chain, as: "carrier")
        try json("offer", chain, "--to", "receiver", "--text", "second.txt", as: "carrier")
        try json("accept", "second.txt", "--yes", "--from", World.demo("receiver"), as: "receiver")
        try json("sign", chain, as: "receiver")
        for device in ["producer", "carrier", "receiver", "producer"] { try json("sync", as: device) }
        try json("export", chain, "-o", "record.jsonl", as: "producer")
        return chain
    }
}
