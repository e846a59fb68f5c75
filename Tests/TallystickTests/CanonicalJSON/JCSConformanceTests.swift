import Tallystick
import Testing

/// RFC 8785 vectors: what is in our integer-only profile byte for byte, what is outside refused by its name.
@Suite struct JCSConformanceTests {
    /// Whether the value is written, as these bytes; false where a number is outside the profile, and refused as that.
    private func isWritten(_ input: [UInt8], as output: [UInt8], _ name: String) throws -> Bool {
        let value = try JSON.parse(input)
        do {
            let written = try value.canonicalBytes()
            #expect(written == output, "\(name)")
            let read = try JSON.parseCanonical(output[...])
            #expect(try read == JSON.parse(output), "\(name)")
            return true
        } catch {
            #expect(error.code == .notProfileNumber, "\(name)")
            return false
        }
    }

    @Test(.needsFixtures(4)) func writesUpstreamsPairs() throws {
        var outside: [String] = []
        let names = try OutsideFixtures.names(in: "jcs/pairs/input")
        for name in names {
            let input = try OutsideFixtures.bytes("jcs/pairs/input/\(name)")
            let output = try OutsideFixtures.bytes("jcs/pairs/output/\(name)")
            let digits = try OutsideFixtures.bytes("jcs/pairs/outhex/\(name.replacing(".json", with: ".txt"))")
            let hex = try ["hex": String(decoding: digits.filter { $0 > 0x20 }, as: UTF8.self)].hex("hex")
            #expect(hex == output, "\(name)")
            if try !isWritten(input, as: output, name) { outside.append(name) }
        }
        #expect(names.count == 4)
        #expect(outside == ["structures.json", "values.json"])
    }

    @Test(.needsFixtures(12)) func writesOwnPairs() throws {
        let cases = try OutsideFixtures.cases("jcs/own-pairs.json")
        var outside: [Int] = []
        for (index, pair) in cases.enumerated()
        where try !isWritten(pair.hex("inputHex"), as: pair.hex("outputHex"), "pair \(index)") {
            outside.append(index)
        }
        #expect(cases.count == 12)
        #expect(outside == [2, 5, 10])
    }

    /// The numbers are given as texts that JCS writes: those of the profile are written, all others refused.
    private func written(_ texts: [String]) throws -> (inside: Int, outside: Int) {
        var (inside, outside) = (0, 0)
        for text in texts {
            do {
                #expect(try JSON.number(text).canonicalBytes() == Array(text.utf8))
                let integer = try #require(Int(text))
                #expect(abs(integer) <= 9_007_199_254_740_991 && !text.contains("e"), "\(text)")
                inside += 1
            } catch let error as JSONError {
                #expect(error.code == .notProfileNumber, "\(text)")
                let double = try #require(Double(text))
                #expect(double != double.rounded() || abs(double) > 9_007_199_254_740_991, "\(text) is in the profile")
                outside += 1
            }
        }
        return (inside, outside)
    }

    @Test(.needsFixtures(26)) func judgesTheNumbersOfAppendixB() throws {
        let cases = try OutsideFixtures.cases("jcs/appendix-b.json")
        let texts = cases.compactMap { $0["expect"] as? String }
        let errors = cases.filter { $0["error"] as? Bool == true }
        #expect(cases.count == 26)
        #expect(errors.count == 2 && texts.count + errors.count == cases.count)
        let (inside, outside) = try written(texts)
        #expect(inside == 2 && outside == 22)
    }

    @Test(
        .needsFixtures(5_000),
        arguments: [("jcs/es6-numbers-first-1000.csv", 1_000, 8), ("jcs/es6-numbers-random.csv", 4_000, 2)]
    )
    func judgesES6Numbers(path: String, count: Int, insideCount: Int) throws {
        let text = String(decoding: try OutsideFixtures.bytes(path), as: UTF8.self)
        let lines = text.split(separator: "\n")
        let (inside, outside) = try written(lines.compactMap { $0.split(separator: ",").last.map(String.init) })
        #expect(lines.count == count)
        #expect(inside == insideCount)
        #expect(inside + outside == count)
    }

    /// The codes a case may be refused by, by its basis; the rest of `profile` is for what reads objects.
    @Test(.needsFixtures(30)) func refusesWhatIsToBeRefused() throws {
        let cases = try OutsideFixtures.cases("jcs/own-reject.json")
        var counts: [String: Int] = [:]
        for test in cases {
            let (name, bytes, basis) = try (test.text("case"), test.hex("inputHex"), test.text("basis"))
            counts[basis, default: 0] += 1
            if basis == "profile" {
                if name == "top-level value is not an object" {
                    #expect(throws: EventError.self, "\(name)") { try Event(bytes: bytes[...]) }
                    #expect(throws: EventError.self, "\(name)") { try SignedEvent(line: bytes) }
                } else {
                    let error = #expect(throws: JSONError.self, "\(name)") { try JSON.parseCanonical(bytes[...]) }
                    #expect(error?.code == .notProfileNumber, "\(name)")
                }
                continue
            }
            let error = #expect(throws: JSONError.self, "\(name)") { try JSON.parse(bytes) }
            let expected: JSONError.Code =
                switch name {
                case _ where name.contains("surrogate") && !name.contains("CESU"), "two high surrogates":
                    .loneSurrogate
                case "raw byte ff", "CESU surrogate bytes", "truncated UTF-8", "UTF-8 BOM", "UTF-16 text": .encoding
                case _ where name.hasPrefix("duplicate"): .duplicateName
                case _ where name.hasPrefix("overflow"): .numberRange
                default: .syntax
                }
            #expect(error?.code == expected, "\(name)")
        }
        #expect(cases.count == 30)
        #expect(counts == ["rfc8785": 9, "i-json": 5, "json": 11, "profile": 5])
    }
}
