import Tallystick
import TallystickCrypto
import TallystickStore

/// Who is known: the certificates, the revocations with their positions, and the parties' numbers.
struct Directory: Sendable {
    /// The certificates, by device.
    private(set) var certificates: [DeviceID: Certificate] = [:]
    /// The positions of the revocations: what comes after is refused.
    private(set) var revocations: [DeviceID: Int] = [:]
    /// The parties' numbers in this database.
    private(set) var partyNumbers: [UniqueID: Int] = [:]

    init() {}

    /// Reads all of it.
    init(_ database: Database) throws {
        var statement = try database.statement("SELECT line FROM certificates")
        while try statement.step() { add(try Certificate(line: try statement.blob(0))) }
        var revoked = try database.statement("SELECT device, position FROM revocations")
        while try revoked.step() {
            guard let device = DeviceID(Hex.encode(try revoked.blob(0))) else {
                throw ServerError(.logDamaged, "expected a device of 16 bytes in a revocation")
            }
            revoke(device, at: try revoked.int(1))
        }
        var parties = try database.statement("SELECT party, number FROM parties")
        while try parties.step() {
            guard let party = UniqueID(try parties.text(0)) else {
                throw ServerError(.logDamaged, "expected a party's identifier")
            }
            add(party, number: try parties.int(1))
        }
    }

    mutating func add(_ certificate: Certificate) {
        certificates[certificate.device] = certificate
    }

    mutating func add(_ party: UniqueID, number: Int) { partyNumbers[party] = number }

    mutating func revoke(_ device: DeviceID, at position: Int) { revocations[device] = position }

    /// Whether the device was revoked before this position.
    func isRevoked(_ device: DeviceID, before position: Int) -> Bool {
        revocations[device].map { $0 < position } ?? false
    }
}
