import Foundation
import Testing

@testable import Tallystick

@Suite("Pattern")
struct PatternTests {
    @Test(
        "matches whole texts only",
        arguments: [
            ("", "", true), ("", "a", false), ("abc", "abc", true), ("abc", "abcd", false), ("abc", "zabc", false),
            ("abc", "ab", false), ("a|bc", "a", true), ("a|bc", "bc", true), ("a|bc", "ac", false),
            ("a(b|)c", "ac", true), ("a(b|)c", "abc", true), ("()", "", true), ("(|a)*", "aaa", true),
            ("a?", "", true), ("a?", "aa", false), ("a*", "", true), ("a*", "aaaa", true), ("a+", "", false),
            ("a+", "aaa", true), ("a{3}", "aaa", true), ("a{3}", "aa", false), ("a{3}", "aaaa", false),
            ("a{2,4}", "a", false), ("a{2,4}", "aa", true), ("a{2,4}", "aaaa", true), ("a{2,4}", "aaaaa", false),
            ("a{2,}", "a", false), ("a{2,}", "aaaaaaa", true), ("a{0}", "", true), ("a{0}", "a", false),
            ("(ab){0,1}c", "abc", true), ("(ab){0,1}c", "ababc", false),
        ]
    )
    func matchesWholeTextsOnly(pattern: String, text: String, expected: Bool) throws {
        #expect(try Pattern(pattern).matches(text) == expected)
    }

    @Test(
        "knows sets, escapes and any character",
        arguments: [
            ("[A-C]", "B", true), ("[A-C]", "D", false), ("[^A-C]", "D", true), ("[^A-C]", "A", false),
            ("[-a]", "-", true), ("[a-]", "-", true), ("[a\\-z]", "-", true), ("[a\\-z]", "m", false),
            ("[\\]\\[]", "]", true), ("[.*]", ".", true), ("[.*]", "x", false), ("[a^]", "^", true),
            ("[+--]", ",", true), ("a\\.b", "a.b", true), ("a\\.b", "axb", false), ("\\\\", "\\", true),
            ("\\^\\$", "^$", true), (".", "x", true), (".", "", false), (".", "\n", false), (".", "\r", false),
            ("a/b-c,d e", "a/b-c,d e", true),
        ]
    )
    func knowsSets(pattern: String, text: String, expected: Bool) throws {
        #expect(try Pattern(pattern).matches(text) == expected)
    }

    @Test(
        "counts a character beyond ASCII once",
        arguments: [
            (".", "é", true), (".", "中", true), (".", "😀", true), ("..", "é", false), ("..", "e\u{301}", true),
            ("[^a]", "😀", true), ("[^a]{2}", "é", false), ("[a-z]", "é", false), ("(?i)k", "\u{212A}", false),
            ("[^\u{20}-~]", "ß", true),
        ]
    )
    func countsScalars(pattern: String, text: String, expected: Bool) throws {
        #expect(try Pattern(pattern).matches(text) == expected)
    }

    @Test(
        "ignores the case of ASCII letters when told to",
        arguments: [
            ("(?i)epr/[a-f]{2}", "EPR/Ab", true), ("(?i)EPR", "epr", true), ("EPR", "epr", false),
            ("(?i)[^a]", "A", false), ("(?i)[^A]", "a", false), ("(?i)[Z-a]", "A", true), ("(?i)[Z-a]", "z", true),
            ("(?i)@", "`", false), ("(?i)[@]", "`", false), ("(?i)", "", true),
        ]
    )
    func ignoresCase(pattern: String, text: String, expected: Bool) throws {
        #expect(try Pattern(pattern).matches(text) == expected)
    }

    @Test(
        "says where a pattern goes wrong",
        arguments: [
            ("a)", 1), ("(a", 0), ("(a|(b)", 0), ("*a", 0), ("a|+", 2), ("{2}", 0), ("a**", 2), ("a+?", 2),
            ("a{2}{3}", 4),
            ("a{", 2), ("a{x}", 2), ("a{,3}", 2), ("a{2", 3), ("a{3,2}", 5), ("a{4001}", 2), ("a}", 1), ("a]", 1),
            ("[", 0), ("[]", 0), ("[^]", 0), ("[ab", 0), ("[b-a]", 4), ("[a[b]", 2), ("[a-b-c]", 4), ("^a", 0),
            ("a$", 1),
            ("a\\", 2), ("\\d", 1), ("[\\w]", 2), ("[a-\\", 4), ("[a-", 3), ("(?:a)", 1), ("a(?i)", 2), ("aé", 1),
            ("a\u{7F}", 1), ("a\n", 1), ("a{99999999999999999999}", 2),
        ]
    )
    func saysWhere(pattern: String, position: Int) {
        let error = #expect(throws: PatternError.self) { try Pattern(pattern) }
        #expect(error?.position == position, "\(error?.message ?? "")")
        #expect(error?.message.isEmpty == false)
    }

