import CommandLineKit
import Testing

/// SplitMix64, so that a seed makes the same command lines everywhere.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

@Suite struct ArbitraryArgumentsTests {
    private static let words = [
        "put", "take", "list", "shed", "open", "close", "refused", "retry", "discard", "help", "fail", "manual",
        "completions", "bash", "mapped", "stray", "name", "--by", "--by=x", "--label", "--for=", "--key", "-k", "-nv",
        "-o", "-ofile", "--json", "--quiet", "--help", "-h", "--version", "--home", "--", "-", "---", "--=", "-=", "=",
        "", " ", "a=1", "é", "-é", "--é=ü", "\u{0}", "\u{1B}[2J", "\u{202E}", "\u{301}", "-\u{301}", "👩‍👩‍👧", "-👩‍👩‍👧",
    ]

    private static func word(from generator: inout SeededGenerator) -> String {
        if Int.random(in: 0..<4, using: &generator) > 0 { return words.randomElement(using: &generator) ?? "" }
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...80, using: &generator) {
            let limit: UInt32 = Bool.random(using: &generator) ? 0x80 : 0x11_0000
            if let scalar = Unicode.Scalar(UInt32.random(in: 0..<limit, using: &generator)) { text.append(scalar) }
        }
        return String(text)
    }

    @Test(arguments: [1, 2, 3, UInt64.random(in: .min ... .max)])
    func endsEveryCommandLineWithADocumentedExitCode(seed: UInt64) async {
        print("ArbitraryArgumentsTests seed \(seed)")
        var generator = SeededGenerator(state: seed)
        let documented = Set(ExitCode.documented.map(\.rawValue))
        for round in 0..<1500 {
            let arguments = (0..<Int.random(in: 0...8, using: &generator)).map { _ in Self.word(from: &generator) }
            let ran = await SampleProgram.program.ran(arguments)
            #expect(documented.contains(ran.code), "seed \(seed), round \(round): \(arguments)")
            #expect(!ran.error.unicodeScalars.contains("\u{1B}"), "seed \(seed), round \(round): \(arguments)")
            #expect(ran.code == 0 || !(ran.output + ran.error).isEmpty, "seed \(seed), round \(round): \(arguments)")
        }
    }
}
