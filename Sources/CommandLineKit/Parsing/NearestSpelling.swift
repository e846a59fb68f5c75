/// Finds what a mistyped word was meant to be.
enum NearestSpelling {
    /// Words longer than this get no suggestion: the work grows with the square of the length.
    private static let longest = 64

    /// The candidate nearest to the word, the first of equals; nil if none is near enough to be meant.
    ///
    /// Near enough is a third of the word's length in edits, at least one, or a beginning of three letters or more.
    static func of(_ word: String, among candidates: [String]) -> String? {
        let typed = Array(word.lowercased().utf8)
        guard !typed.isEmpty, typed.count <= longest else { return nil }
        let allowed = max(1, typed.count / 3)
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let letters = Array(candidate.lowercased().utf8)
            guard letters.count <= longest else { continue }
            var distance = distance(from: typed, to: letters)
            if distance > allowed {
                guard typed.count >= 3, letters.starts(with: typed) else { continue }
                distance = allowed + 1
            }
            if distance < (best?.distance ?? Int.max) { best = (candidate, distance) }
        }
        return best?.candidate
    }

    /// The number of letters to insert, delete, replace or swap with their neighbour (optimal string alignment).
    static func distance(from first: [UInt8], to second: [UInt8]) -> Int {
        guard !first.isEmpty else { return second.count }
        var beforePrevious: [Int] = []
        var previous = Array(0...second.count)
        for row in 1...first.count {
            var current = [row]
            current.reserveCapacity(second.count + 1)
            for (index, letter) in second.enumerated() {
                let column = index + 1
                let same = first[row - 1] == letter
                var best = min(previous[column] + 1, current[index] + 1, previous[index] + (same ? 0 : 1))
                if row > 1, column > 1, first[row - 2] == letter, first[row - 1] == second[index - 1] {
                    best = min(best, beforePrevious[column - 2] + 1)
                }
                current.append(best)
            }
            beforePrevious = previous
            previous = current
        }
        return previous.last ?? 0
    }
}
