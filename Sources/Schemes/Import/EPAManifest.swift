import Tallystick

/// The manifest JSON of EPA's e-Manifest service, as values of the US hazardous waste manifest.
///
/// Where each member goes is in `docs/schemes/us-hazardous-waste-manifest-mapping.md`. A file can name several
/// transporters, and a second facility where the first refused the load: which of them is read is asked for.
enum EPAManifest {
    /// Whether a JSON object has the shape: how it is submitted, beside a site or transporters as objects.
    static func recognises(_ json: JSON) -> Bool {
        guard json["submissionType"] != nil else { return false }
        return json["generator"]?.members != nil || json["designatedFacility"]?.members != nil
            || json["transporters"]?.elements != nil
    }

    /// Reads a manifest for a role.
    ///
    /// Throws where the file says that it is not the version in force.
    static func read(_ json: JSON, scheme: Scheme, role: Name, order: Int) throws(JSONError) -> ValuesFile {
        guard json["correctionInfo"]?["active"]?.boolean != false else {
            throw JSONError(
                code: .syntax,
                message: "expected the version of the manifest that is in force, got an earlier one: "
                    + "its correctionInfo is not active",
                offset: 0
            )
        }
        var manifest = ManifestReading(ForeignReading(json, scheme: scheme, role: role), order: order)
        manifest.read()
        let isPicture = manifest.isPicture
        return manifest.reading.finish(.epaManifest) { place in
            if let why = EPAManifest.notHeld[place] { return why }
            // The first name of a pointer is the last place that is asked for.
            guard isPicture, place.lastIndex(of: "/") == place.startIndex else { return nil }
            return ForeignReading.Why("no-field", "of a picture only its number, its sites and the file are kept")
        }
    }

    /// Why members are never values, by their place.
    private static let notHeld: [String: ForeignReading.Why] = {
        let registers = ForeignReading.Why("not-about-the-load", "it is what EPA's registers say")
        let bookkeeping = ForeignReading.Why("not-about-the-load", "it is EPA's own bookkeeping")
        let code = ForeignReading.Why("no-field", "it goes with the code")
        var known: [String: ForeignReading.Why] = [
            "/status": .init("no-field", "it is where the chain stands"),
            "/shippedDate": .init("no-field", "it is the time of the first transporter's signature"),
            "/discrepancy": .init("no-field", "it follows from the lines"),
            "/residue": .init("no-field", "it follows from the lines"),
            "/submissionType": .init("no-field", "it says that there is a picture alone"),
            "/importInfo/importGenerator/country/name": code,
            "/importInfo/portOfEntry/state/name": code,
            "/additionalInfo/pcbAlternateDesignatedFacility": .init("no-field", "it is a remark that EPA ignores"),
            "/wastes/*/additionalInfo/newManifestDestination": .init("no-field", "EPA ignores it on a line"),
            "/wastes/*/additionalInfo/originalManifestTrackingNumbers": .init("no-field", "EPA ignores it on a line"),
            "/wastes/*/lineNumber": .init("no-field", "it is the row"),
            "/formDocument": bookkeeping,
        ]
        for name in [
            "createdDate", "updatedDate", "isPublic", "signatureStatus", "certifiedDate", "certifiedBy",
            "lastUpdatedBy",
            "correctionRequests", "correctionInfo", "ppcStatus", "mtnValidationInfo", "provideImageGeneratorInfo",
            "locked", "lockReason",
        ] {
            known["/\(name)"] = bookkeeping
        }
        for place in [
            "quantity/containerType", "quantity/unitOfMeasurement", "hazardousWaste/federalWasteCodes/*",
            "hazardousWaste/generatorStateWasteCodes/*", "hazardousWaste/tsdfStateWasteCodes/*",
            "brInfo/densityUnitOfMeasurement", "brInfo/formCode", "brInfo/sourceCode", "brInfo/wasteMinimizationCode",
            "managementMethod", "dotInformation/properShippingName", "dotInformation/hazardClass",
            "dotInformation/packingGroup", "dotInformation/idNumber", "dotInformation/emergencyGuideNumber",
        ] {
            known["/wastes/*/\(place)/description"] = code
        }
        known["/wastes/*/dotInformation/properShippingName/technicalNameIndicator"] = code
        for site in [
            "/generator", "/transporters/*", "/designatedFacility", "/broker",
            "/rejectionInfo/alternateDesignatedFacility",
        ] {
            for name in [
                "registered", "modified", "canEsign", "limitedEsign", "hasRegisteredEmanifestUser", "gisPrimary",
                "signatureType", "siteState",
            ] {
                known["\(site)/\(name)"] = registers
            }
            for address in ["siteAddress", "mailingAddress"] {
                known["\(site)/\(address)/state/name"] = code
                known["\(site)/\(address)/country/name"] = code
            }
            known["\(site)/siteType"] = .init("no-field", "it is the role")
            known["\(site)/order"] = .init("no-field", "it is the row and the place of the leg")
            known["\(site)/emergencyPhone"] = .init("no-field", "a manifest has the generator's")
            known["\(site)/paperSignatureInfo/signatureDate"] = .init("no-field", "it is the time of the signature")
            for name in ["phone", "email", "companyName", "contactType"] {
                known["\(site)/electronicSignaturesInfo/*/signer/\(name)"] = registers
            }
        }
        known["/rejectionInfo/generatorPaperSignature/signatureDate"] = .init(
            "no-field",
            "it is the time of the signature"
        )
        for name in ["phone", "email", "companyName", "contactType"] {
            known["/rejectionInfo/generatorElectronicSignature/signer/\(name)"] = registers
        }
        return known
    }()
}

