package import Schemes
package import Tallystick
import TallystickCrypto
import TallystickStore

/// One device at work in its home: it says things, shows what is known, and synchronises.
///
/// All calls block and none waits for the network, except `enrol` and `sync`. An object is used by one thread at a
/// time; several, in one process or many, may work in the same home.
package final class Device {
    /// The device's home.
    package let home: DeviceHome
    /// The device's name.
    package let id: DeviceID
    /// The certificate it acts under.
    package let certificate: Certificate
    /// The schemes known here: those that ship, and those that were fetched from the server.
    package internal(set) var schemes: SchemeLibrary

    let database: Database
    let key: SigningKey
    let handoffKey: HandoffKey
    let now: () -> Timestamp
    let random: (Int) -> [UInt8]
    var context: DecisionContext
    /// The schemes that ship.
    let shipped: SchemeLibrary
    /// The schemes that the server decides with, as far as it has said so.
    var listed: Set<Digest> = []
    /// When this process last asked the server for its schemes, and which of them it did not take.
    var schemesAsked: (at: Int64, refused: Set<Digest>)?
    /// The folded chains, each right as long as nobody else writes to the file.
    var cache: [UniqueID: FoldedChain] = [:]

    /// Opens an enrolled home.
    ///
    /// - Parameters:
    ///   - home: The folder.
    ///   - schemes: The schemes that ship; those of the home are added.
    ///   - clock: The device's time, with its offset from UTC.
    ///   - random: Gives as many random bytes as asked for, fit for identifiers.
    /// - Throws: ``DeviceError``: `not-enrolled`, `not-a-home`, `no-permission`, `key-exposed`, `key-missing`,
    ///   `database-missing`, `damaged`, `epoch-mismatch`, `needs-newer-version`, `busy`, `disk-full`.
    package convenience init(
        home: DeviceHome,
        schemes: SchemeLibrary,
        clock: @escaping () -> Timestamp,
        random: @escaping (Int) -> [UInt8]
    ) throws {
        let (identity, database) = try home.open()
        try self.init(
            home: home,
            identity: identity,
            database: database,
            schemes: schemes,
            clock: clock,
            random: random
        )
    }

    init(
        home: DeviceHome,
        identity: DeviceHome.Identity,
        database: Database,
        schemes: SchemeLibrary,
        clock: @escaping () -> Timestamp,
        random: @escaping (Int) -> [UInt8]
    ) throws {
        let id = DeviceID(identity.key.publicKey)
        let (certificate, handoffKey) = try atHome(home.path) {
            let stored = try database.first(
                """
                SELECT certificates.line, meta.handoff_key FROM meta JOIN certificates USING (device)
                WHERE meta.device = ? ORDER BY serial DESC
                """,
                id.description
            ) { row in (line: try row.blob(0), handoffKey: try row.blob(1)) }
            guard let stored else {
                throw StoreError(.corrupt, "expected the certificate of device \(id), got none")
            }
            guard let handoffKey = try? HandoffKey(bytes: stored.handoffKey) else {
                throw StoreError(.corrupt, "expected a handoff key of 36 bytes, got \(stored.handoffKey.count)")
            }
            return (try Certificate(line: stored.line), handoffKey)
        }
        self.home = home
        self.id = id
        self.certificate = certificate
        self.schemes = schemes
        shipped = schemes
        self.database = database
        self.handoffKey = handoffKey
        key = identity.key
        now = clock
        self.random = random
        context = Device.context(id: id, handoffKey: handoffKey, schemes: schemes)
        try atHome(home.path) { try refreshSchemes() }
    }

    /// What this device decides with: only the giver and the server have the key that made a MAC.
    static func context(id: DeviceID, handoffKey: HandoffKey, schemes: SchemeLibrary) -> DecisionContext {
        DecisionContext(stage: .provisional, schemes: schemes) { question in
            guard question.giver == id else { return .unchecked }
            let mac = handoffKey.mac(of: question.statement).bytes
            guard question.mac.count == mac.count || question.mac.count == HandoffHalf.macLength else {
                return .mismatched
            }
            return ConstantTime.equal(Array(mac.prefix(question.mac.count)), question.mac) ? .matched : .mismatched
        }
    }
}
