import Tallystick

/// The body of Defra's receipt-of-movement interface (Digital Waste Tracking, Receipt API), as values of the waste
/// transfer note or the hazardous waste consignment note.
///
/// A receipt is the receiver's account of what arrived. Read for the producer, its waste items are what is declared.
enum DefraReceipt {
    /// Whether a JSON object has the shape: its items are under `wasteItems`, beside a receipt or its time.
    static func recognises(_ json: JSON) -> Bool {
        guard let items = json["wasteItems"]?.elements, json["receipt"] != nil || json["dateTimeReceived"] != nil else {
            return false
        }
        return items.allSatisfy { $0.members != nil }
    }

    static func read(_ json: JSON, scheme: Scheme, role: Name) -> ValuesFile {
        var receipt = ReceiptReading(reading: ForeignReading(json, scheme: scheme, role: role))
        receipt.read()
        return receipt.reading.finish(.defraReceipt) { place in
            switch place {
            case "/apiCode": ForeignReading.Why("not-about-the-load", "it identifies the sender to the interface")
            case "/reasonForNoConsignmentCode":
                ForeignReading.Why("no-field", "no waste in the file is hazardous, or the note has a code")
            default: nil
            }
        }
    }
}

private struct ReceiptReading {
    var reading: ForeignReading

    /// Where the receipt's single values go: pointers into the body, and the fields of either scheme.
    ///
    /// Where both schemes have a field of the name, the role that owns it may differ: the broker's name is entered by
    /// the producer in the waste note and by the broker in the consignment note.
    static let single: [(pointer: String, fields: [String])] = [
        ("/dateTimeReceived", ["receivedAt"]),
        ("/hazardousWasteConsignmentCode", ["receivedConsignmentCode", "consignmentCode"]),
        ("/yourUniqueReference", ["receiptReference"]),
        ("/specialHandlingRequirements", ["specialHandling"]),
        ("/carrier/organisationName", ["carrierName"]),
        ("/carrier/address/fullAddress", ["carrierAddress"]),
        ("/carrier/address/postcode", ["carrierPostcode"]),
        ("/carrier/emailAddress", ["carrierEmailAddress"]),
        ("/carrier/phoneNumber", ["carrierPhone"]),
        ("/carrier/registrationNumber", ["registrationNumber"]),
        ("/carrier/reasonForNoRegistrationNumber", ["noRegistrationReason"]),
        ("/carrier/meansOfTransport", ["meansOfTransport"]),
        ("/carrier/vehicleRegistration", ["vehicleRegistration"]),
        ("/brokerOrDealer/organisationName", ["brokerName"]),
        ("/brokerOrDealer/registrationNumber", ["brokerRegistration", "brokerNumber"]),
        ("/brokerOrDealer/address/fullAddress", ["brokerAddress"]),
        ("/brokerOrDealer/address/postcode", ["brokerPostcode"]),
        ("/brokerOrDealer/emailAddress", ["brokerEmailAddress"]),
        ("/brokerOrDealer/phoneNumber", ["brokerPhone"]),
        ("/receiver/siteName", ["receiverName"]),
        ("/receiver/emailAddress", ["emailAddress"]),
        ("/receiver/phoneNumber", ["receiverPhone"]),
        ("/receiver/authorisationNumber", ["siteAuthorisation"]),
        ("/receiver/regulatoryPositionStatements", ["positionStatements"]),
        ("/receipt/address/fullAddress", ["receiverAddress"]),
        ("/receipt/address/postcode", ["receiverPostcode"]),
    ]

    /// Where a waste item's single values go, for the receiver's lines; the producer's have another name for weight.
    static let ofItem: [(pointer: String, field: String)] = [
        ("/ewcCodes", "ewcCodes"), ("/wasteDescription", "description"), ("/physicalForm", "physicalForm"),
        ("/numberOfContainers", "containerCount"), ("/typeOfContainers", "containerType"),
        ("/weight/isEstimate", "isEstimate"), ("/containsHazardous", "containsHazardous"),
        ("/hazardous/hazCodes", "hazardCodes"), ("/hazardous/sourceOfComponents", "hazardSource"),
        ("/containsPops", "containsPops"), ("/pops/sourceOfComponents", "popSource"),
        ("/disposalOrRecoveryCodes/0/code", "treatmentCode"),
        ("/disposalOrRecoveryCodes/0/weight/isEstimate", "treatmentIsEstimate"),
    ]

    mutating func read() {
        for (pointer, fields) in ReceiptReading.single { take(pointer, as: fields) }
        reading.takeEntries(
            reading.elements("/otherReferencesForMovement").map { ($0, []) },
            as: ["otherReferences"],
            [ForeignReading.EntryMember("/label", "label"), ForeignReading.EntryMember("/reference", "reference")]
        )
        for (index, item) in reading.elements("/wasteItems").enumerated() { readItem(item, number: index + 1) }
        readReasonForNoCode()
    }

