import Dispatch
import Synchronization
import TallystickServer
import Testing

@testable import TallystickDevice

struct HTTPClientTests {
    private func serving(_ handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse) throws -> HTTPServer {
        let server = HTTPServer(address: "127.0.0.1", port: 0, handler: handler)
        try server.start()
        return server
    }

    private func failure(_ url: String, method: String = "GET", timeout: Int = 30) throws -> HTTPClientError? {
        let client = try HTTPClient()
        return #expect(throws: HTTPClientError.self) { try client.send(method: method, url: url, timeout: timeout) }
    }

    @Test func saysUnreachableWhereNothingListens() throws {
        try RawConnection.withClosedPort { port in
            let error = try failure("http://127.0.0.1:\(port)/secret?token=1")
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("token") == false)
        }
    }

    @Test func saysUnreachableWhereTheNameIsUnknown() throws {
        // `.invalid` never resolves (RFC 6761, section 6.4).
        #expect(try failure("http://tally.invalid/")?.code == .unreachable)
    }

    @Test func saysUnreachableWhenTheServerStaysSilent() throws {
        let release = DispatchSemaphore(value: 0)
        let server = try serving { _ in
            release.wait()
            return HTTPResponse(status: 200)
        }
        #expect(try failure("http://127.0.0.1:\(server.port)/", timeout: 1)?.code == .unreachable)
        release.signal()
        server.stop()
    }

    @Test(arguments: [
        "", "x", "127.0.0.1", "ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/", "http://", "http:///x",
        "https://?a", "http:/x",
        "http://127.0.0.1:99999/", "http://a b/", "http://127.0.0.1/\r\nX-Evil: 1", "http://127.0.0.1/\0",
        "http://[::1/",
        "https://\u{e9}.invalid/", "http://127.0.0.1:x/",
    ])
    func refusesWhatIsNoWebAddress(_ url: String) throws {
        #expect(try failure(url)?.code == .badURL)
    }

    @Test(arguments: [
        ("GET\r\n", "X-A", "b"), ("", "X-A", "b"), ("GET", "X A", "b"), ("GET", "", "b"),
        ("GET", "X-A", "b\r\nX-Evil: 1"),
        ("GET", "X-A", "b\0"), ("GET", "X-A:", "b"),
    ])
    func refusesAFieldThatBreaksOut(_ method: String, _ name: String, _ value: String) throws {
        let client = try HTTPClient()
        let error = #expect(throws: HTTPClientError.self) {
            try client.send(method: method, url: "http://127.0.0.1:1/", headers: [(name, value)])
        }
        #expect(error?.code == .badRequest)
    }

    @Test func sendsItsOwnNameAndEmptyFields() throws {
        let server = try serving { request in
            HTTPResponse(
                status: 200,
                headers: ["X-Agent": request.header("user-agent") ?? "", "X-Has": request.header("x-empty") ?? "none"]
            )
        }
        let reply = try HTTPClient(userAgent: "tally/9").send(
            method: "GET",
            url: "http://127.0.0.1:\(server.port)/",
            headers: [("X-Empty", "")]
        )
        #expect(reply.header("x-agent") == "tally/9")
        #expect(reply.header("x-has") == nil)  // there, and empty
    }

    @Test(arguments: [(-1, nil), (0, nil), (1, HTTPClientError.Code.tooLarge)] as [(Int, HTTPClientError.Code?)])
    func takesAnAnswerUpToTheLimit(_ excess: Int, _ code: HTTPClientError.Code?) throws {
        var limits = HTTPClient.Limits()
        limits.bodyBytes = 100_000
        let server = try serving { _ in HTTPResponse(status: 200, body: [UInt8](repeating: 1, count: 100_000 + excess))
        }
        let client = try HTTPClient(limits: limits)
        do {
            let reply = try client.send(method: "GET", url: "http://127.0.0.1:\(server.port)/")
            #expect(reply.body.count == 100_000 + excess)
            #expect(code == nil)
        } catch {
            #expect(error.code == code)
        }
    }

    @Test func refusesHeaderFieldsWithoutEnd() throws {
        var limits = HTTPClient.Limits()
        limits.headerBytes = 1_000
        let server = try serving { _ in
            HTTPResponse(status: 200, headers: ["X-A": String(repeating: "a", count: 2_000)])
        }
        let client = try HTTPClient(limits: limits)
        let error = #expect(throws: HTTPClientError.self) {
            try client.send(method: "GET", url: "http://127.0.0.1:\(server.port)/")
        }
        #expect(error?.code == .tooLarge)
    }

    @Test func keepsItsConnectionBetweenCalls() throws {
        // The server takes one connection, and this client has it: no other call could come through.
        var limits = HTTPLimits()
        limits.connections = 1
        let server = HTTPServer(address: "127.0.0.1", port: 0, limits: limits) { request in
            HTTPResponse(status: 200, body: request.body)
        }
        try server.start()
        let client = try HTTPClient()
        let url = "http://127.0.0.1:\(server.port)/"
        for round in 0..<3 {
            let body = [UInt8](repeating: UInt8(round), count: round)
            #expect(try client.send(method: "PUT", url: url, body: body).body == body)
            #expect(try failure(url, timeout: 1)?.code == .unreachable)
        }
    }

    @Test func forgetsTheOptionsOfTheCallBefore() throws {
        let server = try serving { request in
            HTTPResponse(
                status: 200,
                headers: ["X-Method": request.method, "X-Note": request.header("x-note") ?? "none"],
                body: request.body
            )
        }
        let client = try HTTPClient()
        let url = "http://127.0.0.1:\(server.port)/"
        _ = try client.send(method: "POST", url: url, headers: [("X-Note", "a")], body: [1, 2, 3])
        #expect(try client.send(method: "HEAD", url: url).body == [])
        let reply = try client.send(method: "GET", url: url)
        #expect(reply.header("x-method") == "GET")
        #expect(reply.header("x-note") == "none")
        #expect(reply.body == [])
    }

    @Test func letsManyThreadsShareOneClient() async throws {
        let server = try serving { request in HTTPResponse(status: 200, body: request.body) }
        let client = try HTTPClient()
        let wrong = Mutex(0)
        await onThreads(8) { number in
            for round in 0..<20 {
                let body = [UInt8](repeating: UInt8(number), count: 100 + round)
                let reply = try? client.send(method: "POST", url: "http://127.0.0.1:\(server.port)/", body: body)
                if reply?.body != body { wrong.withLock { $0 += 1 } }
            }
        }
        #expect(wrong.withLock { $0 } == 0)
    }
}
