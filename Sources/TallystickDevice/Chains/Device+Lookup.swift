package import Tallystick
import TallystickStore

extension Device {
    /// The rules a chain follows, as known here.
    ///
    /// - Throws: ``DeviceError/Code/schemeUnknown`` where they are not.
    package func scheme(of chain: UniqueID) throws -> Scheme {
        try atHome(home.path) { try database.snapshot { try scheme(of: try folded(chain).state) } }
    }

    /// The signature that `sign` would give, for a person to read before.
    ///
    /// - Throws: ``DeviceError``: `bad-input`, `choice-needed`, `nothing-to-do`, as signing would.
    package func signatureToGive(
        in chain: UniqueID,
        as name: Name?,
        _ way: SigningWay = .own
    ) throws -> Scheme.SignatureRule {
        try atHome(home.path) { try database.snapshot { try signature(name, way, in: try folded(chain).state) } }
    }

    /// The party that a person names: by its identifier, or by its name in a certificate that is known here.
    ///
    /// - Throws: ``DeviceError``: `bad-input` where no party known here has the name, `choice-needed` where several have.
    package func party(named text: String) throws -> UniqueID {
        if let id = UniqueID(text) { return id }
        let known = try atHome(home.path) {
            try database.query("SELECT DISTINCT party FROM certificates WHERE party_name = ?", text) { row in
                UniqueID(try row.text(0))
            }
        }
        let parties = known.compactMap { $0 }
        guard let party = parties.first else {
            throw DeviceError(
                .badInput,
                "no party called “\(text)” is known on this device",
                remedy: "give its identifier (`tally show CHAIN --json` has it), or sync first"
            )
        }
        guard parties.count == 1 else {
            throw DeviceError(
                .choiceNeeded,
                "\(parties.count) parties are called “\(text)”",
                remedy: "give the identifier of one: \(parties.map(\.description).joined(separator: ", "))"
            )
        }
        return party
    }

    /// What a party is called, where its certificate is known here; else its identifier.
    package func name(of party: UniqueID) throws -> String {
        try atHome(home.path) { try partyName(party) } ?? party.description
    }

    /// The roles in which this device takes part in a chain: the latest leg's first, then those it was admitted in.
    package func roles(in chain: UniqueID) throws -> [Name] {
        try atHome(home.path) { try database.snapshot { ownRoles(in: try folded(chain).state) } }
    }
}
