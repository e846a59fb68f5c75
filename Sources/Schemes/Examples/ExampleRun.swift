public import Tallystick
import TallystickCrypto

extension SchemeExamples {
    /// What came out of one case.
    public struct Outcome: Sendable {
        /// The case.
        public let example: Example
        /// What differs from what it expects, one line each; empty where it passed.
        public let faults: [String]
        /// The verdict on the step that was judged; nil where there was none.
        public let verdict: Verdict?
    }

    /// Runs every case under a scheme.
    public func run(under scheme: Scheme, _ offsets: @escaping ZoneOffsets) -> [Outcome] {
        examples.map { run($0, under: scheme, offsets) }
    }

    /// Runs one case under a scheme, as the server would decide it.
    ///
    /// - Parameter offsets: What is known of time zones, for deadlines.
    public func run(_ example: Example, under scheme: Scheme, _ offsets: ZoneOffsets) -> Outcome {
        var run = ExampleRun(scheme: scheme)
        do {
            for (index, item) in example.given.enumerated() {
                try play(item, "given[\(index)]", in: &run, depth: 0)
            }
            switch example.question {
            case .step(let step):
                let verdict = try run.say(step, "when")
                return Outcome(example: example, faults: faults(of: verdict, example.then), verdict: verdict)
            case .look(let now):
                return Outcome(example: example, faults: run.faults(at: now, example.then, offsets), verdict: nil)
            }
        } catch {
            return Outcome(example: example, faults: ["\(error)"], verdict: nil)
        }
    }

    /// The events of one case, as they come to a server that decides them, the judged step last.
    ///
    /// - Throws: An error that says which step could not be said, and why.
    package func arrivals(of name: String, under scheme: Scheme) throws -> [Arrival] {
        guard let example = examples.first(where: { sameBytes($0.name, name) }) else {
            throw ExampleError("expected an example “\(name)”")
        }
        var run = ExampleRun(scheme: scheme)
        for (index, item) in example.given.enumerated() { try play(item, "given[\(index)]", in: &run, depth: 0) }
        if case .step(let step) = example.question { _ = try run.say(step, "when") }
        return run.arrivals
    }

    func play(_ item: JSON, _ place: String, in run: inout ExampleRun, depth: Int) throws(ExampleError) {
        guard let name = item.text else {
            guard run.arrivals.count < ExampleRun.mostSteps else {
                throw ExampleError(
                    "\(place): expected at most \(ExampleRun.mostSteps) steps in an example, backgrounds and all"
                )
            }
            let verdict = try run.say(item, place)
            let expected = item["verdict"]?.text ?? "accepted"
            guard sameBytes(verdict.outcome.rawValue, expected) else {
                let reasons = SchemeExamples.words(verdict.reasons) + SchemeExamples.words(verdict.awaits)
                throw ExampleError(
                    "\(place): expected the step to be \(expected), got \(verdict.outcome.rawValue) "
                        + reasons.joined(separator: ", ")
                )
            }
            return
        }
        guard let background = backgrounds[name] else {
            throw ExampleError("\(place): expected a step or the name of a background, got “\(name)”")
        }
        guard depth < 16 else {
            throw ExampleError("\(place): expected at most 16 backgrounds inside each other, and none inside itself")
        }
        for (index, step) in background.steps.enumerated() {
            try play(step, "\(name)[\(index)]", in: &run, depth: depth + 1)
        }
    }

    static func words(_ reasons: [Reason]) -> [String] {
        reasons.map { [$0.code.description, $0.subject, $0.rule].compactMap { $0 }.joined(separator: " ") }
    }

    static func words(_ awaits: [Awaited]) -> [String] {
        awaits.map { awaited in
            switch awaited {
            case .event: "event"
            case .offer: "offer"
            case .opening: "opening"
            case .signature(let name), .handoff(let name): name.text
            }
        }
    }

    func faults(of verdict: Verdict, _ then: JSON) -> [String] {
        let expected = then["verdict"]?.text ?? ""
        var faults: [String] = []
        if !sameBytes(verdict.outcome.rawValue, expected) {
            let got =
                [verdict.outcome.rawValue] + SchemeExamples.words(verdict.reasons)
                + SchemeExamples.words(verdict.awaits)
            faults.append("expected \(expected), got \(got.joined(separator: ", "))")
        }
        faults += SchemeExamples.differences("reasons", verdict.reasons, then["reasons"])
        faults += SchemeExamples.differences("warnings", verdict.warnings, then["warnings"])
        return faults
    }

    /// How reasons differ from those expected, each of which names a code, and perhaps a subject and a rule.
    static func differences(_ kind: String, _ reasons: [Reason], _ expected: JSON?) -> [String] {
        var left = words(reasons)
        var missing: [String] = []
        for text in (expected?.elements ?? []).compactMap(\.text) {
            let match = left.firstIndex { $0 == text } ?? left.firstIndex { $0.hasPrefix(text + " ") }
            if let match { left.remove(at: match) } else { missing.append(text) }
        }
        func besides(_ text: String) -> String {
            let detail = reasons.first { words([$0]) == [text] }?.detail
            return "\(kind): got “\(text)” besides\(detail.map { ": \($0)" } ?? "")"
        }
        return missing.map { "\(kind): expected “\($0)”, which is not there" } + left.map(besides)
    }
}

