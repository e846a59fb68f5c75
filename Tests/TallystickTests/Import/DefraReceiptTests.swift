import Schemes
import Tallystick
import TallystickTestSupport
import Testing

/// The published bodies by their place under the folder, in order.
private func publishedBodies() throws -> [(name: String, bytes: [UInt8])] {
    try ["error", "valid", "warning"].flatMap { kind in
        try OutsideFixtures.realNames(in: "defra-dwt/payloads/\(kind)").map { name in
            ("\(kind)/\(name)", try OutsideFixtures.real("defra-dwt/payloads/\(kind)/\(name)"))
        }
    }
}

/// Bodies of Defra's receipt-of-movement interface: every value of one is used, or listed with why it was not.
@Suite struct DefraReceiptTests {
    @Test(
        .needsRealFixtures(70),
        arguments: [
            ("uk-waste-transfer-note", ["producer": 80, "carrier": 30, "receiver": 250, "broker": 0]),
            ("uk-hazardous-consignment-note", ["producer": 124, "carrier": 30, "consignee": 250, "broker": 0]),
        ]
    )
    func usesOrListsEveryValueForEveryRole(id: String, expected: [String: Int]) throws {
        let scheme = try StoryTeller.shipped(id)
        let bodies = try publishedBodies()
        #expect(bodies.count == 10)
        var leaves = 0
        var used: [String: Int] = [:]
        for (name, bytes) in bodies {
            let all = Leaf.all(of: try JSON.parse(bytes))
            leaves += all.count
            for role in expected.keys {
                let file = try ValuesFile(bytes, scheme: scheme, role: try Derived.name(role))
                #expect(file.shape == .defraReceipt, "\(name)")
                used[role, default: 0] += Leaf.expectAccounts(
                    of: file,
                    for: all,
                    "\(id), \(name), \(role)",
                    isAdded: { $0.text == "mg/kg" }
                ) { leaf in
                    // A producer declares hazardous waste in kilograms: the same weight, its point moved.
                    guard id == "uk-hazardous-consignment-note", role == "producer" else { return leaf.imported }
                    if leaf.pointer.hasSuffix("/weight/metric") { return "kg" }
                    guard leaf.pointer.hasSuffix("/weight/amount") else { return leaf.imported }
                    return ["1.2": "1200", "0.75": "750", "2.5": "2500"][leaf.text] ?? leaf.imported
                }
                // What is set belongs to the role, and each field is set once.
                #expect(file.changes.allSatisfy { scheme.field($0.path)?.owner.text == role }, "\(name), \(role)")
                #expect(Set(file.changes.map(\.path)).count == file.changes.count, "\(name), \(role)")
                for change in file.changes {
                    let field = try #require(scheme.field(change.path))
                    let fault = scheme.fault(of: change.value ?? .null, in: field, on: "2025-11-20")
                    #expect(fault == nil, "\(id), \(name), \(role): \(change.path)")
                }
            }
        }
        #expect(leaves == 288)
        #expect(used == expected)
    }

    @Test(.needsRealFixtures(4)) func saysWhyAValueIsNotUsed() throws {
        let body = try OutsideFixtures.real("defra-dwt/payloads/valid/basic-pops-hazardous.post.json")
        func reasons(_ scheme: String, _ role: String) throws -> [String: String] {
            let file = try ValuesFile(body, scheme: try StoryTeller.shipped(scheme), role: try Derived.name(role))
            return Dictionary(uniqueKeysWithValues: file.unused.map { ($0.pointer, $0.reason) })
        }
        let receiver = try reasons("uk-waste-transfer-note", "receiver")
        #expect(receiver["/apiCode"] == "not-about-the-load")
        #expect(receiver["/carrier/organisationName"] == "other-role")
        #expect(receiver.count == 4, "the rest is the site's: \(receiver)")
        let producer = try reasons("uk-waste-transfer-note", "producer")
        #expect(producer["/receiver/siteName"] == "other-role")
        #expect(producer["/wasteItems/0/containsPops"] == "other-role")
        #expect(try reasons("uk-waste-transfer-note", "carrier")["/carrier/organisationName"] == nil)
        let consignor = try reasons("uk-hazardous-consignment-note", "producer")
        #expect(consignor["/hazardousWasteConsignmentCode"] == nil)
        #expect(consignor["/wasteItems/0/hazardous/components/0/concentration"] == nil)
        #expect(consignor["/wasteItems/0/pops/components/1/concentration"] == "other-role")
    }
}

/// Bodies in that shape which nobody published.
@Suite struct OddReceiptTests {
    private func read(
        _ text: String,
        as role: String = "receiver",
        under scheme: String = "uk-waste-transfer-note"
    ) throws -> ValuesFile {
        try ValuesFile(Array(text.utf8), scheme: try StoryTeller.shipped(scheme), role: try Derived.name(role))
    }

