/// What values a field takes.
public enum ValueType: Sendable {
    /// A text of some number of Unicode scalars.
    case text(minimum: Int, maximum: Int)
    /// A whole number.
    case integer(minimum: Int, maximum: Int)
    /// An exact decimal, as a string, or `{"amount","unit"}` where there are units; bounds are in the first unit.
    case decimal(
        units: [String],
        above: DecimalNumber?,
        minimum: DecimalNumber?,
        maximum: DecimalNumber?,
        decimals: Int
    )
    /// True or false, or only one of them.
    case boolean(must: Bool?)
    /// A day: `2026-11-30`.
    case date
    /// A moment with its UTC offset, spelled as events spell it.
    case datetime
    /// A code from a list.
    case code(list: Name)
    /// A text that follows one of some patterns.
    case identifier(patterns: [NamedPattern], maximum: Int)
    /// A list inside a value: objects of these fields.
    case entries([EntryField])

    /// A pattern and what it is called.
    public struct NamedPattern: Sendable {
        /// What it is called, such as the nation that uses it.
        public let name: String
        /// The pattern.
        public let pattern: Pattern
    }

    /// A field of the entries of a list.
    public struct EntryField: Sendable {
        /// The field, which has neither lines nor corrections of its own.
        public let field: Scheme.Field
        /// Whether an entry cannot be without it.
        public let isRequired: Bool
    }
}

extension Scheme {
    /// What is wrong with a value of this field, or nil if nothing is.
    ///
    /// A code's validity is judged on the day given, `YYYY-MM-DD`.
    public func fault(of value: JSON, in field: Field, on day: String) -> String? {
        guard let many = field.many else { return fault(of: value, type: field.type, on: day) }
        guard let elements = value.elements, many.contains(elements.count) else {
            return "expected a list of \(many.lowerBound) to \(many.upperBound)"
        }
        for (index, element) in elements.enumerated() {
            if let fault = fault(of: element, type: field.type, on: day) { return fault }
            if elements[..<index].contains(element) { return "expected each value once" }
        }
        return nil
    }

    private func fault(of value: JSON, type: ValueType, on day: String) -> String? {
        switch type {
        case .text(let minimum, let maximum):
            guard let text = value.text else { return "expected a text" }
            let count = text.unicodeScalars.count
            guard minimum...max(minimum, maximum) ~= count else {
                return "expected \(minimum) to \(maximum) characters, got \(count)"
            }
            // JSON allows them; screens, CSV files and C libraries on the way do not, and some change what is read.
            return text.unicodeScalars.contains(where: Scheme.isForbidden)
                ? "expected a text without control characters and without marks that change the direction of writing"
                : nil
        case .integer(let minimum, let maximum):
            guard let integer = value.integer else { return "expected a whole number" }
            return integer >= minimum && integer <= maximum ? nil : "expected \(minimum) to \(maximum), got \(integer)"
        case .decimal: return decimalFault(of: value, type: type)
        case .boolean(let must):
            guard let boolean = value.boolean else { return "expected true or false" }
            return must == nil || must == boolean ? nil : "expected \(must == true)"
        case .date:
            guard let text = value.text, Scheme.isDay(text) else { return "expected a day such as 2026-11-30" }
            return nil
        case .datetime:
            guard let text = value.text, Timestamp(text) != nil else {
                return "expected a moment such as 2026-11-30T06:12:00.000+01:00"
            }
            return nil
        case .code(let list):
            guard let text = value.text, let code = codeLists[list]?.code(text) else {
                return "expected a code of the list “\(list)”\(value.text.map { ", got “\($0.prefix(40))”" } ?? "")"
            }
            let isValid =
                code.from.map { $0.utf8.lexicographicallyPrecedes(day.utf8) || sameBytes($0, day) } != false
                && code.until.map { day.utf8.lexicographicallyPrecedes($0.utf8) || sameBytes($0, day) } != false
            return isValid ? nil : "expected a code that is in force on \(day), got “\(text)”"
        case .identifier(let patterns, let maximum):
            guard let text = value.text, text.utf8.count <= maximum,
                patterns.contains(where: { $0.pattern.matches(text) })
            else {
                return "expected one of these forms: \(patterns.map(\.name).joined(separator: ", "))"
            }
            return nil
        case .entries(let fields): return entryFault(of: value, fields: fields, on: day)
        }
    }

    private func entryFault(of value: JSON, fields: [ValueType.EntryField], on day: String) -> String? {
        guard let members = value.members, !members.isEmpty else {
            return "expected entries as objects of \(fields.map(\.field.name.text).joined(separator: ", "))"
        }
        for member in members {
            guard let field = fields.first(where: { sameBytes($0.field.name.text, member.name) })?.field else {
                return "expected \(fields.map(\.field.name.text).joined(separator: ", ")) in an entry, got "
                    + "“\(member.name.prefix(64))”"
            }
            if let fault = fault(of: member.value, in: field, on: day) { return "\(field.name): \(fault)" }
        }
        for field in fields where field.isRequired && value[field.field.name.text] == nil {
            return "expected \(field.field.name) in each entry"
        }
        return nil
    }

    /// Controls but line feed and tab, and the bidirectional overrides and isolates (Unicode Standard Annex 9).
    static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private func decimalFault(of value: JSON, type: ValueType) -> String? {
        guard case .decimal(let units, let above, let minimum, let maximum, let decimals) = type else { return nil }
        let amount: DecimalNumber
        var unit: Unit?
        if units.isEmpty {
            guard let decimal = value.text.flatMap(DecimalNumber.init) else {
                return "expected a decimal as a text, such as 12.340"
            }
            amount = decimal
        } else {
            guard let quantity = Quantity(value), units.contains(where: { sameBytes($0, quantity.unit.symbol) }) else {
                return "expected an amount with a unit of \(units.joined(separator: ", ")), such as 12.340 \(units[0])"
            }
            amount = quantity.amount
            unit = quantity.unit
        }
        guard amount.fractionDigits <= decimals else {
            return "expected at most \(decimals) digits after the point, got \(amount.fractionDigits)"
        }
        let first = units.first.flatMap { Unit.of($0) }
        // Where a field has units of several kinds its only bound is zero, which is the same in all of them.
        let scale = first?.factor ?? 1
        let size = amount.scaled * (unit?.factor ?? 1)
        let symbol = first.map { " \($0.symbol)" } ?? ""
        let got = "\(amount)\(unit.map { " \($0.symbol)" } ?? "")"
        if let above, size <= above.scaled * scale { return "expected more than \(above)\(symbol), got \(got)" }
        if let minimum, size < minimum.scaled * scale { return "expected \(minimum)\(symbol) or more, got \(got)" }
        if let maximum, size > maximum.scaled * scale { return "expected \(maximum)\(symbol) or less, got \(got)" }
        return nil
    }

    static func isDay(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count == 4, parts[1].count == 2, parts[2].count == 2,
            parts.allSatisfy({ $0.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } })
        else { return false }
        let numbers = parts.compactMap { Int(String(decoding: Array($0), as: UTF8.self)) }
        return numbers.count == 3 && Timestamp.isDate(year: numbers[0], month: numbers[1], day: numbers[2])
    }
}
