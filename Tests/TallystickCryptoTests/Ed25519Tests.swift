import TallystickCrypto
import Testing

@Suite struct Ed25519Tests {
    static let message = Array("12.340 t of soil".utf8)

    @Test(arguments: [0, 31, 33, 64]) func refusesASeedThatIsNot32Bytes(count: Int) {
        let error = #expect(throws: CryptoError.self) { try SigningKey(seed: [UInt8](repeating: 1, count: count)) }
        #expect(error?.code == .wrongLength)
        #expect(error?.message == "expected a seed of 32 bytes, not \(count)")
    }

    @Test func makesTheSameKeyAndSignatureFromTheSameSeed() throws {
        let key = SigningKey.generate()
        let again = try SigningKey(seed: key.seed)
        #expect(again.publicKey == key.publicKey)
        #expect(again.signature(for: Self.message) == key.signature(for: Self.message))
        #expect(key.publicKey.isValid(again.signature(for: Self.message), for: Self.message))
        #expect(SigningKey.generate().publicKey != key.publicKey)
    }

    @Test func signsTheDomainALineFeedAndTheMessage() {
        let key = SigningKey.generate()
        let domain = "tallystick/event/v1"
        let signature = key.signature(for: Self.message, domain: domain)
        #expect(signature == key.signature(for: Array(domain.utf8) + [0x0a] + Self.message))
        #expect(key.publicKey.isValid(signature, for: Self.message, domain: domain))
        #expect(key.publicKey.isValid(signature, for: Self.message[...], domain: domain))
        #expect(key.signature(for: ([0] + Self.message).dropFirst(), domain: domain) == signature)
    }

    @Test func refusesASignatureOfAnotherDomain() {
        let key = SigningKey.generate()
        let signature = key.signature(for: Self.message, domain: "tallystick/event/v1")
        #expect(!key.publicKey.isValid(signature, for: Self.message, domain: "tallystick/certificate/v1"))
        #expect(!key.publicKey.isValid(signature, for: Self.message))
        #expect(!SigningKey.generate().publicKey.isValid(signature, for: Self.message, domain: "tallystick/event/v1"))
    }

    @Test(arguments: [0, 1, 32, 63, 65, 128]) func refusesASignatureThatIsNot64Bytes(count: Int) {
        let key = SigningKey.generate()
        let signature = key.signature(for: Self.message)
        let cut = Array((signature + signature).prefix(count))
        #expect(!key.publicKey.isValid(cut, for: Self.message))
        #expect(!key.publicKey.isValid(cut, for: Self.message, domain: "d"))
    }

    @Test(arguments: [0, 31, 33]) func refusesAPublicKeyThatIsNot32Bytes(count: Int) {
        #expect(PublicKey(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func givesBackThePublicKeysBytes() throws {
        let key = SigningKey.generate().publicKey
        #expect(PublicKey(bytes: key.bytes) == key)
        #expect(key.description == Hex.encode(key.bytes))
    }

    @Test func describesASigningKeyWithoutItsSecret() {
        let key = SigningKey.generate()
        for text in ["\(key)", String(reflecting: key), "\([key])"] {
            #expect(text.contains("SigningKey(publicKey: \(key.publicKey))"))
            #expect(!text.contains(Hex.encode(key.seed)))
            #expect(!text.contains("secret"))
        }
    }

    @Test func startsOnceWhateverTheNumberOfTasks() async {
        await withTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<64 { group.addTask { SigningKey.generate().publicKey.bytes } }
            var keys: Set<[UInt8]> = []
            for await key in group { keys.insert(key) }
            #expect(keys.count == 64)
        }
    }
}

@Suite struct SecureRandomTests {
    @Test(arguments: [-1, 0, 1, 8, 32, 5000]) func givesAsManyBytesAsAsked(count: Int) {
        #expect(SecureRandom.bytes(count).count == max(0, count))
    }

    @Test func givesOtherBytesEachTime() {
        #expect(Set((0..<100).map { _ in SecureRandom.bytes(16) }).count == 100)
    }
}

@Suite struct ConstantTimeTests {
    @Test func isTrueForEqualBytesOnly() {
        #expect(ConstantTime.equal([], []))
        #expect(ConstantTime.equal([1, 2, 3], [1, 2, 3]))
        #expect(!ConstantTime.equal([1, 2, 3], [1, 2, 4]))
        #expect(!ConstantTime.equal([0, 2, 3], [1, 2, 3]))
        #expect(!ConstantTime.equal([1, 2, 3], [1, 2]))
        #expect(!ConstantTime.equal([], [0]))
    }
}
