import TallystickTestSupport
import Testing

@testable import Tallystick

@Suite struct JSONTests {
    private func code(_ text: String) -> JSONError.Code? { code(Array(text.utf8)) }

    private func code(_ bytes: [UInt8]) -> JSONError.Code? {
        do {
            _ = try JSON.parse(bytes)
            return nil
        } catch {
            return error.code
        }
    }

    @Test(arguments: [
        "", " ", "tru", "True", "nul", "{", "}", "[", "]", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
        "{,}", "{a:1}", "'a'", "\"", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"", "\"\n\"", "\"\u{0}\"", "-", "-a",
        "01",
        "-01", "1.", ".1", "1e", "1e+", "+1", "0x1", "1 1", "[]]", "//", "NaN", "Infinity", "\u{FEFF}1", "1\u{A0}",
        "{\"a\":1 \"b\":2}", "{1:2}", "[1\u{0}]",
    ])
    func refusesWhatIsNotJSON(text: String) {
        #expect([.syntax, .encoding].contains(code(text)), "\(text)")
    }

    @Test(arguments: [
        ("{\"a\":1,\"a\":1}", JSONError.Code.duplicateName), ("{\"a\":1,\"\\u0061\":1}", .duplicateName),
        ("{\"b\":{\"\":1,\"\":2}}", .duplicateName), ("\"\\ud800\"", .loneSurrogate), ("\"\\udc00\"", .loneSurrogate),
        ("\"\\ud800\\n\"", .loneSurrogate), ("\"\\ud800x\"", .loneSurrogate), ("\"\\ud800\\ud800\"", .loneSurrogate),
        ("1e400", .numberRange), ("-1e400", .numberRange),
    ])
    func namesTheFault(text: String, expected: JSONError.Code) {
        #expect(code(text) == expected)
    }

    @Test(arguments: [
        [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
        [0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], [0xEF, 0xBB, 0xBF, 0x31], [0xFE, 0xFF, 0x00, 0x31],
        [0xFF, 0xFE, 0x31, 0x00],
    ])
    func refusesWhatIsNotUTF8(bytes: [UInt8]) {
        #expect(code(bytes) == .encoding)
    }

    /// Past sixteen members a set takes over from comparing one by one; both find a name that comes again.
    @Test(arguments: [2, 15, 16, 17, 18, 40])
    func findsADuplicateAmongManyNames(count: Int) {
        let members = (0..<count).map { "\"n\($0)\":0" }
        #expect(code("{" + members.joined(separator: ",") + "}") == nil)
        for again in [0, count - 1] {
            #expect(code("{" + (members + ["\"n\(again)\":1"]).joined(separator: ",") + "}") == .duplicateName)
        }
    }

    @Test func readsThirtyTwoLevelsAndNoMore() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(code(nested(32)) == nil)
        #expect(code(nested(33)) == .tooDeep)
        #expect(code(String(repeating: "[", count: 100_000)) == .tooDeep)
        #expect(code(String(repeating: "{\"a\":", count: 100_000)) == .tooDeep)
        _ = try JSON.parseCanonical(Array(nested(24).utf8)[...], depth: 24)
        let error = #expect(throws: JSONError.self) { try JSON.parseCanonical(Array(nested(25).utf8)[...], depth: 24) }
        #expect(error?.code == .tooDeep)
        let all = #expect(throws: JSONError.self) { try JSON.parseCanonical(Array(nested(33).utf8)[...], depth: 99) }
        #expect(all?.code == .tooDeep)
    }

    @Test(arguments: [
        ("0", 0), ("-1", -1), ("9007199254740991", 9_007_199_254_740_991),
        ("-9007199254740991", -9_007_199_254_740_991),
    ])
    func takesIntegersOfTheProfile(text: String, value: Int) throws {
        let json = try JSON.parse(Array(text.utf8))
        #expect(json.integer == value)
        #expect(try json.canonicalBytes() == Array(text.utf8))
    }

    @Test(arguments: [
        "-0", "1.0", "1e2", "9007199254740992", "-9007199254740992", "99999999999999999999", "0.1", "10000000000000000",
    ])
    func writesNoOtherNumbers(text: String) throws {
        let json = try JSON.parse(Array(text.utf8))
        #expect(json.integer == nil)
        let error = #expect(throws: JSONError.self) { try json.canonicalBytes() }
        #expect(error?.code == .notProfileNumber)
    }

    @Test(arguments: ["", "-", "1a", "１", "1\u{0}", " 1"])
    func writesNoNumberThatIsNone(text: String) {
        #expect(throws: JSONError.self) { try JSON.number(text).canonicalBytes() }
    }

    @Test func ordersNamesByUTF16() throws {
        // U+FB33 comes after the surrogates of U+1F600 in UTF-8, before them in UTF-16.
        let value = JSON.object(["\u{FB33}", "\u{1F600}", "a", "", "B", "ab"].map { JSONMember($0, .null) })
        #expect(
            String(decoding: try value.canonicalBytes(), as: UTF8.self)
                == "{\"\":null,\"B\":null,\"a\":null,\"ab\":null,\"\u{1F600}\":null,\"\u{FB33}\":null}"
        )
    }

    @Test func escapesOnlyWhatMustBe() throws {
        let text = "\u{0}\u{8}\t\n\u{B}\u{C}\r\u{1F}\"\\/\u{7F}é\u{2028}😀"
        let expected = "\"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\\\"\\\\/\u{7F}é\u{2028}😀\""
        #expect(String(decoding: try JSON.string(text).canonicalBytes(), as: UTF8.self) == expected)
    }

    @Test(arguments: [
        " {}", "{} ", "{\"b\":1,\"a\":2}", "{\"a\" :1}", "\"\\u0041\"", "\"\\/\"", "\"\\u000A\"", "\"\\u001F\"", "[ ]",
    ])
    func refusesAnotherSpelling(text: String) {
        let error = #expect(throws: JSONError.self) { try JSON.parseCanonical(Array(text.utf8)[...]) }
        #expect(error?.code == .notCanonical)
    }

    @Test func comparesBytesAndNotCharacters() {
        #expect(JSON.string("\u{E9}") != JSON.string("e\u{301}"))
        #expect(JSON.object([JSONMember("K", .null)])["\u{212A}"] == nil)
        #expect(!sameBytes("K", "\u{212A}"))
        #expect(JSON.number("1.0") != JSON.number("1.00"))
    }

    @Test func givesTheBytesOfAMember() throws {
        let text = Array("{ \"a\" : [1, 2] , \"b\":\"x\"}".utf8)
        let slice = (Array("__".utf8) + text)[2...]
        let member = try #require(try JSON.parse(slice).member("a"))
        #expect(String(decoding: slice[member.range], as: UTF8.self) == "[1, 2]")
    }
}
