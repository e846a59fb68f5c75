import TallystickCrypto
import Testing

/// Published HMAC-SHA256 and HKDF-SHA256 vectors: see the fixtures' READMEs.
@Suite(.needsFixtures) struct MACConformanceTests {
    @Test func answersWycheproofHMAC() throws {
        let file = try Fixtures.json("hmac-sha256/wycheproof-hmac_sha256_test.json", as: Case.self)
        var (ran, outside) = (0, 0)
        for group in try file.cases("testGroups") {
            let size = try group.number("tagSize")
            for test in try group.cases("tests") {
                let name = try "tcId \(test.number("tcId")), \(size)-bit tag"
                let (key, message, tag) = try (test.bytes("key"), test.bytes("msg"), test.bytes("tag"))
                let isValid = HMACSHA256.isValid(tag, for: message, key: key)
                if size == 256 || size == 128 {
                    #expect(try isValid == test.isValidInWycheproof(), "\(name)")
                    #expect(tag.count == size / 8, "\(name)")
                    let start = HMACSHA256.code(for: message, key: key).bytes.prefix(size / 8)
                    #expect(try (Array(start) == tag) == test.isValidInWycheproof(), "\(name)")
                } else {
                    #expect(!isValid, "outside our profile, to be refused: \(name)")
                    outside += 1
                }
                ran += 1
            }
        }
        #expect(try ran == file.number("numberOfTests"))
        #expect(ran == 117)
        #expect(outside == 0)
    }

    /// The file's rule is 32-byte tags only; ours also takes exact 16-byte halves (RFC 2104 section 5).
    ///
    /// Its four truncated tags are therefore the one disagreement: they are named, counted and held to *our* rule.
    @Test func answersTheProjectsOwnHMACButForHalvesWhichOurProfileTakes() throws {
        let tests = try Fixtures.json("hmac-sha256/own-hmac.json", as: [Case].self)
        var (ran, halves) = (0, 0)
        for test in tests {
            let name = try test.text("case")
            let (key, message, tag) = try (test.bytes("key"), test.bytes("message"), test.bytes("tag"))
            let isValid = HMACSHA256.isValid(tag, for: message, key: key)
            if name == "truncated tag where 32 bytes are required" {
                #expect(try !test.flag("valid"))
                #expect(tag == Array(HMACSHA256.code(for: message, key: key).bytes.prefix(16)))
                #expect(isValid)
                halves += 1
            } else {
                #expect(try isValid == test.flag("valid"), "\(name), case \(ran)")
                if isValid { #expect(HMACSHA256.code(for: message, key: key).bytes == tag) }
            }
            ran += 1
        }
        #expect(ran == tests.count)
        #expect(ran == 29)
        #expect(halves == 4)
    }

    @Test func answersWycheproofHKDF() throws {
        let file = try Fixtures.json("hkdf-sha256/wycheproof-hkdf_sha256_test.json", as: Case.self)
        var (ran, refused) = (0, 0)
        for group in try file.cases("testGroups") {
            for test in try group.cases("tests") {
                let name = "tcId \(try test.number("tcId"))"
                if try test.isValidInWycheproof() {
                    #expect(try derive(test, length: "size") == test.bytes("okm"), "\(name)")
                } else {
                    let error = #expect(throws: CryptoError.self, "\(name)") { try derive(test, length: "size") }
                    #expect(error?.code == .wrongLength, "\(name)")
                    refused += 1
                }
                ran += 1
            }
        }
        #expect(try ran == file.number("numberOfTests"))
        #expect(ran == 68)
        #expect(refused == 3)
    }

    @Test func answersTheProjectsOwnHKDF() throws {
        let tests = try Fixtures.json("hkdf-sha256/own-hkdf.json", as: [Case].self)
        var (ran, hashed, refused) = (0, 0, 0)
        for test in tests {
            if test["error"] != nil {
                let error = #expect(throws: CryptoError.self) { try derive(test, length: "length") }
                #expect(error?.code == .wrongLength)
                refused += 1
            } else if test["okmSha256"] != nil {
                let output = try derive(test, length: "length")
                #expect(try output.count == test.number("length"))
                #expect(try SHA256.hash(output).hex == test.text("okmSha256"))
                hashed += 1
            } else {
                #expect(try derive(test, length: "length") == test.bytes("okm"), "case \(ran)")
            }
            ran += 1
        }
        #expect(ran == tests.count)
        #expect(ran == 9)
        #expect(hashed == 1)
        #expect(refused == 1)
    }

    @discardableResult
    private func derive(_ test: Case, length: String) throws -> [UInt8] {
        try HKDFSHA256.derive(
            secret: test.bytes("ikm"),
            salt: test.bytes("salt"),
            info: test.bytes("info"),
            length: test.number(length)
        )
    }
}
