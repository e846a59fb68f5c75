import Glibc
package import Schemes
import Synchronization
package import Tallystick
package import TallystickCrypto
import TallystickStore

/// The server's file: the log, who takes part, and what it all comes to; for many threads.
///
/// Writing goes through one writer behind a lock; reading has connections of its own and waits for nobody.
package final class ServerStore: Sendable {
    /// The file.
    package let path: String
    /// What the server calls itself.
    package let origin: String
    /// Names this database, as it was read last; see ``renewEpoch()``.
    package var epoch: String { lastEpoch.withLock { $0 } }
    /// What is taken at once.
    package let limits: ServerLimits
    /// The key that certifies devices and signs answers.
    package var authority: PublicKey { keys.authority.publicKey }

    let keys: ServerKeys
    let random: @Sendable (Int) -> [UInt8]
    let writer: WriterLock
    let queue = PushQueue()
    let readers: ReaderPool
    /// A copy of the writer's, for the threads that check signatures.
    let directory: Mutex<Directory>
    /// The names and versions of schemes by their hashes, for the threads that read.
    let schemeNames: Mutex<[Digest: SchemeReference]>
    /// Shipped schemes whose id and version this server knows with another hash: the first one stays.
    package let passedOver: [SchemeReference]
    private let lastEpoch: Mutex<String>

    // MARK: Making and opening

    /// Makes a new database and the file with its keys beside it (`<path>.keys`, for its owner only).
    ///
    /// - Parameters:
    ///   - path: Where; nothing may be there.
    ///   - origin: What the server calls itself, 1 to 200 bytes without control characters.
    ///   - schemes: The schemes that chains can be opened with.
    ///   - random: Gives random bytes fit for keys.
    /// - Throws: ``ServerError/Code/exists``, ``ServerError/Code/badValue``, `CryptoError`, `StoreError`.
    package static func create(
        path: String,
        origin: String,
        schemes: SchemeLibrary,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) throws -> ServerStore {
        try check(origin, "an origin")
        guard unsafe access(path, F_OK) != 0 else {
            throw ServerError(.exists, "expected no database yet, got one: \(path)")
        }
        let keyPath = ServerKeys.path(for: path)
        do throws(any Error) {
            _ = try ServerKeys.create(at: keyPath, random: random(64))
        } catch let error as CryptoError where error.code == .fileExists {
            throw ServerError(.exists, "expected no keys yet, got some: \(keyPath)")
        }
        do {
            try createDatabase(at: path, keys: try ServerKeys(readFrom: keyPath), origin: origin, random: random)
            return try open(path: path, schemes: schemes, random: random)
        } catch {
            // Nobody has been certified by these keys yet: half a server would only be in the way of the next attempt.
            for file in [keyPath, path, path + "-wal", path + "-shm"] { _ = unsafe unlink(file) }
            throw error
        }
    }

    private static func createDatabase(
        at path: String,
        keys: ServerKeys,
        origin: String,
        random: @Sendable (Int) -> [UInt8]
    ) throws {
        let database = try Database(path: path, mode: .create, applicationID: ServerSchema.applicationID)
        defer { database.close() }
        try ServerSchema.migrator.migrate(database)
        try database.transaction {
            let values = [
                ("authority", Hex.encode(keys.authority.publicKey.bytes)), ("epoch", Hex.encode(random(16))),
                ("origin", origin),
            ]
            for (name, value) in values { try database.run("INSERT INTO meta VALUES (?, ?)", name, value) }
        }
    }

    /// Opens a database with its keys.
    ///
    /// Schemes that it does not know yet are added, and count for events that come from now on. One whose id and
    /// version it knows with another hash is passed over: the first stays. A file of an earlier version gets the tables
    /// of this one, into which its log is folded again: that takes as long as a rebuild.
    ///
    /// - Throws: ``ServerError/Code/wrongKeys``, ``ServerError/Code/logDamaged`` where the log of an earlier version
    ///   cannot be folded again, `CryptoError` where others can read the keys, `StoreError`.
    package static func open(
        path: String,
        schemes: SchemeLibrary,
        limits: ServerLimits = ServerLimits(),
        random: @escaping @Sendable (Int) -> [UInt8]
    ) throws -> ServerStore {
        let database = try Database(path: path, mode: .open, applicationID: ServerSchema.applicationID)
        try ServerSchema.migrator.migrate(database)
        let keys = try ServerKeys(readFrom: ServerKeys.path(for: path))
        func meta(_ name: String) throws -> String {
            let value = try database.first("SELECT value FROM meta WHERE name = ?", name) { row in try row.text(0) }
            guard let value else { throw ServerError(.logDamaged, "expected the database to say its \(name)") }
            return value
        }
        guard sameBytes(try meta("authority"), Hex.encode(keys.authority.publicKey.bytes)) else {
            throw ServerError(.wrongKeys, "expected the keys of this database in \(ServerKeys.path(for: path))")
        }
        let store = try ServerStore(
            path: path,
            names: (origin: try meta("origin"), epoch: try meta("epoch")),
            keys: keys,
            schemes: schemes,
            limits: limits,
            random: random
        )
        try store.foldStaleProjections()
        return store
    }

    private init(
        path: String,
        names: (origin: String, epoch: String),
        keys: ServerKeys,
        schemes: SchemeLibrary,
        limits: ServerLimits,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) throws {
        self.path = path
        origin = names.origin
        lastEpoch = Mutex(names.epoch)
        self.keys = keys
        self.limits = limits
        self.random = random
        readers = ReaderPool(path: path)
        let database = try Database(path: path, mode: .open, applicationID: ServerSchema.applicationID)
        // The tail of the log and the tables' hot pages stay in memory; the log is written back in larger pieces.
        try database.execute("PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8192")
        let writer = try LogWriter(database, keys: keys, limits: limits, shipped: schemes)
        passedOver = try writer.transaction { try writer.add(shipped: schemes) }
        schemeNames = Mutex(Dictionary(schemes.references.map { ($0.hash, $0) }) { first, _ in first })
        directory = Mutex(writer.directory)
        self.writer = WriterLock(writer)
    }

    /// Runs a change of the log in a transaction, and lets the checking threads know what it changed.
    func write<T: Sendable>(_ body: (LogWriter) throws -> T) throws -> T {
        try writer.withLock { writer in
            let result = try writer.transaction { try body(writer) }
            let known = writer.directory
            directory.withLock { $0 = known }
            let name = writer.epoch
            lastEpoch.withLock { $0 = name }
            return result
        }
    }

    // MARK: The epoch

    /// Gives the database another name, after an older copy of it was put back.
    ///
    /// Devices then ask for everything from the start and offer all their own events again: what the copy has is
    /// answered as known, what it lacks is taken once more. Without it they find out too, but only those who were
    /// given more than the copy has. A server that runs takes note at once.
    ///
    /// - Returns: The new name, 32 hexadecimal digits.
    /// - Throws: `StoreError`.
    @discardableResult
    package func renewEpoch() throws -> String {
        let new = Hex.encode(random(16))
        try write { writer in try writer.rename(epoch: new) }
        return new
    }

    /// The database's name as this connection sees it.
    func readEpoch(_ database: Database) throws -> String {
        let name = try database.first("SELECT value FROM meta WHERE name = 'epoch'") { row in try row.text(0) }
        guard let name else { throw ServerError(.logDamaged, "expected the database to say its epoch") }
        return name
    }

    /// The database's name now, which another process may have changed.
    func readEpoch() throws -> String { try readers.read { database in try readEpoch(database) } }

    /// Where the log stands, and by how many milliseconds its newest time is ahead of this one.
    func standing(at now: Timestamp) -> (position: Int, ahead: Int64) {
        writer.withLock { ($0.position, max(0, $0.newest - now.milliseconds)) }
    }

    /// The devices that are revoked, as far as the writer has taken note.
    var revokedDevices: [DeviceID: Int] { directory.withLock { $0.revocations } }

    /// Limits how large the file may grow, in pages of 4 KiB; further pushes then fail as on a full disk.
    package func setLargestSize(pages: Int) throws {
        try writer.withLock { writer in
            _ = try writer.database.first("PRAGMA max_page_count = \(pages)") { row in try row.int64(0) }
        }
    }

    static func check(_ name: String, _ what: String) throws(ServerError) {
        let isClean = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard !name.isEmpty, name.utf8.count <= 200, isClean else {
            throw ServerError(.badValue, "expected \(what) of 1 to 200 bytes without control characters")
        }
    }
}

