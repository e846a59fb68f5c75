/// A unit that amounts are given in, with its exact size.
public struct Unit: Sendable, Equatable {
    /// How it is written: `kg`, `gal`, `mg/kg`.
    public let symbol: String
    /// What it measures.
    public let kind: Kind
    /// How many of the kind's smallest common part it is: 10 µg, 1 nl, 1 mg/kg, one degree, one piece.
    let factor: Int128

    /// What units measure; only amounts of one kind compare.
    public enum Kind: String, Sendable {
        /// Mass; the common part is 10 µg, of which a pound is a whole number.
        case mass
        /// Volume; the common part is 1 nl, of which a US gallon is a whole number.
        case volume
        /// Content, as mass in mass.
        case content
        /// Temperature.
        case temperature
        /// Number.
        case number
    }

    /// Every unit there is.
    ///
    /// The pound is 0.45359237 kg and the yard 0.9144 m (NIST Handbook 44, appendix C); a US gallon is 231 cubic
    /// inches.
    public static let all: [Unit] = [
        Unit(symbol: "mg", kind: .mass, factor: 100), Unit(symbol: "g", kind: .mass, factor: 100_000),
        Unit(symbol: "kg", kind: .mass, factor: 100_000_000), Unit(symbol: "t", kind: .mass, factor: 100_000_000_000),
        Unit(symbol: "lb", kind: .mass, factor: 45_359_237),
        Unit(symbol: "short-ton", kind: .mass, factor: 90_718_474_000),
        Unit(symbol: "ml", kind: .volume, factor: 1_000_000), Unit(symbol: "l", kind: .volume, factor: 1_000_000_000),
        Unit(symbol: "m3", kind: .volume, factor: 1_000_000_000_000),
        Unit(symbol: "gal", kind: .volume, factor: 3_785_411_784),
        Unit(symbol: "yd3", kind: .volume, factor: 764_554_857_984),
        Unit(symbol: "mg/kg", kind: .content, factor: 1), Unit(symbol: "percent", kind: .content, factor: 10_000),
        Unit(symbol: "degC", kind: .temperature, factor: 1), Unit(symbol: "pieces", kind: .number, factor: 1),
    ]

    /// The unit of this symbol, byte by byte.
    public static func of(_ symbol: String) -> Unit? { all.first { sameBytes($0.symbol, symbol) } }
}

/// An amount with its unit, as a value of a field.
public struct Quantity: Sendable {
    /// The amount as it was entered.
    public let amount: DecimalNumber
    /// The unit.
    public let unit: Unit

    /// Reads `{"amount":"12.340","unit":"t"}`, or nil.
    public init?(_ json: JSON) {
        guard let members = json.members, members.count == 2,
            let amount = json["amount"]?.text.flatMap(DecimalNumber.init),
            let unit = json["unit"]?.text.flatMap({ Unit.of($0) })
        else { return nil }
        self.amount = amount
        self.unit = unit
    }

    /// The amount in the kind's common part, times 10^9.
    ///
    /// It is below 10^33, so sums of a thousand stay below the 1.7 × 10^38 of Int128.
    var scaled: Int128 { amount.scaled * unit.factor }
}

/// Something that can be added up: quantities of one kind of unit, decimals without units, or whole numbers.
struct Total: Sendable {
    /// The sum in the kind's common part, times 10^9.
    private(set) var scaled: Int128 = 0
    /// What was added; nil for numbers without units.
    let kind: Unit.Kind?
    /// The unit all were given in, if it was one.
    private var unit: Unit?
    private var count = 0

    /// Adds values up, or nil where there is none, one is no amount, or they cannot be added.
    init?(_ values: [JSON]) {
        guard let first = values.first, let (_, firstUnit) = Total.amount(first), values.count <= 1_000 else {
            return nil
        }
        kind = firstUnit?.kind
        unit = firstUnit
        for value in values {
            guard let (scaled, unit) = Total.amount(value), unit?.kind == kind else { return nil }
            self.scaled += scaled
            if unit != self.unit { self.unit = nil }
        }
    }

    private static func amount(_ value: JSON) -> (scaled: Int128, unit: Unit?)? {
        if let quantity = Quantity(value) { return (quantity.scaled, quantity.unit) }
        if let integer = value.integer { return (Int128(integer) * DecimalNumber.power(9), nil) }
        return value.text.flatMap(DecimalNumber.init).map { ($0.scaled, nil) }
    }

    /// The sum for a person: exact, in the unit all were given in, or in that of the kind that is read most easily.
    var text: String {
        guard let kind else { return DecimalNumber.text(scaled: scaled) }
        if let unit { return "\(DecimalNumber.text(scaled: scaled / unit.factor)) \(unit.symbol)" }
        switch kind {
        case .mass: return "\(DecimalNumber.text(scaled, places: 17)) kg"
        case .volume: return "\(DecimalNumber.text(scaled, places: 18)) l"
        case .content: return "\(DecimalNumber.text(scaled: scaled)) mg/kg"
        case .temperature: return "\(DecimalNumber.text(scaled: scaled)) degC"
        case .number: return "\(DecimalNumber.text(scaled: scaled)) pieces"
        }
    }

    /// Whether another differs by more than so many thousandths of a percent of this.
    func differs(from other: Total, byMoreThan thousandths: UInt128) -> Bool {
        let difference = (other.scaled - scaled).magnitude
        // Compared as difference × 100,000 > declared × tolerance, in twice the width: nothing is divided or rounded.
        let left = difference.multipliedFullWidth(by: 100_000)
        let right = scaled.magnitude.multipliedFullWidth(by: thousandths)
        return (left.high, left.low) > (right.high, right.low)
    }

    /// Whether another differs by more than an amount in a unit.
    func differs(from other: Total, byMoreThan amount: DecimalNumber, in unit: Unit?) -> Bool {
        (other.scaled - scaled).magnitude > (amount.scaled * (unit?.factor ?? 1)).magnitude
    }
}
