import Synchronization

/// How far a long piece of work has come, shown on standard error.
///
/// Only on a terminal, only once the work has taken a second, at most ten times a second, and never with `--quiet`.
/// Call `finish` when the work ends; letting go of it does so too.
package final class Progress: Sendable {
    private struct State {
        var done: Int
        var lastShown: ContinuousClock.Instant?
        var isFinished: Bool
    }

    private let console: Console
    private let label: String
    private let total: Int?
    private let started: ContinuousClock.Instant
    private let state: Mutex<State>

    /// Starts the clock; `total` is what `done` counts up to, or nil if that is not known.
    package init(_ label: String, total: Int?, on console: Console) {
        self.console = console
        self.label = Console.plain(label)
        self.total = total
        started = console.connection.now()
        state = Mutex(State(done: 0, lastShown: nil, isFinished: false))
    }

    deinit {
        finish()
    }

    /// Says that this much more is done.
    package func advance(by count: Int) {
        update { done in
            let (sum, overflow) = done.addingReportingOverflow(count)
            return overflow ? done : sum
        }
    }

    /// Says how much is done in all.
    package func advance(to done: Int) {
        update { _ in done }
    }

    /// Takes the line off the terminal; nothing is shown from then on.
    package func finish() {
        let wasShown = state.withLock { state in
            guard !state.isFinished else { return false }
            state.isFinished = true
            return state.lastShown != nil
        }
        if wasShown { console.showProgress(nil) }
    }

    private func update(_ change: (Int) -> Int) {
        guard console.showsProgress else { return }
        let now = console.connection.now()
        let line: String? = state.withLock { state in
            state.done = change(state.done)
            guard !state.isFinished, started.duration(to: now) >= .seconds(1) else { return nil }
            if let last = state.lastShown, last.duration(to: now) < .milliseconds(100) { return nil }
            state.lastShown = now
            return text(done: state.done)
        }
        if let line { console.showProgress(TextLayout.truncated(line, to: console.width - 1)) }
    }

    private func text(done: Int) -> String {
        guard let total, total > 0 else { return "\(label): \(done)" }
        let share = min(max(Double(done) / Double(total), 0), 1)
        return "\(label): \(done) of \(total) (\(Int(share * 100))%)"
    }
}
