/// One step from a version of a schema to the next.
package struct Migration: Sendable {
    /// What it does, for messages.
    package let name: String
    /// Makes the change, inside the transaction of the ``Migrator``.
    let apply: @Sendable (Database) throws -> Void

    /// Creates a migration from code.
    package init(_ name: String, apply: @escaping @Sendable (Database) throws -> Void) {
        self.name = name
        self.apply = apply
    }

    /// Creates a migration from SQL, one statement or several.
    package init(_ name: String, sql: String) {
        self.init(name) { database in try database.execute(sql) }
    }
}

/// Brings a file to the newest version of its schema.
///
/// The version is the number of migrations applied, kept in `PRAGMA user_version`. Migrations that were released are
/// never changed; new ones are added at the end.
package struct Migrator: Sendable {
    /// The migrations, oldest first; the version of the schema is their number.
    package let migrations: [Migration]

    /// Creates a migrator.
    package init(_ migrations: [Migration]) {
        self.migrations = migrations
    }

    /// Applies what is missing, all of it or nothing.
    ///
    /// - Throws: ``StoreError/Code/needsNewerVersion`` where the file has more migrations than this program knows (and
    ///   is left as it is), ``StoreError``, or what a migration throws.
    package func migrate(_ database: Database) throws {
        // Most files are up to date: that costs no write lock, and works on a read-only connection.
        guard try missing(in: database) else { return }
        try database.transaction {
            // Another process may have migrated between the check and the lock.
            guard try missing(in: database) else { return }
            for migration in migrations.dropFirst(try version(of: database)) {
                try migration.apply(database)
            }
            try database.execute("PRAGMA user_version = \(migrations.count)")
        }
    }

    private func missing(in database: Database) throws -> Bool {
        let version = try version(of: database)
        guard version <= migrations.count else {
            throw StoreError(
                .needsNewerVersion,
                "expected a file of version \(migrations.count) or older, got version \(version): \(database.path)"
            )
        }
        return version < migrations.count
    }

    private func version(of database: Database) throws -> Int {
        let version = try database.first("PRAGMA user_version") { row in try row.int(0) } ?? 0
        guard version >= 0 else {
            throw StoreError(.corrupt, "expected a version of 0 or more, got \(version): \(database.path)")
        }
        return version
    }
}
