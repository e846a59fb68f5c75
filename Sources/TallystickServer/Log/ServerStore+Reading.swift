package import Tallystick
import TallystickCrypto
import TallystickStore

extension ServerStore {
    // MARK: The feed

    /// Gives a signed page of a party's feed: the numbers after this one.
    ///
    /// - Parameters:
    ///   - after: The last number the device has; 0 for the start.
    ///   - limit: The most items; the server's own limits hold too.
    /// - Returns: The line of a `PullPage`.
    package func pull(party: UniqueID, after: Int, limit: Int, now: Timestamp) throws -> [UInt8] {
        try readers.read { database in
            let most = min(max(1, limit), limits.pushEvents)
            var statement = try database.statement(
                """
                SELECT feed.number, entries.json, events.line, events.device FROM feed
                JOIN entries ON entries.position = feed.position
                LEFT JOIN events ON events.position = entries.event
                WHERE feed.party = (SELECT number FROM parties WHERE party = ?) AND feed.number > ?
                ORDER BY feed.number LIMIT ?
                """
            )
            try statement.bind(party.description, at: 1)
            try statement.bind(after, at: 2)
            try statement.bind(most + 1, at: 3)
            var items: [SignedLines.Item] = []
            var devices: Set<[UInt8]> = []
            var bytes = 0
            var hasMore = false
            while try statement.step() {
                guard try statement.int(0) == after + items.count + 1 else {
                    throw ServerError(.logDamaged, "expected number \(after + items.count + 1) in a party's feed")
                }
                let entry = Array(try statement.text(1).utf8)
                let event = try statement.optionalBlob(2)
                bytes += entry.count + (event?.count ?? 0)
                if items.count == most || bytes > limits.pushBytes && !items.isEmpty {
                    hasMore = true
                    break
                }
                items.append(SignedLines.Item(entry: entry, event: event))
                if let device = try statement.optionalBlob(3) { devices.insert(device) }
            }
            return SignedLines.page(
                epoch: try readEpoch(database),
                after: after,
                hasMore: hasMore,
                now: now,
                items: items,
                certificates: try certificates(of: devices, in: database).map(\.line),
                previous: try entry(numbered: after, in: database, for: party),
                by: keys.authority
            )
        }
    }

    /// The hash of the entry with this number in a party's feed: a device that knows another there has been answered
    /// from another log.
    private func entry(numbered number: Int, in database: Database, for party: UniqueID) throws -> Digest? {
        let json = try database.first(
            """
            SELECT entries.json FROM feed JOIN entries ON entries.position = feed.position
            WHERE feed.party = (SELECT number FROM parties WHERE party = ?) AND feed.number = ?
            """,
            party.description,
            number
        ) { row in try row.text(0) }
        return json.map { SHA256.hash(Array($0.utf8)) }
    }

    /// Certificates with their positions, in the order of the log.
    private func certificates(
        of devices: Set<[UInt8]>,
        in database: Database
    ) throws -> [(position: Int, line: [UInt8])] {
        try devices.compactMap { device in
            try database.first("SELECT position, line FROM certificates WHERE device = ?", device) { row in
                (position: try row.int(0), line: try row.blob(1))
            }
        }.sorted { $0.position < $1.position }
    }

    // MARK: The record

    /// Whether the party takes part in the chain.
    func takesPart(_ party: UniqueID, in chain: UniqueID, _ database: Database) throws -> Bool {
        let sql = """
            SELECT 1 FROM legs WHERE chain = ?1 AND party = ?2
            UNION ALL SELECT 1 FROM delegations WHERE chain = ?1 AND to_party = ?2 LIMIT 1
            """
        return try database.first(sql, chain.description, party.description) { _ in true } ?? false
    }

    /// Gives the sealed record of a chain (`docs/record.md`).
    ///
    /// - Parameters:
    ///   - party: Who asks; nil for the server's operator.
    /// - Returns: The bytes of the file; nil where there is no such chain or the party takes no part in it.
    package func record(of chain: UniqueID, for party: UniqueID?, now: Timestamp) throws -> [UInt8]? {
        try readers.read { database in
            if let party, try !takesPart(party, in: chain, database) { return nil }
            let schemeHash = try database.first(
                "SELECT scheme_hash FROM chains WHERE chain = ?",
                chain.description
            ) { row in try row.optionalText(0) }
            guard let hash = schemeHash.flatMap({ $0 }).flatMap(Digest.init(hex:)),
                let bytes = try database.first(
                    "SELECT bytes FROM schemes WHERE hash = ?",
                    hash.bytes,
                    row: { row in
                        try row.blob(0)
                    }
                )
            else { return nil }
            let header = Record.Header(chain: chain, created: now, authority: authority, origin: origin)
            var writer = try RecordWriter(header)
            writer.append(try Scheme(bytes: bytes))
            let lines = try logLines(of: chain, in: database)
            for line in lines {
                if let certificate = line.certificate { writer.append(certificate) }
            }
            for line in lines {
                if let event = line.event { writer.append(event) }
                writer.append(entry: line.entry)
            }
            return try writer.sealed(by: keys.authority)
        }
    }

    /// One entry of the log with what it is about.
    private struct LogLine {
        let position: Int
        let entry: [UInt8]
        var event: SignedEvent?
        var certificate: Certificate?
    }

    private func logLines(of chain: UniqueID, in database: Database) throws -> [LogLine] {
        var devices: Set<[UInt8]> = []
        var lines = try database.query(
            """
            SELECT entries.position, entries.json, events.line, events.device FROM entries
            LEFT JOIN events ON events.position = entries.position
            WHERE entries.chain = ? ORDER BY entries.number
            """,
            chain.bytes
        ) { row in
            var line = LogLine(position: try row.int(0), entry: Array(try row.text(1).utf8))
            if let bytes = try row.optionalBlob(2) { line.event = try SignedEvent(line: bytes) }
            if let device = try row.optionalBlob(3) { devices.insert(device) }
            return line
        }
        for certificate in try certificates(of: devices, in: database) {
            var line = LogLine(position: certificate.position, entry: try entry(at: certificate.position, in: database))
            line.certificate = try Certificate(line: certificate.line)
            lines.append(line)
        }
        for device in devices {
            let position = try database.first("SELECT position FROM revocations WHERE device = ?", device) { row in
                try row.int(0)
            }
            if let position {
                lines.append(LogLine(position: position, entry: try entry(at: position, in: database)))
            }
        }
        return lines.sorted { $0.position < $1.position }
    }

    private func entry(at position: Int, in database: Database) throws -> [UInt8] {
        let entry = try database.first("SELECT json FROM entries WHERE position = ?", position) { row in
            Array(try row.text(0).utf8)
        }
        guard let entry else { throw ServerError(.logDamaged, "expected entry \(position)") }
        return entry
    }

    // MARK: The log from outside

    /// Gives the log's lines from a position on, each an event with its first entry, or an entry alone.
    ///
    /// What a log publisher or another store reads: positions have no gaps.
    package func entries(
        from position: Int,
        limit: Int
    ) throws -> [(entry: LogEntry, event: SignedEvent?)] {
        try readers.read { database in
            try database.query(
                """
                SELECT entries.json, events.line FROM entries
                LEFT JOIN events ON events.position = entries.position
                WHERE entries.position >= ? ORDER BY entries.position LIMIT ?
                """,
                position,
                limit
            ) { row in
                let entry = try LogEntry(try JSON.parse(Array(try row.text(0).utf8)))
                let event = try row.optionalBlob(1).map { (line) throws(EventError) in try SignedEvent(line: line) }
                return (entry, event)
            }
        }
    }
}
