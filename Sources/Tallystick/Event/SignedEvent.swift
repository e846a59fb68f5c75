public import TallystickCrypto

/// An event with its signature, as it stands on disk and wire: one line of canonical JSON.
///
/// `{"event":{…},"signature":"<base64>"}`. Further members are kept and passed on, and ignored if unknown.
public struct SignedEvent: Sendable {
    /// The event.
    public let event: Event
    /// The Ed25519 signature over the domain, a line feed and the event's bytes.
    public let signature: [UInt8]
    /// The whole line, without the line feed.
    public let line: [UInt8]

    /// The most bytes a line may have: an event, its signature and a little for members of later versions.
    public static let longestLine = Event.longest + 4_096
    /// How deep a line's arrays and objects may be nested, those of members of later versions included.
    public static let greatestDepth = Event.greatestDepth + 1

    /// Signs an event.
    public init(_ event: Event, by key: SigningKey) {
        self.event = event
        signature = key.signature(for: event.bytes, domain: Event.domain)
        var line = Array("{\"event\":".utf8)
        line.append(contentsOf: event.bytes)
        line.append(contentsOf: ",\"signature\":\"".utf8)
        line.append(contentsOf: Base64.encode(signature).utf8)
        line.append(contentsOf: "\"}".utf8)
        self.line = line
    }

    /// Reads a line; the signature is read, not checked.
    ///
    /// Throws `not-canonical`, `not-an-event` or `too-large`.
    public init(line: [UInt8]) throws(EventError) {
        guard line.count <= SignedEvent.longestLine else { throw .tooLarge(line.count) }
        let json: JSON
        do {
            json = try JSON.parseCanonical(line, depth: SignedEvent.greatestDepth)
        } catch {
            throw EventError(code: .notCanonical, message: error.description)
        }
        guard let member = json.member("event") else {
            throw EventError(code: .notAnEvent, message: "expected a line with an “event”")
        }
        guard let signature = json["signature"]?.text.flatMap(Base64.decode), signature.count == 64 else {
            throw EventError(code: .notAnEvent, message: "expected a line with a “signature” of 64 bytes in base64")
        }
        event = try Event(member.value, bytes: line[member.range])
        self.signature = signature
        self.line = line
    }

    /// Whether the signature is this key's over this event.
    public func isSigned(by key: PublicKey) -> Bool {
        key.isValid(signature, for: event.bytes, domain: Event.domain)
    }
}
