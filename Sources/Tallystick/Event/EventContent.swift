public import TallystickCrypto

/// What an event says: its body, read by its type.
public enum EventContent: Sendable {
    /// `chain.opened`: the chain begins under a scheme.
    case chainOpened(SchemeReference)
    /// `fields.set`: values are given, changed or cleared; only what changes is named.
    case fieldsSet([FieldChange])
    /// `note.added`: a remark.
    case noteAdded(text: String)
    /// `signed`: a signature of the scheme over the values the signer saw, given in one of several ways.
    case signed(signature: Name, snapshot: Digest, statement: String, SigningWay = .own)
    /// `handoff.offered`: the giver's half of a handoff.
    case handoffOffered(Offer)
    /// `handoff.withdrawn`: the giver takes an offer back.
    case handoffWithdrawn(offer: OfferID, why: String)
    /// `handoff.accepted`: the taker's half of a handoff, repeating what was scanned.
    case handoffAccepted(HandoffHalf)
    /// `handoff.declined`: the taker refuses the load.
    case handoffDeclined(HandoffHalf, why: String)
    /// `handoff.acknowledged`: the giver holds the taker's reply, and with it both halves.
    case handoffAcknowledged(HandoffReply)
    /// `party.admitted`: a party takes part in a role without custody.
    case partyAdmitted(party: UniqueID, role: Name)
    /// `signature.delegated`: another party can give these signatures in the author's place for a time.
    case signatureDelegated(signatures: [Name], to: UniqueID, until: Timestamp)
    /// `correction.proposed`: sealed values are to be changed.
    case correctionProposed([FieldChange], why: String)
    /// `correction.approved`: a party agrees to a correction.
    case correctionApproved(Digest)
    /// `correction.refused`: a party does not agree to a correction.
    case correctionRefused(Digest, why: String)
    /// `chain.linked`: the chain hangs together with another.
    case chainLinked(ChainLink)
    /// `chain.cancelled`: the chain ends before the load moved.
    case chainCancelled(why: String)
    /// `chain.closed`: the chain ends with an outcome.
    case chainClosed(outcome: Name, why: String)
    /// A type or version this engine does not know: kept and passed on, but never decided as accepted.
    case unknown(type: String, version: Int, body: JSON)

    /// The longest note, reason or statement, in bytes.
    public static let longestText = 8_192

    /// One value given, changed or (nil) cleared.
    public struct FieldChange: Sendable, Equatable {
        /// Where it stands.
        public let path: FieldPath
        /// The new value; nil clears.
        public let value: JSON?

        /// Makes a change.
        public init(path: FieldPath, value: JSON?) {
            self.path = path
            self.value = value
        }
    }

    /// The type's name.
    public var type: String {
        switch self {
        case .chainOpened: "chain.opened"
        case .fieldsSet: "fields.set"
        case .noteAdded: "note.added"
        case .signed: "signed"
        case .handoffOffered: "handoff.offered"
        case .handoffWithdrawn: "handoff.withdrawn"
        case .handoffAccepted: "handoff.accepted"
        case .handoffDeclined: "handoff.declined"
        case .handoffAcknowledged: "handoff.acknowledged"
        case .partyAdmitted: "party.admitted"
        case .signatureDelegated: "signature.delegated"
        case .correctionProposed: "correction.proposed"
        case .correctionApproved: "correction.approved"
        case .correctionRefused: "correction.refused"
        case .chainLinked: "chain.linked"
        case .chainCancelled: "chain.cancelled"
        case .chainClosed: "chain.closed"
        case .unknown(let type, _, _): type
        }
    }

    /// The type's version.
    public var version: Int {
        if case .unknown(_, let version, _) = self { version } else { 1 }
    }

    static func values(_ changes: [FieldChange]) -> JSON {
        .object(
            changes.sorted { $0.path < $1.path }.map { JSONMember($0.path.description, $0.value ?? .null) }
        )
    }

    /// The body, in canonical order of its members.
    public var body: JSON {
        switch self {
        case .chainOpened(let scheme):
            .members([
                ("hash", .string(scheme.hash.hex)), ("scheme", .string(scheme.id.text)),
                ("version", .integer(scheme.version)),
            ])
        case .fieldsSet(let changes): .members([("values", EventContent.values(changes))])
        case .noteAdded(let text): .members([("text", .string(text))])
        case .signed(let signature, let snapshot, let statement, let way):
            .members([
                ("for", way.principal.map { .string($0.description) }), ("paper", way.paper?.json),
                ("signature", .string(signature.text)), ("snapshot", .string(snapshot.hex)),
                ("statement", .string(statement)),
            ])
        case .handoffOffered(let offer): offer.body
        case .handoffWithdrawn(let offer, let why):
            .members([("offer", .string(offer.description)), ("why", .string(why))])
        case .handoffAccepted(let half):
            .members([("mac", .string(Hex.encode(half.mac))), ("statement", .string(half.statement.hex))])
        case .handoffDeclined(let half, let why):
            .members([
                ("mac", .string(Hex.encode(half.mac))), ("statement", .string(half.statement.hex)),
                ("why", .string(why)),
            ])
        case .handoffAcknowledged(let reply): .members([("reply", .string(Hex.encode(reply.bytes)))])
        case .partyAdmitted(let party, let role):
            .members([("party", .string(party.description)), ("role", .string(role.text))])
        case .signatureDelegated(let signatures, let to, let until):
            .members([
                ("signatures", .strings(signatures.sorted().map(\.text))), ("to", .string(to.description)),
                ("until", .string(until.description)),
            ])
        case .correctionProposed(let changes, let why):
            .members([("values", EventContent.values(changes)), ("why", .string(why))])
        case .correctionApproved(let correction): .members([("correction", .string(correction.hex))])
        case .correctionRefused(let correction, let why):
            .members([("correction", .string(correction.hex)), ("why", .string(why))])
        case .chainLinked(let link): link.body
        case .chainCancelled(let why): .members([("why", .string(why))])
        case .chainClosed(let outcome, let why):
            .members([("outcome", .string(outcome.text)), ("why", .string(why))])
        case .unknown(_, _, let body): body
        }
    }
}

/// A scheme as a chain names it.
public struct SchemeReference: Hashable, Sendable {
    /// The scheme's name.
    public let id: Name
    /// Its version.
    public let version: Int
    /// SHA-256 of the scheme with its code lists.
    public let hash: Digest

    /// Names a scheme.
    public init(id: Name, version: Int, hash: Digest) {
        self.id = id
        self.version = version
        self.hash = hash
    }
}