/// A mistake in an example that keeps it from being played.
struct ExampleError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A chain that an example's steps are said in, by devices made of the names of parties.
struct ExampleRun {
    /// The most steps of an example: backgrounds inside each other could stand for millions.
    static let mostSteps = 1_000

    let scheme: Scheme
    let context: DecisionContext
    var ledger: ChainLedger?
    var clock: Timestamp
    private(set) var arrivals: [Arrival] = []
    private var actors: [String: Actor] = [:]
    private var last: [String: Digest] = [:]
    private var lastOfParty: [String: Digest] = [:]
    private var parentsOf: [Digest: [Digest]] = [:]
    private var seqs: [String: Int] = [:]
    let authority: SigningKey?

    struct Actor {
        let label: String
        let party: UniqueID
        let certificate: Certificate
        var device: DeviceID { certificate.device }
    }

    /// Who says something: a party's device, in a role.
    struct Speaker {
        let role: Name
        let partyName: String
        let actor: Actor
    }

    init(scheme: Scheme) {
        self.scheme = scheme
        context = DecisionContext(stage: .final, schemes: [scheme]) { _ in .matched }
        clock = ExampleRun.beginning
        authority = try? SigningKey(seed: ExampleRun.bytes("authority", 32))
    }

    static let beginning: Timestamp = Timestamp("2026-11-30T08:59:00.000Z") ?? Timestamp.epoch

    static func bytes(_ name: String, _ count: Int) -> [UInt8] {
        Array(SHA256.hash(Array("tallystick/example\n\(name)".utf8)).bytes.prefix(count))
    }

    static func party(_ name: String) throws(ExampleError) -> UniqueID {
        guard let id = UniqueID(milliseconds: beginning.milliseconds, random: bytes("party/\(name)", 10)) else {
            throw ExampleError("expected the name of a party, got “\(name)”")
        }
        return id
    }

    // MARK: Saying

    mutating func speaker(_ step: JSON, _ place: String) throws(ExampleError) -> Speaker {
        guard let by = step["by"]?.text else { throw ExampleError("\(place): expected “by”, who says it") }
        let halves = by.split(separator: ":", maxSplits: 1).map(String.init)
        guard let first = halves.first, let role = Name(first) else {
            throw ExampleError("\(place): expected a role in “by”, got “\(by)”")
        }
        let label = halves.count > 1 ? halves[1] : first
        let party = label.split(separator: "@").first.map(String.init) ?? label
        return Speaker(role: role, partyName: party, actor: try actor(label, party))
    }

    mutating func actor(_ label: String, _ party: String) throws(ExampleError) -> Actor {
        if let known = actors[label] { return known }
        do {
            let key = try SigningKey(seed: ExampleRun.bytes("device/\(label)", 32))
            guard let from = Timestamp("2020-01-01T00:00:00.000Z"), let until = Timestamp("2040-01-01T00:00:00.000Z"),
                let authority
            else { throw ExampleError("expected keys to be made") }
            let draft = Certificate.Draft(
                key: key.publicKey,
                notBefore: from,
                notAfter: until,
                party: try ExampleRun.party(party),
                partyName: party,
                person: nil,
                roles: scheme.roles.map(\.name),
                serial: actors.count + 1
            )
            let made = Actor(label: label, party: draft.party, certificate: try Certificate(draft, by: authority))
            actors[label] = made
            return made
        } catch {
            throw ExampleError("expected a device for “\(label)”: \(error)")
        }
    }

    mutating func say(_ step: JSON, _ place: String) throws(ExampleError) -> Verdict {
        let speaker = try speaker(step, place)
        try advance(step, place)
        let ledger = try ledger(openedBy: speaker.actor)
        let parents = try parents(of: speaker, isUnseen: step["unseen"]?.boolean == true, in: ledger.state)
        let content = try content(of: step, speaker, parents, ledger.state, place)
        let seq = seqs[speaker.actor.label, default: 0] + 1
        let name = "\(speaker.actor.label)/\(seq)"
        guard let id = UniqueID(milliseconds: clock.milliseconds, random: ExampleRun.bytes("id/\(name)", 10)) else {
            throw ExampleError("\(place): expected a time that fits an identifier")
        }
        let event: Event
        do {
            event = try Event(
                Event.Draft(
                    at: clock,
                    chain: ledger.state.chain,
                    content: content,
                    device: speaker.actor.device,
                    id: id,
                    parents: parents,
                    role: role(of: content, speaker),
                    seq: seq,
                    late: try late(step, place)
                )
            )
        } catch {
            throw ExampleError("\(place): \(error)")
        }
        let received = step["received"]?.text.flatMap { Timestamp($0) } ?? clock
        let arrival = Arrival(
            event: event,
            certificate: speaker.actor.certificate,
            isRevoked: false,
            isSignatureValid: true,
            received: received
        )
        arrivals.append(arrival)
        var changed = ledger
        guard let decision = changed.receive(arrival, in: context).first else {
            throw ExampleError("\(place): expected a verdict")
        }
        self.ledger = changed
        seqs[speaker.actor.label] = seq
        last[speaker.actor.label] = event.hash
        lastOfParty[speaker.partyName] = event.hash
        parentsOf[event.hash] = parents
        return decision.verdict
    }

