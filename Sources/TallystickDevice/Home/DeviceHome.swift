import Glibc
import Tallystick
import TallystickCrypto
import TallystickStore

/// The folder of one device: its key, and a database with everything else.
///
/// The key file holds the seed, 32 bytes, and the installation's epoch, 16 bytes, which the database repeats: a
/// database put beside another key, or an older key beside a newer database, is noticed before anything is signed.
package struct DeviceHome: Sendable {
    /// The folder.
    package let path: String

    static let epochLength = 16
    private static let seedLength = 32

    /// Names a folder; nothing is read.
    package init(path: String) {
        self.path = path.count > 1 && path.utf8.last == UInt8(ascii: "/") ? String(path.dropLast()) : path
    }

    var keyPath: String { path + "/device.key" }
    var databasePath: String { path + "/device.sqlite" }

    /// What stands in the key file.
    struct Identity: Sendable {
        let key: SigningKey
        let epoch: [UInt8]
    }

    /// Opens an enrolled home.
    ///
    /// - Throws: ``DeviceError``, naming the folder and what to do.
    func open() throws -> (identity: Identity, database: Database) {
        switch try state() {
        case .absent, .empty: throw notEnrolled("there is nothing in")
        case .foreign: throw notAHome()
        case .some(let hasKey, let hasDatabase):
            if !hasDatabase { throw databaseMissing() }
            let database = try openDatabase(.open)
            return try atHome(path) {
                let meta = try readMeta(database)
                guard let meta, meta.isEnrolled else {
                    throw hasKey || meta != nil ? notEnrolled("enrolment was not finished in") : notAHome()
                }
                guard hasKey else { throw keyMissing() }
                let identity = try readKey()
                guard identity.epoch == meta.epoch else { throw epochMismatch() }
                return (identity, database)
            }
        }
    }

    /// Makes a home, or goes on with one whose enrolment was not finished.
    ///
    /// The database comes first and the key second, so that a key without its database always means that a database
    /// was lost, whose numbers must not be used again.
    func prepare(random: (Int) -> [UInt8]) throws -> (identity: Identity, database: Database) {
        switch try state() {
        case .absent: try makeFolder()
        case .empty: break
        case .foreign: throw notAHome()
        case .some(_, let hasDatabase): if !hasDatabase { throw databaseMissing() }
        }
        let database = try openDatabase(.create)
        return try atHome(path) {
            try database.transaction {
                try database.run("INSERT OR IGNORE INTO meta (only, epoch) VALUES (1, ?)", random(Self.epochLength))
            }
            guard let meta = try readMeta(database) else { throw notEnrolled("enrolment was not finished in") }
            guard !meta.isEnrolled else {
                throw DeviceError(
                    .alreadyEnrolled,
                    "the home \(path) is enrolled already",
                    remedy: "use it as it is, or enrol in another folder with --home DIR"
                )
            }
            if try !exists(keyPath) {
                do throws(CryptoError) {
                    try KeyFile.create(random(Self.seedLength) + meta.epoch, at: keyPath)
                } catch {
                    // Somebody who enrols at the same time may have been faster; then theirs is the key.
                    guard error.code == .fileExists else { throw keyError(error) }
                }
            }
            let identity = try readKey()
            guard identity.epoch == meta.epoch else { throw epochMismatch() }
            return (identity, database)
        }
    }

    // MARK: What is there

    private enum State {
        case absent, empty, foreign
        case some(hasKey: Bool, hasDatabase: Bool)
    }

    private func state() throws -> State {
        guard let mode = try mode(of: path) else { return .absent }
        guard mode & S_IFMT == S_IFDIR else { throw notAHome() }
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else { throw noPermission() }
        let hasKey = try exists(keyPath)
        let hasDatabase = try exists(databasePath)
        if hasKey || hasDatabase { return .some(hasKey: hasKey, hasDatabase: hasDatabase) }
        return try isEmptyFolder() ? .empty : .foreign
    }

    private func mode(of path: String) throws -> mode_t? {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw notAHome() }
        var status = stat()
        if unsafe stat(path, &status) == 0 { return status.st_mode }
        switch errno {
        case ENOENT: return nil
        case ENOTDIR: throw notAHome()
        default: throw noPermission()
        }
    }

    private func exists(_ path: String) throws -> Bool { try mode(of: path) != nil }

    private func isEmptyFolder() throws -> Bool {
        guard let folder = unsafe opendir(path) else { throw noPermission() }
        defer { unsafe _ = closedir(folder) }
        var count = 0
        // Two of the names are the folder itself and its parent.
        while count < 3, unsafe readdir(folder) != nil { count += 1 }
        return count < 3
    }

    private func makeFolder() throws {
        var made = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: false) {
            made += made.isEmpty && part.isEmpty ? "/" : (made.isEmpty || made == "/" ? "" : "/") + part
            guard made != "/", unsafe mkdir(made, 0o700) != 0 else { continue }
            switch errno {
            case EEXIST, EISDIR: continue
            case ENOTDIR: throw notAHome()
            case ENOSPC, EDQUOT:
                throw DeviceError(
                    .diskFull,
                    "the folder \(made) could not be made: the disk is full",
                    remedy: "free some space and run the command again"
                )
            default: throw noPermission()
            }
        }
    }

    // MARK: What is in it

    private func openDatabase(_ mode: Database.Mode) throws -> Database {
        try atHome(path) {
            let database = try Database(
                path: databasePath,
                mode: mode,
                busyTimeoutMilliseconds: 30_000,
                applicationID: Schema.applicationID
            )
            try Schema.migrator.migrate(database)
            return database
        }
    }

    private func readMeta(_ database: Database) throws -> (epoch: [UInt8], isEnrolled: Bool)? {
        try database.first("SELECT epoch, device FROM meta") { row in (try row.blob(0), !row.isNull(1)) }
    }

    private func readKey() throws -> Identity {
        do throws(CryptoError) {
            let bytes = try KeyFile.read(keyPath, limit: 4_096)
            guard bytes.count == Self.seedLength + Self.epochLength else {
                throw CryptoError(.wrongLength, "expected 48 bytes, got \(bytes.count)")
            }
            let key = try SigningKey(seed: Array(bytes.prefix(Self.seedLength)))
            return Identity(key: key, epoch: Array(bytes.dropFirst(Self.seedLength)))
        } catch {
            throw keyError(error)
        }
    }

    // MARK: What to say

    private func keyError(_ error: CryptoError) -> DeviceError {
        switch error.code {
        case .fileExposed:
            DeviceError(
                .keyExposed,
                "the key of the home \(path) can be used by others: \(error.message)",
                remedy: "if nobody else can have read it run “chmod 600 \(keyPath)”, else enrol a new device"
            )
        case .fileNotFound: keyMissing()
        case .diskFull:
            DeviceError(
                .diskFull,
                "the home \(path) has no room for the key: \(error.message)",
                remedy: "free some space and run the command again"
            )
        case .wrongLength, .fileTooLarge:
            DeviceError(
                .damaged,
                "the key of the home \(path) is damaged: \(error.message)",
                remedy: "restore \(keyPath) from a backup of this very file, or enrol a new device in another folder"
            )
        default: noPermission()
        }
    }

    private func notEnrolled(_ what: String) -> DeviceError {
        DeviceError(
            .notEnrolled,
            "expected an enrolled device: \(what) \(path)",
            remedy: "run “tally enrol --home \(path) --server URL --code CODE” with the code you were given, or name "
                + "another folder with --home"
        )
    }

    private func notAHome() -> DeviceError {
        DeviceError(
            .notAHome,
            "expected a device's folder, got something else at \(path)",
            remedy: "name the right folder with --home DIR or TALLY_HOME; a new device needs an empty or new one"
        )
    }

    private func noPermission() -> DeviceError {
        DeviceError(
            .noPermission,
            "expected a folder that this user can read and write: \(path)",
            remedy: "run as the user that owns it, or name your own folder with --home DIR"
        )
    }

    private func databaseMissing() -> DeviceError {
        DeviceError(
            .databaseMissing,
            "the home \(path) has a key but no device.sqlite",
            remedy: "put device.sqlite back, or enrol a new device in another folder: the old key's numbers must not "
                + "be used twice"
        )
    }

    private func keyMissing() -> DeviceError {
        DeviceError(
            .keyMissing,
            "the home \(path) has a database but no device.key",
            remedy: "put device.key back, or enrol a new device in another folder and sync"
        )
    }

    private func epochMismatch() -> DeviceError {
        DeviceError(
            .epochMismatch,
            "key and database of the home \(path) are of two installations, so one was copied or restored",
            remedy: "put back the file that belongs to the other, or enrol a new device in another folder and sync"
        )
    }
}