    @Test("reads a pattern of 512 bytes and refuses one of 513")
    func boundsTheText() throws {
        let longest = String(repeating: "a", count: 512)
        #expect(try Pattern(longest).matches(longest))
        #expect(throws: PatternError.self) { try Pattern(longest + "a") }
    }

    @Test("reads groups nested 32 deep and refuses 33")
    func boundsNesting() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "a" + String(repeating: ")", count: depth)
        }
        #expect(try Pattern(nested(32)).matches("a"))
        let error = #expect(throws: PatternError.self) { try Pattern(nested(33)) }
        #expect(error?.position == 33)
        #expect(try Pattern(String(repeating: "(a)", count: 100)).matches(String(repeating: "a", count: 100)))
    }

    @Test("writes out up to 4,000 states, the last of them the match")
    func boundsStates() throws {
        #expect(try Pattern("a{3999}").matches(String(repeating: "a", count: 3999)))
        #expect(throws: PatternError.self) { try Pattern("a{4000}") }
        #expect(throws: PatternError.self) { try Pattern("((a{20}){20}){20}") }
    }

    @Test(
        "refuses repetitions of nothing that would never be written out",
        arguments: [
            "((((((){999}){999}){999}){999}){999})", "(((((a{0}){999}){999}){999}){999})", "((((|){999}){999}){999})",
            "(((){4000}){4000}){0}((((){4000}){4000}){4000}){4000}",
        ]
    )
    func boundsEmptyRepetitions(pattern: String) {
        #expect(throws: PatternError.self) { try Pattern(pattern) }
    }

    /// A backtracking matcher needs more steps for these than there are atoms; here they are over at once.
    @Test(
        "stays linear where backtracking would not",
        arguments: [
            ("(a*)*b", 20_000, "", false), ("(a*)*b", 20_000, "b", true), ("(a|a)*", 20_000, "", true),
            ("(a|a)*", 20_000, "b", false), ("(a?){50}a{50}", 50, "", true), ("(a?){50}a{50}", 100, "", true),
            ("(a?){50}a{50}", 20_000, "", false), ("((a+)+)+c", 20_000, "b", false), ("(a|aa)+", 20_000, "b", false),
            ("(.*)(.*)(.*)(.*)(.*)x", 5_000, "", false), ("((a*)*)*", 20_000, "", true),
            ("(()*a*)*b", 5_000, "", false),
        ]
    )
    func staysLinear(pattern: String, count: Int, end: String, expected: Bool) throws {
        #expect(try Pattern(pattern).matches(String(repeating: "a", count: count) + end) == expected)
    }

    @Test("agrees with NSRegularExpression on random patterns and texts")
    func agreesWithFoundation() throws {
        let seed =
            ProcessInfo.processInfo.environment["TALLY_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1 ... .max)
        print("PatternTests seed: TALLY_SEED=\(seed)")
        var source = PatternSource(seed: seed)
        var counts = (matching: 0, differing: 0)
        for round in 0..<1_500 {
            let folds = source.chance(4)
            let node = source.node(depth: 3)
            let written = (folds ? "(?i)" : "") + node.written
            let pattern = try Pattern(written)
            let reference = try NSRegularExpression(pattern: "\\A(?:" + written + ")\\z")
            for _ in 0..<8 {
                let text = source.text(for: node)
                let range = NSRange(text.startIndex..., in: text)
                let expected = reference.firstMatch(in: text, range: range) != nil
                let matched = pattern.matches(text)
                if expected { counts.matching += 1 } else { counts.differing += 1 }
                #expect(matched == expected, "seed \(seed), round \(round): \(written) on \(text.debugDescription)")
            }
        }
        // Both answers must come up often, or agreeing means nothing.
        #expect(counts.matching > 2_000 && counts.differing > 2_000, "seed \(seed): \(counts)")
    }
}

