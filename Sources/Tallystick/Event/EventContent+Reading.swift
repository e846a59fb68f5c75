import TallystickCrypto

extension EventContent {
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
        case "fields.set":
            var reader = try MemberReader(body, of: "the body")
            self = .fieldsSet(try EventContent.changes(&reader, "values", most: 2_000, mayBeEmpty: false))
            try reader.finish()
        case "note.added":
            var reader = try MemberReader(body, of: "the body")
            self = .noteAdded(text: try reader.takeSentence("text", mayBeEmpty: false))
            try reader.finish()
        case "signed":
            var reader = try MemberReader(body, of: "the body")
            let way = try SigningWay(&reader)
            let signature = try reader.take("signature", Name.init)
            let snapshot = try reader.take("snapshot", Digest.init(hex:))
            self = .signed(
                signature: signature,
                snapshot: snapshot,
                statement: try reader.takeSentence("statement", mayBeEmpty: true),
                way
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
        case "party.admitted", "signature.delegated", "correction.proposed", "correction.approved",
            "correction.refused",
            "chain.linked", "chain.cancelled", "chain.closed":
            try self.init(laterType: type, body: body)
        default: self = .unknown(type: type, version: version, body: body)
        }
    }

    /// The types that came after the handoffs.
    private init(laterType type: String, body: JSON) throws(EventError) {
        var reader = try MemberReader(body, of: "the body")
        switch type {
        case "party.admitted":
            let party = try reader.take("party", UniqueID.init(_:))
            self = .partyAdmitted(party: party, role: try reader.take("role", Name.init))
        case "signature.delegated":
            let names = try reader.take("signatures").elements ?? []
            let signatures = names.compactMap { $0.text.flatMap(Name.init) }
            guard (1...16).contains(names.count), signatures.count == names.count,
                zip(signatures, signatures.dropFirst()).allSatisfy({ $0 < $1 })
            else { throw .malformed("signatures", "1 to 16 names, sorted, each once") }
            let to = try reader.take("to", UniqueID.init(_:))
            self = .signatureDelegated(
                signatures: signatures,
                to: to,
                until: try reader.take("until", Timestamp.init(_:))
            )
        case "correction.proposed":
            let changes = try EventContent.changes(&reader, "values", most: 500, mayBeEmpty: false)
            self = .correctionProposed(changes, why: try reader.takeSentence("why", mayBeEmpty: false))
        case "correction.approved": self = .correctionApproved(try reader.take("correction", Digest.init(hex:)))
        case "correction.refused":
            let correction = try reader.take("correction", Digest.init(hex:))
            self = .correctionRefused(correction, why: try reader.takeSentence("why", mayBeEmpty: false))
        case "chain.linked":
            let amounts = try EventContent.changes(&reader, "amounts", most: 500, mayBeEmpty: true)
            let chain = try reader.take("chain", UniqueID.init(_:))
            let link = try reader.take("link", Name.init)
            let why = try reader.takeSentence("why", mayBeEmpty: true)
            self = .chainLinked(ChainLink(link: link, chain: chain, amounts: amounts, why: why))
        case "chain.cancelled": self = .chainCancelled(why: try reader.takeSentence("why", mayBeEmpty: false))
        default:
            let outcome = try reader.take("outcome", Name.init)
            self = .chainClosed(outcome: outcome, why: try reader.takeSentence("why", mayBeEmpty: true))
        }
        try reader.finish()
    }

    private static func changes(
        _ reader: inout MemberReader,
        _ name: String,
        most: Int,
        mayBeEmpty: Bool
    ) throws(EventError) -> [FieldChange] {
        let values = try reader.take(name)
        guard let members = values.members, mayBeEmpty || !members.isEmpty, members.count <= most else {
            throw .malformed(name, "an object of \(mayBeEmpty ? 0 : 1) to \(most) values")
        }
        var changes: [FieldChange] = []
        changes.reserveCapacity(members.count)
        for member in members {
            guard let path = FieldPath(member.name) else {
                throw .malformed(name, "field names or list/line/field, got “\(member.name.prefix(80))”")
            }
            guard path.field != nil || member.value.isNull else {
                throw .malformed(name, "null for the whole line “\(member.name.prefix(80))”")
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
