package import Tallystick
import TallystickStore

/// What the projections say, as JSON for those who may see it.
extension ServerStore {
    /// The chains a party takes part in, newest first: `{"chains":[…]}`.
    package func chains(of party: UniqueID) throws -> JSON {
        try readers.read { database in
            let rows = try database.rows(
                """
                SELECT chains.*, devices.party_name AS holder_name,
                    EXISTS (SELECT 1 FROM conflicts WHERE conflicts.chain = chains.chain) AS conflict,
                    (SELECT count(*) FROM waiting WHERE waiting.chain = chains.chain AND number = 0) AS waiting,
                    (SELECT count(*) FROM refusals WHERE refusals.chain = chains.chain) AS refused
                FROM chains
                LEFT JOIN legs ON legs.chain = chains.chain AND legs.number = chains.leg
                LEFT JOIN devices ON devices.device = legs.device
                WHERE chains.chain IN (
                    SELECT chain FROM legs WHERE party = ?1 UNION SELECT chain FROM delegations WHERE to_party = ?1
                )
                ORDER BY chains.chain DESC
                """,
                party.description
            )
            return .members([("chains", .array(rows))])
        }
    }

    /// Everything about one chain, a member for each table; nil where the party takes no part in it.
    package func chain(_ id: UniqueID, for party: UniqueID) throws -> JSON? {
        try readers.read { database in
            guard try takesPart(party, in: id, database) else { return nil }
            guard let head = try database.rows("SELECT * FROM chains WHERE chain = ?", id.description).first else {
                return nil
            }
            var members: [(String, JSON?)] = [("chain", head)]
            for table in Projections.tables where table.name != "chains" && table.name != "devices" {
                let order = table.name == "legs" ? ["number"] : table.key
                let sql = "SELECT * FROM \(table.name) WHERE chain = ? ORDER BY \(order.joined(separator: ", "))"
                members.append((table.name, .array(try database.rows(sql, id.description))))
            }
            let devices = try database.rows(
                """
                SELECT device, party, party_name, person, roles, revoked FROM devices
                WHERE party IN (
                    SELECT party FROM legs WHERE chain = ?1 UNION SELECT to_party FROM delegations WHERE chain = ?1
                )
                ORDER BY device
                """,
                id.description
            )
            members.append(("devices", .array(devices)))
            return .members(members)
        }
    }

    /// What was refused of a party's devices, and what of theirs waits: `{"refusals":[…],"waiting":[…]}`.
    package func refusals(of party: UniqueID) throws -> JSON {
        try readers.read { database in
            .members([
                (
                    "refusals",
                    .array(
                        try database.rows(
                            "SELECT * FROM refusals WHERE party = ? ORDER BY received, event",
                            party.description
                        )
                    )
                ),
                (
                    "waiting",
                    .array(
                        try database.rows(
                            "SELECT * FROM waiting WHERE party = ? ORDER BY received, event, number",
                            party.description
                        )
                    )
                ),
            ])
        }
    }
}

extension Database {
    /// The columns that hold JSON, which becomes part of the answer and not a text in it.
    private static let jsonColumns: Set<String> = ["value", "earlier", "reasons"]

    /// The rows as objects; columns without a value are left out.
    fileprivate func rows(_ sql: String, _ value: String) throws -> [JSON] {
        try query(sql, value) { row in
            var members: [(String, JSON?)] = []
            for column in 0..<row.columnCount {
                let name = row.columnName(column)
                switch try row.value(column) {
                case .integer(let integer): members.append((name, .integer(integer)))
                case .text(let bytes):
                    let isJSON = Database.jsonColumns.contains(name)
                    members.append(
                        (name, isJSON ? try JSON.parse(bytes) : .string(String(decoding: bytes, as: UTF8.self)))
                    )
                case .null, .real, .blob: break
                }
            }
            return .members(members)
        }
    }
}
