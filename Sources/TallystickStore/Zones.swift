import Foundation
package import Tallystick

/// The time zones of this machine's tz database, which deadlines are asked with.
package enum Zones {
    /// Minutes east of UTC at a moment, or nil where there is no such zone.
    package static func offset(in zone: String, at moment: Timestamp) -> Int? {
        guard let zone = TimeZone(identifier: zone) else { return nil }
        return zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment.milliseconds) / 1_000)) / 60
    }

    /// What the engine asks with.
    package static let offsets: ZoneOffsets = { zone, moment in Zones.offset(in: zone, at: moment) }
}
