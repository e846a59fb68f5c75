import Schemes
import Tallystick
import TallystickCrypto
import TallystickTestSupport

/// A chain that a published file is played as: each party on a device of its own, everything decided by a server.
final class RealChain {
    let teller: StoryTeller
    let referee: Referee
    /// What was said, and the server's verdict on it.
    private(set) var steps: [(name: String, verdict: Verdict)] = []
    private let actors: [String: StoryActor]

    /// Who takes part: a device's name, its party and its role.
    struct Party {
        let device: String
        let party: String
        let role: String
        /// Whether the server knows the device's certificate.
        var isEnrolled = true
    }

    /// The first party opens the chain.
    init(_ name: String, scheme: Scheme, parties: [Party], at start: String) throws {
        let opener = try present(parties.first)
        teller = try StoryTeller(name, scheme: scheme, openedBy: opener.device, at: try Derived.moment(start))
        var actors: [String: StoryActor] = [:]
        for party in parties {
            actors[party.device] = try teller.actor(
                party.device,
                of: party.party,
                as: party.role,
                from: "2019-01-01T00:00:00.000Z"
            )
        }
        self.actors = actors
        referee = Referee(
            authority: teller.authority,
            secret: teller.secret,
            schemes: [scheme],
            origin: "real.example"
        )
        for party in parties where party.isEnrolled { try referee.enter(try present(actors[party.device]).certificate) }
    }

    /// Lets a party say something and the server decide it, and tells everybody; false where it does not stand.
    @discardableResult
    func step(_ name: String, by device: String, _ act: (StoryActor) throws -> SignedEvent) throws -> Bool {
        teller.clock.advance(seconds: 60)
        let signed = try act(try actor(device))
        referee.receive(signed, at: signed.event.at)
        let verdict = try present(referee.verdict(on: signed))
        steps.append((name, verdict))
        for actor in actors.values { actor.learn(from: referee) }
        return verdict.outcome == .accepted
    }

    func actor(_ device: String) throws -> StoryActor { try present(actors[device]) }

    /// Gives values.
    func set(_ changes: [EventContent.FieldChange], by device: String) throws -> Bool {
        try step("\(device) sets", by: device) { try $0.say(.fieldsSet(changes), insisting: true) }
    }

    /// Hands the load over: an offer and its acceptance, both of which have to stand.
    func handOver(from giver: String, to taker: String, as role: String) throws -> Bool {
        var half: HandoffHalf?
        let isOffered = try step("\(giver) offers", by: giver) { actor in
            half = try actor.offer(to: role, insisting: true)
            return try present(actor.said.last)
        }
        guard isOffered, let half else { return false }
        return try step("\(taker) takes", by: taker) { try $0.accept(half, insisting: true) }
    }

    var state: ChainState { referee.ledger(of: teller.chain).state }

    // MARK: What came of it

    /// What a file came to: accepted, accepted with warnings, or refused.
    enum Result: String {
        case accepted, warned, refused
    }

    var result: Result {
        if steps.contains(where: { $0.verdict.outcome != .accepted }) { return .refused }
        return warnings.isEmpty ? .accepted : .warned
    }

    /// Why something was refused, each reason once.
    var reasons: [String] { RealChain.once(steps.flatMap { $0.verdict.reasons.map(\.real) }) }
    /// What was warned about, each warning once, but not that something was entered afterwards.
    var warnings: [String] {
        RealChain.once(steps.flatMap { $0.verdict.warnings }.filter { $0.code != .lateEntry }.map(\.real))
    }
    /// How many signatures and values were entered afterwards.
    var lateEntries: Int { steps.flatMap { $0.verdict.warnings }.count { $0.code == .lateEntry } }
    /// The last thing that was said and stands.
    var reached: String { steps.last { $0.verdict.outcome == .accepted }?.name ?? "nothing" }

    private static func once(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }
}

extension Reason {
    /// Code and subject, and for a condition that did not hold the rule that asks for it.
    fileprivate var real: String {
        code == .ruleBroken ? [words, rule ?? ""].joined(separator: " ") : words
    }
}

/// What published files came to, printed as one table.
struct RealTable {
    private var rows: [[String]]
    private let title: String

    init(_ title: String, _ columns: String...) {
        self.title = title
        rows = [columns]
    }

    mutating func add(_ cells: String...) { rows.append(cells) }

    /// Prints the table in one go, so that tests that run beside it do not tear it.
    func show() {
        let widths = rows[0].indices.map { column in rows.map { $0[column].unicodeScalars.count }.max() ?? 0 }
        let lines = rows.map { row in
            let padded = zip(row, widths).dropLast().map { cell, width in
                cell + String(repeating: " ", count: width - cell.unicodeScalars.count)
            }
            return (padded + row.suffix(1)).joined(separator: "  ")
        }
        print(([title] + lines).joined(separator: "\n"))
    }
}
