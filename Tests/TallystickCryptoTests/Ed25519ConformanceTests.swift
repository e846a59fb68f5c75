import TallystickCrypto
import Testing

/// Published Ed25519 vectors under the strict rule: see the fixtures' README.
@Suite(.needsFixtures) struct Ed25519ConformanceTests {
    @Test func answersWycheproof() throws {
        let file = try Fixtures.json("ed25519/wycheproof-ed25519_test.json", as: Case.self)
        var ran = 0
        for group in try file.cases("testGroups") {
            let bytes = try #require(group["publicKey"] as? Case).bytes("pk")
            let key = try #require(PublicKey(bytes: bytes))
            for test in try group.cases("tests") {
                let number = try test.number("tcId")
                let isValid = try key.isValid(test.bytes("sig"), for: test.bytes("msg"))
                #expect(try isValid == test.isValidInWycheproof(), "tcId \(number)")
                ran += 1
            }
        }
        #expect(try ran == file.number("numberOfTests"))
        #expect(ran == 96)
    }

    @Test func answersEveryLowOrderAndNonCanonicalPointOfCCTV() throws {
        let tests = try Fixtures.json("ed25519/cctv-ed25519vectors.json", as: [Case].self)
        var (ran, valid) = (0, 0)
        for test in tests {
            let key = try #require(PublicKey(bytes: test.bytes("key")))
            // The message is text here, unlike in the other files.
            let number = try test.number("number")
            let isValid = try key.isValid(test.bytes("sig"), for: Array(test.text("msg").utf8))
            #expect(try isValid == test.flag("strict"), "number \(number)")
            ran += 1
            valid += isValid ? 1 : 0
        }
        #expect(ran == tests.count)
        #expect(ran == 593)
        #expect(valid == 32)
    }

    @Test func answersSpeccheck() throws {
        let tests = try Fixtures.json("ed25519/speccheck-cases.json", as: [Case].self)
        var ran = 0
        for test in tests {
            let key = try #require(PublicKey(bytes: test.bytes("pub_key")))
            let number = try test.number("number")
            let isValid = try key.isValid(test.bytes("signature"), for: test.bytes("message"))
            #expect(try isValid == test.flag("strict"), "number \(number)")
            ran += 1
        }
        #expect(ran == tests.count)
        #expect(ran == 8)
    }

    @Test func answersTheProjectsOwnAndSignsWhereTheSeedIsGiven() throws {
        let tests = try Fixtures.json("ed25519/own-ed25519.json", as: [Case].self)
        var (ran, signed) = (0, 0)
        for test in tests {
            let name = try "id \(test.number("id")): \(test.text("case"))"
            let key = try #require(PublicKey(bytes: test.bytes("publicKey")))
            let message = try test.bytes("message")
            let signature = try test.bytes("signature")
            #expect(try key.isValid(signature, for: message) == test.flag("valid"), "\(name)")
            ran += 1
            if test["seed"] != nil {
                let signer = try SigningKey(seed: test.bytes("seed"))
                #expect(signer.publicKey == key, "\(name)")
                #expect(signer.signature(for: message) == signature, "\(name)")
                signed += 1
            }
        }
        #expect(ran == tests.count)
        #expect(ran == 88)
        #expect(signed == 12)
    }
}
