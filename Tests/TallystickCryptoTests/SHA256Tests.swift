import TallystickCrypto
import Testing

@Suite struct SHA256Tests {
    /// The worked examples of FIPS 180-4 (NIST, "SHA256.pdf") and the empty message of NIST's CAVP.
    static let examples: [(message: String, hash: String)] = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]
    static let million = [UInt8](repeating: 0x61, count: 1_000_000)
    static let millionHash = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

    @Test(arguments: examples) func hashesTheExamplesOfTheStandard(message: String, hash: String) throws {
        let bytes = Array(message.utf8)
        #expect(SHA256.hash(bytes).hex == hash)
        #expect(SodiumFallback.sha256(bytes.span).hex == hash)
        var hasher = SHA256.Hasher()
        hasher.update(bytes)
        #expect(try hasher.finalize().hex == hash)
    }

    @Test func hashesAMillionLetters() throws {
        #expect(SHA256.hash(Self.million).hex == Self.millionHash)
        var hasher = SHA256.Hasher()
        for start in stride(from: 0, to: 1_000_000, by: 999) {
            hasher.update(Self.million[start..<min(start + 999, 1_000_000)])
        }
        #expect(try hasher.finalize().hex == Self.millionHash)
    }

    @Test func hashesNothingByAHasherThatWasGivenNothing() throws {
        let hasher = SHA256.Hasher()
        #expect(try hasher.finalize() == SHA256.hash([]))
    }

    @Test func hashesASliceAsTheBytesInIt() {
        let bytes = Array("xxabcxx".utf8)
        #expect(SHA256.hash(bytes[2..<5]) == SHA256.hash(Array("abc".utf8)))
        #expect(SHA256.hash(bytes[3..<3]) == SHA256.hash([]))
    }

    @Test func bothImplementationsAgreeAtEveryLengthAroundTheBlocks() {
        for count in 0...200 {
            let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            #expect(SodiumFallback.sha256(message.span) == SHA256.hash(message))
            #expect(
                SodiumFallback.hmacSHA256([1, 2].span, key: message) == HMACSHA256.code(for: [1, 2], key: message)
            )
            #expect(SodiumFallback.hmacSHA256(message.span, key: []) == HMACSHA256.code(for: message, key: []))
        }
    }

    @Test func hashesTheSameFromManyTasksAtOnce() async {
        await withTaskGroup(of: Digest.self) { group in
            for _ in 0..<64 { group.addTask { SHA256.hash(Array("abc".utf8)) } }
            for await digest in group { #expect(digest.hex == Self.examples[1].hash) }
        }
    }
}

@Suite struct HMACSHA256Tests {
    static let code = HMACSHA256.code(for: [1, 2, 3], key: [9]).bytes

    @Test func takesTheWholeCodeAndItsFirstHalf() {
        #expect(HMACSHA256.isValid(Self.code, for: [1, 2, 3], key: [9]))
        #expect(HMACSHA256.isValid(Array(Self.code.prefix(16)), for: [1, 2, 3], key: [9]))
    }

    @Test(arguments: 0...40) func refusesATrueStartOfAnyOtherLength(count: Int) {
        let tag = Array((Self.code + Self.code).prefix(count))
        #expect(HMACSHA256.isValid(tag, for: [1, 2, 3], key: [9]) == (count == 16 || count == 32))
    }

    @Test(arguments: 0..<32) func refusesATagWithAnyByteChanged(index: Int) {
        var tag = Self.code
        tag[index] ^= 0x80
        #expect(!HMACSHA256.isValid(tag, for: [1, 2, 3], key: [9]))
        #expect(HMACSHA256.isValid(Array(tag.prefix(16)), for: [1, 2, 3], key: [9]) == (index >= 16))
    }

    @Test func refusesTheSecondHalf() {
        #expect(!HMACSHA256.isValid(Array(Self.code.suffix(16)), for: [1, 2, 3], key: [9]))
    }
}

@Suite struct HKDFSHA256Tests {
    @Test(arguments: [1, 31, 32, 33, 8159, 8160]) func derivesAPrefixOfTheLongestOutput(length: Int) throws {
        let longest = try HKDFSHA256.derive(secret: [1], salt: [2], info: [3], length: 8160)
        let output = try HKDFSHA256.derive(secret: [1], salt: [2], info: [3], length: length)
        #expect(output == Array(longest.prefix(length)))
        #expect(output.count == length)
    }

    @Test(arguments: [Int.min, -1, 0, 8161, Int.max]) func refusesALengthTheRFCHasNot(length: Int) {
        let error = #expect(throws: CryptoError.self) {
            try HKDFSHA256.derive(secret: [1], salt: [], info: [], length: length)
        }
        #expect(error?.code == .wrongLength)
        #expect(error?.message == "expected a length of 1 to 8160 bytes to derive, not \(length)")
    }

    @Test func takesAnEmptySecret() throws {
        let output = try HKDFSHA256.derive(secret: [], salt: [], info: [], length: 32)
        #expect(output.count == 32)
    }
}
