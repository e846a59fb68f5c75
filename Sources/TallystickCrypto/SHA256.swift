/// SHA-256 of FIPS 180-4.
public enum SHA256 {
    /// The hash of the bytes.
    ///
    /// OpenSSL computes it, because that uses the processor's SHA instructions. Should OpenSSL fail, which only
    /// a broken installation or exhausted memory can cause, libsodium computes the same value more slowly:
    /// it neither allocates nor fails, so hashing always answers and callers need no error path.
    public static func hash(_ bytes: [UInt8]) -> Digest {
        hash(bytes.span)
    }

    /// The hash of the bytes of a slice, without copying it.
    public static func hash(_ bytes: ArraySlice<UInt8>) -> Digest {
        hash(bytes.span)
    }

    static func hash(_ bytes: Span<UInt8>) -> Digest {
        OpenSSL.sha256(bytes) ?? SodiumFallback.sha256(bytes)
    }

    /// The hash of bytes that come in pieces, such as those of a file.
    ///
    /// One owner feeds it and ends it. An OpenSSL failure cannot be repaired half-way, so it is kept and thrown
    /// by `finalize`; no input can cause one.
    public struct Hasher: ~Copyable, Sendable {
        private var context: OpenSSLDigestContext?
        private var failure: CryptoError?

        /// Starts with no bytes.
        public init() {
            do throws(CryptoError) {
                context = try OpenSSLDigestContext()
            } catch {
                context = nil
                failure = error
            }
        }

        /// Adds the bytes at the end.
        public mutating func update(_ bytes: [UInt8]) {
            update(bytes.span)
        }

        /// Adds the bytes of a slice at the end, without copying it.
        public mutating func update(_ bytes: ArraySlice<UInt8>) {
            update(bytes.span)
        }

        /// The hash of all bytes added; throws `libraryFailed` if OpenSSL failed at any step.
        public consuming func finalize() throws(CryptoError) -> Digest {
            if let failure { throw failure }
            guard let context = context.take() else {
                throw CryptoError(.libraryFailed, "expected a started SHA-256, but there is none")
            }
            return try context.finalize()
        }

        private mutating func update(_ bytes: Span<UInt8>) {
            guard failure == nil else { return }
            do throws(CryptoError) {
                try context?.update(bytes)
            } catch {
                failure = error
            }
        }
    }
}
