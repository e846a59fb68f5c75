import Schemes
import Tallystick
import TallystickTestSupport
import Testing

/// Defra's published receipts, each played as a whole chain in the scheme it belongs to.
///
/// A receipt says nothing of what came before it, so the parts that only a producer or a carrier can say are the same
/// invented ones in all of them; everything that the file has is the file's.
@Suite struct RealReceiptTests {
    /// What a folder of Defra's says of the bodies in it.
    private enum Source: String, CaseIterable {
        case valid, warning, error

        /// The result that agrees with it, and the reasons and warnings that Defra's own tests name.
        var expected: (result: RealChain.Result, reasons: [String], warnings: [String]) {
            switch self {
            case .valid: (.accepted, [], [])
            case .warning: (.warned, [], ["missing-field receivedItems/1/treatmentCode"])
            // The body has no apiCode, which is how Defra knows who sends it; here that is the device's certificate.
            case .error: (.refused, ["unknown-device"], [])
            }
        }
    }

    @Test("plays each receipt to the end that its folder says", .needsRealFixtures(10))
    func playsEveryReceipt() throws {
        var table = RealTable(
            "Receipts of Defra's Digital Waste Tracking:",
            "FILE",
            "SCHEME",
            "SOURCE",
            "RESULT",
            "REASONS AND WARNINGS"
        )
        var played = 0
        for source in Source.allCases {
            for name in try OutsideFixtures.realNames(in: "defra-dwt/payloads/\(source.rawValue)") {
                let bytes = try OutsideFixtures.real("defra-dwt/payloads/\(source.rawValue)/\(name)")
                let receipt = try Receipt(bytes, isUpdate: name.hasSuffix(".put.json"))
                let chain = try receipt.play()
                let expected = source.expected
                table.add(
                    "\(source.rawValue)/\(name)",
                    receipt.schemeID,
                    "\(source.rawValue)",
                    chain.result.rawValue,
                    (chain.reasons + chain.warnings).joined(separator: ", ")
                )
                #expect(chain.result == expected.result, "\(source.rawValue)/\(name)")
                #expect(chain.reasons == expected.reasons, "\(source.rawValue)/\(name)")
                #expect(chain.warnings == expected.warnings, "\(source.rawValue)/\(name)")
                #expect((chain.state.ending != nil) == (source != .error), "\(source.rawValue)/\(name)")
                played += 1
            }
        }
        table.show()
        #expect(played == 10)
    }

    @Test(
        "finds only the warning about disposal in a receipt without an API code, once somebody certified sends it",
        .needsRealFixtures(1)
    )
    func knowsTheSenderByItsCertificate() throws {
        let name = "defra-dwt/payloads/error/missing-organisationapiid-as-a-required-field.post.json"
        var receipt = try Receipt(try OutsideFixtures.real(name), isUpdate: false)
        #expect(!receipt.hasSender)
        receipt.hasSender = true
        let chain = try receipt.play()
        #expect(chain.reasons.isEmpty)
        #expect(chain.warnings == ["missing-field receivedItems/1/treatmentCode"])
    }

    @Test("refuses hazardous waste under the note for waste that is not", .needsRealFixtures(4))
    func keepsHazardousWasteOutOfTheTransferNote() throws {
        var refused = 0
        for name in try OutsideFixtures.realNames(in: "defra-dwt/payloads/valid") where name.contains("hazardous") {
            var receipt = try Receipt(try OutsideFixtures.real("defra-dwt/payloads/valid/\(name)"), isUpdate: false)
            #expect(receipt.schemeID == "uk-hazardous-consignment-note")
            receipt.schemeID = "uk-waste-transfer-note"
            let chain = try receipt.play()
            #expect(chain.reasons == ["rule-broken wasteItems/1/ewcCodes no-hazardous-waste"], "\(name)")
            refused += 1
        }
        #expect(refused == 4)
    }
}

