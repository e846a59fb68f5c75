import Foundation
import Glibc
import Tallystick
import Testing

/// The program at a terminal: codes are shown where they fit, questions are asked, colours are only there.
@Suite struct TerminalTests {
    /// A terminal of this size, and what has been shown on it.
    private final class Terminal {
        let device: FileHandle
        private let screen: FileHandle

        init(columns: Int, rows: Int) throws {
            var (controller, inside) = (Int32(-1), Int32(-1))
            var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
            guard openpty(&controller, &inside, nil, nil, &size) == 0 else {
                throw UnexpectedRun("expected a terminal: errno \(errno)")
            }
            // Another test's program must not keep it open.
            _ = fcntl(controller, F_SETFD, FD_CLOEXEC)
            _ = fcntl(inside, F_SETFD, FD_CLOEXEC)
            screen = FileHandle(fileDescriptor: controller, closeOnDealloc: true)
            device = FileHandle(fileDescriptor: inside, closeOnDealloc: true)
        }

        /// Types text, as a person would.
        func type(_ text: String) throws { try screen.write(contentsOf: Data(text.utf8)) }

        /// Runs `tally` at the terminal and gives its exit status and what was shown.
        func run(_ arguments: [String], in world: World) throws -> (status: Int32, shown: String) {
            let process = TallyProgram.process(arguments, in: world.folder, environment: ["TERM": "xterm"])
            process.standardInput = device
            process.standardOutput = device
            process.standardError = device
            try process.run()
            process.waitUntilExit()
            // All it wrote is in the terminal's buffer, which holds a few kilobytes: read what is there.
            var shown: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 4_096)
            var ready = pollfd(fd: screen.fileDescriptor, events: Int16(POLLIN), revents: 0)
            while poll(&ready, 1, 0) > 0, ready.revents & Int16(POLLIN) != 0 {
                let count = read(screen.fileDescriptor, &chunk, chunk.count)
                guard count > 0 else { break }
                shown += chunk[..<count]
            }
            return (process.terminationStatus, String(decoding: shown, as: UTF8.self))
        }
    }

    @Test(arguments: [(48, 60), (100, 26), (20, 10)])
    func offersNothingWhereTheCodeWouldNotBeSeenWhole(columns: Int, rows: Int) throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let chain = try world.offered()
        let run = try Terminal(columns: columns, rows: rows).run(
            ["--home", "homes/producer", "offer", chain],
            in: world
        )
        #expect(run.status == 1)
        #expect(run.shown.contains("\(columns) columns and \(rows) rows") && run.shown.contains("--png FILE"))
        #expect(try world.json("show", chain, as: "producer")["offers"]?.elements?.count == 1, "no offer nobody saw")
    }

    @Test func asksBeforeALoadIsTakenOver() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let chain = try world.offered()
        for (answer, status) in [("n\n", 1), ("\n", 1), ("perhaps\nyes\n", 0)] as [(String, Int32)] {
            let terminal = try Terminal(columns: 80, rows: 24)
            try terminal.type(answer)
            let run = try terminal.run(["--home", "homes/carrier", "accept", "offer.png"], in: world)
            #expect(run.status == status, "\(run.shown)")
            #expect(run.shown.contains("Take this load over? [y/N]"))
            #expect(run.shown.contains("Collection from the producer"), "it says what is taken first")
        }
        #expect(try world.json("list", as: "carrier")["chains"]?.elements?.map { $0["chain"]?.text } == [chain])
    }

    @Test func asksBeforeWhatCannotBeTakenBack() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let chain = try world.recorded()
        try world.json("correct", chain, "producerName=Hartley", "--why", "its name", as: "producer")
        for device in ["producer", "receiver"] { try world.json("sync", as: device) }
        let other = try world.json("open", "--scheme", "uk-waste-transfer-note", as: "producer")["chain"]?.text ?? ""
        for (device, command, asked) in [
            ("receiver", ["approve", chain], "Approve this? [y/N]"),
            ("receiver", ["close", chain, "delivered"], "Close it? [y/N]"),
            ("producer", ["cancel", other, "--why", "not needed"], "Cancel it? [y/N]"),
        ] as [(String, [String], String)] {
            for (answer, status) in [("n\n", 1), ("y\n", 0)] as [(String, Int32)] {
                let terminal = try Terminal(columns: 100, rows: 24)
                try terminal.type(answer)
                let run = try terminal.run(["--home", "homes/\(device)"] + command, in: world)
                #expect(run.status == status, "\(run.shown)")
                #expect(run.shown.contains(asked), "\(run.shown)")
                if command[0] == "approve" { #expect(run.shown.contains("→ Hartley"), "it says what would change") }
            }
        }
    }

    @Test func coloursOnlyATerminalThatWantsThem() throws {
        let world = try World()
        let run = try Terminal(columns: 80, rows: 24).run(["audit", "nothing"], in: world)
        #expect(run.shown.contains("\u{1B}[1;31mError:\u{1B}[0m"))
        #expect(try !world.tally("audit", "nothing", exits: 66).errors.contains("\u{1B}"))
    }

    @Test func aReaderThatGoesAwayIsNoFailure() throws {
        let world = try World()
        let pipe = Pipe()
        let process = TallyProgram.process(["manual"], in: world.folder, environment: [:])
        process.standardOutput = pipe
        try pipe.fileHandleForReading.close()
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    }

    @Test func outputThatCannotBeWrittenIsNoSuccess() throws {
        let world = try World()
        let process = TallyProgram.process(["manual"], in: world.folder, environment: [:])
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
        process.standardError = try world.newFile("errors")
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 1)
        #expect(String(decoding: try world.read("errors"), as: UTF8.self).contains("could not be written"))
    }
}
