import Foundation
import Schemes
import Synchronization
package import Tallystick
import TallystickCrypto

/// The server: routes over a store, and the HTTP server that they are reached by.
package final class Server: Sendable {
    let store: ServerStore
    let clock: @Sendable () -> Timestamp
    let sessions = Mutex(Sessions())
    private let log: @Sendable (String) -> Void
    private let http = Mutex<HTTPServer?>(nil)
    /// The devices whose revocation has been logged, or was known before.
    private let revoked: Mutex<Set<DeviceID>>

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
    ///   - log: Gets a line, without time and line feed, for every answer of 500 and more, every start, stop and
    ///     enrolment, and every revocation taken note of. No line tells a token, a key, a code or what an event says.
    ///     It is called on many threads.
    package init(
        store: ServerStore,
        clock: @escaping @Sendable () -> Timestamp,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.store = store
        self.clock = clock
        self.log = { line in log(Plain.line(line)) }
        revoked = Mutex(Set(store.revokedDevices.keys))
    }

    /// Listens, and returns.
    ///
    /// - Parameters:
    ///   - address: A numeric address of this machine.
    ///   - port: The port, or 0 for a free one; see ``port``.
    ///   - tls: The files for TLS; nil for plain HTTP.
    ///   - limits: What is taken from clients.
    /// - Throws: `HTTPError`; an error of Foundation's where a file cannot be read.
    package func start(address: String, port: Int, tls: TLSFiles? = nil, limits: HTTPLimits = HTTPLimits()) throws {
        let texts = try tls.map { files in
            (
                certificatePEM: try String(contentsOf: URL(filePath: files.certificate), encoding: .utf8),
                keyPEM: try String(contentsOf: URL(filePath: files.key), encoding: .utf8)
            )
        }
        let log = log
        let server = HTTPServer(
            address: address,
            port: port,
            limits: limits,
            tls: texts,
            log: { line in log(line) },
            handler: { [weak self] request in self?.respond(to: request) ?? HTTPResponse(status: 503) }
        )
        try http.withLock { http in
            guard http == nil else {
                throw HTTPError(.alreadyStarted, "expected a server that does not listen yet")
            }
            try server.start()
            http = server
        }
        let standing = store.standing(at: clock())
        log(
            "started on \(address) port \(server.port) over \(tls == nil ? "HTTP" : "HTTPS"), epoch \(store.epoch), "
                + "log at position \(standing.position)"
        )
        for scheme in store.passedOver {
            log(
                "the scheme \(scheme.id) version \(scheme.version) that ships with this program is not used: another "
                    + "is known under its name and version"
            )
        }
        if standing.ahead > 0 {
            log(
                "the clock is \(standing.ahead) ms behind the newest time in the log, which stands for the time of "
                    + "arrivals until the clock has caught up"
            )
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
        guard let running else { return }
        running.stop()
        log("stopped")
    }

    // MARK: Routes

    /// Answers a request; every failure is problem details.
    package func respond(to request: HTTPRequest) -> HTTPResponse {
        do {
            return try route(request)
        } catch {
            let problem = Problem(error)
            if problem.status >= 500 {
                log("\(problem.status) \(problem.code) for \(Server.name(of: request)): \(Problem.cause(of: error))")
            }
            return problem.response
        }
    }

    /// The method and the path, without a query.
    private static func name(of request: HTTPRequest) -> String {
        "\(request.method) /\(request.path.joined(separator: "/"))"
    }

    // MARK: What is logged

    func logEnrolment(of certificate: Certificate) {
        log("enrolled device \(certificate.device) of “\(certificate.partyName)” (party \(certificate.party))")
    }

    /// Says that a line was put off because its rows could not be written.
    func logFailure(_ error: any Error) {
        log("a line of a push was put off: \(Problem.cause(of: error))")
    }

    /// Says of each revoked device once that it is.
    func logRevocations() {
        let known = store.revokedDevices
        let new = revoked.withLock { revoked -> [DeviceID] in
            guard known.count > revoked.count else { return [] }
            defer { revoked.formUnion(known.keys) }
            return known.keys.filter { !revoked.contains($0) }.sorted { $0.description < $1.description }
        }
        for device in new { log("device \(device) is revoked: its events are refused from here on") }
    }

    /// The same of one device, whose revocation by another process the writer may not know yet.
    func logRevocation(of device: DeviceID) {
        guard revoked.withLock({ $0.insert(device).inserted }) else { return }
        log("device \(device) is revoked: its events are refused from here on")
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
            return try answer(try about())
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
        case "schemes" where path.count <= 3: return try schemes(request)
        default: throw Problem.notFound
        }
    }

    func allow(_ methods: String..., for request: HTTPRequest) throws(Problem) {
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

    private func about() throws -> JSON {
        let limits = store.limits
        return .members([
            ("authority", .string(Base64.encode(store.authority.bytes))),
            ("epoch", .string(try store.readEpoch())),
            (
                "limits",
                .members([
                    ("eventBytes", .integer(limits.eventBytes)), ("pushBytes", .integer(limits.pushBytes)),
                    ("pushEvents", .integer(limits.pushEvents)),
                    ("refusedPerOutsider", .integer(limits.refusedPerOutsider)),
                    ("waitingPerDevice", .integer(limits.waitingPerDevice)),
                ])
            ),
            ("now", .string(clock().description)),
            ("origin", .string(store.origin)),
            ("schemes", .array(try store.schemeReferences().map(\.json))),
            ("versions", .array([.integer(1)])),
        ])
    }
}
