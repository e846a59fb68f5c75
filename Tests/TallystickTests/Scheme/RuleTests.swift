import TallystickTestSupport
import Testing

@testable import Tallystick

/// Every demand and every condition, judged over one leg's values.
@Suite struct RuleTests {
    /// The words that one rule gives over some values, at the producer's signature.
    private func judge(_ rule: String, _ values: SampleValues.Values, warns: Bool = false) throws -> [String] {
        let text = "{\"rule\": \"r\", \"at\": [\"producer\"], \(rule), \"says\": \"Do it.\"}"
        let scheme = try ParcelScheme.read(replacing: "\"rules\": []", with: "\"rules\": [\(text)]")
        let byPath = try Dictionary(uniqueKeysWithValues: values.map { (try present(FieldPath($0.key)), $0.value) })
        let role = try Derived.name("producer")
        let judged = Judgement(scheme: scheme, values: byPath).reasons(at: role, of: role)
        #expect((warns ? judged.errors : judged.warnings).isEmpty)
        #expect(
            Judgement(scheme: scheme, values: byPath).reasons(at: try Derived.name("seal"), of: role).errors.isEmpty
        )
        return (warns ? judged.warnings : judged.errors).map(\.words)
    }

    private static let label: SampleValues.Values = ["label": .string("A1")]

    @Test func requiresFields() throws {
        let rule = "\"require\": [\"label\", \"pieces\"]"
        #expect(try judge(rule, [:]) == ["missing-field label", "missing-field pieces"])
        #expect(try judge(rule, Self.label) == ["missing-field pieces"])
        #expect(try judge(rule, ["label": .string("A1"), "pieces": .integer(0)]) == [])
    }

    @Test func forbidsFields() throws {
        #expect(try judge("\"forbid\": [\"label\", \"pieces\"]", Self.label) == ["forbidden-field label"])
        #expect(try judge("\"forbid\": [\"label\", \"pieces\"]", [:]) == [])
    }

    @Test func onlyWarnsWhereToldTo() throws {
        let rule = "\"require\": [\"label\"], \"severity\": \"warning\""
        #expect(try judge(rule, [:], warns: true) == ["missing-field label"])
    }

    @Test func appliesOnlyWhenItsConditionHolds() throws {
        let rule = "\"when\": {\"field\": \"fragile\", \"is\": true}, \"require\": [\"label\"]"
        #expect(try judge(rule, ["fragile": .boolean(true)]) == ["missing-field label"])
        #expect(try judge(rule, ["fragile": .boolean(false)]) == [])
        #expect(try judge(rule, [:]) == [])
    }

    /// A condition, values, and whether it holds.
    @Test(arguments: [
        ("{\"field\": \"label\", \"is\": \"A1\"}", ["label": JSON.string("A1")], true),
        ("{\"field\": \"label\", \"is\": \"A1\"}", ["label": .string("A2")], false),
        ("{\"field\": \"label\", \"is\": \"A1\"}", [:], false),
        ("{\"field\": \"pieces\", \"is\": 2}", ["pieces": .integer(2)], true),
        ("{\"field\": \"pieces\", \"is\": 2}", ["pieces": .string("2")], false),
        ("{\"field\": \"label\", \"isNot\": \"A1\"}", ["label": .string("A2")], true),
        ("{\"field\": \"label\", \"isNot\": \"A1\"}", ["label": .string("A1")], false),
        ("{\"field\": \"label\", \"isNot\": \"A1\"}", [:], true),
        ("{\"field\": \"label\", \"in\": [\"A1\", \"A2\"]}", ["label": .string("A2")], true),
        ("{\"field\": \"label\", \"in\": [\"A1\", \"A2\"]}", ["label": .string("A3")], false),
        ("{\"field\": \"label\", \"in\": [\"A1\", \"A2\"]}", [:], false),
        ("{\"field\": \"label\", \"in\": []}", ["label": .string("A3")], false),
        ("{\"field\": \"label\", \"present\": true}", ["label": .string("A3")], true),
        ("{\"field\": \"label\", \"present\": true}", [:], false),
        ("{\"field\": \"label\", \"present\": false}", ["label": .string("A3")], false),
        ("{\"field\": \"label\", \"present\": false}", [:], true),
        ("{\"field\": \"service\", \"flag\": \"insured\", \"is\": true}", ["service": .string("day")], true),
        ("{\"field\": \"service\", \"flag\": \"insured\", \"is\": true}", ["service": .string("night")], false),
        ("{\"field\": \"service\", \"flag\": \"insured\", \"is\": false}", ["service": .string("night")], true),
        ("{\"field\": \"service\", \"flag\": \"insured\", \"is\": false}", [:], false),
        ("{\"field\": \"service\", \"flag\": \"insured\", \"is\": true}", [:], false),
        (
            "{\"field\": \"services\", \"flag\": \"insured\", \"is\": true}", ["services": .strings(["slow", "day"])],
            true
        ),
        (
            "{\"field\": \"services\", \"flag\": \"insured\", \"is\": false}", ["services": .strings(["slow", "day"])],
            false
        ),
        ("{\"field\": \"label\", \"flag\": \"insured\", \"is\": true}", ["label": .string("day")], false),
        (
            "{\"all\": [{\"field\": \"label\", \"present\": true}, {\"field\": \"pieces\", \"is\": 1}]}",
            ["label": .string("A1")], false
        ),
        (
            "{\"all\": [{\"field\": \"label\", \"present\": true}, {\"field\": \"pieces\", \"is\": 1}]}",
            ["label": .string("A1"), "pieces": .integer(1)], true
        ),
        (
            "{\"any\": [{\"field\": \"label\", \"present\": true}, {\"field\": \"pieces\", \"is\": 1}]}",
            ["pieces": .integer(1)], true
        ),
        ("{\"any\": [{\"field\": \"label\", \"present\": true}, {\"field\": \"pieces\", \"is\": 1}]}", [:], false),
        ("{\"not\": {\"field\": \"label\", \"present\": true}}", [:], true),
        ("{\"not\": {\"field\": \"label\", \"present\": true}}", ["label": .string("A1")], false),
    ])
    func judgesConditions(condition: String, values: SampleValues.Values, holds: Bool) throws {
        let result = try judge("\"that\": \(condition)", values)
        #expect(result.isEmpty == holds)
        if let first = result.first { #expect(result.count == 1 && first.hasPrefix("rule-broken")) }
        // As `when` of a demand that nothing meets, it lets the demand through exactly where it holds.
        let when = try judge("\"when\": \(condition), \"require\": [\"due\"]", values)
        #expect(when == (holds ? ["missing-field due"] : []))
    }

    @Test func judgesEachLineByItself() throws {
        let rule = "\"each\": \"items\", \"when\": {\"field\": \"name\", \"is\": \"Lead\"}, \"require\": [\"mass\"]"
        let values: SampleValues.Values = [
            "items/1/name": .string("Lead"), "items/2/name": .string("Lead"), "items/3/name": .string("Pen"),
            "items/2/mass": SampleValues.quantity("1", "kg"),
        ]
        #expect(try judge(rule, values) == ["missing-field items/1/mass"])
        #expect(try judge(rule, [:]) == [])
    }

    @Test func countsTheLinesThatThereMustBe() throws {
        let scheme = try ParcelScheme.read(
            replacing: "\"minimum\": 0, \"maximum\": 2",
            with: "\"minimum\": 1, \"maximum\": 2"
        )
        let role = try Derived.name("producer")
        #expect(
            Judgement(scheme: scheme, values: [:]).reasons(at: role, of: role).errors.map(\.words) == [
                "missing-field items"
            ]
        )
        let path = try present(FieldPath("items/1/name"))
        #expect(Judgement(scheme: scheme, values: [path: .string("Pen")]).reasons(at: role, of: role).errors.isEmpty)
        // Another role's signature does not ask for the producer's lines.
        let carrier = try Derived.name("carrier")
        #expect(Judgement(scheme: scheme, values: [:]).reasons(at: carrier, of: carrier).errors.isEmpty)
    }

    /// Declared, received, tolerance in percent, and whether they differ.
    @Test(arguments: [
        (["100"], ["105"], "5", false), (["100"], ["105.000000001"], "5", true), (["100"], ["95"], "5", false),
        (["100"], ["94.999999999"], "5", true), (["100"], ["100.000000001"], "0", true), (["100"], ["100"], "0", false),
        (["100"], ["100.001"], "0.001", false), (["100"], ["100.002"], "0.001", true),
        (["40", "60"], ["52.5", "52.5"], "5", false),
        (["40", "60"], ["105.1"], "5", true), ([], ["5"], "5", false), (["5"], [], "5", false),
        (["1"], ["2"], "100", false),
        (["1"], ["2.000000001"], "100", true), (["999999999999.999999999"], ["0.000000001"], "100", false),
        (["999999999999.999999999"], ["-999999999999.999999999"], "100", true),
    ])
    func comparesSumsExactly(declared: [String], received: [String], tolerance: String, differs: Bool) throws {
        let old = "\"tolerancePercent\": \"5\""
        let scheme = try ParcelScheme.read(replacing: old, with: "\"tolerancePercent\": \"\(tolerance)\"")
        let reason = try #require(scheme.checks.first).difference(
            declared: declared.map { SampleValues.quantity($0, "t") },
            received: received.map { SampleValues.quantity($0, "t") }
        )
        #expect((reason != nil) == differs)
        #expect(reason?.code == (differs ? .discrepancy : nil))
    }

    @Test func comparesAcrossUnitsAndSaysBothInKilograms() throws {
        let check = try #require(try ParcelScheme.read().checks.first)
        #expect(
            check.difference(
                declared: [SampleValues.quantity("1", "t")],
                received: [SampleValues.quantity("1000", "kg")]
            ) == nil
        )
        let reason = check.difference(
            declared: [SampleValues.quantity("1.5", "t")],
            received: [SampleValues.quantity("250", "g"), SampleValues.quantity("500000", "mg")]
        )
        #expect(reason?.detail == "declared 1500 kg, received 0.75 kg, tolerance 5 %. The weight differs.")
        #expect(check.difference(declared: [.string("1")], received: [SampleValues.quantity("1", "g")]) == nil)
    }
}

