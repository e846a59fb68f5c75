import Foundation
import TallystickQR
import Testing

@Suite("PhotographTests")
struct PhotographTests {
    static let folder = Samples.fixtures.appendingPathComponent("qr-photos")

    // Reported as skipped, not passed, where the photographs (12.6 MB, not in the repository) are absent.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: folder.appendingPathComponent("expected.tsv").path)))
    func readsTheDevelopmentPhotographs() throws {
        let expected = try Self.expectedTexts()
        var right: [String] = []
        var missed: [String] = []
        var wrong: [String] = []
        for (file, texts) in expected {
            let bytes = [UInt8](try Data(contentsOf: Self.folder.appendingPathComponent(file)))
            var open = texts
            let symbols = try QRDecoder.symbols(in: ImageReader.read(bytes), budget: Samples.unhurried) { bytes in
                open.remove(Self.normal(String(decoding: bytes, as: UTF8.self)))
                return open.isEmpty
            }
            for symbol in symbols where symbol.kind == .code {
                let text = Self.normal(String(decoding: symbol.bytes, as: UTF8.self))
                if !texts.contains(text) { wrong.append("\(file) at \(symbol.stage): \(text.debugDescription)") }
            }
            if open.isEmpty {
                right.append("\(file) \(Set(symbols.map(\.stage)).sorted())")
            } else {
                missed.append(file)
            }
        }
        #expect(expected.count == 40, "the runner must see every picture")
        #expect(wrong.isEmpty, "wrong texts: \(wrong)")
        #expect(right.count >= 37, "right: \(right); missed: \(missed)")
        print("photographs read: \(right.count) of \(expected.count); missed: \(missed.sorted())")
    }

    /// The texts expected of each picture.
    private static func expectedTexts() throws -> [String: Set<String>] {
        let table = try String(contentsOf: folder.appendingPathComponent("expected.tsv"), encoding: .utf8)
        var expected: [String: Set<String>] = [:]
        for line in table.split(separator: "\n").dropFirst() {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            try #require(fields.count >= 2)
            expected[String(fields[0]), default: []].insert(normal(unescaped(fields[1])))
        }
        return expected
    }

    private static func unescaped(_ field: Substring) -> String {
        var text = ""
        var isEscaped = false
        for character in field {
            guard isEscaped else {
                if character == "\\" { isEscaped = true } else { text.append(character) }
                continue
            }
            isEscaped = false
            switch character {
            case "n": text.append("\n")
            case "r": text.append("\r")
            case "t": text.append("\t")
            default: text.append(character)
            }
        }
        return text
    }

    /// The text with line feeds only and without one at the end, as the fixtures' README asks.
    private static func normal(_ text: String) -> String {
        let unix = text.replacingOccurrences(of: "\r\n", with: "\n")
        return unix.hasSuffix("\n") ? String(unix.dropLast()) : unix
    }
}
