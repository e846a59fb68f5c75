import Synchronization

/// Where a command's results, notes, errors and questions go.
///
/// Results go to standard output, all else to standard error. What it is connected to is a `Connection`, so that tests
/// can stand in for the terminal. Copies share one state and may be used from any thread; each call writes whole.
package struct Console: Sendable {
    /// One of the two streams written to.
    package enum Stream: Sendable {
        /// Standard output: results.
        case output
        /// Standard error: notes, errors, progress, questions.
        case error
    }

    /// How writing ended.
    package enum WriteResult: Sendable {
        /// Every byte was written.
        case written
        /// Nobody reads any more (`EPIPE`), as in `tally list | head`.
        case readerGone
        /// It could not be written, for this reason.
        case failed(String)
    }

    /// What a console is connected to.
    package struct Connection: Sendable {
        /// Writes every byte or says why not; may block.
        package var write: @Sendable (Stream, [UInt8]) -> WriteResult
        /// Reads one line from standard input without its line break; nil at the end.
        package var readLine: @Sendable () -> String?
        /// Whether standard input is a terminal.
        package var inputIsTerminal: Bool
        /// Whether standard output is a terminal.
        package var outputIsTerminal: Bool
        /// Whether standard error is a terminal.
        package var errorIsTerminal: Bool
        /// The columns of the terminal, or nil where there is none.
        package var windowWidth: @Sendable () -> Int?
        /// The rows of the terminal, or nil where there is none.
        package var windowHeight: @Sendable () -> Int?
        /// An environment variable, or nil if it is not set.
        package var environment: @Sendable (String) -> String?
        /// The time, to delay and thin out progress.
        package var now: @Sendable () -> ContinuousClock.Instant

        /// Connects a console.
        package init(
            write: @escaping @Sendable (Stream, [UInt8]) -> WriteResult,
            readLine: @escaping @Sendable () -> String?,
            inputIsTerminal: Bool,
            outputIsTerminal: Bool,
            errorIsTerminal: Bool,
            windowWidth: @escaping @Sendable () -> Int?,
            windowHeight: @escaping @Sendable () -> Int? = { nil },
            environment: @escaping @Sendable (String) -> String?,
            now: @escaping @Sendable () -> ContinuousClock.Instant
        ) {
            self.write = write
            self.readLine = readLine
            self.inputIsTerminal = inputIsTerminal
            self.outputIsTerminal = outputIsTerminal
            self.errorIsTerminal = errorIsTerminal
            self.windowWidth = windowWidth
            self.windowHeight = windowHeight
            self.environment = environment
            self.now = now
        }
    }

    let connection: Connection
    private let state: SharedState

    /// Whether notes and progress are silenced.
    package let isQuiet: Bool
    /// Whether results are JSON.
    package let isJSON: Bool

    /// Makes a console on this connection.
    package init(_ connection: Connection) {
        self.connection = connection
        state = SharedState()
        isQuiet = false
        isJSON = false
    }

    private init(_ connection: Connection, state: SharedState, isQuiet: Bool, isJSON: Bool) {
        self.connection = connection
        self.state = state
        self.isQuiet = isQuiet
        self.isJSON = isJSON
    }

    /// The same console as `--quiet` and `--json` want it.
    func configured(quiet: Bool, json: Bool) -> Console {
        Console(connection, state: state, isQuiet: quiet, isJSON: json)
    }

    // MARK: What it knows

    /// An environment variable, or nil if it is not set.
    package var environment: @Sendable (String) -> String? { connection.environment }

    /// Whether this stream is a terminal.
    package func isTerminal(_ stream: Stream) -> Bool {
        switch stream {
        case .output: connection.outputIsTerminal
        case .error: connection.errorIsTerminal
        }
    }

    /// Whether this stream may be coloured: a terminal that is not dumb, and `NO_COLOR` unset or empty.
    package func allowsColour(on stream: Stream) -> Bool {
        isTerminal(stream) && understandsEscapes && (environment("NO_COLOR") ?? "").isEmpty
    }

    /// The columns to lay text out for: those of the terminal, else of `COLUMNS`, else 80; at least 20.
    package var width: Int {
        let known = connection.windowWidth() ?? environment("COLUMNS").flatMap { Int($0) }
        guard let known, known > 0 else { return 80 }
        return max(20, known)
    }

    /// The rows of the terminal, or nil where there is none or it does not say.
    package var height: Int? { connection.windowHeight() }

    /// Whether whoever read standard output has gone; a command that streams should end then.
    package var outputReaderIsGone: Bool { state.lock.withLock { $0.readerIsGone } }

    /// Why standard output could not be written, or nil; that nobody reads any more is no failure.
    package var outputFailure: String? { state.lock.withLock { $0.failure } }

    /// Whether progress would be seen.
    var showsProgress: Bool {
        isTerminal(.error) && understandsEscapes && !isQuiet
    }

    private var understandsEscapes: Bool {
        let terminal = environment("TERM") ?? ""
        return !terminal.isEmpty && !sameBytes(terminal, "dumb")
    }

    // MARK: Writing

    /// Prints a line of result to standard output, as it is: make text from elsewhere `plain` first.
    package func print(_ line: String) {
        write(line + "\n")
    }

    /// Prints a JSON result on a line of its own to standard output.
    package func print(_ value: JSONOutput) {
        write(value.text + "\n")
    }

    /// Prints a table to standard output, its headings bold where that is allowed.
    package func print(_ table: Table) {
        let lines = table.lines
        let headings = lines.prefix(1).map { styled($0, .heading, on: .output) }
        write((headings + lines.dropFirst()).map { $0 + "\n" }.joined())
    }

    /// Writes text to standard output as it is.
    package func write(_ text: String) {
        write(Array(text.utf8))
    }

    /// Writes bytes to standard output as they are.
    package func write(_ bytes: [UInt8]) {
        send(bytes, to: .output)
    }

    /// Prints a line to standard error unless `--quiet` was given.
    package func note(_ line: String) {
        guard !isQuiet else { return }
        writeError(line + "\n")
    }

    /// Writes text to standard error as it is; errors are thrown instead, and printed by `Program.run`.
    func writeError(_ text: String) {
        send(Array(text.utf8), to: .error)
    }

    /// Shows this line of progress in place of the one before, or removes it.
    func showProgress(_ line: String?) {
        state.lock.withLock { state in
            guard line != nil || state.progressIsShown else { return }
            // Nothing depends on progress being seen.
            _ = connection.write(.error, Array(("\r\u{1B}[K" + (line ?? "")).utf8))
            state.progressIsShown = line != nil
        }
    }

    private func send(_ bytes: [UInt8], to stream: Stream) {
        state.lock.withLock { state in
            if state.progressIsShown {
                _ = connection.write(.error, Array("\r\u{1B}[K".utf8))
                state.progressIsShown = false
            }
            switch stream {
            case .error:
                // There is nowhere left to say that standard error failed.
                _ = connection.write(.error, bytes)
            case .output:
                guard !state.readerIsGone, state.failure == nil else { return }
                switch connection.write(.output, bytes) {
                case .written: break
                case .readerGone: state.readerIsGone = true
                case .failed(let reason): state.failure = reason
                }
            }
        }
    }

    // MARK: Asking

    /// Asks a yes or no question on standard error and returns the answer; no is the default.
    ///
    /// Nil where nobody can be asked: standard input or standard error is no terminal, or `--json` was given. The
    /// command then needs the answer as an option. After three answers that are neither, the answer is no.
    package func confirm(_ question: String) -> Bool? {
        guard connection.inputIsTerminal, connection.errorIsTerminal, !isJSON else { return nil }
        for _ in 1...3 {
            writeError("\(question) [y/N] ")
            guard let line = connection.readLine() else {
                writeError("\n")
                return false
            }
            switch line.filter({ !$0.isWhitespace }).lowercased() {
            case "y", "yes": return true
            case "n", "no", "": return false
            default: writeError("Please answer y or n.\n")
            }
        }
        return false
    }

    // MARK: Style

    /// How text is set off; it never carries meaning that the words don't.
    package enum Style: Sendable {
        /// Bold.
        case heading
        /// Bold red.
        case error
        /// Yellow.
        case warning
        /// Green.
        case good

        var code: String {
            switch self {
            case .heading: "1"
            case .error: "1;31"
            case .warning: "33"
            case .good: "32"
            }
        }
    }

    /// The text in this style, or as it is where colour is not allowed.
    package func styled(_ text: String, _ style: Style, on stream: Stream) -> String {
        allowsColour(on: stream) ? "\u{1B}[\(style.code)m\(text)\u{1B}[0m" : text
    }

    /// What all copies of a console share.
    private final class SharedState: Sendable {
        struct Value {
            var progressIsShown = false
            var readerIsGone = false
            var failure: String?
        }

        let lock = Mutex(Value())
    }
}
