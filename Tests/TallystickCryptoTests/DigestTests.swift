import TallystickCrypto
import Testing

@Suite struct DigestTests {
    static let bytes: [UInt8] = (0..<32).map { UInt8($0 * 8 + 3) }
    static let hex = Hex.encode(bytes)

    @Test func givesBackTheBytesAndDigitsItWasMadeOf() throws {
        let digest = try #require(Digest(bytes: Self.bytes))
        #expect(digest.bytes == Self.bytes)
        #expect(digest.hex == Self.hex)
        #expect(digest.description == Self.hex)
        #expect(Digest(hex: Self.hex) == digest)
    }

    @Test func takesSlicesAndCollectionsThatAreNotContiguous() {
        let digest = Digest(bytes: Self.bytes)
        #expect(Digest(bytes: ([7] + Self.bytes)[1...]) == digest)
        let lazy = Self.bytes.lazy.map { $0 }
        #expect(Digest(bytes: lazy) == digest)
        #expect(Digest(bytes: Array(Self.bytes.reversed()).reversed()) == digest)
    }

    @Test(arguments: [0, 1, 31, 33, 64]) func refusesAnyOtherNumberOfBytes(count: Int) {
        #expect(Digest(bytes: [UInt8](repeating: 0, count: count)) == nil)
        #expect(Digest(bytes: repeatElement(0, count: count)) == nil)
    }

    static let badTexts: [String] = {
        let short = String(hex.dropLast())
        let lastDigits = ["g", "/", ":", "`", "G", "\n", "\u{0}", "é", "00", ""]
        return lastDigits.map { short + $0 } + ["", hex.uppercased(), "0x" + hex.dropLast(2), " " + short]
    }()

    @Test(arguments: badTexts)
    func refusesTextThatIsNot64LowerCaseDigits(text: String) {
        #expect(Digest(hex: text) == nil)
    }

    @Test(arguments: 0..<64) func refusesABadDigitAtEveryPlace(index: Int) {
        var text = Array(Self.hex.utf8)
        text[index] = 0x41  // "A"
        #expect(Digest(hex: String(decoding: text, as: UTF8.self)) == nil)
    }

    @Test(arguments: 0..<32) func ordersByTheFirstByteThatDiffers(index: Int) throws {
        var larger = Self.bytes
        larger[index] += 1
        for later in (index + 1)..<33 where later < 32 { larger[later] = 0 }
        let (left, right) = try (#require(Digest(bytes: Self.bytes)), #require(Digest(bytes: larger)))
        #expect(left < right)
        #expect(!(right < left))
        #expect(left != right)
        #expect(!(left < left))
        #expect(left.hex < right.hex)
    }

    @Test func isAKeyOfADictionary() throws {
        let digests = (0..<100).map { SHA256.hash([UInt8($0)]) }
        let places = Dictionary(uniqueKeysWithValues: zip(digests, 0...))
        #expect(places[SHA256.hash([42])] == 42)
        #expect(Set(digests).count == 100)
    }
}
