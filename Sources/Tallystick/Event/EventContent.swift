public import TallystickCrypto

/// What an event says: its body, read by its type.
public enum EventContent: Sendable {
    /// `chain.opened`: the chain begins under a scheme.
    case chainOpened(SchemeReference)
    /// `fields.set`: values are given, changed or cleared; only what changes is named.
    case fieldsSet([FieldChange])
    /// `note.added`: a remark.
    case noteAdded(text: String)
    /// `signed`: a signature of the scheme over the values the signer saw.
    case signed(signature: Name, snapshot: Digest, statement: String)
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
        case .unknown(let type, _, _): type
        }
    }

    /// The type's version.
    public var version: Int {
        if case .unknown(_, let version, _) = self { version } else { 1 }
    }

    /// The body, in canonical order of its members.
    public var body: JSON {
        switch self {
        case .chainOpened(let scheme):
            .members([
                ("hash", .string(scheme.hash.hex)), ("scheme", .string(scheme.id.text)),
                ("version", .integer(scheme.version)),
            ])
        case .fieldsSet(let changes):
            .members([
                (
                    "values",
                    .object(
                        changes.sorted { $0.path < $1.path }
                            .map { JSONMember($0.path.description, $0.value ?? .null) }
                    )
                )
            ])
        case .noteAdded(let text): .members([("text", .string(text))])
        case .signed(let signature, let snapshot, let statement):
            .members([
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
        case .unknown(_, _, let body): body
        }
    }

    init(type: String, version: Int, body: JSON) throws(EventError) {
        guard version == 1 else {
            self = .unknown(type: type, version: version, body: body)
            return
        }
        switch type {
        case "chain.opened":
            var reader = try MemberReader(body, of: "the body")
            let hash = try reader.take("hash", Digest.init(hex:))
            let id = try reader.take("scheme", Name.init)
            let number = try reader.takeInteger("version")
            try reader.finish()
            self = .chainOpened(SchemeReference(id: id, version: number, hash: hash))
        case "fields.set": self = .fieldsSet(try EventContent.changes(body))
        case "note.added":
            var reader = try MemberReader(body, of: "the body")
            self = .noteAdded(text: try reader.takeSentence("text", mayBeEmpty: false))
            try reader.finish()
        case "signed":
            var reader = try MemberReader(body, of: "the body")
            let signature = try reader.take("signature", Name.init)
            let snapshot = try reader.take("snapshot", Digest.init(hex:))
            self = .signed(
                signature: signature,
                snapshot: snapshot,
                statement: try reader.takeSentence("statement", mayBeEmpty: true)
            )
            try reader.finish()
        case "handoff.offered": self = .handoffOffered(try Offer(body: body))
        case "handoff.withdrawn":
            var reader = try MemberReader(body, of: "the body")
            let offer = try reader.take("offer", OfferID.init(_:))
            self = .handoffWithdrawn(offer: offer, why: try reader.takeSentence("why", mayBeEmpty: true))
            try reader.finish()
        case "handoff.accepted":
            var reader = try MemberReader(body, of: "the body")
            self = .handoffAccepted(try HandoffHalf(&reader))
            try reader.finish()
        case "handoff.declined":
            var reader = try MemberReader(body, of: "the body")
            let half = try HandoffHalf(&reader)
            self = .handoffDeclined(half, why: try reader.takeSentence("why", mayBeEmpty: false))
            try reader.finish()
        case "handoff.acknowledged":
            var reader = try MemberReader(body, of: "the body")
            let reply = try reader.take("reply") { Hex.decode($0).flatMap { HandoffReply(bytes: $0) } }
            try reader.finish()
            self = .handoffAcknowledged(reply)
        default: self = .unknown(type: type, version: version, body: body)
        }
    }

    private static func changes(_ body: JSON) throws(EventError) -> [FieldChange] {
        var reader = try MemberReader(body, of: "the body")
        let values = try reader.take("values")
        try reader.finish()
        guard let members = values.members, !members.isEmpty, members.count <= 2_000 else {
            throw .malformed("values", "an object of 1 to 2,000 values")
        }
        var changes: [FieldChange] = []
        changes.reserveCapacity(members.count)
        for member in members {
            guard let path = FieldPath(member.name) else {
                throw .malformed("values", "field names or list/line/field, got “\(member.name.prefix(80))”")
            }
            guard path.field != nil || member.value.isNull else {
                throw .malformed("values", "null for the whole line “\(member.name.prefix(80))”")
            }
            changes.append(FieldChange(path: path, value: member.value.isNull ? nil : member.value))
        }
        return changes
    }
}

extension MemberReader {
    mutating func takeSentence(_ name: String, mayBeEmpty: Bool) throws(EventError) -> String {
        let text = try takeText(name)
        guard text.utf8.count <= EventContent.longestText, mayBeEmpty || !text.isEmpty else {
            throw .malformed(name, "a text of \(mayBeEmpty ? 0 : 1) to \(EventContent.longestText) bytes")
        }
        return text
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
