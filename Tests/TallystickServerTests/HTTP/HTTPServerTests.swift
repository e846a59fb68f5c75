import Foundation
import Synchronization
import TallystickDevice
import Testing

@testable import TallystickServer

struct HTTPServerTests {
    /// A server on a free port, stopped when the test ends.
    private final class Running: Sendable {
        let server: HTTPServer

        init(
            limits: HTTPLimits = HTTPLimits(),
            tls: (certificatePEM: String, keyPEM: String)? = nil,
            _ handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse
        ) throws {
            server = HTTPServer(address: "127.0.0.1", port: 0, limits: limits, tls: tls, handler: handler)
            try server.start()
        }

        deinit {
            server.stop()
        }

        func url(_ path: String) -> String {
            "http://127.0.0.1:\(server.port)\(path)"
        }
    }

    private static func echo(_ request: HTTPRequest) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: [
                "X-Method": request.method, "X-Path": request.path.joined(separator: "|"), "X-Peer": request.peer,
                "X-Query": request.query("q") ?? "none", "X-Note": request.header("x-nOTE") ?? "none",
                "X-Type": request.header("content-type") ?? "none",
            ],
            body: request.body
        )
    }

    private static func smallLimits(body: Int = 1_000) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.bodyBytes = body
        return limits
    }

    // MARK: Requests

    @Test(
        arguments: ["POST", "PUT", "PATCH", "DELETE", "GET"],
        [nil, [], [0, 1, 0xff], [UInt8](repeating: 5, count: 70_000)]
    )
    func answersWhatWasSent(_ method: String, _ body: [UInt8]?) throws {
        let running = try Running(Self.echo)
        let reply = try HTTPClient().send(
            method: method,
            url: running.url("/v1/a%20b/%C3%A9?q=x+y%26z"),
            headers: [("X-Note", "n\u{f6}te")],
            body: body
        )
        #expect(reply.status == 200)
        #expect(reply.body == body ?? [])
        #expect(reply.header("x-method") == method)
        #expect(reply.header("X-PATH") == "v1|a b|\u{e9}")
        #expect(reply.header("x-query") == "x y&z")
        #expect(reply.header("x-note") == "n\u{f6}te")
        #expect(reply.header("x-type") == "none")
        #expect(reply.header("x-peer") == "127.0.0.1")
        #expect(reply.header("date") != nil)
        #expect(reply.header("missing") == nil)
    }

    /// Linux shows this file where the kernel has IPv6; without it no socket for both kinds can be made.
    private static let hasIPv6 = FileManager.default.fileExists(atPath: "/proc/net/if_inet6")

    @Test(.enabled(if: hasIPv6, "this machine has no IPv6"))
    func spellsAnIPv4ClientTheSameOnASocketForBothKinds() throws {
        let server = HTTPServer(address: "::", port: 0, handler: Self.echo)
        try server.start()
        let reply = try HTTPClient().send(method: "GET", url: "http://127.0.0.1:\(server.port)/")
        #expect(reply.header("x-peer") == "127.0.0.1")
    }

    @Test func answersHEADWithALengthAndNoBody() throws {
        let running = try Running { _ in HTTPResponse(status: 200, body: [1, 2, 3]) }
        let reply = try HTTPClient().send(method: "HEAD", url: running.url("/"))
        #expect(reply.status == 200)
        #expect(reply.body == [])
        #expect(reply.header("content-length") == "3")
    }

    @Test(arguments: [200, 201, 204, 302, 304, 404, 409, 429, 503])
    func passesEveryStatusThrough(_ status: Int) throws {
        let running = try Running { _ in HTTPResponse(status: status, headers: ["Location": "https://example.invalid/"])
        }
        // Not followed: the answer is what the server said.
        #expect(try HTTPClient().send(method: "GET", url: running.url("/")).status == status)
    }

    @Test(arguments: [("/a/../b"), ("/%2e%2e/x"), ("/%zz"), ("/a%2fb"), ("/%ff"), ("/?q=%")])
    func refusesATargetThatLeadsElsewhere(_ path: String) throws {
        let running = try Running(Self.echo)
        let reply = try HTTPClient().send(method: "GET", url: running.url(path))
        #expect(reply.status == 400)
        #expect(reply.header("content-type") == "application/problem+json")
    }

    @Test(arguments: [0, 99, 100, 199, 600, -1, Int.max])
    func answers500ForAStatusThatIsNone(_ status: Int) throws {
        let running = try Running { _ in HTTPResponse(status: status) }
        #expect(try HTTPClient().send(method: "GET", url: running.url("/")).status == 500)
    }

    @Test(arguments: [("X-A", "b\r\nX-Evil: 1"), ("X-A", "b\0c"), ("X\r\nX-Evil", "1"), ("X A", "\n"), ("", "x")])
    func answers500RatherThanSendAFieldThatBreaksOut(_ name: String, _ value: String) throws {
        let running = try Running { _ in
            HTTPResponse(status: 200, headers: HTTPHeaders(dictionaryLiteral: (name, value)))
        }
        let reply = try HTTPClient().send(method: "GET", url: running.url("/"))
        #expect(reply.status == 500)
        #expect(reply.header("x-evil") == nil)
    }

    // MARK: Limits

    @Test(arguments: [(-1, 200), (0, 200), (1, 413)])
    func takesABodyUpToTheLimit(_ excess: Int, _ status: Int) throws {
        for limit in [1_000, 2 << 20] {
            let running = try Running(limits: Self.smallLimits(body: limit), Self.echo)
            let body = [UInt8](repeating: 9, count: limit + excess)
            let reply = try HTTPClient().send(method: "POST", url: running.url("/"), body: body)
            #expect(reply.status == status)
            if status == 200 {
                #expect(reply.body == body)
            } else {
                #expect(reply.header("content-type") == "application/problem+json")
                #expect(String(decoding: reply.body, as: UTF8.self).contains("at most \(limit) bytes"))
            }
        }
    }

    @Test func keepsTheConnectionAfterABodyThatWasTooLarge() throws {
        let running = try Running(limits: Self.smallLimits(), Self.echo)
        let connection = try RawConnection(port: running.server.port)
        let body = String(repeating: "x", count: 1_001)
        connection.send(Array("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n\(body)".utf8))
        #expect(connection.read(until: "1000 bytes").hasPrefix("HTTP/1.1 413"))
        connection.send(Array("GET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".utf8))
        #expect(connection.readToEnd().contains("X-Path: b\r\n"))
    }

    @Test func refusesALargeBodyBeforeItIsSentWhereTheClientAsks() throws {
        let running = try Running(limits: Self.smallLimits(), Self.echo)
        let connection = try RawConnection(port: running.server.port)
        connection.send(
            Array("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n".utf8)
        )
        #expect(connection.readToEnd().hasPrefix("HTTP/1.1 413"))
    }

    @Test(arguments: ["9999999999999999999999", "-1", "1x", "999999999999"])
    func refusesALengthThatCannotBe(_ length: String) throws {
        let running = try Running(limits: Self.smallLimits(), Self.echo)
        let connection = try RawConnection(port: running.server.port)
        connection.send(Array("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n".utf8))
        connection.finish()
        #expect(!connection.readToEnd().contains("200 OK"))
    }

    @Test func takesABodyInChunksUpToTheLimit() throws {
        let running = try Running(limits: Self.smallLimits(), Self.echo)
        for (count, status) in [(10, "200"), (11, "413")] {
            let connection = try RawConnection(port: running.server.port)
            let chunk = "64\r\n\(String(repeating: "x", count: 100))\r\n"
            connection.send(
                Array(
                    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                        + String(repeating: chunk, count: count) + "0\r\n\r\n").utf8
                )
            )
            #expect(connection.readToEnd().hasPrefix("HTTP/1.1 \(status)"))
        }
    }

    @Test func refusesHeaderFieldsWithoutEnd() throws {
        let running = try Running(Self.echo)
        let connection = try RawConnection(port: running.server.port)
        connection.send(
            Array("GET / HTTP/1.1\r\nHost: h\r\nX-A: \(String(repeating: "a", count: 100_000))\r\n\r\n".utf8)
        )
        #expect(!connection.readToEnd().contains("200 OK"))
        #expect(try HTTPClient().send(method: "GET", url: running.url("/")).status == 200)
    }

    // MARK: Many at once

    @Test func answersManyClientsAtOnce() async throws {
        let running = try Running(Self.echo)
        let wrong = Mutex<[String]>([])
        await onThreads(32) { number in
            do {
                let client = try HTTPClient()
                for round in 0..<20 {
                    let body = [UInt8](repeating: UInt8(number), count: number * 1_000 + round)
                    let reply = try client.send(method: "POST", url: running.url("/\(number)/\(round)"), body: body)
                    guard reply.status == 200, reply.body == body, reply.header("x-path") == "\(number)|\(round)" else {
                        wrong.withLock { $0.append("\(number) \(round): \(reply.status)") }
                        return
                    }
                }
            } catch {
                wrong.withLock { $0.append("\(number): \(error)") }
            }
        }
        #expect(wrong.withLock { $0 } == [])
        running.server.stop()
        #expect(running.server.openRequests == 0)
    }

    @Test func oneAddressCannotTakeAllConnections() throws {
        var limits = HTTPLimits()
        #expect(limits.connectionsPerAddress == 64)
        limits.connectionsPerAddress = 2
        let running = try Running(limits: limits, Self.echo)
        let port = running.server.port
        let request = Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        let first = try RawConnection(port: port)
        do {
            let second = try RawConnection(port: port)
            // Answered, so both are counted; then half of a request each.
            first.send(request)
            second.send(request)
            #expect(first.read(until: "\r\n\r\n").contains("200 OK"))
            #expect(second.read(until: "\r\n\r\n").contains("200 OK"))
            second.send(Array("GET / HT".utf8))
            let third = try RawConnection(port: port)
            third.send(request)
            #expect(third.readToEnd().isEmpty)
        }
        // The second is gone: its place is free as soon as the server has seen that.
        var answer = ""
        for _ in 0..<10_000 where answer.isEmpty {
            let next = try RawConnection(port: port)
            next.send(request)
            answer = next.read(until: "\r\n\r\n")
        }
        #expect(answer.contains("200 OK"))
    }

    @Test(arguments: ["", "GET / HTTP/1.1\r\nHost: h\r\nX-Slow: 1"])
    func closesAConnectionWhoseHeadDoesNotCome(_ start: String) throws {
        var limits = HTTPLimits()
        limits.headSeconds = 1
        limits.idleSeconds = 100_000
        let running = try Running(limits: limits, Self.echo)
        let connection = try RawConnection(port: running.server.port)
        connection.send(Array(start.utf8))
        // Ends once the server closes; without its time for heads, never.
        #expect(!connection.readToEnd().contains("200 OK"))
        // Between requests, too.
        let kept = try RawConnection(port: running.server.port)
        kept.send(Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
        #expect(kept.readToEnd().contains("200 OK"))
    }

    @Test func answersOthersWhileAHandlerBlocks() async throws {
        let entered = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        let running = try Running { request in
            if request.path == ["slow"] {
                entered.signal()
                release.wait()
            }
            return HTTPResponse(status: 200)
        }
        let statuses = Mutex<[String: Int]>([:])
        await onThreads(2) { number in
            do {
                if number == 0 {
                    let reply = try HTTPClient().send(method: "GET", url: running.url("/slow"))
                    statuses.withLock { $0["slow"] = reply.status }
                } else {
                    entered.wait()
                    defer { release.signal() }
                    let reply = try HTTPClient().send(method: "GET", url: running.url("/fast"))
                    statuses.withLock { $0["fast"] = $0["slow"] == nil ? reply.status : -1 }
                }
            } catch {
                Issue.record(error)
            }
        }
        #expect(statuses.withLock { $0 } == ["slow": 200, "fast": 200])
    }

    @Test func answersManyRequestsOnOneConnection() throws {
        let running = try Running(Self.echo)
        let connection = try RawConnection(port: running.server.port)
        let one = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
        let last = "GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        connection.send(Array((one + one + one + last).utf8))
        let answers = connection.readToEnd()
        #expect(answers.split(separator: "HTTP/1.1 200 OK").count == 4)
        #expect(answers.contains("X-Path: last\r\n"))
    }

    // MARK: Starting and stopping

    @Test func answersWhatIsInHandBeforeItStops() async throws {
        let entered = DispatchSemaphore(value: 0)
        let stopping = DispatchSemaphore(value: 0)
        let running = try Running { _ in
            entered.signal()
            stopping.wait()
            return HTTPResponse(status: 200, body: [1])
        }
        let port = running.server.port
        let body = Mutex<[UInt8]?>(nil)
        await onThreads(2) { number in
            if number == 0 {
                body.withLock { $0 = try? HTTPClient().send(method: "GET", url: running.url("/")).body }
            } else {
                entered.wait()
                stopping.signal()
                running.server.stop()
                running.server.stop()
            }
        }
        #expect(body.withLock { $0 } == [1])
        #expect(running.server.openRequests == 0)
        #expect(throws: RawConnection.Failure.self) { _ = try RawConnection(port: port) }
    }

    @Test func stopsWithConnectionsOpen() throws {
        let running = try Running(Self.echo)
        let idle = try RawConnection(port: running.server.port)
        let half = try RawConnection(port: running.server.port)
        half.send(Array("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc".utf8))
        let client = try HTTPClient()
        #expect(try client.send(method: "GET", url: running.url("/")).status == 200)
        running.server.stop()
        #expect(idle.readToEnd() == "")
        #expect(half.readToEnd() == "")
        #expect(running.server.openRequests == 0)
        #expect(throws: HTTPClientError.self) { try client.send(method: "GET", url: running.url("/")) }
    }

    @Test func saysThatAPortIsInUse() throws {
        let running = try Running(Self.echo)
        let second = HTTPServer(address: "127.0.0.1", port: running.server.port, handler: Self.echo)
        let error = #expect(throws: HTTPError.self) { try second.start() }
        #expect(error?.code == .addressInUse)
    }

    @Test(arguments: [
        ("localhost", 0), ("", 0), ("127.0.0", 0), ("1.2.3.4.5", 0), ("192.0.2.1", 0), ("127.0.0.1", -1),
        ("127.0.0.1", 65_536), ("127.0.0.1\0", 0),
    ])
    func refusesAnAddressThatIsNotHere(_ address: String, _ port: Int) {
        let server = HTTPServer(address: address, port: port, handler: Self.echo)
        let error = #expect(throws: HTTPError.self) { try server.start() }
        #expect(error?.code == .badAddress)
        #expect(server.port == 0)
    }

    @Test func startsOnce() throws {
        let running = try Running(Self.echo)
        for _ in 0..<2 {
            let error = #expect(throws: HTTPError.self) { try running.server.start() }
            #expect(error?.code == .alreadyStarted)
            running.server.stop()
        }
    }

    // MARK: TLS

    @Test func speaksTLSToThoseWhoTrustIt() throws {
        let running = try Running(tls: (LoopbackCertificate.certificate, LoopbackCertificate.key), Self.echo)
        let url = "https://127.0.0.1:\(running.server.port)/a"
        let trusting = try HTTPClient(authorityPEM: LoopbackCertificate.certificate)
        let body = [UInt8](repeating: 3, count: 300_000)
        for _ in 0..<2 {
            #expect(try trusting.send(method: "POST", url: url, body: body).body == body)
        }
        let error = #expect(throws: HTTPClientError.self) { try HTTPClient().send(method: "GET", url: url) }
        #expect(error?.code == .tls)
    }

    @Test func refusesACertificateThatIsNone() {
        let server = HTTPServer(address: "127.0.0.1", port: 0, tls: ("no", "certificate"), handler: Self.echo)
        let error = #expect(throws: HTTPError.self) { try server.start() }
        #expect(error?.code == .badCertificate)
    }

    // MARK: Nonsense

    @Test(arguments: [
        "", "\0", "\r\n\r\n", "GET", "GET /", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: h\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
        "\u{16}\u{3}\u{1}\0\u{a5}\u{1}\0\0\u{a1}\u{3}\u{3}",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "GET /\u{e9} HTTP/1.1\r\nHost: h\r\n\r\n", "GET /%00 HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n", "\u{e9}\u{e9} / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n: empty\r\n\r\n",
    ])
    func survivesNonsense(_ text: String) throws {
        let running = try Running(Self.echo)
        let connection = try RawConnection(port: running.server.port)
        connection.send(Array(text.utf8))
        connection.finish()
        _ = connection.readToEnd()
        #expect(try HTTPClient().send(method: "GET", url: running.url("/")).status == 200)
        running.server.stop()
        // Each request that was begun was ended once: more or fewer would show here.
        #expect(running.server.openRequests == 0)
    }

    @Test func survivesRandomBytesAndBrokenRequests() throws {
        let running = try Running(limits: Self.smallLimits(), Self.echo)
        let whole = Array("POST /a/b?q=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nX-Note: n\r\n\r\nhello".utf8)
        var state: UInt64 = 1
        func next() -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33)
        }
        for round in 0..<300 {
            var bytes = whole
            for _ in 0..<(round % 4) { bytes[next() % bytes.count] = UInt8(truncatingIfNeeded: next()) }
            if round % 3 == 0 { bytes = Array(bytes.prefix(next() % bytes.count)) }
            if round % 10 == 0 { bytes = (0..<(next() % 2_000)).map { _ in UInt8(truncatingIfNeeded: next()) } }
            let connection = try RawConnection(port: running.server.port)
            connection.send(bytes)
            connection.finish()
            _ = connection.readToEnd()
        }
        #expect(try HTTPClient().send(method: "GET", url: running.url("/")).status == 200)
        running.server.stop()
        #expect(running.server.openRequests == 0)
    }

    @Test func refusesTwoWaysToTellTheLength() throws {
        let running = try Running(Self.echo)
        let connection = try RawConnection(port: running.server.port)
        connection.send(
            Array(
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET".utf8
            )
        )
        connection.finish()
        #expect(connection.readToEnd().hasPrefix("HTTP/1.1 400"))
    }

    @Test func refusesHeaderFieldsThatAreNotUTF8() throws {
        let running = try Running(Self.echo)
        let connection = try RawConnection(port: running.server.port)
        connection.send(
            Array("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX-A: ".utf8) + [0xff, 0xfe]
                + Array("\r\n\r\n".utf8)
        )
        #expect(connection.readToEnd().hasPrefix("HTTP/1.1 400"))
    }
}
