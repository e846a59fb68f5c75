public import TallystickCrypto

/// Something a device says happened to a chain; signed, never changed.
///
/// The fields are read from, or written as, one canonical JSON object (`docs/formats.md`). `bytes` are what was
/// received or made, and what `hash` and the signature cover.
public struct Event: Sendable {
    /// The most bytes an event may have.
    public static let longest = 65_536
    /// How deep an event's arrays and objects may be nested.
    ///
    /// Less than what a text may have: pages and records, which carry events, have to be readable too.
    public static let greatestDepth = 23
    /// The most parents an event may name.
    public static let mostParents = 64
    /// The domain an event's signature is made under.
    public static let domain = "tallystick/event/v1"

    /// The device's time; information only, nothing is ordered by it.
    public let at: Timestamp
    /// What the type says.
    public let body: JSON
    /// The chain it belongs to.
    public let chain: UniqueID
    /// The device that says it.
    public let device: DeviceID
    /// Made on the device; makes every retry safe.
    public let id: UniqueID
    /// The newest checkpoint the device has verified, or null.
    public let log: JSON
    /// The hashes of the chain's newest events known to the device, sorted.
    public let parents: [Digest]
    /// The role it is said in.
    public let role: Name
    /// The device's counter in this chain, from 1.
    public let seq: Int
    /// The type's name, such as `fields.set`.
    public let type: String
    /// The type's version.
    public let version: Int
    /// The canonical bytes.
    public let bytes: ArraySlice<UInt8>
    /// SHA-256 of the bytes.
    public let hash: Digest
    /// The body, read as its type says.
    public let content: EventContent
    /// What the event says of having been written down earlier; nil where it was not.
    public let late: LateEntry?

    /// The types that can be entered afterwards.
    private static func isLateType(_ type: String) -> Bool {
        ["chain.opened", "fields.set", "note.added", "signed"].contains { sameBytes($0, type) }
    }

    /// The fields of an event that is being made.
    public struct Draft: Sendable {
        /// The device's time.
        public var at: Timestamp
        /// The chain.
        public var chain: UniqueID
        /// What is said.
        public var content: EventContent
        /// The device that says it.
        public var device: DeviceID
        /// The new event's identifier.
        public var id: UniqueID
        /// The parents, in any order.
        public var parents: [Digest]
        /// The role it is said in.
        public var role: Name
        /// The device's counter in this chain.
        public var seq: Int
        /// The original time, of what is entered afterwards.
        public var late: LateEntry?

        /// Collects the fields.
        public init(
            at: Timestamp,
            chain: UniqueID,
            content: EventContent,
            device: DeviceID,
            id: UniqueID,
            parents: [Digest],
            role: Name,
            seq: Int,
            late: LateEntry? = nil
        ) {
            self.at = at
            self.chain = chain
            self.content = content
            self.device = device
            self.id = id
            self.parents = parents
            self.role = role
            self.seq = seq
            self.late = late
        }
    }

    /// When it happened: the original time of what was entered afterwards, else the device's time.
    public var happened: Timestamp { late?.at ?? at }

    /// Makes an event of a draft.
    ///
    /// Throws `not-an-event` or `too-large` where reading it back would.
    public init(_ draft: Draft) throws(EventError) {
        let json = JSON.object([
            JSONMember("at", .string(draft.at.description)),
            JSONMember("body", draft.body),
            JSONMember("chain", .string(draft.chain.description)),
            JSONMember("device", .string(draft.device.description)),
            JSONMember("id", .string(draft.id.description)),
            JSONMember("log", .null),
            JSONMember("parents", .strings(draft.parents.sorted().map(\.hex))),
            JSONMember("role", .string(draft.role.text)),
            JSONMember("seq", .integer(draft.seq)),
            JSONMember("type", .string(draft.content.type)),
            JSONMember("v", .integer(draft.content.version)),
        ])
        let bytes: [UInt8]
        do {
            bytes = try json.canonicalBytes()
        } catch {
            throw EventError(code: .notCanonical, message: error.description)
        }
        // Read back, so that an event in memory is exactly what its bytes say.
        try self.init(bytes: bytes[...])
    }

    /// Reads an event from its bytes, which must be canonical JSON.
    ///
    /// Throws `not-canonical`, `not-an-event` or `too-large`.
    public init(bytes: ArraySlice<UInt8>) throws(EventError) {
        guard bytes.count <= Event.longest else { throw .tooLarge(bytes.count) }
        let json: JSON
        do {
            json = try JSON.parseCanonical(bytes, depth: Event.greatestDepth)
        } catch {
            throw EventError(code: .notCanonical, message: error.description)
        }
        try self.init(json, bytes: bytes)
    }

