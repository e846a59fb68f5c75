import Foundation
import Glibc
import Tallystick

/// A program that runs until it is stopped, its standard output read line by line as it comes.
final class RunningProgram {
    private let process: Process
    private let output = Pipe()
    private var buffer: [UInt8] = []
    private let errorPath: String

    init(_ arguments: [String], in world: World) throws {
        let errorName = "running-\(UUID().uuidString).err"
        errorPath = world.file(errorName)
        process = TallyProgram.process(arguments, in: world.folder, environment: [:])
        process.standardOutput = output
        process.standardError = try world.newFile(errorName)
        try process.run()
        // Only the program has the writing end: when it ends, so does what can be read.
        try output.fileHandleForWriting.close()
    }

    deinit {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }

    /// The next line of standard output; waits for it, and throws where the program ends instead.
    func line() throws -> String {
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                return line
            }
            let bytes = output.fileHandleForReading.availableData
            guard !bytes.isEmpty else {
                throw UnexpectedRun("expected a line of output, got the end; \(errors)")
            }
            buffer.append(contentsOf: bytes)
        }
    }

    /// What it has written to standard error.
    var errors: String { (try? String(contentsOfFile: errorPath, encoding: .utf8)) ?? "" }

    /// Sends a signal, waits for the end and gives the exit status, negative where a signal ended it.
    @discardableResult
    func stop(_ signal: Int32 = SIGTERM) -> Int32 {
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }
}

/// A server of one test, on a free port.
final class RunningServer {
    private let program: RunningProgram
    /// The port it listens on.
    let port: Int
    /// Where devices find it.
    var url: String { "http://127.0.0.1:\(port)" }

    /// Starts `server.sqlite` of this folder, and waits until it listens.
    init(in world: World, port asked: Int = 0, database: String = "server.sqlite") throws {
        program = try RunningProgram(
            ["server", "run", "--db", database, "--listen", "127.0.0.1:\(asked)", "--json"],
            in: world
        )
        let line = try program.line()
        guard let port = try JSON.parse(Array(line.utf8))["port"]?.integer else {
            throw UnexpectedRun("expected a port, got \(line)")
        }
        self.port = port
    }

    /// Asks it to stop by this signal, and gives its exit status.
    @discardableResult
    func stop(_ signal: Int32 = SIGTERM) -> Int32 { program.stop(signal) }
}
