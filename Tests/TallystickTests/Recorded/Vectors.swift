import Tallystick
import TallystickCrypto
import TallystickTestSupport

/// Golden vectors: one of each thing that is signed, hashed or shown as a code, made of the story “plain”.
///
/// Each file is an object of texts: bytes that are text as they are, other bytes in hexadecimal digits.
enum Vectors {
    /// The events that came after the handoffs, of two other stories.
    private static func agreements() throws -> [(name: String, members: [(String, String)])] {
        let lines = try [Stories.agreements(), Stories.cancelled()].flatMap(\.referee.log)
        let events: [SignedEvent] = lines.compactMap { if case .event(let signed) = $0 { signed } else { nil } }
        let keys = try [
            "agreements/producer-phone", "agreements/broker-laptop", "agreements/carrier-phone",
            "agreements/site-phone", "cancelled/producer-phone",
        ].map { try Derived.key($0) }
        func file(_ name: String, _ signed: SignedEvent?) throws -> (name: String, members: [(String, String)]) {
            let signed = try present(signed)
            let key = try present(keys.first { DeviceID($0.publicKey) == signed.event.device })
            return ("event-\(name)", event(signed, seed: key.seed))
        }
        var files = try [
            "party.admitted", "signature.delegated", "correction.proposed", "correction.approved", "correction.refused",
            "chain.linked", "chain.cancelled", "chain.closed",
        ].map { type in try file(type, events.first { $0.event.type == type }) }
        files.append(try file("fields.set-late", events.first { $0.event.late != nil }))
        for signed in events {
            guard case .signed(_, _, _, let way) = signed.event.content else { continue }
            if way.principal != nil { files.append(try file("signed-delegate", signed)) }
            if way.paper != nil { files.append(try file("signed-paper", signed)) }
        }
        return files
    }

    static func all() throws -> [(name: String, members: [(String, String)])] {
        let told = try Stories.plain()
        let teller = told.teller
        let decisions = told.referee.decisions(of: teller.chain)
        func line(_ type: String) throws -> SignedEvent {
            let events: [SignedEvent] = told.referee.log.compactMap { line in
                if case .event(let signed) = line, signed.event.type == type { signed } else { nil }
            }
            return try present(events.first)
        }
        let producer = try Derived.key("plain/producer-phone")
        let now = try Derived.moment("2026-11-30T13:00:00.000Z")

        var files: [(name: String, members: [(String, String)])] = []
        for type in ["chain.opened", "fields.set", "signed", "handoff.offered", "handoff.accepted", "note.added"] {
            let signed = try line(type)
            let seed =
                try signed.event.type == "handoff.accepted" ? Derived.key("plain/first-phone").seed : producer.seed
            files.append(("event-\(type)", Self.event(signed, seed: seed)))
        }
        files += try agreements()
        let certificate = try present(teller.certificates.first)
        files.append(
            (
                "certificate",
                [
                    ("authoritySeed", Hex.encode(teller.authority.seed)),
                    ("authorityPublicKey", Hex.encode(teller.authority.publicKey.bytes)),
                    ("line", text(certificate.line)), ("sha256", SHA256.hash(certificate.line).hex),
                ]
            )
        )
        files.append(("handoff", try handoff(try line("handoff.offered"), try line("handoff.accepted"), teller)))
        files.append(("snapshots", try snapshots(told)))
        files.append(("entries", try entries(told)))

        let accepted = try present(decisions.first)
        let entry = try present(
            told.referee.log.compactMap { line -> LogEntry? in
                if case .entry(let entry) = line, case .verdict = entry.content { entry } else { nil }
            }.first
        )
        let opening = try line("chain.opened")
        let receipt = PushReceipt(
            epoch: "00000000000000000000000000000001",
            device: accepted.arrival.event.device,
            received: now,
            results: [
                PushReceipt.Result(line: SHA256.hash(opening.line), status: .taken, entry: entry),
                PushReceipt.Result(line: SHA256.hash([]), status: .deferred, entry: nil),
            ]
        )
        files.append(
            (
                "receipt",
                [
                    ("authoritySeed", Hex.encode(teller.authority.seed)),
                    ("line", text(try receipt.signed(by: teller.authority))),
                ]
            )
        )
        let before = try present(
            told.referee.log.compactMap { line -> LogEntry? in
                if case .entry(let before) = line, before.position == entry.position - 1 { before } else { nil }
            }.first
        )
        let page = PullPage(
            epoch: "00000000000000000000000000000001",
            after: 4,
            next: 5,
            hasMore: false,
            now: now,
            items: [PullPage.Item(entry: entry, event: opening)],
            certificates: [certificate],
            previous: try before.digest()
        )
        files.append(
            (
                "page",
                [
                    ("authoritySeed", Hex.encode(teller.authority.seed)),
                    ("line", text(try page.signed(by: teller.authority))),
                ]
            )
        )
        files.append(("record", try record(told)))
        return files
    }