/// A receipt and the chain that it is the end of.
private struct Receipt {
    let bytes: [UInt8]
    /// Whether it replaces a receipt that was sent before.
    let isUpdate: Bool
    /// Whether it says who sends it.
    var hasSender: Bool
    /// The scheme it belongs to: a receipt with a consignment code is of hazardous waste.
    var schemeID: String

    init(_ bytes: [UInt8], isUpdate: Bool) throws {
        let json = try JSON.parse(bytes)
        self.bytes = bytes
        self.isUpdate = isUpdate
        hasSender = json["apiCode"] != nil
        schemeID =
            json["hazardousWasteConsignmentCode"] == nil ? "uk-waste-transfer-note" : "uk-hazardous-consignment-note"
    }

    /// Plays it until something is refused, or the chain is closed, or a party is about to give its first values.
    func play(until stop: String? = nil) throws -> RealChain {
        let scheme = try StoryTeller.shipped(schemeID)
        let isHazardous = sameBytes(schemeID, "uk-hazardous-consignment-note")
        let site = isHazardous ? "consignee" : "receiver"
        let chain = try RealChain(
            "receipt/\(schemeID)",
            scheme: scheme,
            parties: [
                .init(device: "producer", party: "Producer", role: "producer"),
                .init(device: "carrier", party: "Carrier Ltd", role: "carrier"),
                .init(device: site, party: "Receiver Ltd", role: site, isEnrolled: hasSender),
            ],
            at: "2025-11-20T08:00:00.000Z"
        )
        func values(_ role: String, and more: [(String, JSON)]) throws -> [EventContent.FieldChange] {
            let file = try ValuesFile(bytes, scheme: scheme, role: try Derived.name(role))
            let others = try more.map { path, value in
                EventContent.FieldChange(path: try present(FieldPath(path)), value: value)
            }
            return file.changes + others
        }
        try chain.step("producer opens", by: "producer") { try $0.open() }
        if stop == "producer" { return chain }
        let declared = isHazardous ? Receipt.consignment : Receipt.transfer
        guard try chain.set(try values("producer", and: declared), by: "producer") else { return chain }
        if !isHazardous {
            guard try chain.step("producer signs", by: "producer", { try $0.sign(insisting: true) }) else {
                return chain
            }
        }
        guard try chain.handOver(from: "producer", to: "carrier", as: "carrier"), stop != "carrier",
            try chain.set(try values("carrier", and: Receipt.carriage), by: "carrier"),
            try chain.step("carrier signs", by: "carrier", { try $0.sign(insisting: true) })
        else { return chain }
        if isHazardous {
            guard try chain.step("producer signs D", by: "producer", { try $0.sign("consignor", insisting: true) })
            else {
                return chain
            }
        }
        guard try chain.handOver(from: "carrier", to: site, as: site), stop != site else { return chain }
        let received = try values(site, and: isHazardous ? accepted : [("outcome", .string("accepted"))])
        // An update replaces what the same site has said before, with all of it.
        for _ in 0..<(isUpdate ? 2 : 1) {
            guard try chain.set(received, by: site) else { return chain }
        }
        guard try chain.step("\(site) signs", by: site, { try $0.sign(insisting: true) }) else { return chain }
        try chain.step("\(site) closes", by: site) {
            try $0.close(isHazardous ? "received" : "delivered", insisting: true)
        }
        return chain
    }

    /// A consignee accepts or rejects before it signs; a receipt has what was accepted.
    private var accepted: [(String, JSON)] {
        get throws {
            let weight = try present(try JSON.parse(bytes)["wasteItems"]?.elements?.first?["weight"])
            guard case .number(let amount)? = weight["amount"] else { throw StoryError("expected an amount") }
            return [
                ("outcome", .string("accepted")),
                ("receivedItems/1/acceptedWeight", SampleValues.quantity(amount, "t")),
            ]
        }
    }

