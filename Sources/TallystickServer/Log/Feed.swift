import Tallystick
import TallystickCrypto
import TallystickStore

/// What each party may see, numbered for it from 1 without gaps.
///
/// A party sees the verdicts on its own devices' events, and of the chains it takes part in:
/// - what those who take part said, and what was accepted of others;
/// - everything that such an event has among its ancestors, so that a device can fold it;
/// - acceptances of others that make the chain contested.
///
/// What else those say who take no part is withheld: any enrolled device could fill a chain's feeds with it. When a
/// party begins to take part, what it has not been given of the chain follows, in order, so that a cursor never misses
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
        let event = decision.arrival.event
        let beginner = Feed.beginner(decision, by: party).flatMap { chain.parties.contains($0) ? nil : $0 }
        if chain.parties.contains(party) || decision.verdict.outcome == .accepted {
            try release([event.hash] + event.parents, in: chain, directory)
        } else if Feed.contests(event, in: chain) {
            try show(event, at: position, in: chain, directory)
        } else if chain.places[event.hash] == nil {
            try withhold(event, at: position, isShown: false, in: chain)
        }
        if let beginner {
            // Verdicts on its own events it has been given already.
            for earlier in chain.positions(notOf: beginner) { try append(earlier, to: beginner, directory) }
            chain.parties.append(beginner)
        }
        if chain.withheld[event.hash].map(\.isShown) ?? true {
            for member in chain.parties { try append(position, to: member, directory) }
        }
        if !chain.parties.contains(party) { try append(position, to: party, directory) }
    }

    /// Who takes part from here on at the latest: the author, who opened the chain or took the load, or the party that
    /// the author let take part or sign in its place.
    private static func beginner(_ decision: ChainLedger.Decision, by author: UniqueID) -> UniqueID? {
        guard decision.verdict.outcome == .accepted else { return nil }
        switch decision.arrival.event.content {
        case .chainOpened, .handoffAccepted: return author
        case .partyAdmitted(let party, _): return party
        case .signatureDelegated(_, let party, _): return party
        default: return nil
        }
    }

    private static func contests(_ event: Event, in chain: LiveChain) -> Bool {
        guard case .handoffAccepted = event.content else { return false }
        return chain.ledger.state.contests.contains { $0.acceptance == event.hash }
    }

    // MARK: Events of those who take no part

    private func withhold(_ event: Event, at position: Int, isShown: Bool, in chain: LiveChain) throws(StoreError) {
        try database.run("INSERT INTO withheld VALUES (?, ?, ?)", chain.key, position, isShown ? 1 : 0)
        chain.withheld[event.hash] = LiveChain.Withheld(parents: event.parents, isShown: isShown)
    }

    /// Lets the chain's parties see an event, but not what came before it.
    private mutating func show(_ event: Event, at position: Int, in chain: LiveChain, _ directory: Directory) throws {
        guard let place = chain.places[event.hash] else {
            try withhold(event, at: position, isShown: true, in: chain)
            return
        }
        guard let held = chain.withheld[event.hash], !held.isShown else { return }
        try database.run("UPDATE withheld SET shown = 1 WHERE chain = ? AND event = ?", chain.key, place.first)
        chain.withheld[event.hash]?.isShown = true
        try give([place], to: chain.parties, directory)
    }

    /// Lets the chain's parties see events with all their ancestors: without these, no device could fold them as the
    /// server does.
    private mutating func release(_ events: [Digest], in chain: LiveChain, _ directory: Directory) throws {
        guard !chain.withheld.isEmpty else { return }
        var queue = events
        var unseen: [LiveChain.Place] = []
        while let hash = queue.popLast() {
            guard let held = chain.withheld[hash], let place = chain.places[hash] else { continue }
            try database.run("DELETE FROM withheld WHERE chain = ? AND event = ?", chain.key, place.first)
            chain.withheld[hash] = nil
            queue.append(contentsOf: held.parents)
            if !held.isShown { unseen.append(place) }
        }
        try give(unseen, to: chain.parties, directory)
    }

    private mutating func give(
        _ places: [LiveChain.Place],
        to parties: [UniqueID],
        _ directory: Directory
    ) throws {
        let entries = places.flatMap { place in place.positions.map { (position: $0, author: place.party) } }
        for entry in entries.sorted(by: { $0.position < $1.position }) {
            for party in parties where party != entry.author { try append(entry.position, to: party, directory) }
        }
    }

    // MARK: Numbers

    private mutating func append(_ position: Int, to party: UniqueID, _ directory: Directory) throws {
        // Whoever admits a party or signs over to it can name one that is none of this server's. Nobody will ever ask
        // for its feed: the server alone makes parties' identifiers, at random.
        guard let number = directory.partyNumbers[party] else { return }
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
