import Dispatch
import Synchronization
package import Tallystick
import TallystickCrypto

extension ServerStore {
    /// Takes the lines a device pushed and gives the signed receipt, once all of it is safely stored.
    ///
    /// Reading the lines and checking signatures happen on the caller's thread. Pushes that come while another is
    /// written are written together (group commit), in one transaction.
    ///
    /// - Parameters:
    ///   - lines: The lines, without line feeds.
    ///   - device: The device whose session brought them; the events may be others'.
    ///   - received: When they came; where the clock has gone back, the time of what came last is taken.
    ///   - complain: Told of a line that was put off because its rows could not be written.
    /// - Returns: The receipt's line.
    /// - Throws: `StoreError`, for one `disk-full`; then nothing of the push was taken.
    package func ingest(
        _ lines: [ArraySlice<UInt8>],
        from device: DeviceID,
        received: Timestamp,
        complain: (any Error) -> Void = { _ in }
    ) throws -> [UInt8] {
        let certificates = directory.withLock { $0.certificates }
        let push = CheckedPush(device: device, received: received, lines: lines, certificates: certificates)
        let taken = try queue.submit(push) { pushes in
            try write { writer in
                defer { writer.trim() }
                return try pushes.map { push in
                    var push = push
                    push.received = try writer.arrivalTime(push.received)
                    let lines = try push.lines.map { line in try writer.take(line, of: push) }
                    return TakenPush(received: push.received, epoch: writer.epoch, lines: lines)
                }
            }
        }
        for line in taken.lines { line.failure.map(complain) }
        return SignedLines.receipt(
            epoch: taken.epoch,
            device: device,
            received: taken.received,
            taken.lines,
            by: keys.authority
        )
    }
}

/// Brings the pushes of many threads to the one writer, as many at a time as have come.
///
/// The thread that finds nobody writing writes for all that wait with it; then the next one that waits does.
final class PushQueue: Sendable {
    private let state = Mutex(State())
    /// About how many lines are written in one transaction: more would only keep the first waiting.
    private static let mostLines = 4_000

    private struct State {
        var waiting: [Ticket] = []
        var isWriting = false
    }

    /// A push in the queue.
    private final class Ticket: Sendable {
        let push: CheckedPush
        let turn = DispatchSemaphore(value: 0)
        /// What came of it; nil when woken means that it is this thread's turn to write.
        let outcome = Mutex<Result<TakenPush, any Error>?>(nil)

        init(_ push: CheckedPush) {
            self.push = push
        }
    }

    /// Waits until the push is written, here or by another thread.
    ///
    /// - Parameter write: Writes pushes in one transaction and gives their results in the same order.
    func submit(
        _ push: CheckedPush,
        write: ([CheckedPush]) throws -> [TakenPush]
    ) throws -> TakenPush {
        let ticket = Ticket(push)
        let mustWait = state.withLock { state in
            state.waiting.append(ticket)
            defer { state.isWriting = true }
            return state.isWriting
        }
        if mustWait {
            ticket.turn.wait()
            if let outcome = ticket.outcome.withLock({ $0 }) { return try outcome.get() }
        }
        let batch = state.withLock { state in
            var lines = 0
            let batch = state.waiting.prefix { ticket in
                defer { lines += ticket.push.lines.count }
                return lines < PushQueue.mostLines
            }
            state.waiting.removeFirst(batch.count)
            return Array(batch)
        }
        let results = Result {
            let taken = try write(batch.map(\.push))
            guard taken.count == batch.count else {
                throw ServerError(.logDamaged, "expected \(batch.count) pushes to be written, got \(taken.count)")
            }
            return taken
        }
        for (index, other) in batch.enumerated() {
            other.outcome.withLock { $0 = results.map { $0[index] } }
            if other !== ticket { other.turn.signal() }
        }
        let next = state.withLock { state in
            state.isWriting = !state.waiting.isEmpty
            return state.waiting.first
        }
        next?.turn.signal()
        guard let outcome = ticket.outcome.withLock({ $0 }) else {
            // The ticket is in the first batch written after it was queued, or after its thread was woken to write.
            throw ServerError(.logDamaged, "expected the push to be written with its batch")
        }
        return try outcome.get()
    }
}