private struct ManifestReading {
    typealias Member = ForeignReading.EntryMember
    typealias Why = ForeignReading.Why

    var reading: ForeignReading
    /// Which transporter is read for a transporter, and which facility for a facility.
    private let order: Int
    /// Whether a facility has signed, or EPA's status says so much.
    private let isReceived: Bool
    /// The facility that signs the receipt: the second where the first sent the transporter on; 0 where the load went
    /// back to the generator.
    private let receiver: Int

    init(_ reading: ForeignReading, order: Int) {
        self.reading = reading
        self.order = order
        func isSigned(_ site: String) -> Bool {
            reading.content("\(site)/paperSignatureInfo/signatureDate") != nil
                || (reading.find("\(site)/electronicSignaturesInfo")?.elements ?? []).contains {
                    $0["signatureDate"]?.text?.isEmpty == false
                }
        }
        let refusal = "/rejectionInfo"
        let late = ["ReadyForSignature", "Signed", "Corrected", "UnderCorrection"]
        isReceived =
            isSigned("/designatedFacility") || isSigned("\(refusal)/alternateDesignatedFacility")
            || late.contains { sameBytes($0, reading.find("/status")?.text ?? "") }
        let isTurnedAway =
            reading.find("/rejection")?.boolean == true && reading.find("\(refusal)/transporterOnSite")?.boolean == true
        let isReturn = sameBytes(reading.find("\(refusal)/alternateDesignatedFacilityType")?.text ?? "", "Generator")
        receiver = isTurnedAway ? (isReturn ? 0 : 2) : 1
    }

    private var isFacility: Bool { sameBytes(reading.role.text, "facility") }
    private var isTransporter: Bool { sameBytes(reading.role.text, "transporter") }

    /// Whether there is a picture of a paper manifest and nothing typed in.
    var isPicture: Bool { sameBytes(reading.find("/submissionType")?.text ?? "", "Image") }

    mutating func read() {
        if isPicture {
            readPicture()
        } else {
            readManifest()
            readSites()
            for (index, line) in reading.elements("/wastes").enumerated() { readWaste(line, place: index + 1) }
            readReceipt()
            readRefusal()
        }
    }

    // MARK: The manifest as a whole

    private mutating func readManifest() {
        reading.take("/manifestTrackingNumber", as: ["manifestTrackingNumber"])
        reading.take("/submissionType", as: ["submissionType"])
        reading.take("/originType", as: ["originType"])
        reading.take("/potentialShipDate", as: ["potentialShipDate"], day)
        reading.take("/import", as: ["import"])
        reading.takeEntries(
            [("/importInfo/importGenerator", [])],
            as: ["importGenerator"],
            ["name", "address", "city", "postalCode", "province"].map { Member("/\($0)", $0) }
                + [Member("/country/code", "country")]
        )
        reading.takeEntries(
            [("/importInfo/portOfEntry", [])],
            as: ["portOfEntry"],
            [Member("/cityPort", "cityPort"), Member("/state/code", "state")]
        )
        reading.take("/containsPreviousRejectOrResidue", as: ["containsPrevious"])
        reading.take("/additionalInfo/originalManifestTrackingNumbers", as: ["originalTrackingNumbers"])
        reading.take("/additionalInfo/newManifestDestination", as: ["newDestination"])
        reading.take("/additionalInfo/handlingInstructions", as: ["manifestInstructions"])
        readComments("/additionalInfo/comments", as: ["manifestComments"])
    }

