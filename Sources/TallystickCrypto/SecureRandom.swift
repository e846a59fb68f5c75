/// Random bytes fit for keys, from the operating system through libsodium.
public enum SecureRandom {
    /// As many random bytes; none for a count below 1.
    ///
    /// libsodium ends the process where the system gives no randomness, so the bytes are never weak.
    public static func bytes(_ count: Int) -> [UInt8] {
        Sodium.random(count)
    }
}

/// Comparison that does not tell by its duration where two secrets differ.
public enum ConstantTime {
    /// Whether both arrays hold the same bytes.
    ///
    /// The time depends on the lengths only, which are no secret; different lengths answer at once.
    public static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        Sodium.equal(left.span, right.span)
    }

    static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        Sodium.equal(left, right)
    }
}