/// The one writer and the lock that gives it to one thread at a time.
///
/// `@unchecked`: the writer is reached through ``withLock(_:)`` only.
final class WriterLock: @unchecked Sendable {
    private let writer: LogWriter
    private let lock = Mutex(())

    init(_ writer: LogWriter) {
        self.writer = writer
    }

    /// Runs the body while no other thread has the writer; it must not be kept.
    func withLock<T>(_ body: (LogWriter) throws -> T) rethrows -> T {
        // The mutex holds nothing itself: its value may be used only by code that could send it to another thread,
        // and a connection cannot be sent.
        try lock.withLock { _ in try body(writer) }
    }
}

/// Connections for reading, one for each thread that reads at the moment.
final class ReaderPool: Sendable {
    /// A connection that one thread has at a time.
    ///
    /// `@unchecked`: it is taken out of the pool under the lock and put back under it, so it has one owner.
    private final class Reader: @unchecked Sendable {
        let database: Database

        init(_ database: Database) {
            self.database = database
        }
    }

    private let path: String
    private let idle = Mutex<[Reader]>([])

    init(path: String) {
        self.path = path
    }

    /// Runs the body on a connection whose reads all see the same state.
    func read<T>(_ body: (Database) throws -> T) throws -> T {
        let reader =
            try idle.withLock { $0.popLast() }
            ?? Reader(try Database(path: path, mode: .readOnly, applicationID: ServerSchema.applicationID))
        defer { idle.withLock { if $0.count < 16 { $0.append(reader) } } }
        return try reader.database.snapshot { try body(reader.database) }
    }
}
