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
        let judged = RuleTests.judge(scheme, at: role, of: role, byPath)
        #expect((warns ? judged.errors : judged.warnings).isEmpty)
        #expect(RuleTests.judge(scheme, at: try Derived.name("seal"), of: role, byPath).errors.isEmpty)
        return (warns ? judged.warnings : judged.errors).map(\.words)
    }

    /// What a scheme says at a stage over one role's values, where nothing else is known.
    private static func judge(
        _ scheme: Scheme,
        at stage: Name,
        of role: Name,
        _ values: [FieldPath: JSON],
        others: [FieldPath: JSON] = [:]
    ) -> (errors: [Reason], warnings: [Reason]) {
        Judgement(
            scheme: scheme,
            stage: stage,
            role: role,
            values: values,
            others: { _ in others },
            isSigned: { $0 == role }
        ).reasons()
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
        ("{\"field\": \"code\", \"form\": \"digits\"}", ["code": .string("12")], true),
        ("{\"field\": \"code\", \"form\": \"digits\"}", ["code": .string("AB")], false),
        ("{\"field\": \"code\", \"form\": \"digits\"}", [:], false),
        (
            "{\"field\": \"label\", \"is\": {\"field\": \"code\"}}", ["label": .string("12"), "code": .string("12")],
            true
        ),
        (
            "{\"field\": \"label\", \"is\": {\"field\": \"code\"}}", ["label": .string("12"), "code": .string("13")],
            false
        ),
        ("{\"field\": \"label\", \"is\": {\"field\": \"code\"}}", [:], false),
        ("{\"field\": \"label\", \"isNot\": {\"field\": \"code\"}}", ["label": .string("12")], true),
        ("{\"field\": \"pieces\", \"above\": 2}", ["pieces": .integer(3)], true),
        ("{\"field\": \"pieces\", \"above\": 2}", ["pieces": .integer(2)], false),
        ("{\"field\": \"pieces\", \"above\": 2}", [:], false),
        ("{\"field\": \"pieces\", \"atLeast\": 2}", ["pieces": .integer(2)], true),
        ("{\"field\": \"pieces\", \"atLeast\": 2}", ["pieces": .integer(1)], false),
        ("{\"field\": \"pieces\", \"below\": 2}", ["pieces": .integer(1)], true),
        ("{\"field\": \"pieces\", \"below\": 2}", ["pieces": .integer(2)], false),
        ("{\"field\": \"pieces\", \"atMost\": 2}", ["pieces": .integer(2)], true),
        ("{\"field\": \"pieces\", \"atMost\": 2}", ["pieces": .integer(3)], false),
        ("{\"field\": \"value\", \"below\": \"10\"}", ["value": .string("9.99")], true),
        ("{\"field\": \"value\", \"below\": \"10\"}", ["value": .string("10.00")], false),
        (
            "{\"field\": \"weight\", \"atMost\": {\"amount\": \"1\", \"unit\": \"kg\"}}",
            ["weight": SampleValues.quantity("1000", "g")], true
        ),
        (
            "{\"field\": \"weight\", \"atMost\": {\"amount\": \"1\", \"unit\": \"kg\"}}",
            ["weight": SampleValues.quantity("1000.001", "g")], false
        ),
        ("{\"field\": \"due\", \"above\": \"2026-11-30\"}", ["due": .string("2026-12-01")], true),
        ("{\"field\": \"due\", \"above\": \"2026-11-30\"}", ["due": .string("2026-11-30")], false),
        (
            "{\"field\": \"packedAt\", \"atLeast\": \"2026-11-30T10:00:00.000+02:00\"}",
            ["packedAt": .string("2026-11-30T08:00:00.000Z")], true
        ),
        (
            "{\"field\": \"packedAt\", \"atLeast\": \"2026-11-30T10:00:00.000+02:00\"}",
            ["packedAt": .string("2026-11-30T07:59:59.999Z")], false
        ),
        ("{\"signed\": \"producer\"}", [:], true),
        ("{\"signed\": \"seal\"}", [:], false),
        (
            "{\"some\": \"items\", \"where\": {\"field\": \"name\", \"is\": \"Lead\"}}",
            ["items/1/name": .string("Pen"), "items/2/name": .string("Lead")], true
        ),
        (
            "{\"some\": \"items\", \"where\": {\"field\": \"name\", \"is\": \"Lead\"}}",
            ["items/1/name": .string("Pen")], false
        ),
        ("{\"some\": \"items\", \"where\": {\"field\": \"name\", \"is\": \"Lead\"}}", [:], false),
        (
            "{\"every\": \"items\", \"where\": {\"field\": \"name\", \"is\": \"Lead\"}}",
            ["items/1/name": .string("Pen"), "items/2/name": .string("Lead")], false
        ),
        (
            "{\"every\": \"items\", \"where\": {\"field\": \"name\", \"is\": \"Lead\"}}",
            ["items/2/name": .string("Lead")], true
        ),
        ("{\"every\": \"items\", \"where\": {\"field\": \"name\", \"is\": \"Lead\"}}", [:], true),
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
        let when = try judge("\"when\": \(condition), \"require\": [\"agreed\"]", values)
        #expect(when == (holds ? ["missing-field agreed"] : []))
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

    @Test func judgesFieldsOutsideTheRows() throws {
        let rule = """
            "each": "items", "when": {"field": "/fragile", "is": true}, "require": ["mass"]
            """
        let values: SampleValues.Values = ["items/1/name": .string("Lead"), "fragile": .boolean(true)]
        #expect(try judge(rule, values) == ["missing-field items/1/mass"])
        #expect(try judge(rule, ["items/1/name": .string("Lead")]) == [])
    }

    @Test func countsTheLinesThatThereMustBe() throws {
        let scheme = try ParcelScheme.read(
            replacing: "\"minimum\": 0, \"maximum\": 2",
            with: "\"minimum\": 1, \"maximum\": 2"
        )
        let role = try Derived.name("producer")
        #expect(RuleTests.judge(scheme, at: role, of: role, [:]).errors.map(\.words) == ["missing-field items"])
        let path = try present(FieldPath("items/1/name"))
        #expect(RuleTests.judge(scheme, at: role, of: role, [path: .string("Pen")]).errors.isEmpty)
        // Another role's signature does not ask for the producer's lines.
        let carrier = try Derived.name("carrier")
        #expect(RuleTests.judge(scheme, at: carrier, of: carrier, [:]).errors.isEmpty)
    }

    /// The warnings of one check at the receiver's signature, over what the producer declared and the receiver found.
    private func compare(_ check: String, _ values: SampleValues.Values) throws -> [Reason] {
        let text = ParcelScheme.text.replacing("\"declared\": \"weight\", \"received\": \"weighed\"", with: check)
            .replacing("\"tolerancePercent\": \"5\", \"says\"", with: "\"says\"")
        #expect(text.contains(check) && !text.contains("\"tolerancePercent\": \"5\", \"says\""))
        let scheme = try Scheme(scheme: Array(text.utf8), codeLists: [("services", Array(ParcelScheme.services.utf8))])
        let byPath = try Dictionary(uniqueKeysWithValues: values.map { (try present(FieldPath($0.key)), $0.value) })
        let role = try Derived.name("receiver")
        let (own, others) = (
            byPath.filter { scheme.field($0.key)?.owner == role }, byPath.filter { scheme.field($0.key)?.owner != role }
        )
        let judged = RuleTests.judge(scheme, at: role, of: role, own, others: others)
        #expect(judged.errors.isEmpty)
        return judged.warnings
    }

    /// Declared, received, tolerance in percent, and whether they differ.
    @Test(arguments: [
        ("100", "105", "5", false), ("100", "105.000000001", "5", true), ("100", "95", "5", false),
        ("100", "94.999999999", "5", true), ("100", "100.000000001", "0", true), ("100", "100", "0", false),
        ("100", "100.001", "0.001", false), ("100", "100.002", "0.001", true), ("1", "2", "100", false),
        ("1", "2.000000001", "100", true), ("999999999999.999999999", "0.000000001", "100", false),
        ("999999999999.999999999", "-999999999999.999999999", "100", true),
    ])
    func comparesExactly(declared: String, received: String, tolerance: String, differs: Bool) throws {
        let reasons = try compare(
            "\"declared\": \"weight\", \"received\": \"weighed\", \"tolerancePercent\": \"\(tolerance)\"",
            ["weight": SampleValues.quantity(declared, "kg"), "weighed": SampleValues.quantity(received, "kg")]
        )
        #expect(reasons.map(\.code) == (differs ? [.discrepancy] : []))
    }

    @Test func comparesSumsOfAllRowsAndWithAnAmount() throws {
        let sums = "\"declared\": \"items/*/mass\", \"received\": \"weighed\", "
        func masses(_ received: String) -> SampleValues.Values {
            [
                "items/1/mass": SampleValues.quantity("40", "kg"), "items/2/mass": SampleValues.quantity("60000", "g"),
                "weighed": SampleValues.quantity(received, "kg"),
            ]
        }
        #expect(try compare(sums + "\"tolerancePercent\": \"5\"", masses("105")).isEmpty)
        #expect(
            try compare(sums + "\"tolerancePercent\": \"5\"", masses("105.1")).map(\.words) == [
                "discrepancy weight-differs"
            ]
        )
        #expect(try compare(sums + "\"tolerance\": \"2\"", masses("102")).isEmpty)
        #expect(try compare(sums + "\"tolerance\": \"2\"", masses("97.9")).count == 1)
        #expect(try compare(sums + "\"tolerance\": \"0\"", ["weighed": SampleValues.quantity("1", "kg")]).isEmpty)
    }

    @Test func saysBothAmountsInTheUnitTheyWereGivenIn() throws {
        let check = "\"declared\": \"weight\", \"received\": \"weighed\", \"tolerancePercent\": \"5\""
        let same = try compare(
            check,
            ["weight": SampleValues.quantity("1.5", "kg"), "weighed": SampleValues.quantity("750", "g")]
        )
        #expect(same.first?.detail == "declared 1.5 kg, received 750 g, tolerance 5 %. The weight differs.")
        let equal = try compare(
            check,
            ["weight": SampleValues.quantity("1.5", "kg"), "weighed": SampleValues.quantity("1500", "g")]
        )
        #expect(equal.isEmpty)
    }
}