    private mutating func readItem(_ item: String, number: Int) {
        func paths(_ field: String, declared: String? = nil) -> [String] {
            ["receivedItems/\(number)/\(field)", "wasteItems/\(number)/\(declared ?? field)"]
        }
        for (pointer, field) in ReceiptReading.ofItem { take(item + pointer, as: paths(field)) }
        takeWeight("\(item)/weight", as: paths("weight", declared: "quantity"))
        takeWeight("\(item)/disposalOrRecoveryCodes/0/weight", as: paths("treatmentWeight"))
        let concentration = ForeignReading.EntryMember("/concentration", "concentration") {
            ForeignReading.amount($0, "mg/kg")
        }
        reading.takeEntries(
            reading.elements("\(item)/hazardous/components").map { ($0, []) },
            as: paths("hazardousComponents"),
            [ForeignReading.EntryMember("/name", "name"), concentration]
        )
        reading.takeEntries(
            reading.elements("\(item)/pops/components").map { ($0, []) },
            as: paths("popComponents"),
            [ForeignReading.EntryMember("/code", "code"), concentration]
        )
        reading.takeEntries(
            reading.elements("\(item)/disposalOrRecoveryCodes").dropFirst().map { ($0, []) },
            as: paths("furtherTreatments"),
            [
                ForeignReading.EntryMember("/code", "code"),
                ForeignReading.EntryMember("/weight", "weight", of: ["/metric", "/amount"]) {
                    ReceiptReading.weight($0, in: ["kg", "t", "g"])
                },
                ForeignReading.EntryMember("/weight/isEstimate", "isEstimate"),
            ]
        )
    }

    /// The interface has one reason for the movement, the note one for each hazardous waste.
    private mutating func readReasonForNoCode() {
        let pointer = "/reasonForNoConsignmentCode"
        guard let text = reading.content(pointer)?.text else {
            return reading.take(pointer, as: ["noConsignmentReason"])
        }
        // The interface's schema lists labels, its validator takes the codes.
        let code = ReceiptReading.reasons.first { sameBytes($0.label, text) }?.code ?? text
        for (index, item) in reading.elements("/wasteItems").enumerated()
        where reading.find("\(item)/containsHazardous")?.boolean == true {
            reading.give(
                from: [pointer],
                as: ["receivedItems/\(index + 1)/noConsignmentReason"]
            ) { _ in .string(code) }
        }
    }

    private static let reasons: [(label: String, code: String)] = [
        ("Non-Haz Waste Transfer", "NON_HAZ_WASTE_TRANSFER"),
        ("No documentation provided with Waste", "NO_DOC_WITH_WASTE"),
        ("Household Waste Recycling Centre Receipt", "HWRC_RECEIPT"),
    ]

    private mutating func take(_ pointer: String, as fields: [String]) {
        reading.take(pointer, as: fields) { json, field in
            switch field.type {
            case .datetime: return ForeignReading.moment(json)
            case .code:
                // The interface writes “Inland Waterway”; codes have no spaces.
                guard let text = json.text else { return json }
                return .string(String(text.filter { $0 != " " }))
            default: return json
            }
        }
    }

    /// Whether a weight is an estimate is a field of its own; the rest is one value, or where it has no such parts none.
    private mutating func takeWeight(_ pointer: String, as paths: [String]) {
        guard let json = reading.content(pointer) else { return }
        let parts = json.members == nil ? [pointer] : ["\(pointer)/metric", "\(pointer)/amount"]
        reading.give(from: parts, as: paths) { field in
            guard case .decimal(let units, _, _, _, _) = field.type else { return nil }
            return ReceiptReading.weight(json, in: units)
        }
    }

    /// `{"metric":"Tonnes","amount":2.5}`: the number's own text is the decimal, so nothing is rounded.
    ///
    /// A field that does not take the unit, such as the weight in kilograms that a consignment note declares, gets the
    /// same weight in its first one: only the point moves.
    private static func weight(_ json: JSON, in units: [String]) -> JSON? {
        let known = [("Grams", "g", -3), ("Kilograms", "kg", 0), ("Tonnes", "t", 3)]
        guard case .number(let amount)? = json["amount"], DecimalNumber(amount) != nil,
            let given = known.first(where: { sameBytes($0.0, json["metric"]?.text ?? "") })
        else { return nil }
        if units.contains(where: { sameBytes($0, given.1) }) {
            return .members([("amount", .string(amount)), ("unit", .string(given.1))])
        }
        guard let first = known.first(where: { sameBytes($0.1, units.first ?? "") }) else { return nil }
        let moved = shifted(amount, by: given.2 - first.2)
        guard DecimalNumber(moved) != nil else { return nil }
        return .members([("amount", .string(moved)), ("unit", .string(first.1))])
    }

    /// A decimal with its point so many places further right, without zeros that say nothing.
    private static func shifted(_ text: String, by places: Int) -> String {
        let halves = text.split(separator: ".", omittingEmptySubsequences: false)
        var whole = String(halves[0])
        var fraction = halves.count > 1 ? String(halves[1]) : ""
        for _ in 0..<max(places, 0) { whole.append(fraction.isEmpty ? "0" : fraction.removeFirst()) }
        for _ in 0..<max(-places, 0) { fraction.insert(whole.popLast() ?? "0", at: fraction.startIndex) }
        while whole.utf8.count > 1, whole.utf8.first == 0x30 { whole.removeFirst() }
        while fraction.utf8.last == 0x30 { fraction.removeLast() }
        return (whole.isEmpty ? "0" : whole) + (fraction.isEmpty ? "" : "." + fraction)
    }
}
