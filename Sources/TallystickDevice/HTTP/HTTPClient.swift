import CCurl
import Glibc
import Synchronization

/// An HTTP client that keeps its connection between calls.
///
/// Calls block the thread they are made on, and one client makes one call at a time. Redirects are not followed: what
/// is sent is signed for one server and carries its token, and a redirect is an answer like any other.
package final class HTTPClient: Sendable {
    private let limits: Limits
    private let userAgent: String
    private let authorityPEM: String?
    private let handle: Mutex<CurlHandle>

    /// What a client takes from servers, and how long it waits for them.
    package struct Limits: Sendable {
        /// The largest body of an answer, in bytes.
        package var bodyBytes = 64 << 20
        /// All header fields of an answer together, in bytes.
        package var headerBytes = 64 << 10
        /// How long to wait for a connection, in seconds; the time-out of the call is the other bound.
        package var connectSeconds = 15

        /// The defaults.
        package init() {}
    }

    /// Creates a client.
    ///
    /// Proxies come from the environment, as curl reads it (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`),
    /// except that this machine is always reached directly.
    ///
    /// - Parameters:
    ///   - userAgent: Sent with each request, such as `tally/1.0`.
    ///   - authorityPEM: The certificates trusted to sign the server's, as PEM; nil for those of the system.
    ///   - limits: What is taken from servers.
    /// - Throws: ``HTTPClientError/Code/other`` where libcurl cannot be set up.
    package init(
        userAgent: String = "tally/1.0",
        authorityPEM: String? = nil,
        limits: Limits = Limits()
    ) throws(HTTPClientError) {
        guard curlSetUp == CURLE_OK else { throw HTTPClientError(.other, "libcurl could not be set up") }
        self.userAgent = userAgent
        self.authorityPEM = authorityPEM
        self.limits = limits
        handle = Mutex(try CurlHandle())
    }

    /// Sends a request and waits for the whole answer.
    ///
    /// - Parameters:
    ///   - method: The method, in capitals.
    ///   - url: An http or https URL, sent as it is: dots in its path are not resolved.
    ///   - headers: Header fields to send. There is no `Content-Type` unless it is among them.
    ///   - body: The body; nil for none.
    ///   - timeout: The longest the call may take, in seconds, all told; at least 1.
    /// - Returns: The answer, of whatever status.
    /// - Throws: ``HTTPClientError``.
    package func send(
        method: String,
        url: String,
        headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil,
        timeout: Int = 30
    ) throws(HTTPClientError) -> HTTPReply {
        guard Self.isURL(url) else { throw HTTPClientError(.badURL, "expected an http or https URL") }
        guard !method.isEmpty, method.utf8.allSatisfy(Self.isTokenByte) else {
            throw HTTPClientError(.badRequest, "expected a method of letters")
        }
        for (name, value) in headers {
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte),
                value.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7f) })
            else { throw HTTPClientError(.badRequest, "expected header fields of one line each") }
        }
        return try handle.withLock { handle throws(HTTPClientError) in
            handle.clear()
            // Afterwards too, so that no pointer to this call's values stays behind.
            defer { handle.clear() }
            try configure(&handle, method: method, url: url, headers: headers, hasBody: body != nil, timeout: timeout)
            let reception = Reception(bodyLimit: limits.bodyBytes, headerLimit: limits.headerBytes)
            let (code, status) = try handle.perform(body: body, into: reception)
            guard code == CURLE_OK else {
                let reason = handle.message(for: code)
                throw Self.error(code, reason, isTooLarge: reception.isTooLarge)
            }
            return HTTPReply(status: status, headers: reception.headers, body: reception.body)
        }
    }

    private func configure(
        _ handle: inout CurlHandle,
        method: String,
        url: String,
        headers: [(name: String, value: String)],
        hasBody: Bool,
        timeout: Int
    ) throws(HTTPClientError) {
        try handle.set(CURLOPT_URL, url)
        try handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try handle.set(CURLOPT_FOLLOWLOCATION, 0)
        try handle.set(CURLOPT_PATH_AS_IS, 1)
        try handle.set(CURLOPT_USERAGENT, userAgent)
        // Without it curl times name look-ups with SIGALRM, which a process with threads cannot afford.
        try handle.set(CURLOPT_NOSIGNAL, 1)
        try handle.set(CURLOPT_TIMEOUT_MS, Self.milliseconds(timeout))
        try handle.set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(limits.connectSeconds))
        try handle.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try handle.set(CURLOPT_NOPROXY, Self.directHosts)
        if let authorityPEM { try handle.setAuthority(authorityPEM) }
        var lines: [String] = []
        if hasBody {
            try handle.set(CURLOPT_POST, 1)
            // curl would call the body a form.
            if !headers.contains(where: { $0.name.lowercased() == "content-type" }) { lines.append("Content-Type:") }
        } else if method == "HEAD" {
            try handle.set(CURLOPT_NOBODY, 1)
        } else {
            try handle.set(CURLOPT_HTTPGET, 1)
        }
        try handle.set(CURLOPT_CUSTOMREQUEST, method)
        // In curl's list a name with a colon and nothing after it removes a field; a semicolon sends it empty.
        lines += headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        try handle.setHeaders(lines)
    }

    /// The hosts reached without a proxy: this machine, and those the environment names.
    private static var directHosts: String {
        let own = "localhost,127.0.0.1,::1"
        for name in ["no_proxy", "NO_PROXY"] {
            // The option replaces what curl would read here, so it is read and kept.
            guard let value = unsafe getenv(name).map({ unsafe String(cString: $0) }), !value.isEmpty else { continue }
            return value == "*" ? value : own + "," + value
        }
        return own
    }

    private static func milliseconds(_ seconds: Int) -> Int {
        // Zero would mean no limit at all. The upper bound, a month, fits curl's arithmetic.
        min(max(seconds, 1), 30 * 86_400) * 1_000
    }

    private static func isURL(_ text: String) -> Bool {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return false }
        for scheme in ["http://", "https://"] where text.lowercased().hasPrefix(scheme) {
            // curl forgives a third slash and takes the path for the host.
            return text.dropFirst(scheme.count).first.map { !"/?#".contains($0) } ?? false
        }
        return false
    }

    /// Says whether a byte may stand in a method or a field name (RFC 9110, section 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private static func error(_ code: CURLcode, _ reason: String, isTooLarge: Bool) -> HTTPClientError {
        switch code {
        case CURLE_WRITE_ERROR where isTooLarge:
            HTTPClientError(.tooLarge, "the answer is larger than the limit")
        case CURLE_URL_MALFORMAT:
            HTTPClientError(.badURL, "expected an http or https URL: \(reason)")
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CIPHER,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CLIENTCERT:
            HTTPClientError(.tls, "expected a trusted TLS connection: \(reason)")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2,
            CURLE_HTTP2_STREAM, CURLE_WRITE_ERROR:
            HTTPClientError(.badResponse, "expected an answer in HTTP: \(reason)")
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT:
            HTTPClientError(.other, "libcurl failed: \(reason)")
        default:
            HTTPClientError(.unreachable, reason)
        }
    }
}
