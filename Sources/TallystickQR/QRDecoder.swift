/// A QR code found in a picture.
package struct QRSymbol: Equatable, Sendable {
    /// What was found.
    package enum Kind: String, Sendable {
        /// A whole code.
        case code
        /// A part of a set (structured append) whose other parts are not in the picture.
        case partial
    }

    /// Whether the code is whole.
    package let kind: Kind
    /// The bytes it holds, NULs included; nothing is converted.
    package let bytes: [UInt8]
    /// The name of the stage that read it first, such as `native` or `keystone-left-12`.
    package let stage: String

    /// Collects what was found.
    package init(kind: Kind, bytes: [UInt8], stage: String) {
        self.kind = kind
        self.bytes = bytes
        self.stage = stage
    }

    /// The bytes as text, or nil where they are not UTF-8.
    package var text: String? { String(validating: bytes, as: UTF8.self) }
}

/// Finds QR codes in pictures, in this process.
///
/// Pictures that others made belong into `PictureDecoder`, which does the same in a process of its own.
package enum QRDecoder {
    /// How long one picture is looked at.
    package static let usualBudget = Duration.seconds(3)
    /// The most different codes in a picture; more are an error.
    package static let maximumSymbols = 16

    /// The version that libzbar says it has: major, minor and patch; nil where it does not say.
    ///
    /// Distributions fix security holes without changing it.
    package static var libraryVersion: (Int, Int, Int)? { ZBarScanner.version }

    /// Looks for codes until one is wanted or the time is up.
    ///
    /// The stages of `DecodingStage.ladder` run in their order, and in each the picture and its negative: libzbar
    /// looks at the negative only where the picture gave nothing, and a second offer must not hide that way. `wanted`
    /// is asked once for each new whole code, in the order they are found, and the search ends after the stage in
    /// which it said yes; it may keep count, so as to say yes only to the last part of a message. All symbols found
    /// until then are returned, each as often as one stage saw it, or none: that is no error.
    ///
    /// The first stage always runs; after it, a stage is left out where it would likely end past `budget`, counted
    /// from the call. Throws `too-many-codes` above 16 different ones, and `library-failure`.
    package static func symbols(
        in image: GrayImage,
        budget: Duration = usualBudget,
        wanted: ([UInt8]) -> Bool = { _ in true }
    ) throws(QRError) -> [QRSymbol] {
        let scanner = try ZBarScanner()
        var views = PictureViews(image)
        var found: [QRSymbol] = []
        var asked: Set<[UInt8]> = []
        var pace = Pace(budget: budget)
        func isDone(_ results: [ZBarScanner.Result]) -> Bool {
            let new = results.filter { $0.isWhole && asked.insert($0.bytes).inserted }
            return new.reduce(false) { done, result in wanted(result.bytes) || done }
        }
        for (index, stage) in DecodingStage.ladder(width: image.width, height: image.height).enumerated() {
            let area = views.area(for: stage)
            guard pace.leavesTime(for: area) else { continue }
            let picture = views.picture(for: stage)
            // Most codes show in every second line already, which takes half the time; it is not worth a retry later.
            var results = index == 0 ? try scanner.scan(picture, everySecondLine: true) : []
            var done = isDone(results)
            if !done {
                let all = try scanner.scan(picture)
                results = all + results.filter { !all.contains($0) }
            }
            let negative = try scanner.scan(picture.inverted(), everySecondLine: results.contains { $0.isWhole })
            results += negative.filter { !results.contains($0) }
            if isDone(results) { done = true }
            pace.note(area)
            let known = found
            for result in results {
                let kind: QRSymbol.Kind = result.isWhole ? .code : .partial
                guard !known.contains(where: { $0.kind == kind && $0.bytes == result.bytes }) else { continue }
                found.append(QRSymbol(kind: kind, bytes: result.bytes, stage: stage.name))
            }
            try check(found)
            if done { break }
        }
        return found
    }

    private static func check(_ found: [QRSymbol]) throws(QRError) {
        guard found.count > maximumSymbols, Set(found.map(\.bytes)).count > maximumSymbols else { return }
        throw QRError(.tooManyCodes, "expected at most \(maximumSymbols) codes in the picture, got more")
    }
}

/// How long the search has taken, and what that lets expect.
private struct Pace {
    private let start = ContinuousClock.now
    private let budget: Duration
    private var last: Duration = .zero
    private var slowest: Duration?  // for a thousand pixels

    init(budget: Duration) {
        self.budget = budget
    }

    /// Whether a stage over so many pixels would end in time, were it as slow as the slowest yet.
    func leavesTime(for area: Int) -> Bool {
        guard let slowest else { return true }
        return ContinuousClock.now - start + slowest * (area / 1_000 + 1) <= budget
    }

    /// Takes the time that a stage over so many pixels took, up to now.
    mutating func note(_ area: Int) {
        let now = ContinuousClock.now - start
        // Small pictures say little: what a stage costs without its pixels would be counted a thousand times over.
        let rate = (now - last) / (max(area, 100_000) / 1_000)
        slowest = max(slowest ?? rate, rate)
        last = now
    }
}
