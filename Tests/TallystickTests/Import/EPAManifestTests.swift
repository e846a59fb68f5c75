import Schemes
import Tallystick
import TallystickTestSupport
import Testing

/// The JSON of EPA's e-Manifest service: every value of a file is used, or listed with why it was not.
@Suite struct EPAManifestTests {
    private static let folders = ["epa-emanifest/manifests", "epa-emanifest/scenarios", "epa-haztrak/manifests"]

    private static func read(_ text: String, as role: String, order: Int = 1) throws -> ValuesFile {
        try ValuesFile(
            Array(text.utf8),
            scheme: try StoryTeller.shipped("us-hazardous-waste-manifest"),
            role: try Derived.name(role),
            order: order
        )
    }

    private static func file(_ path: String) throws -> String {
        String(decoding: try OutsideFixtures.real(path), as: UTF8.self)
    }

    /// The changes as `path=value`.
    private static func changes(_ file: ValuesFile) -> [String] {
        file.changes.map { "\($0.path)=\($0.value.map { Scheme.text(of: $0) } ?? "cleared")" }
    }

    /// Why the value at a pointer is not used; nil where it is.
    private static func reason(_ pointer: String, _ file: ValuesFile) -> String? {
        file.unused.first { $0.pointer == pointer }?.reason
    }