    /// Who signs in another's place does so in that other's role.
    func role(of content: EventContent, _ speaker: Speaker) -> Name {
        guard case .signed(let name, _, _, .delegate) = content else { return speaker.role }
        return scheme.signature(name)?.role ?? speaker.role
    }

    mutating func advance(_ step: JSON, _ place: String) throws(ExampleError) {
        if let at = step["at"] {
            guard let time = at.text.flatMap({ Timestamp($0) }) else {
                throw ExampleError("\(place): expected “at” as a datetime such as 2026-11-30T09:00:00.000Z")
            }
            clock = time
            return
        }
        guard let next = Timestamp(milliseconds: clock.milliseconds + 60_000, offsetMinutes: clock.offsetMinutes) else {
            throw ExampleError("\(place): expected a time in this era")
        }
        clock = next
    }

    func ledger(openedBy actor: Actor) throws(ExampleError) -> ChainLedger {
        if let ledger { return ledger }
        let chain = UniqueID(
            openedBy: actor.device,
            milliseconds: clock.milliseconds,
            random: ExampleRun.bytes("chain", 2)
        )
        guard let chain else { throw ExampleError("expected a chain's identifier") }
        return ChainLedger(chain: chain)
    }

    /// The newest events, or only those the party has seen at its last step.
    func parents(of speaker: Speaker, isUnseen: Bool, in state: ChainState) throws(ExampleError) -> [Digest] {
        let own = last[speaker.actor.label]
        if isUnseen {
            let party = lastOfParty[speaker.partyName]
            if own != nil, own == party { return own.map { [$0] } ?? [] }
            let seen = party.map { parentsOf[$0] ?? [] } ?? []
            return Array(Set(seen + (own.map { [$0] } ?? [])))
        }
        var parents = state.nextParents(of: speaker.actor.device)
        // An event that still waits is nobody's ancestor yet, and has to be that of its device's next.
        if let own, !state.knows(own), !parents.contains(own) { parents.append(own) }
        return parents
    }

    func late(_ step: JSON, _ place: String) throws(ExampleError) -> LateEntry? {
        guard let late = step["late"] else { return nil }
        guard let at = late["at"]?.text.flatMap({ Timestamp($0) }), let why = late["why"]?.text else {
            throw ExampleError("\(place): expected “late” with “at” and “why”")
        }
        return LateEntry(at: at, paper: nil, why: why)
    }

    // MARK: Looking

    func faults(at now: Timestamp, _ then: JSON, _ offsets: ZoneOffsets) -> [String] {
        guard let state = ledger?.state else { return ["expected a chain to look at"] }
        var faults: [String] = []
        func compare(_ what: String, _ expected: [String], _ got: [String]) {
            let (expected, got) = (expected.sorted(), got.sorted())
            if expected != got {
                faults.append("\(what): expected \(list(expected)), got \(list(got))")
            }
        }
        func list(_ texts: [String]) -> String { texts.isEmpty ? "none" : texts.joined(separator: ", ") }
        func names(_ json: JSON) -> [String] { (json.elements ?? [json]).compactMap(\.text) }
        let deadlines = state.deadlines(at: now, offsets)
        if let expected = then["overdue"] {
            compare("overdue", names(expected), deadlines.filter(\.isOverdue).map(\.deadline.name.text))
        }
        for member in then["due"]?.members ?? [] {
            let due = deadlines.first { sameBytes($0.deadline.name.text, member.name) }?.due
            let expected = member.value.text.flatMap { Timestamp($0) }
            if due?.milliseconds != expected?.milliseconds || due == nil {
                let got = due?.description ?? "nothing that is due"
                faults.append("due \(member.name): expected \(member.value.text ?? "a time"), got \(got)")
            }
        }
        if let expected = then["discrepancies"] {
            compare("discrepancies", names(expected), Set(state.discrepancies.compactMap(\.reason.subject)).sorted())
        }
        if let expected = then["contested"]?.boolean, expected != (state.isContested || state.isInConflict) {
            faults.append("contested: expected \(expected), got \(!expected)")
        }
        if let expected = then["gaps"] { compare("gaps", names(expected), state.gaps.map(\.role.text)) }
        if let expected = then["duty"] { compare("duty", names(expected), state.duty.map { [$0.text] } ?? []) }
        let zone = scheme.deadlines.first?.zone ?? "UTC"
        for member in then["keep"]?.members ?? [] {
            let day = Name(member.name).flatMap { state.keepUntil($0, in: zone, offsets) }?.description
            if day != member.value.text {
                faults.append("keep \(member.name): expected \(member.value.text ?? "a day"), got \(day ?? "none yet")")
            }
        }
        return faults
    }
}
