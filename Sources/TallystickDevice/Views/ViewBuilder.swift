import Tallystick
import TallystickCrypto
import Schemes
import TallystickStore

/// Collects a view from a folded chain and the tables beside it.
struct ViewBuilder {
    let device: Device
    let folded: FoldedChain
    var names: [UniqueID: String?] = [:]
    var certificates: CertificateReader

    init(device: Device, folded: FoldedChain) {
        self.device = device
        self.folded = folded
        certificates = CertificateReader(device.database)
    }

    var state: ChainState { folded.state }

    mutating func view() throws -> ChainView {
        let (waiting, refused) = try unsettled()
        let settled = Set(refused.map(\.event))
        let doubtful = try folded.expected.filter { $0.verdict.outcome == .refused && !settled.contains($0.event) }
            .compactMap { expected in
                try event(expected.event).map { event in
                    refusal(event, expected.verdict.reasons, received: nil, isDealtWith: false)
                }
            }
        let scheme = try state.scheme ?? schemeOfRefusedTaking(refused)
        return ChainView(
            chain: state.chain,
            title: scheme?.title,
            scheme: scheme?.reference,
            opening: try state.opening.map { (try party($0.party), $0.at) },
            holder: try state.currentLeg.map { try party($0.party) },
            legs: try state.legs.map { try leg($0) },
            seats: try state.seats.map { try leg($0) },
            delegations: try delegations(),
            corrections: try corrections(),
            links: try links(),
            ending: try ending(),
            received: try received(),
            offers: try offers(),
            notes: try state.notes.map { note in
                ChainView.Note(text: note.text, party: try party(note.party), role: note.role, at: note.at)
            },
            contests: try state.contests.map { contest in
                ChainView.Contest(
                    event: contest.acceptance,
                    offer: contest.offer,
                    party: try party(contest.party),
                    at: contest.at
                )
            },
            waiting: waiting,
            refused: refused,
            doubtful: doubtful,
            warned: try warned(),
            late: try late(),
            deadlines: deadlines(),
            keeping: keeping(),
            externals: externals(),
            discrepancies: state.discrepancies.map(\.reason),
            isInConflict: state.isInConflict,
            isContested: state.isContested,
            needsNewerVersion: !state.unreadable.isEmpty
                || refused.contains { $0.reasons.contains { $0.code == .unsupportedVersion } },
            counts: try device.counts(of: state.chain)
        )
    }

    mutating func party(_ id: UniqueID) throws -> ChainView.Party {
        let name: String?
        if let known = names[id] {
            name = known
        } else {
            name = try device.partyName(id)
            names[id] = .some(name)
        }
        return ChainView.Party(id: id, name: name, isOwn: id == device.certificate.party)
    }

    mutating func party(of author: DeviceID) throws -> ChainView.Party? {
        try certificates.certificate(of: author).map { try party($0.party) }
    }

    private mutating func leg(_ leg: ChainState.Leg) throws -> ChainView.Leg {
        var signatures: [ChainView.Signature] = []
        for signature in state.signatures where signature.leg == leg.event {
            signatures.append(
                ChainView.Signature(
                    name: signature.name,
                    title: state.scheme?.signature(signature.name)?.title,
                    event: signature.event,
                    party: try party(signature.party),
                    signer: try party(signature.signer),
                    way: signature.way,
                    at: signature.at,
                    happened: signature.happened,
                    snapshot: signature.snapshot,
                    warnings: signature.warnings
                )
            )
        }
        return ChainView.Leg(
            event: leg.event,
            number: leg.number,
            role: leg.role,
            roleTitle: state.scheme?.role(leg.role)?.title,
            party: try party(leg.party),
            isCurrent: state.currentLeg?.event == leg.event,
            at: leg.at,
            offer: leg.offer,
            received: leg.received,
            finding: leg.finding,
            fields: try fields(of: leg),
            signatures: signatures,
            missing: missing(on: leg)
        )
    }

