/// A moment with milliseconds and the UTC offset it was read at (RFC 3339 §5.6), in one spelling only.
///
/// `2026-11-30T06:12:00.000Z`, or `…+01:00` where the offset is not zero. Years 1970 to 9999, no leap seconds,
/// offsets up to ±14:00.
public struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let milliseconds: Int64
    /// Minutes east of UTC.
    public let offsetMinutes: Int

    /// 1970-01-01T00:00:00.000Z.
    public static let epoch = Timestamp(unchecked: 0)

    private init(unchecked milliseconds: Int64) {
        self.milliseconds = milliseconds
        offsetMinutes = 0
    }

    static let greatest: Int64 = 253_402_300_800_000

    /// Makes a moment; nil if it is outside the years 1970 to 9999 or the offset outside ±14 hours.
    public init?(milliseconds: Int64, offsetMinutes: Int = 0) {
        let years = 0..<Timestamp.greatest
        guard (-14 * 60...14 * 60).contains(offsetMinutes), years.contains(milliseconds),
            years.contains(milliseconds + Int64(offsetMinutes) * 60_000)
        else { return nil }
        self.milliseconds = milliseconds
        self.offsetMinutes = offsetMinutes
    }

    /// Reads the one spelling, or nil.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 24 || bytes.count == 29 else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for byte in bytes[range] {
                guard byte >= 0x30, byte <= 0x39 else { return nil }
                value = value * 10 + Int(byte - 0x30)
            }
            return value
        }
        let marks: [(Int, String)] = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"), (19, ".")]
        guard marks.allSatisfy({ bytes[$0.0] == $0.1.utf8.first }) else { return nil }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let thousandth = number(20..<23)
        else { return nil }
        guard Timestamp.isDate(year: year, month: month, day: day), hour < 24, minute < 60, second < 60 else {
            return nil
        }
        var offset = 0
        if bytes.count == 24 {
            guard bytes[23] == UInt8(ascii: "Z") else { return nil }
        } else {
            guard bytes[23] == UInt8(ascii: "+") || bytes[23] == UInt8(ascii: "-"), bytes[26] == UInt8(ascii: ":"),
                let hours = number(24..<26), let minutes = number(27..<29), minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * (bytes[23] == UInt8(ascii: "-") ? -1 : 1)
            guard offset != 0 else { return nil }
        }
        let days = Timestamp.days(year: year, month: month, day: day)
        let local = Int64(((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + Int64(thousandth)
        self.init(milliseconds: local - Int64(offset) * 60_000, offsetMinutes: offset)
    }

    /// Whether there is such a day in the Gregorian calendar.
    public static func isDate(year: Int, month: Int, day: Int) -> Bool {
        guard (1...12).contains(month), day >= 1, year >= 1, year <= 9_999 else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return day <= lengths[month - 1]
    }

    /// Days since 1970-01-01, counting years from March so that the leap day comes last.
    static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The same moment read at another offset; nil if that leaves the supported years.
    public func at(offsetMinutes: Int) -> Timestamp? {
        Timestamp(milliseconds: milliseconds, offsetMinutes: offsetMinutes)
    }

    /// The seconds since 1970, rounded down.
    public var seconds: Int64 { milliseconds / 1_000 }

    /// The order in time, offsets aside.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.milliseconds, left.offsetMinutes) < (right.milliseconds, right.offsetMinutes)
    }

    /// The one spelling.
    public var description: String {
        let local = milliseconds + Int64(offsetMinutes) * 60_000
        let dayNumber = Int(local / 86_400_000)
        let ofDay = Int(local % 86_400_000)
        let shifted = dayNumber + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(29)
        func digits(_ value: Int, _ count: Int) {
            var divisor = 1
            for _ in 1..<count { divisor *= 10 }
            while divisor > 0 {
                bytes.append(0x30 + UInt8(value / divisor % 10))
                divisor /= 10
            }
        }
        func mark(_ sign: UInt8) { bytes.append(sign) }
        digits(year, 4)
        mark(UInt8(ascii: "-"))
        digits(month, 2)
        mark(UInt8(ascii: "-"))
        digits(day, 2)
        mark(UInt8(ascii: "T"))
        digits(ofDay / 3_600_000, 2)
        mark(UInt8(ascii: ":"))
        digits(ofDay / 60_000 % 60, 2)
        mark(UInt8(ascii: ":"))
        digits(ofDay / 1_000 % 60, 2)
        mark(UInt8(ascii: "."))
        digits(ofDay % 1_000, 3)
        if offsetMinutes == 0 {
            mark(UInt8(ascii: "Z"))
        } else {
            mark(offsetMinutes < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
            digits(abs(offsetMinutes) / 60, 2)
            mark(UInt8(ascii: ":"))
            digits(abs(offsetMinutes) % 60, 2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
