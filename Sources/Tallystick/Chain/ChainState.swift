public import TallystickCrypto

/// Everything a chain's decided events say, folded.
///
/// Values are kept by leg: a second carrier's are its own. What two devices of one role write without having seen
/// each other is kept twice and marked, never overwritten.
public struct ChainState: Sendable {
    /// The chain.
    public let chain: UniqueID
    /// The opening, once it is known.
    public internal(set) var opening: Opening?
    /// The scheme, once it is known.
    public internal(set) var scheme: Scheme?
    /// The legs, from the opener's on.
    public internal(set) var legs: [Leg] = []
    /// The parties that take part without ever holding the load, as turns that do not end.
    public internal(set) var seats: [Leg] = []
    /// The values, by leg and path.
    public internal(set) var slots: [Digest: [FieldPath: Slot]] = [:]
    /// The signatures, in the order they were decided.
    public internal(set) var signatures: [ChainSignature] = []
    /// The offers.
    public internal(set) var offers: [OfferID: OfferState] = [:]
    /// The acceptances refused for nothing but what others had said first: that they took the load, or that the offer
    /// was withdrawn or declined.
    public internal(set) var contests: [Contest] = []
    /// The remarks.
    public internal(set) var notes: [Note] = []
    /// Who may sign in whose place.
    public internal(set) var delegations: [Delegation] = []
    /// The corrections, in the order they were decided.
    public internal(set) var corrections: [Correction] = []
    /// The ties to other chains.
    public internal(set) var links: [Link] = []
    /// How the chain ended, if it has.
    public internal(set) var ending: Ending?
    /// What accepted events were warned about.
    public internal(set) var warned: [Warned] = []
    /// Accepted events of a type this engine does not know; nobody signs over them.
    public internal(set) var unreadable: [Digest] = []

    /// The removals of whole lines, which also clear fields of the line that come later.
    var removals: [LineKey: [Slot.Write]] = [:]
    var known: [Digest: KnownEvent] = [:]
    private(set) var hashBySeq: [SeqKey: Digest] = [:]
    /// The last number of each device up to which none is missing.
    private var lastSeqs: [DeviceID: Int] = [:]
    var hashByID: [IDKey: Digest] = [:]
    /// Offers refused although the giver's own key made them, by SHA-256 of their statement.
    ///
    /// An acceptance of one has nothing to wait for. By the statement, which names the giver's key: an offer of the
    /// same name that somebody else makes settles nothing.
    var refusedOffers: [Digest: Digest] = [:]
    /// The events that are nobody's parent yet.
    public internal(set) var heads: Set<Digest> = []

    /// The start of every chain.
    public init(chain: UniqueID) {
        self.chain = chain
    }

    /// How a chain began.
    public struct Opening: Sendable {
        /// The event.
        public let event: Digest
        /// Who opened it.
        public let party: UniqueID
        /// The rules it follows.
        public let scheme: SchemeReference
        /// The device's time.
        public let at: Timestamp
    }

    /// One holder's turn, named by the event that began it.
    public struct Leg: Sendable {
        /// The event that began it: the opening or an acceptance.
        public let event: Digest
        /// The number, from 1; nil where the legs before it are not known.
        public let number: Int?
        /// The role.
        public let role: Name
        /// The holder.
        public let party: UniqueID
        /// The device that took the load.
        public let device: DeviceID
        /// That event's number.
        public let seq: Int
        /// The offer it was taken by.
        public let offer: OfferID?
        /// The hash of the snapshot that was received.
        public let received: Digest?
        /// How the handoff was judged.
        public let finding: HandoffFinding?
        /// The device's time.
        public let at: Timestamp
    }

    /// What was written in one place.
    public struct Slot: Sendable {
        /// Every write, in the order decided.
        public internal(set) var writes: [Write]
        /// The indices of the writes that no later write had seen; more than one is a conflict.
        public internal(set) var current: [Int]
        /// Whether two writes ever stood beside each other, in agreement or not.
        public internal(set) var hadRivals = false

        init() {
            writes = []
            current = []
        }

        /// One write.
        public struct Write: Sendable {
            /// The value; nil clears.
            public let value: JSON?
            /// The event.
            public let event: Digest
            /// The device that wrote.
            public let device: DeviceID
            /// That event's number.
            public let seq: Int
            /// The device's time.
            public let at: Timestamp
            let clock: Clock
        }

