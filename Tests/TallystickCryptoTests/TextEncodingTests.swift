import Foundation
import TallystickCrypto
import Testing

@Suite struct Base64Tests {
    /// RFC 4648 section 10.
    static let examples: [(bytes: String, text: String)] = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ]

    @Test(arguments: examples) func writesAndReadsTheExamplesOfTheRFC(bytes: String, text: String) {
        #expect(Base64.encode(Array(bytes.utf8)) == text)
        #expect(Base64.decode(text) == Array(bytes.utf8))
    }

    @Test func agreesWithFoundation() {
        for count in 0...130 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count) }
            let text = Base64.encode(bytes)
            #expect(text == Data(bytes).base64EncodedString())
            #expect(Base64.decode(text) == bytes)
        }
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zg===", "=", "==", "===", "====", "Zg==Zg==", "Zm8=Zm8=", "Z=g=", "=Zg=", "Zg=g", "Zh==",
        "Zv==", "Zm9=", "Zm+=", "Zm9v\n", "Zm9v\nYmFy", " Zm9", "Zm 9v===", "Zm9-", "Zm9_", "Zm9\u{0}", "Zm\u{e9}",
        "Zm9v====", "A===", "\u{0}===",
    ])
    func refusesTextThatIsNotCanonical(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func readsEachCharacterOnlyIfItIsInTheAlphabet() {
        let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for byte in UInt8(0)...127 {
            for place in 0..<3 {
                var text: [UInt8] = Array("AAAA".utf8)
                text[place] = byte
                #expect((Base64.decode(String(decoding: text, as: UTF8.self)) != nil) == alphabet.contains(byte))
            }
        }
    }

    @Test func givesEachPaddedTextOneReadingAndEachReadingOneText() {
        for high in Base64Tests.symbols {
            for text in ["A\(high)==", "AA\(high)="] {
                guard let bytes = Base64.decode(text) else { continue }
                #expect(Base64.encode(bytes) == text)
            }
        }
        #expect(Base64Tests.symbols.filter { Base64.decode("A\($0)==") != nil }.count == 4)
        #expect(Base64Tests.symbols.filter { Base64.decode("AA\($0)=") != nil }.count == 16)
    }

    static let symbols = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}

@Suite struct HexTests {
    @Test func writesAndReadsEveryByte() {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = Hex.encode(bytes)
        #expect(text == bytes.map { String(format: "%02x", Int($0)) }.joined())
        #expect(Hex.decode(text) == bytes)
        #expect(Hex.encode([]) == "")
        #expect(Hex.decode("") == [])
    }

    @Test func refusesEveryCharacterThatIsNoLowerCaseDigit() {
        for byte in UInt8(0)...127 {
            let isDigit = "0123456789abcdef".utf8.contains(byte)
            let character = Character(UnicodeScalar(byte))
            #expect((Hex.decode("0\(character)") != nil) == isDigit)
            #expect((Hex.decode("\(character)0") != nil) == isDigit)
        }
    }

    @Test(arguments: ["0", "abc", "0x00", "é", "\u{ff10}0", "00 "]) func refusesOtherText(text: String) {
        #expect(Hex.decode(text) == nil)
    }
}
