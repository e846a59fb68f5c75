import CSodium
import Glibc

// Every libsodium call of the package.

/// libsodium's Ed25519, random bytes and constant-time comparison.
enum Sodium {
    static let seedCount = 32
    static let signatureCount = 64

    /// The 64-byte secret key (seed, then public key) and the public key of a seed; nil unless it is 32 bytes.
    static func keyPair(seed: [UInt8]) -> (secret: [UInt8], publicKey: Block32)? {
        guard seed.count == seedCount else { return nil }
        start()
        var secret = [UInt8](repeating: 0, count: 64)
        let publicKey = Block32 { publicKey in
            unsafe crypto_sign_seed_keypair(publicKey, &secret, seed) == 0
        }
        guard let publicKey else { stop("libsodium could not make an Ed25519 key from a seed") }
        return (secret, publicKey)
    }

    /// The signature by a 64-byte secret key.
    static func signature(of message: Span<UInt8>, secret: [UInt8]) -> [UInt8] {
        precondition(secret.count == 64, "an Ed25519 secret key has 64 bytes")  // made by keyPair(seed:) alone
        start()
        var signature = [UInt8](repeating: 0, count: signatureCount)
        let code = unsafe message.withUnsafeBufferPointer { message in
            unsafe crypto_sign_detached(&signature, nil, message.baseAddress, UInt64(message.count), secret)
        }
        guard code == 0 else { stop("libsodium could not sign") }
        return signature
    }

    /// Whether a 64-byte signature by a key matches; false for any other length.
    static func isValid(_ signature: [UInt8], of message: Span<UInt8>, by key: Block32) -> Bool {
        guard signature.count == signatureCount else { return false }
        start()
        let key = key.bytes
        return unsafe message.withUnsafeBufferPointer { message in
            unsafe crypto_sign_verify_detached(signature, message.baseAddress, UInt64(message.count), key) == 0
        }
    }

    static func random(_ count: Int) -> [UInt8] {
        start()
        guard count > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        unsafe randombytes_buf(&bytes, count)
        return bytes
    }

    /// Whether two spans of one length are equal, in a time that depends on the length only.
    static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe left.withUnsafeBufferPointer { left in
            unsafe right.withUnsafeBufferPointer { right in
                unsafe sodium_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
            }
        }
    }

    /// Runs `sodium_init` once in the process; the language initialises a global once, whatever the threads do.
    private static func start() { _ = isStarted }

    private static let isStarted: Bool = {
        // 0 for done, 1 for done before. Without it random bytes are not safe between threads.
        guard sodium_init() >= 0 else { stop("libsodium could not start") }
        return true
    }()

    /// Ends the process with a message on standard error.
    ///
    /// Only for what libsodium documents as not happening. It does the same itself when the system gives no
    /// randomness: going on with a weak key or an empty signature would be worse. `precondition` would do,
    /// but says nothing in release builds.
    static func stop(_ message: String) -> Never {
        let line = Array("Error: \(message)\n".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
        abort()
    }
}

/// SHA-256 and HMAC by libsodium, for when OpenSSL fails: slower, but without allocation or failure.
///
/// Visible to the package so that tests can hold both implementations against each other.
package enum SodiumFallback {
    /// The SHA-256 hash of the bytes.
    package static func sha256(_ bytes: Span<UInt8>) -> Digest {
        let block = unsafe bytes.withUnsafeBufferPointer { input in
            Block32 { output in
                unsafe crypto_hash_sha256(output, input.baseAddress, UInt64(input.count)) == 0
            }
        }
        return Digest(checked(block))
    }

    /// The HMAC-SHA256 code of the message under a key of any length.
    package static func hmacSHA256(_ message: Span<UInt8>, key: [UInt8]) -> Digest {
        var state = crypto_auth_hmacsha256_state()
        let block = unsafe message.withUnsafeBufferPointer { input in
            Block32 { output in
                unsafe crypto_auth_hmacsha256_init(&state, key, key.count) == 0
                    && crypto_auth_hmacsha256_update(&state, input.baseAddress, UInt64(input.count)) == 0
                    && crypto_auth_hmacsha256_final(&state, output) == 0
            }
        }
        return Digest(checked(block))
    }

    private static func checked(_ block: Block32?) -> Block32 {
        guard let block else { Sodium.stop("libsodium could not hash") }
        return block
    }
}
