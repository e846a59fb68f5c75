import Tallystick
import TallystickTestSupport
import Testing

@Suite struct TimestampTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00.000Z", 0, 0), ("2026-11-30T06:12:00.000Z", 1_796_019_120_000, 0),
        ("2026-11-30T07:12:00.000+01:00", 1_796_019_120_000, 60),
        ("2026-11-29T16:12:00.000-14:00", 1_796_019_120_000, -840),
        ("2024-02-29T23:59:59.999Z", 1_709_251_199_999, 0), ("2000-02-29T00:00:00.000Z", 951_782_400_000, 0),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999, 0), ("1970-01-01T00:30:00.000+00:30", 0, 30),
        ("2026-11-30T11:57:00.001+05:45", 1_796_019_120_001, 345),
    ])
    func readsAndWritesItsOneSpelling(text: String, milliseconds: Int64, offset: Int) throws {
        let moment = try #require(Timestamp(text))
        #expect(moment.milliseconds == milliseconds)
        #expect(moment.offsetMinutes == offset)
        #expect(moment.description == text)
        #expect(Timestamp(milliseconds: milliseconds, offsetMinutes: offset) == moment)
    }

    @Test(arguments: [
        "", "2026-11-30", "2026-11-30T06:12:00Z", "2026-11-30T06:12:00.00Z", "2026-11-30T06:12:00.0000Z",
        "2026-11-30 06:12:00.000Z", "2026-11-30t06:12:00.000Z", "2026-11-30T06:12:00.000z", "2026-11-30T06:12:00,000Z",
        "2026-11-30T06:12:00.000+00:00", "2026-11-30T06:12:00.000-00:00", "2026-11-30T06:12:00.000+0100",
        "2026-11-30T06:12:00.000+01:60", "2026-11-30T06:12:00.000+14:01", "2026-11-30T06:12:00.000+99:59",
        "2026-11-30T06:12:00.000 01:00", "2026-11-30T24:00:00.000Z", "2026-11-30T06:60:00.000Z",
        "2026-11-30T06:12:60.000Z",
        "2026-13-30T06:12:00.000Z", "2026-00-30T06:12:00.000Z", "2026-11-31T06:12:00.000Z", "2026-11-00T06:12:00.000Z",
        "2025-02-29T00:00:00.000Z", "2100-02-29T00:00:00.000Z", "1900-02-29T00:00:00.000Z", "0000-01-01T00:00:00.000Z",
        "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00.000+00:01", "9999-12-31T23:59:59.999-00:01",
        "2026-11-30T06:12:00.000é", "２026-11-30T06:12:00.00Z", "2026-1１-30T06:12:00.00Z", "-026-11-30T06:12:00.000Z",
        "2026-11-30T06:12:00.000Z ", "2026-11-30T+6:12:00.000Z",
    ])
    func refuses(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test(
        arguments: [
            (Int64.max, 0), (.min, 0), (-1, 0), (0, -1), (253_402_300_800_000, 0), (253_402_300_799_999, 1), (0, 841),
            (0, -841),
            (0, Int.max), (0, .min), (.max, .max),
        ] as [(Int64, Int)]
    )
    func refusesToMake(milliseconds: Int64, offset: Int) {
        #expect(Timestamp(milliseconds: milliseconds, offsetMinutes: offset) == nil)
    }

    @Test func readsWhatItWrites() throws {
        var random = Seed.generator()
        for _ in 0..<2_000 {
            let milliseconds = Int64(random.next() % 253_402_300_800_000)
            let offset = random.below(1_700) - 850
            guard let moment = Timestamp(milliseconds: milliseconds, offsetMinutes: offset) else { continue }
            #expect(Timestamp(moment.description) == moment, "\(moment), \(Seed.note)")
        }
    }

    /// Every day of four centuries, counted by hand from one to the next.
    @Test func knowsEveryDay() throws {
        var (year, month, day) = (1970, 1, 1)
        for number in 0..<146_097 {
            let moment = try #require(Timestamp(milliseconds: Int64(number) * 86_400_000))
            let text = moment.description
            func digits(_ value: Int, _ count: Int) -> String {
                String(repeating: "0", count: count - String(value).count) + String(value)
            }
            guard text.hasPrefix("\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T"), Timestamp(text) == moment
            else {
                Issue.record("day \(number): \(text)")
                return
            }
            day += 1
            if !Timestamp.isDate(year: year, month: month, day: day) { (month, day) = (month + 1, 1) }
            if month == 13 { (year, month) = (year + 1, 1) }
        }
        #expect((year, month, day) == (2370, 1, 1))
    }

    @Test func ordersByTimeAndNotByText() throws {
        let early = try Derived.moment("2026-11-30T07:00:00.000+01:00")
        let late = try Derived.moment("2026-11-30T06:30:00.000Z")
        #expect(early < late)
        #expect(early.at(offsetMinutes: 0)?.description == "2026-11-30T06:00:00.000Z")
        #expect(early.seconds == 1_796_018_400)
    }
}