    private static let transfer: [(String, JSON)] = [
        ("producerName", .string("Aire Valley Builders Ltd")),
        ("producerAddress", .string("Plot 4, Kirkstall Road, Leeds LS4 2AZ")),
        ("producerCapacity", .strings(["producer"])), ("sicCode", .string("41201")), ("hierarchyDuty", .boolean(true)),
        ("transferPlace", .string("Plot 4, Kirkstall Road, Leeds LS4 2AZ")),
        ("transferAt", .string("2025-11-20T08:10:00.000Z")), ("wasteItems/1/containment", .string("container")),
    ]

    private static let consignment: [(String, JSON)] = [
        ("producerKind", .string("producer")), ("removedFromName", .string("Marsh Lane Plating")),
        ("removedFromAddress", .string("4 Marsh Lane, Leeds LS9 8AA")),
        ("removedFromEmail", .string("yard@marshlane.example")), ("removedFromPhone", .string("0113 496 0101")),
        ("takenToName", .string("Receiver Ltd")), ("takenToAddress", .string("123 Test Street, Test City")),
        ("takenToEmail", .string("receiver@test.com")), ("takenToPhone", .string("01632 960210")),
        ("process", .string("Plating of metal")), ("sicCode", .string("25610")),
        ("wasteItems/1/dangerousForCarriage", .boolean(false)), ("consignorCertificate", .boolean(true)),
        ("hierarchyDuty", .boolean(true)),
    ]

    private static let carriage: [(String, JSON)] = [
        ("carrierAddress", .string("12 Wharf Street, Wakefield WF1 1UQ")),
        ("collectedAt", .string("2025-11-20T08:20:00.000Z")),
    ]
}

/// The identifiers that Defra's own tests accept and refuse, each as a value that somebody sets in a chain.
@Suite struct RealIdentifierTests {
    private struct Vectors {
        let field: String
        let scheme: String
        let role: String
        let name: String
    }

    private static let all = [
        Vectors(
            field: "registrationNumber",
            scheme: "uk-waste-transfer-note",
            role: "carrier",
            name: "carrierRegistration"
        ),
        Vectors(
            field: "brokerRegistration",
            scheme: "uk-waste-transfer-note",
            role: "producer",
            name: "carrierRegistration"
        ),
        Vectors(
            field: "siteAuthorisation",
            scheme: "uk-waste-transfer-note",
            role: "receiver",
            name: "siteAuthorisation"
        ),
        Vectors(
            field: "registrationNumber",
            scheme: "uk-hazardous-consignment-note",
            role: "carrier",
            name: "carrierRegistration"
        ),
        Vectors(
            field: "siteAuthorisation",
            scheme: "uk-hazardous-consignment-note",
            role: "consignee",
            name: "siteAuthorisation"
        ),
    ]

