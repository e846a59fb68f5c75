import Schemes
package import Tallystick
import TallystickCrypto
import TallystickStore

/// What came of asking the server for schemes that a device did not know.
package struct SchemeFetch: Sendable, Equatable {
    /// Those that are known from now on.
    package internal(set) var fetched: [SchemeReference] = []
    /// Those that are not, and why; everything else goes on without them.
    package internal(set) var faults: [Fault] = []

    /// Why a scheme, or the list of them, was not taken.
    package struct Fault: Sendable, Equatable {
        /// The scheme as the server lists it; nil where it is the list.
        package let scheme: SchemeReference?
        /// What kind of failure it was.
        package let code: DeviceError.Code
        /// What was expected and what came.
        package let message: String
        /// What a person can do about it.
        package let remedy: String

        init(_ scheme: SchemeReference?, _ error: DeviceError) {
            self.scheme = scheme
            code = error.code
            message = error.message
            remedy = error.remedy
        }
    }
}

extension Device {
    /// Fetches the schemes that the server lists and this device does not know, as every synchronisation does.
    ///
    /// - Returns: What was fetched and what was not, whatever the server answered.
    /// - Throws: ``DeviceError`` where no session was opened or the home cannot be written.
    package func fetchSchemes(_ transport: Transport) throws -> SchemeFetch {
        try atHome(home.path) {
            let lease = Lease(random: random(16), database: database)
            try lease.take(at: now(), home: home.path)
            defer {
                do { try lease.release() } catch {}  // it ends by itself
            }
            let token = try openSession(transport)
            return try SchemeFetcher(device: self, transport: transport, token: token, lease: lease)
                .run(retriesRefused: true)
        }
    }

    /// Whether a synchronisation asks for schemes: every one that a person asked for, and now and then one of a timer's.
    func isToAskForSchemes(on occasion: SyncOccasion) -> Bool {
        guard case .whenDue = occasion, let last = schemesAsked?.at else { return true }
        let time = now().milliseconds
        return time < last || time >= last + SchemeFetcher.pause
    }
}

/// Asks for the server's schemes, and keeps those that are what they should be.
///
/// Whatever the server answers, nothing of what was known before changes: a scheme is taken whole, under the hash that
/// the authority signed, or refused with a reason.
struct SchemeFetcher {
    /// The most schemes that are fetched in one synchronisation.
    static let mostAtOnce = 32
    /// The most bytes of schemes that a home keeps.
    static let mostBytes = 16 << 20
    /// For how many milliseconds a timer does not ask again.
    static let pause: Int64 = 300_000
    /// The most bytes of a list: each scheme in it takes less than 256.
    private static let longestList = SchemeList.most * 256

    let device: Device
    let transport: Transport
    let token: String
    let lease: Lease

    /// Fetches what is missing.
    ///
    /// - Parameter retriesRefused: Whether to ask again for what this process refused before.
    func run(retriesRefused: Bool) throws -> SchemeFetch {
        var fetch = SchemeFetch()
        var refused = retriesRefused ? [] : device.schemesAsked?.refused ?? []
        defer { device.schemesAsked = (device.now().milliseconds, refused) }
        let list: SchemeList
        do throws(DeviceError) {
            guard let answered = try self.list() else { return fetch }
            list = answered
        } catch {
            fetch.faults.append(SchemeFetch.Fault(nil, error))
            return fetch
        }
        try keep(list)
        let missing = list.schemes.filter { !device.schemes.contains($0) && !refused.contains($0.hash) }
        for reference in missing.prefix(SchemeFetcher.mostAtOnce) {
            try lease.take(at: device.now(), home: device.home.path)
            let room = try SchemeFetcher.mostBytes - size()
            let bytes: [UInt8]
            do throws(DeviceError) {
                bytes = try self.bytes(of: reference, room: room)
            } catch {
                fetch.faults.append(SchemeFetch.Fault(reference, error))
                // The others would only wait for the same.
                if error.code == .serverUnreachable { break }
                refused.insert(reference.hash)
                continue
            }
            try keep(bytes, reference)
            fetch.fetched.append(reference)
        }
        return fetch
    }

    // MARK: What the server gives

    private func get(_ path: String, _ what: String) throws(DeviceError) -> HTTPResponseValue {
        let headers = [(name: "Authorization", value: "Bearer \(token)")]
        do {
            return try transport.send(HTTPRequestValue(method: "GET", path: path, headers: headers))
        } catch {
            let cause = error as? DeviceError ?? .unreachable("the server was not reached: \(error)")
            throw DeviceError(cause.code, "\(what) did not come: \(cause.message)", remedy: "sync again")
        }
    }

