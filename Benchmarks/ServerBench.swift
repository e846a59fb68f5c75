import Foundation
import Synchronization
import Tallystick
import TallystickCrypto
import TallystickServer

/// The server's ingest against verifying the same signatures and doing nothing else, on all cores.
enum ServerBench {
    static func run(in folder: Folder, pushes: Int) throws {
        let work = try Workload()
        let store = try ServerStore.create(
            path: "\(folder.path)/server.sqlite",
            origin: "bench",
            schemes: [work.scheme],
            random: { SecureRandom.bytes($0) }
        )
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let connections = cores * 3
        var keys: [SigningKey] = []
        var work100: [[[[UInt8]]]] = []
        for number in 0..<connections {
            let key = SigningKey.generate()
            let code = try store.invite(
                party: "Producer \(number)",
                roles: [work.producer],
                validFor: 3_600,
                now: work.start
            )
            let proof = key.signature(for: Array(code.utf8), domain: ServerStore.enrolDomain)
            _ = try store.enrol(code: code, key: key.publicKey, proof: proof, now: work.start)
            let lines = try work.lines(pushes * 100 / connections / 100 * 100, perChain: 25, key: key)
            work100.append(
                stride(from: 0, to: lines.count, by: 100).map { Array(lines[$0..<min($0 + 100, lines.count)]) }
            )
            keys.append(key)
        }
        let count = work100.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }

        let verifying = try verifyAlone(work100, keys: keys, cores: cores)
        let failures = Mutex<[String]>([])
        let batches = work100
        let devices = keys.map { DeviceID($0.publicKey) }
        let ingest = Figures.seconds {
            DispatchQueue.concurrentPerform(iterations: connections) { connection in
                for push in batches[connection] {
                    do {
                        _ = try store.ingest(push.map { $0[...] }, from: devices[connection], received: work.start)
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
            }
        }
        for failure in failures.withLock({ $0 }).prefix(3) { print("  FAILED: \(failure)") }
        let report = try timed { try store.rebuild(check: true) }

        Figures.heading("Server, \(count) events in pushes of 100 over \(connections) connections, \(cores) cores")
        let verifyRate = Double(count) / verifying
        let ingestRate = Double(count) / ingest
        Figures.line("verify the signatures and nothing else, all cores", verifyRate, "events/s")
        Figures.line("ingest: read, verify, decide, fold, project, log, receipt", ingestRate, "events/s")
        Figures.line("ratio (goal 0.5)", ingestRate / verifyRate, "of verifying alone")
        Figures.line(
            "rebuild --check: all folded again and compared",
            Double(report.value.events) / report.seconds,
            "events/s"
        )
        print(
            "  the rebuild found \(report.value.isClean ? "no difference" : "DIFFERENCES: \(report.value.differences)")"
        )
    }

    private static func timed<T>(_ body: () throws -> T) rethrows -> (value: T, seconds: Double) {
        var value: T?
        let seconds = try Figures.seconds { value = try body() }
        guard let value else { preconditionFailure("the body has run") }
        return (value, seconds)
    }

    /// The same events, read beforehand; each core verifies a share of them.
    private static func verifyAlone(_ batches: [[[[UInt8]]]], keys: [SigningKey], cores: Int) throws -> Double {
        var events: [(SignedEvent, PublicKey)] = []
        for (connection, pushes) in batches.enumerated() {
            for line in pushes.joined() { events.append((try SignedEvent(line: line), keys[connection].publicKey)) }
        }
        let all = events
        return Figures.seconds {
            DispatchQueue.concurrentPerform(iterations: cores) { core in
                for index in stride(from: core, to: all.count, by: cores) {
                    _ = all[index].0.isSigned(by: all[index].1)
                }
            }
        }
    }
}
