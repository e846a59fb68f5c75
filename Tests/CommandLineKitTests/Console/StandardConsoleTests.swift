import Glibc
import Testing

@testable import CommandLineKit

@Suite struct StandardConsoleTests {
    /// The two ends of a new pipe.
    private func makePipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test func writesEveryByteEvenWhereTheFileWouldBlock() throws {
        let ends = try makePipe()
        let flags = fcntl(ends.write, F_GETFL)
        #expect(fcntl(ends.write, F_SETFL, flags | O_NONBLOCK) == 0)
        // Four times what a pipe holds, so that the writer must wait for the reader.
        let bytes = (0..<262_144).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let reader = ReaderThread(ends.read)
        guard case .written = Console.writeAll(bytes, to: ends.write) else {
            Issue.record("not written")
            return
        }
        close(ends.write)
        #expect(reader.bytes() == bytes)
        close(ends.read)
    }

    @Test func seesThatTheReaderHasGone() throws {
        _ = Console.standard()
        let ends = try makePipe()
        close(ends.read)
        guard case .readerGone = Console.writeAll([1], to: ends.write) else {
            Issue.record("expected the reader to be gone")
            return
        }
        close(ends.write)
    }

    @Test func saysWhyItCouldNotWrite() throws {
        let full = open("/dev/full", O_WRONLY)
        try #require(full >= 0)
        guard case .failed(let reason) = Console.writeAll([1], to: full) else {
            Issue.record("expected a full device")
            return
        }
        #expect(reason == "No space left on device")
        close(full)
    }

    @Test func readsLinesAndTheEnd() throws {
        let ends = try makePipe()
        _ = Console.writeAll(Array("yes\n\nlast".utf8), to: ends.write)
        close(ends.write)
        #expect(Console.readLine(from: ends.read) == "yes")
        #expect(Console.readLine(from: ends.read) == "")
        #expect(Console.readLine(from: ends.read) == "last")
        #expect(Console.readLine(from: ends.read) == nil)
        close(ends.read)
    }
}

/// Reads a file to its end on a thread of its own.
private final class ReaderThread: @unchecked Sendable {
    // Written by the thread only, and read only after it was joined.
    private var read: [UInt8] = []
    private var thread = pthread_t()

    init(_ file: Int32) {
        let box = Unmanaged.passRetained(Box(self, file))
        _ = pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                let box = Unmanaged<Box>.fromOpaque(argument).takeRetainedValue()
                var buffer = [UInt8](repeating: 0, count: 4096)
                while true {
                    let count = Glibc.read(box.file, &buffer, buffer.count)
                    guard count > 0 else { return nil }
                    box.owner.read += buffer[..<count]
                }
            },
            box.toOpaque()
        )
    }

    func bytes() -> [UInt8] {
        pthread_join(thread, nil)
        return read
    }

    private final class Box {
        let owner: ReaderThread
        let file: Int32
        init(_ owner: ReaderThread, _ file: Int32) {
            self.owner = owner
            self.file = file
        }
    }
}
