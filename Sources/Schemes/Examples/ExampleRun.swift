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

    private func play(_ item: JSON, _ place: String, in run: inout ExampleRun, depth: Int) throws(ExampleError) {
        guard let name = item.text else {
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
        guard depth < 16 else { throw ExampleError("\(place): expected backgrounds that do not go round in circles") }
        for (index, step) in background.steps.enumerated() {
            try play(step, "\(name)[\(index)]", in: &run, depth: depth + 1)
        }
    }

    private static func words(_ reasons: [Reason]) -> [String] {
        reasons.map { [$0.code.description, $0.subject, $0.rule].compactMap { $0 }.joined(separator: " ") }
    }

    private static func words(_ awaits: [Awaited]) -> [String] {
        awaits.map { awaited in
            switch awaited {
            case .event: "event"
            case .offer: "offer"
            case .opening: "opening"
            case .signature(let name), .handoff(let name): name.text
            }
        }
    }

    private func faults(of verdict: Verdict, _ then: JSON) -> [String] {
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
    private static func differences(_ kind: String, _ reasons: [Reason], _ expected: JSON?) -> [String] {
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
    private let authority: SigningKey?

    private struct Actor {
        let label: String
        let party: UniqueID
        let certificate: Certificate
        var device: DeviceID { certificate.device }
    }

    /// Who says something: a party's device, in a role.
    private struct Speaker {
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

    private static let beginning: Timestamp = Timestamp("2026-11-30T08:59:00.000Z") ?? Timestamp.epoch

    private static func bytes(_ name: String, _ count: Int) -> [UInt8] {
        Array(SHA256.hash(Array("tallystick/example\n\(name)".utf8)).bytes.prefix(count))
    }

    private static func party(_ name: String) throws(ExampleError) -> UniqueID {
        guard let id = UniqueID(milliseconds: beginning.milliseconds, random: bytes("party/\(name)", 10)) else {
            throw ExampleError("expected the name of a party, got “\(name)”")
        }
        return id
    }

    // MARK: Saying

    private mutating func speaker(_ step: JSON, _ place: String) throws(ExampleError) -> Speaker {
        guard let by = step["by"]?.text else { throw ExampleError("\(place): expected “by”, who says it") }
        let halves = by.split(separator: ":", maxSplits: 1).map(String.init)
        guard let first = halves.first, let role = Name(first) else {
            throw ExampleError("\(place): expected a role in “by”, got “\(by)”")
        }
        let label = halves.count > 1 ? halves[1] : first
        let party = label.split(separator: "@").first.map(String.init) ?? label
        return Speaker(role: role, partyName: party, actor: try actor(label, party))
    }

    private mutating func actor(_ label: String, _ party: String) throws(ExampleError) -> Actor {
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
    private func role(of content: EventContent, _ speaker: Speaker) -> Name {
        guard case .signed(let name, _, _, .delegate) = content else { return speaker.role }
        return scheme.signature(name)?.role ?? speaker.role
    }

    private mutating func advance(_ step: JSON, _ place: String) throws(ExampleError) {
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

    private func ledger(openedBy actor: Actor) throws(ExampleError) -> ChainLedger {
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
    private func parents(of speaker: Speaker, isUnseen: Bool, in state: ChainState) throws(ExampleError) -> [Digest] {
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

    private func late(_ step: JSON, _ place: String) throws(ExampleError) -> LateEntry? {
        guard let late = step["late"] else { return nil }
        guard let at = late["at"]?.text.flatMap({ Timestamp($0) }), let why = late["why"]?.text else {
            throw ExampleError("\(place): expected “late” with “at” and “why”")
        }
        return LateEntry(at: at, paper: nil, why: why)
    }

    // MARK: What is said

    /// What belongs to a step beside what is said.
    static let details = [
        "at", "received", "late", "unseen", "why", "party", "hours", "chain", "amounts", "for", "paper", "paperAt",
        "lasts",
        "to",
    ]

    static let verbs = [
        "open", "set", "sign", "note", "offer", "accept", "decline", "withdraw", "admit", "delegate", "correct",
        "approve",
        "refuse", "link", "cancel", "close",
    ]

    private func content(
        of step: JSON,
        _ speaker: Speaker,
        _ parents: [Digest],
        _ state: ChainState,
        _ place: String
    ) throws(ExampleError) -> EventContent {
        let given = ExampleRun.verbs.filter { step[$0] != nil }
        guard given.count == 1, let value = step[given[0]] else {
            throw ExampleError("\(place): expected exactly one of \(ExampleRun.verbs.joined(separator: ", "))")
        }
        func text() throws(ExampleError) -> String {
            guard let text = value.text else { throw ExampleError("\(place): expected “\(given[0])” as a text") }
            return text
        }
        func name(_ json: JSON? = nil) throws(ExampleError) -> Name {
            guard let name = (json ?? value).text.flatMap({ Name($0) }) else {
                throw ExampleError("\(place): expected “\(given[0])” as a name")
            }
            return name
        }
        let why = step["why"]?.text ?? ""
        switch given[0] {
        case "open": return .chainOpened(scheme.reference)
        case "set": return .fieldsSet(try changes(value, place))
        case "sign": return try signature(name(), step, speaker, parents, state, place)
        case "note": return .noteAdded(text: try text())
        case "offer": return .handoffOffered(try offer(name(), step, speaker, parents, state, place))
        case "accept": return .handoffAccepted(try half(named: name(), state, place))
        case "decline": return .handoffDeclined(try half(named: nil, state, place), why: try text())
        case "withdraw":
            return .handoffWithdrawn(offer: try half(named: nil, state, place).statement.offer, why: try text())
        case "admit": return .partyAdmitted(party: try party(step, place), role: try name())
        case "delegate":
            let names = (value.elements ?? []).compactMap { $0.text.flatMap { Name($0) } }
            let hours = step["hours"]?.integer ?? 24
            guard (-100_000...100_000).contains(hours),
                let until = Timestamp(milliseconds: clock.milliseconds + Int64(hours) * 3_600_000)
            else {
                throw ExampleError("\(place): expected “hours” as a whole number")
            }
            return .signatureDelegated(signatures: names, to: try party(step, place), until: until)
        case "correct": return .correctionProposed(try changes(value, place), why: why.isEmpty ? "it was wrong" : why)
        case "approve": return .correctionApproved(try correction(state, place))
        case "refuse": return .correctionRefused(try correction(state, place), why: try text())
        case "link":
            let label = step["chain"]?.text ?? ""
            guard
                let other = UniqueID(milliseconds: clock.milliseconds, random: ExampleRun.bytes("chain/\(label)", 10)),
                !label.isEmpty
            else { throw ExampleError("\(place): expected “chain”, a name for the other chain") }
            let chain = sameBytes(label, "itself") ? state.chain : other
            let amounts = try step["amounts"].map { (json) throws(ExampleError) in try changes(json, place) } ?? []
            return .chainLinked(ChainLink(link: try name(), chain: chain, amounts: amounts, why: why))
        case "cancel": return .chainCancelled(why: try text())
        default: return .chainClosed(outcome: try name(), why: why)
        }
    }

    private func party(_ step: JSON, _ place: String) throws(ExampleError) -> UniqueID {
        guard let party = step["party"]?.text else { throw ExampleError("\(place): expected “party”") }
        return try ExampleRun.party(party)
    }

    private func changes(_ json: JSON, _ place: String) throws(ExampleError) -> [EventContent.FieldChange] {
        var changes: [EventContent.FieldChange] = []
        func add(_ text: String, _ value: JSON) throws(ExampleError) {
            guard let path = FieldPath(text) else { throw ExampleError("\(place): expected a field, got “\(text)”") }
            changes.append(EventContent.FieldChange(path: path, value: value.isNull ? nil : value))
        }
        for member in json.members ?? [] {
            guard let name = Name(member.name), let group = scheme.lines(name) else {
                try add(member.name, member.value)
                continue
            }
            let rows: [(id: String, row: JSON)] =
                member.value.elements.map { $0.enumerated().map { ("\($0.offset + 1)", $0.element) } }
                ?? (member.value.members ?? []).map { ($0.name, $0.value) }
            guard !rows.isEmpty else { throw ExampleError("\(place): expected rows of “\(group.name)”") }
            for (id, row) in rows {
                if row.isNull { try add("\(group.name)/\(id)", .null) }
                for field in row.members ?? [] { try add("\(group.name)/\(id)/\(field.name)", field.value) }
            }
        }
        guard !changes.isEmpty else { throw ExampleError("\(place): expected an object of values") }
        return changes
    }

    private func signature(
        _ name: Name,
        _ step: JSON,
        _ speaker: Speaker,
        _ parents: [Digest],
        _ state: ChainState,
        _ place: String
    ) throws(ExampleError) -> EventContent {
        var way = SigningWay.own
        var party = speaker.actor.party
        if let principal = step["for"]?.text {
            party = try ExampleRun.party(principal)
            way = .delegate(of: party)
        } else if let signer = step["paper"]?.text {
            way = .paper(
                PaperSignature(
                    at: step["paperAt"]?.text.flatMap { Timestamp($0) },
                    picture: SHA256.hash(ExampleRun.bytes("paper", 32)),
                    signer: signer
                )
            )
        }
        let isForeign = way.paper != nil && scheme.signature(name)?.role != speaker.role
        let snapshot =
            isForeign
            ? state.paperSnapshot(name, parents: parents)
            : state.signatureSnapshot(name, by: party, parents: parents)
        return .signed(
            signature: name,
            snapshot: snapshot?.hash ?? SHA256.hash([UInt8]()),
            statement: scheme.signature(name)?.statement ?? "",
            way
        )
    }

    // MARK: Handoffs and corrections

    private func offer(
        _ name: Name,
        _ step: JSON,
        _ speaker: Speaker,
        _ parents: [Digest],
        _ state: ChainState,
        _ place: String
    ) throws(ExampleError) -> Offer {
        guard let (_, rule) = scheme.handoff(name) else {
            throw ExampleError("\(place): expected a handoff of the scheme, got “\(name)”")
        }
        let seconds = step["lasts"]?.integer ?? rule.lasts
        guard (0...10_000_000).contains(seconds),
            let expires = Timestamp(milliseconds: (clock.seconds + Int64(seconds)) * 1_000),
            let id = OfferID(bytes: ExampleRun.bytes("offer/\(speaker.actor.label)/\(clock)", 8))
        else { throw ExampleError("\(place): expected “lasts” in seconds") }
        let mac = SHA256.hash(ExampleRun.bytes("mac/\(id)", 32))
        do {
            return Offer(
                expires: expires,
                handoff: name,
                key: try HandoffKey(
                    serverSecret: ExampleRun.bytes("secret", 32),
                    device: speaker.actor.device,
                    number: 1
                ).id,
                mac: mac,
                id: id,
                party: try step["to"]?.text.map { (label) throws(ExampleError) in try ExampleRun.party(label) },
                snapshot: state.handoffSnapshot(name, by: speaker.actor.party, parents: parents)?.hash
                    ?? SHA256.hash([UInt8]()),
                to: rule.to
            )
        } catch {
            throw ExampleError("\(place): \(error)")
        }
    }

    /// The latest offer that is open, or the latest there is, of one handoff or of any.
    private func half(named name: Name?, _ state: ChainState, _ place: String) throws(ExampleError) -> HandoffHalf {
        let offers = state.offers.values.filter { name == nil || $0.offer.handoff == name }
            .sorted { ($0.at, $0.offer.id) < ($1.at, $1.offer.id) }
        guard let offer = offers.last(where: { $0.end == .open }) ?? offers.last,
            let half = HandoffHalf(
                statement: offer.statement,
                mac: Array(offer.offer.mac.bytes.prefix(HandoffHalf.macLength))
            )
        else { throw ExampleError("\(place): expected an offer to answer, and there is none") }
        return half
    }

    private func correction(_ state: ChainState, _ place: String) throws(ExampleError) -> Digest {
        guard let correction = state.corrections.last(where: { $0.end == .open }) ?? state.corrections.last else {
            throw ExampleError("\(place): expected a correction to answer, and there is none")
        }
        return correction.event
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
