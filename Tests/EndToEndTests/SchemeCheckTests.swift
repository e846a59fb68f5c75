import Foundation
import Tallystick
import Testing

/// What `tally scheme check` says of a scheme with one mistake has to be enough to put it right.
@Suite struct SchemeCheckTests {
    /// A text of one file that is replaced, and what has to be said about it.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let other: String
        let code: String
        let path: String
        /// Words of the message and the remedy.
        let says: [String]
        var file = "scheme.json"

        var testDescription: String { name }
    }

    static let mistakes: [Mistake] = [
        Mistake(
            name: "unknown role",
            text: #""owner": "witness""#,
            other: #""owner": "witnes""#,
            code: "unknown-role",
            path: "fields[12].owner",
            says: ["got “witnes”", "did you mean “witness”?"]
        ),
        Mistake(
            name: "a field of two owners",
            text: #""field": "seen", "owner": "witness""#,
            other: #""field": "weight", "owner": "witness""#,
            code: "name-taken",
            path: "fields[12].field",
            says: ["one owner of “weight”", "lender and witness", "its own name"]
        ),
        Mistake(
            name: "a role that nobody lets in",
            text: #", "admits": ["witness"]"#,
            other: "",
            code: "unreachable-role",
            path: "roles[2]",
            says: ["admits “witness”", "add “witness” to the “admits”"]
        ),
        Mistake(
            name: "stages that wait for each other",
            text: #""paper": ["borrower"]}"#,
            other: #""paper": ["borrower"], "after": ["borrower"]}"#,
            code: "guard-cycle",
            path: "signatures[1]",
            says: ["borrower after lender after borrower", "out of an “after”"]
        ),
        Mistake(
            name: "a tolerance without two fields",
            text: #""received": "found", "#,
            other: "",
            code: "amounts-missing",
            path: "checks[0]",
            says: ["“declared” and “received”", "name the two fields"]
        ),
        Mistake(
            name: "a comparison with a text",
            text: #""received": "found""#,
            other: #""received": "tool""#,
            code: "amounts-missing",
            path: "checks[0].received",
            says: ["got “tool”", "name a decimal or a whole number"]
        ),
        Mistake(
            name: "a tolerance as a number",
            text: #""tolerancePercent": "5""#,
            other: #""tolerancePercent": 5"#,
            code: "member-invalid",
            path: "checks[0].tolerancePercent",
            says: ["got 5", "in quotes"]
        ),
        Mistake(
            name: "a code list without a file",
            text: #""codeLists": ["conditions"]"#,
            other: #""codeLists": ["conditions", "colours"]"#,
            code: "code-list-missing",
            path: "codeLists",
            says: ["codes/colours.json", "take “colours” out"]
        ),
        Mistake(
            name: "a code list that is not declared",
            text: #""codeLists": ["conditions"],"#,
            other: "",
            code: "code-list-unused",
            path: "",
            says: ["“codeLists” in scheme.json", "add the name there"],
            file: "codes/conditions.json"
        ),
        Mistake(
            name: "a number where an amount is compared",
            text: #"{"amount": "40", "unit": "kg"}"#,
            other: "40",
            code: "type-mismatch",
            path: "rules[2].that.atMost",
            says: ["as “weight” takes it", #"{"amount": "12.5", "unit": "kg"}"#]
        ),
        Mistake(
            name: "an order of texts",
            text: #"{"field": "weight", "present": true}"#,
            other: #"{"field": "tool", "above": "2"}"#,
            code: "type-mismatch",
            path: "rules[2].when.field",
            says: ["got “tool”", "is, isNot or in"]
        ),
        Mistake(
            name: "a code that there is not",
            text: #"{"field": "state", "is": "used"}"#,
            other: #"{"field": "state", "is": "usde"}"#,
            code: "type-mismatch",
            path: "checks[0].when.is",
            says: ["the list “conditions”", "did you mean “used”?"]
        ),
        Mistake(
            name: "unknown unit",
            text: #""units": ["kg", "g"]"#,
            other: #""units": ["kgs", "g"]"#,
            code: "member-invalid",
            path: "fields[3].units[0]",
            says: ["got “kgs”", "did you mean “kg”?", "short-ton"]
        ),
        Mistake(
            name: "misspelt member",
            text: #""lasts": 600"#,
            other: #""last": 600"#,
            code: "member-unknown",
            path: "handoffs[1].last",
            says: ["no member “last”", "did you mean “lasts”?"]
        ),
        Mistake(
            name: "misspelt member of the whole",
            text: #""deadlines": ["#,
            other: #""deadline": ["#,
            code: "member-unknown",
            path: "deadline",
            says: ["did you mean “deadlines”?"]
        ),
        Mistake(
            name: "unknown field in a rule",
            text: #""require": ["weight"]"#,
            other: #""require": ["wieght"]"#,
            code: "unknown-field",
            path: "rules[1].require[0]",
            says: ["outside lines", "did you mean “weight”?"]
        ),
        Mistake(
            name: "unknown flag",
            text: #""flag": "worn""#,
            other: #""flag": "worm""#,
            code: "unknown-code",
            path: "rules[1].when.flag",
            says: ["a code of “conditions”", "did you mean “worn”?"]
        ),
        Mistake(
            name: "unknown stage",
            text: #""after": [{"stage": "lending""#,
            other: #""after": [{"stage": "lendign""#,
            code: "unknown-stage",
            path: "signatures[2].after[0].stage",
            says: ["got “lendign”", "did you mean “lending”?"]
        ),
        Mistake(
            name: "unknown stage among names",
            text: #""after": ["borrower"], "lasts""#,
            other: #""after": ["borower"], "lasts""#,
            code: "unknown-stage",
            path: "handoffs[1].after[0]",
            says: ["did you mean “borrower”?"]
        ),
        Mistake(
            name: "a rule that is judged nowhere",
            text: #""at": ["lender"], "require": ["tool", "state"]"#,
            other: #""at": [], "require": ["tool", "state"]"#,
            code: "member-invalid",
            path: "rules[0].at",
            says: ["at least one signature or handoff", "name the stages"]
        ),
        Mistake(
            name: "unknown type",
            text: #""title": "Seen", "type": "boolean""#,
            other: #""title": "Seen", "type": "bool""#,
            code: "member-invalid",
            path: "fields[12].type",
            says: ["got “bool”", "did you mean “boolean”?", "identifier"]
        ),
        Mistake(
            name: "unknown lines",
            text: #""each": "bits""#,
            other: #""each": "bit""#,
            code: "unknown-lines",
            path: "rules[3].each",
            says: ["got “bit”", "did you mean “bits”?"]
        ),
        Mistake(
            name: "a refusal over another role's field",
            text: #""require": ["tool", "state"]"#,
            other: #""require": ["tool", "good"]"#,
            code: "field-of-other-role",
            path: "rules[0]",
            says: ["“good” of the borrower", #""severity": "warning""#]
        ),
        Mistake(
            name: "a letter escape in a pattern",
            text: "[A-Z]{2}[0-9]{4}",
            other: #"[A-Z]{2}\\d{4}"#,
            code: "pattern-invalid",
            path: "fields[1].patterns[0].pattern",
            says: ["at byte 9", #"[0-9] for \d"#]
        ),
        Mistake(
            name: "two demands in a rule",
            text: #""require": ["size"]"#,
            other: #""require": ["size"], "forbid": ["mass"]"#,
            code: "member-invalid",
            path: "rules[3]",
            says: ["exactly one of require, forbid and that", "a rule for each"]
        ),
        Mistake(
            name: "an operator that there is not",
            text: #""present": false"#,
            other: #""missing": true"#,
            code: "member-invalid",
            path: "deadlines[1].when",
            says: ["“field”, “missing”", "present", "atLeast"]
        ),
        Mistake(
            name: "unknown time zone",
            text: "Europe/London",
            other: "London",
            code: "unknown-zone",
            path: "deadlines[0].zone",
            says: ["got “London”", "did you mean “Europe/London”?"]
        ),
        Mistake(
            name: "a time in two units",
            text: #""within": {"months": 1}"#,
            other: #""within": {"months": 1, "days": 3}"#,
            code: "member-invalid",
            path: "deadlines[1].within",
            says: ["exactly one of", "got days, months"]
        ),
        Mistake(
            name: "a weekend in words",
            text: #""weekend": [7]"#,
            other: #""weekend": "Sunday""#,
            code: "member-invalid",
            path: "calendars[0].weekend",
            says: ["1 for Monday", "got “Sunday”"]
        ),
        Mistake(
            name: "a comment",
            text: #""version": 1,"#,
            other: #""version": 1, // the first"#,
            code: "not-json",
            path: "",
            says: ["expected a name, got “/”", "no comments"]
        ),
        Mistake(
            name: "a flag in words",
            text: #""worn": true"#,
            other: #""worn": true, "lent": "yes""#,
            code: "member-invalid",
            path: "codes.used.lent",
            says: ["true or false", "got “yes”"],
            file: "codes/conditions.json"
        ),
        Mistake(
            name: "a misspelt step",
            text: #"{"by": "lender", "open": true}"#,
            other: #"{"by": "lender", "open": true, "unsen": true}"#,
            code: "member-unknown",
            path: "backgrounds.opened[0].unsen",
            says: ["did you mean “unseen”?"],
            file: "examples/lending.json"
        ),
        Mistake(
            name: "a reason that is no text",
            text: #""missing-field tool","#,
            other: #"{"missing-field": "tool"},"#,
            code: "member-invalid",
            path: "examples[0].then.reasons",
            says: ["an array of texts", #"["missing-field tool"]"#],
            file: "examples/lending.json"
        ),
    ]

    @Test("says what is wrong, where, and what to do, and nothing else", arguments: mistakes)
    func explains(mistake: Mistake) throws {
        let world = try World()
        var places = 0
        try SmallScheme.write("mine", in: world) { file, text in
            // A list that is not declared is a mistake of scheme.json that its file is named for.
            let isHere = file == mistake.file || (file == "scheme.json" && mistake.file.hasPrefix("codes/"))
            guard isHere, text.contains(mistake.text) else { return text }
            places += text.components(separatedBy: mistake.text).count - 1
            return text.replacing(mistake.text, with: mistake.other)
        }
        #expect(places == 1, "the text to change stands once in the files")
        let problems = try world.json("scheme", "check", "mine", exits: 2)["problems"]?.elements ?? []
        #expect(problems.count == 1, "one mistake, one problem: \(problems)")
        let problem = try #require(problems.first)
        #expect(problem["code"]?.text == mistake.code)
        #expect(problem["file"]?.text == mistake.file)
        #expect(problem["path"]?.text == mistake.path)
        let words = "\(problem["message"]?.text ?? "") \(problem["remedy"]?.text ?? "")"
        for said in mistake.says { #expect(words.contains(said), "\(words)") }

        let shown = try world.tally("scheme", "check", "mine", exits: 2)
        #expect(shown.output.contains(mistake.file) && shown.output.contains(problem["message"]?.text ?? "?"))
        #expect(shown.errors == "1 mistake in mine.\n")
    }

    /// A stage that can never be done follows from another mistake, and is named with it.
    @Test func namesAStageThatWaitsForOneThatCannotBe() throws {
        let world = try World()
        try SmallScheme.write("mine", in: world) { _, text in
            text.replacing(#", "admits": ["witness"]"#, with: "")
                .replacing(#""after": ["borrower"], "lasts""#, with: #""after": ["borrower", "witness"], "lasts""#)
        }
        let problems = try world.json("scheme", "check", "mine", exits: 2)["problems"]?.elements ?? []
        #expect(problems.compactMap { $0["code"]?.text } == ["unreachable-role", "unreachable-stage"])
        #expect(problems.last?["path"]?.text == "handoffs[1]")
        #expect(problems.last?["message"]?.text?.contains("“passing-on” to be possible; it waits for witness") == true)
        #expect(problems.last?["remedy"]?.text?.contains("out of its “after”") == true)
    }

    @Test func namesTheLineAndWhatStandsThere() throws {
        let world = try World()
        try SmallScheme.write("mine", in: world) { _, text in
            text.replacing(#""owner": "witness""#, with: #""owner": "witnes""#)
                .replacing(#""field": "size", "title""#, with: #""field": "size", "titel""#)
        }
        let output = try world.tally("scheme", "check", "mine", exits: 2).output
        #expect(output.contains("scheme.json, line 27, fields[12].owner (field seen)"))
        #expect(output.contains("scheme.json, line 31, lines[0].fields[0].titel (lines bits, field size)"))
        try world.write("{\n\"scheme\": \"x\",\n}", to: "mine/scheme.json")
        #expect(try world.tally("scheme", "check", "mine", exits: 2).output.contains("scheme.json, line 3\n"))
    }

    @Test func theSmallSchemeItselfIsSoundAndItsExamplePasses() throws {
        let world = try World()
        try SmallScheme.write("mine", in: world)
        #expect(try world.json("scheme", "check", "mine")["problems"]?.elements?.isEmpty == true)
        #expect(try world.json("scheme", "test", "mine")["passed"]?.integer == 1)
    }

    /// The page's own example is one that can be used.
    @Test func theSchemeOnThePageIsSound() throws {
        let page = try TallyProgram.packageFile("docs/schemes.md")
        let blocks = page.components(separatedBy: "```json\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        let scheme = try #require(blocks.first { $0.contains("\"scheme\":") })
        let world = try World()
        try FileManager.default.createDirectory(atPath: world.file("loan"), withIntermediateDirectories: true)
        try world.write(scheme, to: "loan/scheme.json")
        #expect(try world.json("scheme", "check", "loan")["scheme"]?["id"]?.text == "loan")
        #expect(try world.tally("scheme", "show", "loan").output.contains("lending, after lender"))
    }

    /// A hostile scheme can have hundreds of thousands of mistakes; explaining two hundred is enough.
    @Test func endsSoonWhereEverythingIsWrong() throws {
        let world = try World()
        let fields = (0..<40_000).map { "\"fiield\(String($0, radix: 36))xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"" }
        try SmallScheme.write("mine", in: world) { _, text in
            text.replacing(#""require": ["tool", "state"]"#, with: "\"require\": [\(fields.joined(separator: ","))]")
        }
        let problems = try world.json("scheme", "check", "mine", exits: 2)["problems"]?.elements
        #expect(problems?.count == 200)
    }
}
