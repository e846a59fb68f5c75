import Tallystick
import Testing

@Suite("Base45Tests")
struct Base45Tests {
    /// The examples of RFC 9285 sections 4.3 and 4.4.
    static let published: [(plain: String, encoded: String)] = [
        ("AB", "BB8"), ("Hello!!", "%69 VD92EX0"), ("base-45", "UJCLQE7W581"), ("ietf!", "QED8WEX0"), ("", ""),
    ]

    @Test(arguments: published)
    func agreesWithThePublishedExamples(_ example: (plain: String, encoded: String)) {
        #expect(Base45.encode(Array(example.plain.utf8)) == example.encoded)
        #expect(Base45.decode(example.encoded) == Array(example.plain.utf8))
        #expect(Base45.decode(Array(example.encoded.utf8)) == Array(example.plain.utf8))
    }

    @Test(arguments: [
        ("a length of 1", "A"), ("a length of 4", "BB8A"), ("a triplet of 65,536", "GGW"),
        ("the largest triplet", ":::"),
        ("a pair of 256", "V5"), ("the largest pair", "::"), ("lower case", "bb8"), ("a comma", "BB,"),
        ("a line break", "BB8\n"), ("NUL", "BB\0"), ("a letter outside ASCII", "BBÉ"),
        ("a good start, then a bad end", "BB8GGW"),
    ])
    func refuses(what: String, text: String) {
        #expect(Base45.decode(text) == nil, "\(what)")
    }

    @Test func takesTheLargestTripletAndPair() {
        #expect(Base45.decode("FGW") == [0xFF, 0xFF])
        #expect(Base45.decode("U5") == [0xFF])
    }

    @Test func aSingleByteHasOneForm() {
        for byte in UInt8.min...UInt8.max {
            #expect(Base45.decode(Base45.encode([byte])) == [byte])
        }
    }

    @Test func randomBytesComeBackAndEveryTextHasOneReading() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var state = seed
        func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
        for _ in 0..<500 {
            let bytes = (0..<Int(next() % 70)).map { _ in UInt8(truncatingIfNeeded: next()) }
            let text = Base45.encode(bytes)
            #expect(Base45.decode(text) == bytes, "seed \(seed)")
            // Any text that decodes is the text its bytes encode to: nothing is signed in two spellings.
            let noise = (0..<Int(next() % 12)).map { _ in UInt8(truncatingIfNeeded: 32 + next() % 60) }
            if let decoded = Base45.decode(noise) {
                #expect(Array(Base45.encode(decoded).utf8) == noise, "seed \(seed)")
            }
        }
    }
}
