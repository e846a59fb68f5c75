public import TallystickCrypto

/// One line of the server's log: a verdict on an event, a certificate or a revocation, at its position.
///
/// An event that waited has two entries: the first says so, the second settles it.
public struct LogEntry: Sendable, Equatable {
    /// The position in the server's log, from 1, without gaps.
    public let position: Int
    /// What is entered.
    public let content: Content

    /// What an entry can be about.
    public enum Content: Sendable, Equatable {
        /// A verdict on an event.
        case verdict(EventVerdict)
        /// A certificate took effect; the digest is of its line.
        case certificate(Digest, device: DeviceID)
        /// A device was revoked: what arrives after this position is refused.
        case revocation(DeviceID, why: String)
        /// A line that is no event was pushed by a device; the digest is of the line.
        case unreadable(Digest, from: DeviceID, received: Timestamp, Verdict)
    }

    /// A verdict with what it is about.
    public struct EventVerdict: Sendable, Equatable {
        /// The chain.
        public let chain: UniqueID
        /// The event.
        public let event: Digest
        /// The number of this entry among those of its chain, from 1, without gaps.
        public let number: Int
        /// When the event came.
        public let received: Timestamp
        /// The verdict.
        public let verdict: Verdict

        /// Collects an entry's parts.
        public init(chain: UniqueID, event: Digest, number: Int, received: Timestamp, verdict: Verdict) {
            self.chain = chain
            self.event = event
            self.number = number
            self.received = received
            self.verdict = verdict
        }
    }

    /// Enters something.
    public init(position: Int, content: Content) {
        self.position = position
        self.content = content
    }

    /// The entry as receipts and records carry it.
    public var json: JSON {
        let position = ("position", JSON.integer(position))
        return switch content {
        case .verdict(let entry):
            .members([
                ("chain", .string(entry.chain.description)), ("event", .string(entry.event.hex)),
                ("number", .integer(entry.number)), position, ("received", .string(entry.received.description)),
                ("verdict", entry.verdict.json),
            ])
        case .certificate(let digest, let device):
            .members([
                ("certificate", .string(digest.hex)), ("device", .string(device.description)), position,
            ])
        case .revocation(let device, let why):
            .members([position, ("revoked", .string(device.description)), ("why", .string(why))])
        case .unreadable(let line, let device, let received, let verdict):
            .members([
                ("from", .string(device.description)), ("line", .string(line.hex)), position,
                ("received", .string(received.description)), ("verdict", verdict.json),
            ])
        }
    }

    /// The canonical bytes of ``json``, which a log writes for every event.
    ///
    /// The members of a verdict on an event are texts that need no escapes, in canonical order: they are written as
    /// they are, and only what is behind the verdict is written as JSON.
    public func canonicalBytes() throws(JSONError) -> [UInt8] {
        guard case .verdict(let entry) = content else { return try json.canonicalBytes() }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(384)
        bytes.append(contentsOf: "{\"chain\":\"".utf8)
        bytes.append(contentsOf: entry.chain.description.utf8)
        bytes.append(contentsOf: "\",\"event\":\"".utf8)
        bytes.append(contentsOf: entry.event.hex.utf8)
        bytes.append(contentsOf: "\",\"number\":".utf8)
        bytes.append(contentsOf: String(entry.number).utf8)
        bytes.append(contentsOf: ",\"position\":".utf8)
        bytes.append(contentsOf: String(position).utf8)
        bytes.append(contentsOf: ",\"received\":\"".utf8)
        bytes.append(contentsOf: entry.received.description.utf8)
        bytes.append(contentsOf: "\",\"verdict\":".utf8)
        if entry.verdict == .accepted() {
            bytes.append(contentsOf: "{\"outcome\":\"accepted\"}".utf8)
        } else {
            try entry.verdict.json.write(to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Reads an entry.
    public init(_ json: JSON) throws(EventError) {
        let content: Content?
        if let chain = json["chain"]?.text.flatMap(UniqueID.init(_:)),
            let event = json["event"]?.text.flatMap(Digest.init(hex:)), let number = json["number"]?.integer,
            let received = json["received"]?.text.flatMap(Timestamp.init(_:)),
            let verdict = json["verdict"].flatMap(Verdict.init(_:))
        {
            let entry = EventVerdict(chain: chain, event: event, number: number, received: received, verdict: verdict)
            content = .verdict(entry)
        } else if let digest = json["certificate"]?.text.flatMap(Digest.init(hex:)),
            let device = json["device"]?.text.flatMap(DeviceID.init(_:))
        {
            content = .certificate(digest, device: device)
        } else if let device = json["revoked"]?.text.flatMap(DeviceID.init(_:)), let why = json["why"]?.text {
            content = .revocation(device, why: why)
        } else if let line = json["line"]?.text.flatMap(Digest.init(hex:)),
            let device = json["from"]?.text.flatMap(DeviceID.init(_:)),
            let received = json["received"]?.text.flatMap(Timestamp.init(_:)),
            let verdict = json["verdict"].flatMap(Verdict.init(_:))
        {
            content = .unreadable(line, from: device, received: received, verdict)
        } else {
            content = nil
        }
        guard let content, let position = json["position"]?.integer, position >= 1 else {
            throw EventError(code: .notAnEvent, message: "expected an entry of the log, got something else")
        }
        self.init(position: position, content: content)
    }
}