/// Schemes that cannot be used, with the place of the fault.
@Suite struct SchemeReaderTests {
    @Test func readsItsOwnBytesBack() throws {
        let scheme = try ParcelScheme.read()
        let again = try Scheme(bytes: scheme.bytes)
        #expect(again.reference == scheme.reference && again.bytes == scheme.bytes)
        #expect(
            again.fields.count == 15 && again.rules.isEmpty && again.handoffs.map(\.longest) == [3_600, 86_400, 86_400]
        )
    }

    @Test(arguments: [
        ("\"opens\": true", "\"opens\": false", "scheme.roles"),
        ("\"closes\": true", "\"opens\": true", "scheme.roles"),
        (
            "\"role\": \"producer\", \"title\": \"Sender\", \"opens\"",
            "\"role\": \"pro ducer\", \"title\": \"Sender\", \"opens\"", "scheme.roles[0].role"
        ),
        (
            "\"field\": \"label\", \"owner\": \"producer\"", "\"field\": \"label\", \"owner\": \"nobody\"",
            "scheme.fields.label"
        ),
        ("\"field\": \"van\"", "\"field\": \"label\"", "scheme.fields"),
        ("\"type\": \"date\"", "\"type\": \"day\"", "scheme.fields[6].type"),
        ("\"list\": \"services\"}", "\"list\": \"nothing\"}", "scheme.fields[8].list"),
        ("\"units\": [\"kg\", \"g\"], \"above\"", "\"units\": [\"lb\"], \"above\"", "scheme.fields[3].units"),
        ("[A-Z]{2}", "[A-Z", "scheme.fields[10].patterns[0].pattern"),
        ("\"maximum\": 2, \"fields\"", "\"maximum\": 0, \"fields\"", "scheme.lines[0].maximum"),
        ("\"after\": [\"producer\"]}", "\"after\": [\"nobody\"]}", "scheme.signatures.seal"),
        ("\"longest\": 3600", "\"longest\": 86401", "scheme.handoffs.pickup"),
        ("\"longest\": 3600", "\"lasts\": 59", "scheme.handoffs.pickup"),
        ("\"longest\": 3600", "\"longest\": 60", "scheme.handoffs.pickup"),
        ("\"to\": \"carrier\"", "\"to\": \"nobody\"", "scheme.handoffs.pickup"),
        ("\"declared\": \"weight\"", "\"declared\": \"label\"", "scheme.checks.weight-differs"),
        ("\"tolerancePercent\": \"5\"", "\"tolerancePercent\": 5", "scheme.checks[0].tolerancePercent"),
        ("\"tolerancePercent\": \"5\"", "\"tolerancePercent\": \"100.1\"", "scheme.checks[0].tolerancePercent"),
        ("\"at\": [\"receiver\"]", "\"at\": [\"nobody\"]", "scheme.checks.weight-differs"),
        ("\"version\": 3", "\"version\": \"3\"", "scheme.version"),
        ("\"maximum\": 2}}", "\"maximum\": 501}}", "scheme.fields[9].many"),
        ("\"title\": \"Parcel\"", "\"title\": \"\"", "scheme.title"),
        (
            "\"rules\": []",
            "\"rules\": [{\"rule\": \"r\", \"at\": [\"nobody\"], \"require\": [\"label\"], \"says\": \"x\"}]",
            "scheme.rules.r"
        ),
        (
            "\"rules\": []",
            "\"rules\": [{\"rule\": \"r\", \"at\": [\"producer\"], \"require\": [\"nothing\"], \"says\": \"x\"}]",
            "scheme.rules.r"
        ),
        (
            "\"rules\": []",
            "\"rules\": [{\"rule\": \"r\", \"at\": [\"producer\"], \"require\": [\"van\"], \"says\": \"x\"}]",
            "scheme.rules.r"
        ),
        (
            "\"rules\": []", "\"rules\": [{\"rule\": \"r\", \"at\": [\"producer\"], \"says\": \"x\"}]",
            "scheme.rules[0].rule"
        ),
        (
            "\"rules\": []",
            "\"rules\": [{\"rule\": \"r\", \"at\": [\"producer\"], \"that\": {\"field\": \"label\"}, \"says\": \"x\"}]",
            "scheme.rules[0].that.condition"
        ),
    ])
    func namesThePlaceOfAFault(old: String, new: String, path: String) throws {
        let error = #expect(throws: SchemeError.self) { try ParcelScheme.read(replacing: old, with: new) }
        #expect(error?.path == path)
    }

    /// What loads from its files has to be readable from the bytes that records carry it in, one level deeper.
    @Test func refusesConditionsTooDeepToBeCarried() throws {
        func rules(_ depth: Int) -> String {
            let inner = "{\"field\": \"label\", \"present\": true}"
            let condition = (0..<depth).reduce(inner) { text, _ in "{\"not\": \(text)}" }
            return "\"rules\": [{\"rule\": \"r\", \"at\": [\"producer\"], \"that\": \(condition), \"says\": \"x\"}]"
        }
        let scheme = try ParcelScheme.read(replacing: "\"rules\": []", with: rules(15))
        let line = Array("{\"scheme\":".utf8) + scheme.bytes + Array("}".utf8)
        _ = try Record.read(line: line)
        #expect(throws: SchemeError.self) { try ParcelScheme.read(replacing: "\"rules\": []", with: rules(16)) }
        let all = (0..<14).reduce("{\"field\": \"label\", \"present\": true}") { text, _ in "{\"all\": [\(text)]}" }
        let deep = "\"rules\": [{\"rule\": \"r\", \"at\": [\"producer\"], \"that\": \(all), \"says\": \"x\"}]"
        #expect(throws: SchemeError.self) { try ParcelScheme.read(replacing: "\"rules\": []", with: deep) }
    }
}
