/// Why a text is not a pattern.
public struct PatternError: Error, Sendable, Equatable {
    /// What was expected and what came, in lower case.
    public let message: String
    /// Where in the pattern, in bytes from its start; its length where something is missing at its end, 0
    /// where the whole is too large.
    public let position: Int
}

/// A pattern that a whole identifier matches or does not.
///
/// Schemes come from outside, and so do the values they judge: a matcher that backtracks could be kept busy for hours
/// by a pattern of ten characters. This one follows all ways through the pattern at once (Thompson 1968), so a match
/// costs at most the length of the text times the number of states, and both are bounded.
///
/// The language is ASCII and small:
///
/// - a character stands for itself; `\` before a punctuation character makes it stand for itself too;
/// - `.` is any one character (Unicode scalar) but a line feed or carriage return;
/// - `[A-Z0-9]`, `[^/]` are one character of a set, or one not of it (line ends and characters beyond ASCII included);
/// - `(a|b)` groups and chooses; a choice may be empty;
/// - `?` `*` `+` `{3}` `{2,5}` `{3,}` repeat what stands before them, once only: `a**` needs a group;
/// - `(?i)` at the very start makes the ASCII letters match in either case.
///
/// There are no anchors, since the whole text must match, and no captures, references or letter escapes.
public struct Pattern: Sendable {
    /// The pattern as it was written.
    public let text: String
    private let program: [Instruction]
    /// How many states it has once repetitions are written out.
    var stateCount: Int { program.count }

    /// Most bytes in a pattern.
    static let longestText = 512
    /// Most states once repetitions are written out.
    static let mostStates = 4_000
    /// Most groups inside each other.
    static let deepestNesting = 32

    /// Reads a pattern.
    ///
    /// Throws where it is not of the language above, is longer than 512 bytes, has groups nested more than 32 deep, or
    /// needs more than 4,000 states once its repetitions are written out.
    public init(_ text: String) throws(PatternError) {
        var parser = PatternParser(text)
        let tree = try parser.parse()
        var compiler = PatternCompiler()
        try compiler.add(tree)
        try compiler.append(.match)
        self.text = text
        program = compiler.program
    }

    /// Whether the whole text matches; linear in its length.
    public func matches(_ text: String) -> Bool {
        var current = Frontier(capacity: program.count)
        var next = Frontier(capacity: program.count)
        follow(0, into: &current)
        for byte in text.utf8 where byte & 0xC0 != 0x80 {  // a scalar counts once: by its first byte
            if current.states.isEmpty { return false }
            next.clear()
            for state in current.states {
                if case .character(let set) = program[state], set.contains(byte) { follow(state + 1, into: &next) }
            }
            swap(&current, &next)
        }
        return current.states.contains { program[$0] == .match }
    }

    /// Adds a state and all that are reached from it without reading anything.
    private func follow(_ start: Int, into frontier: inout Frontier) {
        frontier.open.append(start)
        while let state = frontier.open.popLast() {
            switch program[state] {
            case .character, .match: frontier.insert(state)
            case .jump(let target):
                // Marked also where nothing is read, or an empty loop such as (a*)* would go round for ever.
                if frontier.visit(state) { frontier.open.append(target) }
            case .split(let one, let other):
                if frontier.visit(state) {
                    frontier.open.append(other)
                    frontier.open.append(one)
                }
            }
        }
    }
}

/// The states a matcher is in after some of the text.
private struct Frontier {
    /// Those that read a character or match.
    private(set) var states: [Int] = []
    /// Those still to be followed; empty between characters.
    var open: [Int] = []
    private var marks: [UInt32]
    private var generation: UInt32 = 1

    init(capacity: Int) {
        marks = Array(repeating: 0, count: capacity)
        states.reserveCapacity(capacity)
    }

    /// Marks a state; false where it was marked already.
    mutating func visit(_ state: Int) -> Bool {
        if marks[state] == generation { return false }
        marks[state] = generation
        return true
    }

    mutating func insert(_ state: Int) {
        if visit(state) { states.append(state) }
    }

    mutating func clear() {
        states.removeAll(keepingCapacity: true)
        if generation == .max {
            for index in marks.indices { marks[index] = 0 }
            generation = 0
        }
        generation += 1
    }
}

/// One state of the matcher; all but `jump` and `split` go on to the next one.
private enum Instruction: Equatable {
    case character(ScalarSet)
    case jump(Int)
    case split(Int, Int)
    case match
}

/// Writes a tree out as states.
private struct PatternCompiler {
    private(set) var program: [Instruction] = []

    mutating func append(_ instruction: Instruction) throws(PatternError) {
        guard program.count < Pattern.mostStates else {
            throw PatternError(
                message: "expected a pattern of at most \(Pattern.mostStates) states once repetitions are written out",
                position: 0
            )
        }
        program.append(instruction)
    }

    /// Adds at least one state for every node, even an empty one: repetitions of nothing must not be free either, or
    /// `((((){999}){999}){999}){999}` would run for ever within the limit.
    mutating func add(_ node: PatternNode) throws(PatternError) {
        switch node {
        case .empty: try append(.jump(program.count + 1))
        case .character(let set): try append(.character(set))
        case .sequence(let parts): for part in parts { try add(part) }
        case .choice(let branches): try add(choice: branches)
        case .repeated(let part, let least, let most):
            for _ in 0..<least { try add(part) }
            if let most {
                if most == 0 { try add(.empty) }
                try add(optional: part, times: most - least)
            } else {
                try add(loop: part)
            }
        }
    }

    private mutating func add(choice branches: [PatternNode]) throws(PatternError) {
        var ends: [Int] = []
        for (number, branch) in branches.enumerated() {
            guard number < branches.count - 1 else {
                try add(branch)
                break
            }
            let fork = program.count
            try append(.split(0, 0))
            try add(branch)
            ends.append(program.count)
            try append(.jump(0))
            program[fork] = .split(fork + 1, program.count)
        }
        for end in ends { program[end] = .jump(program.count) }
    }

    private mutating func add(loop part: PatternNode) throws(PatternError) {
        let fork = program.count
        try append(.split(0, 0))
        try add(part)
        try append(.jump(fork))
        program[fork] = .split(fork + 1, program.count)
    }

    private mutating func add(optional part: PatternNode, times: Int) throws(PatternError) {
        var forks: [Int] = []
        for _ in 0..<times {
            forks.append(program.count)
            try append(.split(0, 0))
            try add(part)
        }
        for fork in forks { program[fork] = .split(fork + 1, program.count) }
    }
}
