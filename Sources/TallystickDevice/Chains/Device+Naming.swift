package import Tallystick
import TallystickStore

extension Device {
    /// The fewest characters by which a chain can be named.
    package static let shortestName = 4

    /// Finds the chain that a person means: by its whole identifier, or by a beginning or an end that no other has.
    ///
    /// The end is what tells chains apart: identifiers made in the same hours begin alike. Hyphens and the case of
    /// letters do not matter.
    ///
    /// - Throws: ``DeviceError``: `bad-input` for fewer than four characters, `chain-unknown`, `chain-ambiguous` with
    ///   the candidates.
    package func chain(named name: String) throws -> UniqueID {
        let wanted = Device.digits(name)
        guard wanted.count >= Device.shortestName else {
            throw DeviceError(
                .badInput,
                "expected at least \(Device.shortestName) characters of a chain's name, got “\(name)”",
                remedy: "give more of the end of its name; “tally list” shows them"
            )
        }
        let all = try atHome(home.path) {
            try database.query("SELECT chain FROM chains ORDER BY chain") { row in try row.text(0) }
        }
        var found: [UniqueID] = []
        for text in all {
            guard let chain = UniqueID(text) else { continue }
            let digits = Device.digits(text)
            if digits == wanted { return chain }
            if digits.starts(with: wanted) || digits.suffix(wanted.count) == wanted[...] { found.append(chain) }
        }
        guard let first = found.first else {
            throw DeviceError(
                .chainUnknown,
                "expected the name of a chain on this device, got “\(name)”",
                remedy: "“tally list” shows the chains; “tally sync” gets those of other devices"
            )
        }
        guard found.count == 1 else {
            let candidates = found.prefix(8).map(\.description).joined(separator: ", ")
            let more = found.count > 8 ? " and \(found.count - 8) more" : ""
            throw DeviceError(
                .chainAmbiguous,
                "“\(name)” is the name of \(found.count) chains: \(candidates)\(more)",
                remedy: "give more of the end of the name"
            )
        }
        return first
    }

    private static func digits(_ text: String) -> [UInt8] {
        text.utf8.compactMap { byte in
            switch byte {
            case UInt8(ascii: "-"): nil
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            default: byte
            }
        }
    }
}
