import Testing

@testable import CommandLineKit

@Suite struct NearestSpellingTests {
    @Test(arguments: [
        ("", "abc", 3), ("abc", "", 3), ("", "", 0), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "abd", 1),
        ("abc", "abcd", 1), ("abcd", "abc", 1), ("kitten", "sitting", 3), ("ca", "abc", 3),
    ])
    func countsEdits(_ first: String, _ second: String, distance: Int) {
        #expect(NearestSpelling.distance(from: Array(first.utf8), to: Array(second.utf8)) == distance)
        #expect(NearestSpelling.distance(from: Array(second.utf8), to: Array(first.utf8)) == distance)
    }

    @Test(
        arguments: [
            ("acept", "accept"), ("accpet", "accept"), ("Accept", "accept"), ("lst", "list"), ("schem", "scheme"),
            ("out", "outbox"), ("x", nil), ("banana", nil), ("", nil), (String(repeating: "a", count: 100_000), nil),
        ] as [(String, String?)]
    )
    func findsWhatWasMeant(_ typed: String, _ meant: String?) {
        #expect(NearestSpelling.of(typed, among: ["accept", "list", "scheme", "outbox", "open"]) == meant)
    }
}