    private mutating func fields(of leg: ChainState.Leg) throws -> [ChainView.Field] {
        let seals = state.seals(on: leg.event, at: device.now())
        let order = (state.scheme?.fields ?? []).enumerated().map { ($0.element.list, $0.element.name, $0.offset) }
        var fields: [(place: Int, field: ChainView.Field)] = []
        for (path, slot) in state.slots[leg.event] ?? [:] {
            guard let shown = slot.shown, shown.value != nil || slot.isInConflict else { continue }
            let value = shown.value ?? .null
            let field = state.scheme?.field(path)
            let correction = state.corrections.first { $0.end == .applied(shown.event) && $0.leg == leg.event }
            let index = slot.current.first ?? 0
            let earlier = index > 0 ? slot.writes[index - 1].value ?? .null : .null
            fields.append(
                (
                    place: order.first { $0.0 == path.line?.list && $0.1 == path.field }?.2 ?? order.count,
                    field: ChainView.Field(
                        path: path,
                        title: field?.title,
                        value: value,
                        codeTitles: codeTitles(of: value, in: field),
                        others: slot.isInConflict
                            ? slot.current.dropFirst().map { slot.writes[$0].value ?? .null } : [],
                        isInConflict: slot.isInConflict,
                        isSealed: field?.isSealable != false && seals.contains { $0.contains(path) },
                        isCorrectable: field?.correct != nil,
                        corrected: correction == nil ? nil : earlier,
                        party: try correction.map { try party($0.party) } ?? party(of: shown.device),
                        at: shown.at
                    )
                )
            )
        }
        func line(_ field: ChainView.Field) -> String { field.path.line.map { "\($0.list)/\($0.id)" } ?? "" }
        return fields.sorted { left, right in
            let (first, second) = (line(left.field), line(right.field))
            if !sameBytes(first, second) { return first.utf8.lexicographicallyPrecedes(second.utf8) }
            return (left.place, left.field.path) < (right.place, right.field.path)
        }.map(\.field)
    }

    func codeTitles(of value: JSON, in field: Scheme.Field?) -> [String] {
        guard case .code(let list)? = field?.type, let codes = state.scheme?.codeLists[list] else { return [] }
        return (value.elements ?? [value]).compactMap { $0.text.flatMap { codes.code($0)?.title } }
    }

    private mutating func reply(_ reply: HandoffReply) throws -> ChainView.Offer.Reply {
        let lines = try device.database.query("SELECT line FROM certificates ORDER BY serial DESC") { row in
            try row.blob(0)
        }
        var taker: ChainView.Party?
        for line in lines {
            let certificate = try Certificate(line: line)
            if certificate.device.bytes.starts(with: reply.devicePrefix), reply.isSigned(by: certificate.key) {
                taker = try party(certificate.party)
                break
            }
        }
        return ChainView.Offer.Reply(
            isAcceptance: reply.isAcceptance,
            taker: taker,
            at: reply.at,
            event: reply.event
        )
    }

    /// What full codes said, as long as the opening, and with it the givers' own events, is not known here.
    private func received() throws -> [ChainView.Received] {
        guard state.opening == nil, let first = state.legs.last?.received ?? state.legs.first?.received else {
            return []
        }
        var received: [ChainView.Received] = []
        var wanted: Digest? = first
        while let hash = wanted, received.count < 63 {
            let bytes = try device.database.first("SELECT bytes FROM snapshots WHERE hash = ?", hash.hex) { row in
                try row.blob(0)
            }
            guard let bytes else { break }
            let snapshot = try HandoffSnapshot(bytes: bytes)
            received.append(
                ChainView.Received(
                    from: snapshot.from,
                    to: snapshot.to,
                    title: state.scheme?.handoff(snapshot.handoff)?.rule.title,
                    snapshot: hash,
                    fields: snapshot.fields.map { path, value in
                        let field = state.scheme?.field(path)
                        return (path, field?.title, value, codeTitles(of: value, in: field))
                    }
                )
            )
            wanted = snapshot.received
        }
        return received
    }

