extension Scheme {
    /// Reads a value as a person types it: `7.5 t`, `yes`, `170904, 170107`, `2026-11-30T06:12+01:00`.
    ///
    /// Gives the value as events carry it, or what is wrong with the text. Whether the value is one the field can have
    /// is for `fault(of:in:on:)`.
    public func value(typed text: String, for field: Field) -> ValueReading {
        if case .entries = field.type { return Scheme.entries(typed: text) }
        guard field.many != nil else { return single(text, for: field) }
        var values: [JSON] = []
        for part in text.split(separator: ",") {
            switch single(Scheme.trimmed(part), for: field) {
            case .value(let value): values.append(value)
            case .fault(let fault): return .fault(fault)
            }
        }
        return .value(.array(values))
    }

    /// A value read, or why it could not be.
    public enum ValueReading: Sendable, Equatable {
        /// The value as events carry it.
        case value(JSON)
        /// What was expected and what came.
        case fault(String)
    }

    private func single(_ text: String, for field: Field) -> ValueReading {
        switch field.type {
        case .text, .identifier, .date: return .value(.string(text))
        case .entries: return Scheme.entries(typed: text)
        case .code(let list):
            // Waste codes are often written in pairs: 17 09 04.
            let joined = text.filter { $0 != " " && $0 != "*" }
            let isWritten = codeLists[list]?.code(text) == nil && codeLists[list]?.code(joined) != nil
            return .value(.string(isWritten ? joined : text))
        case .integer:
            guard JSON.isProfileInteger(text) else { return .fault("expected a whole number, got “\(text)”") }
            return .value(.number(text))
        case .boolean:
            switch text.lowercased() {
            case "yes", "true", "y": return .value(.boolean(true))
            case "no", "false", "n": return .value(.boolean(false))
            default: return .fault("expected yes or no, got “\(text)”")
            }
        case .decimal(let units, _, _, _, _):
            guard !units.isEmpty else { return .value(.string(text)) }
            let split = text.unicodeScalars.firstIndex { !"0123456789.-".unicodeScalars.contains($0) } ?? text.endIndex
            let amount = String(text[..<split])
            let unit = Scheme.trimmed(text[split...])
            guard DecimalNumber(amount) != nil, units.contains(where: { sameBytes($0, unit) }) else {
                return .fault(
                    "expected an amount with its unit, such as “12.5 \(units[0])” (units are "
                        + "\(units.joined(separator: ", "))), got “\(text)”"
                )
            }
            return .value(.members([("amount", .string(amount)), ("unit", .string(unit))]))
        case .datetime:
            guard let moment = Timestamp.typed(text) else {
                return .fault("expected a moment with its UTC offset, such as 2026-11-30T06:12+01:00, got “\(text)”")
            }
            return .value(.string(moment.description))
        }
    }

    /// Entries are typed as the JSON they are.
    private static func entries(typed text: String) -> ValueReading {
        guard let json = try? JSON.parse(Array(text.utf8)), json.elements != nil else {
            return .fault("expected entries as JSON, such as [{\"name\":\"lead\"}], got “\(text.prefix(80))”")
        }
        return .value(json)
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    /// A value as a person reads it: `7.5 t`, `yes`, `170904, 170107`.
    public static func text(of value: JSON) -> String {
        switch value {
        case .null: "none"
        case .boolean(let value): value ? "yes" : "no"
        case .number(let text), .string(let text): text
        case .array(let elements):
            elements.map { text(of: $0) }.joined(separator: elements.contains { $0.members != nil } ? "; " : ", ")
        case .object(let members):
            if let quantity = Quantity(value) {
                "\(quantity.amount) \(quantity.unit.symbol)"
            } else {
                members.map { "\($0.name): \(text(of: $0.value))" }.joined(separator: ", ")
            }
        }
    }
}

extension Timestamp {
    /// Reads the spellings of RFC 3339 §5.6 that people and other systems use.
    ///
    /// Seconds and fractions may be missing, fractions may have up to nine digits, and the offset may lack its colon.
    /// More than milliseconds is refused, unless it is zero: nothing is rounded.
    public static func typed(_ text: String) -> Timestamp? {
        var text = text.uppercased()
        guard text.utf8.count >= 17, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        if text.utf8.dropFirst(10).first == UInt8(ascii: " ") {
            text = String(text.prefix(10)) + "T" + String(text.dropFirst(11))
        }
        var clock = String(text.dropFirst(11))
        let zone: String
        if clock.hasSuffix("Z") {
            zone = "Z"
            clock.removeLast()
        } else if let sign = clock.lastIndex(where: { $0 == "+" || $0 == "-" }) {
            let digits = clock[clock.index(after: sign)...].filter { $0 != ":" }
            guard digits.count == 4 else { return nil }
            let offset = "\(clock[sign])\(digits.prefix(2)):\(digits.suffix(2))"
            zone = digits == "0000" ? "Z" : offset
            clock = String(clock[..<sign])
        } else {
            return nil
        }
        let parts = clock.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let whole = parts.first else { return nil }
        var fraction = parts.count == 2 ? String(parts[1]) : "000"
        guard (1...9).contains(fraction.count), fraction.dropFirst(3).allSatisfy({ $0 == "0" }) else { return nil }
        fraction = String((fraction + "000").prefix(3))
        let seconds = whole.count == 5 ? "\(whole):00" : String(whole)
        return Timestamp("\(text.prefix(11))\(seconds).\(fraction)\(zone)")
    }
}
