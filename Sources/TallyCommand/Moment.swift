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

    /// The moment that a person types; throws where it is none, so that nothing is dated by a guess.
    static func typed(_ text: String, option: String) throws(CommandError) -> Timestamp {
        guard let moment = Timestamp.typed(text) else {
            throw .usage(
                "expected --\(option) with a time and its UTC offset such as 2026-11-30T06:12+00:00, "
                    + "got '\(Console.plain(text))'",
                code: "time-invalid"
            )
        }
        return moment
    }

    /// The milliseconds of a length of time from a minute to 366 days, such as `30m`, `8h` or `7d`.
    static func length(_ text: String, option: String) throws(CommandError) -> Int64 {
        let units: [(String, Int64)] = [("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)]
        for (unit, size) in units where text.hasSuffix(unit) {
            guard let count = Int64(text.dropLast()), count > 0, count <= 366 * 86_400_000 / size else { break }
            return count * size
        }
        throw .usage(
            "expected --\(option) with a time from 1m to 366d such as 30m, 8h or 7d, got '\(Console.plain(text))'",
            code: "time-invalid"
        )
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
