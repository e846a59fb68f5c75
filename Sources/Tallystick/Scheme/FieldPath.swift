/// Where a value stands: `wasteDescription`, or `wasteItems/1/quantity` for a field of a repeated line.
///
/// `wasteItems/1` names the whole line, and is only used to remove it.
public struct FieldPath: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The path's text.
    public let description: String
    /// The repeated lines' name and the line, if the path is in one.
    public let line: Line?
    /// The field's name; nil if the path names a whole line.
    public let field: Name?

    /// One line of a repeated group.
    public struct Line: Hashable, Sendable {
        /// The group's name.
        public let list: Name
        /// The line's own name, given by whoever writes it: 1 to 32 ASCII letters, digits and hyphens.
        public let id: Name
    }

    /// Reads a path, or nil if the text is not one.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count <= 3 else { return nil }
        let names = parts.compactMap { Name(String(decoding: Array($0), as: UTF8.self)) }
        guard names.count == parts.count, let first = names.first else { return nil }
        if names.count == 1 {
            line = nil
            field = first
        } else {
            let id = names[1].text.utf8
            guard id.count <= 32, !id.contains(UInt8(ascii: ".")), !id.contains(UInt8(ascii: "_")) else { return nil }
            line = Line(list: first, id: names[1])
            field = names.count == 3 ? names[2] : nil
        }
        description = text
    }

    /// The order of the bytes.
    public static func < (left: FieldPath, right: FieldPath) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }
}
