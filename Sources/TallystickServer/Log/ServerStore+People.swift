package import Tallystick
package import TallystickCrypto
import TallystickStore

/// What a device gets when it enrols.
package struct Enrolment: Sendable {
    /// Its certificate.
    package let certificate: Certificate
    /// The key it makes the MACs of its offers with.
    package let handoffKey: HandoffKey
}

extension ServerStore {
    /// What a device signs an invitation's code under.
    package static let enrolDomain = "tallystick/enrol/v1"
    /// For how long a certificate is valid: two years.
    private static let validity: Int64 = 731 * 86_400_000
    /// How far a device's clock may be behind when it enrols.
    private static let clockSlack: Int64 = 86_400_000

    // MARK: Invitations

    /// Invites a device to act for a party, and gives the code that it enrols with, once.
    ///
    /// Only a hash of the code is kept. It has 80 random bits, as four groups of four characters.
    ///
    /// - Parameters:
    ///   - party: What the party is called; exactly the same name is the same party.
    ///   - roles: The roles the device may act in; each must be one of a known scheme.
    ///   - person: Who holds the device, where it is one person.
    ///   - seconds: For how long the code can be used.
    ///   - now: The time.
    /// - Throws: ``ServerError/Code/badValue``, `StoreError`.
    package func invite(
        party: String,
        roles: [Name],
        person: String? = nil,
        validFor seconds: Int,
        now: Timestamp
    ) throws -> String {
        try ServerStore.check(party, "a party's name")
        if let person { try ServerStore.check(person, "a person's name") }
        let (lifetime, overflow) = Int64(seconds).multipliedReportingOverflow(by: 1_000)
        guard seconds > 0, !overflow, let expires = Timestamp(milliseconds: now.milliseconds &+ lifetime) else {
            throw ServerError(.badValue, "expected an invitation to be valid for a number of seconds, got \(seconds)")
        }
        guard !roles.isEmpty, let id = UniqueID(milliseconds: now.milliseconds, random: random(10)) else {
            throw ServerError(.badValue, "expected at least one role")
        }
        let code = InvitationCode(random: random(InvitationCode.byteCount))
        try write { writer in
            for role in roles where !writer.hasRole(role) {
                throw ServerError(.badValue, "expected a role of a known scheme, got “\(role)”")
            }
            try writer.database.run(
                "INSERT INTO invitations VALUES (?, ?, ?, ?, ?, NULL)",
                code.hash.bytes,
                try writer.party(named: party, otherwise: id),
                person,
                roles.map(\.text).joined(separator: ","),
                expires.milliseconds
            )
        }
        return code.text
    }

    // MARK: Enrolment

    /// Certifies a device's key by an invitation's code.
    ///
    /// The same code with the same key gives the same certificate again: a lost answer must not cost the invitation.
    ///
    /// - Parameters:
    ///   - code: The code as it was typed.
    ///   - key: The device's public key.
    ///   - proof: The key's signature of the code's bytes, domain `tallystick/enrol/v1`.
    ///   - now: The time.
    /// - Throws: ``ServerError/Code/invitationInvalid`` for a wrong, used or expired code or a wrong proof,
    ///   ``ServerError/Code/alreadyEnrolled`` for a key with another code, `StoreError`.
    package func enrol(code: String, key: PublicKey, proof: [UInt8], now: Timestamp) throws -> Enrolment {
        let invalid = ServerError(.invitationInvalid, "expected an invitation's code that is not used and not expired")
        guard code.utf8.count <= 100, let invitation = InvitationCode(code),
            key.isValid(proof, for: Array(code.utf8), domain: ServerStore.enrolDomain)
        else { throw invalid }
        let device = DeviceID(key)
        let certificate = try write { writer in
            guard let found = try Invitation(code: invitation, in: writer.database) else { throw invalid }
            let known = writer.directory.certificates[device]
            if let user = found.usedBy {
                guard user == key.bytes, let known else { throw invalid }
                return known
            }
            guard now.milliseconds < found.expires else { throw invalid }
            guard known == nil else {
                throw ServerError(.alreadyEnrolled, "expected a new key, got that of device \(device)")
            }
            let certificate = try certify(key, by: found, serial: writer.directory.certificates.count + 1, now: now)
            try writer.enter(certificate)
            try writer.database.run(
                "UPDATE invitations SET used_by = ? WHERE code = ?",
                key.bytes,
                invitation.hash.bytes
            )
            return certificate
        }
        return Enrolment(certificate: certificate, handoffKey: try keys.handoffKey(of: device))
    }

