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
    package func signatureToGive(in chain: UniqueID, as name: Name?) throws -> Scheme.SignatureRule {
        try atHome(home.path) { try database.snapshot { try signature(name, in: try folded(chain).state) } }
    }

    /// The roles in which this device takes part in a chain, the latest leg's first.
    package func roles(in chain: UniqueID) throws -> [Name] {
        try atHome(home.path) { try database.snapshot { ownRoles(in: try folded(chain).state) } }
    }
}
