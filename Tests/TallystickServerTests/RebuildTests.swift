import Tallystick
import TallystickCrypto
import TallystickStore
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// Folding the log again gives what is stored, and says so where it does not.
struct RebuildTests {
    /// A store in which every table has rows: refused, waiting, contested, in conflict, warned about, revoked, corrected,
    /// linked, delegated, overdue.
    private func busy() throws -> ServerFixture { try ServerFixture(try RebuildTests.busy.get()) }

    /// Filled once: the stories take longer to tell than a file to copy.
    private static let busy = Result { try fill("busy").bytes() }

    private static func fill(_ name: String) throws -> ServerFixture {
        let story = try Untold(name)
        let late = try story.teller.actor("late-phone", of: "Late", as: "carrier")
        let other = try Conflicted("\(name)-conflict")
        let fixture = try ServerFixture(story.teller.certificates + other.teller.certificates)
        for actor in [story.rival, story.site, story.producer, story.first] {
            try fixture.push(actor.said, from: actor, at: story.now)
        }
        try other.push(to: fixture)
        try story.producer.note("All done.")
        try fixture.push(story.producer.said, from: story.producer, at: story.now)
        let unheard = try Untold("\(name)-unheard")
        try fixture.admit(unheard.teller.certificates)
        try fixture.push(unheard.first.said, from: unheard.first, at: unheard.now)
        let full = try FullStory("\(name)-full")
        try fixture.admit(full.teller.certificates)
        for signed in full.said { try fixture.push([signed.line], from: signed.event.device, at: signed.event.at) }
        try fixture.push([[0x7B]], from: story.site.device, at: story.now)
        try fixture.store.revoke(late.device, why: "never used", now: story.now)
        return fixture
    }

    /// Two phones of the producer write one field apart; a receiving site whose weight differs.
    private struct Conflicted {
        let teller: StoryTeller
        let office: StoryActor
        let yard: StoryActor
        let carrier: StoryActor
        let site: StoryActor

        init(_ name: String) throws {
            teller = try StoryTeller(name, openedBy: "office")
            office = try teller.actor("office", of: "Builder", as: "producer")
            yard = try teller.actor("yard", of: "Builder", as: "producer")
            carrier = try teller.actor("carrier", of: "Calder", as: "carrier")
            site = try teller.actor("site", of: "Holbeck", as: "receiver")
        }

        func push(to fixture: ServerFixture) throws {
            let collection = try teller.producerOffers(office)
            let delivery = try teller.carrierTakes(carrier, collection, SampleValues.carrier, offeringTo: "receiver")
            try office.acknowledge(try carrier.reply())
            try teller.siteTakes(site, delivery, SampleValues.received(SampleValues.quantity("9", "t")))
            for actor in [office, carrier, site] {
                try fixture.push(actor.said, from: actor, at: teller.clock.now)
            }
            let second = try StoryTeller("\(teller.name)-second", openedBy: "one")
            let one = try second.actor("one", of: "Builder", as: "producer")
            let two = try second.actor("two", of: "Builder", as: "producer")
            try fixture.admit(second.certificates)
            let knowing = try second.referee()
            try one.open()
            try one.set(SampleValues.producer)
            knowing.receive(from: one)
            two.learn(from: knowing)
            try one.set(["wasteItems/1/quantity": SampleValues.quantity("8", "t")])
            try two.set(["wasteItems/1/quantity": SampleValues.quantity("6", "t")])
            for actor in [one, two] { try fixture.push(actor.said, from: actor, at: second.clock.now) }
        }
    }

    @Test func everyTableHasRowsToCompare() throws {
        let fixture = try busy()
        for table in ServerSchema.log + Projections.tables {
            #expect(try fixture.number("SELECT count(*) FROM \(table.name)") ?? 0 > 0, "\(table.name)")
        }
        let report = try fixture.store.rebuild(check: true)
        #expect(report.differences == [])
        #expect(report.faults == [])
        #expect(!report.wasSwapped)
        #expect(report.tables.count == Projections.tables.count + ServerSchema.log.count)
        #expect(report.events == (try fixture.number("SELECT count(*) FROM events")))
    }

