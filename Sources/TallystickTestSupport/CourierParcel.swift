package import Tallystick

/// A small scheme that does not ship, in versions that differ as a compliance officer's do.
///
/// Version 2 asks for the parcel's value before the sender signs, lets the service `night` end with 30 November 2026 and
/// begin `drone` on 1 December.
package enum CourierParcel {
    /// Its id.
    package static let id = "courier-parcel"

    /// The scheme, read.
    package static func scheme(version: Int) throws -> Scheme {
        try Scheme(
            scheme: Array(text(version: version).utf8),
            codeLists: [("services", Array(services(version: version).utf8))]
        )
    }

    /// The text of `codes/services.json`.
    package static func services(version: Int) -> String {
        let changed =
            version == 1
            ? #""night": {"title": "By night"}"#
            : #""night": {"title": "By night", "until": "2026-11-30"}, "drone": {"title": "By air", "from": "2026-12-01"}"#
        return #"{"list": "services", "title": "Services", "codes": {"day": {"title": "By day"}, \#(changed)}}"#
    }

    /// The text of `scheme.json`.
    ///
    /// - Parameter title: What it is called; another title makes another scheme of the same id and version.
    package static func text(version: Int, title: String = "Parcel by courier") -> String {
        let required = version == 1 ? #""contents", "service""# : #""contents", "service", "value""#
        return #"""
            {
              "scheme": "courier-parcel",
              "version": \#(version),
              "title": "\#(title)",
              "source": "The couriers' agreement",
              "codeLists": ["services"],
              "roles": [
                {"role": "sender", "title": "Sender", "custody": true, "opens": true},
                {"role": "courier", "title": "Courier", "custody": true, "repeats": true},
                {"role": "recipient", "title": "Recipient", "custody": true, "closes": true}
              ],
              "fields": [
                {"field": "contents", "owner": "sender", "title": "Contents", "type": "text", "maximumLength": 80},
                {"field": "service", "owner": "sender", "title": "Service", "type": "code", "list": "services"},
                {"field": "value", "owner": "sender", "title": "Value in euros", "type": "integer", "minimum": 0},
                {"field": "van", "owner": "courier", "title": "Van", "type": "text", "maximumLength": 20},
                {"field": "seal", "owner": "recipient", "title": "Seal found", "type": "boolean"}
              ],
              "rules": [
                {"rule": "parcel-described", "at": ["sender"], "require": [\#(required)], "says": "Describe the parcel."}
              ],
              "signatures": [
                {"signature": "sender", "role": "sender", "title": "Sender", "statement": "I send this parcel."},
                {"signature": "courier", "role": "courier", "title": "Courier", "statement": "I carry this parcel.", "after": ["sender"]},
                {"signature": "recipient", "role": "recipient", "title": "Recipient", "statement": "I have this parcel."}
              ],
              "handoffs": [
                {"handoff": "pickup", "from": "sender", "to": "courier", "title": "Pickup", "after": ["sender"]},
                {"handoff": "delivery", "from": "courier", "to": "recipient", "title": "Delivery", "after": ["courier"]}
              ]
            }
            """#
    }
}
