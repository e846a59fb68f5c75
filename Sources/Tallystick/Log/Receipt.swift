public import TallystickCrypto

/// The server's signed answer to a push: what became of each line.
public struct PushReceipt: Sendable {
    /// The domain receipts and pages are signed under.
    public static let domain = "tallystick/receipt/v1"

    /// The server's database: it changes when a backup is restored.
    public let epoch: String
    /// The device that pushed.
    public let device: DeviceID
    /// When.
    public let received: Timestamp
    /// What became of each line, in the order pushed.
    public let results: [Result]

    /// What became of one line.
    public struct Result: Sendable {
        /// SHA-256 of the line.
        public let line: Digest
        /// Whether it was new, already there, or not taken now.
        public let status: Status
        /// The newest entry about it; nil where it was not taken.
        public let entry: LogEntry?

        /// The ways a line can be dealt with.
        public enum Status: String, Sendable {
            /// It is in the log now.
            case taken
            /// It was in the log before; the entry is the stored one.
            case known
            /// It was not taken: too many events of this device wait. Keep it and try again later.
            case deferred
        }

        /// States a result.
        public init(line: Digest, status: Status, entry: LogEntry?) {
            self.line = line
            self.status = status
            self.entry = entry
        }
    }

    /// States a receipt.
    public init(epoch: String, device: DeviceID, received: Timestamp, results: [Result]) {
        self.epoch = epoch
        self.device = device
        self.received = received
        self.results = results
    }

    /// Signs the receipt: `{"receipt":{…},"signature":"…"}`.
    public func signed(by key: SigningKey) throws(EventError) -> [UInt8] {
        let json = JSON.members([
            ("device", .string(device.description)), ("epoch", .string(epoch)),
            ("received", .string(received.description)),
            (
                "results",
                .array(
                    results.map { result in
                        .members([
                            ("entry", result.entry?.json), ("line", .string(result.line.hex)),
                            ("status", .string(result.status.rawValue)),
                        ])
                    }
                )
            ),
        ])
        return try SignedObject.line(json, named: "receipt", by: key, domain: PushReceipt.domain)
    }

    /// Reads a receipt and checks its signature.
    public init(line: [UInt8], signedBy key: PublicKey) throws(EventError) {
        let object = try SignedObject(line: line, named: "receipt")
        guard object.isSigned(by: key, domain: PushReceipt.domain) else {
            throw EventError(code: .badSignature, message: "expected a receipt signed by this device's server")
        }
        guard let epoch = object.value["epoch"]?.text,
            let device = object.value["device"]?.text.flatMap(DeviceID.init(_:)),
            let received = object.value["received"]?.text.flatMap(Timestamp.init(_:)),
            let elements = object.value["results"]?.elements
        else {
            throw EventError(code: .notAnEvent, message: "expected a receipt, got another signed object")
        }
        var results: [Result] = []
        for element in elements {
            guard let line = element["line"]?.text.flatMap(Digest.init(hex:)),
                let status = element["status"]?.text.flatMap(Result.Status.init(rawValue:))
            else {
                throw EventError(code: .notAnEvent, message: "expected a receipt's results to name line and status")
            }
            let entry: LogEntry? = if let json = element["entry"] { try LogEntry(json) } else { nil }
            results.append(Result(line: line, status: status, entry: entry))
        }
        self.init(epoch: epoch, device: device, received: received, results: results)
    }
}

/// A signed page of what the server has for a party.
public struct PullPage: Sendable {
    /// The server's database.
    public let epoch: String
    /// The number in the party's feed that the page begins after.
    public let after: Int
    /// The number of the page's last item.
    public let next: Int
    /// Whether there is more.
    public let hasMore: Bool
    /// The server's time.
    public let now: Timestamp
    /// The items, numbered after+1 … next in the party's feed.
    public let items: [Item]
    /// The certificates of the devices that the page's events are of.
    public let certificates: [Certificate]
    /// SHA-256 of the entry with the number that the page begins after, as canonical JSON; nil where there is none.
    ///
    /// A device that has another entry there knows that the log went back or was rewritten.
    public let previous: Digest?

