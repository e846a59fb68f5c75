import Foundation
import Schemes
import Tallystick
import TallystickCrypto

/// What deciding and folding an event costs under a scheme with many rules, and how that grows.
enum RulesBench {
    static func run(isFast: Bool) throws {
        guard let file = ShippedSchemes.files.first(where: { sameBytes($0.id, "uk-hazardous-consignment-note") }) else {
            throw Workload.Missing()
        }
        let scheme = try file.read()
        let folder = "Sources/Schemes/\(file.id)/examples"
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder).sorted() else {
            print("\nRules: skipped, no \(folder) here")
            return
        }
        let examples = try SchemeExamples(
            files: names.map { name in
                let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
                return (String(name.dropLast(5)), [UInt8](data))
            }
        )
        let context = DecisionContext(stage: .final, schemes: [scheme]) { _ in .matched }
        Figures.heading("Rules: decide and fold under \(scheme.reference.id), one core, medians")
        try journey(try examples.arrivals(of: "closed-as-received", under: scheme), context, isFast)
        try growth(try examples.arrivals(of: "closed-as-received", under: scheme), context, isFast)
    }

    /// The whole life of a load: part A to E, handoffs, closing.
    private static func journey(_ arrivals: [Arrival], _ context: DecisionContext, _ isFast: Bool) throws {
        guard let first = arrivals.first else { throw Workload.Missing() }
        var times: [String: [Double]] = [:]
        var all: [Double] = []
        for _ in 0..<(isFast ? 50 : 400) {
            var ledger = ChainLedger(chain: first.event.chain)
            for arrival in arrivals {
                var decisions: [ChainLedger.Decision] = []
                let time = Figures.seconds { decisions = ledger.receive(arrival, in: context) }
                guard decisions.first?.verdict.outcome == .accepted else { throw Workload.Missing() }
                times[arrival.event.type, default: []].append(time)
                all.append(time)
            }
        }
        Figures.line(
            "an event of a whole journey (\(arrivals.count) events), mean",
            all.reduce(0, +) / Double(all.count) * 1e6,
            "µs"
        )
        Figures.line("the median event", Figures.median(all) * 1e6, "µs")
        for (type, values) in times.sorted(by: { $0.key < $1.key }) {
            Figures.line("  \(type)", Figures.median(values) * 1e6, "µs")
        }
    }

    /// The same event at the end of short and long chains, and events of more and more values.
    private static func growth(_ arrivals: [Arrival], _ context: DecisionContext, _ isFast: Bool) throws {
        guard let opening = arrivals.first else { throw Workload.Missing() }
        var base: [Double] = []
        for length in isFast ? [10, 1_000] : [10, 100, 1_000, 10_000] {
            let ledger = try chain(of: length, from: opening, context)
            let event = try set(after: ledger.state, from: opening, rows: 1)
            let time = median(of: isFast ? 100 : 1_000) {
                _ = ledger.state.decide(event, in: context)
            }
            base.append(time)
            Figures.line("set 3 values at the end of a chain of \(length) events", time * 1e6, "µs")
        }
        if let least = base.min(), let most = base.max() {
            Figures.line("longest against shortest", most / least, "times")
        }
        let ledger = try chain(of: 10, from: opening, context)
        for rows in [1, 10, 50] {
            let event = try set(after: ledger.state, from: opening, rows: rows)
            let time = median(of: isFast ? 100 : 500) { _ = ledger.state.decide(event, in: context) }
            Figures.line("set \(rows * 3) values", time * 1e6 / Double(rows * 3), "µs a value")
        }
    }

    private static func median(of count: Int, _ body: () -> Void) -> Double {
        Figures.median((0..<count).map { _ in Figures.seconds(body) })
    }

    private static func chain(of length: Int, from opening: Arrival, _ context: DecisionContext) throws -> ChainLedger {
        var ledger = ChainLedger(chain: opening.event.chain)
        _ = ledger.receive(opening, in: context)
        while ledger.state.lastSeq(of: opening.event.device) < length {
            let event = try set(after: ledger.state, from: opening, rows: 1)
            guard ledger.receive(event, in: context).first?.verdict.outcome == .accepted else {
                throw Workload.Missing()
            }
        }
        return ledger
    }

    private static func set(after state: ChainState, from opening: Arrival, rows: Int) throws -> Arrival {
        let seq = state.lastSeq(of: opening.event.device) + 1
        var changes: [EventContent.FieldChange] = []
        for row in 1...rows {
            for (field, value) in [
                ("description", JSON.string("Waste oil, load \(seq)")),
                ("quantity", .members([("amount", .string("\(seq % 900 + 1)")), ("unit", .string("kg"))])),
                ("process", .string("Machine shop \(seq)")),
            ] {
                let text = field == "process" ? "process" : "wasteItems/\(row)/\(field)"
                if let path = FieldPath(text), !changes.contains(where: { $0.path == path }) {
                    changes.append(EventContent.FieldChange(path: path, value: value))
                }
            }
        }
        guard let id = UniqueID(milliseconds: opening.event.at.milliseconds, random: SecureRandom.bytes(10)) else {
            throw Workload.Missing()
        }
        let event = try Event(
            Event.Draft(
                at: opening.event.at,
                chain: opening.event.chain,
                content: .fieldsSet(changes),
                device: opening.event.device,
                id: id,
                parents: state.nextParents(of: opening.event.device),
                role: opening.event.role,
                seq: seq
            )
        )
        return Arrival(
            event: event,
            certificate: opening.certificate,
            isRevoked: false,
            isSignatureValid: true,
            received: opening.received
        )
    }
}
