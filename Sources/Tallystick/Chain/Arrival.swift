public import TallystickCrypto

/// An event as it reached whoever decides it, with what was known of its author at that moment.
public struct Arrival: Sendable {
    /// The event.
    public let event: Event
    /// The certificate of the event's device, if one was known.
    public let certificate: Certificate?
    /// Whether the device had been revoked.
    public let isRevoked: Bool
    /// Whether the signature is the device's over the event's bytes.
    public let isSignatureValid: Bool
    /// When it came, by the clock of whoever decides.
    public let received: Timestamp

    /// Collects the facts.
    public init(
        event: Event,
        certificate: Certificate?,
        isRevoked: Bool,
        isSignatureValid: Bool,
        received: Timestamp
    ) {
        self.event = event
        self.certificate = certificate
        self.isRevoked = isRevoked
        self.isSignatureValid = isSignatureValid
        self.received = received
    }
}

/// What deciding needs from outside the chain.
public struct DecisionContext: Sendable {
    /// Who decides.
    public enum Stage: Sendable {
        /// The server, a rebuild or an audit: what is missing is waited for.
        case final
        /// The device: it goes on with what it knows, and the server has the last word.
        case provisional
    }

    /// A MAC to be made again.
    public struct MACQuestion: Sendable {
        /// The event that carries the MAC.
        public let event: Digest
        /// The device that made the offer.
        public let giver: DeviceID
        /// What the MAC is of.
        public let statement: HandoffStatement
        /// The MAC: 32 bytes, or the first 16.
        public let mac: [UInt8]
    }

    /// Who decides.
    public let stage: Stage
    /// Finds a scheme by its name, version and hash.
    public let scheme: @Sendable (SchemeReference) -> Scheme?
    /// Finds a scheme by the first four bytes of its hash.
    public let schemeByPrefix: @Sendable ([UInt8]) -> Scheme?
    /// Makes a MAC again and compares.
    public let mac: @Sendable (MACQuestion) -> HandoffFinding.MACResult

    /// Collects what is needed.
    public init(
        stage: Stage,
        scheme: @escaping @Sendable (SchemeReference) -> Scheme?,
        schemeByPrefix: @escaping @Sendable ([UInt8]) -> Scheme?,
        mac: @escaping @Sendable (MACQuestion) -> HandoffFinding.MACResult
    ) {
        self.stage = stage
        self.scheme = scheme
        self.schemeByPrefix = schemeByPrefix
        self.mac = mac
    }

    /// A context that knows these schemes.
    public init(
        stage: Stage,
        schemes: [Scheme],
        mac: @escaping @Sendable (MACQuestion) -> HandoffFinding.MACResult
    ) {
        self.init(
            stage: stage,
            scheme: { reference in schemes.first { $0.reference == reference } },
            schemeByPrefix: { prefix in schemes.first { $0.reference.hash.bytes.starts(with: prefix) } },
            mac: mac
        )
    }
}
