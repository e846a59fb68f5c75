import Tallystick
import TallystickCrypto
import TallystickStore

/// A chain folded in memory, with what the log says of its events.
///
/// A class, so that the ledger is changed where it stands and never copied. Whoever fails half-way drops the chain
/// from the cache: the next arrival folds it again from what is stored.
final class LiveChain {
    /// Where an event's entries stand.
    struct Place {
        /// The first entry, where the event is kept.
        let first: Int
        /// The newest.
        var newest: Int
        /// The party that said it.
        let party: UniqueID?
    }

    /// An event that the chain's parties have not been given with all that came before it.
    struct Withheld {
        /// The hashes of its parents.
        let parents: [Digest]
        /// Whether the parties see the event itself: it contests the handoff.
        var isShown: Bool
    }

    let id: UniqueID
    /// The identifier's bytes, as the tables have them.
    let key: [UInt8]
    var ledger: ChainLedger
    /// The number of the newest entry.
    var number = 0
    var places: [Digest: Place] = [:]
    /// The parties that take part.
    var parties: [UniqueID] = []
    /// The events of those who take no part, which only they see so far; see ``Feed``.
    var withheld: [Digest: Withheld] = [:]
    /// How many events of each device were refused.
    private(set) var refusals: [DeviceID: Int] = [:]
    fileprivate var lastUse = 0

    /// Begins a chain without events.
    init(_ id: UniqueID) {
        self.id = id
        key = id.bytes
        ledger = ChainLedger(chain: id)
    }

    /// Folds what the log has of the chain.
    init(
        _ id: UniqueID,
        from database: Database,
        directory: Directory,
        context: (Int) -> DecisionContext
    ) throws {
        self.id = id
        key = id.bytes
        ledger = ChainLedger(chain: id)
        var hashes: [Int: Digest] = [:]
        var shown: [Int: Bool] = [:]
        var kept = try database.statement("SELECT event, shown FROM withheld WHERE chain = ?")
        try kept.bind(key, at: 1)
        while try kept.step() { shown[try kept.int(0)] = try kept.int(1) != 0 }
        var statement = try database.statement(
            """
            SELECT entries.position, entries.number, entries.event, events.received, events.line FROM entries
            LEFT JOIN events ON events.position = entries.position
            WHERE entries.chain = ? ORDER BY entries.number
            """
        )
        try statement.bind(key, at: 1)
        while try statement.step() {
            let position = try statement.int(0)
            number = try statement.int(1)
            let first = try statement.int(2)
            if let hash = hashes[first] {
                places[hash]?.newest = position
                continue
            }
            guard first == position, let received = Timestamp(milliseconds: try statement.int64(3)) else {
                throw ServerError(.logDamaged, "expected the event of entry \(position)")
            }
            let signed = try SignedEvent(line: try statement.blob(4))
            hashes[first] = signed.event.hash
            let certificate = directory.certificates[signed.event.device]
            places[signed.event.hash] = Place(first: first, newest: first, party: certificate?.party)
            if let isShown = shown[first] {
                withheld[signed.event.hash] = Withheld(parents: signed.event.parents, isShown: isShown)
            }
            let arrival = Arrival(
                event: signed.event,
                certificate: certificate,
                isRevoked: directory.isRevoked(signed.event.device, before: position),
                // Only events whose signature was checked are kept as events.
                isSignatureValid: true,
                received: received
            )
            _ = receive(arrival, in: context(position))
        }
        parties = ledger.state.participants
    }
}

extension LiveChain {
    /// Takes an event that has not come before, and gives the verdicts that follow.
    func receive(_ arrival: Arrival, in context: DecisionContext) -> [ChainLedger.Decision] {
        let decisions = ledger.receive(arrival, in: context)
        for decision in decisions where decision.verdict.outcome == .refused {
            refusals[decision.arrival.event.device, default: 0] += 1
        }
        return decisions
    }

    /// The positions of the entries about events that others than this party said and all parties see, in order.
    func positions(notOf party: UniqueID) -> [Int] {
        places.flatMap { hash, place in
            let isSeen = withheld[hash].map(\.isShown) ?? true
            return isSeen && place.party != party ? place.positions : []
        }.sorted()
    }
}

extension LiveChain.Place {
    /// The entries' positions: an event that waited has two entries, and none has more.
    var positions: [Int] { newest == first ? [first] : [first, newest] }
}

/// The chains used lately, bounded by the number of their events.
struct ChainCache {
    private var chains: [UniqueID: LiveChain] = [:]
    private var clock = 0
    /// How many chains and events are kept: an event weighs about as much as an empty chain.
    private var weight = 0
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    mutating func find(_ id: UniqueID) -> LiveChain? {
        guard let chain = chains[id] else { return nil }
        clock += 1
        chain.lastUse = clock
        return chain
    }

    mutating func insert(_ chain: LiveChain) {
        remove(chain.id)
        clock += 1
        chain.lastUse = clock
        chains[chain.id] = chain
        weight += chain.places.count + 1
    }

    /// Takes note of an event more in one of the chains.
    mutating func countEvent() { weight += 1 }

    mutating func remove(_ id: UniqueID) {
        guard let chain = chains.removeValue(forKey: id) else { return }
        weight -= chain.places.count + 1
    }

    mutating func removeAll() {
        chains.removeAll()
        weight = 0
    }

    /// Drops the chains not used for longest, until three quarters of the limit are left.
    mutating func trim() {
        guard weight > limit else { return }
        for chain in chains.values.sorted(by: { $0.lastUse < $1.lastUse }) {
            guard weight > limit / 4 * 3 else { return }
            remove(chain.id)
        }
    }
}
