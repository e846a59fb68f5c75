import Schemes
import Synchronization
package import Tallystick
import TallystickCrypto
import TallystickStore

/// A scheme that a server decides with.
package struct KnownScheme: Sendable {
    /// Its name, version and hash.
    package let reference: SchemeReference
    /// What a person calls it.
    package let title: String
    /// The position in the log after which it counts.
    package let since: Int
    /// How many chains were opened under it.
    package let chains: Int
}

extension LogWriter {
    /// Adds what is missing of the schemes that ship, and gives those that are passed over.
    func add(shipped: SchemeLibrary) throws -> [SchemeReference] {
        var passedOver: [SchemeReference] = []
        for reference in shipped.references {
            let known = namesake(of: reference)
            if known == nil, let scheme = shipped.scheme(reference) {
                try add([scheme])
            } else if known != reference {
                passedOver.append(reference)
            }
        }
        return passedOver
    }

    /// The known scheme of this id and version.
    func namesake(of reference: SchemeReference) -> SchemeReference? {
        schemes.map(\.reference).first { $0.id == reference.id && $0.version == reference.version }
    }
}

extension ServerStore {
    /// Makes a scheme known from the next position on.
    ///
    /// What was decided before was decided without it, and stays so. A server that runs takes note at once.
    ///
    /// - Returns: Whether it is new; false where this very scheme was known.
    /// - Throws: ``ServerError/Code/schemeTaken``, `StoreError`.
    package func add(_ scheme: Scheme) throws -> Bool {
        try write { writer in
            let new = scheme.reference
            if let known = writer.namesake(of: new) {
                guard known != new else { return false }
                throw ServerError(
                    .schemeTaken,
                    "expected a version of \(new.id) that this server does not know, got version \(new.version) with "
                        + "other contents: known is \(known.hash), this is \(new.hash)"
                )
            }
            // A code names a scheme by these bytes alone.
            if let other = writer.schemes.first(where: { $0.reference.hash.hex.prefix(8) == new.hash.hex.prefix(8) }) {
                throw ServerError(
                    .schemeTaken,
                    "expected a hash that codes can tell from those of other schemes, got one that begins like that of "
                        + "\(other.reference.id) version \(other.reference.version)"
                )
            }
            guard writer.schemes.count < SchemeList.most else {
                throw ServerError(.badValue, "expected at most \(SchemeList.most) schemes on a server")
            }
            try writer.add([scheme])
            return true
        }
    }

    /// The schemes that chains can be opened with, read, in the order they became known.
    package var schemes: [Scheme] {
        writer.withLock { writer in writer.schemes.compactMap { writer.scheme($0.reference) } }
    }

    /// The schemes that chains can be opened with, and how many were.
    package func knownSchemes() throws -> [KnownScheme] {
        let counts = try readers.read { database in
            try database.query("SELECT scheme_hash, count(*) FROM chains WHERE scheme_hash IS NOT NULL GROUP BY 1") {
                row in (try row.text(0), try row.int(1))
            }
        }
        return writer.withLock { writer in
            writer.schemes.compactMap { since, reference in
                guard let scheme = writer.scheme(reference) else { return nil }
                let count = counts.first { sameBytes($0.0, reference.hash.hex) }?.1 ?? 0
                return KnownScheme(reference: reference, title: scheme.title, since: since, chains: count)
            }
        }
    }

    /// The schemes as the database names them now: another process may have added one.
    func schemeReferences() throws -> [SchemeReference] {
        try readers.read { database in
            let hashes = try database.query("SELECT hash FROM schemes ORDER BY since, hash") { row in try row.blob(0) }
            return try hashes.map { bytes in
                let hash = Digest(bytes: bytes)
                if let hash, let known = schemeNames.withLock({ $0[hash] }) { return known }
                let text = try database.first("SELECT bytes FROM schemes WHERE hash = ?", bytes) { row in
                    try row.blob(0)
                }
                let reference = try Scheme(bytes: text ?? []).reference
                guard hash == reference.hash else {
                    throw ServerError(.logDamaged, "expected scheme \(reference.id) under its own hash")
                }
                schemeNames.withLock { $0[reference.hash] = reference }
                return reference
            }
        }
    }

    /// The line of a `SchemeList`.
    func schemeList() throws -> [UInt8] { try SchemeList(try schemeReferences()).signed(by: keys.authority) }

    /// The canonical bytes of a scheme, which its hash is of; nil where there is none.
    func schemeBytes(_ hash: Digest) throws -> [UInt8]? {
        try readers.read { database in
            try database.first("SELECT bytes FROM schemes WHERE hash = ?", hash.bytes) { row in try row.blob(0) }
        }
    }
}

extension ServerStore {
    /// Makes a new database that knows these schemes.
    package static func create(
        path: String,
        origin: String,
        schemes: [Scheme],
        random: @escaping @Sendable (Int) -> [UInt8]
    ) throws -> ServerStore {
        try create(path: path, origin: origin, schemes: SchemeLibrary(schemes), random: random)
    }

    /// Opens a database with its keys; schemes that it does not know yet are added.
    package static func open(
        path: String,
        schemes: [Scheme],
        limits: ServerLimits = ServerLimits(),
        random: @escaping @Sendable (Int) -> [UInt8]
    ) throws -> ServerStore {
        try open(path: path, schemes: SchemeLibrary(schemes), limits: limits, random: random)
    }
}
