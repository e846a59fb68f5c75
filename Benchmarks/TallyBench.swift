import Foundation
import Tallystick
import TallystickQR

/// Prints figures and ratios of one run; nothing here fails on time.
@main
struct TallyBench {
    static func main() throws {
        // The child process that a picture is read in is this program once more, as with `tally`.
        if CommandLine.arguments.dropFirst().first == DecoderProcess.argument {
            exit(DecoderProcess.run { $0.starts(with: CompactCode.prefix.utf8) })
        }
        let names = CommandLine.arguments.dropFirst()
        let isFast = names.contains("--fast")
        let wanted = names.filter { !$0.hasPrefix("--") }
        let folder = try Folder()
        defer { folder.remove() }
        print("Tallystick benchmark: medians of interleaved rounds on this machine, now. Compare within a run only.\n")
        if wanted.isEmpty || wanted.contains("engine") { try EngineBench.run(events: isFast ? 1_000 : 5_000) }
        if wanted.isEmpty || wanted.contains("rules") { try RulesBench.run(isFast: isFast) }
        if wanted.isEmpty || wanted.contains("device") { try DeviceBench.run(in: folder, rounds: isFast ? 2 : 7) }
        if wanted.isEmpty || wanted.contains("qr") { try QRBench.run(in: folder, isFast: isFast) }
        if wanted.isEmpty || wanted.contains("server") { try ServerBench.run(in: folder, pushes: isFast ? 20 : 150) }
    }
}

/// A temporary folder on the disk that temporary files are on; TALLY_BENCH_DIR names another.
struct Folder {
    let path: String

    init() throws {
        let base = ProcessInfo.processInfo.environment["TALLY_BENCH_DIR"] ?? NSTemporaryDirectory()
        path = "\(base)/tallystick-bench-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// Timing and printing.
enum Figures {
    static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let time = try ContinuousClock().measure(body)
        return Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    static func heading(_ text: String) { print("\n\(text)") }

    static func line(_ name: String, _ value: Double, _ unit: String) {
        let text = value >= 100 ? String(format: "%.0f", value) : String(format: "%.2f", value)
        print("  \(name.padding(toLength: 58, withPad: " ", startingAt: 0))\(text) \(unit)")
    }
}
