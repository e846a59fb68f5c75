/// A SHA-256 hash: 32 bytes, ordered as bytes.
///
/// Kept inline as four words, so it costs no allocation to copy and little to use as a dictionary key.
/// Equality is not constant time; compare secrets with `ConstantTime`.
public struct Digest: Hashable, Comparable, Sendable, CustomStringConvertible {
    let block: Block32

    init(_ block: Block32) {
        self.block = block
    }

    /// Takes exactly 32 bytes; nil for any other number.
    public init?(bytes: some Collection<UInt8>) {
        guard let block = Block32(bytes) else { return nil }
        self.init(block)
    }

    /// Takes exactly 64 lower-case hexadecimal digits; nil for anything else.
    ///
    /// Upper case is refused: one digest has one spelling, so that signed text has one too.
    public init?(hex: String) {
        guard let block = Block32(hex: hex.utf8.span) else { return nil }
        self.init(block)
    }

    /// The 32 bytes.
    public var bytes: [UInt8] { block.bytes }

    /// The 64 lower-case hexadecimal digits.
    public var hex: String { block.hex }

    /// The same as `hex`.
    public var description: String { hex }

    /// Whether the left digest comes first in byte order, which is also the order of `hex`.
    public static func < (left: Digest, right: Digest) -> Bool { left.block < right.block }
}
