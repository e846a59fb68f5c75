import Tallystick
import TallystickCrypto
import Testing

@testable import TallystickDevice

/// A log that is not the one the device was given before.
extension SyncSessionTests {
    static let others: [Digest?] = [nil, SHA256.hash([])]

    @Test("starts over once when the log before its cursor is not the one it was given", arguments: others)
    func startsOverWhereTheLogWentBack(previous: Digest?) throws {
        var session = session()
        _ = session.start()
        _ = session.push([])
        // The same database by its name: an old file was put in its place.
        guard case .startOver("one") = session.receive(try page(after: 5, previous: previous)),
            case .loadBatch = session.saved()
        else {
            Issue.record("expected to start over")
            return
        }
        #expect(path(session.push([])) == "GET /v1/events?after=0&limit=500")
        var second = session
        #expect(code(second.receive(try page(after: 0, previous: Self.newest))) == .serverMisbehaved)
        let first = try line(1)
        let item = PullPage.Item(entry: try entry(first, position: 1), event: try SignedEvent(line: first.bytes))
        let start = try page(after: 0, items: [item], hasMore: true, previous: nil)
        guard case .savePage = session.receive(start) else {
            Issue.record("expected to save the first page")
            return
        }
        #expect(path(session.saved()) == "GET /v1/events?after=1&limit=500")
        // Not in the middle of a log either: it has started over already.
        second = session
        #expect(code(second.receive(try page(after: 1, previous: nil))) == .serverMisbehaved)
        guard case .savePage = session.receive(try page(after: 1, previous: item.entry.digest())),
            case .finish = session.saved()
        else {
            Issue.record("expected to finish")
            return
        }
    }

    @Test("starts over once when what it is given contradicts what it was given before")
    func startsOverWhereTheLogWasRewritten() throws {
        let changed = DeviceError(.logChanged, "another entry", remedy: "ask")
        let lines = try [line(1)]
        var pushing = session()
        _ = pushing.start()
        _ = pushing.push(lines)
        guard case .saveReceipt = pushing.receive(try receipt(lines)),
            case .startOver("one") = pushing.refused(changed),
            case .saveReceipt(_, let again) = pushing.saved()
        else {
            Issue.record("expected to start over and then save the same receipt")
            return
        }
        #expect(again == lines)
        var twice = pushing
        #expect(code(twice.refused(changed)) == .serverMisbehaved)
        guard case .loadBatch = pushing.saved() else {
            Issue.record("expected to offer everything again")
            return
        }
        #expect(path(pushing.push([])) == "GET /v1/events?after=0&limit=500")

        var pulling = session()
        _ = pulling.start()
        _ = pulling.push([])
        guard case .savePage = pulling.receive(try page(after: 5)), case .startOver("one") = pulling.refused(changed),
            case .loadBatch = pulling.saved()
        else {
            Issue.record("expected to start over from a page")
            return
        }

        // What cannot be saved for anything else ends the session as it is.
        var other = session()
        _ = other.start()
        _ = other.push([])
        _ = other.receive(try page(after: 5))
        #expect(code(other.refused(DeviceError.misbehaved("two entries"))) == .serverMisbehaved)
    }
}
