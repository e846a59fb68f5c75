/// An Ed25519 signing key (RFC 8032), made from a 32-byte seed.
///
/// It is not `Equatable` or `Codable`, and describes itself by its public half, so that it is not logged or
/// stored by accident.
public struct SigningKey: Sendable, CustomStringConvertible {
    /// The seed, then the public key: the form libsodium signs with.
    private let secret: [UInt8]
    /// The key that checks this key's signatures.
    public let publicKey: PublicKey

    /// Makes the key of a seed; throws `wrongLength` unless the seed has 32 bytes.
    public init(seed: [UInt8]) throws(CryptoError) {
        guard let pair = Sodium.keyPair(seed: seed) else {
            throw CryptoError(.wrongLength, "expected a seed of 32 bytes, not \(seed.count)")
        }
        self.init(pair)
    }

    private init(_ pair: (secret: [UInt8], publicKey: Block32)) {
        secret = pair.secret
        publicKey = PublicKey(pair.publicKey)
    }

    /// A new key from a random seed.
    public static func generate() -> SigningKey {
        guard let pair = Sodium.keyPair(seed: SecureRandom.bytes(Sodium.seedCount)) else {
            Sodium.stop("libsodium gave too few random bytes")
        }
        return SigningKey(pair)
    }

    /// The 32-byte seed, which is the secret to keep.
    public var seed: [UInt8] { Array(secret.prefix(Sodium.seedCount)) }

    /// The public key; never the secret one.
    public var description: String { "SigningKey(publicKey: \(publicKey))" }

    /// The 64-byte signature of the message, always the same for the same message.
    public func signature(for message: [UInt8]) -> [UInt8] {
        Sodium.signature(of: message.span, secret: secret)
    }

    /// The 64-byte signature of the domain, a line feed and the message.
    ///
    /// The domain, such as `tallystick/event/v1`, keeps a signature made for one purpose from serving another.
    /// It is a constant of the caller's and holds no line feed.
    public func signature(for message: some Collection<UInt8>, domain: String) -> [UInt8] {
        Sodium.signature(of: separated(message, domain: domain).span, secret: secret)
    }
}

/// An Ed25519 public key: 32 bytes that may or may not be a point of the curve.
public struct PublicKey: Hashable, Sendable, CustomStringConvertible {
    private let block: Block32

    init(_ block: Block32) {
        self.block = block
    }

    /// Takes exactly 32 bytes; nil for any other number.
    ///
    /// Bytes that are no usable key are taken too: no signature is valid under them.
    public init?(bytes: some Collection<UInt8>) {
        guard let block = Block32(bytes) else { return nil }
        self.init(block)
    }

    /// The 32 bytes.
    public var bytes: [UInt8] { block.bytes }

    /// The 64 lower-case hexadecimal digits.
    public var description: String { block.hex }

    /// Whether the signature is this key's for the message; false for a signature of other than 64 bytes.
    ///
    /// Strict, as libsodium is: S must be below the group order, the key canonical, and neither the key nor R of
    /// small order, so that there are no signatures that fit many messages and none that can be respelt.
    public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        Sodium.isValid(signature, of: message.span, by: block)
    }

    /// Whether the signature is this key's for the domain, a line feed and the message.
    ///
    /// False for a signature of other than 64 bytes.
    public func isValid(_ signature: [UInt8], for message: some Collection<UInt8>, domain: String) -> Bool {
        Sodium.isValid(signature, of: separated(message, domain: domain).span, by: block)
    }
}

/// What is signed under a domain.
///
/// Ed25519 reads its input twice, so it has to lie in one piece: that is the one copy made.
private func separated(_ message: some Collection<UInt8>, domain: String) -> [UInt8] {
    assert(!domain.utf8.contains(0x0a), "a domain with a line feed would not be separate from others")
    var bytes: [UInt8] = []
    bytes.reserveCapacity(domain.utf8.count + 1 + message.count)
    bytes.append(contentsOf: domain.utf8)
    bytes.append(0x0a)
    bytes.append(contentsOf: message)
    return bytes
}
