import Tallystick

/// The lines of waste, and what the facility says of them and of the load.
extension ManifestReading {
    // MARK: Waste lines

    /// Single values of a waste line, and the generator's fields for them.
    static let ofWaste: [(pointer: String, field: String)] = [
        ("dotHazardous", "dotHazardous"), ("epaWaste", "epaWaste"), ("pcb", "pcb"), ("br", "br"),
        ("wasteDescription", "wasteDescription"), ("dotInformation/idNumber/code", "idNumber"),
        ("dotInformation/printedDotInformation", "printedDotInformation"),
        ("dotInformation/properShippingName/code", "properShippingName"),
        ("dotInformation/technicalName", "technicalName"), ("dotInformation/rqDescription", "rqDescription"),
        ("dotInformation/packingGroup/code", "packingGroup"),
        ("dotInformation/emergencyGuideNumber/code", "emergencyGuide"),
        ("quantity/containerNumber", "containerNumber"), ("quantity/containerType/code", "containerType"),
        ("hazardousWaste/txWasteCodes", "texasCodes"), ("brInfo/densityUnitOfMeasurement/code", "densityUnit"),
        ("brInfo/formCode/code", "formCode"), ("brInfo/sourceCode/code", "sourceCode"),
        ("brInfo/wasteMinimizationCode/code", "wasteMinimizationCode"),
        ("brInfo/mixedRadioactiveWaste", "mixedRadioactive"),
        ("additionalInfo/handlingInstructions", "handlingInstructions"),
        ("additionalInfo/consentNumber", "consentNumber"),
    ]

    mutating func readWaste(_ line: String, place: Int) {
        let row = reading.find("\(line)/lineNumber")?.integer ?? place
        func path(_ field: String) -> [String] { ["wastes/\(row)/\(field)"] }
        for (pointer, field) in ManifestReading.ofWaste { reading.take("\(line)/\(pointer)", as: path(field)) }
        reading.take("\(line)/dotInformation/hazardClass/code", as: path("hazardClass")) { json, _ in
            // Codes have no blanks: “Comb liq”.
            json.text.map { .string(String($0.map { $0 == " " ? "-" : $0 })) }
        }
        reading.take("\(line)/brInfo/density", as: path("density")) { json, _ in ForeignReading.decimal(json) }
        readQuantity("\(line)/quantity", as: path("quantity"))
        let codes = "\(line)/hazardousWaste"
        readFederalCodes(reading.elements("\(codes)/federalWasteCodes"), row: row)
        readCodes(reading.elements("\(codes)/generatorStateWasteCodes"), as: path("generatorStateCodes"))
        readCodes(reading.elements("\(codes)/tsdfStateWasteCodes"), as: path("facilityStateCodes"))
        reading.takeEntries(
            reading.elements("\(line)/pcbInfos").map { ($0, []) },
            as: path("pcbItems"),
            [
                Member("/loadType/code", "loadType"), Member("/articleContainerId", "containerId"),
                Member("/dateOfRemoval", "removedOn") { ManifestReading.day($0) },
                Member("/weight", "weight") { ForeignReading.amount($0, "kg") }, Member("/wasteType", "wasteType"),
                Member("/bulkIdentity", "bulkIdentity"),
            ]
        )
        readComments("\(line)/additionalInfo/comments", as: path("comments"))
        readMethod("\(line)/managementMethod/code", row: row)
        for (name, field) in [
            ("wasteQuantity", "discrepancyQuantity"), ("wasteType", "discrepancyType"), ("residue", "residue"),
            ("discrepancyComments", "discrepancyComments"), ("residueComments", "residueComments"),
        ] {
            takeReceived("\(line)/discrepancyResidueInfo/\(name)", as: ["received/\(row)/\(field)"])
        }
    }

    mutating func readQuantity(_ pointer: String, as paths: [String]) {
        let units = ["P": "lb", "T": "short-ton", "K": "kg", "M": "t", "G": "gal", "L": "l", "Y": "yd3", "N": "m3"]
        let parts = ["\(pointer)/quantity", "\(pointer)/unitOfMeasurement/code"]
        let number = reading.content(parts[0])
        let unit = reading.content(parts[1])?.text.flatMap { units[$0] }
        reading.give(from: parts, as: paths) { _ in
            guard let number, let unit else { return nil }
            return ForeignReading.amount(number, unit)
        }
    }

    mutating func readCodes(_ codes: [String], as paths: [String]) {
        let places = codes.map { "\($0)/code" }.filter { reading.content($0) != nil }
        let values = places.compactMap { reading.content($0) }
        reading.give(from: places, as: paths) { _ in .array(values) }
    }