    private mutating func offers() throws -> [ChainView.Offer] {
        let now = device.now()
        var offers: [ChainView.Offer] = []
        let ordered = state.offers.values.sorted {
            ($0.offer.expires, $0.offer.id) < ($1.offer.expires, $1.offer.id)
        }
        for offer in ordered {
            let became: ChainView.Offer.State =
                switch offer.end {
                case .open: now.milliseconds < offer.offer.expires.milliseconds ? .open : .expired
                case .withdrawn: .withdrawn
                case .declined(_, let why): .declined(why: why)
                case .taken(let event): .taken(event)
                }
            let half = HandoffHalf(
                statement: offer.statement,
                mac: Array(offer.offer.mac.bytes.prefix(HandoffHalf.macLength))
            )
            offers.append(
                ChainView.Offer(
                    id: offer.offer.id,
                    handoff: offer.offer.handoff,
                    title: state.scheme?.handoff(offer.offer.handoff)?.rule.title,
                    to: offer.offer.to,
                    boundTo: try offer.offer.party.map { try party($0) },
                    from: try party(of: offer.device),
                    expires: offer.offer.expires,
                    state: became,
                    half: offer.device == device.id ? half : nil,
                    reply: try offer.reply.map { try reply($0) }
                )
            )
        }
        return offers
    }

    // MARK: What is not settled, or settled against its author

    func event(_ hash: Digest) throws -> Event? {
        try device.database.first("SELECT line FROM events WHERE hash = ?", hash.hex) { row in
            try SignedEvent(line: try row.blob(0)).event
        }
    }

    private func refusal(
        _ event: Event,
        _ reasons: [Reason],
        received: Timestamp?,
        isDealtWith: Bool
    )
        -> ChainView.Refused
    {
        ChainView.Refused(
            event: event.hash,
            chain: event.chain,
            type: event.type,
            isOwn: event.device == device.id,
            at: event.at,
            received: received,
            reasons: reasons,
            isDealtWith: isDealtWith
        )
    }

    /// The rules of a load that was taken in vain: the code said which, although nothing of the chain is known here.
    private func schemeOfRefusedTaking(_ refused: [ChainView.Refused]) throws -> Scheme? {
        for refusal in refused where refusal.isOwn {
            guard case .handoffAccepted(let half)? = try event(refusal.event)?.content else { continue }
            if let scheme = device.schemes.scheme(prefix: half.statement.schemePrefix) { return scheme }
        }
        return nil
    }

    private func unsettled() throws -> (waiting: [ChainView.Waiting], refused: [ChainView.Refused]) {
        var waiting: [ChainView.Waiting] = []
        var refused: [ChainView.Refused] = []
        let rows = try device.database.query(
            """
            SELECT events.line, entries.json FROM events JOIN entries ON entries.event = events.hash
            WHERE events.chain = ?1 AND events.own = 0 AND entries.outcome IN ('waiting', 'refused')
            AND entries.position = (SELECT max(position) FROM entries WHERE event = events.hash)
            UNION ALL
            SELECT events.line, entries.json FROM events JOIN entries ON entries.event = events.hash
            WHERE events.chain = ?1 AND events.own = 1 AND entries.outcome = 'waiting'
            AND entries.position = (SELECT max(position) FROM entries WHERE event = events.hash)
            """,
            state.chain.description
        ) { row in (line: try row.blob(0), json: try row.blob(1)) }
        for row in rows {
            guard case .verdict(let entry) = try Device.entry(row.json).content else { continue }
            let event = try SignedEvent(line: row.line).event
            if entry.verdict.outcome == .waiting {
                waiting.append(
                    ChainView.Waiting(
                        event: event.hash,
                        type: event.type,
                        isOwn: event.device == device.id,
                        awaits: entry.verdict.awaits
                    )
                )
            } else {
                refused.append(refusal(event, entry.verdict.reasons, received: entry.received, isDealtWith: false))
            }
        }
        let own = try device.database.query(
            """
            SELECT events.line, refused.verdict, refused.received, refused.is_dealt_with
            FROM refused JOIN events ON events.hash = refused.event WHERE refused.chain = ? ORDER BY events.row
            """,
            state.chain.description
        ) { row in
            refusal(
                try SignedEvent(line: try row.blob(0)).event,
                try Device.verdict(try row.blob(1)).reasons,
                received: Timestamp(try row.text(2)),
                isDealtWith: try row.int(3) != 0
            )
        }
        return (waiting, refused + own)
    }
}
