/// What an event has seen: for each device, the number of its last event among the event and its ancestors.
///
/// A device's own previous event is always among the ancestors of its next, so one number a device describes the
/// whole set, and "has seen" is one look-up instead of a walk.
public struct Clock: Sendable, Equatable {
    private var entries: [Entry] = []

    private struct Entry: Sendable, Equatable {
        let device: DeviceID
        var seq: Int
    }

    init() {}

    subscript(device: DeviceID) -> Int {
        entries.first { $0.device == device }?.seq ?? 0
    }

    func sees(_ device: DeviceID, _ seq: Int) -> Bool {
        self[device] >= seq
    }

    mutating func see(_ device: DeviceID, _ seq: Int) {
        if let index = entries.firstIndex(where: { $0.device == device }) {
            entries[index].seq = max(entries[index].seq, seq)
        } else {
            entries.append(Entry(device: device, seq: seq))
        }
    }

    mutating func merge(_ other: Clock) {
        for entry in other.entries { see(entry.device, entry.seq) }
    }
}
