/// The target of a request: where it goes, and with which parameters (RFC 9112, section 3.2.1, origin form).
package struct HTTPTarget: Sendable, Equatable {
    /// The segments of the path, decoded; none for `/`.
    ///
    /// A path that ends in `/` has an empty last segment.
    package let path: [String]
    /// The parameters after `?`, decoded, in the order they came.
    package let parameters: [Parameter]

    /// One `name=value` of a query.
    package struct Parameter: Sendable, Equatable {
        package let name: String
        package let value: String

        /// Creates a parameter.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a target from parts that are decoded already.
    package init(path: [String], parameters: [Parameter] = []) {
        self.path = path
        self.parameters = parameters
    }

    /// Reads a target as it stands in the request line.
    ///
    /// Segments are split before they are decoded, and one that then holds a slash, a control character, or is `.` or
    /// `..`, is refused: no router or file lookup can be led astray by it (RFC 3986, sections 3.3 and 7.3).
    ///
    /// - Throws: ``HTTPError/Code/badRequest``.
    package init(parsing text: String) throws(HTTPError) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") }) else {
            throw HTTPError(.badRequest, "expected a target of ASCII characters, got others")
        }
        guard text.utf8.first == UInt8(ascii: "/") else {
            throw HTTPError(.badRequest, "expected a target that begins with a slash")
        }
        let parts = text.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var path: [String] = []
        if let first = parts.first, first.count > 1 {
            for part in first.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
                path.append(try Self.segment(part))
            }
        }
        var parameters: [Parameter] = []
        if parts.count > 1, let query = parts.last {
            for pair in query.split(separator: UInt8(ascii: "&")) {
                parameters.append(try Self.parameter(pair))
            }
        }
        self.init(path: path, parameters: parameters)
    }

    /// Gives the first value of a parameter, or nil.
    package subscript(name: String) -> String? {
        // Bytes, as `==` takes two spellings of a letter for one.
        parameters.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    private static func segment(_ part: Substring.UTF8View) throws(HTTPError) -> String {
        let text = try decoded(part, plusIsSpace: false)
        let isPlain = text.utf8.allSatisfy {
            $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
        }
        guard isPlain, text != ".", text != ".." else {
            throw HTTPError(.badRequest, "expected a path of plain segments, got one that leads elsewhere")
        }
        return text
    }

    private static func parameter(_ pair: Substring.UTF8View) throws(HTTPError) -> Parameter {
        let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let name = try decoded(sides.first ?? pair, plusIsSpace: true)
        guard sides.count > 1, let value = sides.last else { return Parameter(name: name, value: "") }
        return Parameter(name: name, value: try decoded(value, plusIsSpace: true))
    }

    /// Undoes percent encoding; the result is UTF-8 without NUL.
    private static func decoded(_ text: Substring.UTF8View, plusIsSpace: Bool) throws(HTTPError) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexadecimal), let low = rest.next().flatMap(hexadecimal) else {
                    throw HTTPError(.badRequest, "expected two hexadecimal digits after a percent sign")
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace:
                bytes.append(UInt8(ascii: " "))
            default:
                bytes.append(byte)
            }
        }
        guard !bytes.contains(0), let decoded = String(validating: bytes, as: UTF8.self) else {
            throw HTTPError(.badRequest, "expected percent-encoded UTF-8 without NUL")
        }
        return decoded
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
