import Testing

@testable import TallystickServer

struct HTTPTargetTests {
    @Test(
        arguments: [
            ("/", []), ("/v1", ["v1"]), ("/v1/chains", ["v1", "chains"]), ("/v1/", ["v1", ""]), ("//", ["", ""]),
            ("/a%20b", ["a b"]), ("/caf%C3%A9", ["caf\u{e9}"]), ("/a+b", ["a+b"]), ("/%41%5a%7E", ["AZ~"]),
            ("/...", ["..."]),
            ("/a?", ["a"]), ("/a?b/../c", ["a"]),
        ] as [(String, [String])]
    )
    func decodesSegments(_ text: String, _ path: [String]) throws {
        #expect(try HTTPTarget(parsing: text).path == path)
    }

    @Test(arguments: [
        "", "v1", "*", "http://host/path", "/..", "/a/../b", "/.", "/a/./b", "/%2e%2e", "/%2E./x", "/a/%2e", "/a%2fb",
        "/a%2Fb", "/a%5cb", "/a\\b", "/%00", "/a%0ab", "/%7f", "/%", "/%4", "/%4g", "/%g4", "/%ff", "/%c3", "/%c0%af",
        "/a b", "/\u{e9}", "/a#b", "/a\tb", "/a?b=%", "/a?%zz=1", "/a?b=%ff", "/a?b=%00", "/a?b=\u{e9}",
    ])
    func refusesWhatIsNoPlainPath(_ text: String) {
        #expect(throws: HTTPError.self) { try HTTPTarget(parsing: text) }
    }

    @Test func decodesParametersAndKeepsTheirOrder() throws {
        let target = try HTTPTarget(parsing: "/e?after=12&q=a+b%2Bc&empty=&bare&q=second&=x&&e%3D=y%26")
        #expect(target["after"] == "12")
        #expect(target["q"] == "a b+c")
        #expect(target["empty"] == "")
        #expect(target["bare"] == "")
        #expect(target["e="] == "y&")
        #expect(target["missing"] == nil)
        #expect(target["AFTER"] == nil)
        #expect(target.parameters.map(\.name) == ["after", "q", "empty", "bare", "q", "", "e="])
    }

    @Test func tellsApartNamesThatSwiftTakesForEqual() throws {
        let target = try HTTPTarget(parsing: "/?%C3%A9=composed&e%CC%81=decomposed")
        #expect(target["\u{e9}"] == "composed")
        #expect(target["e\u{301}"] == "decomposed")
    }

    @Test func neverTrapsOnAnyShortTarget() {
        let bytes = Array("/%.a?&=+2f\u{7f}".utf8)
        var texts = [""]
        for _ in 0..<4 {
            texts = texts.flatMap { text in bytes.map { text + String(UnicodeScalar($0)) } }
            for text in texts {
                do {
                    let target = try HTTPTarget(parsing: "/" + text)
                    #expect(!target.path.contains { $0 == ".." || $0 == "." || $0.contains("/") })
                } catch {
                    #expect(error.code == .badRequest)
                }
            }
        }
    }
}

struct HTTPHeadersTests {
    @Test func findsFieldsInAnyCaseAndJoinsThem() {
        var headers: HTTPHeaders = ["Content-Type": "text/plain", "Accept": "a"]
        headers.add("ACCEPT", "b")
        #expect(headers["content-type"] == "text/plain")
        #expect(headers["accept"] == "a, b")
        #expect(headers["Accept-"] == nil)
        // The Kelvin sign is a `k` to Unicode, but to no header field.
        #expect(HTTPHeaders(dictionaryLiteral: ("\u{212A}", "x"))["k"] == nil)
    }
}
