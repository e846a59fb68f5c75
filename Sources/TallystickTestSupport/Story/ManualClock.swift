import Synchronization
package import Tallystick

/// A clock that only a test moves; can be read from any thread.
package final class ManualClock: Sendable {
    private let moment: Mutex<Timestamp>

    /// A clock that stands at this moment.
    package init(_ start: Timestamp) { moment = Mutex(start) }

    /// The moment it stands at.
    package var now: Timestamp { moment.withLock { $0 } }

    /// Moves the clock, forward or back; a move that would leave the years there are is not made.
    package func advance(seconds: Int64) {
        moment.withLock { moment in
            let (step, isLong) = seconds.multipliedReportingOverflow(by: 1_000)
            let (moved, isFar) = moment.milliseconds.addingReportingOverflow(step)
            guard !isLong, !isFar else { return }
            moment = Timestamp(milliseconds: moved, offsetMinutes: moment.offsetMinutes) ?? moment
        }
    }

    /// Puts the clock to a moment.
    package func set(_ moment: Timestamp) {
        self.moment.withLock { $0 = moment }
    }
}
