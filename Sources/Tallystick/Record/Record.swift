public import TallystickCrypto

/// An exported file with everything needed to check a chain with no server: JSON lines (`docs/record.md`).
///
/// Header, scheme, certificates, then the log's lines in order, events before the entries about them, and a seal.
public struct Record: Sendable {
    /// The domain a seal is signed under.
    public static let sealDomain = "tallystick/record/v1"
    /// The most bytes a record may have.
    public static let longest = 256 << 20

    /// The first line.
    public struct Header: Sendable, Equatable {
        /// The chain.
        public let chain: UniqueID
        /// When it was exported.
        public let created: Timestamp
        /// The key that certifies devices and seals records.
        public let authority: PublicKey
        /// What the server calls itself.
        public let origin: String

        /// States a header.
        public init(chain: UniqueID, created: Timestamp, authority: PublicKey, origin: String) {
            self.chain = chain
            self.created = created
            self.authority = authority
            self.origin = origin
        }

        var json: JSON {
            .members([
                ("authority", .string(Base64.encode(authority.bytes))), ("chain", .string(chain.description)),
                ("created", .string(created.description)), ("origin", .string(origin)), ("version", .integer(1)),
            ])
        }
    }

    /// What a record's line is, by its first member.
    public enum Line: Sendable {
        /// The header.
        case header(Header)
        /// A scheme with its code lists.
        case scheme(Scheme)
        /// A certificate.
        case certificate(Certificate)
        /// An event.
        case event(SignedEvent)
        /// An entry of the log.
        case entry(LogEntry)
        /// The seal: how many lines come before it, and SHA-256 of their bytes.
        case seal(lines: Int, digest: Digest, SignedObject)
    }

    /// Reads one line, without its line feed.
    public static func read(line: [UInt8]) throws(EventError) -> Line {
        let json: JSON
        do {
            json = try JSON.parseCanonical(line[...])
        } catch {
            throw EventError(code: .notCanonical, message: error.description)
        }
        // An event's line may have members of later versions beside its own, which may come first.
        switch json.member("event")?.name ?? json.members?.first?.name {
        case "record": return .header(try header(json["record"] ?? .null))
        case "scheme":
            guard let member = json.member("scheme") else { break }
            do {
                return .scheme(try Scheme(bytes: Array(line[member.range])))
            } catch {
                throw EventError(code: .schemeUnknown, message: error.description)
            }
        case "certificate": return .certificate(try Certificate(line: line))
        case "event": return .event(try SignedEvent(line: line))
        case "entry": return .entry(try LogEntry(json["entry"] ?? .null))
        case "seal":
            let object = try SignedObject(line: line, named: "seal")
            guard let lines = object.value["lines"]?.integer,
                let digest = object.value["sha256"]?.text.flatMap(Digest.init(hex:))
            else { break }
            return .seal(lines: lines, digest: digest, object)
        default: break
        }
        throw EventError(code: .notAnEvent, message: "expected a line of a record, got another object")
    }

    private static func header(_ json: JSON) throws(EventError) -> Header {
        guard json["version"]?.integer == 1 else {
            throw EventError(code: .unsupportedVersion, message: "expected a record of version 1")
        }
        guard let chain = json["chain"]?.text.flatMap(UniqueID.init(_:)),
            let created = json["created"]?.text.flatMap(Timestamp.init(_:)),
            let authority = json["authority"]?.text.flatMap(Base64.decode).flatMap({ PublicKey(bytes: $0) }),
            let origin = json["origin"]?.text
        else {
            throw EventError(code: .notAnEvent, message: "expected a record's header")
        }
        return Header(chain: chain, created: created, authority: authority, origin: origin)
    }
}

/// Writes a record line by line.
public struct RecordWriter: Sendable {
    /// The bytes so far.
    public private(set) var bytes: [UInt8] = []
    private var lines = 0

    /// Begins a record with its header.
    public init(_ header: Record.Header) throws(EventError) {
        try append(.members([("record", header.json)]))
    }

    private mutating func append(_ json: JSON) throws(EventError) {
        do {
            append(line: try json.canonicalBytes())
        } catch {
            throw EventError(code: .notCanonical, message: error.description)
        }
    }

    private mutating func append(line: [UInt8]) {
        bytes.append(contentsOf: line)
        bytes.append(0x0A)
        lines += 1
    }

    /// Adds a scheme.
    public mutating func append(_ scheme: Scheme) {
        append(line: Array("{\"scheme\":".utf8) + scheme.bytes + Array("}".utf8))
    }

    /// Adds a certificate.
    public mutating func append(_ certificate: Certificate) { append(line: certificate.line) }

    /// Adds an event.
    public mutating func append(_ event: SignedEvent) { append(line: event.line) }

    /// Adds an entry.
    public mutating func append(_ entry: LogEntry) throws(EventError) {
        try append(.members([("entry", entry.json)]))
    }

    /// Adds an entry by its canonical bytes.
    public mutating func append(entry: [UInt8]) {
        append(line: Array("{\"entry\":".utf8) + entry + Array("}".utf8))
    }

    /// Ends the record with a seal over all of it, and gives the whole.
    public mutating func sealed(by key: SigningKey) throws(EventError) -> [UInt8] {
        let seal = JSON.members([("lines", .integer(lines)), ("sha256", .string(SHA256.hash(bytes).hex))])
        append(line: try SignedObject.line(seal, named: "seal", by: key, domain: Record.sealDomain))
        return bytes
    }
}
