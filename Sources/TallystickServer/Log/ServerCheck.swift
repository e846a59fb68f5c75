import Tallystick
import TallystickCrypto
import TallystickStore

/// What can be said of a server's file besides what its log gives: the pages, the tables, and the rows that no log
/// entry is about.
struct ServerCheck {
    private let live: Database
    private let authority: PublicKey
    /// The most faults that are said of one kind.
    private static let most = 20

    init(_ live: Database, authority: PublicKey) {
        self.live = live
        self.authority = authority
    }

    /// Whether an error says that what was read is not what was written, and not that something could not be done.
    static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? StoreError else { return true }
        switch error.code {
        case .corrupt, .wrongType, .invalidText, .constraint, .notATallystickFile: return true
        default: return false
        }
    }

    // MARK: Pages

    /// What is wrong with the pages of the file (`PRAGMA integrity_check`) and with references between rows.
    func damage() -> [String] {
        do {
            let found = try live.query("PRAGMA integrity_check(\(ServerCheck.most))") { row in try row.text(0) }
            // A count of faults with line feeds in it, or the one line “ok”.
            let pages = found.filter { !sameBytes($0, "ok") }.map { "the file is damaged: \(plain($0))" }
            let references = try live.query("PRAGMA foreign_key_check") { row in
                "a row of \(plain(try row.text(0))) refers to a row of \(plain(try row.text(2))) that is not there"
            }
            return pages + references.prefix(ServerCheck.most)
        } catch {
            return ["the file is damaged: \(plain("\(error)"))"]
        }
    }

    // MARK: Parties

    /// Copies the parties, with the names that their devices' certificates have.
    ///
    /// A party without a certificate keeps its stored name: nothing else tells it.
    func copyParties(to database: Database) throws {
        var names: [UniqueID: String] = [:]
        for line in try live.query("SELECT line FROM certificates ORDER BY position", row: { row in try row.blob(0) }) {
            // What is no certificate is found when the log is folded.
            guard let certificate = try? Certificate(line: line), certificate.isSigned(by: authority) else { continue }
            names[certificate.party] = certificate.partyName
        }
        let parties = try live.query("SELECT number, party, name FROM parties ORDER BY number") { row in
            (number: try row.int64(0), party: try row.text(1), name: try row.text(2))
        }
        for party in parties {
            let name = UniqueID(party.party).flatMap { names[$0] } ?? party.name
            // Two of one name are no reason to stop: the tables then differ, which is what is asked.
            try database.run("INSERT OR IGNORE INTO parties VALUES (?, ?, ?)", party.number, party.party, name)
        }
    }

    // MARK: Shape

    /// What is wrong with the tables themselves and with the rows that nothing in the log gives.
    func shape(like fresh: Database, upTo last: Int) throws -> [String] {
        try tables(like: fresh) + positions(upTo: last) + names() + invitations()
    }

    private func tables(like fresh: Database) throws -> [String] {
        let sql = """
            SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^'
            """
        func read(_ database: Database) throws -> [String: String] {
            let rows = try database.query(sql) { row in (try row.text(0), try row.text(1)) }
            return Dictionary(rows) { first, _ in first }
        }
        let expected = try read(fresh)
        let found = try read(live)
        return Set(expected.keys).union(found.keys).sorted().compactMap { name in
            switch (expected[name], found[name]) {
            case (let wanted?, let got?) where sameBytes(wanted, got): nil
            case (_?, _?): "\(plain(name)) is not the one that this program makes"
            case (_?, nil): "\(plain(name)) is missing"
            default: "\(plain(name)) is none of this program's"
            }
        }
    }

    /// Rows at positions that the log does not have: nothing would ever fold them.
    private func positions(upTo last: Int) throws -> [String] {
        try ["events", "unreadable", "certificates", "revocations"].compactMap { table in
            let sql = "SELECT count(*) FROM \(table) WHERE position NOT BETWEEN 1 AND ?"
            let count = try live.first(sql, last) { row in try row.int(0) } ?? 0
            guard count > 0 else { return nil }
            return "\(count) rows of \(table) stand at positions outside the log, which ends at \(last)"
        }
    }

    private func names() throws -> [String] {
        let rows = try live.query("SELECT name, value FROM meta ORDER BY name") { row in
            (name: try row.text(0), value: try row.text(1))
        }
        var faults: [String] = []
        var missing: Set<String> = ["authority", "epoch", "origin"]
        for row in rows where !sameBytes(row.name, ServerSchema.staleProjections) {
            guard missing.remove(row.name) != nil else {
                faults.append("meta has a row that is none of this program's: \(plain(row.name))")
                continue
            }
            let isRight =
                switch row.name {
                case "authority": sameBytes(row.value, Hex.encode(authority.bytes))
                case "epoch": Hex.decode(row.value)?.count == 16
                default: (try? ServerStore.check(row.value, "an origin")) != nil
                }
            if !isRight { faults.append("the \(row.name) in meta is none: \(plain(row.value))") }
        }
        return faults + missing.sorted().map { "meta does not say the \($0)" }
    }

    /// Invitations that no server made, or that were used by a device other than they invited.
    private func invitations() throws -> [String] {
        let rows = try live.query(
            """
            SELECT invitations.code, parties.party, invitations.person, invitations.roles, invitations.used_by
            FROM invitations LEFT JOIN parties ON parties.number = invitations.party
            """
        ) { row in
            InvitationRow(
                code: try row.blob(0),
                party: try row.optionalText(1),
                person: try row.optionalText(2),
                roles: try row.text(3),
                usedBy: try row.optionalBlob(4)
            )
        }
        var faults: [String] = []
        for row in rows where faults.count < ServerCheck.most {
            if let fault = try fault(of: row) {
                faults.append("invitation \(Hex.encode(Array(row.code.prefix(4))))…: \(fault)")
            }
        }
        return faults
    }

    private struct InvitationRow {
        let code: [UInt8]
        let party: String?
        let person: String?
        let roles: String
        let usedBy: [UInt8]?
    }

    private func fault(of row: InvitationRow) throws -> String? {
        let roles = row.roles.split(separator: ",", omittingEmptySubsequences: false).map { Name(String($0)) }
        guard row.code.count == 32, row.party != nil, roles.allSatisfy({ $0 != nil }) else {
            return "expected a hash of 32 bytes, a party and roles"
        }
        guard let key = row.usedBy else { return nil }
        guard let device = PublicKey(bytes: key).map({ DeviceID($0) }) else { return "expected the key that used it" }
        let line = try live.first("SELECT line FROM certificates WHERE device = ?", device.bytes) { row in
            try row.blob(0)
        }
        guard let line, let certificate = try? Certificate(line: line) else {
            return "expected the certificate of device \(device), which used it"
        }
        guard certificate.party.description == row.party, Set(certificate.roles) == Set(roles.compactMap(\.self)),
            certificate.person.map({ Array($0.utf8) }) == row.person.map({ Array($0.utf8) })
        else { return "expected the party, person and roles that device \(device) was certified with" }
        return nil
    }

    /// A text of the file on one line.
    private func plain(_ text: String) -> String { Plain.line(text) }
}
