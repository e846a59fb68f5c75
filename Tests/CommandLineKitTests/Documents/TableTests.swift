import Testing

@testable import CommandLineKit

@Suite struct TableTests {
    @Test func alignsByTheWidthOfCharacters() {
        var table = Table(columns: [("NAME", .left), ("COUNT", .right), ("NOTE", .left)])
        table.add(["wood", "3", "dry"])
        table.add(["日本語", "1200", ""])
        table.add(["e\u{301}te\u{301}", "7", "evil\u{1B}[2J"])
        table.add(["👩‍👩‍👧", "1"])
        #expect(
            table.lines == [
                "NAME    COUNT  NOTE",
                "wood        3  dry",
                "日本語   1200",
                "e\u{301}te\u{301}         7  evil<U+001B>[2J",
                "👩‍👩‍👧          1",
            ]
        )
    }

    @Test func keepsCellsWithoutAHeadingAndTablesWithoutRows() {
        var table = Table("A")
        #expect(table.isEmpty)
        #expect(table.lines == ["A"])
        table.add(["x", "y"])
        #expect(table.lines == ["A", "x  y"])
        #expect(Table().lines == [""])
    }

    @Test(arguments: [
        ("a", 1), ("é", 1), ("e\u{301}", 1), ("漢", 2), ("👍", 2), ("🇬🇧", 2), ("\u{200B}", 0), ("☑\u{FE0F}", 2), ("ﾊ", 1),
    ])
    func measures(_ text: String, _ width: Int) {
        #expect(TextLayout.width(of: text) == width)
    }

    @Test(arguments: [("abcdef", 6, "abcdef"), ("abcdef", 4, "abc…"), ("漢字漢字", 4, "漢…"), ("abc", 0, "…")])
    func truncates(_ text: String, _ width: Int, _ short: String) {
        #expect(TextLayout.truncated(text, to: width) == short)
    }

    @Test func wrapsWordsAndKeepsLongOnes() {
        #expect(TextLayout.wrapped("a bb ccc dddddddddd e", width: 5) == ["a bb", "ccc", "dddddddddd", "e"])
        #expect(TextLayout.wrapped("  ", width: 5) == [])
    }
}
