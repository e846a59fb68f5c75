public import TallystickCrypto

/// A chain's state together with the events that wait: what takes events in any order and settles each once.
///
/// The server, a rebuild and an audit feed it the same arrivals in the same order and get the same decisions.
public struct ChainLedger: Sendable {
    /// The state folded so far.
    public private(set) var state: ChainState
    /// The waiting events, in the order they came.
    public private(set) var waiting: [Waiting] = []
    /// The waiting events that the last arrival left waiting, but for other things than before.
    public private(set) var stillWaiting: [Waiting] = []

    /// An event that waits.
    public struct Waiting: Sendable {
        /// The event as it came.
        public let arrival: Arrival
        /// What it waits for.
        public internal(set) var awaits: [Awaited]
    }

    /// An event and the verdict on it.
    public struct Decision: Sendable {
        /// The event.
        public let arrival: Arrival
        /// The verdict.
        public let verdict: Verdict
    }

    /// The start of every chain.
    public init(chain: UniqueID) {
        state = ChainState(chain: chain)
    }

    /// Whether the event has come, decided or waiting.
    public func has(_ event: Digest) -> Bool {
        state.knows(event) || waiting.contains { $0.arrival.event.hash == event }
    }

    /// How many events of this device wait.
    public func waitingCount(of device: DeviceID) -> Int {
        waiting.count { $0.arrival.event.device == device }
    }

    /// Takes an event that has not come before, and gives the verdict on it, then those on the waiting events that it
    /// let decide, in the order they were decided.
    public mutating func receive(_ arrival: Arrival, in context: DecisionContext) -> [Decision] {
        stillWaiting = []
        let verdict = state.decide(arrival, in: context)
        var decisions = [Decision(arrival: arrival, verdict: verdict)]
        guard verdict.outcome != .waiting else {
            waiting.append(Waiting(arrival: arrival, awaits: verdict.awaits))
            return decisions
        }
        state.fold(arrival, verdict, in: context)
        var settled = met(by: arrival.event)
        while !settled.isEmpty {
            let fact = settled.removeFirst()
            for hash in waiting.filter({ $0.awaits.contains(fact) }).map(\.arrival.event.hash) {
                guard let index = waiting.firstIndex(where: { $0.arrival.event.hash == hash }) else { continue }
                let item = waiting[index].arrival
                let verdict = state.decide(item, in: context)
                if verdict.outcome == .waiting {
                    waiting[index].awaits = verdict.awaits
                    stillWaiting.removeAll { $0.arrival.event.hash == hash }
                    stillWaiting.append(waiting[index])
                    continue
                }
                waiting.remove(at: index)
                stillWaiting.removeAll { $0.arrival.event.hash == hash }
                state.fold(item, verdict, in: context)
                decisions.append(Decision(arrival: item, verdict: verdict))
                settled.append(contentsOf: met(by: item.event))
            }
        }
        return decisions
    }

    /// What nobody needs to wait for any more, now that this event is decided.
    private func met(by event: Event) -> [Awaited] {
        var met: [Awaited] = [.event(event.hash)]
        switch event.content {
        case .chainOpened: met.append(.opening)
        case .handoffOffered(let offer): met.append(.offer(offer.id))
        case .signed(let name, _, _, _): met.append(.signature(name))
        case .handoffAccepted(let half):
            if let handoffs = state.scheme?.handoffs, handoffs.indices.contains(half.statement.handoffIndex) {
                met.append(.handoff(handoffs[half.statement.handoffIndex].name))
            }
        default: break
        }
        return met
    }
}