        /// The value the view shows: the first received of the current ones.
        public var value: JSON? { current.first.flatMap { writes[$0].value } }
        /// The write that the view shows.
        public var shown: Write? { current.first.map { writes[$0] } }
        /// Whether current writes say different things.
        public var isInConflict: Bool {
            current.dropFirst().contains { writes[$0].value != writes[current[0]].value }
        }
    }

    /// A signature that was given.
    public struct ChainSignature: Sendable {
        /// The signature's name in the scheme.
        public let name: Name
        /// The event.
        public let event: Digest
        /// The leg it belongs to.
        public let leg: Digest
        /// Whose signature it is.
        public let party: UniqueID
        /// Who gave it: the same party, or its delegate, or who attests it.
        public let signer: UniqueID
        /// How it was given.
        public let way: SigningWay
        /// The device.
        public let device: DeviceID
        /// That event's number.
        public let seq: Int
        /// The hash of what was signed.
        public let snapshot: Digest
        /// The device's time.
        public let at: Timestamp
        /// When it was given: of late entries and attested paper the original time, if it is known.
        public let happened: Timestamp
        /// What the scheme warned about.
        public let warnings: [Reason]
    }

    /// An offer and what became of it.
    public struct OfferState: Sendable {
        /// The offer.
        public let offer: Offer
        /// The event that made it.
        public let event: Digest
        /// The statement that its code carries.
        public let statement: HandoffStatement
        /// The leg that gives.
        public let leg: Digest
        /// The device that gives.
        public let device: DeviceID
        /// The giver's time.
        public let at: Timestamp
        /// What became of it.
        public internal(set) var end: End
        /// The taker's reply that the giver holds, once it has said so.
        public internal(set) var reply: HandoffReply?
        /// The parties that refused the load; the offer stays open to all others.
        public internal(set) var decliners: Set<UniqueID> = []
        let clock: Clock

        /// What can become of an offer.
        public enum End: Sendable, Equatable {
            /// Nothing so far.
            case open
            /// The giver took it back.
            case withdrawn
            /// A taker refused the load, the newest one if several did; others may still take it.
            case declined(by: UniqueID, why: String)
            /// The taker's event.
            case taken(Digest)
        }
    }

    /// A taker who says to have the load, and was not the first to be heard.
    public struct Contest: Sendable {
        /// The refused acceptance.
        public let acceptance: Digest
        /// The offer it names.
        public let offer: OfferID
        /// Who says to have taken the load.
        public let party: UniqueID
        /// The device's time.
        public let at: Timestamp
    }

    /// A remark.
    public struct Note: Sendable {
        /// What was said.
        public let text: String
        /// The event.
        public let event: Digest
        /// Who said it.
        public let party: UniqueID
        /// The role it was said in.
        public let role: Name
        /// The device's time.
        public let at: Timestamp
    }

    struct LineKey: Hashable, Sendable {
        let leg: Digest
        let line: FieldPath.Line
    }

    struct KnownEvent: Sendable {
        let clock: Clock
        let isAccepted: Bool
    }

    struct SeqKey: Hashable, Sendable {
        let device: DeviceID
        let seq: Int
    }

    /// Identifiers are the device's own: otherwise one participant could block another's event by using its id first.
    struct IDKey: Hashable, Sendable {
        let device: DeviceID
        let id: UniqueID
    }
}

extension ChainState {
    /// The leg whose holder has the load now.
    public var currentLeg: Leg? { legs.last }

    /// The leg of this name, or the seat.
    public func leg(_ event: Digest) -> Leg? {
        legs.first { $0.event == event } ?? seats.first { $0.event == event }
    }

    /// The parties that take part, each once: those that had the load in order, then the others.
    public var participants: [UniqueID] {
        var parties: [UniqueID] = []
        for party in legs.map(\.party) + seats.map(\.party) + delegations.map(\.to) where !parties.contains(party) {
            parties.append(party)
        }
        return parties
    }

    /// Whether somebody disputes who has the load.
    public var isContested: Bool { !contests.isEmpty }

    /// Whether values contradict each other.
    public var isInConflict: Bool { slots.values.contains { $0.values.contains { $0.isInConflict } } }

    /// The legs that lack a signature which the scheme lets be missing, although what it should come before is done.
    public var gaps: [Leg] { legs.filter { !missingSignatures(on: $0).isEmpty } }

