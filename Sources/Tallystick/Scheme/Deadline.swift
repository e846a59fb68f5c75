/// A length of time as laws state it.
public struct Period: Sendable, Equatable {
    /// What it is counted in.
    public enum Unit: String, Sendable, CaseIterable {
        /// Hours of 3,600 seconds.
        case hours
        /// Calendar days.
        case days
        /// Days that are neither at a weekend nor a holiday.
        case workingDays
        /// Calendar months.
        case months
        /// Calendar years.
        case years
    }

    /// How many.
    public let count: Int
    /// Of what.
    public let unit: Unit

    /// States a length of time.
    public init(count: Int, unit: Unit) {
        self.count = count
        self.unit = unit
    }
}

/// A moment in the life of a chain that a time is counted from or to.
public enum ChainMoment: Sendable, Equatable {
    /// When the chain was opened.
    case opened
    /// When it was closed or cancelled.
    case closed
    /// When a signature was made, or a load taken by a handoff.
    case stage(Name)
    /// What a field of type date or datetime says.
    case field(FieldReference)
}

/// Something that has to follow within a time.
public struct Deadline: Sendable {
    /// The deadline's name.
    public let name: Name
    /// What a person calls it.
    public let title: String
    /// The role that has to act.
    public let role: Name
    /// What the time runs from.
    public let from: ChainMoment
    /// What has to have happened.
    public let until: ChainMoment
    /// How long it may take.
    public let within: Period
    /// The time zone in which days end, as the tz database names it.
    public let zone: String
    /// The calendar that working days are counted by.
    public let calendar: Name?
    /// When it applies.
    public let when: Condition?
    /// The outcomes with which a closed chain has nothing more to follow.
    public let unless: [Name]
    /// What to tell a person.
    public let says: String
}

/// How long a role has to keep its record.
public struct Retention: Sendable {
    /// How long.
    public let period: Period
    /// From when.
    public let from: ChainMoment
}

/// The days on which nobody works.
public struct Calendar: Sendable {
    /// The calendar's name.
    public let name: Name
    /// What a person calls it.
    public let title: String
    /// Where the holidays are taken from.
    public let source: String
    /// The days of the week without work; 1 is Monday.
    public let weekend: Set<Int>
    /// The first day that the holidays are known for.
    public let from: Day
    /// The last.
    public let until: Day
    /// The holidays.
    public let holidays: Set<Day>

    func isWorkingDay(_ day: Day) -> Bool { !weekend.contains(day.weekday) && !holidays.contains(day) }
}

/// A day of the Gregorian calendar.
public struct Day: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Days since 1970-01-01.
    let number: Int

    init(number: Int) { self.number = number }

    /// Reads `2026-11-30`, or nil.
    public init?(_ text: String) {
        guard Scheme.isDay(text) else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "-")).compactMap {
            Int(String(decoding: Array($0), as: UTF8.self))
        }
        number = Timestamp.days(year: parts[0], month: parts[1], day: parts[2])
    }

    /// The day that a clock so many minutes east of UTC shows at a moment.
    public init(_ moment: Timestamp, offsetMinutes: Int) {
        let local = moment.milliseconds + Int64(offsetMinutes) * 60_000
        number = Int((local - (local < 0 ? 86_399_999 : 0)) / 86_400_000)
    }

    /// 1 for Monday to 7 for Sunday; the first day of 1970 was a Thursday.
    public var weekday: Int { ((number + 3) % 7 + 7) % 7 + 1 }

    /// `2026-11-30`.
    public var description: String {
        let (year, month, day) = parts
        func digits(_ value: Int, _ count: Int) -> String {
            let text = "\(value)"
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
    }

    /// The order of days.
    public static func < (left: Day, right: Day) -> Bool { left.number < right.number }

    private var parts: (year: Int, month: Int, day: Int) {
        // Counted from 1 March of year 0, so that the leap day is a year's last (Fliegel and Van Flandern 1968).
        let shifted = number + 719_468
        let era = shifted / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    /// The same day so many months later, or the month's last where it has no such day.
    func adding(months: Int) -> Day {
        let (year, month, day) = parts
        let count = year * 12 + month - 1 + months
        let (newYear, newMonth) = (count / 12, count % 12 + 1)
        var newDay = day
        while !Timestamp.isDate(year: newYear, month: newMonth, day: newDay), newDay > 28 { newDay -= 1 }
        return Day(number: Timestamp.days(year: newYear, month: newMonth, day: newDay))
    }

    /// The day after a period, and whether the calendar knows the holidays up to it.
    func adding(_ period: Period, by calendar: Calendar?) -> (day: Day, isCertain: Bool) {
        switch period.unit {
        case .hours: return (Day(number: number + period.count / 24), true)
        case .days: return (Day(number: number + period.count), true)
        case .months: return (adding(months: period.count), true)
        case .years: return (adding(months: period.count * 12), true)
        case .workingDays:
            var day = self
            var left = period.count
            // A calendar whose every day is a holiday would never end; a scheme has at most 10,000 days to count.
            var steps = 0
            while left > 0, steps < 40_000 {
                steps += 1
                day = Day(number: day.number + 1)
                if calendar?.isWorkingDay(day) ?? (day.weekday < 6) { left -= 1 }
            }
            return (day, calendar.map { $0.from <= self && day <= $0.until } ?? false)
        }
    }
}

/// Tells how far a time zone is from UTC at a moment, in minutes to the east; nil where it does not know the zone.
///
/// The engine has no clock and no zones: whoever asks about deadlines brings what it knows of them.
public typealias ZoneOffsets = @Sendable (_ zone: String, _ moment: Timestamp) -> Int?

extension Period {
    /// The last moment of a period that begins at a moment, or nil where the zone is not known.
    func end(
        from start: Timestamp,
        in zone: String,
        by calendar: Calendar?,
        _ offsets: ZoneOffsets
    ) -> (at: Timestamp, isCertain: Bool)? {
        if unit == .hours {
            return Timestamp(milliseconds: start.milliseconds + Int64(count) * 3_600_000).map { ($0, true) }
        }
        guard let offset = offsets(zone, start) else { return nil }
        let (day, isCertain) = Day(start, offsetMinutes: offset).adding(self, by: calendar)
        return day.end(in: zone, offsets).map { ($0, isCertain) }
    }
}

extension Day {
    /// The last millisecond of the day in a zone.
    func end(in zone: String, _ offsets: ZoneOffsets) -> Timestamp? {
        let midnight = (Int64(number) + 1) * 86_400_000
        // The offset at midnight is asked for with the offset of the time around it: zones change theirs at night.
        guard let near = Timestamp(milliseconds: midnight), let first = offsets(zone, near),
            let nearer = Timestamp(milliseconds: midnight - Int64(first) * 60_000 - 1),
            let offset = offsets(zone, nearer)
        else { return nil }
        return Timestamp(milliseconds: midnight - Int64(offset) * 60_000 - 1, offsetMinutes: offset)
    }
}
