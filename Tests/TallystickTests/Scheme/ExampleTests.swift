import Foundation
import Schemes
import TallystickTestSupport
import Testing

@testable import Tallystick

/// What the runner of examples says of examples that are wrong: each shows something else than it should, or nothing.
@Suite struct ExampleTests {
    private static let offsets: ZoneOffsets = { _, _ in 0 }

    private static let background = #"""
        "sent": [
            {"by": "producer", "open": true},
            {"by": "producer", "set": {"label": "A1", "items": [{"name": "Pen"}]}},
            {"by": "producer", "sign": "producer"}, {"by": "producer", "offer": "pickup"},
            {"by": "carrier", "accept": "pickup"}
        ]
        """#

    private func file(
        _ example: String,
        _ background: String = ExampleTests.background
    ) -> [(name: String, text: [UInt8])] {
        [("one", Array("{\"backgrounds\": {\(background)}, \"examples\": [\(example)]}".utf8))]
    }

    private func faults(_ example: String) throws -> [String] {
        let examples = try SchemeExamples(files: file(example))
        return try examples.run(under: ParcelScheme.read(), Self.offsets).flatMap(\.faults)
    }

    @Test func passesWhatComesOutAsItSays() throws {
        let example = #"""
            {"example": "e", "given": ["sent"], "when": {"by": "carrier", "sign": "seal"},
             "then": {"verdict": "refused", "reasons": ["not-your-signature seal"]}}
            """#
        #expect(try faults(example) == [])
    }

    @Test(arguments: [
        (#""then": {"verdict": "accepted"}"#, ["expected accepted, got refused", "not-your-signature seal"]),
        (#""then": {"verdict": "refused"}"#, ["got “not-your-signature seal” besides"]),
        (#""then": {"verdict": "refused", "reasons": ["too-late seal"]}"#, ["expected “too-late seal”", "besides"]),
        (
            #""then": {"verdict": "refused", "reasons": ["not-your-signature seal", "not-your-signature seal"]}"#,
            ["which is not there"]
        ),
        (
            #""then": {"verdict": "refused", "reasons": ["not-your-signature"], "warnings": ["late-entry"]}"#,
            ["warnings: expected “late-entry”"]
        ),
    ])
    func failsWhatComesOutOtherwise(then: String, parts: [String]) throws {
        let found = try faults(
            #"{"example": "e", "given": ["sent"], "when": {"by": "carrier", "sign": "seal"}, \#(then)}"#
        )
        for part in parts { #expect(found.contains { $0.contains(part) }, "\(found)") }
    }

    @Test func saysWhichStepBeforeWasRefusedAndWhy() throws {
        let example = #"""
            {"example": "e", "given": ["sent", {"by": "carrier", "set": {"van": ""}}],
             "when": {"by": "carrier", "sign": "carrier"}, "then": {"verdict": "accepted"}}
            """#
        let found = try faults(example)
        #expect(found.count == 1)
        #expect(
            found.first?.contains("given[1]") == true && found.first?.contains("field-invalid van") == true,
            "\(found)"
        )
    }

    @Test func looksAtWhatItIsAskedFor() throws {
        let wrong = #"""
            {"example": "e", "given": ["sent"], "on": "2026-12-01T00:00:00.000Z",
             "then": {"overdue": ["x"], "contested": true, "gaps": ["carrier"], "duty": "producer", "keep": {"carrier": "2027-01-01"}}}
            """#
        #expect(try faults(wrong).count == 5)
        let right = #"""
            {"example": "e", "given": ["sent"], "on": "2026-12-01T00:00:00.000Z",
             "then": {"overdue": [], "contested": false, "gaps": [], "duty": null, "discrepancies": []}}
            """#
        #expect(try faults(right) == [])
    }

    /// An example, the kind of mistake in it and its place.
    @Test(arguments: [
        (
            #"{"example": "e", "given": ["sended"], "when": {"by": "carrier", "sign": "carrier"}, "then": {"verdict": "accepted"}}"#,
            "member-invalid", "examples[0].given[0]"
        ),
        (
            #"{"example": "e", "given": ["sent"], "when": {"by": "carier", "sign": "carrier"}, "then": {"verdict": "accepted"}}"#,
            "unknown-role", "examples[0].when.by"
        ),
        (
            #"{"example": "e", "given": ["sent"], "when": {"by": "carrier", "sign": "carier"}, "then": {"verdict": "accepted"}}"#,
            "unknown-stage", "examples[0].when.sign"
        ),
        (
            #"{"example": "e", "given": ["sent"], "when": {"by": "carrier", "set": {"vann": "x"}}, "then": {"verdict": "accepted"}}"#,
            "unknown-field", "examples[0].when.set"
        ),
        (
            #"{"example": "e", "given": [{"by": "producer", "set": {"items": [{"nam": "x"}]}}], "when": {"by": "carrier", "sign": "carrier"}, "then": {"verdict": "accepted"}}"#,
            "unknown-field", "examples[0].given[0].set.items"
        ),
        (
            #"{"example": "e", "given": ["sent"], "when": {"by": "carrier", "sign": "seal"}, "then": {"verdict": "refused", "reasons": ["not-yours seal"]}}"#,
            "unknown-code", "examples[0].then.reasons"
        ),
        (
            #"{"example": "e", "given": ["sent"], "on": "2026-12-01T00:00:00.000Z", "then": {"overdue": ["soon"]}}"#,
            "member-invalid", "examples[0].then.overdue"
        ),
        (
            #"{"example": "e", "given": ["sent"], "on": "2026-12-01T00:00:00.000Z", "then": {"keep": {"nobody": "2027-01-01"}}}"#,
            "unknown-role", "examples[0].then.keep"
        ),
    ])
    func namesWhatTheSchemeDoesNotHave(example: String, code: String, path: String) throws {
        let problems = try SchemeExamples(files: file(example)).problems(under: ParcelScheme.read())
        #expect(problems.map { "\($0.code.rawValue) \($0.path)" } == ["\(code) \(path)"])
        #expect(problems.allSatisfy { !$0.remedy.isEmpty && $0.file == "examples/one.json" })
    }

    @Test func letsARefusedStepNameWhatThereIsNot() throws {
        let example = #"""
            {"example": "e", "given": ["sent"], "when": {"by": "carrier", "set": {"vann": "x"}},
             "then": {"verdict": "refused", "reasons": ["field-unknown vann"]}}
            """#
        #expect(try SchemeExamples(files: file(example)).problems(under: ParcelScheme.read()).isEmpty)
        #expect(try faults(example) == [])
    }

    @Test(arguments: [
        (#"{"example": "e", "on": "2026-12-01", "then": {"overdue": []}}"#, "examples[0].on"),
        (#"{"example": "e", "on": "2026-12-01T00:00:00.000Z", "when": {}, "then": {"overdue": []}}"#, "examples[0]"),
        (
            #"{"example": "e", "when": {"by": "producer", "set": {"value": 2.5}}, "then": {"verdict": "accepted"}}"#,
            "examples[0].when.set.value"
        ),
        (
            #"{"example": "e", "when": {"by": "producer", "open": true, "note": "x"}, "then": {"verdict": "accepted"}}"#,
            "examples[0].when"
        ),
        (
            #"{"example": "e", "when": {"by": "producer", "opne": true}, "then": {"verdict": "accepted"}}"#,
            "examples[0].when.opne"
        ),
    ])
    func saysWhereItsFormIsWrong(example: String, path: String) {
        let error = #expect(throws: SchemeError.self) { try SchemeExamples(files: file(example)) }
        #expect(error?.problems.contains { $0.path == path } == true, "\(error?.problems.map(\.path) ?? [])")
    }

    /// Twelve backgrounds of four each would stand for sixteen million steps.
    @Test func endsWhereBackgroundsFanOut() throws {
        var parts = [#""b12": [{"by": "producer", "note": "x"}]"#]
        for level in 0..<12 {
            let inner = Array(repeating: "\"b\(level + 1)\"", count: 4).joined(separator: ", ")
            parts.append("\"b\(level)\": [\(inner)]")
        }
        let example = #"""
            {"example": "e", "given": [{"by": "producer", "open": true}, "b0"],
             "when": {"by": "producer", "note": "z"}, "then": {"verdict": "accepted"}}
            """#
        let examples = try SchemeExamples(files: file(example, parts.joined(separator: ", ")))
        let found = try examples.run(under: ParcelScheme.read(), Self.offsets).flatMap(\.faults)
        #expect(found.count == 1 && found.first?.contains("at most 1000 steps") == true, "\(found)")
    }

    /// Times and lengths beyond all bounds are mistakes, not traps.
    @Test(arguments: [
        #"{"by": "producer", "delegate": ["producer"], "party": "x", "hours": 9007199254740991}"#,
        #"{"by": "producer", "delegate": ["producer"], "party": "x", "hours": "2"}"#,
        #"{"by": "producer", "offer": "pickup", "lasts": 9007199254740991}"#,
        #"{"by": "producer", "note": "x", "at": "9999-12-31T23:59:59.999Z"}"#,
        #"{"by": "@", "note": "x"}"#, #"{"by": ":", "note": "x"}"#, #"{"by": "", "note": "x"}"#,
    ])
    func survivesOddSteps(step: String) throws {
        let example = #"""
            {"example": "e", "given": ["sent", \#(step), {"by": "producer", "note": "y"}],
             "when": {"by": "producer", "note": "z"}, "then": {"verdict": "accepted"}}
            """#
        #expect(try !faults(example).isEmpty)
    }
}