    @Test(arguments: Projections.tables)
    func findsARowChangedByHand(_ table: Projections.Table) throws {
        let fixture = try busy()
        let column = try #require(
            [
                "chains": "holder", "legs": "at", "fields": "value", "conflicts": "value", "signatures": "snapshot",
                "handoffs": "result", "notes": "text", "warnings": "detail", "refusals": "codes", "waiting": "what",
                "replies": "taker_event",
                "devices": "party_name", "delegations": "until", "externals": "system", "corrections": "state",
                "correction_values": "value", "correction_approvers": "answer", "gaps": "role", "links": "kind",
                "link_amounts": "value", "deadlines": "due", "late_entries": "why",
            ][table.name]
        )
        let key = table.key.map { "\($0) = (SELECT \($0) FROM \(table.name) LIMIT 1)" }.joined(separator: " AND ")
        try fixture.tamper("UPDATE \(table.name) SET \(column) = 'changed' WHERE \(key)")
        #expect(try fixture.store.rebuild(check: true).differences == [table.name])
        let repaired = try fixture.store.rebuild(check: false)
        #expect(repaired.wasSwapped)
        #expect(repaired.differences == [table.name])
        #expect(try fixture.store.rebuild(check: true).isClean)
    }

    @Test(arguments: Projections.tables)
    func findsARowRemovedOrAddedByHand(_ table: Projections.Table) throws {
        let fixture = try busy()
        try fixture.tamper(
            "DELETE FROM \(table.name) WHERE \(table.key[0]) = (SELECT max(\(table.key[0])) FROM \(table.name))"
        )
        #expect(try fixture.store.rebuild(check: true).differences == [table.name])
        #expect(try fixture.store.rebuild(check: false).wasSwapped)
        #expect(try fixture.store.rebuild(check: true).isClean)
    }

    @Test(arguments: ["entries", "feed"])
    func findsAndNeverReplacesWhatWasGivenOut(_ table: String) throws {
        let fixture = try busy()
        let sql =
            table == "entries"
            ? "UPDATE entries SET json = replace(json, 'refused', 'accepted') WHERE json LIKE '%refused%'"
            : "UPDATE feed SET position = position + 1 WHERE number = 2 AND party = 1"
        try fixture.tamper(sql)
        #expect(try fixture.store.rebuild(check: true).differences == [table])
        _ = try fixture.store.rebuild(check: false)
        #expect(try fixture.store.rebuild(check: true).differences == [table])
    }

    @Test func findsAnEventChangedByHand() throws {
        let fixture = try busy()
        try fixture.tamper(
            """
            UPDATE events SET line = CAST(replace(CAST(line AS TEXT), 'Leeds', 'Leads') AS BLOB)
            WHERE position = (SELECT min(position) FROM events WHERE CAST(line AS TEXT) LIKE '%Leeds%')
            """
        )
        let report = try fixture.store.rebuild(check: true)
        #expect(report.faults.count == 1)
        #expect(report.differences.contains("entries"))
        #expect(!report.isClean)
    }

    @Test(arguments: 1...12)
    func agreesAfterAnyOrderOfPushes(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let stories = try (0..<3).map { try Untold("random-\(seed)-\($0)") }
        let fixture = try ServerFixture(stories.flatMap(\.teller.certificates))
        // Each device's events in pieces, in any order, some twice, some by another device, one device revoked.
        var pushes: [(lines: [[UInt8]], device: DeviceID, at: Timestamp)] = []
        for story in stories {
            for actor in story.actors {
                var rest = actor.said[...]
                while !rest.isEmpty {
                    let piece = rest.prefix(1 + random.below(4))
                    rest = rest.dropFirst(piece.count)
                    let pusher = random.below(4) == 0 ? story.producer.device : actor.device
                    for _ in 0...random.below(2) { pushes.append((piece.map(\.line), pusher, story.now)) }
                }
            }
        }
        pushes.shuffle(using: &random)
        let revokedAfter = random.below(pushes.count)
        for (index, push) in pushes.enumerated() {
            if index == revokedAfter {
                try fixture.store.revoke(stories[0].rival.device, why: "stolen", now: stories[0].now)
            }
            if random.below(8) == 0 { try fixture.store.write { writer in try writer.reload() } }
            try fixture.push(push.lines, from: push.device, at: push.at)
        }
        try fixture.expectNoGaps()
        let report = try fixture.store.rebuild(check: true)
        #expect(report.differences == [])
        #expect(report.faults == [])
        for story in stories {
            let record = try #require(try fixture.store.record(of: story.chain, for: nil, now: story.now))
            #expect(Audit.report(on: record, trusting: fixture.store.authority).findings.isEmpty)
        }
    }

    @Test func decidesOldEventsWithoutSchemesThatCameLater() throws {
        let story = try Untold("old")
        let path = TemporaryPath()
        let secrets = try Derived.key("authority").seed + Derived.bytes("server-secret", count: 32)
        let store = try ServerStore.create(path: path.path, origin: "x", schemes: []) { count in
            count == secrets.count ? secrets : SecureRandom.bytes(count)
        }
        try store.write { writer in
            for certificate in story.teller.certificates {
                _ = try writer.party(named: certificate.partyName, otherwise: certificate.party)
                try writer.enter(certificate)
            }
        }
        func push(_ store: ServerStore, _ actor: StoryActor) throws -> [PushReceipt.Result] {
            let lines = actor.said.map { $0.line[...] }
            let receipt = try store.ingest(lines, from: actor.device, received: story.now)
            return try PushReceipt(line: receipt, signedBy: store.authority).results
        }
        #expect(try push(store, story.producer)[0].codes == [.schemeUnknown])
        let schemes = [try StoryTeller.wasteTransferNote.get()]
        let newer = try ServerStore.open(path: path.path, schemes: schemes, random: SecureRandom.bytes)
        let other = try Untold("new")
        try newer.write { writer in for certificate in other.teller.certificates { try writer.enter(certificate) } }
        #expect(try push(newer, story.producer)[0].codes == [.schemeUnknown])
        #expect(try push(newer, other.producer)[0].verdict?.outcome == .accepted)
        #expect(try newer.rebuild(check: true).isClean)
    }
}
