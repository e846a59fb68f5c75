import Tallystick
import TallystickTestSupport
import Testing

/// What values a field takes, type by type; the fields are those of the parcel scheme.
@Suite struct ValueTypeTests {
    private static func kilograms(_ amount: String) -> JSON { SampleValues.quantity(amount, "kg") }

    private func fault(_ field: String, _ value: JSON, on day: String = "2026-11-30") throws -> String? {
        let scheme = try ParcelScheme.read()
        return scheme.fault(of: value, in: try #require(scheme.field(present(FieldPath(field)))), on: day)
    }

    @Test(arguments: [
        ("label", JSON.string("ab")), ("label", .string("abcde")), ("label", .string("éé")),
        ("label", .string("e\u{301}")), ("label", .string("a\nb")), ("label", .string("a\tb")),
        // Right to left is no control: Hebrew, and the marks that keep it in order.
        ("label", .string("\u{5D0}\u{200F}\u{200E}")), ("label", .string("a\u{A0}b")),
        ("label", .string("😀😀😀😀😀")), ("pieces", .integer(-1)), ("pieces", .integer(9)), ("pieces", .integer(0)),
        ("value", .string("0.5")), ("value", .string("0.50")), ("value", .string("100.00")),
        ("value", .string("99.99")),
        ("weight", kilograms("0.001")), ("weight", kilograms("30")), ("weight", SampleValues.quantity("30000", "g")),
        ("weight", SampleValues.quantity("0.001", "g")), ("fragile", .boolean(false)), ("fragile", .boolean(true)),
        ("agreed", .boolean(true)), ("due", .string("2028-02-29")), ("due", .string("0001-01-01")),
        ("packedAt", .string("2026-11-30T06:12:00.000+01:00")), ("service", .string("day")),
        ("service", .string("slow")),
        ("services", .strings(["day"])), ("services", .strings(["day", "slow"])), ("code", .string("AB")),
        ("code", .string("0123")),
    ])
    func takes(field: String, value: JSON) throws {
        #expect(try fault(field, value) == nil)
    }

    @Test(arguments: [
        ("label", JSON.string("a")), ("label", .string("abcdef")), ("label", .string("ab\u{0}")),
        ("label", .string("a\u{1}b")), ("label", .string("a\rb")), ("label", .string("a\u{1B}b")),
        ("label", .string("ab\u{1F}")), ("label", .string("ab\u{7F}")), ("label", .string("ab\u{80}")),
        ("label", .string("ab\u{9F}")), ("label", .string("ab\u{202A}")), ("label", .string("ab\u{202E}")),
        ("label", .string("\u{2066}ab")), ("label", .string("ab\u{2069}")),
        ("label", .integer(12)),
        ("label", .null), ("label", .strings(["ab"])), ("pieces", .integer(-2)), ("pieces", .integer(10)),
        ("pieces", .number("1.0")), ("pieces", .number("1e0")), ("pieces", .number("-0")), ("pieces", .string("1")),
        ("pieces", .number("99999999999999999999")), ("value", .string("0.49")), ("value", .string("100.01")),
        ("value", .string("1.000")), ("value", .string("-1")), ("value", .integer(1)), ("value", kilograms("1")),
        ("weight", kilograms("0")), ("weight", kilograms("0.000")), ("weight", kilograms("-1")),
        ("weight", kilograms("30.001")),
        ("weight", SampleValues.quantity("30001", "g")), ("weight", SampleValues.quantity("1", "t")),
        ("weight", SampleValues.quantity("1", "KG")), ("weight", SampleValues.quantity("1", "\u{212A}g")),
        ("weight", kilograms("1.0001")), ("weight", kilograms("1,5")), ("weight", .string("1 kg")),
        ("weight", kilograms("999999999999.999")), ("weight", .object([JSONMember("amount", .string("1"))])),
        (
            "weight",
            .object([JSONMember("amount", .string("1")), JSONMember("unit", .string("kg")), JSONMember("x", .null)])
        ),
        ("weight", .object([JSONMember("amount", .integer(1)), JSONMember("unit", .string("kg"))])),
        ("fragile", .string("true")), ("fragile", .integer(1)), ("agreed", .boolean(false)), ("agreed", .null),
        ("due", .string("2027-02-29")), ("due", .string("2026-11-30T00:00:00.000Z")), ("due", .string("2026-1-30")),
        ("due", .string("２026-11-30")), ("due", .string("")), ("packedAt", .string("2026-11-30T06:12:00Z")),
        ("packedAt", .string("2026-11-30")), ("service", .string("DAY")), ("service", .string("")),
        ("service", .boolean(true)),
        ("service", .string("night")), ("services", .strings([])), ("services", .strings(["day", "day"])),
        ("services", .strings(["day", "slow", "night"])), ("services", .string("day")),
        ("services", .strings(["day", "x"])),
        ("code", .string("A")), ("code", .string("ABC")), ("code", .string("01234")), ("code", .string("ab")),
        ("code", .string("")),
    ])
    func refuses(field: String, value: JSON) throws {
        #expect(try fault(field, value) != nil)
    }

    @Test(arguments: [
        ("night", "2026-11-30", false), ("night", "2026-12-01", true), ("night", "2026-12-31", true),
        ("night", "2027-01-01", false), ("slow", "2026-11-30", true), ("slow", "2026-12-01", false),
        ("day", "1990-01-01", true),
    ])
    func takesACodeWhileItIsInForce(code: String, day: String, isValid: Bool) throws {
        #expect(try (fault("service", .string(code), on: day) == nil) == isValid)
    }

    /// Waste codes as people write them; what is no code of the list stays as it was typed, and is refused as that.
    @Test(arguments: [
        ("170904", ["170904"]), ("17 09 04", ["170904"]), ("17 09 04*", ["170904"]), ("170904*", ["170904"]),
        ("17 09 04, 17 01 01", ["170904", "170101"]), ("17 09 99*", ["17 09 99*"]), ("17-09-04", ["17-09-04"]),
        ("*", ["*"]),
    ])
    func readsCodesAsTheyAreTyped(typed: String, expected: [String]) throws {
        let scheme = try StoryTeller.wasteTransferNote.get()
        let field = try #require(scheme.field(present(FieldPath("wasteItems/1/ewcCodes"))))
        #expect(scheme.value(typed: typed, for: field) == .value(.strings(expected)))
    }

    @Test func takesOnlyTheAnswerThatIsAsked() throws {
        let scheme = try ParcelScheme.read(replacing: "\"must\": true", with: "\"must\": false")
        let field = try #require(scheme.field(present(FieldPath("agreed"))))
        #expect(scheme.fault(of: .boolean(false), in: field, on: "2026-11-30") == nil)
        #expect(scheme.fault(of: .boolean(true), in: field, on: "2026-11-30") != nil)
    }

    @Test func comparesGreatAmountsWithoutOverflow() throws {
        let bound = "\"above\": \"0\", \"maximum\": \"30\""
        let scheme = try ParcelScheme.read(replacing: bound, with: "\"maximum\": \"999999999999.999999999\"")
        let field = try #require(scheme.field(present(FieldPath("weight"))))
        #expect(scheme.fault(of: Self.kilograms("999999999999.999"), in: field, on: "2026-11-30") == nil)
        #expect(scheme.fault(of: Self.kilograms("-999999999999.999"), in: field, on: "2026-11-30") == nil)
    }
}
