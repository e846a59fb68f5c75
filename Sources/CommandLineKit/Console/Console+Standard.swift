import Glibc

extension Console {
    /// The console of this process: standard input, output and error.
    ///
    /// From then on the process is not ended by `SIGPIPE`: a reader that went away is seen as `outputReaderIsGone`,
    /// and sockets report `EPIPE`.
    package static func standard() -> Console {
        ignoreBrokenPipes()
        return Console(
            Connection(
                write: { stream, bytes in writeAll(bytes, to: stream == .output ? STDOUT_FILENO : STDERR_FILENO) },
                readLine: { readLine(from: STDIN_FILENO) },
                inputIsTerminal: isatty(STDIN_FILENO) == 1,
                outputIsTerminal: isatty(STDOUT_FILENO) == 1,
                errorIsTerminal: isatty(STDERR_FILENO) == 1,
                windowWidth: { windowSize(of: STDOUT_FILENO)?.columns ?? windowSize(of: STDERR_FILENO)?.columns },
                windowHeight: { windowSize(of: STDOUT_FILENO)?.rows ?? windowSize(of: STDERR_FILENO)?.rows },
                environment: { name in unsafe getenv(name).map { unsafe String(cString: $0) } },
                now: { ContinuousClock.now }
            )
        )
    }

    private static func ignoreBrokenPipes() {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = SIG_IGN
        // If this failed, a broken pipe would end the process as it does by default, which is right too.
        guard unsafe sigaction(SIGPIPE, &action, nil) == 0 else { return }
    }

    /// Writes every byte, going on after interruptions and short writes, and waiting where the file would block.
    static func writeAll(_ bytes: [UInt8], to file: Int32) -> WriteResult {
        unsafe bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[done...])
                let count = unsafe Glibc.write(file, rest.baseAddress, rest.count)
                let code = errno
                if count >= 0 {
                    done += count
                    continue
                }
                switch code {
                case EINTR: continue
                case EAGAIN:
                    if let reason = waitUntilWritable(file) { return .failed(reason) }
                case EPIPE: return .readerGone
                default: return .failed(describe(code))
                }
            }
            return .written
        }
    }

    /// Waits until the file can be written, and returns nil; else why it can't be.
    private static func waitUntilWritable(_ file: Int32) -> String? {
        var entry = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
        while unsafe poll(&entry, 1, -1) < 0 {
            let code = errno
            guard code == EINTR else { return describe(code) }
        }
        return nil
    }

    /// Reads up to a line break, which is left out; nil at the end of the file or on failure.
    ///
    /// Byte by byte, since what follows the line is not ours; lines past 4,096 bytes are cut there.
    static func readLine(from file: Int32) -> String? {
        var line: [UInt8] = []
        while line.count < 4096 {
            var byte: UInt8 = 0
            let count = unsafe Glibc.read(file, &byte, 1)
            let code = errno
            if count < 0 && code == EINTR { continue }
            guard count > 0 else { return line.isEmpty ? nil : String(decoding: line, as: UTF8.self) }
            guard byte != UInt8(ascii: "\n") else { break }
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }

    private static func windowSize(of file: Int32) -> (columns: Int, rows: Int)? {
        var size = winsize()
        guard unsafe ioctl(file, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    private static func describe(_ code: Int32) -> String {
        // From glibc 2.32 on the text belongs to the calling thread.
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }
}