    private func certify(
        _ key: PublicKey,
        by invitation: Invitation,
        serial: Int,
        now: Timestamp
    ) throws -> Certificate {
        let start = max(0, now.milliseconds - ServerStore.clockSlack)
        guard let notBefore = Timestamp(milliseconds: start),
            let notAfter = Timestamp(milliseconds: now.milliseconds + ServerStore.validity)
        else { throw ServerError(.badValue, "expected a time two years before the end of 9999") }
        let draft = Certificate.Draft(
            key: key,
            notBefore: notBefore,
            notAfter: notAfter,
            party: invitation.party,
            partyName: invitation.partyName,
            person: invitation.person,
            roles: invitation.roles,
            serial: serial
        )
        return try Certificate(draft, by: keys.authority)
    }

    // MARK: Revocation

    /// Revokes a device: what arrives from now on is refused.
    ///
    /// Doing it again changes nothing.
    ///
    /// - Throws: ``ServerError/Code/unknownDevice``, ``ServerError/Code/badValue``, `StoreError`.
    package func revoke(_ device: DeviceID, why: String, now: Timestamp) throws {
        try ServerStore.check(why, "a reason")
        try write { writer in
            guard writer.directory.certificates[device] != nil else {
                throw ServerError(.unknownDevice, "expected a device with a certificate, got \(device)")
            }
            guard writer.directory.revocations[device] == nil else { return }
            try writer.enter(revocationOf: device, why: why, at: try writer.arrivalTime(now))
        }
    }

    /// The certificate of a device, and whether it is revoked, as the database says now.
    package func standing(of device: DeviceID) throws -> (certificate: Certificate, isRevoked: Bool)? {
        try readers.read { database in
            let line = try database.first("SELECT line FROM certificates WHERE device = ?", device.bytes) { row in
                try row.blob(0)
            }
            guard let line else { return nil }
            let revoked = try database.first("SELECT 1 FROM revocations WHERE device = ?", device.bytes) { _ in true }
            return (try Certificate(line: line), revoked == true)
        }
    }
}

/// A row of the invitations, with its party.
private struct Invitation {
    let party: UniqueID
    let partyName: String
    let person: String?
    let roles: [Name]
    let expires: Int64
    let usedBy: [UInt8]?

    init?(code: InvitationCode, in database: Database) throws {
        let found = try database.first(
            """
            SELECT party.party, party.name, person, roles, expires, used_by FROM invitations
            JOIN parties AS party ON party.number = invitations.party WHERE code = ?
            """,
            code.hash.bytes
        ) { row in
            (
                party: UniqueID(try row.text(0)), name: try row.text(1), person: try row.optionalText(2),
                roles: try row.text(3), expires: try row.int64(4), usedBy: try row.optionalBlob(5)
            )
        }
        guard let found, let party = found.party else { return nil }
        self.party = party
        partyName = found.name
        person = found.person
        roles = found.roles.utf8.split(separator: UInt8(ascii: ",")).compactMap {
            Name(String(decoding: Array($0), as: UTF8.self))
        }
        expires = found.expires
        usedBy = found.usedBy
    }
}

/// The code of an invitation: 80 bits as 16 characters without those that look alike (Crockford's base 32).
struct InvitationCode {
    static let byteCount = 10
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// The code as it is handed out: four groups of four.
    let text: String
    /// What is kept of it.
    let hash: Digest

    /// Makes a code of random bytes.
    init(random: [UInt8]) {
        var characters: [UInt8] = []
        var bits = 0
        var held = 0
        for byte in random.prefix(InvitationCode.byteCount) {
            bits = bits << 8 | Int(byte)
            held += 8
            while held >= 5 {
                held -= 5
                characters.append(InvitationCode.alphabet[bits >> held & 31])
                bits &= (1 << held) - 1
            }
        }
        self.init(characters)
    }

    /// Reads a code as people type it: in either case, with or without dashes and blanks, O for 0, I and L for 1.
    init?(_ text: String) {
        var characters: [UInt8] = []
        for byte in text.utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
            let upper = (0x61...0x7A).contains(byte) ? byte - 0x20 : byte
            let read: UInt8 =
                switch upper {
                case UInt8(ascii: "O"): UInt8(ascii: "0")
                case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
                default: upper
                }
            guard InvitationCode.alphabet.contains(read) else { return nil }
            characters.append(read)
        }
        guard characters.count == 16 else { return nil }
        self.init(characters)
    }

    private init(_ characters: [UInt8]) {
        var spaced: [UInt8] = []
        for (index, character) in characters.enumerated() {
            if index > 0, index.isMultiple(of: 4) { spaced.append(UInt8(ascii: "-")) }
            spaced.append(character)
        }
        text = String(decoding: spaced, as: UTF8.self)
        hash = SHA256.hash(characters)
    }
}
