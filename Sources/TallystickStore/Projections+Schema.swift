extension Projections {
    /// One of the tables.
    package struct Table: Sendable, Hashable {
        /// Its name.
        package let name: String
        /// The columns of its primary key.
        package let key: [String]

        /// Names a table and the columns that give its order.
        package init(name: String, key: [String]) {
            self.name = name
            self.key = key
        }
    }

    /// The tables, in the order they are reported (`docs/tables.md`).
    package static let tables: [Table] = [
        Table(name: "chains", key: ["chain"]),
        Table(name: "legs", key: ["chain", "leg"]),
        Table(name: "delegations", key: ["chain", "event", "signature"]),
        Table(name: "fields", key: ["chain", "leg", "path"]),
        Table(name: "conflicts", key: ["chain", "leg", "path", "event"]),
        Table(name: "externals", key: ["chain", "leg", "path", "identifier"]),
        Table(name: "corrections", key: ["chain", "correction"]),
        Table(name: "correction_values", key: ["chain", "correction", "path"]),
        Table(name: "correction_approvers", key: ["chain", "correction", "party"]),
        Table(name: "signatures", key: ["chain", "leg", "signature"]),
        Table(name: "gaps", key: ["chain", "leg", "signature"]),
        Table(name: "handoffs", key: ["chain", "offer", "giver_event", "taker_event"]),
        Table(name: "replies", key: ["chain", "offer"]),
        Table(name: "links", key: ["chain", "event"]),
        Table(name: "link_amounts", key: ["chain", "event", "path"]),
        Table(name: "deadlines", key: ["chain", "deadline"]),
        Table(name: "notes", key: ["chain", "event"]),
        Table(name: "late_entries", key: ["chain", "event"]),
        Table(name: "warnings", key: ["chain", "event", "number"]),
        Table(name: "refusals", key: ["chain", "event"]),
        Table(name: "waiting", key: ["chain", "event", "number"]),
        Table(name: "devices", key: ["device"]),
    ]

    /// The views over the tables: the questions that are asked most.
    package static let views = ["overdue", "discrepancies", "open_conflicts", "contested_chains"]

    /// What makes the tables and views in an empty file.
    package static let schema = chainTables + valueTables + stageTables + logTables + viewDefinitions

    /// Makes the tables and views anew, empty, in place of those of any earlier version.
    package static func replaceTables(in database: Database) throws(StoreError) {
        for view in views { try database.execute("DROP VIEW IF EXISTS \(view)") }
        for table in tables { try database.execute("DROP TABLE IF EXISTS \(table.name)") }
        try database.execute(schema)
    }

    /// The chains and who takes part.
    private static let chainTables = """
        CREATE TABLE chains (
            chain TEXT PRIMARY KEY, scheme TEXT, scheme_version INTEGER, scheme_hash TEXT, opening TEXT,
            opened_at TEXT, opened_by TEXT, leg INTEGER, role TEXT, holder TEXT, contested INTEGER NOT NULL,
            ended TEXT, outcome TEXT, ended_at TEXT, ended_by TEXT, ended_why TEXT, ended_event TEXT, duty TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE legs (
            chain TEXT NOT NULL, leg TEXT NOT NULL, number INTEGER, role TEXT NOT NULL, party TEXT NOT NULL,
            device TEXT NOT NULL, at TEXT NOT NULL, offer TEXT, received TEXT, time_basis TEXT, mac TEXT,
            custody INTEGER NOT NULL, admitted_by TEXT, PRIMARY KEY (chain, leg)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX legs_by_party ON legs (party);
        CREATE TABLE delegations (
            chain TEXT NOT NULL, event TEXT NOT NULL, signature TEXT NOT NULL, leg TEXT NOT NULL, role TEXT NOT NULL,
            from_party TEXT NOT NULL, to_party TEXT NOT NULL, device TEXT NOT NULL, at TEXT NOT NULL,
            until TEXT NOT NULL, PRIMARY KEY (chain, event, signature)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX delegations_by_party ON delegations (to_party);
        CREATE TABLE links (
            chain TEXT NOT NULL, event TEXT NOT NULL, link TEXT NOT NULL, kind TEXT NOT NULL, other TEXT NOT NULL,
            why TEXT NOT NULL, role TEXT NOT NULL, party TEXT NOT NULL, device TEXT NOT NULL, at TEXT NOT NULL,
            PRIMARY KEY (chain, event)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX links_by_other ON links (other);
        CREATE TABLE link_amounts (
            chain TEXT NOT NULL, event TEXT NOT NULL, path TEXT NOT NULL, value TEXT NOT NULL,
            PRIMARY KEY (chain, event, path)
        ) STRICT, WITHOUT ROWID;

        """

    /// What was said, and how it was corrected.
    private static let valueTables = """
        CREATE TABLE fields (
            chain TEXT NOT NULL, leg TEXT NOT NULL, path TEXT NOT NULL, role TEXT NOT NULL, value TEXT,
            party TEXT NOT NULL, device TEXT NOT NULL, at TEXT NOT NULL, event TEXT NOT NULL,
            conflict INTEGER NOT NULL, PRIMARY KEY (chain, leg, path)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE conflicts (
            chain TEXT NOT NULL, leg TEXT NOT NULL, path TEXT NOT NULL, event TEXT NOT NULL, value TEXT,
            device TEXT NOT NULL, at TEXT NOT NULL, shown INTEGER NOT NULL,
            PRIMARY KEY (chain, leg, path, event)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE externals (
            chain TEXT NOT NULL, leg TEXT NOT NULL, path TEXT NOT NULL, identifier TEXT NOT NULL, system TEXT NOT NULL,
            PRIMARY KEY (chain, leg, path, identifier)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX externals_by_identifier ON externals (identifier);
        CREATE TABLE corrections (
            chain TEXT NOT NULL, correction TEXT NOT NULL, leg TEXT NOT NULL, role TEXT NOT NULL, party TEXT NOT NULL,
            device TEXT NOT NULL, at TEXT NOT NULL, why TEXT NOT NULL, state TEXT NOT NULL, settled_at TEXT,
            settled_by TEXT, settled_event TEXT, settled_why TEXT, PRIMARY KEY (chain, correction)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE correction_values (
            chain TEXT NOT NULL, correction TEXT NOT NULL, path TEXT NOT NULL, value TEXT, earlier TEXT,
            PRIMARY KEY (chain, correction, path)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE correction_approvers (
            chain TEXT NOT NULL, correction TEXT NOT NULL, party TEXT NOT NULL, answer TEXT, event TEXT, device TEXT,
            at TEXT, PRIMARY KEY (chain, correction, party)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE notes (
            chain TEXT NOT NULL, event TEXT NOT NULL, text TEXT NOT NULL, role TEXT NOT NULL, party TEXT NOT NULL,
            device TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (chain, event)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE late_entries (
            chain TEXT NOT NULL, event TEXT NOT NULL, type TEXT NOT NULL, role TEXT NOT NULL, party TEXT NOT NULL,
            device TEXT NOT NULL, at TEXT NOT NULL, happened TEXT NOT NULL, why TEXT NOT NULL, paper TEXT,
            PRIMARY KEY (chain, event)
        ) STRICT, WITHOUT ROWID;

        """

    /// What was signed and handed over, and what has to follow.
    private static let stageTables = """
        CREATE TABLE signatures (
            chain TEXT NOT NULL, leg TEXT NOT NULL, signature TEXT NOT NULL, role TEXT NOT NULL,
            party TEXT NOT NULL, device TEXT NOT NULL, at TEXT NOT NULL, event TEXT NOT NULL,
            snapshot TEXT NOT NULL, way TEXT NOT NULL, signer TEXT NOT NULL, signer_role TEXT NOT NULL,
            happened TEXT NOT NULL, paper TEXT, paper_signer TEXT, PRIMARY KEY (chain, leg, signature)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE gaps (
            chain TEXT NOT NULL, leg TEXT NOT NULL, signature TEXT NOT NULL, role TEXT NOT NULL, party TEXT NOT NULL,
            PRIMARY KEY (chain, leg, signature)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE handoffs (
            chain TEXT NOT NULL, offer TEXT NOT NULL, giver_event TEXT NOT NULL, taker_event TEXT NOT NULL,
            result TEXT NOT NULL, contested INTEGER NOT NULL, time_basis TEXT, mac TEXT, reasons TEXT, handoff TEXT,
            giver_party TEXT, giver_device TEXT, offered_at TEXT, taker_party TEXT, taker_role TEXT,
            taker_device TEXT, taken_at TEXT, expires TEXT, snapshot TEXT NOT NULL,
            PRIMARY KEY (chain, offer, giver_event, taker_event)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE replies (
            chain TEXT NOT NULL, offer TEXT NOT NULL, event TEXT NOT NULL, giver_party TEXT NOT NULL,
            giver_device TEXT NOT NULL, at TEXT NOT NULL, accepted INTEGER NOT NULL, taker_event TEXT NOT NULL,
            taken_at TEXT, PRIMARY KEY (chain, offer)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE deadlines (
            chain TEXT NOT NULL, deadline TEXT NOT NULL, role TEXT NOT NULL, party TEXT, started TEXT NOT NULL,
            due TEXT, certain INTEGER NOT NULL, met TEXT, PRIMARY KEY (chain, deadline)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX deadlines_by_due ON deadlines (due);

        """

    /// What the log says besides: warnings, refusals, what waits, and the devices.
    private static let logTables = """
        CREATE TABLE warnings (
            chain TEXT NOT NULL, event TEXT NOT NULL, number INTEGER NOT NULL, code TEXT NOT NULL, subject TEXT,
            detail TEXT, rule TEXT, role TEXT NOT NULL, party TEXT NOT NULL, at TEXT NOT NULL,
            PRIMARY KEY (chain, event, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE refusals (
            chain TEXT NOT NULL, event TEXT NOT NULL, type TEXT, device TEXT NOT NULL, party TEXT, at TEXT,
            received TEXT NOT NULL, codes TEXT NOT NULL, reasons TEXT NOT NULL, PRIMARY KEY (chain, event)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX refusals_by_party ON refusals (party);
        CREATE TABLE waiting (
            chain TEXT NOT NULL, event TEXT NOT NULL, number INTEGER NOT NULL, type TEXT NOT NULL,
            device TEXT NOT NULL, party TEXT, received TEXT NOT NULL, kind TEXT NOT NULL, what TEXT NOT NULL,
            PRIMARY KEY (chain, event, number)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX waiting_by_device ON waiting (device, number);
        CREATE INDEX waiting_by_party ON waiting (party, number);
        CREATE TABLE devices (
            device TEXT PRIMARY KEY, party TEXT NOT NULL, party_name TEXT NOT NULL, person TEXT, roles TEXT NOT NULL,
            key TEXT NOT NULL, not_before TEXT NOT NULL, not_after TEXT NOT NULL, serial INTEGER NOT NULL,
            revoked INTEGER NOT NULL, why TEXT
        ) STRICT, WITHOUT ROWID;

        """

    /// `due` and `met` are spelled as SQLite spells the time here, so that texts compare as times do.
    private static let viewDefinitions = """
        CREATE VIEW overdue AS
            SELECT chain, deadline, role, party, started, due, certain, met FROM deadlines
            WHERE met IS NULL AND due < strftime('%Y-%m-%dT%H:%M:%fZ', 'now');
        CREATE VIEW discrepancies AS
            SELECT chain, event, code, subject, detail, role, party, at FROM warnings
            WHERE code IN ('discrepancy', 'amounts-differ');
        CREATE VIEW open_conflicts AS
            SELECT chain, leg, fields.role AS role, fields.party AS party, path, conflicts.value AS value,
                conflicts.device AS device, conflicts.at AS at, conflicts.event AS event, shown
            FROM conflicts JOIN fields USING (chain, leg, path);
        CREATE VIEW contested_chains AS
            SELECT chain, offer, handoff, result, giver_party, taker_party, taker_role, taker_device, taken_at,
                taker_event
            FROM handoffs WHERE contested = 1;
        """
}
