import CLinux
import Glibc

/// Finds QR codes in picture files that others made, in a process of its own.
package struct PictureDecoder: Sendable {
    /// The program.
    package let executable: String
    /// Its arguments, without its name.
    package let arguments: [String]
    /// How long its answer is waited for.
    package let timeLimit: Duration
    /// The most bytes of an answer.
    package let outputLimit: Int

    /// Names the program that is to read a picture from standard input and to answer as `DecoderProcess` does.
    package init(executable: String, arguments: [String], timeLimit: Duration, outputLimit: Int) {
        self.executable = executable
        self.arguments = arguments
        self.timeLimit = timeLimit
        self.outputLimit = outputLimit
    }

    /// This program once more, even where its file has been replaced since it was started.
    ///
    /// Ten seconds are more than it gives itself, so as to let it start on a busy machine; 4 MiB hold the longest
    /// texts that 16 codes can have.
    package static let ownProgram = PictureDecoder(
        executable: "/proc/self/exe",
        arguments: [DecoderProcess.argument],
        timeLimit: .seconds(10),
        outputLimit: 4 << 20
    )

    /// Looks for codes in a PNG or JPEG file; none is no error.
    ///
    /// Throws what `ImageReader` and `QRDecoder` throw; `decoder-timeout` where the time was not enough, and
    /// `decoder-failed` where the process ended by a signal, said nothing, or said what is no answer. Blocks.
    package func symbols(in file: [UInt8]) throws(QRError) -> [QRSymbol] {
        let deadline = ContinuousClock.now + timeLimit
        let child = try Child(executable, arguments, input: try MemoryFile(file))
        let output = try child.output(limit: outputLimit, until: deadline)
        let status = try child.end(until: deadline)
        // The low seven bits say which signal ended it, the next eight its exit status (wait(2)).
        let signal = status & 0x7F
        guard signal == 0 else {
            if signal == SIGXCPU {
                throw QRError(.decoderTimeout, "expected an answer in time, the decoding process used up its own")
            }
            throw QRError(.decoderFailed, "expected the decoding process to end by itself, signal \(signal) ended it")
        }
        let exit = status >> 8 & 0xFF
        guard exit == 0 || exit == 1 else {
            throw QRError(.decoderFailed, "expected exit status 0 or 1 of the decoding process, got \(exit)")
        }
        let symbols = try DecoderLines.symbols(in: output)
        guard exit == 0 else { throw QRError(.decoderFailed, "expected the decoding process to name its error") }
        return symbols
    }
}

extension PictureDecoder {
    /// Reads what a decoding process printed, for tests that make it up; throws as `symbols(in:)` does.
    package static func symbols(inAnswer bytes: [UInt8]) throws(QRError) -> [QRSymbol] {
        try DecoderLines.symbols(in: bytes)
    }
}

/// Owns a file in memory that a process is given as its standard input.
///
/// Unlike with a pipe nothing blocks, and nothing breaks where the other end goes away without reading.
private struct MemoryFile: ~Copyable {
    let descriptor: Int32

    init(_ bytes: [UInt8]) throws(QRError) {
        let descriptor = unsafe memfd_create("tally-picture", tally_memfd_cloexec)
        guard descriptor >= 0 else { throw MemoryFile.failure(errno) }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
                return unsafe write(descriptor, rest.baseAddress, rest.count)
            }
            let code = errno
            if count < 0, code == EINTR { continue }
            guard count > 0 else {
                close(descriptor)
                throw MemoryFile.failure(code)
            }
            written += count
        }
        guard lseek(descriptor, 0, SEEK_SET) == 0 else {
            let code = errno
            close(descriptor)
            throw MemoryFile.failure(code)
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private static func failure(_ code: Int32) -> QRError {
        QRError(.decoderFailed, "expected to hand the picture over, got errno \(code)")
    }
}

/// Owns a started process and the end of a pipe that its output is read from; ends the process where it goes.
private final class Child {
    private let process: pid_t
    private let pipe: Int32
    private var isRunning = true

