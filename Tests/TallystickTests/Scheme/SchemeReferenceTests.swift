import Foundation
import Schemes
import Tallystick
import Testing

/// The shipped code lists and patterns, held against the regulators' own data; those are not ours and stay outside.
@Suite("Scheme reference data")
struct SchemeReferenceTests {
    private static let uk = ["uk-waste-transfer-note", "uk-hazardous-consignment-note"]

    @Test("holds 842 waste codes, 408 of them hazardous", arguments: uk)
    func countsWasteCodes(id: String) throws {
        let codes = try #require(try SchemeData(id).lists["ewc"])
        #expect(codes.count == 842)
        #expect(codes.values.count { $0["hazardous"] as? Bool == true } == 408)
        let sixDigits = try Pattern("[0-9]{6}")
        for code in codes.keys { #expect(sixDigits.matches(code), "\(code)") }
    }

    @Test("holds Defra's waste codes and flags, all of them", .needsRealFixtures(1_684), arguments: uk)
    func holdsDefrasWasteCodes(id: String) throws {
        let codes = try #require(try SchemeData(id).lists["ewc"])
        let reference = try #require(
            try OutsideFixtures.realJSON("defra-dwt/reference-data/ewc-codes.json") as? [[String: Any]]
        )
        #expect(reference.count == 842)
        for entry in reference {
            let code = try #require(entry["code"] as? String)
            let flags = try #require(codes[code], "\(code) is missing")
            let isHazardous = try #require(entry["isHazardous"] as? Bool)
            #expect((flags["hazardous"] as? Bool ?? false) == isHazardous, "\(code)")
        }
        #expect(
            codes.values.count { $0["hazardous"] as? Bool == true }
                == reference.count { $0["isHazardous"] as? Bool == true }
        )
    }

    @Test(
        "holds Defra's other code lists",
        .needsRealFixtures(8),
        arguments: [
            ("containers", ["container-types"], 16), ("hazard-properties", ["hazardous-property-codes"], 16),
            ("means-of-transport", ["means-of-transport"], 7), ("pops", ["pop-names"], 31),
            ("no-registration-reasons", ["reasons-for-no-registration-number"], 4),
            ("no-consignment-reasons", ["reasons-for-no-consignment-code"], 3),
            ("component-sources", ["source-of-components"], 4),
            ("treatments", ["recovery-codes", "disposal-codes"], 28),
        ]
    )
    func holdsDefrasCodes(list: String, files: [String], count: Int) throws {
        let reference = try files.flatMap { file in
            try #require(try OutsideFixtures.realJSON("defra-dwt/reference-data/\(file).json") as? [Any])
        }.compactMap { ($0 as? [String: Any])?["code"] as? String ?? $0 as? String }
        var held = 0
        for id in SchemeReferenceTests.uk {
            guard let codes = try SchemeData(id).lists[list] else { continue }
            // Codes are tokens: Defra's "Inland Waterway" is our InlandWaterway.
            #expect(Set(reference.map { $0.replacing(" ", with: "") }) == Set(codes.keys), "\(id)")
            #expect(codes.count == count && reference.count == count, "\(id)")
            held += 1
        }
        // A consignment note has a code, so it needs no reason for having none.
        #expect(held == (list == "no-consignment-reasons" ? 1 : 2))
    }

    @Test(
        "judges identifiers as Defra's own tests do",
        .needsRealFixtures(188),
        arguments: [
            ("uk-waste-transfer-note", "registrationNumber", "carrierRegistration", 20, 13),
            ("uk-waste-transfer-note", "brokerRegistration", "carrierRegistration", 20, 13),
            ("uk-waste-transfer-note", "brokerNumber", "carrierRegistration", 20, 13),
            ("uk-waste-transfer-note", "siteAuthorisation", "siteAuthorisation", 16, 7),
            ("uk-hazardous-consignment-note", "registrationNumber", "carrierRegistration", 20, 13),
            ("uk-hazardous-consignment-note", "brokerRegistration", "carrierRegistration", 20, 13),
            ("uk-hazardous-consignment-note", "siteAuthorisation", "siteAuthorisation", 16, 7),
        ]
    )
    func judgesIdentifiers(id: String, field: String, vectors: String, valid: Int, invalid: Int) throws {
        let patterns = try SchemeData(id).patterns(field)
        let all = try #require(
            try OutsideFixtures.realJSON("defra-dwt/identifiers/format-vectors.json") as? [String: [String: [String]]]
        )
        let accepted = try #require(all[vectors]?["valid"])
        let refused = try #require(all[vectors]?["invalid"])
        #expect(accepted.count == valid && refused.count == invalid)
        for text in accepted { #expect(patterns.contains { $0.matches(text) }, "\(text)") }
        for text in refused { #expect(!patterns.contains { $0.matches(text) }, "'\(text)'") }
    }

    @Test(
        "accepts the identifiers of Defra's sample receipts",
        .needsRealFixtures(8),
        arguments: [
            ("uk-waste-transfer-note", "consignmentCode"), ("uk-hazardous-consignment-note", "receivedConsignmentCode"),
        ]
    )
    func acceptsSampleReceipts(id: String, code: String) throws {
        let scheme = try SchemeData(id)
        var counted = 0
        for folder in ["valid", "warning"] {
            for file in try OutsideFixtures.realNames(in: "defra-dwt/payloads/\(folder)") {
                let receipt = try #require(
                    try OutsideFixtures.realJSON("defra-dwt/payloads/\(folder)/\(file)") as? [String: Any]
                )
                let carrier = receipt["carrier"] as? [String: Any]
                let receiver = receipt["receiver"] as? [String: Any]
                let address = (receipt["receipt"] as? [String: Any])?["address"] as? [String: Any]
                var values = [
                    ("registrationNumber", carrier?["registrationNumber"]),
                    ("siteAuthorisation", receiver?["authorisationNumber"]),
                    ("emailAddress", receiver?["emailAddress"]), ("receiverPostcode", address?["postcode"]),
                ]
                if file.contains("hazardous") { values.append((code, receipt["hazardousWasteConsignmentCode"])) }
                for (field, value) in values {
                    let text = try #require(value as? String, "\(file): \(field)")
                    #expect(try scheme.patterns(field).contains { $0.matches(text) }, "\(file): \(field) \(text)")
                }
                counted += 1
            }
        }
        #expect(counted == 8)
    }

    @Test(
        "judges identifiers that the vectors leave open",
        arguments: [
            ("registrationNumber", "cbdu123", true), ("registrationNumber", "ROCLT9999", true),
            ("registrationNumber", "WCR/123456", true), ("registrationNumber", "ROC UT 123456", false),
            ("registrationNumber", "CBDL6", false), ("siteAuthorisation", "WPPC 12/34/V2", true),
            ("siteAuthorisation", "WML 04/38 PAC/2014/WCL001", true),
            ("siteAuthorisation", "WML 19/36/T LN/10/35/T/M", true),
            ("siteAuthorisation", "WML/L/SEPA1234-5678", true), ("siteAuthorisation", "EPR/AB1234CD/D123", false),
            ("receiverPostcode", "LS1 4DY", true), ("receiverPostcode", "sw1a 1aa", true),
            ("receiverPostcode", "M1 1AE", true),
            ("receiverPostcode", "CR26XH", false), ("receiverPostcode", "D02 X285", false),
            ("receiverPostcode", "LS1  4DY", false),
            ("emailAddress", "a.b+c@site.example.co.uk", true), ("emailAddress", "a@b", false),
            ("emailAddress", "a..b@c.uk", false), ("sicCode", "01110", true), ("sicCode", "1110", false),
        ]
    )
    func judgesOpenIdentifiers(field: String, text: String, expected: Bool) throws {
        for id in SchemeReferenceTests.uk {
            #expect(try SchemeData(id).patterns(field).contains { $0.matches(text) } == expected, "\(id)")
        }
    }

    @Test(
        "holds EPA's code lists",
        .needsRealFixtures(7),
        arguments: [
            ("container-types", "epa-emanifest/code-lists/container-types.json", nil, 13),
            ("origin-types", "epa-emanifest/code-lists/enums.json", "originType", 3),
            ("signer-roles", "epa-emanifest/code-lists/enums.json", "signerRole", 4),
            // A picture alone is not a kind of manifest here: it has its own signature.
            ("submission-types", "epa-emanifest/code-lists/enums.json", "submissionType", 3),
            ("federal-waste-codes", "epa-haztrak/code-lists/federal-waste-codes.json", nil, 167),
            ("hazard-classes", "epa-haztrak/code-lists/dot-hazard-classes.json", nil, 50),
            ("packing-groups", "epa-haztrak/code-lists/dot-packing-groups.json", nil, 3),
        ] as [(String, String, String?, Int)]
    )
    func holdsEPAsCodes(list: String, file: String, member: String?, count: Int) throws {
        let codes = try #require(try SchemeData("us-hazardous-waste-manifest").lists[list])
        let json = try OutsideFixtures.realJSON(file)
        let all = try #require((member.map { (json as? [String: Any])?[$0] as? [Any] } ?? json as? [Any]) ?? nil)
        let reference = all.compactMap { ($0 as? [String: Any])?["code"] as? String ?? $0 as? String }
        #expect(reference.count == all.count)
        // Codes are tokens: “Comb liq” is our Comb-liq.
        #expect(Set(reference.filter { $0 != "Image" }.map { $0.replacing(" ", with: "-") }) == Set(codes.keys))
        #expect(codes.count == count)
    }
}
