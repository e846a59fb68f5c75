import Schemes
package import Tallystick
package import TallystickCrypto

/// The world a story is told in: one authority, one scheme, one clock, and a secret for handoff keys.
///
/// Everything is made of names, so a story gives the same bytes in every run.
package final class StoryTeller {
    /// The story's name; keys, identifiers and offers are made of it.
    package let name: String
    /// The clock that every actor's device shows.
    package let clock: ManualClock
    /// The rules.
    package let scheme: Scheme
    /// The chain that is told of.
    package let chain: UniqueID
    /// The key that certifies devices and seals records.
    package let authority: SigningKey
    /// What handoff keys are derived from.
    package let secret: [UInt8]
    /// The certificates made so far, in order.
    package private(set) var certificates: [Certificate] = []

    /// Begins a story on 30 November 2026 at 08:00 UTC, under the UK waste transfer note unless told otherwise.
    ///
    /// The chain's identifier is made by the device that opens it: the actor called “producer” unless told otherwise.
    package init(
        _ name: String,
        scheme: Scheme? = nil,
        openedBy opener: String = "producer",
        at start: Timestamp? = nil
    ) throws {
        self.name = name
        clock = ManualClock(try start ?? Derived.moment("2026-11-30T08:00:00.000Z"))
        self.scheme = try scheme ?? StoryTeller.wasteTransferNote.get()
        chain = try Derived.chain("\(name)/chain", openedBy: Derived.key("\(name)/\(opener)"), at: clock.now)
        authority = try Derived.key("authority")
        secret = Derived.bytes("server-secret", count: 32)
    }

    /// The newest version of the shipped scheme, read once.
    package static let wasteTransferNote: Result<Scheme, any Error> = Result { try shipped("uk-waste-transfer-note") }

    /// The newest version of every shipped scheme, each read once.
    private static let newest: Result<[String: Scheme], any Error> = Result {
        Dictionary(uniqueKeysWithValues: try ShippedSchemes.files.map { ($0.id, try $0.read()) })
    }

    /// The newest version of the scheme that ships under this id.
    package static func shipped(_ id: String) throws -> Scheme {
        guard let scheme = try newest.get()[id] else { throw StoryError("expected the scheme “\(id)” to ship") }
        return scheme
    }

    /// A new device for a party; parties of one name are one party.
    ///
    /// The certificate is valid for these roles, from 29 November 2026 for a year unless told otherwise.
    package func actor(
        _ device: String,
        of party: String,
        as roles: String...,
        from: String = "2026-11-29T00:00:00.000Z"
    ) throws -> StoryActor {
        let names = try roles.map { (text) throws(StoryError) in try Derived.name(text) }
        guard let role = names.first else { throw StoryError("expected at least one role for “\(device)”") }
        let key = try Derived.key("\(name)/\(device)")
        let draft = Certificate.Draft(
            key: key.publicKey,
            notBefore: try Derived.moment(from),
            notAfter: try Derived.moment("2027-11-30T00:00:00.000Z"),
            party: try StoryTeller.party(party),
            partyName: party,
            person: nil,
            roles: names,
            serial: certificates.count + 1
        )
        let certificate = try Certificate(draft, by: authority)
        certificates.append(certificate)
        return try StoryActor(device, key: key, certificate: certificate, role: role, in: self)
    }

    /// The identifier of a party's name.
    package static func party(_ name: String) throws -> UniqueID {
        try Derived.id("party/\(name)", at: Derived.moment("2026-11-01T00:00:00.000Z"))
    }

    /// A server that knows every certificate made so far.
    package func referee() throws -> Referee {
        let referee = Referee(authority: authority, secret: secret, schemes: [scheme], origin: "referee.example")
        for certificate in certificates { try referee.enter(certificate) }
        return referee
    }
}
