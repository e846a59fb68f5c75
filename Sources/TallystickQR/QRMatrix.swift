/// The share of a symbol that may be unreadable, as a QR error correction level (ISO/IEC 18004 section 7.5.1).
package enum ErrorCorrection: Int, Sendable, CaseIterable, Comparable {
    /// About 7 %.
    case low
    /// About 15 %: the level of our codes.
    case medium
    /// About 25 %.
    case quartile
    /// About 30 %.
    case high

    /// Orders levels by what they can repair.
    package static func < (left: ErrorCorrection, right: ErrorCorrection) -> Bool { left.rawValue < right.rawValue }
}

/// The modules of one QR symbol, without quiet zone.
package struct QRMatrix: Equatable, Sendable {
    /// The most characters any symbol holds in alphanumeric mode (version 40-L).
    package static let maximumCharacters = 4296
    /// The largest version we draw: denser symbols are lost at a tilt (design section 12).
    package static let largestVersion = 10
    /// The white border around a symbol, in modules (ISO/IEC 18004 section 5.3.8).
    package static let quietZone = 4

    /// Modules on one side: 17 + 4 × version.
    package let side: Int
    /// The error correction the symbol was made with, which may be above the level asked for.
    package let level: ErrorCorrection
    private let modules: [Bool]

    /// The symbol's version, 1 to 40.
    package var version: Int { (side - 17) / 4 }

    /// Encodes text in one alphanumeric segment.
    ///
    /// The smallest version that holds the text at `level` is taken. Error correction is then raised as far as
    /// `quartile` where the version stays the same, since that is free.
    ///
    /// Throws `empty`, `not-alphanumeric` (lower case too), and `too-large` where the symbol would be above
    /// `largestVersion`.
    package init(
        alphanumeric text: String,
        level: ErrorCorrection = .medium,
        largestVersion: Int = QRMatrix.largestVersion
    ) throws(QRError) {
        let characters = Array(text.utf8.prefix(QRMatrix.maximumCharacters + 1))
        guard !characters.isEmpty else { throw QRError(.empty, "expected text for the code, got none") }
        guard characters.count <= QRMatrix.maximumCharacters else {
            throw QRError(.tooLarge, "expected at most \(QRMatrix.maximumCharacters) characters, got more")
        }
        if let index = characters.firstIndex(where: { !QRMatrix.isAlphanumeric($0) }) {
            let found = "byte \(characters[index]) at \(index)"
            throw QRError(.notAlphanumeric, "expected 0-9, A-Z, space or one of $%*+-./:, got \(found)")
        }
        var best = try QREncoder.symbol(alphanumeric: characters, level: level)
        let version = (best.side - 17) / 4
        guard version <= largestVersion else {
            throw QRError(.tooLarge, "expected a symbol of version \(largestVersion) at most, got version \(version)")
        }
        var bestLevel = level
        for raised in ErrorCorrection.allCases where raised > level && raised <= .quartile {
            let symbol: QREncoder.Symbol
            do {
                symbol = try QREncoder.symbol(alphanumeric: characters, level: raised)
            } catch  where error.code == .tooLarge {
                break  // even version 40 has no room at the higher level
            }
            guard symbol.side == best.side else { break }
            best = symbol
            bestLevel = raised
        }
        side = best.side
        self.level = bestLevel
        modules = best.modules
    }

    /// Says whether the module in column `x` and row `y` is dark; outside the symbol everything is light.
    package func dark(_ x: Int, _ y: Int) -> Bool {
        guard (0..<side).contains(x), (0..<side).contains(y) else { return false }
        return modules[y * side + x]
    }

    private static func isAlphanumeric(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: " "), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "*"), UInt8(ascii: "+"): true
        case UInt8(ascii: "-")...UInt8(ascii: "/"), UInt8(ascii: ":"): true
        default: false
        }
    }
}