    private mutating func readComments(_ pointer: String, as paths: [String]) {
        reading.takeEntries(
            reading.elements(pointer).map { ($0, []) },
            as: paths,
            [Member("/label", "label"), Member("/description", "description"), Member("/handlerId", "site")]
        )
    }

    // MARK: Sites

    private mutating func readSites() {
        readSite("/generator", as: ["generator"])
        reading.take("/generator/emergencyPhone/number", as: ["emergencyPhone"])
        reading.take("/generator/emergencyPhone/extension", as: ["emergencyExtension"])
        for (index, site) in reading.elements("/transporters").enumerated() {
            let number = reading.find("\(site)/order")?.integer ?? index + 1
            if isTransporter, number != order {
                reading.leave([site], Why("other-party", "it is transporter \(number), and \(order) was asked for"))
            }
            readSite(
                site,
                as: isTransporter && number != order ? [] : ["transporter", "plannedTransporters/\(number)/"]
            )
        }
        if isFacility, order != 1 {
            reading.leave(["/designatedFacility"], Why("other-party", "it is facility 1, and \(order) was asked for"))
        }
        readSite("/designatedFacility", as: isFacility && order != 1 ? [] : ["facility", "designated"])
        readSite("/broker", as: ["broker"])
    }

    /// Reads a site into the fields that begin with one of these.
    private mutating func readSite(_ site: String, as prefixes: [String]) {
        guard !prefixes.isEmpty else { return }
        func paths(_ name: String) -> [String] {
            prefixes.map { prefix in
                // Fields of a row have no prefix of their own: `siteId` for `transporterSiteId`.
                prefix.hasSuffix("/") ? prefix + name.prefix(1).lowercased() + name.dropFirst() : prefix + name
            }
        }
        reading.take("\(site)/epaSiteId", as: paths("SiteId"))
        reading.take("\(site)/name", as: paths("Name"))
        let address = [
            Member("/streetNumber", "streetNumber"), Member("/address1", "line1"), Member("/address2", "line2"),
            Member("/city", "city"), Member("/state/code", "state"), Member("/country/code", "country"),
            Member("/zip", "zip"),
        ]
        reading.takeEntries(
            [
                ("\(site)/siteAddress", [("kind", .string("site"))]),
                ("\(site)/mailingAddress", [("kind", .string("mailing"))]),
            ],
            as: paths("Addresses"),
            address
        )
        reading.takeEntries(
            [("\(site)/contact", [])],
            as: paths("Contact"),
            ["firstName", "middleInitial", "lastName", "companyName", "email"].map { Member("/\($0)", $0) }
                + [Member("/phone/number", "phone"), Member("/phone/extension", "extension")]
        )
        reading.take("\(site)/paperSignatureInfo/printedName", as: paths("PrintedName"))
        readSignatures(reading.elements("\(site)/electronicSignaturesInfo"), as: paths("ESignatures"))
    }

    private mutating func readSignatures(_ signatures: [String], as paths: [String]) {
        reading.takeEntries(
            signatures.map { ($0, []) },
            as: paths,
            [
                Member("/signer/firstName", "firstName"), Member("/signer/middleInitial", "middleInitial"),
                Member("/signer/lastName", "lastName"), Member("/signer/userId", "userId"),
                Member("/signerRole", "signerRole"), Member("/signatureDate", "signedAt", ForeignReading.moment),
                Member("/signatureMethod", "method"), Member("/onBehalf", "onBehalf"),
                Member("/humanReadableDocument/name", "documentName"),
                Member("/humanReadableDocument/size", "documentSize"),
                Member("/humanReadableDocument/mimeType", "documentType"),
                Member("/cromerrActivityId", "activityId"), Member("/cromerrDocumentId", "documentId"),
            ]
        )
    }

    // MARK: Waste lines

