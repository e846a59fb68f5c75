import Foundation
import Tallystick

/// What `docs/cli-json.md` says: the members of every command's object and of every object they are made of.
struct JSONDocument {
    /// One row of a table.
    struct Member {
        let name: String
        let type: String
    }

    /// The members by heading: `tally sign`, `leg`.
    private(set) var objects: [String: [Member]] = [:]
    /// The exit statuses by command.
    private(set) var exits: [String: [Int]] = [:]

    /// Reads the page.
    init() throws {
        var heading = ""
        for line in try TallyProgram.packageFile("docs/cli-json.md").split(separator: "\n") {
            if line.hasPrefix("#") {
                heading = line.hasPrefix("### ") ? String(line.dropFirst(4)) : ""
            } else if let start = line.range(of: "Exit: "), !heading.isEmpty {
                exits[heading] = JSONDocument.numbers(in: line[start.upperBound...])
            } else if line.hasPrefix("| `"), !heading.isEmpty {
                let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                guard cells.count == 3 else { throw UnexpectedRun("expected three cells in “\(line)”") }
                objects[heading, default: []].append(
                    Member(name: cells[0].trimmingCharacters(in: ["`"]), type: cells[1])
                )
            }
        }
    }

    /// The numbers outside parentheses.
    private static func numbers(in text: Substring) -> [Int] {
        var depth = 0
        let outside = text.filter { character in
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            return depth == 0
        }
        return outside.split { !$0.isNumber }.compactMap { Int($0) }
    }

    /// The commands that have a heading.
    var commands: Set<String> {
        Set(objects.keys.filter { $0.hasPrefix("tally ") }.map { String($0.dropFirst(6)) })
    }

    /// Compares a value with an object of the page, and gives every difference with its place.
    ///
    /// `seen` collects the members that were there with something in them, as `object.member`.
    func differences(_ json: JSON, from object: String, at place: String, seen: inout Set<String>) -> [String] {
        guard let members = objects[object] else { return ["\(place): the page has no object “\(object)”"] }
        guard let given = json.members else { return ["\(place): expected an object"] }
        var differences: [String] = []
        if given.map(\.name) != members.map(\.name) {
            differences.append("\(place): has \(given.map(\.name)), the page says \(members.map(\.name))")
        }
        for member in members {
            guard let value = json[member.name] else { continue }
            let inside = "\(place).\(member.name)"
            if !value.isNull { seen.insert("\(object).\(member.name)") }
            differences += self.differences(value, fromType: member.type, at: inside, seen: &seen)
        }
        return differences
    }

    private func differences(_ json: JSON, fromType type: String, at place: String, seen: inout Set<String>) -> [String]
    {
        if type.hasSuffix(" or null") {
            if json.isNull { return [] }
            return differences(json, fromType: String(type.dropLast(8)), at: place, seen: &seen)
        }
        if type.hasPrefix("array of ") {
            guard let elements = json.elements else { return ["\(place): expected an array"] }
            return elements.enumerated().flatMap { index, element in
                differences(element, fromType: String(type.dropFirst(9)), at: "\(place)[\(index)]", seen: &seen)
            }
        }
        if type.hasPrefix("map of ") {
            guard let members = json.members else { return ["\(place): expected an object"] }
            return members.flatMap { member in
                differences(
                    member.value,
                    fromType: String(type.dropFirst(7)),
                    at: "\(place).\(member.name)",
                    seen: &seen
                )
            }
        }
        switch type {
        case "string": return json.text == nil ? ["\(place): expected a string"] : []
        case "integer": return json.integer == nil ? ["\(place): expected an integer"] : []
        case "boolean": return json.boolean == nil ? ["\(place): expected a boolean"] : []
        case "value": return []
        default: return differences(json, from: type, at: place, seen: &seen)
        }
    }
}