    /// The changes as `path=value`.
    private func changes(_ file: ValuesFile) -> [String] {
        file.changes.map { "\($0.path)=\($0.value.map { Scheme.text(of: $0) } ?? "cleared")" }
    }

    @Test(arguments: ["2.5", "2.50", "0.00012", "123456.000000001", "7500"])
    func keepsEveryDigitOfAWeight(amount: String) throws {
        let file = try read(
            #"{"receipt":{},"wasteItems":[{"weight":{"metric":"Kilograms","amount":\#(amount),"isEstimate":false}}]}"#
        )
        #expect(
            file.changes.first { $0.path.description == "receivedItems/1/weight" }?.value
                == .members([("amount", .string(amount)), ("unit", .string("kg"))])
        )
    }

    @Test(arguments: [
        (#"{"metric":"Stones","amount":2}"#, ["metric", "amount"]), (#"{"amount":2}"#, ["amount"]),
        (#"{"metric":"Tonnes"}"#, ["metric"]), (#"{"metric":"Tonnes","amount":"2"}"#, ["metric", "amount"]),
        (#"{"metric":"Tonnes","amount":2e3}"#, ["metric", "amount"]),
        (#"{"metric":"Tonnes","amount":null}"#, ["metric", "amount"]),
        // More digits than an event can hold: listed, never shortened.
        (#"{"metric":"Tonnes","amount":12345678901234567890.000000001}"#, ["metric", "amount"]),
    ])
    func listsAWeightThatCannotBeRead(weight: String, parts: [String]) throws {
        let file = try read(#"{"receipt":{"note":[]},"wasteItems":[{"weight":\#(weight)}]}"#)
        #expect(file.changes.isEmpty)
        let listed = file.unused.filter { $0.reason == "not-a-value" }.map(\.pointer)
        #expect(listed == parts.map { "/wasteItems/0/weight/\($0)" })
        #expect(file.unused.map(\.pointer).contains("/receipt/note"), "what is empty is listed too")
    }

    @Test func listsWhatIsBesideOrInsteadOfWhatItKnows() throws {
        let file = try read(
            #"""
            {"dateTimeReceived":"soon","wasteItems":[{},{"weight":"2 t","ewcCodes":"170904"},
             {"weight":{"metric":"Tonnes","amount":1,"tare":3}}]}
            """#
        )
        #expect(
            file.unused.map(\.pointer).sorted() == [
                "/dateTimeReceived", "/wasteItems/0", "/wasteItems/1/weight", "/wasteItems/2/weight/tare",
            ]
        )
        #expect(file.changes.map(\.path.description) == ["receivedItems/2/ewcCodes", "receivedItems/3/weight"])
    }

    @Test func writesCodesWithoutTheirSpaces() throws {
        let file = try read(
            #"{"receipt":{},"wasteItems":[],"carrier":{"meansOfTransport":"Inland Waterway"}}"#,
            as: "carrier"
        )
        #expect(file.changes.map(\.value) == [.string("InlandWaterway")])
    }

    /// A receipt with everything that the interface takes, which no published body has.
    private static let full = #"""
        {"dateTimeReceived":"2026-11-30T10:20:00+0000","reasonForNoConsignmentCode":"No documentation provided with Waste",
         "yourUniqueReference":"wTBrdgAA020","specialHandlingRequirements":"Keep dry",
         "otherReferencesForMovement":[{"label":"PO Number","reference":"PO-12345"},{"label":"Ticket","reference":"WT-6"}],
         "wasteItems":[
          {"ewcCodes":["170904"],"containsHazardous":false,"disposalOrRecoveryCodes":[
            {"code":"R1","weight":{"metric":"Tonnes","amount":0.75,"isEstimate":false}},
            {"code":"D1","weight":{"metric":"Kilograms","amount":20.50,"isEstimate":true}},
            {"code":"R13","weight":{"metric":"Stones","amount":1,"isEstimate":true}}]},
          {"ewcCodes":["200121"],"containsHazardous":true,"hazardous":{"components":[{"name":"Mercury"},
            {"name":"Lead","concentration":12.50}]},
           "pops":{"components":[{"code":"CHL","concentration":0.8},{"code":"DDT"}]}}],
         "carrier":{"emailAddress":"c@carrier.example","phoneNumber":"020 4756 0000",
          "address":{"fullAddress":"1 Road","postcode":"D02 X285"},"reasonForNoRegistrationNumber":"ON_SITE"},
         "brokerOrDealer":{"organisationName":"Broker Ltd","registrationNumber":"CBDU999999","emailAddress":"b@b.example",
          "phoneNumber":"020 4756 1111","address":{"fullAddress":"2 Road","postcode":"W12 7ZL"}},
         "receiver":{"siteName":"Site","phoneNumber":"020 4756 2222","regulatoryPositionStatements":[343,456]},
         "receipt":{"address":{"postcode":"W12 7ZL"}}}
        """#

    @Test(arguments: [
        (
            "receiver",
            [
                "receivedAt=2026-11-30T10:20:00.000Z", "receiptReference=wTBrdgAA020", "specialHandling=Keep dry",
                "receiverName=Site", "receiverPhone=020 4756 2222", "positionStatements=343, 456",
                "receiverPostcode=W12 7ZL",
                "otherReferences=label: PO Number, reference: PO-12345; label: Ticket, reference: WT-6",
                "receivedItems/1/ewcCodes=170904", "receivedItems/1/containsHazardous=no",
                "receivedItems/1/treatmentCode=R1", "receivedItems/1/treatmentIsEstimate=no",
                "receivedItems/1/treatmentWeight=0.75 t",
                "receivedItems/1/furtherTreatments=code: D1, isEstimate: yes, weight: 20.50 kg; code: R13, isEstimate: yes",
                "receivedItems/2/ewcCodes=200121", "receivedItems/2/containsHazardous=yes",
                "receivedItems/2/hazardousComponents=name: Mercury; concentration: 12.50 mg/kg, name: Lead",
                "receivedItems/2/popComponents=code: CHL, concentration: 0.8 mg/kg; code: DDT",
                "receivedItems/2/noConsignmentReason=NO_DOC_WITH_WASTE",
            ]
        ),
        (
            "carrier",
            [
                "carrierAddress=1 Road", "carrierPostcode=D02 X285", "carrierEmailAddress=c@carrier.example",
                "carrierPhone=020 4756 0000", "noRegistrationReason=ON_SITE",
            ]
        ),
        (
            "producer",
            [
                "brokerName=Broker Ltd", "brokerRegistration=CBDU999999", "wasteItems/1/ewcCodes=170904",
                "wasteItems/2/ewcCodes=200121",
            ]
        ),
        (
            "broker",
            [
                "brokerNumber=CBDU999999", "brokerAddress=2 Road", "brokerPostcode=W12 7ZL",
                "brokerEmailAddress=b@b.example", "brokerPhone=020 4756 1111",
            ]
        ),
    ])
    func readsEverythingTheInterfaceTakes(role: String, expected: [String]) throws {
        let file = try read(OddReceiptTests.full, as: role)
        #expect(changes(file) == expected)
        let listed = file.unused.filter { !["other-role", "not-a-value"].contains($0.reason) }
        #expect(listed.isEmpty, "\(listed)")
        #expect(
            file.unused.filter { $0.reason == "not-a-value" }.map(\.pointer) == [
                "/wasteItems/0/disposalOrRecoveryCodes/2/weight/metric",
                "/wasteItems/0/disposalOrRecoveryCodes/2/weight/amount",
            ]
        )
    }

    @Test func givesTheBrokersFieldsToWhoeverTheSchemeSays() throws {
        let broker = try read(OddReceiptTests.full, as: "broker", under: "uk-hazardous-consignment-note")
        #expect(
            changes(broker) == ["brokerName=Broker Ltd", "brokerRegistration=CBDU999999", "brokerAddress=2 Road"]
        )
        // That note has no postcode of a broker: it is listed, not put somewhere else.
        #expect(broker.unused.contains { $0.pointer == "/brokerOrDealer/address/postcode" && $0.reason == "no-field" })
    }

    @Test(arguments: [
        (#"{"metric":"Tonnes","amount":1.2}"#, "1200 kg"), (#"{"metric":"Tonnes","amount":0.0005}"#, "0.5 kg"),
        (#"{"metric":"Tonnes","amount":1.23456}"#, "1234.56 kg"), (#"{"metric":"Grams","amount":1500}"#, "1.5 kg"),
        (#"{"metric":"Grams","amount":7}"#, "0.007 kg"), (#"{"metric":"Kilograms","amount":7.50}"#, "7.50 kg"),
    ])
    func declaresHazardousWasteInKilograms(weight: String, expected: String) throws {
        let file = try read(
            #"{"receipt":{},"wasteItems":[{"weight":\#(weight)}]}"#,
            as: "producer",
            under: "uk-hazardous-consignment-note"
        )
        #expect(changes(file) == ["wasteItems/1/quantity=\(expected)"])
    }

    @Test func listsWhatNoEventCanCarry() throws {
        let file = try read(#"{"receipt":{},"wasteItems":[{"numberOfContainers":2.5}],"colour":"red","note":""}"#)
        #expect(file.changes.isEmpty)
        #expect(
            file.unused.map { "\($0.pointer) \($0.reason)" } == [
                "/receipt not-a-value", "/wasteItems/0/numberOfContainers not-a-value", "/colour unknown-member",
                "/note unknown-member",
            ]
        )
    }
}