    /// Single values of a waste line, and the generator's fields for them.
    private static let ofWaste: [(pointer: String, field: String)] = [
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

    private mutating func readWaste(_ line: String, place: Int) {
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

    private mutating func readQuantity(_ pointer: String, as paths: [String]) {
        let units = ["P": "lb", "T": "short-ton", "K": "kg", "M": "t", "G": "gal", "L": "l", "Y": "yd3", "N": "m3"]
        let parts = ["\(pointer)/quantity", "\(pointer)/unitOfMeasurement/code"]
        let number = reading.content(parts[0])
        let unit = reading.content(parts[1])?.text.flatMap { units[$0] }
        reading.give(from: parts, as: paths) { _ in
            guard let number, let unit else { return nil }
            return ForeignReading.amount(number, unit)
        }
    }

    private mutating func readCodes(_ codes: [String], as paths: [String]) {
        let places = codes.map { "\($0)/code" }.filter { reading.content($0) != nil }
        let values = places.compactMap { reading.content($0) }
        reading.give(from: places, as: paths) { _ in .array(values) }
    }

    /// The list at hand is not complete, so what it lacks has a field of its own.
    private mutating func readFederalCodes(_ codes: [String], row: Int) {
        let known = codes.filter { hasCode("\($0)/code", in: "federalCodes", of: "wastes", row: row) }
        readCodes(known, as: ["wastes/\(row)/federalCodes"])
        readCodes(codes.filter { !known.contains($0) }, as: ["wastes/\(row)/otherFederalCodes"])
    }

    /// The generator plans the method, the facility states it; both from the same member.
    private mutating func readMethod(_ pointer: String, row: Int) {
        guard isFacility else { return reading.take(pointer, as: ["wastes/\(row)/plannedMethod"]) }
        let isKnown = hasCode(pointer, in: "managementMethod", of: "received", row: row)
        takeReceived(pointer, as: ["received/\(row)/\(isKnown ? "managementMethod" : "otherManagementMethod")"])
    }

    private func hasCode(_ pointer: String, in field: String, of lines: String, row: Int) -> Bool {
        guard let text = reading.content(pointer)?.text, let path = FieldPath("\(lines)/\(row)/\(field)"),
            case .code(let list)? = reading.scheme.field(path)?.type
        else { return false }
        return reading.scheme.codeLists[list]?.code(text) != nil
    }

    // MARK: What the facility says

    private mutating func readReceipt() {
        takeReceived("/receivedDate", as: ["receivedAt"]) { json, _ in ForeignReading.moment(json) }
        takeReceived("/residueNewManifestTrackingNumbers", as: ["residueTrackingNumbers"])
        readDocument()
    }

    private mutating func readDocument() {
        takeReceived("/printedDocument/name", as: ["documentName"])
        takeReceived("/printedDocument/size", as: ["documentSize"])
        takeReceived("/printedDocument/mimeType", as: ["documentType"])
    }

    /// Takes a value of the receipt: for the facility that signs it, once there is something to sign.
    private mutating func takeReceived(
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

    private mutating func readRefusal() {
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

    // MARK: A picture alone

    private mutating func readPicture() {
        reading.take("/manifestTrackingNumber", as: ["uploadTrackingNumber"])
        reading.take("/originType", as: ["uploadOriginType"])
        let alternate = "/rejectionInfo/alternateDesignatedFacility"
        readSite(reading.find("/designatedFacility") == nil ? alternate : "/designatedFacility", as: ["facility"])
        reading.take("/generator/epaSiteId", as: ["uploadGeneratorSiteId"])
        reading.take("/generator/paperSignatureInfo/printedName", as: ["uploadGeneratorPrintedName"])
        reading.take("/generator/paperSignatureInfo/signatureDate", as: ["uploadGeneratorSignedAt"]) { json, _ in
            ForeignReading.moment(json)
        }
        reading.take("/rejection", as: ["rejection"])
        for (name, field) in [("name", "documentName"), ("size", "documentSize"), ("mimeType", "documentType")] {
            reading.take("/printedDocument/\(name)", as: [field])
        }
    }

    // MARK: Conversions

    /// EPA writes days as times, at noon or midnight: the day is what counts.
    private func day(_ json: JSON, _ field: Scheme.Field) -> JSON? { ManifestReading.day(json) }

    private static func day(_ json: JSON) -> JSON? {
        guard let text = json.text, text.utf8.count >= 10 else { return nil }
        return .string(String(text.prefix(10)))
    }
}
