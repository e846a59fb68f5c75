import Testing

@testable import Tallystick

@Suite struct DecimalNumberTests {
    @Test(arguments: [
        ("0", 0), ("7", 0), ("7.5", 1), ("12.340", 3), ("-0.50", 2), ("0.000000001", 9),
        ("999999999999.999999999", 9), ("-999999999999.999999999", 9), ("0.0", 1),
    ])
    func readsAndKeepsTheText(text: String, fractionDigits: Int) throws {
        let number = try #require(DecimalNumber(text))
        #expect(number.description == text)
        #expect(number.fractionDigits == fractionDigits)
    }

    @Test(arguments: [
        "", "-", ".", ".5", "5.", "-.5", "00", "01", "-01.5", "1..2", "1.2.3", "1,5", "+1", " 1", "1 ", "1e3", "-0",
        "-0.0", "1234567890123", "0.1234567890", "--1", "1-", "１", "0x10", "NaN", "1\u{0}",
    ])
    func refuses(text: String) {
        #expect(DecimalNumber(text) == nil)
    }

    @Test func comparesNumbersAndNotTexts() throws {
        func number(_ text: String) throws -> DecimalNumber { try #require(DecimalNumber(text)) }
        #expect(try number("1.0") == number("1.00"))
        #expect(try number("1.1") != number("1.10001"))
        #expect(try number("-2") < number("-1.999999999"))
        #expect(try number("9") < number("10"))
        #expect(try number("999999999999.999999998") < number("999999999999.999999999"))
    }

    @Test(arguments: [
        ("0", "0"), ("1.500", "1.5"), ("-0.050", "-0.05"), ("999999999999.999999999", "999999999999.999999999"),
        ("100", "100"),
    ])
    func printsWithoutTrailingZeros(text: String, expected: String) throws {
        #expect(DecimalNumber.text(scaled: try #require(DecimalNumber(text)).scaled) == expected)
    }
}
