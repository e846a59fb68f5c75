import CommandLineKit
import Glibc
import Tallystick

/// The device's clock, with the UTC offset of the place it is set to.
enum Moment {
    static func now() throws(CommandError) -> Timestamp {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        var seconds = time.tv_sec
        var local = unsafe tm()
        unsafe localtime_r(&seconds, &local)
        // RFC 3339 offsets are whole minutes; historic local times with seconds are not in use.
        let offset = Int(unsafe local.tm_gmtoff / 60)
        let milliseconds = Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec / 1_000_000)
        guard
            let now = Timestamp(milliseconds: milliseconds, offsetMinutes: offset)
                ?? Timestamp(milliseconds: milliseconds)
        else {
            throw CommandError(
                exit: .failed,
                code: "clock-implausible",
                message: "the clock of this machine says a time before 1970 or after 9999",
                remedy: "set the clock and try again"
            )
        }
        return now
    }

    /// A moment as a person reads it: `30 Nov 2026, 06:12 (+01:00)`.
    static func text(_ moment: Timestamp) -> String {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let spelling = moment.description
        let day = spelling.dropFirst(8).prefix(2)
        let month = Int(spelling.dropFirst(5).prefix(2)).map { months[$0 - 1] } ?? ""
        let zone = moment.offsetMinutes == 0 ? "UTC" : String(spelling.suffix(6))
        return "\(day) \(month) \(spelling.prefix(4)), \(spelling.dropFirst(11).prefix(5)) (\(zone))"
    }
}
