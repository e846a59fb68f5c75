import TallystickStore

/// The tables of `device.sqlite`.
enum Schema {
    /// “TLYd”, in the file's header.
    static let applicationID: Int32 = 0x544C_5964

    static let migrator = Migrator([
        Migration("first tables", sql: first), Migration("indexes that a chain's counts need", sql: countIndexes),
        Migration("schemes of the server's", sql: schemes),
    ])

    /// What the server lists, with the bytes of those schemes that do not ship; what it does not list any more is kept
    /// for the chains that were opened under it.
    private static let schemes = """
        CREATE TABLE schemes (
            hash TEXT PRIMARY KEY,
            id TEXT NOT NULL,
            version INTEGER NOT NULL,
            is_listed INTEGER NOT NULL,
            bytes BLOB
        ) STRICT;
        """

    /// Without these each append reads the whole outbox, which grows for as long as a device is offline.
    private static let countIndexes = """
        CREATE INDEX outbox_of_chain ON outbox (chain);
        CREATE INDEX refused_of_chain ON refused (chain);
        CREATE INDEX waiting_entries ON entries (chain) WHERE outcome = 'waiting';
        """

    /// The first tables.
    ///
    /// `events.row` is the order in which this home came to know them; for own events that is their order.
    /// `events.place` is where a server's database last settled them in their chain, kept when that database is lost.
    private static let first = """
        CREATE TABLE meta (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            epoch BLOB NOT NULL,
            device TEXT,
            handoff_key BLOB,
            is_copied INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE sync (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            server TEXT NOT NULL,
            authority BLOB NOT NULL,
            origin TEXT NOT NULL,
            epoch TEXT NOT NULL,
            cursor INTEGER NOT NULL DEFAULT 0,
            skew_ms INTEGER NOT NULL DEFAULT 0,
            attempts INTEGER NOT NULL DEFAULT 0,
            next_attempt_ms INTEGER NOT NULL DEFAULT 0,
            last_success TEXT,
            last_error TEXT,
            last_error_code TEXT,
            lease TEXT,
            lease_until_ms INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE certificates (
            hash TEXT PRIMARY KEY,
            device TEXT NOT NULL,
            party TEXT NOT NULL,
            party_name TEXT NOT NULL,
            serial INTEGER NOT NULL,
            line BLOB NOT NULL
        ) STRICT;
        CREATE INDEX certificates_of_device ON certificates (device, serial);
        CREATE INDEX certificates_of_party ON certificates (party, serial);
        CREATE TABLE events (
            row INTEGER PRIMARY KEY AUTOINCREMENT,
            hash TEXT NOT NULL UNIQUE,
            chain TEXT NOT NULL,
            device TEXT NOT NULL,
            seq INTEGER NOT NULL,
            line BLOB NOT NULL,
            line_hash TEXT NOT NULL,
            own INTEGER NOT NULL,
            place INTEGER
        ) STRICT;
        CREATE INDEX events_of_chain ON events (chain, row);
        CREATE UNIQUE INDEX own_events ON events (chain, seq) WHERE own = 1;
        CREATE INDEX events_by_line ON events (line_hash);
        CREATE TABLE entries (
            position INTEGER PRIMARY KEY,
            feed INTEGER UNIQUE,
            chain TEXT,
            number INTEGER,
            event TEXT,
            outcome TEXT,
            json BLOB NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX entries_of_chain ON entries (chain, number) WHERE number IS NOT NULL;
        CREATE INDEX entries_of_event ON entries (event);
        CREATE TABLE former_entries (
            epoch TEXT NOT NULL,
            position INTEGER NOT NULL,
            json BLOB NOT NULL,
            PRIMARY KEY (epoch, position, json)
        ) STRICT;
        CREATE TABLE outbox (
            event TEXT PRIMARY KEY REFERENCES events (hash),
            chain TEXT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            next_attempt_ms INTEGER NOT NULL DEFAULT 0,
            last_error TEXT,
            last_error_code TEXT
        ) STRICT;
        CREATE TABLE refused (
            event TEXT PRIMARY KEY REFERENCES events (hash),
            chain TEXT NOT NULL,
            epoch TEXT NOT NULL,
            verdict BLOB NOT NULL,
            received TEXT NOT NULL,
            is_dealt_with INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE used_offers (
            offer TEXT PRIMARY KEY,
            chain TEXT NOT NULL,
            used TEXT NOT NULL,
            kind TEXT NOT NULL
        ) STRICT;
        CREATE TABLE snapshots (
            hash TEXT PRIMARY KEY,
            chain TEXT NOT NULL,
            bytes BLOB NOT NULL
        ) STRICT;
        CREATE TABLE challenges (
            offer TEXT PRIMARY KEY,
            random BLOB NOT NULL,
            expires INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE chains (
            chain TEXT PRIMARY KEY,
            revision INTEGER NOT NULL DEFAULT 0,
            updated TEXT NOT NULL,
            summary BLOB NOT NULL
        ) STRICT;
        """
}
