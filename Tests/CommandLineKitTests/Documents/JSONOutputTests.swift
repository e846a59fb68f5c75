import CommandLineKit
import Foundation
import Testing

@Suite struct JSONOutputTests {
    @Test(
        arguments: [
            (.null, "null"), (true, "true"), (false, "false"), (0, "0"), (.int(.min), "-9223372036854775808"),
            ("", "\"\""), ([], "[]"), ([:], "{}"), ([1, "a", [.null]], "[1,\"a\",[null]]"),
            (["b": 1, "a": ["c": true]], "{\"b\":1,\"a\":{\"c\":true}}"),
            ("\"\\/\n\r\t\u{08}\u{0C}\u{01}", "\"\\\"\\\\/\\n\\r\\t\\b\\f\\u0001\""),
            ("\u{7F}\u{9B}\u{202E}\u{2028}é👍", "\"\\u007f\\u009b\\u202e\\u2028é👍\""),
            (.object([("a", 1), ("b", 2), ("a", 3)]), "{\"a\":3,\"b\":2}"),
            (.optional("x"), "\"x\""), (.optional(nil as String?), "null"), (.optional(7), "7"),
            (.strings(["a", "b"]), "[\"a\",\"b\"]"),
        ] as [(JSONOutput, String)]
    )
    func writes(_ value: JSONOutput, _ text: String) {
        #expect(Array(value.text.utf8) == Array(text.utf8))
    }

    @Test func isReadBackByAnotherParser() throws {
        let everything = String(String.UnicodeScalarView((0...0xFFFF).compactMap(Unicode.Scalar.init)))
        let read = try JSONSerialization.jsonObject(with: Data(JSONOutput.array([.string(everything)]).text.utf8))
        let strings = try #require(read as? [String])
        #expect(strings.first.map { Array($0.utf8) } == Array(everything.utf8))
    }
}
