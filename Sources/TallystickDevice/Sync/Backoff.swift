/// How long to wait before another try: twice as long each time, up to 30 minutes, with chance in it so that devices
/// that failed together do not come back together.
enum Backoff {
    /// The longest wait, in milliseconds.
    static let longest: Int64 = 30 * 60_000
    private static let shortest: Int64 = 5_000

    /// The milliseconds to wait after this many failed attempts: between half of the full wait and all of it.
    ///
    /// - Parameters:
    ///   - attempts: The failed attempts so far, from 1.
    ///   - chance: Two random bytes.
    static func milliseconds(after attempts: Int, chance: [UInt8]) -> Int64 {
        let doublings = min(max(attempts - 1, 0), 20)
        let full = min(shortest << Int64(doublings), longest)
        let part = chance.prefix(2).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return full / 2 + full / 2 * part / 65_535
    }
}