    /// Reads an event from JSON that is known to be the canonical reading of the bytes.
    init(_ json: JSON, bytes: ArraySlice<UInt8>) throws(EventError) {
        guard bytes.count <= Event.longest else { throw .tooLarge(bytes.count) }
        var reader = try MemberReader(json, of: "the event")
        at = try reader.take("at", Timestamp.init(_:))
        body = try reader.take("body")
        chain = try reader.take("chain", UniqueID.init(_:))
        device = try reader.take("device", DeviceID.init(_:))
        id = try reader.take("id", UniqueID.init(_:))
        log = try reader.take("log")
        let parents = try reader.take("parents")
        role = try reader.take("role", Name.init)
        seq = try reader.takeInteger("seq")
        type = try reader.takeText("type")
        version = try reader.takeInteger("v")
        try reader.finish()

        guard let elements = parents.elements, elements.count <= Event.mostParents else {
            throw .malformed("parents", "an array of at most \(Event.mostParents) hashes")
        }
        let hashes = elements.compactMap { $0.text.flatMap(Digest.init(hex:)) }
        guard hashes.count == elements.count, zip(hashes, hashes.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw .malformed("parents", "hashes of 64 hexadecimal digits, sorted, each once")
        }
        self.parents = hashes
        guard seq >= 1 else { throw .malformed("seq", "1 or more") }
        guard version >= 1 else { throw .malformed("v", "1 or more") }
        try Event.checkLog(log)
        self.bytes = bytes
        hash = SHA256.hash(bytes)
        var said = body
        if version == 1, Event.isLateType(type), let json = body["late"] {
            late = try LateEntry(json)
            said = .object((body.members ?? []).filter { !sameBytes($0.name, "late") })
        } else {
            late = nil
        }
        content = try EventContent(type: type, version: version, body: said)
    }

    /// A checkpoint is a root and a size, or null where the device has verified none.
    private static func checkLog(_ log: JSON) throws(EventError) {
        if log.isNull { return }
        var reader = try MemberReader(log, of: "the event's log")
        _ = try reader.take("root") { Digest(hex: $0) }
        guard try reader.takeInteger("size") >= 0 else { throw .malformed("log", "a size of 0 or more") }
        try reader.finish()
    }
}

extension Event.Draft {
    /// The body: what is said, and the original time of what is entered afterwards.
    fileprivate var body: JSON {
        guard let late, let members = content.body.members else { return content.body }
        return .object(members + [JSONMember("late", late.json)])
    }
}

/// Why bytes are not an event, a certificate or another signed object of ours.
public struct EventError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The reason code.
    public let code: ReasonCode
    /// What was expected and what came.
    public let message: String

    /// The message.
    public var description: String { message }

    static func malformed(_ member: String, _ expected: String) -> EventError {
        EventError(code: .notAnEvent, message: "“\(member)”: expected \(expected)")
    }

    static func tooLarge(_ count: Int) -> EventError {
        EventError(code: .tooLarge, message: "expected at most \(Event.longest) bytes, got \(count)")
    }
}

/// Takes the members of an object one by one, in canonical order, so that none is missing and none is left.
struct MemberReader {
    private let members: [JSONMember]
    private var next = 0
    private let owner: String

    init(_ json: JSON, of owner: String) throws(EventError) {
        guard let members = json.members else {
            throw EventError(code: .notAnEvent, message: "expected \(owner) to be an object")
        }
        self.members = members
        self.owner = owner
    }

    mutating func take(_ name: String) throws(EventError) -> JSON {
        guard let value = takeOptional(name) else {
            let got = (next < members.count ? members[next] : nil).map { "“\($0.name.prefix(64))”" } ?? "no more"
            throw EventError(code: .notAnEvent, message: "expected \(owner) to have “\(name)” here, got \(got)")
        }
        return value
    }

    mutating func takeOptional(_ name: String) -> JSON? {
        guard next < members.count, sameBytes(members[next].name, name) else { return nil }
        next += 1
        return members[next - 1].value
    }

    mutating func takeText(_ name: String) throws(EventError) -> String {
        guard let text = try take(name).text else { throw .malformed(name, "a string") }
        return text
    }

    mutating func takeInteger(_ name: String) throws(EventError) -> Int {
        guard let integer = try take(name).integer else { throw .malformed(name, "an integer") }
        return integer
    }

    mutating func take<Value>(_ name: String, _ read: (String) -> Value?) throws(EventError) -> Value {
        let text = try takeText(name)
        guard let value = read(text) else {
            throw .malformed(name, "its one spelling, got “\(text.prefix(80))”")
        }
        return value
    }

    func finish() throws(EventError) {
        if next < members.count {
            throw EventError(
                code: .notAnEvent,
                message: "expected \(owner) to have no “\(members[next].name.prefix(64))”"
            )
        }
    }
}
