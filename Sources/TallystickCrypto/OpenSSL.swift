import COpenSSL

// Every OpenSSL call of the package. Functions answer nil where OpenSSL fails, which no input can cause: only
// memory running out, or a configuration file that takes the default provider away.

/// OpenSSL's implementations of SHA-256 and HMAC.
enum OpenSSL {
    static func sha256(_ bytes: Span<UInt8>) -> Digest? {
        guard let algorithm = unsafe FetchedDigest.sha256.pointer else { return nil }
        let block = unsafe bytes.withUnsafeBufferPointer { input in
            Block32 { output in
                var size: UInt32 = 0
                let code = unsafe EVP_Digest(input.baseAddress, input.count, output, &size, algorithm, nil)
                return code == 1 && size == 32
            }
        }
        guard let block else {
            ERR_clear_error()
            return nil
        }
        return Digest(block)
    }

    static func hmacSHA256(_ message: Span<UInt8>, key: Span<UInt8>) -> Digest? {
        guard let algorithm = unsafe FetchedDigest.sha256.pointer, let keyCount = Int32(exactly: key.count) else {
            return nil
        }
        let block = unsafe message.withUnsafeBufferPointer { input in
            unsafe key.withUnsafeBufferPointer { key in
                Block32 { output in
                    var size: UInt32 = 0
                    let result = unsafe HMAC(
                        algorithm,
                        key.baseAddress,
                        keyCount,
                        input.baseAddress,
                        input.count,
                        output,
                        &size
                    )
                    return unsafe result != nil && size == 32
                }
            }
        }
        guard let block else {
            ERR_clear_error()
            return nil
        }
        return Digest(block)
    }

    /// The newest reason in this thread's error queue, which is then emptied.
    static func takeReason() -> String {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        guard let text = unsafe ERR_reason_error_string(code) else { return "no reason given" }
        return unsafe String(cString: text)
    }
}

/// An incremental SHA-256 computation in OpenSSL, owned by one holder.
///
/// `@unchecked Sendable`: the context is reachable only through its one owner, and OpenSSL ties it to no thread.
@safe struct OpenSSLDigestContext: ~Copyable, @unchecked Sendable {
    private let context: OpaquePointer

    init() throws(CryptoError) {
        guard let algorithm = unsafe FetchedDigest.sha256.pointer else {
            throw CryptoError(.libraryFailed, "expected OpenSSL to offer SHA-256, but it has no such digest")
        }
        guard let context = unsafe EVP_MD_CTX_new() else {
            throw CryptoError(.libraryFailed, "could not start SHA-256 in OpenSSL: \(OpenSSL.takeReason())")
        }
        guard unsafe EVP_DigestInit_ex2(context, algorithm, nil) == 1 else {
            unsafe EVP_MD_CTX_free(context)
            throw CryptoError(.libraryFailed, "could not start SHA-256 in OpenSSL: \(OpenSSL.takeReason())")
        }
        unsafe self.context = context  // last: throwing after this line would run deinit
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    mutating func update(_ bytes: Span<UInt8>) throws(CryptoError) {
        let code = unsafe bytes.withUnsafeBufferPointer { input in
            unsafe EVP_DigestUpdate(context, input.baseAddress, input.count)
        }
        guard code == 1 else {
            throw CryptoError(.libraryFailed, "could not continue SHA-256 in OpenSSL: \(OpenSSL.takeReason())")
        }
    }

    consuming func finalize() throws(CryptoError) -> Digest {
        let block = Block32 { output in
            var size: UInt32 = 0
            return unsafe EVP_DigestFinal_ex(context, output, &size) == 1 && size == 32
        }
        guard let block else {
            throw CryptoError(.libraryFailed, "could not finish SHA-256 in OpenSSL: \(OpenSSL.takeReason())")
        }
        return Digest(block)
    }
}

/// The digest algorithm, looked up once: OpenSSL 3 would search its providers again at each call by name.
///
/// `@unchecked Sendable`: a fetched `EVP_MD` is never changed and may be used from any thread
/// (openssl-threads(7)). It lives as long as the process, so it is never freed.
@safe private struct FetchedDigest: @unchecked Sendable {
    let pointer: OpaquePointer?

    static let sha256 = FetchedDigest()

    private init() {
        unsafe pointer = EVP_MD_fetch(nil, "SHA256", nil)
        if unsafe pointer == nil { ERR_clear_error() }
    }
}
