import Tallystick

extension JSON {
    /// The value over several lines, two spaces a level, members in canonical order: for files that people compare.
    func pretty(indent: String = "") throws -> String {
        let inner = indent + "  "
        switch self {
        case .array(let elements) where !elements.isEmpty:
            let lines = try elements.map { inner + (try $0.pretty(indent: inner)) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let members) where !members.isEmpty:
            let lines = try members.sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }.map { member in
                let name = String(decoding: try JSON.string(member.name).canonicalBytes(), as: UTF8.self)
                return "\(inner)\(name): \(try member.value.pretty(indent: inner))"
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
        default: return String(decoding: try canonicalBytes(), as: UTF8.self)
        }
    }
}