    /// An entry with the event it is about.
    public struct Item: Sendable {
        /// The entry.
        public let entry: LogEntry
        /// The event's line; nil for entries that are not about an event.
        public let event: SignedEvent?

        /// Pairs them.
        public init(entry: LogEntry, event: SignedEvent?) {
            self.entry = entry
            self.event = event
        }
    }

    /// States a page.
    public init(
        epoch: String,
        after: Int,
        next: Int,
        hasMore: Bool,
        now: Timestamp,
        items: [Item],
        certificates: [Certificate],
        previous: Digest?
    ) {
        self.previous = previous
        self.epoch = epoch
        self.after = after
        self.next = next
        self.hasMore = hasMore
        self.now = now
        self.items = items
        self.certificates = certificates
    }

    /// Signs the page: `{"page":{…},"signature":"…"}`.
    public func signed(by key: SigningKey) throws(EventError) -> [UInt8] {
        func object(_ line: [UInt8]) throws(EventError) -> JSON {
            do {
                return try JSON.parse(line)
            } catch {
                throw EventError(code: .notCanonical, message: error.description)
            }
        }
        var elements: [JSON] = []
        for item in items {
            let event: JSON? = if let line = item.event?.line { try object(line) } else { nil }
            elements.append(.members([("entry", item.entry.json), ("event", event)]))
        }
        var lines: [JSON] = []
        for certificate in certificates { lines.append(try object(certificate.line)) }
        let json = JSON.members([
            ("after", .integer(after)), ("certificates", .array(lines)), ("epoch", .string(epoch)),
            ("items", .array(elements)), ("more", .boolean(hasMore)), ("next", .integer(next)),
            ("now", .string(now.description)), ("previous", previous.map { .string($0.hex) } ?? .null),
        ])
        return try SignedObject.line(json, named: "page", by: key, domain: PushReceipt.domain)
    }

    /// Reads a page and checks its signature and that its numbers have no gap; the events' signatures are not checked.
    public init(line: [UInt8], signedBy key: PublicKey) throws(EventError) {
        let object = try SignedObject(line: line, named: "page")
        guard object.isSigned(by: key, domain: PushReceipt.domain) else {
            throw EventError(code: .badSignature, message: "expected a page signed by this device's server")
        }
        guard let epoch = object.value["epoch"]?.text, let after = object.value["after"]?.integer,
            let next = object.value["next"]?.integer, let hasMore = object.value["more"]?.boolean,
            let now = object.value["now"]?.text.flatMap(Timestamp.init(_:)),
            let items = object.value.member("items")?.value.elements,
            let certificates = object.value["certificates"]?.elements, next - after == items.count,
            let previous = object.value["previous"]
        else {
            throw EventError(code: .notAnEvent, message: "expected a page without gaps, got another signed object")
        }
        let digest = previous.text.flatMap(Digest.init(hex:))
        guard previous.isNull || digest != nil else {
            throw EventError(code: .notAnEvent, message: "expected the hash of the entry before a page, or null")
        }
        func bytes(_ json: JSON) throws(EventError) -> [UInt8] {
            do {
                return try json.canonicalBytes()
            } catch {
                throw EventError(code: .notCanonical, message: error.description)
            }
        }
        // The page as a whole is canonical, so writing a part of it again gives the bytes it was received in.
        var read: [Item] = []
        for element in items {
            guard let entry = element["entry"] else {
                throw EventError(code: .notAnEvent, message: "expected every item of a page to have an entry")
            }
            let event: SignedEvent? =
                if let json = element["event"] { try SignedEvent(line: try bytes(json)) } else { nil }
            read.append(Item(entry: try LogEntry(entry), event: event))
        }
        var known: [Certificate] = []
        for element in certificates { known.append(try Certificate(line: try bytes(element))) }
        self.init(
            epoch: epoch,
            after: after,
            next: next,
            hasMore: hasMore,
            now: now,
            items: read,
            certificates: known,
            previous: digest
        )
    }
}