    /// The list at hand is not complete, so what it lacks has a field of its own.
    mutating func readFederalCodes(_ codes: [String], row: Int) {
        let known = codes.filter { hasCode("\($0)/code", in: "federalCodes", of: "wastes", row: row) }
        readCodes(known, as: ["wastes/\(row)/federalCodes"])
        readCodes(codes.filter { !known.contains($0) }, as: ["wastes/\(row)/otherFederalCodes"])
    }

    /// The generator plans the method, the facility states it; both from the same member.
    mutating func readMethod(_ pointer: String, row: Int) {
        guard isFacility else { return reading.take(pointer, as: ["wastes/\(row)/plannedMethod"]) }
        let isKnown = hasCode(pointer, in: "managementMethod", of: "received", row: row)
        takeReceived(pointer, as: ["received/\(row)/\(isKnown ? "managementMethod" : "otherManagementMethod")"])
    }

    func hasCode(_ pointer: String, in field: String, of lines: String, row: Int) -> Bool {
        guard let text = reading.content(pointer)?.text, let path = FieldPath("\(lines)/\(row)/\(field)"),
            case .code(let list)? = reading.scheme.field(path)?.type
        else { return false }
        return reading.scheme.codeLists[list]?.code(text) != nil
    }

    // MARK: What the facility says

    mutating func readReceipt() {
        takeReceived("/receivedDate", as: ["receivedAt"]) { json, _ in ForeignReading.moment(json) }
        takeReceived("/residueNewManifestTrackingNumbers", as: ["residueTrackingNumbers"])
        readDocument()
    }

    mutating func readDocument() {
        takeReceived("/printedDocument/name", as: ["documentName"])
        takeReceived("/printedDocument/size", as: ["documentSize"])
        takeReceived("/printedDocument/mimeType", as: ["documentType"])
    }

    /// Takes a value of the receipt: for the facility that signs it, once there is something to sign.
    mutating func takeReceived(
        _ pointer: String,
        as paths: [String],
        _ convert: ForeignReading.Conversion = { json, _ in json }
    ) {
        if isFacility, !isReceived {
            reading.leave([pointer], Why("not-yet", "no facility has received the load by this file"))
        } else if isFacility, receiver == 0 {
            reading.leave([pointer], Why("no-field", "the load went back to the generator: no facility receives it"))
        } else if isFacility, receiver != order {
            reading.leave([pointer], Why("other-party", "facility \(receiver) says it, and \(order) was asked for"))
        } else {
            reading.take(pointer, as: paths, convert)
        }
    }

    mutating func readRefusal() {
        let refusal = "/rejectionInfo"
        let alternate = "\(refusal)/alternateDesignatedFacility"
        for (pointer, field) in [
            ("/rejection", "rejection"), ("\(refusal)/rejectionType", "rejectionType"),
            ("\(refusal)/transporterOnSite", "transporterOnSite"),
            ("\(refusal)/rejectionComments", "rejectionComments"),
            ("\(refusal)/alternateDesignatedFacilityType", "alternateType"),
            ("\(refusal)/newManifestTrackingNumbers", "newTrackingNumbers"),
        ] {
            if isFacility, !isReceived {
                reading.leave([pointer], Why("not-yet", "no facility has received the load by this file"))
            } else if isFacility, order != 1 {
                reading.leave([pointer], Why("other-party", "facility 1 says it, and \(order) was asked for"))
            } else {
                reading.take(pointer, as: [field])
            }
        }
        if isFacility, order == 2, receiver == 2 {
            readSite(alternate, as: ["facility"])
            // The member is the first facility's word; the one that takes the load in does not refuse it.
            if let path = FieldPath("rejection"), reading.scheme.field(path)?.owner == reading.role {
                reading.add(path, .boolean(false))
            }
        } else if isFacility, order != 1 {
            reading.leave([alternate], Why("other-party", "there is no facility \(order) in the file"))
        } else {
            let signatures = ["\(alternate)/paperSignatureInfo/printedName", "\(alternate)/electronicSignaturesInfo"]
            if isFacility {
                reading.leave(signatures, Why("other-party", "it is facility 2, and 1 was asked for"))
            }
            readSite(alternate, as: isFacility ? ["alternate"] : ["facility"])
        }
        reading.take("\(refusal)/generatorPaperSignature/printedName", as: ["takerPrintedName"])
        let signature = "\(refusal)/generatorElectronicSignature"
        readSignatures(reading.find(signature) == nil ? [] : [signature], as: ["takerESignatures"])
    }
}
