import Foundation
import Tallystick
import Testing

/// The JSON parsing vectors: as strict readers judge them, but for texts deeper than ours reads.
@Suite struct JSONConformanceTests {
    private func judge(_ path: String) throws -> (accepted: Int, refused: Int, tooDeep: Int, all: Int) {
        var (accepted, refused, tooDeep) = (0, 0, 0)
        let cases = try OutsideFixtures.cases(path)
        for test in cases {
            let (name, bytes, strict) = try (test.text("name"), test.base64("base64"), test.text("strict"))
            do {
                _ = try JSON.parse(bytes)
                #expect(strict == "accept", "\(name)")
                accepted += 1
            } catch {
                if error.code == .tooDeep {
                    // Outside the profile: at most 32 levels, whatever comes after them.
                    #expect(depth(of: bytes) > JSON.greatestDepth, "\(name)")
                    tooDeep += 1
                } else {
                    #expect(strict == "reject", "\(name): \(error)")
                    refused += 1
                }
            }
        }
        return (accepted, refused, tooDeep, cases.count)
    }

    /// The greatest number of brackets open at once; the vectors in question have none in strings.
    private func depth(of bytes: [UInt8]) -> Int {
        var (open, greatest) = (0, 0)
        for byte in bytes {
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") { open += 1 }
            if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") { open -= 1 }
            greatest = max(greatest, open)
        }
        return greatest
    }

    @Test(.needsFixtures(214)) func judgesTheParsingVectors() throws {
        let counts = try judge("json/test-parsing.json")
        #expect(counts.all == 214)
        #expect(counts.accepted + counts.refused + counts.tooDeep == counts.all)
        #expect(counts.accepted == 62)
        #expect(counts.refused == 150)
        #expect(counts.tooDeep == 2)
    }

    @Test(.needsFixtures(14)) func judgesTheTransformingVectors() throws {
        let counts = try judge("json/test-transform.json")
        #expect(counts.all == 14)
        #expect(counts.accepted == 9)
        #expect(counts.refused == 5)
        #expect(counts.tooDeep == 0)
    }

    /// Numbers keep their text, and strings their bytes: nothing is rounded or normalised.
    @Test(.needsFixtures(14)) func keepsWhatItReads() throws {
        var checked = 0
        for test in try OutsideFixtures.cases("json/test-transform.json") where try test.text("strict") == "accept" {
            let bytes = try test.base64("base64")
            let value = try JSON.parse(bytes)
            let name = try test.text("name")
            if case .number(let text)? = value.elements?.first {
                #expect(bytes.starts(with: "[\(text)]".utf8), "\(name)")
                checked += 1
            }
            if let members = value.members {
                #expect(members.count == 2, "\(name): NFC and NFD names stay two")
                #expect(value["\u{E9}"]?.text == "NFC" && value["e\u{301}"]?.text == "NFD")
                checked += 1
            }
        }
        #expect(checked == 8)
    }
}
