/// A value to print under `--json`.
///
/// Members keep the order they are given in. Written on one line, so that a stream is one object a line.
package enum JSONOutput: Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number; readers that use doubles are exact within ±(2^53−1).
    case int(Int)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONOutput])
    /// An object; a name given twice keeps its last value, since strict readers refuse duplicates.
    case object([(String, JSONOutput)])

    /// The string, or `null` for nil.
    package static func optional(_ text: String?) -> JSONOutput {
        text.map { .string($0) } ?? .null
    }

    /// The number, or `null` for nil.
    package static func optional(_ number: Int?) -> JSONOutput {
        number.map { .int($0) } ?? .null
    }

    /// The strings as an array.
    package static func strings(_ texts: [String]) -> JSONOutput {
        .array(texts.map { .string($0) })
    }

    /// The value as JSON text (RFC 8259) on one line, without a line break at the end.
    ///
    /// Besides what must be escaped, so are DEL, C1 and bidirectional controls: it changes nothing for a reader, and a
    /// terminal then shows them instead of acting on them.
    package var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .int(let value): text += String(value)
        case .string(let value): JSONOutput.writeString(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in JSONOutput.distinct(members).enumerated() {
                if index > 0 { text += "," }
                JSONOutput.writeString(member.0, to: &text)
                text += ":"
                member.1.write(to: &text)
            }
            text += "}"
        }
    }

    private static func distinct(_ members: [(String, JSONOutput)]) -> [(String, JSONOutput)] {
        var distinct: [(String, JSONOutput)] = []
        // By bytes: names that are equal only in their Unicode form are different names in JSON.
        var places: [[UInt8]: Int] = [:]
        for member in members {
            let key = Array(member.0.utf8)
            if let place = places[key] {
                distinct[place].1 = member.1
            } else {
                places[key] = distinct.count
                distinct.append(member)
            }
        }
        return distinct
    }

    private static func writeString(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{08}": text += "\\b"
            case "\u{0C}": text += "\\f"
            // All of these are in the basic plane, so four digits are enough.
            case _ where Console.needsEscape(scalar):
                text += "\\u\(Console.hexadecimal(scalar.value, digits: 4).lowercased())"
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

extension JSONOutput: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Makes a string.
    package init(stringLiteral value: String) { self = .string(value) }
    /// Makes a number.
    package init(integerLiteral value: Int) { self = .int(value) }
    /// Makes a Boolean.
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes an array.
    package init(arrayLiteral elements: JSONOutput...) { self = .array(elements) }
    /// Makes an object with its members in the order written.
    package init(dictionaryLiteral elements: (String, JSONOutput)...) { self = .object(elements) }
}
