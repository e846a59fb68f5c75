import Foundation
import TallystickTestSupport

/// The seed of a run: `TALLY_SEED`, or another one each time; a failing test names it, so that it can be replayed.
enum Seed {
    static let value: UInt64 = {
        let asked = ProcessInfo.processInfo.environment["TALLY_SEED"].flatMap { UInt64($0) }
        let seed = asked ?? UInt64.random(in: 0..<1_000_000_000)
        print("Property tests run with TALLY_SEED=\(seed)")
        return seed
    }()

    /// A generator of one test's own.
    static func generator(_ name: String = #function) -> SeededGenerator {
        SeededGenerator(seed: name.utf8.reduce(value) { $0 &* 31 &+ UInt64($1) })
    }

    /// What to say beside a failure.
    static var note: String { "replay with TALLY_SEED=\(value)" }
}
