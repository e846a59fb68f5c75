import Foundation
import Schemes
import Tallystick
import Testing

/// What the shipped schemes' files say, read by Foundation.
@Suite("Scheme data")
struct SchemeDataTests {
    @Test("ships every scheme folder, each file as it stands on disk")
    func shipsWhatIsOnDisk() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: SchemePlace.schemes.path).filter {
            FileManager.default.fileExists(atPath: SchemePlace.schemes.appending(path: "\($0)/scheme.json").path)
        }
        #expect(folders.sorted() == ShippedSchemes.files.map(\.id))
        #expect(folders.count == 5)
        for shipped in ShippedSchemes.files {
            let folder = SchemePlace.schemes.appending(path: shipped.id)
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

    @Test("ships every earlier version, with its own text and the lists that were different then")
    func shipsEarlierVersions() throws {
        var found: [String] = []
        for shipped in ShippedSchemes.files {
            let earlier = SchemePlace.schemes.appending(path: "\(shipped.id)/earlier")
            guard FileManager.default.fileExists(atPath: earlier.path) else { continue }
            for version in try FileManager.default.contentsOfDirectory(atPath: earlier.path).sorted() {
                let folder = earlier.appending(path: version)
                let old = try #require(
                    ShippedSchemes.earlier.first { file in
                        file.id == shipped.id && file.scheme.contains("\"version\": \(version),")
                    }
                )
                #expect(try Data(contentsOf: folder.appending(path: "scheme.json")) == Data(old.scheme.utf8))
                let changed = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "codes").path)
                for (list, text) in old.codes {
                    let place = changed.contains(list + ".json") ? folder : folder.appending(path: "../..")
                    let onDisk = try Data(contentsOf: place.appending(path: "codes/\(list).json"))
                    #expect(Data(text.utf8) == onDisk, "\(list): run script/embed-schemes")
                }
                found.append("\(shipped.id) \(version)")
            }
        }
        #expect(found == ["uk-waste-transfer-note 1"] && ShippedSchemes.earlier.count == found.count)
    }

    @Test("lists exactly the code lists that its fields and entries use", arguments: ShippedSchemes.files.map(\.id))
    func listsItsCodeLists(id: String) throws {
        let scheme = try SchemeData(id)
        let all = Array(scheme.fields.values) + Array(scheme.entryFields.values)
        let used = Set(all.compactMap { $0["list"] as? String })
        #expect(used == Set(scheme.lists.keys))
        #expect(scheme.root["codeLists"] as? [String] ?? [] == scheme.lists.keys.sorted())
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
        func expectNames(_ names: [String], of count: Int, _ kind: String) {
            #expect(names.count == count, "\(kind)")
            #expect(Set(names).count == names.count, "\(kind)")
            for each in names { #expect(name.matches(each), "\(kind) \(each)") }
        }
        // Only an item of evidence has nothing that is counted or weighed twice.
        let without = [
            "evidence-item": ["check", "calendar"], "uk-waste-transfer-note": [], "uk-hazardous-consignment-note": [],
        ]
        let none = without[id] ?? ["calendar"]
        for kind in ["role", "field", "line", "rule", "signature", "handoff", "check", "link", "deadline", "calendar"] {
            let members = scheme.members(kind + "s")
            expectNames(scheme.names(kind == "line" ? "lines" : kind, in: kind + "s"), of: members.count, kind)
            #expect(members.isEmpty == none.contains(kind), "\(kind)")
        }
        expectNames(scheme.names("outcome", in: "closing"), of: scheme.members("closing").count, "outcome")
        #expect(scheme.signatures.isDisjoint(with: scheme.handoffs), "a stage is one or the other")
        for lines in scheme.members("lines") {
            let fields = lines["fields"] as? [[String: Any]] ?? []
            expectNames(fields.compactMap { $0["field"] as? String }, of: fields.count, "\(lines["lines"] ?? "")")
        }
        for (path, field) in scheme.fields where field["type"] as? String == "entries" {
            let fields = field["fields"] as? [[String: Any]] ?? []
            expectNames(fields.compactMap { $0["field"] as? String }, of: fields.count, path)
            #expect(!fields.isEmpty && field["many"] != nil, "\(path)")
            #expect(fields.allSatisfy { $0["type"] as? String != "entries" && $0["owner"] == nil }, "\(path)")
        }
        for owned in scheme.members("fields") + scheme.members("lines") {
            #expect(scheme.roles.contains(owned["owner"] as? String ?? ""), "\(owned)")
        }
    }

    @Test("has only patterns that are read", arguments: ShippedSchemes.files.map(\.id))
    func hasReadablePatterns(id: String) throws {
        let scheme = try SchemeData(id)
        let all = scheme.fields.merging(scheme.entryFields) { field, _ in field }
        let identifiers = all.filter { $0.value["type"] as? String == "identifier" }
        #expect(!identifiers.isEmpty)
        for path in identifiers.keys { #expect(try !scheme.patterns(path).isEmpty, "\(path)") }
        #expect(all.allSatisfy { ($0.value["patterns"] != nil) == identifiers.keys.contains($0.key) })
    }

    @Test(
        "has rules that name fields, codes, flags, forms and stages there are",
        arguments: ShippedSchemes.files.map(\.id)
    )
    func hasRulesThatHold(id: String) throws {
        let scheme = try SchemeData(id)
        for rule in scheme.members("rules") {
            let name = rule["rule"] as? String ?? "?"
            let at = rule["at"] as? [String] ?? []
            #expect(!at.isEmpty && scheme.stages.isSuperset(of: at), "\(name)")
            #expect(["require", "forbid", "that"].filter { rule[$0] != nil }.count == 1, "\(name)")
            #expect((rule["says"] as? String)?.hasSuffix(".") == true, "\(name)")
            #expect(rule["severity"] == nil || rule["severity"] as? String == "warning", "\(name)")
            let lines = rule["each"] as? String
            let prefix = lines.map { $0 + "/" } ?? ""
            #expect(lines == nil || scheme.owners[lines ?? ""] != nil, "\(name)")
            scheme.expectFields(rule["require"] ?? rule["forbid"], prefix: prefix, in: name)
            for part in ["when", "that"] {
                if let condition = rule[part] { scheme.expectSense(condition, prefix: prefix, in: name) }
            }
            // Who took the load by a code alone knows nobody else's values, and must be able to act.
            guard rule["severity"] == nil else { continue }
            for stage in at {
                let demanded = ((rule["require"] ?? rule["forbid"]) as? [String] ?? []).map { reference in
                    reference.hasPrefix("/") ? String(reference.dropFirst()) : prefix + reference
                }
                for path in demanded {
                    #expect(scheme.owners[path] == scheme.role(at: stage), "\(name) at \(stage): \(path)")
                }
            }
        }
    }

    @Test(
        "has signatures and handoffs that name stages, roles and fields there are",
        arguments: ShippedSchemes.files.map(\.id)
    )
    func hasStagesThatHold(id: String) throws {
        let scheme = try SchemeData(id)
        for stage in scheme.members("signatures") + scheme.members("handoffs") {
            let name = (stage["signature"] ?? stage["handoff"]) as? String ?? "?"
            scheme.expectGuards(stage["after"], in: name)
            scheme.expectGuards(stage["before"], in: name)
            scheme.expectGuards(stage["notBefore"], in: name)
            scheme.expectRoles([stage["role"], stage["from"], stage["to"]].compactMap { $0 as? String }, in: name)
            scheme.expectRoles(stage["paper"], in: name)
            let isSignature = stage["signature"] != nil
            #expect(((stage["statement"] as? String)?.isEmpty == false) == isSignature, "\(name)")
            let role = scheme.role(at: name)
            for covered in stage["covers"] as? [String] ?? [] {
                // A field or whole lines, of the role itself, which some signature can seal.
                #expect(scheme.owners[covered] == role && !covered.contains("/"), "\(name): \(covered)")
                #expect(scheme.fields[covered]?["sealed"] == nil, "\(name): \(covered) is never sealed")
            }
            if let lasts = stage["lasts"] as? Int, let longest = stage["longest"] as? Int {
                #expect(lasts <= longest, "\(name)")
            }
        }
        #expect(scheme.handoffs.count <= 16)
        for (path, field) in scheme.fields {
            scheme.expectRoles(field["correct"], in: path)
            // What no signature seals is set, not corrected.
            if field["sealed"] as? Bool == false { #expect(field["correct"] == nil, "\(path)") }
            #expect(field["sealed"] == nil || field["sealed"] as? Bool == false, "\(path)")
        }
    }

    @Test("has checks and links over amounts there are", arguments: ShippedSchemes.files.map(\.id))
    func hasChecksThatHold(id: String) throws {
        let scheme = try SchemeData(id)
        func expectAmount(_ reference: Any?, _ prefix: String, in name: String) {
            let path = prefix + (reference as? String ?? "").replacing("/*/", with: "/")
            let type = scheme.fields[path]?["type"] as? String
            #expect(scheme.fields[path]?["units"] != nil || type == "integer" || type == "decimal", "\(name): \(path)")
        }
        for check in scheme.members("checks") {
            let name = check["check"] as? String ?? "?"
            #expect(scheme.stages.isSuperset(of: check["at"] as? [String] ?? ["?"]), "\(name)")
            #expect((check["says"] as? String)?.hasSuffix(".") == true, "\(name)")
            if let parts = check["parts"] as? [String] {
                let prefix = (check["each"] as? String).map { $0 + "/" } ?? ""
                for part in parts + [check["whole"] as? String ?? "?"] { expectAmount(part, prefix, in: name) }
                #expect(parts.count > 1 && check["declared"] == nil, "\(name)")
                if let condition = check["when"] { scheme.expectSense(condition, prefix: prefix, in: name) }
            } else {
                for side in ["declared", "received"] { expectAmount(check[side], "", in: name) }
                #expect((check["tolerancePercent"] == nil) != (check["tolerance"] == nil), "\(name)")
                let declared = (check["declared"] as? String ?? "").split(separator: "/").map(String.init)
                let prefix = check["each"] as? Bool == true ? (declared.first ?? "?") + "/" : ""
                if let condition = check["when"] { scheme.expectSense(condition, prefix: prefix, in: name) }
            }
        }
        for link in scheme.members("links") {
            let name = link["link"] as? String ?? "?"
            #expect(Scheme.LinkRule.Kind(rawValue: link["kind"] as? String ?? "") != nil, "\(name)")
            scheme.expectRoles(link["role"], in: name)
            scheme.expectGuards(link["after"], in: name)
            if let amount = link["conserves"] { expectAmount(amount, "", in: name) }
            #expect(link["due"] == nil || link["conserves"] != nil, "\(name)")
        }
        // Each tie can be named from the other chain too; only what was lost had ended before it was found again.
        let kinds = scheme.members("links").compactMap { Scheme.LinkRule.Kind(rawValue: $0["kind"] as? String ?? "") }
        for kind in kinds where kind != .continues {
            #expect(kinds.contains(kind.inverse), "\(kind.rawValue) has no counterpart")
        }
    }

    @Test("has endings, late entry, deadlines and retention that hold", arguments: ShippedSchemes.files.map(\.id))
    func hasEndingsAndDeadlinesThatHold(id: String) throws {
        let scheme = try SchemeData(id)
        func expectMoment(_ moment: Any?, in name: String) {
            if let text = moment as? String {
                #expect(scheme.stages.union(["opened", "closed"]).contains(text), "\(name): \(text)")
            } else {
                let field = (moment as? [String: String])?["field"] ?? "?"
                let type = scheme.fields[field]?["type"] as? String
                #expect(type == "date" || type == "datetime", "\(name): \(field)")
            }
        }
        for closing in scheme.members("closing") {
            let name = closing["outcome"] as? String ?? "?"
            scheme.expectRoles(closing["roles"], in: name)
            scheme.expectRoles(closing["dutyTo"], in: name)
            scheme.expectGuards(closing["after"], in: name)
        }
        let cancelling = try #require(scheme.root["cancelling"] as? [String: Any])
        scheme.expectRoles(cancelling["roles"], in: "cancelling")
        scheme.expectGuards(cancelling["before"], in: "cancelling")
        let late = try #require(scheme.root["lateEntry"] as? [String: Any])
        scheme.expectRoles(late["roles"], in: "lateEntry")
        let calendars = Set(scheme.names("calendar", in: "calendars"))
        for deadline in scheme.members("deadlines") {
            let name = deadline["deadline"] as? String ?? "?"
            expectMoment(deadline["from"], in: name)
            expectMoment(deadline["until"], in: name)
            scheme.expectRoles(deadline["role"], in: name)
            let within = try #require(deadline["within"] as? [String: Int], "\(name)")
            #expect(within.count == 1 && within.values.allSatisfy { $0 > 0 }, "\(name)")
            #expect(TimeZone(identifier: deadline["zone"] as? String ?? "?") != nil, "\(name)")
            #expect((within["workingDays"] != nil) == (deadline["calendar"] != nil), "\(name)")
            if let calendar = deadline["calendar"] as? String { #expect(calendars.contains(calendar), "\(name)") }
            if let condition = deadline["when"] { scheme.expectSense(condition, prefix: "", in: name) }
            #expect((deadline["says"] as? String)?.hasSuffix(".") == true, "\(name)")
        }
        for calendar in scheme.members("calendars") {
            let days = calendar["holidays"] as? [String] ?? []
            let from = calendar["from"] as? String ?? "?"
            let until = calendar["until"] as? String ?? "?"
            #expect(days == Set(days).sorted() && !days.isEmpty, "sorted, each once")
            #expect(days.allSatisfy { $0 >= from && $0 <= until })
        }
        for role in scheme.members("roles") {
            let name = role["role"] as? String ?? "?"
            scheme.expectRoles(role["admits"], in: name)
            guard let retention = role["retention"] as? [String: Any] else { continue }
            expectMoment(retention["from"], in: name)
            #expect(["years", "months", "days"].filter { retention[$0] != nil }.count == 1, "\(name)")
        }
    }
}