/// Units: exact sizes, and what does not compare.
@Suite struct UnitTests {
    private func total(_ values: [(String, String)]) -> Total? {
        Total(values.map { SampleValues.quantity($0.0, $0.1) })
    }

    /// The same amount in two units, to the last digit.
    @Test(arguments: [
        ("1", "lb", "0.45359237", "kg"), ("1", "short-ton", "2000", "lb"), ("1", "t", "1000", "kg"),
        ("1", "gal", "3.785411784", "l"), ("1", "yd3", "0.764554858", "m3"), ("1", "m3", "1000", "l"),
        ("1", "percent", "10000", "mg/kg"), ("0.000000001", "t", "1", "mg"),
    ])
    func convertsExactly(amount: String, unit: String, other: String, otherUnit: String) throws {
        let (left, right) = (try #require(total([(amount, unit)])), try #require(total([(other, otherUnit)])))
        let difference = (left.scaled - right.scaled).magnitude
        // A cubic yard has more digits than an amount can have; nothing else may be off by the least.
        #expect(difference <= (unit == "yd3" ? right.scaled.magnitude / 1_000_000_000 : 0))
    }

    @Test func addsOnlyWhatIsOfOneKind() throws {
        #expect(total([("1", "kg"), ("1", "l")]) == nil)
        #expect(total([("1", "kg"), ("1", "lb")])?.text == "1.45359237 kg")
        #expect(total([("1", "gal"), ("1", "l")])?.text == "4.785411784 l")
        #expect(total([("1.50", "t"), ("0.5", "t")])?.text == "2 t")
        #expect(total([]) == nil)
        #expect(Total([.integer(3), .integer(4)])?.text == "7")
        #expect(Total([.string("0.1"), .string("0.2")])?.text == "0.3")
        #expect(Total([.string("0.1"), .boolean(true)]) == nil)
        #expect(Total(Array(repeating: .integer(1), count: 1_001)) == nil)
    }

    /// Neither sums nor percentages overflow at the largest amounts there are.
    @Test func holdsTheLargestSums() throws {
        let most = Array(repeating: ("999999999999.999999999", "m3"), count: 1_000)
        let sum = try #require(total(most))
        let other = try #require(total([("-999999999999.999999999", "m3")]))
        #expect(sum.differs(from: other, byMoreThan: 100_000))
        #expect(!sum.differs(from: sum, byMoreThan: 0))
        #expect(sum.text == "999999999999999.999999 m3")
    }

    @Test func knowsNoOtherSpelling() {
        for symbol in ["KG", "Kg", "k g", "", "kg ", "\u{212A}g", "lbs", "°C"] {
            #expect(Unit.of(symbol) == nil, "\(symbol)")
        }
        for unit in Unit.all { #expect(Unit.of(unit.symbol) == unit) }
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

    /// What is replaced in a sound scheme, the kind of mistake that makes, and its place.
    @Test(arguments: [
        ("\"opens\": true", "\"opens\": false", "no-opener", "roles"),
        (
            "\"role\": \"producer\", \"title\": \"Sender\", \"opens\"",
            "\"role\": \"pro ducer\", \"title\": \"Sender\", \"opens\"", "name-invalid", "roles[0].role"
        ),
        (
            "\"field\": \"label\", \"owner\": \"producer\"", "\"field\": \"label\", \"owner\": \"nobody\"",
            "unknown-role", "fields[0].owner"
        ),
        ("\"field\": \"van\"", "\"field\": \"label\"", "name-taken", "fields[11].field"),
        ("\"type\": \"date\"", "\"type\": \"day\"", "member-invalid", "fields[6].type"),
        ("\"list\": \"services\"}", "\"list\": \"nothing\"}", "code-list-missing", "fields[8].list"),
        (
            "\"units\": [\"kg\", \"g\"], \"above\"", "\"units\": [\"stone\"], \"above\"", "member-invalid",
            "fields[3].units[0]"
        ),
        (
            "\"units\": [\"kg\", \"g\"], \"above\"", "\"units\": [\"kg\", \"l\"], \"above\"", "type-mismatch",
            "fields[3].units"
        ),
        ("[A-Z]{2}", "[A-Z", "pattern-invalid", "fields[10].patterns[0].pattern"),
        ("\"maximum\": 2, \"fields\"", "\"maximum\": 0, \"fields\"", "member-invalid", "lines[0].maximum"),
        ("\"after\": [\"producer\"]}", "\"after\": [\"nobody\"]}", "unknown-stage", "signatures[1].after[0]"),
        ("\"longest\": 3600", "\"longest\": 86401", "member-invalid", "handoffs[0].longest"),
        ("\"longest\": 3600", "\"lasts\": 59", "member-invalid", "handoffs[0].lasts"),
        ("\"longest\": 3600", "\"longest\": 60, \"lasts\": 61", "member-invalid", "handoffs[0].lasts"),
        ("\"to\": \"carrier\"", "\"to\": \"nobody\"", "unknown-role", "handoffs[0].to"),
        ("\"declared\": \"weight\"", "\"declared\": \"label\"", "amounts-missing", "checks[0].declared"),
        ("\"declared\": \"weight\"", "\"declared\": \"value\"", "type-mismatch", "checks[0].received"),
        ("\"tolerancePercent\": \"5\"", "\"tolerancePercent\": 5", "member-invalid", "checks[0].tolerancePercent"),
        (
            "\"tolerancePercent\": \"5\"", "\"tolerancePercent\": \"100.1\"", "member-invalid",
            "checks[0].tolerancePercent"
        ),
        ("\"tolerancePercent\": \"5\", \"says\"", "\"says\"", "member-invalid", "checks[0]"),
        ("\"received\": \"weighed\",", "", "amounts-missing", "checks[0]"),
        ("\"at\": [\"receiver\"]", "\"at\": [\"nobody\"]", "unknown-stage", "checks[0].at"),
        ("\"version\": 3", "\"version\": \"3\"", "member-invalid", "version"),
        ("\"maximum\": 2}}", "\"maximum\": 501}}", "member-invalid", "fields[9].many.maximum"),
        ("\"title\": \"Parcel\"", "\"title\": \"\"", "member-invalid", "title"),
        ("\"title\": \"Parcel\", ", "", "member-missing", "title"),
        ("\"title\": \"Parcel\"", "\"titel\": \"Parcel\", \"title\": \"Parcel\"", "member-unknown", "titel"),
        ("\"handoff\": \"drop\"", "\"handoff\": \"receiver\"", "name-taken", "handoffs[1].handoff"),
        (
            "\"statement\": \"I send this.\"", "\"statement\": \"I send this.\", \"after\": [\"seal\"]", "guard-cycle",
            "signatures[0]"
        ),
        (
            "\"statement\": \"I send this.\"", "\"statement\": \"I send this.\", \"after\": [\"receiver\"]",
            "unreachable-stage", "signatures[0]"
        ),
        (
            "\"from\": \"carrier\", \"to\": \"receiver\"", "\"from\": \"carrier\", \"to\": \"carrier\"",
            "unreachable-role", "roles[2]"
        ),
        ("\"repeats\": true", "\"repeats\": false", "member-invalid", "handoffs[2].to"),
        (
            "\"title\": \"Courier\", \"repeats\"", "\"title\": \"Courier\", \"custody\": false, \"repeats\"",
            "member-invalid", "handoffs[0].to"
        ),
    ])
    func namesTheMistakeAndItsPlace(old: String, new: String, code: String, path: String) throws {
        let error = #expect(throws: SchemeError.self) { try ParcelScheme.read(replacing: old, with: new) }
        let problems = error?.problems ?? []
        #expect(
            problems.contains { $0.code.rawValue == code && $0.path == path && $0.file == "scheme.json" },
            "\(problems.map { "\($0.code.rawValue) \($0.path)" })"
        )
        for problem in problems { #expect(!problem.message.isEmpty && !problem.remedy.isEmpty) }
    }

    @Test func findsWhatCanNeverBe() throws {
        func codes(_ old: String, _ new: String) -> [String] {
            do {
                _ = try ParcelScheme.read(replacing: old, with: new)
                return []
            } catch let error as SchemeError {
                return error.problems.map(\.code.rawValue)
            } catch {
                return ["\(error)"]
            }
        }
        let seal = "\"statement\": \"I sealed it.\", \"after\": [\"producer\"]"
        #expect(codes(seal, seal + ", \"before\": [\"producer\"]") == ["unreachable-stage"])
        #expect(codes("{\"name\": \"digits\"", "{\"name\": \"two letters\"") == ["name-taken"])
        let services = ParcelScheme.services.replacing("\"until\": \"2026-12-31\"", with: "\"until\": \"2026-11-30\"")
        let error = #expect(throws: SchemeError.self) {
            try Scheme(scheme: Array(ParcelScheme.text.utf8), codeLists: [("services", Array(services.utf8))])
        }
        #expect(error?.problems.map(\.path) == ["codes.night.until"])
    }

    /// A rule, the kind of mistake in it, and its place in the rule.
    @Test(arguments: [
        (#""at": ["nobody"], "require": ["label"]"#, "unknown-stage", ".at"),
        (#""at": ["producer"], "require": ["nothing"]"#, "unknown-field", ".require[0]"),
        (#""at": ["producer"], "require": ["van"]"#, "field-of-other-role", ""),
        (#""at": ["producer", "carrier"], "require": ["label"]"#, "member-invalid", ".at"),
        (#""at": ["producer"]"#, "member-invalid", ""),
        (#""require": ["label"]"#, "member-missing", ".at"),
        (#""at": ["producer"], "require": []"#, "member-invalid", ".require"),
        (#""at": ["producer"], "require": ["label"], "forbid": ["label"]"#, "member-invalid", ""),
        (#""at": ["producer"], "require": ["label"], "severity": "fatal""#, "member-invalid", ".severity"),
        (#""at": ["producer"], "each": "nothing", "require": ["name"]"#, "unknown-lines", ".each"),
        (#""at": ["producer"], "each": "items", "require": ["label"]"#, "unknown-field", ".require[0]"),
        (#""at": ["carrier"], "each": "items", "require": ["/van"]"#, "field-of-other-role", ""),
        (#""at": ["producer"], "that": {"field": "label"}"#, "member-invalid", ".that"),
        (#""at": ["producer"], "that": {"field": "label", "is": 3}"#, "type-mismatch", ".that.is"),
        (#""at": ["producer"], "that": {"field": "service", "is": "rocket"}"#, "type-mismatch", ".that.is"),
        (#""at": ["producer"], "that": {"field": "pieces", "above": "3"}"#, "type-mismatch", ".that.above"),
        (#""at": ["producer"], "that": {"field": "label", "above": 3}"#, "type-mismatch", ".that.field"),
        (
            #""at": ["producer"], "that": {"field": "due", "above": {"field": "packedAt"}}"#, "type-mismatch",
            ".that.above"
        ),
        (#""at": ["producer"], "that": {"field": "label", "flag": "insured"}"#, "type-mismatch", ".that.field"),
        (#""at": ["producer"], "that": {"field": "service", "flag": "floating"}"#, "unknown-code", ".that.flag"),
        (#""at": ["producer"], "that": {"field": "label", "form": "digits"}"#, "type-mismatch", ".that.field"),
        (#""at": ["producer"], "that": {"field": "code", "form": "letters"}"#, "unknown-code", ".that.form"),
        (#""at": ["producer"], "that": {"field": "label", "is": "a", "isNot": "b"}"#, "member-invalid", ".that"),
        (#""at": ["producer"], "that": {"field": "label", "in": []}"#, "member-invalid", ".that.in"),
        (#""at": ["producer"], "that": {"all": []}"#, "member-invalid", ".that.all"),
        (#""at": ["producer"], "that": {"signed": "carrier"}"#, "field-of-other-role", ""),
        (#""at": ["producer"], "that": {"signed": "pickup"}"#, "unknown-stage", ".that.signed"),
        (
            #""at": ["producer"], "that": {"some": "items", "where": {"some": "items", "where": {"signed": "producer"}}}"#,
            "too-deep", ".that.where.some"
        ),
        (#""at": ["producer"], "that": "label""#, "member-invalid", ".that"),
        (#""at": ["producer"], "require": ["label"], "becuase": 1"#, "member-unknown", ".becuase"),
    ])
    func namesTheMistakeInARule(rule: String, code: String, path: String) throws {
        let text = "{\"rule\": \"r\", \(rule), \"says\": \"Do it.\"}"
        let error = #expect(throws: SchemeError.self) {
            try ParcelScheme.read(replacing: "\"rules\": []", with: "\"rules\": [\(text)]")
        }
        let problems = error?.problems ?? []
        #expect(
            problems.contains { $0.code.rawValue == code && $0.path == "rules[0]\(path)" },
            "\(problems.map { "\($0.code.rawValue) \($0.path)" })"
        )
    }

    @Test func namesEveryMistakeAtOnce() throws {
        var text = ParcelScheme.text
        for (old, new) in [
            ("\"title\": \"Parcel\"", "\"title\": 3"), ("\"owner\": \"carrier\"", "\"owner\": \"crier\""),
            ("\"type\": \"date\"", "\"type\": \"day\""), ("\"declared\": \"weight\"", "\"declared\": \"wait\""),
        ] { text = text.replacing(old, with: new) }
        let error = #expect(throws: SchemeError.self) {
            try Scheme(scheme: Array(text.utf8), codeLists: [("services", Array(ParcelScheme.services.utf8))])
        }
        #expect(
            error?.problems.map(\.path) == ["title", "fields[6].type", "fields[11].owner", "checks[0].declared"]
        )
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
