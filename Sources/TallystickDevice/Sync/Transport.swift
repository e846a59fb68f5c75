import Glibc

/// A request as the device means it: the path is put after the server's address.
package struct HTTPRequestValue: Sendable {
    /// The method, in capitals.
    package let method: String
    /// The path, with its query, from `/v1/` on.
    package let path: String
    /// The header fields.
    package let headers: [(name: String, value: String)]
    /// The body; nil for none.
    package let body: [UInt8]?
    /// The longest it may take, in seconds.
    package let timeout: Int

    /// Collects a request.
    package init(
        method: String,
        path: String,
        headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil,
        timeout: Int = 60
    ) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}

/// The server's answer.
package typealias HTTPResponseValue = HTTPReply

/// How requests reach the server: the network, or in tests a server in memory.
package struct Transport {
    /// Sends a request and waits for the answer of whatever status; throws ``DeviceError`` where none comes.
    package let send: (HTTPRequestValue) throws -> HTTPResponseValue

    /// Uses this closure.
    package init(send: @escaping (HTTPRequestValue) throws -> HTTPResponseValue) {
        self.send = send
    }

    /// The network, through libcurl.
    ///
    /// - Parameters:
    ///   - server: The server's address, such as `https://tally.example`; a path in it is kept.
    ///   - authorityPEM: The certificates trusted to sign the server's, as PEM; nil for those of the system.
    /// - Throws: ``DeviceError/Code/serverUnreachable`` where libcurl cannot be set up.
    package static func network(server: String, authorityPEM: String? = nil) throws -> Transport {
        var base = server
        while base.utf8.last == UInt8(ascii: "/") { base.removeLast() }
        let address = base
        do throws(HTTPClientError) {
            let client = try HTTPClient(authorityPEM: authorityPEM)
            return Transport { request in
                do throws(HTTPClientError) {
                    return try client.send(
                        method: request.method,
                        url: address + request.path,
                        headers: request.headers,
                        body: request.body,
                        timeout: request.timeout
                    )
                } catch {
                    throw translate(error, server: address)
                }
            }
        } catch {
            throw translate(error, server: address)
        }
    }

    private static func translate(_ error: HTTPClientError, server: String) -> DeviceError {
        switch error.code {
        case .badURL, .badRequest:
            DeviceError(
                .badInput,
                "expected the address of a server, such as https://tally.example, got “\(server)”: \(error.message)",
                remedy: "give the server's address again"
            )
        case .tooLarge, .badResponse: .misbehaved("the server \(server) gave no usable answer: \(error.message)")
        default: .unreachable("the server \(server) was not reached: \(error.message)")
        }
    }
}

extension DeviceError {
    static func unreachable(_ message: String) -> DeviceError {
        DeviceError(
            .serverUnreachable,
            message,
            remedy: "the work is saved and will be sent later; check the connection and run “tally sync”"
        )
    }
}
