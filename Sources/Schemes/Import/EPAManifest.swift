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

struct ManifestReading {
    typealias Member = ForeignReading.EntryMember
    typealias Why = ForeignReading.Why

    var reading: ForeignReading
    /// Which transporter is read for a transporter, and which facility for a facility.
    let order: Int
    /// Whether a facility has signed, or EPA's status says so much.
    let isReceived: Bool
    /// The facility that signs the receipt: the second where the first sent the transporter on; 0 where the load went
    /// back to the generator.
    let receiver: Int

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

    var isFacility: Bool { sameBytes(reading.role.text, "facility") }
    var isTransporter: Bool { sameBytes(reading.role.text, "transporter") }

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

    mutating func readManifest() {
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

    mutating func readComments(_ pointer: String, as paths: [String]) {
        reading.takeEntries(
            reading.elements(pointer).map { ($0, []) },
            as: paths,
            [Member("/label", "label"), Member("/description", "description"), Member("/handlerId", "site")]
        )
    }

    // MARK: Sites

    mutating func readSites() {
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
    mutating func readSite(_ site: String, as prefixes: [String]) {
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

    mutating func readSignatures(_ signatures: [String], as paths: [String]) {
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

    // MARK: A picture alone

    mutating func readPicture() {
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
    func day(_ json: JSON, _ field: Scheme.Field) -> JSON? { ManifestReading.day(json) }

    static func day(_ json: JSON) -> JSON? {
        guard let text = json.text, text.utf8.count >= 10 else { return nil }
        return .string(String(text.prefix(10)))
    }
}
