import TallystickStore

/// The server's tables: the log, from which the projections can be folded again, and who may take part.
enum ServerSchema {
    /// What stands in the header of a server's file (SQLite file format, section 1.3.17): “TLYS”.
    static let applicationID: Int32 = 0x544C_5953

    /// The log's tables, and after them the projections, which no step changes: each makes them anew.
    ///
    /// To change the projections, add another such step at the end; what they held is folded from the log again when
    /// the file is opened.
    static let migrator = Migrator([
        Migration("log and parties", sql: tables),
        Migration("corrections, delegations, links, deadlines and endings", apply: renewProjections),
    ])

    /// The name in `meta` that stands there while the projections lack what the log says.
    static let staleProjections = "projections"

    private static func renewProjections(in database: Database) throws {
        try Projections.replaceTables(in: database)
        try database.run(
            "INSERT OR REPLACE INTO meta SELECT ?, 'stale' WHERE EXISTS (SELECT 1 FROM entries)",
            staleProjections
        )
    }

    /// The tables of the log, which a rebuild makes again and compares, and never replaces.
    static let log = [
        Projections.Table(name: "entries", key: ["position"]),
        Projections.Table(name: "events", key: ["position"]),
        Projections.Table(name: "unreadable", key: ["position"]),
        Projections.Table(name: "certificates", key: ["position"]),
        Projections.Table(name: "revocations", key: ["position"]),
        Projections.Table(name: "schemes", key: ["hash"]),
        Projections.Table(name: "parties", key: ["number"]),
        Projections.Table(name: "feed", key: ["party", "number"]),
        Projections.Table(name: "withheld", key: ["chain", "event"]),
    ]

    /// The tables that nothing in the log gives; a rebuild can only look at the shape of their rows.
    static let underived = ["invitations", "meta"]

    /// An event stands at the position of its first entry; `entries.event` leads there from each of its entries.
    private static let tables = """
        CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE parties (
            number INTEGER PRIMARY KEY, party TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE
        ) STRICT;
        CREATE TABLE invitations (
            code BLOB PRIMARY KEY, party INTEGER NOT NULL REFERENCES parties, person TEXT, roles TEXT NOT NULL,
            expires INTEGER NOT NULL, used_by BLOB
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE schemes (
            hash BLOB PRIMARY KEY, since INTEGER NOT NULL, bytes BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE entries (
            position INTEGER PRIMARY KEY, chain BLOB, number INTEGER, event INTEGER, json TEXT NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX entries_by_chain ON entries (chain, number) WHERE chain IS NOT NULL;
        CREATE TABLE events (
            position INTEGER PRIMARY KEY, device BLOB NOT NULL, received INTEGER NOT NULL, line BLOB NOT NULL
        ) STRICT;
        CREATE TABLE unreadable (
            position INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, device BLOB NOT NULL,
            received INTEGER NOT NULL, verdict TEXT NOT NULL, line BLOB NOT NULL
        ) STRICT;
        CREATE TABLE certificates (
            position INTEGER PRIMARY KEY, device BLOB NOT NULL UNIQUE, line BLOB NOT NULL
        ) STRICT;
        CREATE TABLE revocations (
            position INTEGER PRIMARY KEY, device BLOB NOT NULL UNIQUE, why TEXT NOT NULL, at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE feed (
            party INTEGER NOT NULL, number INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (party, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE withheld (
            chain BLOB NOT NULL, event INTEGER NOT NULL, shown INTEGER NOT NULL, PRIMARY KEY (chain, event)
        ) STRICT, WITHOUT ROWID;

        """
}
