/// HMAC-SHA256 of RFC 2104.
public enum HMACSHA256 {
    /// The 32-byte code of a message under a key of any length, the empty key included.
    ///
    /// Computed by OpenSSL, or by libsodium should OpenSSL fail, for the reason given at `SHA256.hash`.
    public static func code(for message: [UInt8], key: [UInt8]) -> Digest {
        OpenSSL.hmacSHA256(message.span, key: key.span) ?? SodiumFallback.hmacSHA256(message.span, key: key)
    }

    /// Whether a tag is the code of the message, compared in constant time.
    ///
    /// A tag of 32 bytes is compared whole. A tag of 16 bytes is compared with the first half of the code
    /// (RFC 2104 section 5, RFC 4868), as the QR code carries it. Any other length is no match. A caller for
    /// whom only one of the two lengths is right checks the length itself.
    public static func isValid(_ tag: [UInt8], for message: [UInt8], key: [UInt8]) -> Bool {
        guard tag.count == 32 || tag.count == 16 else { return false }
        let code = code(for: message, key: key).bytes
        return ConstantTime.equal(tag.span, code.span.extracting(first: tag.count))
    }
}

/// HKDF-SHA256 of RFC 5869, both steps.
public enum HKDFSHA256 {
    /// The longest output: 255 blocks of 32 bytes (RFC 5869 section 2.3).
    static let longest = 255 * 32

    /// Derives `length` bytes from a secret, a salt and a context.
    ///
    /// An empty salt is the RFC's salt of 32 zero bytes. Throws `wrongLength` unless `length` is in 1...8160.
    public static func derive(
        secret: [UInt8],
        salt: [UInt8],
        info: [UInt8],
        length: Int
    ) throws(CryptoError) -> [UInt8] {
        guard (1...longest).contains(length) else {
            throw CryptoError(.wrongLength, "expected a length of 1 to \(longest) bytes to derive, not \(length)")
        }
        // Extract (section 2.2), then expand (section 2.3). Written out over HMAC: OpenSSL's own HKDF adds
        // only parameter lists of raw pointers and failures of its own.
        let key = HMACSHA256.code(for: secret, key: salt).bytes
        var output: [UInt8] = []
        output.reserveCapacity(length + 31)
        var block: [UInt8] = []
        var counter: UInt8 = 1
        while true {
            block = HMACSHA256.code(for: block + info + [counter], key: key).bytes
            output += block
            guard output.count < length else { break }
            counter += 1  // at most 255: the length was checked
        }
        output.removeLast(output.count - length)
        return output
    }
}
