import Foundation
import Schemes
import Tallystick
import Testing

/// What the shipped schemes' files say, read by Foundation: the engine's own reader has no part in this.
@Suite("Scheme data")
struct SchemeDataTests {
    @Test("ships every scheme folder, each file as it stands on disk")
    func shipsWhatIsOnDisk() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Place.schemes.path).filter {
            FileManager.default.fileExists(atPath: Place.schemes.appending(path: "\($0)/scheme.json").path)
        }
        #expect(folders.sorted() == ShippedSchemes.files.map(\.id))
        for shipped in ShippedSchemes.files {
            let folder = Place.schemes.appending(path: shipped.id)
            let onDisk = try Data(contentsOf: folder.appending(path: "scheme.json"))
            #expect(Data(shipped.scheme.utf8) == onDisk, "run script/embed-schemes")
            let lists = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "codes").path)
            #expect(lists.sorted() == shipped.codes.map { $0.list + ".json" })
            for (list, text) in shipped.codes {
                let onDisk = try Data(contentsOf: folder.appending(path: "codes/\(list).json"))
                #expect(Data(text.utf8) == onDisk, "\(list): run script/embed-schemes")
            }
        }
    }

    @Test("lists exactly the code lists that its fields use", arguments: ShippedSchemes.files.map(\.id))
    func listsItsCodeLists(id: String) throws {
        let scheme = try SchemeData(id)
        let used = Set(scheme.fields.compactMap { $0.value["list"] as? String })
        #expect(used == Set(scheme.lists.keys))
        #expect(Set(scheme.root["codeLists"] as? [String] ?? []) == Set(scheme.lists.keys))
        #expect(scheme.root["scheme"] as? String == id)
    }

    @Test("holds one code a line, none twice", arguments: ShippedSchemes.files.map(\.id))
    func holdsOneCodeALine(id: String) throws {
        let shipped = try #require(ShippedSchemes.files.first { $0.id == id })
        let scheme = try SchemeData(id)
        for (list, text) in shipped.codes {
            let lines = text.split(separator: "\n").filter { $0.hasPrefix("    \"") }
            #expect(lines.count == scheme.lists[list]?.count, "\(list)")
            #expect(!lines.isEmpty, "\(list)")
        }
    }

    @Test("names things in ASCII, and nothing twice", arguments: ShippedSchemes.files.map(\.id))
    func namesThings(id: String) throws {
        let scheme = try SchemeData(id)
        let name = try Pattern("[A-Za-z][A-Za-z0-9\\-]{0,63}")
        for kind in ["role", "field", "line", "rule", "signature", "handoff", "check"] {
            let names = scheme.members(kind + "s").compactMap { $0[kind == "line" ? "lines" : kind] as? String }
            #expect(names.count == scheme.members(kind + "s").count && !names.isEmpty, "\(kind)")
            #expect(Set(names).count == names.count, "\(kind)")
            for each in names { #expect(name.matches(each), "\(each)") }
        }
        let roles = Set(scheme.members("roles").compactMap { $0["role"] as? String })
        for owned in scheme.members("fields") + scheme.members("lines") {
            #expect(roles.contains(owned["owner"] as? String ?? ""), "\(owned)")
        }
    }

    @Test("has only patterns that are read", arguments: ShippedSchemes.files.map(\.id))
    func hasReadablePatterns(id: String) throws {
        let identifiers = try SchemeData(id).fields.filter { $0.value["type"] as? String == "identifier" }
        #expect(!identifiers.isEmpty)
        for path in identifiers.keys { #expect(try !SchemeData(id).patterns(path).isEmpty, "\(path)") }
    }

    @Test(
        "has rules that name fields, codes, flags and signatures there are",
        arguments: ShippedSchemes.files.map(\.id)
    )
    func hasRulesThatHold(id: String) throws {
        let scheme = try SchemeData(id)
        let signatures = Set(scheme.members("signatures").compactMap { $0["signature"] as? String })
        for rule in scheme.members("rules") {
            let name = rule["rule"] as? String ?? "?"
            let at = rule["at"] as? [String] ?? []
            #expect(!at.isEmpty && signatures.isSuperset(of: at), "\(name)")
            #expect(["require", "forbid", "that"].filter { rule[$0] != nil }.count == 1, "\(name)")
            #expect((rule["says"] as? String)?.hasSuffix(".") == true, "\(name)")
            let prefix = (rule["each"] as? String).map { $0 + "/" } ?? ""
            for path in (rule["require"] ?? rule["forbid"]) as? [String] ?? [] {
                #expect(scheme.fields[prefix + path] != nil, "\(name): \(path)")
            }
            for part in ["when", "that"] {
                if let condition = rule[part] { scheme.expectSense(condition, prefix: prefix, in: name) }
            }
        }
        for handoff in scheme.members("handoffs") {
            #expect(signatures.isSuperset(of: handoff["after"] as? [String] ?? []))
        }
        for check in scheme.members("checks") {
            for side in ["declared", "received"] {
                let path = (check[side] as? String ?? "").replacing("/*/", with: "/")
                #expect(scheme.fields[path]?["units"] != nil, "\(path)")
            }
        }
    }

    @Test("holds 842 waste codes, 408 of them hazardous")
    func countsWasteCodes() throws {
        let codes = try #require(try SchemeData("uk-waste-transfer-note").lists["ewc"])
        #expect(codes.count == 842)
        #expect(codes.values.count { $0["hazardous"] as? Bool == true } == 408)
        let sixDigits = try Pattern("[0-9]{6}")
        for code in codes.keys { #expect(sixDigits.matches(code), "\(code)") }
    }

    // The reference data and vectors are Defra's and stay outside the project; without them these are skipped.
    @Test(
        "holds Defra's waste codes and flags, all of them",
        .enabled(if: Place.hasDefra, "no ../shared/fixtures here")
    )
    func holdsDefrasWasteCodes() throws {
        let codes = try #require(try SchemeData("uk-waste-transfer-note").lists["ewc"])
        let reference = try #require(try Place.defra("reference-data/ewc-codes.json") as? [[String: Any]])
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
        .enabled(if: Place.hasDefra, "no ../shared/fixtures here"),
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
        let codes = try #require(try SchemeData("uk-waste-transfer-note").lists[list])
        let reference = try files.flatMap { file in
            try #require(try Place.defra("reference-data/\(file).json") as? [Any])
        }.compactMap { ($0 as? [String: Any])?["code"] as? String ?? $0 as? String }
        // Codes are tokens: Defra's "Inland Waterway" is our InlandWaterway.
        #expect(Set(reference.map { $0.replacing(" ", with: "") }) == Set(codes.keys))
        #expect(codes.count == count && reference.count == count)
    }

    @Test(
        "judges identifiers as Defra's own tests do",
        .enabled(if: Place.hasDefra, "no ../shared/fixtures here"),
        arguments: [
            ("registrationNumber", "carrierRegistration", 20, 13),
            ("brokerRegistration", "carrierRegistration", 20, 13),
            ("siteAuthorisation", "siteAuthorisation", 16, 7),
        ]
    )
    func judgesIdentifiers(field: String, vectors: String, valid: Int, invalid: Int) throws {
        let patterns = try SchemeData("uk-waste-transfer-note").patterns(field)
        let all = try #require(try Place.defra("identifiers/format-vectors.json") as? [String: [String: [String]]])
        let accepted = try #require(all[vectors]?["valid"])
        let refused = try #require(all[vectors]?["invalid"])
        #expect(accepted.count == valid && refused.count == invalid)
        for text in accepted { #expect(patterns.contains { $0.matches(text) }, "\(text)") }
        for text in refused { #expect(!patterns.contains { $0.matches(text) }, "'\(text)'") }
    }

    @Test(
        "accepts the identifiers of Defra's sample receipts",
        .enabled(if: Place.hasDefra, "no ../shared/fixtures here")
    )
    func acceptsSampleReceipts() throws {
        let scheme = try SchemeData("uk-waste-transfer-note")
        var counted = 0
        for folder in ["valid", "warning"] {
            let path = Place.defraFolder.appending(path: "payloads/\(folder)").path
            for file in try FileManager.default.contentsOfDirectory(atPath: path) where file.hasSuffix(".json") {
                let receipt = try #require(try Place.defra("payloads/\(folder)/\(file)") as? [String: Any])
                let carrier = receipt["carrier"] as? [String: Any]
                let receiver = receipt["receiver"] as? [String: Any]
                let address = (receipt["receipt"] as? [String: Any])?["address"] as? [String: Any]
                let values = [
                    ("registrationNumber", carrier?["registrationNumber"]),
                    ("siteAuthorisation", receiver?["authorisationNumber"]),
                    ("emailAddress", receiver?["emailAddress"]), ("receiverPostcode", address?["postcode"]),
                ]
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
        #expect(try SchemeData("uk-waste-transfer-note").patterns(field).contains { $0.matches(text) } == expected)
    }
}

/// A shipped scheme, parsed.
private struct SchemeData {
    let root: [String: Any]
    /// List name, code, and the code's members.
    let lists: [String: [String: [String: Any]]]
    /// Fields by path, with `lines/field` for a line's.
    let fields: [String: [String: Any]]

    init(_ id: String) throws {
        let shipped = try #require(ShippedSchemes.files.first { $0.id == id })
        root = try #require(try Self.parse(shipped.scheme))
        var lists: [String: [String: [String: Any]]] = [:]
        for (list, text) in shipped.codes {
            let file = try #require(try Self.parse(text), "\(list)")
            #expect(file["list"] as? String == list)
            lists[list] = try #require(file["codes"] as? [String: [String: Any]], "\(list)")
        }
        self.lists = lists
        var fields: [String: [String: Any]] = [:]
        for field in root["fields"] as? [[String: Any]] ?? [] { fields[field["field"] as? String ?? "?"] = field }
        for lines in root["lines"] as? [[String: Any]] ?? [] {
            for field in lines["fields"] as? [[String: Any]] ?? [] {
                fields["\(lines["lines"] as? String ?? "?")/\(field["field"] as? String ?? "?")"] = field
            }
        }
        self.fields = fields
    }

    private static func parse(_ text: String) throws -> [String: Any]? {
        try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    }

    func members(_ name: String) -> [[String: Any]] { root[name] as? [[String: Any]] ?? [] }

    func patterns(_ path: String) throws -> [Pattern] {
        let named = try #require(fields[path]?["patterns"] as? [[String: String]])
        return try named.map { try Pattern(try #require($0["pattern"])) }
    }

    /// Records an issue for every field, code or flag in the condition that is not there.
    func expectSense(_ condition: Any, prefix: String, in rule: String) {
        guard let condition = condition as? [String: Any] else {
            Issue.record("\(rule): expected an object")
            return
        }
        for part in (condition["all"] ?? condition["any"]) as? [Any] ?? [] {
            expectSense(part, prefix: prefix, in: rule)
        }
        if let inner = condition["not"] { expectSense(inner, prefix: prefix, in: rule) }
        guard let path = condition["field"] as? String else {
            #expect(condition.count == 1, "\(rule)")
            return
        }
        guard let field = fields[prefix + path] else {
            Issue.record("\(rule): no field \(prefix + path)")
            return
        }
        guard let list = field["list"] as? String else { return }
        if let flag = condition["flag"] as? String {
            #expect(lists[list]?.values.contains { $0[flag] as? Bool == true } == true, "\(rule): no flag \(flag)")
        } else if let code = condition["is"] as? String {
            #expect(lists[list]?[code] != nil, "\(rule): no code \(code)")
        }
    }
}

/// Where the files are.
private enum Place {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    static let schemes = root.appending(path: "Sources/Schemes")
    static let defraFolder =
        (ProcessInfo.processInfo.environment["TALLY_FIXTURES"].map { URL(filePath: $0) }
        ?? root.appending(path: "../shared/fixtures")).appending(path: "real/defra-dwt")
    static let hasDefra = FileManager.default.fileExists(atPath: defraFolder.path)

    static func defra(_ path: String) throws -> Any {
        try JSONSerialization.jsonObject(
            with: Data(contentsOf: defraFolder.appending(path: path)),
            options: .fragmentsAllowed
        )
    }
}