    static func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

    private static func event(_ signed: SignedEvent, seed: [UInt8]) -> [(String, String)] {
        [
            ("seed", Hex.encode(seed)), ("device", signed.event.device.description),
            ("event", text(signed.event.bytes)),
            ("hash", signed.event.hash.hex), ("signature", Hex.encode(signed.signature)), ("line", text(signed.line)),
        ]
    }

    private static func handoff(
        _ offered: SignedEvent,
        _ accepted: SignedEvent,
        _ teller: StoryTeller
    ) throws -> [(String, String)] {
        guard case .handoffAccepted(let half) = accepted.event.content else {
            throw StoryError("expected an acceptance")
        }
        let key = try HandoffKey(serverSecret: teller.secret, device: offered.event.device, number: 1)
        return [
            ("serverSecret", Hex.encode(teller.secret)), ("device", offered.event.device.description),
            ("keyNumber", "1"),
            ("handoffKey", Hex.encode(key.secret)), ("handoffKeyID", key.id.description),
            ("statement", half.statement.hex), ("mac", key.mac(of: half.statement).hex),
            ("code", CompactCode.text(for: half)),
        ]
    }

    private static func snapshots(_ told: Stories.Told) throws -> [(String, String)] {
        let state = told.referee.ledger(of: told.teller.chain).state
        let producer = try present(state.legs.first).party
        let signature = try present(state.signatures.first)
        let offer = try present(state.offers.values.first { $0.leg == state.legs.first?.event })
        // As they were when signed and offered: the parents of those events.
        func parents(_ hash: Digest) throws -> [Digest] {
            let decisions = told.referee.decisions(of: told.teller.chain)
            return try present(decisions.first { $0.arrival.event.hash == hash }).arrival.event.parents
        }
        let signed = state.signatureSnapshot(signature.name, by: producer, parents: try parents(signature.event))
        let handed = state.handoffSnapshot(offer.offer.handoff, by: producer, parents: try parents(offer.event))
        let (first, second) = (try present(signed), try present(handed))
        guard first.hash == signature.snapshot, second.hash == offer.offer.snapshot else {
            throw StoryError("expected the snapshots that were signed and offered")
        }
        return [
            ("signature", text(first.bytes)), ("signatureHash", first.hash.hex), ("handoff", text(second.bytes)),
            ("handoffHash", second.hash.hex),
        ]
    }

    private static func entries(_ told: Stories.Told) throws -> [(String, String)] {
        func write(_ entry: LogEntry) throws -> String { text(try entry.json.canonicalBytes()) }
        let event = SHA256.hash([1])
        let received = try Derived.moment("2026-11-30T13:00:00.000Z")
        let device = try Derived.key("plain/producer-phone").publicKey
        func verdict(_ verdict: Verdict) -> LogEntry.Content {
            .verdict(
                LogEntry.EventVerdict(
                    chain: told.teller.chain,
                    event: event,
                    number: 3,
                    received: received,
                    verdict: verdict
                )
            )
        }
        let finding = HandoffFinding(time: .claimed, mac: .matched)
        let discrepancy = Reason(.discrepancy, "received-differs", "declared 7500 kg, received 9000 kg")
        let refusals = [
            Reason(.fieldSealed, "sicCode"), Reason(.fieldInvalid, "sicCode", "expected one of these forms"),
        ]
        let waiting: [Awaited] = [
            .event(event), .offer(try Derived.offer("vector")), .signature(try Derived.name("producer")),
        ]
        return [
            (
                "accepted",
                try write(
                    LogEntry(position: 12, content: verdict(.accepted(warnings: [discrepancy], handoff: finding)))
                )
            ),
            ("refused", try write(LogEntry(position: 13, content: verdict(.refused(refusals))))),
            ("waiting", try write(LogEntry(position: 14, content: verdict(.waiting(waiting))))),
            ("certificate", try write(LogEntry(position: 15, content: .certificate(event, device: DeviceID(device))))),
            (
                "revocation",
                try write(LogEntry(position: 16, content: .revocation(DeviceID(device), why: "lost on the road")))
            ),
            (
                "unreadable",
                try write(
                    LogEntry(
                        position: 17,
                        content: .unreadable(
                            event,
                            from: DeviceID(device),
                            received: received,
                            .refused([Reason(.notCanonical, nil, "expected canonical JSON")])
                        )
                    )
                )
            ),
        ]
    }

    private static func record(_ told: Stories.Told) throws -> [(String, String)] {
        let created = try Derived.moment("2026-11-30T18:00:00.000Z")
        let record = try told.referee.record(of: told.teller.chain, at: created)
        let lines = record.split(separator: 0x0A)
        return [
            ("authoritySeed", Hex.encode(told.teller.authority.seed)),
            ("header", text(try present(lines.first))), ("seal", text(try present(lines.last))),
            ("sha256", SHA256.hash(record).hex),
        ]
    }
}
