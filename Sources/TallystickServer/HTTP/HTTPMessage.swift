/// The header fields of a message, in order; names are looked up without regard to case.
package struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral {
    /// One field.
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    /// All fields, in the order they came or are sent.
    package private(set) var fields: [Field] = []

    /// Creates fields from names and values.
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { add(name, value) }
    }

    /// Adds a field after the others.
    package mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Gives the value of a field, or nil; several of one name are joined by commas (RFC 9110, section 5.3).
    package subscript(name: String) -> String? {
        let values = fields.filter { Self.isSame($0.name, name) }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Says whether two field names are the same: ASCII letters match in either case, and nothing else does.
    static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8) { lowered($0) == lowered($1) }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

/// A request, read to its end.
package struct HTTPRequest: Sendable {
    /// The method, as sent: `GET`, `POST`.
    package let method: String
    /// The path and the query.
    package let target: HTTPTarget
    /// The header fields.
    package let headers: HTTPHeaders
    /// The body; empty where there was none.
    package let body: [UInt8]
    /// The numeric address of the client, or of the proxy before this server; empty where it is unknown.
    package let peer: String

    /// Creates a request; tests call handlers with one.
    package init(
        method: String,
        target: HTTPTarget,
        headers: HTTPHeaders = [:],
        body: [UInt8] = [],
        peer: String = ""
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.peer = peer
    }

    /// The segments of the path, decoded; none for `/`.
    package var path: [String] {
        target.path
    }

    /// Gives the first value of a query parameter, decoded, or nil.
    package func query(_ name: String) -> String? {
        target[name]
    }

    /// Gives a header field, whatever the case of its name, or nil.
    package func header(_ name: String) -> String? {
        headers[name]
    }
}

/// An answer.
package struct HTTPResponse: Sendable {
    /// The status, 200 to 599.
    package var status: Int
    /// The header fields.
    ///
    /// `Content-Length`, `Transfer-Encoding`, `Connection` and `Date` are the server's and ignored.
    package var headers: HTTPHeaders
    /// The body; it is not sent for `HEAD`, but its length is.
    package var body: [UInt8]

    /// Creates an answer.
    package init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates problem details (RFC 9457) for what this layer refuses by itself.
    ///
    /// The texts are constants of this module without anything that JSON would escape.
    static func problem(_ status: Int, _ title: StaticString, detail: String) -> HTTPResponse {
        let json = #"{"type":"about:blank","title":"\#(title)","status":\#(status),"detail":"\#(detail)"}"#
        return HTTPResponse(
            status: status,
            headers: ["Content-Type": "application/problem+json"],
            body: Array(json.utf8)
        )
    }
}

/// What a server takes from its clients.
package struct HTTPLimits: Sendable {
    /// The largest body, in bytes; a larger one is answered 413.
    package var bodyBytes = 2 << 20
    /// The memory for the request line and header fields of a connection, in bytes; more is answered 4xx.
    package var headerBytes = 32 << 10
    /// The most connections at once, a thread each; further ones are closed.
    package var connections = 512
    /// The most connections at once from one address, so that one client cannot take them all; 0 for no such limit.
    ///
    /// Further ones are closed. Everybody behind one proxy or one translated address counts as one.
    package var connectionsPerAddress = 64
    /// After how many seconds without traffic a connection is closed while it is in a request whose head has come;
    /// time spent in the handler does not count.
    package var idleSeconds = 30
    /// The same before the head of a request has come: during the TLS handshake, and between requests.
    ///
    /// A client that sends a byte now and then stays all the same: the library knows no time for the whole head.
    package var headSeconds = 10

    /// The defaults.
    package init() {}
}
