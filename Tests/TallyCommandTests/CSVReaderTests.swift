import Testing

@testable import TallyCommand

@Suite struct CSVReaderTests {
    @Test(
        "reads what RFC 4180 has",
        arguments: [
            ("", []), ("a", [["a"]]), ("a,b", [["a", "b"]]), ("a,b\n", [["a", "b"]]),
            ("a,b\r\nc,d", [["a", "b"], ["c", "d"]]),
            (",\n", [["", ""]]), ("\n", [[""]]), ("\"a,b\",c", [["a,b", "c"]]), ("\"a\"\"b\"", [["a\"b"]]),
            ("\"a\r\nb\",c\r\nd,e", [["a\r\nb", "c"], ["d", "e"]]), ("\"\"", [[""]]), ("a,", [["a", ""]]),
            ("\u{FEFF}a\nb", [["a"], ["b"]]), (" a , b ", [[" a ", " b "]]), ("ä,€", [["ä", "€"]]),
        ] as [(String, [[String]])]
    )
    func reads(text: String, rows: [[String]]) throws {
        #expect(try CSVReader.rows(Array(text.utf8)) == rows)
    }

    @Test(
        "says the line of what is not CSV",
        arguments: [
            ("a,b\nc", 2), ("a\"b", 1), ("\"a", 1), ("x\n\"a\nb", 2), ("\"a\"b", 1), ("a\rb", 1), ("\"a\nb\"\nc,d", 3),
            ("a,b\n\"c\nd\",e\nf", 4),
        ]
    )
    func refuses(text: String, line: Int) {
        #expect { try CSVReader.rows(Array(text.utf8)) } throws: { ($0 as? CSVReader.Fault)?.line == line }
    }

    @Test func refusesWhatIsNotUTF8() {
        #expect(throws: CSVReader.Fault(line: 1, message: "expected UTF-8")) { try CSVReader.rows([0x61, 0xFF]) }
    }
}
