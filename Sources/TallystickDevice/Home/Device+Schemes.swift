package import Schemes
package import Tallystick
package import TallystickCrypto
import TallystickStore

extension DeviceHome {
    /// The schemes that an enrolled home has from its server, for those who only read.
    ///
    /// - Throws: ``DeviceError``, as opening a home.
    package func schemes() throws -> SchemeLibrary {
        let (_, database) = try open()
        defer { database.close() }
        return try atHome(path) { try Device.storedSchemes(in: database, beside: SchemeLibrary()).library }
    }
}

extension Device {
    /// The newest version of a scheme: of those that the server lists, else of all that are known here.
    ///
    /// A version that ships with this program and that the server does not know yet would have its chains refused.
    package func newestScheme(_ id: Name) -> Scheme? {
        schemes.newest(id) { listed.contains($0.hash) } ?? schemes.newest(id)
    }

    /// Takes note of what the home's table has: this process or another may have fetched a scheme.
    func refreshSchemes() throws {
        let stored = try Device.storedSchemes(in: database, beside: schemes)
        listed = stored.listed
        guard !stored.library.references.isEmpty else { return }
        schemes.add(stored.library)
        context = Device.context(id: id, handoffKey: handoffKey, schemes: schemes)
    }

    /// Forgets what was read of the table and reads it again: a transaction that wrote to it was undone.
    func rereadSchemes() throws {
        schemes = shipped
        context = Device.context(id: id, handoffKey: handoffKey, schemes: shipped)
        try refreshSchemes()
    }

    /// What the table has beside the schemes that are known, and what the server lists.
    fileprivate static func storedSchemes(
        in database: Database,
        beside known: SchemeLibrary
    ) throws -> (library: SchemeLibrary, listed: Set<Digest>) {
        let sql = "SELECT hash, id, version, is_listed, bytes IS NOT NULL FROM schemes ORDER BY rowid"
        let rows = try database.query(sql) { row in
            (
                reference: try reference(hash: row.text(0), id: row.text(1), version: row.int(2)),
                isListed: try row.int(3) != 0, hasBytes: try row.int(4) != 0
            )
        }
        var library = SchemeLibrary()
        for row in rows where row.hasBytes && !known.contains(row.reference) {
            let sql = "SELECT bytes FROM schemes WHERE hash = ?"
            let bytes = try database.first(sql, row.reference.hash.hex) { row in try row.blob(0) } ?? []
            // What the disk has damaged counts as not there, and is fetched again.
            if SHA256.hash(bytes) == row.reference.hash { library.add(row.reference, bytes: bytes) }
        }
        return (library, Set(rows.filter(\.isListed).map(\.reference.hash)))
    }

    private static func reference(hash: String, id: String, version: Int) throws -> SchemeReference {
        guard let id = Name(id), let hash = Digest(hex: hash) else {
            throw StoreError(.corrupt, "expected the id and hash of a scheme, got \(id) and \(hash)")
        }
        return SchemeReference(id: id, version: version, hash: hash)
    }
}

extension Device {
    /// Opens an enrolled home, with schemes that have been read.
    package convenience init(
        home: DeviceHome,
        schemes: [Scheme],
        clock: @escaping () -> Timestamp,
        random: @escaping (Int) -> [UInt8]
    ) throws {
        try self.init(home: home, schemes: SchemeLibrary(schemes), clock: clock, random: random)
    }

    /// Makes a device, with schemes that have been read.
    package static func enrol(
        home: DeviceHome,
        server: String,
        code: String,
        authority: PublicKey? = nil,
        transport: Transport,
        schemes: [Scheme],
        clock: @escaping () -> Timestamp,
        random: @escaping (Int) -> [UInt8]
    ) throws -> Device {
        try enrol(
            home: home,
            server: server,
            code: code,
            authority: authority,
            transport: transport,
            schemes: SchemeLibrary(schemes),
            clock: clock,
            random: random
        )
    }
}
