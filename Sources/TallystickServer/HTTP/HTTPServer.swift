import CMicroHTTPD
import Dispatch
import Glibc
import Synchronization

/// An HTTP/1.1 server, with a thread for every connection.
///
/// Each connection has its own thread, so a handler may block: it delays the requests of its own connection and no
/// others. Nothing here is known of what is served.
@safe package final class HTTPServer: Sendable {
    private let address: String
    private let requestedPort: Int
    private let limits: HTTPLimits
    private let tls: (certificatePEM: String, keyPEM: String)?
    private let core: HTTPServerCore
    private let daemon = Mutex<Running>(Running())
    /// Apart from `daemon`, whose lock is held while stopping: a handler may ask for the port even then.
    private let boundPort = Atomic<Int>(0)

    /// Creates a server that does not listen yet.
    ///
    /// - Parameters:
    ///   - address: A numeric IPv4 or IPv6 address of this machine; `0.0.0.0` for every IPv4 address, `::` for all.
    ///   - port: The port, or 0 for a free one; see ``port``.
    ///   - limits: What is taken from clients.
    ///   - tls: The certificate chain and the private key, as PEM; nil for plain HTTP. TLS 1.2 and 1.3 are spoken.
    ///   - log: Gets a line for each answer of 500 and more that this layer makes by itself.
    ///   - handler: Answers a request. It runs on the threads of the library, on many at once, and may block.
    package init(
        address: String,
        port: Int,
        limits: HTTPLimits = HTTPLimits(),
        tls: (certificatePEM: String, keyPEM: String)? = nil,
        log: @escaping @Sendable (String) -> Void = { _ in },
        handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) {
        self.address = address
        requestedPort = port
        self.limits = limits
        self.tls = tls
        core = HTTPServerCore(limits: limits, log: log, handler: handler)
    }

    deinit {
        stop()
    }

    /// The port it listens on; 0 before ``start()``.
    package var port: Int {
        boundPort.load(ordering: .acquiring)
    }

    /// The number of requests begun and not yet ended, for metrics.
    package var openRequests: Int {
        core.openRequests.load(ordering: .relaxed)
    }

    /// Starts to listen and to answer, and returns.
    ///
    /// It also has the whole process ignore SIGPIPE: a client that goes away while it is being written to must not
    /// end the server.
    ///
    /// - Throws: ``HTTPError/Code/addressInUse``, ``HTTPError/Code/badAddress``, ``HTTPError/Code/notPermitted``,
    ///   ``HTTPError/Code/badCertificate``, ``HTTPError/Code/alreadyStarted``.
    package func start() throws(HTTPError) {
        guard let port = UInt16(exactly: requestedPort), !address.utf8.contains(0) else {
            throw HTTPError(.badAddress, "expected an address and a port from 0 to 65535, got port \(requestedPort)")
        }
        try daemon.withLock { running throws(HTTPError) in
            guard !running.wasStarted else {
                throw HTTPError(.alreadyStarted, "expected a server that was never started")
            }
            _ = signal(SIGPIPE, SIG_IGN)
            // The library keeps this pointer until `stop`, which gives the reference back.
            let context = unsafe Unmanaged.passRetained(core)
            var failure: Int32 = 0
            guard let handle = unsafe open(port, context.toOpaque(), &failure) else {
                unsafe context.release()
                throw startError(failure)
            }
            unsafe running.handle = handle
            unsafe running.context = context
            running.wasStarted = true
            boundPort.store(unsafe Int(tally_http_port(handle)), ordering: .releasing)
        }
    }

    /// Stops listening, lets the requests in hand be answered, closes all connections and returns.
    ///
    /// Requests that come meanwhile on open connections are answered 503. It waits for handlers, so whoever makes
    /// them block must let go first; and it must not be called from a handler. Calling it again does nothing.
    package func stop() {
        daemon.withLock { running in
            guard let handle = unsafe running.handle, let context = unsafe running.context else { return }
            let listener = unsafe MHD_quiesce_daemon(handle)
            core.drain()
            unsafe MHD_stop_daemon(handle)  // joins every thread
            if listener >= 0 {
                // The library gave the socket back with `quiesce`. Closing can only report what is closed anyway.
                _ = close(listener)
            }
            unsafe context.release()
            unsafe running.handle = nil
            unsafe running.context = nil
        }
    }

    private func open(_ port: UInt16, _ context: UnsafeMutableRawPointer, _ failure: inout Int32) -> OpaquePointer? {
        func start(_ certificate: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?) -> OpaquePointer? {
            unsafe tally_http_start(
                address,
                port,
                handleRequest,
                beginRequest,
                endRequest,
                context,
                UInt32(clamping: limits.connections),
                UInt32(clamping: limits.connectionsPerAddress),
                UInt32(clamping: limits.headSeconds),
                max(1_024, limits.headerBytes),
                certificate,
                key,
                &failure
            )
        }
        guard let tls else { return unsafe start(nil, nil) }
        return unsafe tls.certificatePEM.withCString { certificate in
            unsafe tls.keyPEM.withCString { key in unsafe start(certificate, key) }
        }
    }

    private func startError(_ failure: Int32) -> HTTPError {
        let place = "\(address) port \(requestedPort)"
        switch failure {
        case EADDRINUSE:
            return HTTPError(.addressInUse, "expected a free port, got one in use: \(place)")
        case TALLY_HTTP_BAD_ADDRESS, EADDRNOTAVAIL, EAFNOSUPPORT:
            return HTTPError(.badAddress, "expected a numeric IP address of this machine, got \(address)")
        case EACCES, EPERM:
            return HTTPError(.notPermitted, "expected a port this user may listen on, got \(place)")
        default:
            guard tls == nil else {
                return HTTPError(.badCertificate, "expected a certificate chain and its key as PEM, got others")
            }
            return HTTPError(.other, "could not listen on \(place): system error \(failure)")
        }
    }
}

/// What a server that runs has to give back.
@safe private struct Running {
    var handle: OpaquePointer?
    var context: Unmanaged<HTTPServerCore>?
    var wasStarted = false
}
