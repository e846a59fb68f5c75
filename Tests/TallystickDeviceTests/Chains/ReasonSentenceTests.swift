import Foundation
import Tallystick
import Testing

@Suite("Reason sentences")
struct ReasonSentenceTests {
    @Test("cover every reason code there is")
    func coverAll() throws {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources/Tallystick/Chain/Verdict.swift")
        let text = try String(contentsOf: source, encoding: .utf8)
        let declared = text.matches(of: /ReasonCode\("([a-z-]+)"\)/).map { String($0.1) }
        #expect(declared.count == 54)
        #expect(Set(declared) == Set(ReasonCode.all.map(\.description)))
    }

    @Test("say what is wrong and what to do", arguments: ReasonCode.all.map(\.description))
    func areSentences(code: String) {
        for reason in [Reason(ReasonCode(code)), Reason(ReasonCode(code), "subject", "Do this instead.")] {
            let sentence = reason.sentence
            #expect(sentence.first?.isUppercase == true, "\(sentence)")
            #expect(sentence.hasSuffix(".") || sentence.hasSuffix(")"), "\(sentence)")
            #expect(sentence.count > 20)
            #expect(!sentence.contains("newest version of the program to read why"), "\(code) has no sentence")
        }
    }

    @Test("own up to reasons of later versions")
    func ownUp() {
        #expect(Reason(ReasonCode("from-the-future")).sentence.contains("from-the-future"))
    }
}
