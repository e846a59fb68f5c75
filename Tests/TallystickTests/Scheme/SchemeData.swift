import Foundation
import Schemes
import Tallystick
import Testing

/// A shipped scheme's files, read by Foundation: the engine's own reader has no part in this.
struct SchemeData {
    let id: String
    let root: [String: Any]
    /// List name, code, and the code's members.
    let lists: [String: [String: [String: Any]]]
    /// Fields by path, with `lines/field` for a line's.
    let fields: [String: [String: Any]]
    /// Fields of entries by path, with the field that has the entries before.
    let entryFields: [String: [String: Any]]
    /// The role that owns a field or lines, by path or by the lines' name.
    let owners: [String: String]

    init(_ id: String) throws {
        try self.init(try #require(ShippedSchemes.files.first { $0.id == id }))
    }

    init(_ shipped: ShippedScheme) throws {
        id = shipped.id
        root = try #require(try SchemeData.parse(shipped.scheme))
        var lists: [String: [String: [String: Any]]] = [:]
        for (list, text) in shipped.codes {
            let file = try #require(try SchemeData.parse(text), "\(list)")
            #expect(file["list"] as? String == list)
            lists[list] = try #require(file["codes"] as? [String: [String: Any]], "\(list)")
        }
        self.lists = lists
        var fields: [String: [String: Any]] = [:]
        var entryFields: [String: [String: Any]] = [:]
        var owners: [String: String] = [:]
        func add(_ field: [String: Any], _ prefix: String, _ owner: String) {
            let path = prefix + (field["field"] as? String ?? "?")
            fields[path] = field
            owners[path] = owner
            for inner in field["fields"] as? [[String: Any]] ?? [] {
                entryFields["\(path)/\(inner["field"] as? String ?? "?")"] = inner
            }
        }
        for field in root["fields"] as? [[String: Any]] ?? [] { add(field, "", field["owner"] as? String ?? "?") }
        for lines in root["lines"] as? [[String: Any]] ?? [] {
            let name = lines["lines"] as? String ?? "?"
            owners[name] = lines["owner"] as? String ?? "?"
            for field in lines["fields"] as? [[String: Any]] ?? [] { add(field, name + "/", owners[name] ?? "?") }
        }
        self.fields = fields
        self.entryFields = entryFields
        self.owners = owners
    }

    static func parse(_ text: String) throws -> [String: Any]? {
        try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    }

    /// The members of an array of the scheme; none where it is left out.
    func members(_ name: String) -> [[String: Any]] { root[name] as? [[String: Any]] ?? [] }

    /// The names of the members of an array, such as those of `signatures` by `signature`.
    func names(_ kind: String, in list: String) -> [String] { members(list).compactMap { $0[kind] as? String } }

    var roles: Set<String> { Set(names("role", in: "roles")) }
    var signatures: Set<String> { Set(names("signature", in: "signatures")) }
    var handoffs: Set<String> { Set(names("handoff", in: "handoffs")) }
    var stages: Set<String> { signatures.union(handoffs) }

    /// The role that acts at a stage.
    func role(at stage: String) -> String? {
        (members("signatures").first { $0["signature"] as? String == stage }?["role"]
            ?? members("handoffs").first { $0["handoff"] as? String == stage }?["from"]) as? String
    }

    func patterns(_ path: String) throws -> [Pattern] {
        let named = try #require((fields[path] ?? entryFields[path])?["patterns"] as? [[String: String]])
        return try named.map { try Pattern(try #require($0["pattern"])) }
    }

    // MARK: Sense

    /// The path of a field that a rule for these lines names: its own, or with a slash before one outside.
    private func path(_ reference: String, _ prefix: String) -> String {
        reference.hasPrefix("/") ? String(reference.dropFirst()) : prefix + reference
    }

    /// Records an issue for every field that is not there.
    func expectFields(_ references: Any?, prefix: String, in what: String) {
        for reference in references as? [String] ?? [] {
            #expect(fields[path(reference, prefix)] != nil, "\(what): no field \(path(reference, prefix))")
        }
    }

    /// Records an issue for every guard whose stage is not there.
    func expectGuards(_ guards: Any?, in what: String) {
        for each in guards as? [Any] ?? [] {
            if let name = each as? String {
                #expect(stages.contains(name), "\(what): no stage \(name)")
            } else if let named = each as? [String: String] {
                #expect(stages.contains(named["stage"] ?? ""), "\(what): no stage \(named)")
                #expect(named["missing"] == "warning" && named.count == 2, "\(what): \(named)")
            } else {
                Issue.record("\(what): expected the name of a stage, got \(each)")
            }
        }
    }

    /// Records an issue for every role that is not there.
    func expectRoles(_ names: Any?, in what: String) {
        let names = names as? [String] ?? (names as? String).map { [$0] } ?? []
        for name in names { #expect(roles.contains(name), "\(what): no role \(name)") }
    }

    /// Records an issue for every field, code, flag, form, stage or row in the condition that is not there.
    func expectSense(_ condition: Any, prefix: String, in rule: String) {
        guard let condition = condition as? [String: Any] else {
            Issue.record("\(rule): expected an object")
            return
        }
        for part in (condition["all"] ?? condition["any"]) as? [Any] ?? [] {
            expectSense(part, prefix: prefix, in: rule)
        }
        if let inner = condition["not"] { expectSense(inner, prefix: prefix, in: rule) }
        if let lines = (condition["some"] ?? condition["every"]) as? String {
            #expect(owners[lines] != nil && condition.count == 2, "\(rule): no lines \(lines)")
            expectSense(condition["where"] ?? "", prefix: lines + "/", in: rule)
        }
        if let signature = condition["signed"] as? String {
            #expect(signatures.contains(signature) && condition.count == 1, "\(rule): no signature \(signature)")
        }
        guard let reference = condition["field"] as? String else {
            let isKnown = ["all", "any", "not", "some", "every", "signed"].contains { condition[$0] != nil }
            #expect(isKnown, "\(rule): \(condition)")
            return
        }
        guard let field = fields[path(reference, prefix)] else {
            Issue.record("\(rule): no field \(path(reference, prefix))")
            return
        }
        expectSense(of: condition, on: field, prefix: prefix, in: rule)
    }

    private func expectSense(of condition: [String: Any], on field: [String: Any], prefix: String, in rule: String) {
        let words = ["is", "isNot", "in", "present", "flag", "form", "above", "atLeast", "below", "atMost"]
        let given = words.filter { condition[$0] != nil }
        #expect(given == ["is", "flag"] || given.count == 1, "\(rule): \(condition)")
        let others = given.compactMap { (condition[$0] as? [String: Any])?["field"] as? String }
        expectFields(others, prefix: prefix, in: rule)
        if let form = condition["form"] as? String {
            let forms = (field["patterns"] as? [[String: String]] ?? []).compactMap { $0["name"] }
            #expect(forms.contains(form), "\(rule): no form \(form)")
        }
        guard let list = field["list"] as? String else {
            #expect(condition["flag"] == nil, "\(rule): a flag of what is no code")
            return
        }
        if let flag = condition["flag"] as? String {
            #expect(lists[list]?.values.contains { $0[flag] as? Bool == true } == true, "\(rule): no flag \(flag)")
        } else {
            let codes = ["is", "isNot"].compactMap { condition[$0] as? String } + (condition["in"] as? [String] ?? [])
            for code in codes { #expect(lists[list]?[code] != nil, "\(rule): no code \(code)") }
        }
    }
}

/// Where the shipped schemes are on disk.
enum SchemePlace {
    static let schemes = OutsideFixtures.root.appending(path: "Sources/Schemes")

    /// The files of a scheme's examples, in the order of their names.
    static func examples(of id: String) throws -> [(name: String, text: [UInt8])] {
        let folder = schemes.appending(path: "\(id)/examples")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { file in
            (String(file.dropLast(5)), [UInt8](try Data(contentsOf: folder.appending(path: file))))
        }
    }
}