    /// The list; nil from a server that has none to give.
    private func list() throws(DeviceError) -> SchemeList? {
        let what = "the list of its schemes"
        let response = try get("/v1/schemes", what)
        // Servers of before do not know the route.
        if response.status == 404 { return nil }
        guard response.status == 200 else { throw SyncSession.failure(response, what) }
        guard response.body.count <= SchemeFetcher.longestList else {
            throw .misbehaved("expected a list of schemes, got \(response.body.count) bytes")
        }
        let line = response.body.last == 0x0A ? response.body.dropLast() : response.body[...]
        let authority: PublicKey
        do {
            let key = try device.database.first("SELECT authority FROM sync") { row in try row.blob(0) }
            guard let key = key.flatMap({ PublicKey(bytes: $0) }) else {
                throw StoreError(.corrupt, "expected the server's authority")
            }
            authority = key
        } catch let error as StoreError {
            throw DeviceError(error, home: device.home.path)
        } catch {
            throw .misbehaved("expected the server's authority: \(error)")
        }
        guard let list = SchemeList(line: Array(line), signedBy: authority) else {
            throw .misbehaved(
                "expected a list of at most \(SchemeList.most) schemes, signed by the server's authority"
            )
        }
        return list
    }

    /// The bytes of a scheme, found to be what the list says.
    private func bytes(of reference: SchemeReference, room: Int) throws(DeviceError) -> [UInt8] {
        let name = "\(reference.id) version \(reference.version)"
        let response = try get("/v1/schemes/\(reference.hash.hex)", "the scheme \(name)")
        guard response.status == 200 else { throw SyncSession.failure(response, "the scheme \(name)") }
        let most = min(Scheme.longest, room)
        guard response.body.count <= most else {
            throw DeviceError(
                .tooLarge,
                "expected the scheme \(name) to have at most \(most) bytes, got \(response.body.count)",
                remedy: "tell whoever runs the server; chains under other schemes go on"
            )
        }
        guard SHA256.hash(response.body) == reference.hash else {
            throw damaged("expected the scheme \(name) to have the hash that the server lists, got other bytes")
        }
        let scheme: Scheme
        do throws(SchemeError) {
            scheme = try Scheme(bytes: response.body)
        } catch {
            throw DeviceError(
                .schemeInvalid,
                "the server's scheme \(name) cannot be read: \(error)",
                remedy: "a newer version of this program may know it; else tell whoever runs the server"
            )
        }
        guard scheme.reference == reference else {
            throw damaged(
                "expected the scheme \(name), got one that says to be \(scheme.reference.id) version "
                    + "\(scheme.reference.version)"
            )
        }
        // A code names a scheme by these bytes alone.
        if let other = device.schemes.references.first(where: { $0.hash.hex.prefix(8) == reference.hash.hex.prefix(8) })
        {
            throw DeviceError(
                .schemeTaken,
                "the server's scheme \(name) cannot be told from \(other.id) version \(other.version) in codes: their "
                    + "hashes begin with the same bytes",
                remedy: "tell whoever runs the server"
            )
        }
        return response.body
    }

    private func damaged(_ message: String) -> DeviceError {
        DeviceError(
            .schemeDamaged,
            message,
            remedy: "sync again; if this goes on, tell whoever runs the server. Chains under other schemes go on"
        )
    }

    // MARK: What the home keeps

    private func size() throws -> Int {
        try device.database.first("SELECT coalesce(sum(length(bytes)), 0) FROM schemes") { row in try row.int(0) } ?? 0
    }

    /// Writes which schemes the server decides with; what it lists no more and was never fetched is forgotten.
    private func keep(_ list: SchemeList) throws {
        let hashes = Set(list.schemes.map(\.hash))
        guard hashes != device.listed else { return }
        try write {
            try device.database.run("UPDATE schemes SET is_listed = 0")
            for scheme in list.schemes {
                try device.database.run(
                    """
                    INSERT INTO schemes (hash, id, version, is_listed) VALUES (?, ?, ?, 1)
                    ON CONFLICT (hash) DO UPDATE SET is_listed = 1
                    """,
                    scheme.hash.hex,
                    scheme.id.text,
                    scheme.version
                )
            }
            try device.database.run("DELETE FROM schemes WHERE is_listed = 0 AND bytes IS NULL")
        }
    }

    /// Writes a scheme, and folds again the chains whose scheme was not known.
    private func keep(_ bytes: [UInt8], _ scheme: SchemeReference) throws {
        try write {
            // The row may be one whose bytes were damaged.
            try device.database.run(
                """
                INSERT INTO schemes (hash, id, version, is_listed, bytes) VALUES (?, ?, ?, 1, ?)
                ON CONFLICT (hash) DO UPDATE SET id = excluded.id, version = excluded.version, bytes = excluded.bytes
                """,
                scheme.hash.hex,
                scheme.id.text,
                scheme.version,
                bytes
            )
            try device.refreshSchemes()
            // A text in a summary would have its quotation marks escaped.
            let unnamed = try device.database.query(
                "SELECT chain FROM chains WHERE instr(summary, CAST('\"scheme\":' AS BLOB)) = 0"
            ) { row in UniqueID(try row.text(0)) }
            try device.refold(Set(unnamed.compactMap { $0 }))
        }
    }

    private func write(_ body: () throws -> Void) throws {
        let cached = device.cache
        do {
            try device.database.transaction {
                try lease.check(home: device.home.path)
                try body()
            }
            try device.refreshSchemes()
        } catch {
            device.cache = cached
            do { try device.rereadSchemes() } catch {}  // the first failure is the one to report
            throw error
        }
    }
}
