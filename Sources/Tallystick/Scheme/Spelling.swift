/// Finds what a mistyped word was meant to be; the command line has its own for commands and options.
package enum Spelling {
    /// Longer words get no suggestion: the work grows with the square of the length.
    private static let longest = 64
    /// Nor are more candidates looked at: a hostile scheme could have many.
    private static let most = 1_000

    /// The candidate nearest to the word, the first of equals; nil if none is near enough to be meant.
    ///
    /// Near enough is a third of the word's length in edits, at least one, or a word with letters left out or put in,
    /// such as `maxLength` for `maximumLength`. Candidates that are the word itself are none.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let typed = lower(word)
        guard !typed.isEmpty, typed.count <= longest else { return nil }
        var best: (candidate: String, distance: Int)?
        for candidate in candidates.prefix(most) where !sameBytes(candidate, word) {
            let letters = lower(candidate)
            guard letters.count <= longest, !letters.isEmpty else { continue }
            var distance = distance(from: typed, to: letters)
            if distance > max(1, typed.count / 3) {
                let (short, long) = typed.count < letters.count ? (typed, letters) : (letters, typed)
                guard short.count >= 4, short.first == long.first, isPart(short, of: long) else { continue }
                distance += longest
            }
            if distance < (best?.distance ?? Int.max) { best = (candidate, distance) }
        }
        return best?.candidate
    }

    /// What to do about a word that is none of these: the nearest, and all there are, forty at most.
    ///
    /// - Parameter meant: Those that can have been meant, where it is not all.
    static func remedy(
        for word: String,
        among candidates: [String],
        meant: [String]? = nil,
        else none: String = "there are none"
    ) -> String {
        guard !candidates.isEmpty else { return none }
        let all = candidates.prefix(40).joined(separator: ", ") + (candidates.count > 40 ? "…" : "")
        let near = nearest(to: word, among: meant ?? candidates).map { "did you mean “\($0)”? " } ?? ""
        return candidates.count == 1 ? "\(near)there is only \(all)" : "\(near)there are \(all)"
    }

    private static func lower(_ text: String) -> [UInt8] {
        text.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    }

    /// Whether all letters of a word are in another in this order.
    private static func isPart(_ short: [UInt8], of long: [UInt8]) -> Bool {
        var left = short[...]
        for letter in long where letter == left.first { left.removeFirst() }
        return left.isEmpty
    }

    /// The number of letters to insert, delete, replace or swap with their neighbour (optimal string alignment).
    private static func distance(from first: [UInt8], to second: [UInt8]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...second.count)
        for row in 1...first.count {
            var current = [row]
            for (index, letter) in second.enumerated() {
                let isSame = first[row - 1] == letter
                var best = min(previous[index + 1] + 1, current[index] + 1, previous[index] + (isSame ? 0 : 1))
                if row > 1, index > 0, first[row - 2] == letter, first[row - 1] == second[index - 1] {
                    best = min(best, beforePrevious[index - 1] + 1)
                }
                current.append(best)
            }
            beforePrevious = previous
            previous = current
        }
        return previous.last ?? 0
    }
}
