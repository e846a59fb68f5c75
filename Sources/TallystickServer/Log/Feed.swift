import Tallystick
import TallystickStore

/// What each party may see, numbered for it from 1 without gaps.
///
/// A party sees all entries of the chains it takes part in, and the verdicts on its own devices' events elsewhere. When
/// it begins to take part, what it has not been given of the chain follows, in order, so that a cursor never misses
/// anything.
struct Feed {
    private let database: Database
    /// The last number given to each party.
    private var last: [Int: Int] = [:]

    init(_ database: Database) {
        self.database = database
    }

    /// Forgets the numbers: they are read again.
    mutating func forget() { last.removeAll() }

    /// Adds the entry at this position, about an event of this party's.
    mutating func add(
        _ decision: ChainLedger.Decision,
        at position: Int,
        by party: UniqueID,
        in chain: LiveChain,
        _ directory: Directory
    ) throws {
        if Feed.joins(decision), !chain.parties.contains(party) {
            // Verdicts on its own events it has been given already.
            for earlier in chain.positions(notOf: party) { try append(earlier, to: party, directory) }
            chain.parties.append(party)
        }
        for member in chain.parties { try append(position, to: member, directory) }
        if !chain.parties.contains(party) { try append(position, to: party, directory) }
    }

    /// Whether the event's author takes part from here on: it opened the chain or took the load.
    private static func joins(_ decision: ChainLedger.Decision) -> Bool {
        guard decision.verdict.outcome == .accepted else { return false }
        switch decision.arrival.event.content {
        case .chainOpened, .handoffAccepted: return true
        default: return false
        }
    }

    private mutating func append(_ position: Int, to party: UniqueID, _ directory: Directory) throws {
        guard let number = directory.partyNumbers[party] else {
            throw ServerError(.logDamaged, "expected a number for party \(party)")
        }
        let next = try lastNumber(of: number) + 1
        var statement = try database.statement(literal: "INSERT INTO feed VALUES (?, ?, ?)")
        try statement.bind(number, at: 1)
        try statement.bind(next, at: 2)
        try statement.bind(position, at: 3)
        try statement.run()
        last[number] = next
    }

    private func lastNumber(of party: Int) throws -> Int {
        if let number = last[party] { return number }
        let sql = "SELECT coalesce(max(number), 0) FROM feed WHERE party = ?"
        return try database.first(sql, party) { row in try row.int(0) } ?? 0
    }
}