    /// Starts a program with three descriptors: the input, a pipe, and nothing to write errors to.
    init(_ executable: String, _ arguments: [String], input: borrowing MemoryFile) throws(QRError) {
        var ends: (Int32, Int32) = (-1, -1)
        let piped = unsafe withUnsafeMutableBytes(of: &ends) { buffer in
            unsafe pipe2(buffer.assumingMemoryBound(to: Int32.self).baseAddress, O_CLOEXEC)
        }
        guard piped == 0 else { throw Child.failure("a pipe", errno) }
        defer { close(ends.1) }
        do throws(QRError) {
            process = try Child.start(executable, arguments, input: input.descriptor, output: ends.1)
        } catch {
            close(ends.0)
            throw error
        }
        pipe = ends.0
    }

    deinit {
        close(pipe)
        if isRunning { _ = kill() }
    }

    private static func start(
        _ executable: String,
        _ arguments: [String],
        input: Int32,
        output: Int32
    ) throws(QRError) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { throw failure("to prepare it", ENOMEM) }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        guard unsafe posix_spawnattr_init(&attributes) == 0 else { throw failure("to prepare it", ENOMEM) }
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // What this process ignores or holds back (SIGPIPE, say) is not handed down.
        var (none, all) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        let results = unsafe [
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO),
            posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO),
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0),
            posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1),
            posix_spawnattr_setsigmask(&attributes, &none),
            posix_spawnattr_setsigdefault(&attributes, &all),
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)),
        ]
        if let code = results.first(where: { $0 != 0 }) { throw failure("to prepare it", code) }
        var argumentPointers = unsafe ([executable] + arguments).map { unsafe strdup($0) } + [nil]
        // Where a library folder is named for this process, the same program needs it too; nothing else is told.
        let library = unsafe getenv("LD_LIBRARY_PATH").map { unsafe "LD_LIBRARY_PATH=" + String(cString: $0) }
        let environment = ["SWIFT_BACKTRACE=enable=no"] + [library].compactMap { $0 }
        var environmentPointers = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (argumentPointers + environmentPointers).forEach { unsafe free($0) } }
        var process: pid_t = 0
        let code = unsafe posix_spawn(
            &process,
            executable,
            &actions,
            &attributes,
            &argumentPointers,
            &environmentPointers
        )
        guard code == 0 else { throw failure("to start it", code) }
        return process
    }

    /// Everything the process prints, until it closes its output.
    func output(limit: Int, until deadline: ContinuousClock.Instant) throws(QRError) -> [UInt8] {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            var entry = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&entry, 1, Child.milliseconds(until: deadline))
            if ready < 0, errno == EINTR { continue }
            guard ready >= 0 else { throw Child.failure("its answer", errno) }
            guard ready > 0 else { throw Child.late }
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(pipe, $0.baseAddress, $0.count) }
            let code = errno
            if count == 0 { return output }
            if count < 0, code == EINTR { continue }
            guard count > 0 else { throw Child.failure("its answer", code) }
            guard output.count + count <= limit else {
                throw QRError(.decoderFailed, "expected at most \(limit) bytes of the decoding process, got more")
            }
            output += buffer[..<count]
        }
    }

    /// Waits for the end of the process and returns its status as wait(2) has it.
    func end(until deadline: ContinuousClock.Instant) throws(QRError) -> Int32 {
        var status: Int32 = 0
        while true {
            let ended = unsafe waitpid(process, &status, WNOHANG)
            let code = errno
            if ended == process {
                isRunning = false
                return status
            }
            if ended < 0, code == EINTR { continue }
            guard ended == 0 else { throw Child.failure("its end", code) }
            guard ContinuousClock.now < deadline else { throw Child.late }
            // It has closed its output, so it is about to end: a millisecond is most often enough.
            _ = poll(nil, 0, 1)
        }
    }

    /// Ends the process at once and takes its status, so that none is left behind.
    private func kill() -> Int32 {
        var status: Int32 = 0
        _ = Glibc.kill(process, SIGKILL)
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let rest = deadline - ContinuousClock.now
        guard rest > .zero else { return 0 }
        let (seconds, attoseconds) = rest.components
        return Int32(clamping: min(seconds, 86_400) * 1_000 + attoseconds / 1_000_000_000_000_000 + 1)
    }

    private static let late = QRError(.decoderTimeout, "expected an answer of the decoding process in time, got none")

    private static func failure(_ what: String, _ code: Int32) -> QRError {
        QRError(.decoderFailed, "expected a process to decode in: \(what), got errno \(code)")
    }
}
