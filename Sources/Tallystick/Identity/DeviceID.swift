public import TallystickCrypto

/// The name of a key, and so of the device or authority that holds it: the first 16 bytes of SHA-256(public key).
public struct DeviceID: Hashable, Comparable, Sendable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    /// The name of this public key.
    public init(_ key: PublicKey) {
        let bytes = SHA256.hash(key.bytes).bytes
        high = UniqueID.word(bytes[0..<8])
        low = UniqueID.word(bytes[8..<16])
    }

    /// Reads 32 lower-case hexadecimal digits.
    public init?(_ hex: String) {
        guard hex.utf8.count == 32, let bytes = Hex.decode(hex) else { return nil }
        high = UniqueID.word(bytes.prefix(8))
        low = UniqueID.word(bytes.dropFirst(8))
    }

    /// The 16 bytes.
    public var bytes: [UInt8] {
        UniqueID.bytes(high, low)
    }

    /// The order of the bytes.
    public static func < (left: DeviceID, right: DeviceID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    /// The 32 hexadecimal digits.
    public var description: String { Hex.encode(bytes) }
}
