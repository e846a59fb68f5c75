import Glibc
import Tallystick
import TallystickCrypto
import TallystickStore

/// The right to synchronise a home, held by one process at a time and lost to the clock when its holder dies.
struct Lease {
    /// How long it lasts without being renewed: longer than a request may take.
    static let milliseconds: Int64 = 180_000

    let name: String
    let database: Database

    /// A lease of any name.
    init(name: String, database: Database) {
        self.name = name
        self.database = database
    }

    /// Names a lease by the process that holds it, so that the lease of a process that died is nobody's.
    init(random: [UInt8], database: Database) {
        self.init(name: "\(getpid())-\(Hex.encode(random))", database: database)
    }

    /// Whether the process that took a lease of this name still runs.
    private static func isAlive(holderOf name: String) -> Bool {
        guard let text = name.split(separator: "-").first, let process = pid_t(text), process > 0 else { return true }
        return kill(process, 0) == 0 || errno != ESRCH
    }

    /// Takes the lease; throws `sync-busy` while somebody else has it.
    ///
    /// One that ends further away than any lease lasts was taken under another clock, and counts for nothing.
    func take(at now: Timestamp, home: String) throws {
        try database.transaction {
            let held = try database.first("SELECT lease, lease_until_ms FROM sync") { row in
                (name: try row.optionalText(0), until: try row.int64(1))
            }
            if let held, let name = held.name, !sameBytes(name, self.name), Lease.isAlive(holderOf: name),
                held.until > now.milliseconds,
                held.until <= now.milliseconds + Lease.milliseconds
            {
                throw DeviceError(
                    .syncBusy,
                    "another process synchronises the home \(home)",
                    remedy: "let it finish; it gives up after three minutes"
                )
            }
            try database.run(
                "UPDATE sync SET lease = ?, lease_until_ms = ?",
                name,
                now.milliseconds + Lease.milliseconds
            )
        }
    }

    /// Gives the lease back, if it is still held.
    func release() throws {
        try database.run("UPDATE sync SET lease = NULL, lease_until_ms = 0 WHERE lease = ?", name)
    }

    /// Checks inside a transaction that nobody has taken the lease since.
    func check(home: String) throws {
        let held = try database.first("SELECT lease FROM sync") { row in try row.optionalText(0) } ?? nil
        guard let held, sameBytes(held, name) else {
            throw DeviceError(
                .syncBusy,
                "another process has begun to synchronise the home \(home), since this one took very long",
                remedy: "let it finish"
            )
        }
    }
}
