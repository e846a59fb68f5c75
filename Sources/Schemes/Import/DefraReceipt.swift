import Tallystick

/// The body of Defra's receipt-of-movement interface (Digital Waste Tracking, Receipt API), as values of the
/// waste transfer note.
///
/// A receipt is the receiver's account of what arrived. Read for the producer, its waste items are what is declared.
enum DefraReceipt {
    /// Whether a JSON object has the shape: its items are under `wasteItems`, with a weight that has a `metric`.
    static func recognises(_ json: JSON) -> Bool {
        guard let items = json["wasteItems"]?.elements, json["receipt"] != nil || json["dateTimeReceived"] != nil else {
            return false
        }
        return items.allSatisfy { $0.members != nil }
    }

    static func read(_ json: JSON, scheme: Scheme, role: Name) -> ValuesFile {
        var reading = ReceiptReading(scheme: scheme, role: role)
        reading.read(json)
        return ValuesFile(shape: .defraReceipt, changes: reading.changes, unused: reading.unused)
    }
}

private struct ReceiptReading {
    let scheme: Scheme
    let role: Name
    var changes: [EventContent.FieldChange] = []
    var unused: [ValuesFile.Unused] = []
    var used: Set<String> = []

    /// Where the receipt's single values go: pointers into the body, and fields.
    static let single: [(pointer: String, field: String)] = [
        ("/dateTimeReceived", "receivedAt"),
        ("/carrier/organisationName", "carrierName"),
        ("/carrier/address/fullAddress", "carrierAddress"),
        ("/carrier/registrationNumber", "registrationNumber"),
        ("/carrier/reasonForNoRegistrationNumber", "noRegistrationReason"),
        ("/carrier/meansOfTransport", "meansOfTransport"),
        ("/carrier/vehicleRegistration", "vehicleRegistration"),
        ("/brokerOrDealer/organisationName", "brokerName"),
        ("/brokerOrDealer/registrationNumber", "brokerRegistration"),
        ("/receiver/siteName", "receiverName"),
        ("/receiver/emailAddress", "emailAddress"),
        ("/receiver/authorisationNumber", "siteAuthorisation"),
        ("/receipt/address/fullAddress", "receiverAddress"),
        ("/receipt/address/postcode", "receiverPostcode"),
    ]

    /// Where a waste item's values go, for the two roles that have lines of waste.
    static let ofItem: [(pointer: String, producer: String?, receiver: String?)] = [
        ("/ewcCodes", "ewcCodes", "ewcCodes"),
        ("/wasteDescription", "description", "description"),
        ("/physicalForm", "physicalForm", "physicalForm"),
        ("/numberOfContainers", "containerCount", "containerCount"),
        ("/typeOfContainers", "containerType", "containerType"),
        ("/weight", "quantity", "weight"),
        ("/weight/isEstimate", "isEstimate", "isEstimate"),
        ("/containsHazardous", nil, "containsHazardous"),
        ("/hazardous/hazCodes", nil, "hazardCodes"),
        ("/hazardous/sourceOfComponents", nil, "hazardSource"),
        ("/containsPops", nil, "containsPops"),
        ("/pops/sourceOfComponents", nil, "popSource"),
        ("/disposalOrRecoveryCodes/0/code", nil, "treatmentCode"),
        ("/disposalOrRecoveryCodes/0/weight", nil, "treatmentWeight"),
        ("/disposalOrRecoveryCodes/0/weight/isEstimate", nil, "treatmentIsEstimate"),
    ]

    mutating func read(_ json: JSON) {
        for (pointer, field) in ReceiptReading.single { take(pointer, of: json, as: field) }
        for (index, _) in (json["wasteItems"]?.elements ?? []).enumerated() {
            for (suffix, producer, receiver) in ReceiptReading.ofItem {
                let pointer = "/wasteItems/\(index)\(suffix)"
                if role.text == "producer", let producer {
                    take(pointer, of: json, as: "wasteItems/\(index + 1)/\(producer)")
                } else if let receiver {
                    take(pointer, of: json, as: "receivedItems/\(index + 1)/\(receiver)")
                }
            }
        }
        for leaf in ValuesFile.leaves(of: json, at: "") where !used.contains(leaf.pointer) {
            if sameBytes(leaf.pointer, "/apiCode") {
                leave([leaf], "not-about-the-load", "it identifies the sender to the interface")
            } else {
                leave([leaf], "no-field", "the scheme \(scheme.reference.id) has no field for it")
            }
        }
    }

    private static func find(_ pointer: String, in json: JSON) -> JSON? {
        var value: JSON? = json
        for part in pointer.split(separator: "/") {
            if let elements = value?.elements {
                value = Int(part).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            } else {
                value = value?[String(part)]
            }
        }
        return value
    }

    private mutating func take(_ pointer: String, of json: JSON, as field: String) {
        guard let found = ReceiptReading.find(pointer, in: json), !found.isNull, let path = FieldPath(field),
            let rule = scheme.field(path)
        else { return }
        var leaves = ValuesFile.leaves(of: found, at: pointer)
        // Of a weight these two are read here; whether it is an estimate is a field of its own.
        if case .decimal = rule.type { leaves.removeAll { !["metric", "amount"].contains($0.pointer.lastName) } }
        if rule.owner != role {
            leave(leaves, "other-role", "the \(rule.owner) sets it: \(path)")
        } else if let value = value(found, for: rule) {
            changes.append(EventContent.FieldChange(path: path, value: value))
        } else {
            leave(leaves, "not-a-value", "it cannot be read as \(path)")
        }
        for leaf in leaves { used.insert(leaf.pointer) }
    }

    private mutating func leave(_ leaves: [(pointer: String, value: JSON)], _ reason: String, _ detail: String) {
        for leaf in leaves {
            unused.append(
                ValuesFile.Unused(
                    pointer: leaf.pointer,
                    value: Scheme.text(of: leaf.value),
                    reason: reason,
                    detail: detail
                )
            )
        }
    }

    private func value(_ json: JSON, for field: Scheme.Field) -> JSON? {
        switch field.type {
        case .decimal: return weight(json)
        case .datetime:
            guard let moment = json.text.flatMap(Timestamp.typed) else { return nil }
            return .string(moment.description)
        case .code:
            // The interface writes “Inland Waterway”; codes have no spaces.
            guard let text = json.text else { return json.elements == nil ? nil : json }
            return .string(String(text.filter { $0 != " " }))
        default: return json
        }
    }

    /// `{"metric":"Tonnes","amount":2.5}`: the number's own text is the decimal, so nothing is rounded.
    private func weight(_ json: JSON) -> JSON? {
        let units = ["Grams": "g", "Kilograms": "kg", "Tonnes": "t"]
        guard case .number(let amount)? = json["amount"], DecimalNumber(amount) != nil,
            let unit = json["metric"]?.text.flatMap({ units[$0] })
        else { return nil }
        return .members([("amount", .string(amount)), ("unit", .string(unit))])
    }
}

extension String {
    /// What follows the last slash of a pointer.
    fileprivate var lastName: String { split(separator: "/").last.map(String.init) ?? self }
}
