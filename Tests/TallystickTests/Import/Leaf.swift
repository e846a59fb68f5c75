import Schemes
import Tallystick
import Testing

/// A scalar, or an array or object that holds nothing, and where it stands.
struct Leaf: Hashable {
    let pointer: String
    let text: String

    /// Every leaf below a value, found here once more and not by the reader under test.
    static func all(of json: JSON, at pointer: String = "") -> [Leaf] {
        switch json {
        case .object(let members) where !members.isEmpty:
            members.flatMap { all(of: $0.value, at: "\(pointer)/\($0.name)") }
        case .array(let elements) where !elements.isEmpty:
            elements.indices.flatMap { all(of: elements[$0], at: "\(pointer)/\($0)") }
        case .number(let text), .string(let text): [Leaf(pointer: pointer, text: text)]
        case .boolean(let value): [Leaf(pointer: pointer, text: value ? "yes" : "no")]
        case .null: [Leaf(pointer: pointer, text: "none")]
        case .array, .object: [Leaf(pointer: pointer, text: "")]
        }
    }

    /// What it becomes in an event: units by their symbols.
    var imported: String {
        let units = ["Grams": "g", "Kilograms": "kg", "Tonnes": "t"]
        return pointer.hasSuffix("/metric") ? units[text] ?? text : text
    }

    /// Expects that each leaf of a file is in the values read from it, digit by digit, or is listed once with its value,
    /// and that nothing is in either that the file does not have.
    ///
    /// - Parameter isAdded: Whether a value stands nowhere in the file, such as the unit of a content.
    /// - Returns: How many leaves were used.
    static func expectAccounts(
        of file: ValuesFile,
        for all: [Leaf],
        _ what: String,
        isAdded: (Leaf) -> Bool,
        imported: (Leaf) -> String
    ) -> Int {
        let unused = Dictionary(grouping: file.unused, by: \.pointer)
        #expect(unused.values.allSatisfy { $0.count == 1 }, "\(what): a value is listed twice")
        #expect(Set(unused.keys).isSubset(of: Set(all.map(\.pointer))), "\(what): a value was made up")
        #expect(file.unused.allSatisfy { !$0.reason.isEmpty && !$0.detail.isEmpty }, "\(what)")
        let taken = all.filter { unused[$0.pointer] == nil }
        let given = file.changes.flatMap { Leaf.all(of: $0.value ?? .null) }.filter { !isAdded($0) }
        #expect(given.map(\.text).sorted() == taken.map(imported).sorted(), "\(what)")
        for leaf in all where unused[leaf.pointer] != nil {
            #expect(unused[leaf.pointer]?.first?.value == leaf.text, "\(what): \(leaf.pointer)")
        }
        return taken.count
    }
}
