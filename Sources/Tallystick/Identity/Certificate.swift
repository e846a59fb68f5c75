public import TallystickCrypto

/// The authority's word that a device's key acts for a party in some roles.
public struct Certificate: Sendable {
    /// The domain a certificate's signature is made under.
    public static let domain = "tallystick/certificate/v1"
    /// The most bytes the name of a party or a person may have.
    public static let longestName = 200

    /// The name of the key that certifies.
    public let authority: DeviceID
    /// The device, named by its key.
    public let device: DeviceID
    /// The device's public key.
    public let key: PublicKey
    /// The last moment at which an event of the device may be dated.
    public let notAfter: Timestamp
    /// The first such moment.
    public let notBefore: Timestamp
    /// The party the device acts for.
    public let party: UniqueID
    /// What the party is called.
    public let partyName: String
    /// Who holds the device, where it is one person.
    public let person: String?
    /// The roles the device may act in, sorted.
    public let roles: [Name]
    /// The authority's number for this certificate, from 1.
    public let serial: Int
    /// The whole line, `{"certificate":{…},"signature":"…"}`.
    public let line: [UInt8]
    private let signature: [UInt8]
    private let bytes: ArraySlice<UInt8>

    /// What a certificate is made of.
    public struct Draft: Sendable {
        /// The device's public key.
        public var key: PublicKey
        /// The validity.
        public var notBefore: Timestamp
        /// The end of validity.
        public var notAfter: Timestamp
        /// The party.
        public var party: UniqueID
        /// The party's name, at most 200 bytes.
        public var partyName: String
        /// The person, at most 200 bytes.
        public var person: String?
        /// The roles.
        public var roles: [Name]
        /// The serial number.
        public var serial: Int

        /// Collects the parts.
        public init(
            key: PublicKey,
            notBefore: Timestamp,
            notAfter: Timestamp,
            party: UniqueID,
            partyName: String,
            person: String?,
            roles: [Name],
            serial: Int
        ) {
            self.key = key
            self.notBefore = notBefore
            self.notAfter = notAfter
            self.party = party
            self.partyName = partyName
            self.person = person
            self.roles = roles
            self.serial = serial
        }
    }

    /// Certifies a device with the authority's key.
    public init(_ draft: Draft, by authority: SigningKey) throws(EventError) {
        let certificate = JSON.members([
            ("authority", .string(DeviceID(authority.publicKey).description)),
            ("device", .string(DeviceID(draft.key).description)),
            ("key", .string(Base64.encode(draft.key.bytes))),
            ("notAfter", .string(draft.notAfter.description)),
            ("notBefore", .string(draft.notBefore.description)),
            ("party", .string(draft.party.description)),
            ("partyName", .string(draft.partyName)),
            ("person", draft.person.map { .string($0) }),
            ("roles", .strings(Set(draft.roles).sorted().map(\.text))),
            ("serial", .integer(draft.serial)),
        ])
        let line = try SignedObject.line(certificate, named: "certificate", by: authority, domain: Certificate.domain)
        try self.init(line: line)
    }

    /// Reads a certificate's line; the signature is read, not checked.
    public init(line: [UInt8]) throws(EventError) {
        let object = try SignedObject(line: line, named: "certificate")
        var reader = try MemberReader(object.value, of: "the certificate")
        authority = try reader.take("authority", DeviceID.init(_:))
        device = try reader.take("device", DeviceID.init(_:))
        let keyBytes = try reader.take("key", Base64.decode)
        notAfter = try reader.take("notAfter", Timestamp.init(_:))
        notBefore = try reader.take("notBefore", Timestamp.init(_:))
        party = try reader.take("party", UniqueID.init(_:))
        partyName = try reader.takeSentence("partyName", mayBeEmpty: false)
        if let value = reader.takeOptional("person") {
            guard let text = value.text, (1...Certificate.longestName).contains(text.utf8.count) else {
                throw .malformed("person", "a text of 1 to \(Certificate.longestName) bytes")
            }
            person = text
        } else {
            person = nil
        }
        let roles = try reader.take("roles")
        serial = try reader.takeInteger("serial")
        try reader.finish()
        guard partyName.utf8.count <= Certificate.longestName else {
            throw .malformed("partyName", "a text of 1 to \(Certificate.longestName) bytes")
        }
        guard serial >= 1 else { throw .malformed("serial", "1 or more") }
        guard let key = PublicKey(bytes: keyBytes), DeviceID(key) == device else {
            throw .malformed("key", "the key that the device is named by")
        }
        self.key = key
        let names = (roles.elements ?? []).compactMap { $0.text.flatMap(Name.init) }
        guard !names.isEmpty, names.count == roles.elements?.count,
            zip(names, names.dropFirst()).allSatisfy({ $0 < $1 })
        else {
            throw .malformed("roles", "an array of role names, sorted, each once")
        }
        self.roles = names
        signature = object.signature
        bytes = object.bytes
        self.line = line
    }

    /// Whether this authority has signed the certificate.
    public func isSigned(by authority: PublicKey) -> Bool {
        DeviceID(authority) == self.authority && authority.isValid(signature, for: bytes, domain: Certificate.domain)
    }
}

/// A canonical JSON object under a name, with a signature over its bytes: certificates, receipts, seals.
public struct SignedObject: Sendable {
    /// The object.
    public let value: JSON
    /// The bytes that are signed.
    public let bytes: ArraySlice<UInt8>
    /// The signature, 64 bytes.
    public let signature: [UInt8]

    /// Signs an object and gives the line `{"<name>":{…},"signature":"…"}`.
    public static func line(
        _ value: JSON,
        named name: String,
        by key: SigningKey,
        domain: String
    ) throws(EventError) -> [UInt8] {
        do {
            let bytes = try value.canonicalBytes()
            let signature = key.signature(for: bytes[...], domain: domain)
            let members = [JSONMember(name, value), JSONMember("signature", .string(Base64.encode(signature)))]
            return try JSON.object(members).canonicalBytes()
        } catch {
            throw EventError(code: .notCanonical, message: error.description)
        }
    }

    /// Reads a line; the signature is read, not checked.
    public init(line: [UInt8], named name: String) throws(EventError) {
        let json: JSON
        do {
            json = try JSON.parseCanonical(line[...])
        } catch {
            throw EventError(code: .notCanonical, message: error.description)
        }
        guard let member = json.member(name), let signature = json["signature"]?.text.flatMap(Base64.decode),
            signature.count == 64
        else {
            throw EventError(code: .notAnEvent, message: "expected a “\(name)” with a signature of 64 bytes in base64")
        }
        value = member.value
        bytes = line[member.range]
        self.signature = signature
    }

    /// Whether the signature is this key's in this domain.
    public func isSigned(by key: PublicKey, domain: String) -> Bool {
        key.isValid(signature, for: bytes, domain: domain)
    }
}
