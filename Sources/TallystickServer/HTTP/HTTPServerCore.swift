import CMicroHTTPD
import Dispatch
import Synchronization

/// What the callbacks of a server share.
@safe final class HTTPServerCore: Sendable {
    private let limits: HTTPLimits
    private let log: @Sendable (String) -> Void
    private let handler: @Sendable (HTTPRequest) -> HTTPResponse
    private let load = Mutex(Load())
    private let idle = DispatchSemaphore(value: 0)
    let openRequests = Atomic<Int>(0)

    /// What is going on.
    private struct Load {
        /// The requests given to the handler and not yet sent.
        var inHand = 0
        var isStopping = false
    }

    init(
        limits: HTTPLimits,
        log: @escaping @Sendable (String) -> Void,
        handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) {
        self.limits = limits
        self.log = log
        self.handler = handler
    }

    /// Refuses what comes from now on, and waits for what is in hand.
    func drain() {
        let mustWait = load.withLock { load in
            load.isStopping = true
            return load.inHand > 0
        }
        if mustWait { idle.wait() }
    }

    /// Counts a request that is given to the handler; false where the server is stopping.
    private func admit() -> Bool {
        load.withLock { load in
            guard !load.isStopping else { return false }
            load.inHand += 1
            return true
        }
    }

    /// Takes note that a request ended.
    func finish(_ exchange: HTTPExchange) {
        guard exchange.isInHand else { return }
        let isLast = load.withLock { load in
            load.inHand -= 1
            return load.isStopping && load.inHand == 0
        }
        if isLast { idle.signal() }
    }

    /// Waits for the next head no longer than for any.
    func awaitHead(on connection: OpaquePointer) {
        unsafe allow(limits.headSeconds, on: connection)
    }

    /// Sets after how many seconds without traffic the connection is closed.
    private func allow(_ seconds: Int, on connection: OpaquePointer) {
        // Where it fails, the time that was set before goes on to hold: there is nothing to undo.
        _ = unsafe tally_http_timeout(connection, UInt32(clamping: seconds))
    }

    // MARK: One request

    /// Reads the header fields and says whether to go on; called once, before the body.
    func open(_ exchange: HTTPExchange, method: String?, _ connection: OpaquePointer) -> MHD_Result {
        unsafe allow(limits.idleSeconds, on: connection)
        unsafe exchange.readHead(method: method, connection)
        let declared = exchange.headers["Content-Length"]
        guard exchange.headers["Transfer-Encoding"] == nil || declared == nil else {
            // Two proxies may take two different ends for that of this request (RFC 9112, section 6.3).
            let problem = HTTPResponse.problem(400, "Bad Request", detail: "expected one way to tell the length")
            return unsafe send(problem, closing: true, on: connection)
        }
        guard let declared = declared.flatMap(Int.init), declared > limits.bodyBytes else { return .YES }
        // A client that waits for `100 Continue` has sent nothing yet and reads the answer at once. Another is
        // sending, and would see its connection reset and not the answer, were the body not read first.
        if exchange.headers["Expect"] != nil || declared > drainedBytes {
            return unsafe send(tooLarge, closing: true, on: connection)
        }
        return .YES
    }

    /// Takes a piece of the body.
    func receive(_ exchange: HTTPExchange, _ bytes: UnsafeRawBufferPointer) -> MHD_Result {
        unsafe exchange.receive(bytes, limit: limits.bodyBytes)
        return exchange.receivedBytes > drainedBytes ? .NO : .YES
    }

    /// Answers a request that was read to its end.
    func answer(_ exchange: HTTPExchange, on connection: OpaquePointer) -> MHD_Result {
        guard exchange.receivedBytes <= limits.bodyBytes else {
            return unsafe send(tooLarge, closing: false, on: connection)
        }
        let request: HTTPRequest
        do throws(HTTPError) {
            request = try exchange.request()
        } catch {
            let problem = HTTPResponse.problem(400, "Bad Request", detail: error.message)
            return unsafe send(problem, closing: false, on: connection)
        }
        guard admit() else {
            log("503 for a request that came while the server stops")
            let problem = HTTPResponse.problem(503, "Service Unavailable", detail: "the server is stopping")
            return unsafe send(problem, closing: true, on: connection)
        }
        exchange.isInHand = true
        return unsafe send(handler(request), closing: false, on: connection)
    }

    // MARK: Answers

    /// How much of a body that is too large is read and dropped, so that its sender gets to read the answer.
    private var drainedBytes: Int {
        let (bytes, overflow) = limits.bodyBytes.multipliedReportingOverflow(by: 4)
        return overflow ? .max : bytes
    }

    private var tooLarge: HTTPResponse {
        .problem(413, "Content Too Large", detail: "expected at most \(limits.bodyBytes) bytes")
    }

    private func send(_ response: HTTPResponse, closing: Bool, on connection: OpaquePointer) -> MHD_Result {
        guard (200...599).contains(response.status), let status = UInt32(exactly: response.status),
            let message = unsafe message(response, closing: closing)
        else {
            log("500 for an answer of status \(response.status) that could not be sent")
            let problem = HTTPResponse.problem(500, "Internal Server Error", detail: "the answer could not be sent")
            guard let message = unsafe message(problem, closing: closing) else { return .NO }
            defer { unsafe MHD_destroy_response(message) }
            return unsafe MHD_queue_response(connection, 500, message)
        }
        // Queueing keeps a reference of its own.
        defer { unsafe MHD_destroy_response(message) }
        return unsafe MHD_queue_response(connection, status, message)
    }

    /// Makes a response of the library, or nil where a header field is not one (a line break in it would let a value
    /// write fields of its own).
    private func message(_ response: HTTPResponse, closing: Bool) -> OpaquePointer? {
        let created = unsafe response.body.withUnsafeBytes { bytes in
            unsafe tally_http_response(bytes.baseAddress, bytes.count)
        }
        guard let message = unsafe created else { return nil }
        var fields = response.headers.fields.filter { field in
            !Self.ownFields.contains { HTTPHeaders.isSame($0, field.name) }
        }
        if closing { fields.append(HTTPHeaders.Field(name: "Connection", value: "close")) }
        for field in fields {
            let isWhole = !field.name.utf8.contains(0) && !field.value.utf8.contains { $0 < 0x20 && $0 != 0x09 }
            // An empty value is legal, but the library takes none; leaving the field out says the same.
            if isWhole, field.value.isEmpty { continue }
            guard isWhole, unsafe MHD_add_response_header(message, field.name, field.value) == .YES else {
                unsafe MHD_destroy_response(message)
                return nil
            }
        }
        return unsafe message
    }

    private static let ownFields = ["Content-Length", "Transfer-Encoding", "Connection", "Date"]
}
