import CSQLite
import Glibc

/// The failure of a database operation.
///
/// Branch on ``code``; ``message`` and ``remedy`` are for people and may change.
package struct StoreError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it was, as text that is stable and goes into JSON output.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Another connection held the lock for longer than the busy timeout.
        package static let busy = Code(rawValue: "busy")
        /// The disk, the quota, or the size allowed to the file is used up; what was committed is intact.
        package static let diskFull = Code(rawValue: "disk-full")
        /// The file, or the connection to it, cannot be written.
        package static let readOnly = Code(rawValue: "read-only")
        /// The file is damaged.
        package static let corrupt = Code(rawValue: "corrupt")
        /// A constraint of the schema (unique, foreign key, check, not null) refused the row.
        package static let constraint = Code(rawValue: "constraint")
        /// The operating system refused to read or write.
        package static let io = Code(rawValue: "io")
        /// There is no file at the path.
        package static let notFound = Code(rawValue: "not-found")
        /// Something is at the path where a new file was to be made.
        package static let fileExists = Code(rawValue: "file-exists")
        /// The bytes are not a record that can be folded.
        package static let badRecord = Code(rawValue: "bad-record")
        /// The file is there, or could be, but cannot be opened.
        package static let cannotOpen = Code(rawValue: "cannot-open")
        /// The file is no database, or one of another program or kind.
        package static let notATallystickFile = Code(rawValue: "not-a-tallystick-file")
        /// The file was written by a newer version of this program.
        package static let needsNewerVersion = Code(rawValue: "needs-newer-version")
        /// A column holds another type than the one asked for, or NULL.
        package static let wrongType = Code(rawValue: "wrong-type")
        /// A text column holds bytes that are not UTF-8.
        package static let invalidText = Code(rawValue: "invalid-text")
        /// SQLite ended the transaction by itself after an earlier failure; nothing of it was kept.
        package static let transactionLost = Code(rawValue: "transaction-lost")
        /// The call was wrong: bad SQL, a wrong number of values, a closed database.
        package static let misuse = Code(rawValue: "misuse")
        /// SQLite reported something no other code stands for.
        package static let other = Code(rawValue: "other")
    }

    /// What kind of failure it was.
    package let code: Code
    /// What was expected and what came, in lower case and without the values that were bound.
    package let message: String
    /// What a person can do about it, where there is something.
    package let remedy: String?
    /// The extended result code of SQLite, or nil where SQLite was not the one to complain.
    package let sqliteCode: Int?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What was expected and what came, in lower case.
    ///   - remedy: What to do about it; nil takes the usual advice for the code, if there is any.
    ///   - sqliteCode: The extended result code of SQLite.
    package init(_ code: Code, _ message: String, remedy: String? = nil, sqliteCode: Int? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy ?? Self.remedies[code]
        self.sqliteCode = sqliteCode
    }

    package var description: String {
        guard let remedy else { return message }
        return "\(message) (\(remedy))"
    }

    private static let remedies: [Code: String] = [
        .busy: "another tally process is writing; try again",
        .diskFull: "free some space and run the command again; what was saved before is intact",
        .readOnly: "make the file and its folder writable for this user",
        .corrupt: "keep the file as it is and restore a backup beside it",
        .needsNewerVersion: "install the newer version of tally that wrote this file",
    ]
}

extension StoreError.Code {
    /// Translates a result code of SQLite and the `errno` that goes with it.
    init(sqlite code: Int32, errno system: Int32) {
        // A full disk shows as SQLITE_FULL from a write, but as an I/O error from the shared-memory file, from a
        // quota, or where the space runs out only when the file is synchronised.
        let isOutOfSpace = system == ENOSPC || system == EDQUOT || system == EFBIG
        self =
            switch code & 0xff {
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_FULL: .diskFull
            case SQLITE_IOERR: isOutOfSpace ? .diskFull : .io
            case SQLITE_READONLY: .readOnly
            case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
            case SQLITE_CONSTRAINT: .constraint
            case SQLITE_CANTOPEN: isOutOfSpace ? .diskFull : .cannotOpen
            case SQLITE_PERM, SQLITE_AUTH: .cannotOpen
            case SQLITE_ERROR, SQLITE_MISUSE, SQLITE_RANGE, SQLITE_TOOBIG, SQLITE_MISMATCH: .misuse
            default: .other
            }
    }
}
