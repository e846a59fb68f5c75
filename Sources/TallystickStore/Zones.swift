import Foundation
import Synchronization
package import Tallystick

/// The time zones of this machine's tz database, which deadlines are asked with.
package enum Zones {
    /// Zones that were asked for before: finding one by its name costs more than all the rest of a deadline.
    private static let known = Mutex<[String: TimeZone]>([:])

    /// More names than schemes have; beyond it the memory is emptied and begins anew.
    private static let most = 64

    /// Minutes east of UTC at a moment, or nil where there is no such zone.
    package static func offset(in zone: String, at moment: Timestamp) -> Int? {
        guard let zone = found(zone) else { return nil }
        return zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment.milliseconds) / 1_000)) / 60
    }

    private static func found(_ name: String) -> TimeZone? {
        known.withLock { known in
            if let zone = known[name] { return zone }
            guard let zone = TimeZone(identifier: name) else { return nil }
            if known.count >= most { known.removeAll() }
            known[name] = zone
            return zone
        }
    }

    /// What the engine asks with.
    package static let offsets: ZoneOffsets = { zone, moment in Zones.offset(in: zone, at: moment) }
}