    /// The signatures for whose lack a leg is one of the ``gaps``.
    public func missingSignatures(on leg: Leg) -> [Name] {
        guard let scheme, !scheme.optionalStages.isEmpty else { return [] }
        return scheme.optionalStages.filter { stage in
            guard scheme.signature(stage)?.role == leg.role, signature(stage, on: leg.event) == nil else {
                return false
            }
            return leg.event != legs.last?.event
                || warned.contains { warned in
                    warned.leg == leg.event
                        && warned.reasons.contains {
                            $0.code == .signatureMissing && sameBytes($0.subject ?? "", stage.text)
                        }
                }
        }.sorted()
    }

    /// Whether the event has been decided here.
    public func knows(_ event: Digest) -> Bool { known[event] != nil }

    /// The last number this device has used in this chain.
    public func lastSeq(of device: DeviceID) -> Int { lastSeqs[device] ?? 0 }

    /// Remembers the event with which a device used a number.
    mutating func remember(_ hash: Digest, of device: DeviceID, seq: Int) {
        hashBySeq[SeqKey(device: device, seq: seq)] = hash
        var last = lastSeqs[device] ?? 0
        while hashBySeq[SeqKey(device: device, seq: last + 1)] != nil { last += 1 }
        lastSeqs[device] = last
    }

    /// The hash of the event with which the device used this number.
    public func event(of device: DeviceID, seq: Int) -> Digest? { hashBySeq[SeqKey(device: device, seq: seq)] }

    /// The latest leg of a party in a role that an observer with this clock has seen.
    func leg(of party: UniqueID, in role: Name, seenBy clock: Clock) -> Leg? {
        legs.last { $0.party == party && $0.role == role && clock.sees($0.device, $0.seq) }
            ?? seats.last { $0.party == party && $0.role == role && clock.sees($0.device, $0.seq) }
    }

    /// The latest leg or seat of a role.
    func latestLeg(of role: Name) -> Leg? { legs.last { $0.role == role } ?? seats.last { $0.role == role } }

    /// What was written in this place on a leg.
    public func slot(_ path: FieldPath, on leg: Digest) -> Slot? { slots[leg]?[path] }

    /// The correction of this name.
    public func correction(_ event: Digest) -> Correction? { corrections.first { $0.event == event } }

    /// The signature of this name on this leg.
    public func signature(_ name: Name, on leg: Digest) -> ChainSignature? {
        signatures.first { $0.name == name && $0.leg == leg }
    }

    /// The values of a leg as an observer with this clock has seen them, by path.
    func values(of leg: Digest, seenBy clock: Clock) -> [FieldPath: JSON] {
        var values: [FieldPath: JSON] = [:]
        for (path, slot) in slots[leg] ?? [:] {
            if let value = slot.value(seenBy: clock) { values[path] = value }
        }
        return values
    }

    /// The values of a leg that the view shows, by path.
    public func values(of leg: Digest) -> [FieldPath: JSON] {
        var values: [FieldPath: JSON] = [:]
        for (path, slot) in slots[leg] ?? [:] {
            if let value = slot.value { values[path] = value }
        }
        return values
    }

    /// The paths of a leg whose current values contradict each other.
    public func conflicts(of leg: Digest) -> [FieldPath] {
        (slots[leg] ?? [:]).filter(\.value.isInConflict).map(\.key).sorted()
    }
}

extension ChainState.Slot {
    /// The value as an observer with this clock has seen it: the first of the writes seen that none seen supersedes.
    func value(seenBy clock: Clock) -> JSON? {
        if current.count == 1, let write = shown, clock.sees(write.device, write.seq) { return write.value }
        let seen = writes.filter { clock.sees($0.device, $0.seq) }
        let newest = seen.indices.first { index in
            // A write sees those before it in its own event too: a line can be removed and written again in one.
            !seen.indices.contains { other in
                seen[other].event == seen[index].event
                    ? other > index : seen[other].clock.sees(seen[index].device, seen[index].seq)
            }
        }
        return newest.flatMap { seen[$0].value }
    }

    mutating func append(_ write: Write) {
        current.removeAll { write.clock.sees(writes[$0].device, writes[$0].seq) }
        writes.append(write)
        current.append(writes.count - 1)
        if current.count > 1 { hadRivals = true }
    }
}
