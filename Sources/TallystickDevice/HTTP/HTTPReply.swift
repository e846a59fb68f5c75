/// The answer of a server.
package struct HTTPReply: Sendable {
    /// One header field.
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    /// The status, 100 to 599.
    package let status: Int
    /// The header fields, in the order they came.
    package let headers: [Field]
    /// The body; empty where there was none.
    package let body: [UInt8]

    /// Creates an answer; tests of what uses the client make them.
    package init(status: Int, headers: [Field] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Gives the value of the first field of a name, whatever the case of its ASCII letters, or nil.
    package func header(_ name: String) -> String? {
        headers.first { field in
            field.name.utf8.elementsEqual(name.utf8) { Self.lowered($0) == Self.lowered($1) }
        }?.value
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
