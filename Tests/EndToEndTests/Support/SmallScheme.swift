import Foundation

/// A scheme with one of everything, in few lines: what tests of `tally scheme` change and break.
enum SmallScheme {
    /// `scheme.json`.
    static let scheme = #"""
        {
          "scheme": "tool-loan", "version": 1, "title": "A borrowed tool", "source": "The workshop's rules",
          "roles": [
            {"role": "lender", "title": "Lender", "opens": true, "admits": ["witness"], "retention": {"years": 2, "from": "closed"}},
            {"role": "borrower", "title": "Borrower", "repeats": true, "closes": true},
            {"role": "witness", "title": "Witness", "custody": false}
          ],
          "codeLists": ["conditions"],
          "fields": [
            {"field": "tool", "owner": "lender", "title": "Tool", "type": "text", "minimumLength": 2, "maximumLength": 80, "correct": ["borrower"]},
            {"field": "serial", "owner": "lender", "title": "Serial number", "help": "On the plate.", "type": "identifier",
             "patterns": [{"name": "plate", "pattern": "[A-Z]{2}[0-9]{4}"}], "maximumLength": 6, "external": "Stock list", "sealed": false},
            {"field": "lentOn", "owner": "lender", "title": "Lent on", "type": "date"},
            {"field": "weight", "owner": "lender", "title": "Weight", "type": "decimal", "units": ["kg", "g"], "above": "0", "maximum": "500", "decimals": 3},
            {"field": "insured", "owner": "lender", "title": "Insured", "type": "boolean", "must": true},
            {"field": "state", "owner": "lender", "title": "Condition", "type": "code", "list": "conditions"},
            {"field": "parts", "owner": "lender", "title": "Parts", "type": "entries", "many": {"minimum": 1, "maximum": 9},
             "fields": [{"field": "name", "title": "Name", "help": "In a word.", "type": "text", "maximumLength": 40, "required": true},
                        {"field": "count", "title": "Number", "type": "integer", "minimum": 1, "many": {"maximum": 2}},
                        {"field": "length", "title": "Length", "type": "identifier", "patterns": [{"name": "cm", "pattern": "[0-9]+ cm"}]},
                        {"field": "material", "title": "Material", "type": "code", "list": "conditions"}]},
            {"field": "returnedOn", "owner": "borrower", "title": "Returned on", "type": "date"},
            {"field": "found", "owner": "borrower", "title": "Weight found", "type": "decimal", "units": ["kg"]},
            {"field": "whole", "owner": "borrower", "title": "All pieces", "type": "integer", "minimum": 0, "maximum": 99},
            {"field": "good", "owner": "borrower", "title": "Good pieces", "type": "integer"},
            {"field": "broken", "owner": "borrower", "title": "Broken pieces", "type": "integer"},
            {"field": "seen", "owner": "witness", "title": "Seen", "type": "boolean"}
          ],
          "lines": [
            {"lines": "bits", "owner": "lender", "title": "Drill bits", "minimum": 1, "maximum": 20, "fields": [
              {"field": "size", "title": "Size", "type": "integer", "minimum": 1, "maximum": 40},
              {"field": "mass", "title": "Mass", "type": "decimal", "units": ["g"]}
            ]}
          ],
          "rules": [
            {"rule": "tool-named", "at": ["lender"], "require": ["tool", "state"], "says": "Say which tool it is."},
            {"rule": "worn-tool-weighed", "at": ["lender"], "when": {"field": "state", "flag": "worn", "is": true},
             "require": ["weight"], "says": "Weigh a worn tool."},
            {"rule": "light-enough", "at": ["lender"], "when": {"field": "weight", "present": true},
             "that": {"field": "weight", "atMost": {"amount": "40", "unit": "kg"}}, "severity": "warning", "says": "Look at the weight."},
            {"rule": "bits-sized", "at": ["lender"], "each": "bits", "require": ["size"], "says": "Give the size of each bit."}
          ],
          "signatures": [
            {"signature": "lender", "role": "lender", "title": "Lender", "statement": "I lend this tool.", "delegable": true, "paper": ["borrower"]},
            {"signature": "borrower", "role": "borrower", "title": "Borrower", "statement": "I have the tool.",
             "after": ["lender"], "before": ["witness"], "notBefore": ["lending"]},
            {"signature": "witness", "role": "witness", "title": "Witness", "statement": "I saw it.", "after": [{"stage": "lending", "missing": "warning"}]}
          ],
          "handoffs": [
            {"handoff": "lending", "from": "lender", "to": "borrower", "title": "Lending", "after": ["lender"], "seals": true},
            {"handoff": "passing-on", "from": "borrower", "to": "borrower", "title": "Passing on", "after": ["borrower"], "lasts": 600, "longest": 3600}
          ],
          "checks": [
            {"check": "weight-differs", "at": ["borrower"], "declared": "weight", "received": "found", "tolerancePercent": "5",
             "when": {"field": "state", "is": "used"}, "says": "Weigh it again."},
            {"check": "adds-up", "at": ["borrower"], "whole": "whole", "parts": ["good", "broken"], "says": "Count again."}
          ],
          "links": [
            {"link": "bits-go-on", "kind": "split-to", "title": "Bits lent on", "role": ["borrower"], "after": ["borrower"], "conserves": "bits/*/mass", "why": true}
          ],
          "cancelling": {"roles": ["lender"], "before": ["lending"]},
          "closing": [
            {"outcome": "returned", "title": "Returned", "roles": ["borrower"], "after": ["borrower"]},
            {"outcome": "lost", "title": "Lost", "roles": ["borrower"], "why": true, "dutyTo": "lender"}
          ],
          "lateEntry": {"roles": ["lender"], "longest": {"days": 3}},
          "deadlines": [
            {"deadline": "signed", "title": "Signed", "role": "borrower", "from": "lending", "until": "borrower",
             "within": {"workingDays": 2}, "zone": "Europe/London", "calendar": "workshop", "says": "Sign within two working days."},
            {"deadline": "back", "title": "Back", "role": "borrower", "from": {"field": "lentOn"}, "until": "closed",
             "when": {"field": "returnedOn", "present": false}, "within": {"months": 1}, "zone": "UTC", "says": "Bring it back."}
          ],
          "calendars": [
            {"calendar": "workshop", "title": "Workshop", "source": "The board", "weekend": [7], "from": "2026-01-01",
             "until": "2026-12-31", "holidays": ["2026-12-25"]}
          ]
        }
        """#

    /// `codes/conditions.json`.
    static let codes = #"""
        {
          "list": "conditions",
          "title": "Conditions",
          "source": "The workshop's own",
          "codes": {
            "new": {"title": "New"},
            "used": {"title": "Used", "from": "2020-01-01", "until": "2030-12-31", "worn": true}
          }
        }
        """#

    /// `examples/lending.json`.
    static let examples = #"""
        {
          "topic": "lending",
          "backgrounds": {"opened": [{"by": "lender", "open": true}]},
          "examples": [
            {"example": "tool-is-named", "given": ["opened"], "when": {"by": "lender", "sign": "lender"},
             "then": {"verdict": "refused", "reasons": ["missing-field tool", "missing-field state", "missing-field bits"]}}
          ]
        }
        """#

    /// Writes the folder, each text changed first.
    static func write(
        _ folder: String,
        in world: World,
        _ change: (_ file: String, _ text: String) -> String = { _, text in text }
    ) throws {
        for (file, text) in [
            ("scheme.json", scheme), ("codes/conditions.json", codes), ("examples/lending.json", examples),
        ] {
            let path = world.file("\(folder)/\(file)")
            let inside = URL(fileURLWithPath: path).deletingLastPathComponent().path
            try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: true)
            try world.write(change(file, text), to: "\(folder)/\(file)")
        }
    }
}
