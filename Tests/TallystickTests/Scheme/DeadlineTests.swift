import Foundation
import TallystickTestSupport
import Testing

@testable import Tallystick

/// Days, periods and calendars, beside what Foundation's Gregorian calendar says.
@Suite struct DayTests {
    private static func foundation() throws -> Foundation.Calendar {
        var calendar = Foundation.Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        return calendar
    }

    private static func date(_ day: Day) -> Date { Date(timeIntervalSince1970: Double(day.number) * 86_400) }

    @Test func agreesWithFoundationOnEveryDayOfFourHundredYears() throws {
        let calendar = try Self.foundation()
        for number in stride(from: 0, to: 146_097, by: 1) {
            let day = Day(number: number)
            let parts = calendar.dateComponents([.year, .month, .day, .weekday], from: Self.date(day))
            let text = try #require(
                parts.year.flatMap { year in
                    parts.month.flatMap { month in parts.day.map { String(format: "%04d-%02d-%02d", year, month, $0) } }
                }
            )
            guard day.description == text, Day(text) == day, ((parts.weekday ?? 0) + 5) % 7 + 1 == day.weekday else {
                Issue.record("expected \(text), got \(day), weekday \(day.weekday)")
                return
            }
        }
    }

    @Test(arguments: [
        ("2026-01-31", 1, "2026-02-28"), ("2028-01-31", 1, "2028-02-29"), ("2026-08-31", 1, "2026-09-30"),
        ("2026-12-15", 1, "2027-01-15"), ("2026-11-30", 3, "2027-02-28"), ("2024-02-29", 12, "2025-02-28"),
        ("2024-02-29", 48, "2028-02-29"), ("2026-11-30", 0, "2026-11-30"), ("2026-03-31", 24, "2028-03-31"),
    ])
    func addsMonthsToTheLastDayWhereThereIsNoOther(from: String, months: Int, to: String) throws {
        #expect(try #require(Day(from)).adding(months: months).description == to)
    }

    @Test func refusesWhatIsNoDay() {
        for text in ["2026-02-30", "2026-13-01", "26-01-01", "2026-1-1", "", "2026-11-30T00:00", "２026-11-30"] {
            #expect(Day(text) == nil, "\(text)")
        }
    }

    /// Christmas 2026 is a Friday; its Saturday's holiday is kept on the Monday after.
    @Test(arguments: [
        ("2026-12-23", 1, "2026-12-24"), ("2026-12-23", 2, "2026-12-29"), ("2026-12-24", 2, "2026-12-30"),
        ("2026-12-26", 1, "2026-12-29"), ("2026-11-27", 2, "2026-12-01"), ("2026-11-27", 0, "2026-11-27"),
    ])
    func countsWorkingDays(from: String, count: Int, to: String) throws {
        let calendar = try Self.calendar(holidays: ["2026-12-25", "2026-12-28"])
        let (day, isCertain) = try #require(Day(from)).adding(Period(count: count, unit: .workingDays), by: calendar)
        #expect(day.description == to)
        #expect(isCertain)
    }

    @Test func saysWhereTheCalendarEnds() throws {
        let calendar = try Self.calendar(holidays: [])
        let late = try #require(Day("2026-12-30")).adding(Period(count: 2, unit: .workingDays), by: calendar)
        #expect(late.day.description == "2027-01-01")
        #expect(!late.isCertain)
        #expect(try !#require(Day("2026-12-30")).adding(Period(count: 2, unit: .workingDays), by: nil).isCertain)
    }

    private static func calendar(holidays: [String]) throws -> Tallystick.Calendar {
        Tallystick.Calendar(
            name: try Derived.name("here"),
            title: "Here",
            source: "none",
            weekend: [6, 7],
            from: try #require(Day("2026-01-01")),
            until: try #require(Day("2026-12-31")),
            holidays: Set(holidays.compactMap { Day($0) })
        )
    }
}

/// Ends of periods in zones that change their clocks.
@Suite struct PeriodTests {
    private static let offsets: ZoneOffsets = { zone, moment in
        TimeZone(identifier: zone).map {
            $0.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment.milliseconds) / 1_000)) / 60
        }
    }

    @Test(arguments: [
        ("2026-11-30T09:00:00.000Z", 45, Period.Unit.days, "Europe/London", "2027-01-14T23:59:59.999Z"),
        ("2026-03-27T09:00:00.000Z", 2, .days, "Europe/London", "2026-03-29T23:59:59.999+01:00"),
        ("2026-10-23T09:00:00.000+01:00", 2, .days, "Europe/London", "2026-10-25T23:59:59.999Z"),
        ("2026-11-30T23:30:00.000Z", 0, .days, "Europe/Paris", "2026-12-01T23:59:59.999+01:00"),
        ("2026-11-30T04:30:00.000Z", 1, .days, "America/New_York", "2026-11-30T23:59:59.999-05:00"),
        ("2026-03-08T06:30:00.000Z", 0, .days, "America/New_York", "2026-03-08T23:59:59.999-04:00"),
        ("2026-03-28T22:00:00.000Z", 24, .hours, "Europe/London", "2026-03-29T22:00:00.000Z"),
        ("2026-01-31T12:00:00.000Z", 1, .months, "UTC", "2026-02-28T23:59:59.999Z"),
        ("2024-02-29T12:00:00.000Z", 2, .years, "UTC", "2026-02-28T23:59:59.999Z"),
    ])
    func ends(start: String, count: Int, unit: Period.Unit, zone: String, end: String) throws {
        let from = try Derived.moment(start)
        let result = Period(count: count, unit: unit).end(from: from, in: zone, by: nil, Self.offsets)
        #expect(
            result?.at.milliseconds == (try Derived.moment(end)).milliseconds,
            "\(result?.at.description ?? "none")"
        )
    }

    @Test func hasNoEndInAZoneThatIsNotKnown() throws {
        let from = try Derived.moment("2026-11-30T09:00:00.000Z")
        #expect(Period(count: 1, unit: .days).end(from: from, in: "Mars/Olympus", by: nil, Self.offsets) == nil)
        #expect(Period(count: 1, unit: .hours).end(from: from, in: "Mars/Olympus", by: nil, Self.offsets) != nil)
    }

    /// A day ends when the next begins, whatever the clocks do at night: the millisecond after is the next day.
    @Test func endsDaysWhereTheNextBegins() throws {
        let zones = [
            "Europe/London", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Havana", "UTC",
        ]
        for zone in zones {
            for number in 20_000..<21_000 {
                let day = Day(number: number)
                let end = try #require(day.end(in: zone, Self.offsets))
                let next = try #require(Timestamp(milliseconds: end.milliseconds + 1))
                let (last, first) = (try #require(Self.offsets(zone, end)), try #require(Self.offsets(zone, next)))
                guard Day(end, offsetMinutes: last) == day, Day(next, offsetMinutes: first).number == number + 1 else {
                    Issue.record("\(zone): \(day) ends at \(end)")
                    return
                }
            }
        }
    }
}