/// Random patterns, and texts that they probably match.
private struct PatternSource {
    indirect enum Node {
        case literal(Character)
        case any
        case set([(Character, Character)], inverted: Bool)
        case sequence([Node])
        case choice([Node])
        case repeated(Node, least: Int, most: Int?)

        var written: String {
            switch self {
            case .literal(let character): Self.escaped(character)
            case .any: "."
            case .set(let ranges, let inverted):
                "[" + (inverted ? "^" : "")
                    + ranges.map { $0 == $1 ? Self.escaped($0) : Self.escaped($0) + "-" + Self.escaped($1) }.joined()
                    + "]"
            case .sequence(let parts): parts.map(\.grouped).joined()
            case .choice(let branches): branches.map(\.written).joined(separator: "|")
            case .repeated(let part, let least, let most):
                switch (least, most) {
                case (0, 1): part.unit + "?"
                case (0, nil): part.unit + "*"
                case (1, nil): part.unit + "+"
                case (_, nil): part.unit + "{\(least),}"
                case (_, least): part.unit + "{\(least)}"
                case (_, .some(let most)): part.unit + "{\(least),\(most)}"
                }
            }
        }

        private var grouped: String {
            if case .choice = self { "(" + written + ")" } else { written }
        }

        private var unit: String {
            switch self {
            case .literal, .any, .set: written
            default: "(" + written + ")"
            }
        }

        static func escaped(_ character: Character) -> String {
            character.isLetter || character.isNumber || character == " " || character == "/"
                ? String(character) : "\\" + String(character)
        }
    }

    private static let alphabet: [Character] = [
        "a", "b", "c", "A", "B", "Z", "0", "1", "9", "-", ".", "/", "^", "]", " ",
    ]
    private static let strangers: [Character] = ["a", "b", "B", "1", "-", "é", "中", "😀", "_", "@", "`"]
    private static let ranges: [(Character, Character)] = [
        ("a", "c"), ("A", "Z"), ("0", "9"), ("b", "b"), ("-", "-"), ("Z", "a"),
    ]
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// SplitMix64.
    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    private mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    mutating func chance(_ oneIn: Int) -> Bool { below(oneIn) == 0 }

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    mutating func node(depth: Int) -> Node {
        switch depth == 0 ? below(4) : below(10) {
        case 0, 1: return .literal(pick(Self.alphabet))
        case 2: return chance(3) ? .any : .literal(pick(Self.alphabet))
        case 3:
            let count = 1 + below(3)
            return .set((0..<count).map { _ in pick(Self.ranges) }, inverted: chance(4))
        case 4, 5, 6:
            let count = below(4)
            return .sequence((0..<count).map { _ in node(depth: depth - 1) })
        case 7:
            let count = 2 + below(2)
            return .choice((0..<count).map { _ in node(depth: depth - 1) })
        default:
            let least = below(3)
            return .repeated(node(depth: depth - 1), least: least, most: chance(2) ? nil : least + below(3))
        }
    }

    /// A text of the pattern's language, often with a mistake put in; short, since the reference backtracks.
    mutating func text(for node: Node) -> String {
        var characters = Array(sample(node).prefix(10))
        if chance(2) {
            let place = below(characters.count + 1)
            switch below(4) {
            case 0 where place < characters.count: characters.remove(at: place)
            case 1 where place < characters.count: characters[place] = pick(Self.strangers)
            case 2: characters.insert(pick(Self.strangers), at: place)
            default: characters.append(pick(Self.alphabet))
            }
        }
        return String(characters)
    }

    private mutating func sample(_ node: Node) -> [Character] {
        switch node {
        case .literal(let character): return [character]
        case .any: return [pick(Self.strangers)]
        case .set(let ranges, let inverted):
            if inverted { return [pick(Self.strangers)] }
            let range = pick(ranges)
            return [chance(2) ? range.0 : range.1]
        case .sequence(let parts): return parts.flatMap { sample($0) }
        case .choice(let branches): return sample(pick(branches))
        case .repeated(let part, let least, let most):
            let times = most.map { least + below($0 - least + 1) } ?? least + below(3)
            return (0..<times).flatMap { _ in sample(part) }
        }
    }
}
