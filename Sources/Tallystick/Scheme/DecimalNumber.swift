/// An exact decimal number of at most 12 digits before the point and 9 after it, kept with the text it was entered as.
///
/// The text has an optional minus, no leading zeros, and digits after the point if there is one: `-0.50`, `12.340`.
public struct DecimalNumber: Sendable, CustomStringConvertible {
    /// The text as it was entered.
    public let description: String
    /// How many digits stand after the point.
    public let fractionDigits: Int
    /// Up to 21 digits, which is more than 64 bits hold.
    let digits: Int128

    /// Reads a decimal text, or nil.
    public init?(_ text: String) {
        var digits: Int128 = 0
        var wholeDigits = 0
        var fraction: Int?
        var isNegative = false
        var leadsWithZero = false
        for (index, byte) in text.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "-") where index == 0: isNegative = true
            case UInt8(ascii: ".") where fraction == nil && wholeDigits > 0: fraction = 0
            case 0x30...0x39:
                if fraction == nil {
                    guard !leadsWithZero else { return nil }
                    leadsWithZero = wholeDigits == 0 && byte == 0x30
                    wholeDigits += 1
                }
                fraction = fraction.map { $0 + 1 }
                guard wholeDigits <= 12, fraction ?? 0 <= 9 else { return nil }
                digits = digits * 10 + Int128(byte - 0x30)
            default: return nil
            }
        }
        guard wholeDigits > 0, fraction != 0, !(isNegative && digits == 0) else { return nil }
        description = text
        fractionDigits = fraction ?? 0
        self.digits = isNegative ? -digits : digits
    }

    /// The number times 10^9, exactly.
    ///
    /// It is below 10^21, so sums of a thousand in milligrams, times a tolerance, stay below the 1.7 × 10^38 of Int128.
    var scaled: Int128 {
        digits * DecimalNumber.power(9 - fractionDigits)
    }

    static func power(_ exponent: Int) -> Int128 {
        var value: Int128 = 1
        for _ in 0..<exponent { value *= 10 }
        return value
    }

    /// Prints a number given times 10^9, without trailing zeros after the point.
    static func text(scaled: Int128) -> String { text(scaled, places: 9) }

    /// Prints a number given times a power of ten, without trailing zeros after the point.
    static func text(_ scaled: Int128, places: Int) -> String {
        let unit = power(places)
        let whole = scaled.magnitude / unit.magnitude
        var fraction = String(scaled.magnitude % unit.magnitude)
        fraction = String(repeating: "0", count: places - fraction.utf8.count) + fraction
        while fraction.utf8.last == 0x30 { fraction.removeLast() }
        return (scaled < 0 ? "-" : "") + String(whole) + (fraction.isEmpty ? "" : "." + fraction)
    }
}

extension DecimalNumber: Comparable {
    /// Whether two decimals are the same number: `1.0` and `1.00` are.
    public static func == (left: DecimalNumber, right: DecimalNumber) -> Bool { left.scaled == right.scaled }
    /// The order of numbers.
    public static func < (left: DecimalNumber, right: DecimalNumber) -> Bool { left.scaled < right.scaled }
}