    @Test(.needsRealFixtures(13))
    func usesOrListsEveryValueForEveryRole() throws {
        var table = RealTable("Values of EPA's manifests:", "ROLE", "LEAVES", "USED", "LISTED", "WHY")
        let parties = [
            ("generator", 1), ("transporter", 1), ("transporter", 2), ("transporter", 3), ("transporter", 4),
            ("facility", 1), ("facility", 2), ("facility", 3), ("taker-back", 1), ("broker", 1),
        ]
        var files = 0
        var usedBy: [String: Int] = [:]
        let texts = try EPAManifestTests.folders.flatMap { folder in
            try OutsideFixtures.realNames(in: folder).filter { !$0.hasSuffix("-response.json") }.map { name in
                (name, try EPAManifestTests.file("\(folder)/\(name)"))
            }
        }
        for (role, order) in parties {
            var leaves = 0
            var used = 0
            var reasons: [String: Int] = [:]
            files = 0
            for (name, text) in texts {
                let all = Leaf.all(of: try JSON.parse(Array(text.utf8)))
                let file = try EPAManifestTests.read(text, as: role, order: order)
                #expect(file.shape == .epaManifest, "\(name)")
                leaves += all.count
                // That the second facility does not refuse stands nowhere in the file.
                let isSecond = role == "facility" && order == 2 && name.contains("full-reject")
                let what = "\(name), \(role) \(order)"
                if isSecond {
                    #expect(EPAManifestTests.reason("/rejection", file) == "other-party", "\(what)")
                    used += all.count - file.unused.count
                } else {
                    used += Leaf.expectAccounts(of: file, for: all, what, isAdded: \.isEPAs) { $0.epa }
                }
                for item in file.unused { reasons[item.reason, default: 0] += 1 }
                #expect(Set(file.changes.map(\.path)).count == file.changes.count, "\(what)")
                let unknown = file.unused.filter { $0.reason == "unknown-member" }.map(\.pointer)
                #expect(unknown == (name.contains("invalid") ? ["/wastes/0/hazardous"] : []), "\(what)")
                files += 1
            }
            usedBy["\(role) \(order)"] = used
            table.add(
                "\(role) \(order)",
                "\(leaves)",
                "\(used)",
                "\(reasons.values.reduce(0, +))",
                reasons.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
            )
        }
        table.show()
        #expect(files == 13)
        #expect(
            usedBy == [
                "generator 1": 689, "transporter 1": 67, "transporter 2": 17, "transporter 3": 16, "transporter 4": 0,
                "facility 1": 132, "facility 2": 25, "facility 3": 15, "taker-back 1": 0, "broker 1": 0,
            ]
        )
    }

    // MARK: Which party

    private static let two = #"""
        {"submissionType":"DataImage5Copy","status":"ReadyForSignature","rejection":true,
         "generator":{"epaSiteId":"VATESTGEN001"},
         "transporters":[{"epaSiteId":"VATESTRAN02","name":"Second","order":2},{"epaSiteId":"VATESTRAN01","order":1}],
         "designatedFacility":{"epaSiteId":"VATESTTSDF03","registered":true,
          "paperSignatureInfo":{"printedName":"First","signatureDate":"2019-05-09T04:00:00.000+0000"}},
         "rejectionInfo":{"transporterOnSite":true,"rejectionType":"FullReject","rejectionComments":"Wrong waste",
          "alternateDesignatedFacilityType":"Tsdf",
          "alternateDesignatedFacility":{"epaSiteId":"VATESTTSDF04","paperSignatureInfo":{"printedName":"Second"}}},
         "wastes":[{"lineNumber":4,"managementMethod":{"code":"H141","description":"STORAGE"},
          "discrepancyResidueInfo":{"wasteQuantity":false}}]}
        """#

    @Test(arguments: [
        ("generator", 1, ["generatorSiteId=VATESTGEN001", "wastes/4/plannedMethod=H141"]),
        ("transporter", 1, ["transporterSiteId=VATESTRAN01"]),
        ("transporter", 2, ["transporterSiteId=VATESTRAN02", "transporterName=Second"]), ("transporter", 3, []),
        (
            "facility", 1,
            [
                "facilitySiteId=VATESTTSDF03", "facilityPrintedName=First", "rejection=yes", "rejectionType=FullReject",
                "transporterOnSite=yes", "rejectionComments=Wrong waste", "alternateType=Tsdf",
                "alternateSiteId=VATESTTSDF04",
            ]
        ),
        (
            "facility", 2,
            [
                "received/4/managementMethod=H141", "received/4/discrepancyQuantity=no", "facilitySiteId=VATESTTSDF04",
                "facilityPrintedName=Second", "rejection=no",
            ]
        ),
        ("facility", 3, []), ("broker", 1, []),
    ])
    func readsThePartyAskedFor(role: String, order: Int, expected: [String]) throws {
        let file = try EPAManifestTests.read(EPAManifestTests.two, as: role, order: order)
        let changes = EPAManifestTests.changes(file)
        if role == "generator" {
            for change in expected + ["plannedTransporters/1/siteId=VATESTRAN01", "plannedTransporters/2/name=Second"] {
                #expect(changes.contains(change), "\(change)")
            }
        } else {
            #expect(changes == expected)
        }
    }

    @Test func saysWhoseAValueIs() throws {
        let file = try EPAManifestTests.read(EPAManifestTests.two, as: "facility")
        #expect(EPAManifestTests.reason("/wastes/0/managementMethod/code", file) == "other-party")
        #expect(EPAManifestTests.reason("/wastes/0/managementMethod/description", file) == "no-field")
        #expect(
            EPAManifestTests.reason(
                "/rejectionInfo/alternateDesignatedFacility/paperSignatureInfo/printedName",
                file
            ) == "other-party"
        )
        #expect(EPAManifestTests.reason("/designatedFacility/registered", file) == "not-about-the-load")
        #expect(EPAManifestTests.reason("/designatedFacility/paperSignatureInfo/signatureDate", file) == "no-field")
        #expect(EPAManifestTests.reason("/generator/epaSiteId", file) == "other-role")
        let first = try EPAManifestTests.read(EPAManifestTests.two, as: "transporter")
        #expect(EPAManifestTests.reason("/transporters/0/name", first) == "other-party")
    }

    @Test func leavesTheReceiptOfALoadThatNobodyHasReceived() throws {
        let text = EPAManifestTests.two.replacing("ReadyForSignature", with: "Scheduled")
            .replacing(#","signatureDate":"2019-05-09T04:00:00.000+0000""#, with: "")
        let file = try EPAManifestTests.read(text, as: "facility")
        #expect(EPAManifestTests.changes(file).first == "facilitySiteId=VATESTTSDF03")
        for pointer in [
            "/rejection", "/rejectionInfo/rejectionComments", "/wastes/0/managementMethod/code",
            "/wastes/0/discrepancyResidueInfo/wasteQuantity",
        ] {
            #expect(EPAManifestTests.reason(pointer, file) == "not-yet", "\(pointer)")
        }
    }

    @Test func returnsALoadToItsGenerator() throws {
        let text = EPAManifestTests.two.replacing(
            #""alternateDesignatedFacilityType":"Tsdf""#,
            with: #"""
                "alternateDesignatedFacilityType":"Generator","generatorPaperSignature":{"printedName":"Ana Reyes"},
                "generatorElectronicSignature":{"signatureDate":"2019-05-10T04:00:00Z","signatureMethod":"QuickSign"}
                """#
        )
        let taker = try EPAManifestTests.read(text, as: "taker-back")
        #expect(
            EPAManifestTests.changes(taker) == [
                "takerPrintedName=Ana Reyes",
                "takerESignatures=method: QuickSign, signedAt: 2019-05-10T04:00:00.000Z",
            ]
        )
        let facility = try EPAManifestTests.read(text, as: "facility")
        #expect(EPAManifestTests.reason("/wastes/0/managementMethod/code", facility) == "no-field")
    }

    // MARK: Conversions

    private static func waste(_ members: String, as role: String = "generator") throws -> ValuesFile {
        try read(#"{"submissionType":"Hybrid","status":"Signed","generator":{},"wastes":[{\#(members)}]}"#, as: role)
    }

    @Test(arguments: [
        ("P", "lb"), ("T", "short-ton"), ("K", "kg"), ("M", "t"), ("G", "gal"), ("L", "l"), ("Y", "yd3"), ("N", "m3"),
    ])
    func readsQuantitiesInTheUnitsOfTheForm(code: String, symbol: String) throws {
        let file = try EPAManifestTests.waste(
            #""lineNumber":7,"quantity":{"quantity":480,"unitOfMeasurement":{"code":"\#(code)","description":"x"}}"#
        )
        #expect(EPAManifestTests.changes(file).last == "wastes/7/quantity=480 \(symbol)")
    }

    @Test(arguments: [
        (#""quantity":{"quantity":1.67,"unitOfMeasurement":{"code":"L"}}"#, "wastes/1/quantity=1.67 l"),
        (#""dotInformation":{"hazardClass":{"code":"Comb liq"}}"#, "wastes/1/hazardClass=Comb-liq"),
        (#""brInfo":{"density":1.0}"#, "wastes/1/density=1.0"),
        (
            #""hazardousWaste":{"federalWasteCodes":[{"code":"D001"},{"code":"U400"}]}"#,
            "wastes/1/otherFederalCodes=U400"
        ),
        (#""hazardousWaste":{"tsdfStateWasteCodes":[{"code":"TEST3"}]}"#, "wastes/1/facilityStateCodes=TEST3"),
        (#""hazardousWaste":{"txWasteCodes":["32112345"]}"#, "wastes/1/texasCodes=32112345"),
        (
            #""pcbInfos":[{"loadType":{"code":"BulkWaste"},"dateOfRemoval":"2019-03-17T04:00:00.000+0000","weight":456.5}]"#,
            "wastes/1/pcbItems=loadType: BulkWaste, removedOn: 2019-03-17, weight: 456.5 kg"
        ),
        (
            #""additionalInfo":{"comments":[{"label":"Truck #","description":"323 VED","handlerId":"VAR000503920"}]}"#,
            "wastes/1/comments=description: 323 VED, label: Truck #, site: VAR000503920"
        ),
    ])
    func readsALine(members: String, expected: String) throws {
        #expect(EPAManifestTests.changes(try EPAManifestTests.waste(members)).last == expected)
    }

    @Test func splitsCodesByWhatTheListHas() throws {
        let codes = #""hazardousWaste":{"federalWasteCodes":[{"code":"D001"},{"code":"U400"}]}"#
        let file = try EPAManifestTests.waste(codes)
        #expect(EPAManifestTests.changes(file).contains("wastes/1/federalCodes=D001"))
        for (code, field) in [("H141", "managementMethod"), ("H999", "otherManagementMethod")] {
            let received = try EPAManifestTests.waste(#""managementMethod":{"code":"\#(code)"}"#, as: "facility")
            #expect(EPAManifestTests.changes(received) == ["received/1/\(field)=\(code)"])
        }
    }

    @Test(arguments: [
        (#""br":{"density":1.0}"#, ["/wastes/0/br/density not-a-value"]),
        (#""brInfo":true"#, ["/wastes/0/brInfo not-a-value"]),
        (#""hazardous":"true""#, ["/wastes/0/hazardous unknown-member"]),
        (#""pcbInfos":[]"#, ["/wastes/0/pcbInfos not-a-value"]),
        (#""wasteDescription":"""#, ["/wastes/0/wasteDescription not-a-value"]),
        (#""epaWaste":null"#, ["/wastes/0/epaWaste not-a-value"]),
        (
            #""quantity":{"quantity":5,"unitOfMeasurement":{"code":"Z"}}"#,
            ["/wastes/0/quantity/quantity not-a-value", "/wastes/0/quantity/unitOfMeasurement/code not-a-value"]
        ),
        (#""quantity":{"quantity":5}"#, ["/wastes/0/quantity/quantity not-a-value"]),
    ])
    func listsWhatIsNoValue(members: String, expected: [String]) throws {
        let file = try EPAManifestTests.waste(members)
        let listed = file.unused.filter { $0.pointer.hasPrefix("/wastes") }.map { "\($0.pointer) \($0.reason)" }
        #expect(listed == expected)
        #expect(!file.changes.contains { $0.path.line != nil })
    }

    @Test func keepsTheFirstOfTwoLinesWithOneNumber() throws {
        let file = try EPAManifestTests.read(
            #"""
            {"submissionType":"Hybrid","generator":{},
             "wastes":[{"lineNumber":2,"pcb":true},{"lineNumber":2,"pcb":false},{"br":false}]}
            """#,
            as: "generator"
        )
        #expect(
            EPAManifestTests.changes(file) == ["submissionType=Hybrid", "wastes/2/pcb=yes", "wastes/3/br=no"]
        )
        #expect(EPAManifestTests.reason("/wastes/1/pcb", file) == "not-a-value")
    }

    // MARK: Other files

    @Test func refusesAVersionThatIsNotInForce() throws {
        let text = #"{"submissionType":"Hybrid","generator":{},"correctionInfo":{"active":false}}"#
        #expect(throws: JSONError.self) { try EPAManifestTests.read(text, as: "generator") }
        let active = try EPAManifestTests.read(text.replacing("false", with: "true"), as: "generator")
        #expect(EPAManifestTests.reason("/correctionInfo/active", active) == "not-about-the-load")
    }

    @Test func tellsOurOwnShapeFromEPAs() throws {
        let own = #"{"submissionType":"Hybrid","wastes":[{"pcb":true}],"generatorSiteId":"VATESTGEN001"}"#
        let file = try EPAManifestTests.read(own, as: "generator")
        #expect(file.shape == .values)
        #expect(file.unused.isEmpty && file.changes.count == 3)
    }

    @Test(
        .needsRealFixtures(4),
        arguments: [
            "responses/emanifest-return-success-example-no-warnings.json",
            "scenarios/scenario-1-emanifest-update-valid-full-electronic-example-response.json",
            "responses/emanifest-return-failure-example.json",
        ]
    )
    func readsTheNumberFromAnAnswer(path: String) throws {
        let text = try EPAManifestTests.file("epa-emanifest/\(path)")
        let file = try EPAManifestTests.read(text, as: "generator")
        #expect(file.shape == .epaAnswer)
        let number = try JSON.parse(Array(text.utf8))["manifestTrackingNumber"]?.text
        #expect(EPAManifestTests.changes(file) == (number.map { ["manifestTrackingNumber=\($0)"] } ?? []))
        #expect(file.unused.allSatisfy { $0.reason == "not-about-the-load" })
        let facility = try EPAManifestTests.read(text, as: "facility")
        #expect(EPAManifestTests.changes(facility) == (number.map { ["uploadTrackingNumber=\($0)"] } ?? []))
    }

    @Test(.needsRealFixtures(2), arguments: ["quicker-sign-example.json", "py-client-quicker-sign.json"])
    func readsTheNameFromAQuickSignature(name: String) throws {
        let text = try EPAManifestTests.file("epa-emanifest/sign/\(name)")
        let file = try EPAManifestTests.read(text, as: "transporter")
        #expect(file.shape == .epaQuickSign)
        #expect(EPAManifestTests.changes(file) == ["transporterPrintedName=AT"])
        #expect(file.unused.allSatisfy { $0.reason == "no-field" } && file.unused.count == 6)
        let second = try EPAManifestTests.read(text, as: "transporter", order: 2)
        #expect(EPAManifestTests.reason("/printedSignatureName", second) == "other-party")
        #expect(try EPAManifestTests.read(text, as: "generator").changes.isEmpty)
    }

    /// The three parts that haztrak's tests are made of, put together to a manifest.
    @Test(.needsRealFixtures(3)) func readsThePartsOfHaztrak() throws {
        let site = try EPAManifestTests.file("epa-haztrak/parts/handler.json")
        let signature = try EPAManifestTests.file("epa-haztrak/parts/e-signature.json")
        let line = try EPAManifestTests.file("epa-haztrak/parts/waste-line.json")
        let text = #"""
            {"submissionType":"FullElectronic","status":"Signed","generator":\#(site),"wastes":[\#(line)],
             "designatedFacility":{"electronicSignaturesInfo":[\#(signature)]}}
            """#
        let generator = try EPAManifestTests.read(text, as: "generator")
        let changes = EPAManifestTests.changes(generator)
        for expected in [
            "generatorContact=email: redacted@example.com, firstName: SCOTT, lastName: CHRISTIAN, phone: 888-888-8888",
            "generatorESignatures=documentName: human-readable.html, documentSize: 161358, documentType: TEXT_HTML, "
                + "firstName: David, lastName: Graham, signedAt: 2022-01-21T15:56:07.136Z, signerRole: Industry, "
                + "userId: DPGRAHAM4401",
            "emergencyPhone=555-555-5555", "wastes/1/density=0.92", "wastes/1/densityUnit=2", "wastes/1/formCode=W103",
            "wastes/1/sourceCode=G02", "wastes/1/wasteMinimizationCode=A",
        ] {
            #expect(changes.contains(expected), "\(expected)")
        }
        #expect(changes.contains { $0.contains("streetNumber: 123") })
        #expect(!generator.unused.contains { $0.reason == "unknown-member" })
        for change in generator.changes {
            let scheme = try StoryTeller.shipped("us-hazardous-waste-manifest")
            let field = try #require(scheme.field(change.path))
            #expect(scheme.fault(of: change.value ?? .null, in: field, on: "2022-01-21") == nil, "\(change.path)")
        }
        let facility = try EPAManifestTests.read(text, as: "facility")
        #expect(EPAManifestTests.changes(facility).contains { $0.hasPrefix("facilityESignatures=") })
    }
}

extension Leaf {
    /// Whether it is part of a value, but of no file: the kind of an address, and the unit of PCB weights.
    fileprivate var isEPAs: Bool {
        pointer.hasSuffix("/kind") || pointer.hasSuffix("/weight/unit")
    }

    /// What it becomes in an event: units by their symbols, times in their one spelling, and days of them alone.
    fileprivate var epa: String {
        let units = ["P": "lb", "T": "short-ton", "K": "kg", "M": "t", "G": "gal", "L": "l", "Y": "yd3", "N": "m3"]
        if pointer.hasSuffix("/quantity/unitOfMeasurement/code") { return units[text] ?? text }
        if pointer.hasSuffix("/dateOfRemoval") { return String(text.prefix(10)) }
        return text.replacing("+0000", with: "Z")
    }
}
