import Tallystick
import Testing

/// A small scheme of every kind of field, condition and check, in which a courier takes a parcel before the sender signs.
enum ParcelScheme {
    static func read() throws -> Scheme {
        try Scheme(scheme: Array(text.utf8), codeLists: [("services", Array(services.utf8))])
    }

    /// The scheme with some text replaced; expects the text to be there.
    static func read(replacing old: String, with new: String) throws -> Scheme {
        try #require(text.contains(old), "the scheme has no \(old)")
        return try Scheme(
            scheme: Array(text.replacing(old, with: new).utf8),
            codeLists: [("services", Array(services.utf8))]
        )
    }

    static let services = #"""
        {"list": "services", "title": "Services", "codes": {
            "day": {"title": "By day", "insured": true}, "slow": {"until": "2026-11-30"},
            "night": {"title": "By night", "from": "2026-12-01", "until": "2026-12-31", "insured": false}
        }}
        """#

    static let text = #"""
        {"scheme": "parcel", "version": 3, "title": "Parcel", "source": "none", "codeLists": ["services"],
         "roles": [
            {"role": "producer", "title": "Sender", "opens": true},
            {"role": "carrier", "title": "Courier", "repeats": true},
            {"role": "receiver", "title": "Recipient", "closes": true}
         ],
         "fields": [
            {"field": "label", "owner": "producer", "title": "Label", "type": "text", "minimumLength": 2, "maximumLength": 5},
            {"field": "pieces", "owner": "producer", "title": "Pieces", "type": "integer", "minimum": -1, "maximum": 9},
            {"field": "value", "owner": "producer", "title": "Value", "type": "decimal", "minimum": "0.5", "maximum": "100", "decimals": 2},
            {"field": "weight", "owner": "producer", "title": "Weight", "type": "decimal", "units": ["kg", "g"], "above": "0", "maximum": "30", "decimals": 3},
            {"field": "fragile", "owner": "producer", "title": "Fragile", "type": "boolean"},
            {"field": "agreed", "owner": "producer", "title": "Agreed", "type": "boolean", "must": true},
            {"field": "due", "owner": "producer", "title": "Due", "type": "date"},
            {"field": "packedAt", "owner": "producer", "title": "Packed", "type": "datetime"},
            {"field": "service", "owner": "producer", "title": "Service", "type": "code", "list": "services"},
            {"field": "services", "owner": "producer", "title": "Services", "type": "code", "list": "services",
             "many": {"minimum": 1, "maximum": 2}},
            {"field": "code", "owner": "producer", "title": "Code", "type": "identifier",
             "patterns": [{"name": "two letters", "pattern": "[A-Z]{2}"}, {"name": "digits", "pattern": "[0-9]+"}],
             "maximumLength": 4},
            {"field": "van", "owner": "carrier", "title": "Van", "type": "text", "maximumLength": 20},
            {"field": "weighed", "owner": "receiver", "title": "Weighed", "type": "decimal", "units": ["kg", "g"]}
         ],
         "lines": [
            {"lines": "items", "owner": "producer", "title": "Items", "minimum": 0, "maximum": 2, "fields": [
                {"field": "name", "title": "Name", "type": "text", "maximumLength": 20},
                {"field": "mass", "title": "Mass", "type": "decimal", "units": ["kg", "g"]}
            ]}
         ],
         "rules": [],
         "signatures": [
            {"signature": "producer", "role": "producer", "title": "Sender", "statement": "I send this."},
            {"signature": "seal", "role": "producer", "title": "Seal", "statement": "I sealed it.", "after": ["producer"]},
            {"signature": "carrier", "role": "carrier", "title": "Courier", "statement": "I carry this.", "after": ["producer"]},
            {"signature": "receiver", "role": "receiver", "title": "Recipient", "statement": "I have it."}
         ],
         "handoffs": [
            {"handoff": "pickup", "from": "producer", "to": "carrier", "title": "Pickup", "longest": 3600},
            {"handoff": "drop", "from": "carrier", "to": "receiver", "title": "Drop", "after": ["producer"]},
            {"handoff": "relay", "from": "carrier", "to": "carrier", "title": "Relay", "after": ["carrier"]}
         ],
         "checks": [
            {"check": "weight-differs", "at": ["receiver"], "declared": "weight", "received": "weighed",
             "tolerancePercent": "5", "says": "The weight differs."}
         ]}
        """#
}
