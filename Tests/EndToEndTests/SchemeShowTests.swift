import Foundation
import Tallystick
import Testing

/// `tally scheme list` and `tally scheme show`.
@Suite struct SchemeShowTests {
    static let shipped = [
        "evidence-item", "laboratory-sample", "uk-hazardous-consignment-note", "uk-waste-transfer-note",
        "us-hazardous-waste-manifest",
    ]

    @Test func listsTheNewestVersionsAndAllOfThem() throws {
        let world = try World()
        func listed(_ arguments: String...) throws -> [String] {
            let run = try world.run(["scheme", "list", "--json"] + arguments)
            return try run.json["schemes"]?.elements?.map { "\($0["id"]?.text ?? "") \($0["version"]?.integer ?? 0)" }
                ?? []
        }
        let newest = try listed()
        #expect(newest.map { String($0.prefix { $0 != " " }) } == Self.shipped)
        #expect(newest.contains("uk-waste-transfer-note 2"))
        let all = try listed("--all")
        let first = try #require(all.firstIndex(of: "uk-waste-transfer-note 2"))
        #expect(all[first + 1] == "uk-waste-transfer-note 1", "each after its newer")
        #expect(all.filter { !newest.contains($0) }.allSatisfy { !$0.isEmpty })
        #expect(!(try world.tally("scheme", "list").output.contains("  1  ")) || newest.contains { $0.hasSuffix(" 1") })
    }