    @Test("judges each identifier in an event as Defra's own tests do", .needsRealFixtures(56))
    func judgesIdentifiers() throws {
        let file = try #require(
            try OutsideFixtures.realJSON("defra-dwt/identifiers/format-vectors.json") as? [String: [String: [String]]]
        )
        var table = RealTable(
            "Identifiers of Defra's tests:",
            "FIELD",
            "SCHEME",
            "VALID",
            "ACCEPTED",
            "INVALID",
            "REFUSED",
            "DEVIATIONS"
        )
        var strings: Set<String> = []
        for vectors in RealIdentifierTests.all {
            let valid = try #require(file[vectors.name]?["valid"])
            let invalid = try #require(file[vectors.name]?["invalid"])
            let verdicts = try verdicts(on: valid + invalid, vectors)
            let accepted = verdicts.prefix(valid.count)
            let refused = verdicts.dropFirst(valid.count)
            let deviations =
                zip(valid, accepted).compactMap { text, words in words == ["accepted"] ? nil : "“\(text)” \(words)" }
                + zip(invalid, refused).compactMap { text, words in
                    words == ["field-invalid \(vectors.field)"] ? nil : "“\(text)” \(words)"
                }
            table.add(
                vectors.field,
                vectors.scheme,
                "\(valid.count)",
                "\(accepted.count { $0 == ["accepted"] })",
                "\(invalid.count)",
                "\(refused.count { $0 == ["field-invalid \(vectors.field)"] })",
                deviations.isEmpty ? "none" : deviations.joined(separator: ", ")
            )
            #expect(deviations.isEmpty, "\(vectors.scheme): \(vectors.field)")
            strings.formUnion(valid + invalid)
        }
        table.show()
        #expect(strings.count == 56)
        #expect(file.values.flatMap { $0.values }.map(\.count).reduce(0, +) == 56, "every list of the file is judged")
    }

    /// The server's verdict on each text, set one after another by the party whose field it is.
    private func verdicts(on texts: [String], _ vectors: Vectors) throws -> [[String]] {
        let isHazardous = sameBytes(vectors.scheme, "uk-hazardous-consignment-note")
        let name = isHazardous ? "basic-hazardous" : "basic-required-fields-only"
        let receipt = try Receipt(
            try OutsideFixtures.real("defra-dwt/payloads/valid/\(name).post.json"),
            isUpdate: false
        )
        let chain = try receipt.play(until: vectors.role)
        let path = try #require(FieldPath(vectors.field))
        return try texts.map { text in
            let value = EventContent.FieldChange(path: path, value: .string(text))
            _ = try chain.set([value], by: vectors.role)
            return try present(chain.steps.last).verdict.words
        }
    }

    /// What Defra's text, its schema and its validator say differently, read as `docs/schemes/` says.
    @Test(arguments: [
        // The text lets a number have one digit, and gives this example.
        ("uk-waste-transfer-note", "registrationNumber", "CBDL6", false),
        ("uk-hazardous-consignment-note", "registrationNumber", "CBDL6", false),
        // The text has six characters and five; the validator two or more, five, and perhaps a letter.
        ("uk-waste-transfer-note", "consignmentCode", "CJTILE/A0001", true),
        ("uk-waste-transfer-note", "consignmentCode", "CJ/A0001", true),
        ("uk-hazardous-consignment-note", "consignmentCode", "CJTILE/A0001B", true),
        ("uk-hazardous-consignment-note", "consignmentCode", "C/A0001", false),
        // The text lists each half of a Northern Irish licence alone; the validator's tests refuse both.
        ("uk-waste-transfer-note", "siteAuthorisation", "WML 19/36/T", false),
        ("uk-waste-transfer-note", "siteAuthorisation", "LN/13/02", false),
        // The text has this form, the validator does not.
        ("uk-waste-transfer-note", "siteAuthorisation", "PR/AB1234CD/D1234", false),
        // Defra's codes have no star, which people write behind those of hazardous waste.
        ("uk-hazardous-consignment-note", "wasteItems/1/ewcCodes", "200121", true),
        ("uk-hazardous-consignment-note", "wasteItems/1/ewcCodes", "200121*", false),
    ])
    func readsWhereDefraContradictsItself(scheme: String, field: String, text: String, isAccepted: Bool) throws {
        let scheme = try StoryTeller.shipped(scheme)
        let path = try #require(FieldPath(field))
        let rule = try #require(scheme.field(path))
        let value = rule.many == nil ? JSON.string(text) : .strings([text])
        #expect((scheme.fault(of: value, in: rule, on: "2026-11-30") == nil) == isAccepted)
    }

    @Test func readsAStarredWasteCodeAsPeopleTypeIt() throws {
        let scheme = try StoryTeller.shipped("uk-hazardous-consignment-note")
        let field = try #require(FieldPath("wasteItems/1/ewcCodes").flatMap { scheme.field($0) })
        #expect(scheme.value(typed: "20 01 21*", for: field) == .value(.strings(["200121"])))
    }
}
