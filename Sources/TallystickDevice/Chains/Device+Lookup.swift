package import Tallystick
import TallystickStore

extension Device {
    /// The rules a chain follows, as known here.
    ///
    /// - Throws: ``DeviceError/Code/schemeUnknown`` where they are not.
    package func scheme(of chain: UniqueID) throws -> Scheme {
        try atHome(home.path) { try database.snapshot { try scheme(of: try folded(chain).state) } }
    }

    /// The roles in which this device takes part in a chain, the latest leg's first.
    package func roles(in chain: UniqueID) throws -> [Name] {
        try atHome(home.path) { try database.snapshot { ownRoles(in: try folded(chain).state) } }
    }
}