    @Test("is readable in 80 columns and in 120, without colour", arguments: shipped, [80, 120])
    func fitsTheTerminal(scheme: String, columns: Int) throws {
        let world = try World()
        let run = try world.run(["scheme", "show", scheme], environment: ["COLUMNS": "\(columns)"])
        #expect(run.status == 0)
        #expect(!run.output.contains("\u{1B}"))
        let lines = run.output.split(separator: "\n")
        for line in lines { #expect(line.count <= columns || !line.drop { $0 == " " }.contains(" "), "\(line)") }
        let json = try world.json("scheme", "show", scheme)
        // Every name is on the page, and every sentence that people are told.
        let page = run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for part in [
            "roles", "signatures", "handoffs", "rules", "checks", "links", "deadlines", "calendars", "codeLists",
        ] {
            for element in json[part]?.elements ?? [] {
                #expect(page.contains(element["name"]?.text ?? "?"), "\(part)")
                for member in ["says", "statement", "sentence", "title", "source"] {
                    guard let text = element[member]?.text else { continue }
                    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                    #expect(page.contains(words), "\(part): \(words)")
                }
            }
        }
        for field in json["fields"]?.elements ?? [] {
            let name = field["path"]?.text?.split(separator: "/").last.map(String.init) ?? "?"
            #expect(page.contains("\(name) \(field["title"]?.text ?? "?")"))
        }
        for closing in json["closing"]?.elements ?? [] { #expect(page.contains(closing["outcome"]?.text ?? "?")) }
    }

    @Test("draws every role, signature and handoff", arguments: shipped)
    func drawsAll(scheme: String) throws {
        let world = try World()
        let json = try world.json("scheme", "show", scheme)
        let lines = json["diagram"]?.elements?.compactMap(\.text) ?? []
        #expect(lines.allSatisfy { $0.count <= 80 })
        let drawing = lines.joined(separator: " ").split { " │╎├".contains($0) }.joined(separator: " ")
        for role in json["roles"]?.elements ?? [] { #expect(drawing.contains("\(role["name"]?.text ?? "?"):")) }
        for signature in json["signatures"]?.elements ?? [] {
            #expect(drawing.contains("signs \(signature["name"]?.text ?? "?")"))
        }
        for handoff in json["handoffs"]?.elements ?? [] { #expect(drawing.contains(handoff["name"]?.text ?? "?")) }
        // As many arrows as roles that are come by: down, along lines, and back into the same.
        let straight = lines.count { $0.contains("▼") }
        let ends = lines.joined().count { $0 == "◀" }
        let handoffs = json["handoffs"]?.elements?.count ?? 0
        #expect(straight + ends <= handoffs && straight + ends >= 2)
    }

    @Test func drawsTheSmallScheme() throws {
        let world = try World()
        try SmallScheme.write("mine", in: world)
        let lines = try world.json("scheme", "show", "mine")["diagram"]?.elements?.compactMap(\.text)
        let expected = """
            ┌─────────────────────────────────────────────┐     ┌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┐
            │ lender: Lender                              │     ╎ witness: Witness         ╎
            │ (opens a chain)                             │     ╎ (never has the load; let ╎
            │ • signs lender                              │     ╎   in by lender)          ╎
            └────┬────────────────────────────────────────┘     ╎ • signs witness, after   ╎
                 │ lending, after lender                        ╎   lending or with a      ╎
                 ▼                                              ╎   warning                ╎
            ┌─────────────────────────────────────────────┐     └╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┘
            │ borrower: Borrower                          │
            │ (several in a row, a chain can end here)    │
            │ • signs borrower, after lender, only before │
            │     witness                                 │
            │ • hands to the next borrower: passing-on,   ├─┐
            │     after borrower                          │◀┘
            └─────────────────────────────────────────────┘
            """
        #expect(lines?.joined(separator: "\n") == expected)
    }

    /// A load that is given back, and one that goes past a role: lines at the right that cross.
    @Test func drawsLinesBackAndPast() throws {
        let world = try World()
        let roles = ["a", "b", "c", "d"].map { #"{"role": "\#($0)", "title": "Role \#($0)", "opens": \#($0 == "a")}"# }
        let handoffs = [("a", "b"), ("b", "c"), ("c", "d"), ("c", "a"), ("a", "d"), ("d", "b")].map {
            #"{"handoff": "\#($0)-to-\#($1)", "from": "\#($0)", "to": "\#($1)", "title": "x"}"#
        }
        try FileManager.default.createDirectory(atPath: world.file("four"), withIntermediateDirectories: true)
        try world.write(
            #"""
            {"scheme": "four", "version": 1, "title": "Four", "source": "A test", "fields": [], "signatures": [],
             "roles": [\#(roles.joined(separator: ","))], "handoffs": [\#(handoffs.joined(separator: ","))]}
            """#,
            to: "four/scheme.json"
        )
        let lines = try world.json("scheme", "show", "four")["diagram"]?.elements?.compactMap(\.text)
        let expected = """
            ┌────────────────────────────┐
            │ a: Role a                  │◀─┐
            │ (opens a chain)            │  │
            │ • hands to d: a-to-d       ├──│─────┐
            └────┬───────────────────────┘  │     │
                 │ a-to-b                   │     │
                 ▼                          │     │
            ┌────────────────────────────┐  │     │
            │ b: Role b                  │◀─│──┐  │
            └────┬───────────────────────┘  │  │  │
                 │ b-to-c                   │  │  │
                 ▼                          │  │  │
            ┌────────────────────────────┐  │  │  │
            │ c: Role c                  │  │  │  │
            │ • hands to a: c-to-a       ├──┘  │  │
            └────┬───────────────────────┘     │  │
                 │ c-to-d                      │  │
                 ▼                             │  │
            ┌────────────────────────────┐     │  │
            │ d: Role d                  │◀────│──┘
            │ • hands to b: d-to-b       ├─────┘
            └────────────────────────────┘
            """
        #expect(lines?.joined(separator: "\n") == expected, "\(lines?.joined(separator: "\n") ?? "")")
    }

    @Test func showsAnEarlierVersionAndAFolder() throws {
        let world = try World()
        let first = try world.json("scheme", "show", "uk-waste-transfer-note@1")
        #expect(first["scheme"]?["version"]?.integer == 1)
        #expect(
            try world.json("scheme", "show", "uk-waste-transfer-note@2")
                == world.json("scheme", "show", "uk-waste-transfer-note")
        )
        try SmallScheme.write("uk-waste-transfer-note", in: world)
        #expect(try world.json("scheme", "show", "./uk-waste-transfer-note")["scheme"]?["id"]?.text == "tool-loan")
        #expect(
            try world.json("scheme", "show", "uk-waste-transfer-note")["scheme"]?["id"]?.text
                == "uk-waste-transfer-note",
            "an id is an id, also where there is a folder of that name"
        )
    }

    @Test func showsTheCodesOfAList() throws {
        let world = try World()
        let output = try world.tally("scheme", "show", "uk-waste-transfer-note", "--codes", "ewc").output
        #expect(output.contains("842 codes") && output.contains("  170904") && output.contains("[hazardous]"))
        #expect(!output.contains("Who hands to whom"))
        try SmallScheme.write("mine", in: world)
        let mine = try world.tally("scheme", "show", "mine", "--codes", "conditions").output
        #expect(mine.contains("  used  Used from 2020-01-01 to 2030-12-31 [worn]"))
        let json = try world.json("scheme", "show", "mine", "--codes", "conditions")["codeLists"]?.elements?.first
        #expect(json?["codes"]?["used"]?["flags"]?.elements?.compactMap(\.text) == ["worn"])
        #expect(try world.json("scheme", "show", "mine")["codeLists"]?.elements?.first?["codes"]?.isNull == true)
    }

    @Test func writesTheDrawingForMermaid() throws {
        let world = try World()
        try SmallScheme.write("mine", in: world) { _, text in
            text.replacing(#""title": "Borrower", "repeats""#, with: #""title": "Borrower \"<B>\" #1; x", "repeats""#)
        }
        let output = try world.tally("scheme", "show", "mine", "--mermaid").output
        #expect(
            output == """
                flowchart TD
                    r0["Lender<br/>signs lender"]
                    r1["Borrower #34;#60;B#62;#34; #35;1#59; x<br/>signs borrower, after lender"]
                    r2(["Witness<br/>signs witness, after lending or with a warning"])
                    r0 -->|"lending, after lender"| r1
                    r1 -->|"passing-on, after borrower"| r1
                    r0 -.->|"lets take part"| r2

                """
        )
    }

    /// What comes from a stranger's folder does not act on the terminal, and does not break the drawing.
    @Test func showsWhatCouldActOnATerminalAsItIs() throws {
        let world = try World()
        try SmallScheme.write("mine", in: world) { _, text in
            text.replacing(#""title": "Borrower", "repeats""#, with: #""title": "Bor\nrower\t\u200e 借り手", "repeats""#)
        }
        let output = try world.tally("scheme", "show", "mine").output
        #expect(output.contains("borrower: Bor rower <U+200E> 借り手"))
        #expect(!output.contains("\u{200E}") && !output.contains("\t"))
        let line = try #require(output.split(separator: "\n").first { $0.contains("│ borrower: Bor") })
        let wide = line.count { ("\u{3041}"..."\u{9FFF}").contains($0) }
        let other = try #require(output.split(separator: "\n").first { $0.contains("│ • signs lender ") })
        #expect(
            line.prefix { $0 != "◀" }.lastIndex(of: "│").map { line.distance(from: line.startIndex, to: $0) + wide }
                == other.dropLast(29).lastIndex(of: "│").map { other.distance(from: other.startIndex, to: $0) }
        )
    }
}
