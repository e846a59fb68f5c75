import Foundation
import Tallystick
import Testing

@testable import TallyCommand

/// Conditions and rules in words.
@Suite struct SchemeWordsTests {
    /// A scheme with one rule, judged for rows where it says so.
    private func scheme(_ rule: String) throws -> Scheme {
        let text = #"""
            {"scheme": "words", "version": 1, "title": "Words", "source": "A test", "codeLists": ["means"],
             "roles": [{"role": "owner", "title": "Owner", "opens": true}],
             "fields": [
               {"field": "means", "owner": "owner", "title": "Means", "type": "code", "list": "means"},
               {"field": "ways", "owner": "owner", "title": "Ways", "type": "code", "list": "means", "many": {"maximum": 3}},
               {"field": "weight", "owner": "owner", "title": "Weight", "type": "decimal", "units": ["kg"]},
               {"field": "other", "owner": "owner", "title": "Other", "type": "decimal", "units": ["kg"]},
               {"field": "day", "owner": "owner", "title": "Day", "type": "date"},
               {"field": "number", "owner": "owner", "title": "Number", "type": "identifier",
                "patterns": [{"name": "Scotland", "pattern": "S[0-9]"}]},
               {"field": "sealed", "owner": "owner", "title": "Sealed", "type": "boolean"}
             ],
             "lines": [{"lines": "items", "owner": "owner", "title": "Items", "maximum": 9, "fields": [
               {"field": "weight", "title": "Weight", "type": "decimal", "units": ["kg"]},
               {"field": "kind", "title": "Kind", "type": "text", "maximumLength": 9}
             ]}],
             "rules": [{"rule": "it", "at": ["owner"], "says": "Do it.", \#(rule)}],
             "signatures": [{"signature": "owner", "role": "owner", "title": "Owner", "statement": "Yes."}],
             "handoffs": []}
            """#
        let codes = #"{"list": "means", "title": "Means", "codes": {"Road": {"wheels": true}, "Rail": {}, "Sea": {}}}"#
        return try Scheme(scheme: Array(text.utf8), codeLists: [("means", Array(codes.utf8))])
    }

    private func sentence(_ rule: String) throws -> String {
        let scheme = try scheme(rule)
        let first = try #require(scheme.rules.first)
        return SchemeWords(scheme: scheme).sentence(of: first)
    }

    @Test(
        "says each condition in words",
        arguments: [
            (#"{"field": "means", "is": "Road"}"#, "means is Road"),
            (#"{"field": "means", "isNot": "Road"}"#, "means is not Road"),
            (#"{"field": "sealed", "is": true}"#, "sealed is yes"),
            (#"{"field": "weight", "is": {"field": "other"}}"#, "weight is the same as other"),
            (#"{"field": "weight", "isNot": {"field": "other"}}"#, "weight is not the same as other"),
            (#"{"field": "means", "in": ["Road", "Rail"]}"#, "means is Road or Rail"),
            (#"{"field": "means", "in": ["Road", "Rail", "Sea"]}"#, "means is one of Road, Rail or Sea"),
            (#"{"not": {"field": "means", "in": ["Road", "Rail"]}}"#, "means is none of Road and Rail"),
            (#"{"field": "weight", "present": true}"#, "weight is given"),
            (#"{"field": "weight", "present": false}"#, "weight is not given"),
            (#"{"not": {"field": "weight", "present": true}}"#, "weight is not given"),
            (#"{"field": "means", "flag": "wheels", "is": true}"#, "means is marked wheels"),
            (#"{"field": "ways", "flag": "wheels", "is": true}"#, "a code of ways is marked wheels"),
            (#"{"not": {"field": "ways", "flag": "wheels", "is": true}}"#, "no code of ways is marked wheels"),
            (#"{"field": "number", "form": "Scotland"}"#, "number has the form “Scotland”"),
            (#"{"not": {"field": "number", "form": "Scotland"}}"#, "number does not have the form “Scotland”"),
            (#"{"field": "weight", "above": {"amount": "1.50", "unit": "kg"}}"#, "weight is more than 1.50 kg"),
            (#"{"field": "weight", "atMost": {"field": "other"}}"#, "weight is at most other"),
            (#"{"field": "day", "below": "2026-11-30"}"#, "day is earlier than 2026-11-30"),
            (#"{"field": "day", "atLeast": "2026-11-30"}"#, "day is not earlier than 2026-11-30"),
            (
                #"{"not": {"field": "weight", "below": {"amount": "1", "unit": "kg"}}}"#,
                "it is not so that weight is less than 1 kg"
            ),
            (#"{"signed": "owner"}"#, "the signature owner is there"),
            (#"{"not": {"signed": "owner"}}"#, "the signature owner is not there"),
            (
                #"{"some": "items", "where": {"field": "kind", "present": true}}"#,
                "in at least one row of items, kind is given"
            ),
            (
                #"{"not": {"some": "items", "where": {"field": "kind", "present": true}}}"#,
                "in no row of items, kind is given"
            ),
            (
                #"{"every": "items", "where": {"field": "/weight", "present": true}}"#,
                "in every row of items, weight outside the rows is given"
            ),
            (
                #"{"all": [{"field": "sealed", "is": true}, {"any": [{"field": "weight", "present": true}, {"field": "other", "present": true}]}]}"#,
                "sealed is yes and (weight is given or other is given)"
            ),
            (
                #"{"not": {"any": [{"field": "weight", "present": true}, {"field": "other", "present": true}]}}"#,
                "none of these holds: weight is given; other is given"
            ),
            (
                #"{"not": {"all": [{"field": "weight", "present": true}, {"field": "other", "present": true}]}}"#,
                "not all of these hold: weight is given; other is given"
            ),
            (#"{"not": {"not": {"field": "sealed", "is": true}}}"#, "sealed is yes"),
        ]
    )
    func saysConditions(json: String, words: String) throws {
        let scheme = try scheme(#""that": \#(json)"#)
        guard case .that(let condition)? = scheme.rules.first?.demand else {
            Issue.record("expected a condition")
            return
        }
        #expect(SchemeWords(scheme: scheme).condition(condition) == words)
    }

    @Test(
        "says each kind of rule as a sentence",
        arguments: [
            (#""require": ["weight"]"#, "Always, weight has to be given."),
            (#""require": ["weight", "day", "means"]"#, "Always, weight, day and means have to be given."),
            (
                #""when": {"field": "means", "is": "Road"}, "forbid": ["day"]"#,
                "When means is Road, day must not be given."
            ),
            (
                #""each": "items", "when": {"field": "kind", "present": true}, "require": ["weight"]"#,
                "In each row of items, when kind is given, weight has to be given."
            ),
            (
                #""each": "items", "that": {"field": "weight", "atMost": {"field": "/weight"}}"#,
                "In each row of items, it has to be so that weight is at most weight outside the rows."
            ),
            (
                #""when": {"some": "items", "where": {"field": "kind", "present": true}}, "require": ["day"]"#,
                "When in at least one row of items, kind is given: day has to be given."
            ),
        ]
    )
    func saysRules(rule: String, words: String) throws {
        #expect(try sentence(rule) == words)
    }

    @Test func saysDurations() {
        #expect(SchemeWords.duration(900) == "15 minutes")
        #expect(SchemeWords.duration(3_600) == "1 hour")
        #expect(SchemeWords.duration(86_400) == "24 hours")
        #expect(SchemeWords.duration(90) == "90 seconds")
        #expect(SchemeWords.period(Period(count: 1, unit: .workingDays)) == "1 working day")
        #expect(SchemeWords.list(["a", "b", "c"]) == "a, b and c" && SchemeWords.list(["a"]) == "a")
    }
}
