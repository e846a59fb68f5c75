import CommandLineKit
import Synchronization

/// A console whose output is kept, whose input is given, and whose clock is set by the test.
final class CapturedConsole: Sendable {
    private struct State {
        var output: [UInt8] = []
        var error: [UInt8] = []
        var input: [String]
        var now: ContinuousClock.Instant
    }

    private let state: Mutex<State>
    private let isTerminal: Bool
    private let width: Int?
    private let variables: [String: String]
    private let outputResult: Console.WriteResult

    init(
        isTerminal: Bool = false,
        width: Int? = nil,
        environment: [String: String] = [:],
        input: [String] = [],
        outputResult: Console.WriteResult = .written
    ) {
        self.isTerminal = isTerminal
        self.width = width
        self.outputResult = outputResult
        variables = environment
        state = Mutex(State(input: input, now: ContinuousClock.now))
    }

    var output: String { state.withLock { String(decoding: $0.output, as: UTF8.self) } }
    var error: String { state.withLock { String(decoding: $0.error, as: UTF8.self) } }

    func pass(_ duration: Duration) {
        state.withLock { $0.now = $0.now.advanced(by: duration) }
    }

    var console: Console {
        Console(
            Console.Connection(
                write: { stream, bytes in
                    self.state.withLock { state in
                        switch stream {
                        case .error:
                            state.error += bytes
                            return .written
                        case .output:
                            if case .written = self.outputResult { state.output += bytes }
                            return self.outputResult
                        }
                    }
                },
                readLine: { self.state.withLock { $0.input.isEmpty ? nil : $0.input.removeFirst() } },
                inputIsTerminal: isTerminal,
                outputIsTerminal: isTerminal,
                errorIsTerminal: isTerminal,
                windowWidth: { self.width },
                environment: { self.variables[$0] },
                now: { self.state.withLock { $0.now } }
            )
        )
    }
}
