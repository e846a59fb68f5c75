import Foundation
import Synchronization
package import Tallystick
import TallystickCrypto

/// The server: routes over a store, and the HTTP server that they are reached by.
package final class Server: Sendable {
    let store: ServerStore
    let clock: @Sendable () -> Timestamp
    let sessions = Mutex(Sessions())
    private let http = Mutex<HTTPServer?>(nil)

    /// The certificate chain and the key that TLS is spoken with, as PEM files.
    package struct TLSFiles: Sendable {
        /// The path of the certificate, with those between it and the root.
        package let certificate: String
        /// The path of the private key.
        package let key: String

        /// Names the files.
        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// Creates a server that does not listen yet; ``respond(to:)`` answers without listening.
    ///
    /// - Parameters:
    ///   - store: What it serves.
    ///   - clock: Tells the time.
    package init(store: ServerStore, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.clock = clock
    }

    /// Listens, and returns.
    ///
    /// - Parameters:
    ///   - address: A numeric address of this machine.
    ///   - port: The port, or 0 for a free one; see ``port``.
    ///   - tls: The files for TLS; nil for plain HTTP.
    /// - Throws: `HTTPError`; an error of Foundation's where a file cannot be read.
    package func start(address: String, port: Int, tls: TLSFiles? = nil) throws {
        let texts = try tls.map { files in
            (
                certificatePEM: try String(contentsOf: URL(filePath: files.certificate), encoding: .utf8),
                keyPEM: try String(contentsOf: URL(filePath: files.key), encoding: .utf8)
            )
        }
        let server = HTTPServer(address: address, port: port, tls: texts) { [weak self] request in
            self?.respond(to: request) ?? HTTPResponse(status: 503)
        }
        try http.withLock { http in
            guard http == nil else {
                throw HTTPError(.alreadyStarted, "expected a server that does not listen yet")
            }
            try server.start()
            http = server
        }
    }

    /// The port it listens on; nil where it does not.
    package var port: Int? { http.withLock { $0 }?.port }

    /// Lets the requests in hand be answered, closes all connections and returns.
    package func stop() {
        let running = http.withLock { http in
            defer { http = nil }
            return http
        }
        running?.stop()
    }

    // MARK: Routes

    /// Answers a request; every failure is problem details.
    package func respond(to request: HTTPRequest) -> HTTPResponse {
        do {
            return try route(request)
        } catch {
            return Problem(error).response
        }
    }

    private func route(_ request: HTTPRequest) throws -> HTTPResponse {
        let path = request.path
        guard path.first == "v1" else { throw Problem.notFound }
        switch path.dropFirst().first {
        case "health" where path.count == 2:
            try allow("GET", request)
            return try answer(.members([("status", .string("ok"))]))
        case "server" where path.count == 2:
            try allow("GET", request)
            return try answer(about())
        case "enrol" where path.count == 2:
            try allow("POST", request)
            return try answer(try enrol(try body(request)), status: 201)
        case "session" where path.count == 2:
            try allow("POST", request)
            return try answer(try session(try body(request)))
        case "events" where path.count == 2:
            try allow("GET", "POST", request)
            return request.method == "POST" ? try push(request) : try pull(request)
        case "chains" where path.count <= 4: return try chains(request)
        case "refusals" where path.count == 2:
            try allow("GET", request)
            return try answer(try store.refusals(of: try reader(request).party))
        default: throw Problem.notFound
        }
    }

    private func allow(_ methods: String..., for request: HTTPRequest) throws(Problem) {
        if methods.contains(where: { sameBytes($0, request.method) }) { return }
        if sameBytes(request.method, "HEAD"), methods.contains("GET") { return }
        var problem = Problem(
            405,
            "method-not-allowed",
            "Method not allowed",
            "expected \(methods.joined(separator: " or "))"
        )
        problem.headers = ["Allow": methods.joined(separator: ", ")]
        throw problem
    }

    private func allow(_ method: String, _ request: HTTPRequest) throws(Problem) { try allow(method, for: request) }

    private func allow(_ one: String, _ other: String, _ request: HTTPRequest) throws(Problem) {
        try allow(one, other, for: request)
    }

    func answer(_ json: JSON, status: Int = 200) throws -> HTTPResponse {
        answer(bytes: try json.canonicalBytes(), type: "application/json", status: status)
    }

    func answer(bytes: [UInt8], type: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, headers: ["Content-Type": type, "Cache-Control": "no-store"], body: bytes)
    }

    private func body(_ request: HTTPRequest) throws(Problem) -> JSON {
        guard request.body.count <= store.limits.eventBytes else {
            throw Problem(413, "too-large", "Too large", "expected at most \(store.limits.eventBytes) bytes")
        }
        do {
            return try JSON.parse(request.body)
        } catch {
            throw .badRequest("expected JSON: \(error.message)")
        }
    }

    // MARK: What anyone may ask

    private func about() -> JSON {
        let limits = store.limits
        let schemes = store.schemes.map { scheme in
            JSON.members([
                ("hash", .string(scheme.reference.hash.hex)), ("id", .string(scheme.reference.id.text)),
                ("version", .integer(scheme.reference.version)),
            ])
        }
        return .members([
            ("authority", .string(Base64.encode(store.authority.bytes))),
            ("epoch", .string(store.epoch)),
            (
                "limits",
                .members([
                    ("eventBytes", .integer(limits.eventBytes)), ("pushBytes", .integer(limits.pushBytes)),
                    ("pushEvents", .integer(limits.pushEvents)),
                    ("waitingPerDevice", .integer(limits.waitingPerDevice)),
                ])
            ),
            ("now", .string(clock().description)),
            ("origin", .string(store.origin)),
            ("schemes", .array(schemes)),
            ("versions", .array([.integer(1)])),
        ])
    }
}
