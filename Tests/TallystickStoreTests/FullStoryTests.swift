import Foundation
import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

@testable import TallystickStore

/// What the tables say of a chain in which nearly everything happens that a scheme can provide for.
struct FullStoryTests {
    private let folder: TemporaryFolder
    private let story: FullStory
    private let database: Database

    init() throws {
        folder = try TemporaryFolder()
        story = try FullStory("full")
        database = try FullStoryTests.replayed(story.teller, story.referee, to: folder.file("full"))
    }

    private static func replayed(_ teller: StoryTeller, _ referee: Referee, to path: String) throws -> Database {
        _ = try ProjectionFile.write(try referee.record(of: teller.chain, at: teller.clock.now), to: path)
        return try Database(path: path, mode: .open, applicationID: ProjectionFile.applicationID)
    }

    /// The rows of a query with one text column.
    private func rows(_ sql: String, of database: Database? = nil) throws -> [String] {
        try (database ?? self.database).query(sql) { row in try row.optionalText(0) ?? "NULL" }
    }

    private var state: ChainState { story.referee.ledger(of: story.teller.chain).state }

    @Test func everythingInTheStoryIsAccepted() {
        #expect(story.referee.decisions(of: story.teller.chain).allSatisfy { $0.verdict.outcome == .accepted })
    }

    // MARK: Who takes part

    @Test func aSeatIsALegWithoutCustody() throws {
        #expect(
            try rows("SELECT role FROM legs WHERE custody = 1 ORDER BY number") == [
                "producer", "carrier", "carrier", "receiver",
            ]
        )
        let seat =
            "SELECT role || ' ' || party || ' ' || admitted_by || ' ' || coalesce(number, '-') FROM legs WHERE custody = 0"
        #expect(try rows(seat) == ["broker \(story.broker.party) \(story.producer.party) -"])
        #expect(try rows("SELECT value FROM fields WHERE role = 'broker'") == ["\"B-1187\""])
        #expect(try rows("SELECT holder FROM chains") == [story.site.party.description])
    }

    @Test func saysWhoMaySignInWhosePlace() throws {
        let sql = "SELECT signature || ' ' || from_party || ' ' || to_party || ' ' || until FROM delegations"
        #expect(
            try rows(sql) == ["producer \(story.producer.party) \(story.agent.party) 2026-12-01T08:00:00.000Z"]
        )
    }

    // MARK: Signatures

    @Test func saysHowEachSignatureWasGiven() throws {
        let sql = """
            SELECT signature || ' ' || role || ' ' || way || ' ' || party || ' ' || signer || ' ' || signer_role
            FROM signatures ORDER BY at
            """
        #expect(
            try rows(sql) == [
                "producer producer delegate \(story.producer.party) \(story.agent.party) producer",
                "carrier carrier paper \(story.second.party) \(story.site.party) receiver",
                "receiver receiver own \(story.site.party) \(story.site.party) receiver",
            ]
        )
        let paper = "SELECT happened || ' ' || paper || ' ' || paper_signer FROM signatures WHERE paper IS NOT NULL"
        let picture = SHA256.hash(Array("the carrier's copy".utf8))
        #expect(try rows(paper) == ["2026-11-30T08:12:00.000Z \(picture) J. Pennine"])
        #expect(
            try rows("SELECT signature FROM signatures WHERE happened = at ORDER BY signature") == [
                "producer", "receiver",
            ]
        )
    }

    @Test func showsTheLegThatLacksASignature() throws {
        #expect(try rows("SELECT signature || ' ' || party FROM gaps") == ["carrier \(story.first.party)"])
        #expect(state.gaps.map(\.party) == [story.first.party])
        #expect(state.missingSignatures(on: try #require(state.gaps.first)).map(\.text) == ["carrier"])
    }

    // MARK: Corrections

    @Test func keepsCorrectionsWithTheirValuesAndWhatBecameOfThem() throws {
        let names = story.corrections.map(\.hex)
        func states(_ column: String) throws -> [String] {
            try names.flatMap { try rows("SELECT \(column) FROM corrections WHERE correction = '\($0)'") }
        }
        #expect(try states("state") == ["applied", "applied", "refused", "open"])
        let settlers = [story.second.party, story.producer.party, story.first.party].map(\.description)
        #expect(try states("settled_by") == settlers + ["NULL"])
        #expect(try states("settled_why") == ["NULL", "NULL", "I loaded what the note says.", "NULL"])
        let values = try names.flatMap {
            try rows("SELECT path || ' ' || earlier || ' ' || value FROM correction_values WHERE correction = '\($0)'")
        }
        #expect(
            values == [
                "wasteItems/1/containerCount 1 2",
                #"producerAddress "Plot 4, Kirkstall Road, Leeds LS4 2AZ" "Plot 5, Kirkstall Road, Leeds LS4 2AZ""#,
                #"wasteItems/1/quantity {"amount":"7.5","unit":"t"} {"amount":"8.8","unit":"t"}"#,
                #"transferPlace "Plot 4, Kirkstall Road, Leeds LS4 2AZ" "Plot 5, Kirkstall Road, Leeds LS4 2AZ""#,
            ]
        )
    }

    @Test func saysWhoAnsweredACorrection() throws {
        func answers(_ number: Int) throws -> Set<String> {
            let name = story.corrections[number].hex
            let sql =
                "SELECT party || ' ' || coalesce(answer, '-') FROM correction_approvers WHERE correction = '\(name)'"
            return Set(try rows(sql))
        }
        let (first, second, site) = (story.first.party, story.second.party, story.site.party)
        #expect(try answers(0) == ["\(first) approved", "\(second) approved"])
        #expect(try answers(1) == [])
        #expect(try answers(2) == ["\(first) refused", "\(second) -", "\(site) -"])
        #expect(try answers(3) == ["\(first) -", "\(second) -"])
    }

    @Test func writesCorrectedValuesToTheFields() throws {
        func value(_ path: String) throws -> [String] {
            try rows("SELECT value || ' ' || party || ' ' || event FROM fields WHERE path = '\(path)'")
        }
        let approval = try #require(state.corrections.first).end
        guard case .applied(let event) = approval else {
            Issue.record("expected the first correction to be applied")
            return
        }
        #expect(try value("wasteItems/1/containerCount") == ["2 \(story.producer.party) \(event)"])
        #expect(try value("producerAddress").first?.contains("Plot 5") == true)
        #expect(try value("transferPlace").first?.contains("Plot 4") == true)
        #expect(try value("wasteItems/1/quantity").first?.contains("7.5") == true)
    }

    @Test func theFieldsAreWhatTheStateSays() throws {
        for leg in state.legs + state.seats {
            var expected: [String: String] = [:]
            for (path, value) in state.values(of: leg.event) {
                expected[path.description] = String(decoding: try value.canonicalBytes(), as: UTF8.self)
            }
            let sql = "SELECT path, value FROM fields WHERE leg = ? AND value IS NOT NULL"
            let found = try database.query(sql, leg.event.hex) { row in (try row.text(0), try row.text(1)) }
            #expect(Dictionary(uniqueKeysWithValues: found) == expected)
        }
    }

    // MARK: Other chains, the end, other systems

    @Test func keepsLinksWithTheirAmounts() throws {
        #expect(
            try rows("SELECT link || ' ' || kind || ' ' || other || ' ' || why FROM links")
                == ["refused-part rejected-to \(story.refusedPart) Plasterboard"]
        )
        #expect(
            try rows("SELECT path || ' ' || value FROM link_amounts JOIN links USING (chain, event)")
                == [#"receivedItems/1/rejectedWeight {"amount":"1","unit":"t"}"#]
        )
    }

    @Test func saysHowTheChainEnded() throws {
        let sql = "SELECT ended || ' ' || outcome || ' ' || ended_by || ' ' || ended_why || '.' FROM chains"
        #expect(try rows(sql) == ["closed delivered \(story.site.party) ."])
        #expect(try rows("SELECT ended_at FROM chains") == [try #require(state.ending).at.description])
        #expect(try rows("SELECT ended_event FROM chains") == [try #require(state.ending).event.hex])
        #expect(try rows("SELECT duty FROM chains") == ["NULL"])
    }

    @Test func findsAChainByAnothersIdentifier() throws {
        let sql = "SELECT chain || ' ' || path || ' ' || system FROM externals WHERE identifier = '26HRA0B2'"
        #expect(try rows(sql) == ["\(story.teller.chain) defraTrackingId Defra DWT"])
    }

    @Test func keepsWhatWasEnteredAfterwards() throws {
        let sql = "SELECT type || ' ' || at || ' ' || happened || ' ' || why || ' ' || paper FROM late_entries"
        let paper = SHA256.hash(Array("the note".utf8))
        #expect(
            try rows(sql) == [
                "fields.set 2026-11-30T08:00:00.000Z 2026-11-30T07:30:00.000+01:00 There was no signal in the cellar. \(paper)"
            ]
        )
        #expect(try rows("SELECT code FROM warnings WHERE code = 'late-entry'").count == 1)
    }

    // MARK: Deadlines

    @Test func keepsDeadlinesWithWhenTheyAreDueAndMet() throws {
        let sql = """
            SELECT deadline || ' ' || role || ' ' || party || ' ' || due || ' ' || certain FROM deadlines
            """
        #expect(try rows(sql) == ["receipt-recorded receiver \(story.site.party) 2026-12-02T23:59:59.999Z 1"])
        let status = try #require(state.deadlines(at: story.teller.clock.now, Zones.offsets).first)
        #expect(try rows("SELECT started FROM deadlines") == [status.start.description])
        #expect(try rows("SELECT met FROM deadlines") == [try #require(status.met).description])
    }

    @Test func whatWasMetTooLateIsNotOverdueAnyMore() throws {
        #expect(try rows("SELECT deadline FROM deadlines WHERE met > due") == ["receipt-recorded"])
        #expect(try rows("SELECT deadline FROM overdue") == [])
    }

    @Test(arguments: [("2020-01-01T00:00:00.000Z", true), ("9990-01-01T00:00:00.000Z", false)])
    func whatIsNotMetIsOverdueOnceItsTimeIsOver(_ due: String, _ isOverdue: Bool) throws {
        try database.execute("UPDATE deadlines SET met = NULL, due = '\(due)'")
        #expect(try rows("SELECT deadline FROM overdue") == (isOverdue ? ["receipt-recorded"] : []))
        try database.execute("UPDATE deadlines SET due = NULL")
        #expect(try rows("SELECT deadline FROM overdue") == [])
    }

    // MARK: Views

    @Test func listsDiscrepancies() throws {
        let sql = "SELECT subject || ' ' || detail || ' ' || role || ' ' || party FROM discrepancies"
        let found = try rows(sql)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("received-differs ") == true)
        #expect(found.first?.hasSuffix(" receiver \(story.site.party)") == true)
        #expect(state.discrepancies.count == 1)
    }

    // MARK: The page

    private func page() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "docs/tables.md"), encoding: .utf8)
    }

    @Test func thePageNamesEveryTableAndView() throws {
        let page = try page()
        for name in Projections.tables.map(\.name) + Projections.views { #expect(page.contains("\n| `\(name)` |")) }
        // And none that there is not.
        let made = Set(try rows("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"))
        let named = page.split(separator: "\n").compactMap { line in line.firstMatch(of: /^\| `([a-z_]+)` \|/)?.1 }
        #expect(Set(named.map(String.init)) == made)
    }

    @Test func thePagesQueriesCanBeAsked() throws {
        let block = try #require(try page().firstMatch(of: /(?s)```sql\n(.*?)```/)?.1)
        let queries = block.split(separator: ";").map(String.init).filter { $0.contains("SELECT") }
        #expect(queries.count == 7)
        for query in queries {
            let sql = query.replacing("?", with: "'\(story.teller.chain)'")
            let found = try database.query(sql) { row in row.columnCount }
            // In this story each has an answer, but for what is or falls due and what is contested.
            let isEmpty = ["met IS NULL", "FROM overdue", "contested"].contains { sql.contains($0) }
            #expect(found.isEmpty == isEmpty, "\(sql)")
        }
    }
}

/// Shorter stories: how a chain ends otherwise, and what moves a deadline.
struct EndingAndDeadlineTests {
    private let folder: TemporaryFolder
    private let teller: StoryTeller
    private let producer: StoryActor
    private let carrier: StoryActor
    private let referee: Referee

    init() throws {
        folder = try TemporaryFolder()
        teller = try StoryTeller("endings", scheme: FullStory.scheme.get(), openedBy: "producer-phone")
        producer = try teller.actor("producer-phone", of: "Builder", as: "producer")
        carrier = try teller.actor("carrier-phone", of: "Calder", as: "carrier")
        referee = try teller.referee()
    }

    private func rows(_ sql: String) throws -> [String] {
        let path = folder.file("\(referee.decisions(of: teller.chain).count)-\(sql.utf8.count).sqlite")
        _ = try ProjectionFile.write(try referee.record(of: teller.chain, at: teller.clock.now), to: path)
        return try Database(path: path, mode: .readOnly).query(sql) { row in try row.optionalText(0) ?? "NULL" }
    }

    @Test func saysThatAChainWasCancelled() throws {
        try producer.open()
        try producer.say(.chainCancelled(why: "Nothing to collect."))
        referee.receive(from: producer)
        #expect(
            try rows("SELECT ended || ' ' || ended_why || ' ' || coalesce(outcome, '-') FROM chains")
                == ["cancelled Nothing to collect. -"]
        )
    }

    @Test func saysWhoHasTheDutyAgain() throws {
        let half = try teller.producerOffers(producer)
        try carrier.accept(half)
        referee.receive(from: producer, carrier)
        carrier.learn(from: referee)
        try carrier.say(.chainClosed(outcome: try Derived.name("lost"), why: "The skip burned."))
        referee.receive(from: carrier)
        #expect(
            try rows("SELECT ended || ' ' || outcome || ' ' || ended_why || ' ' || duty FROM chains")
                == ["closed lost The skip burned. producer"]
        )
    }

    @Test func aDeadlineFollowsTheFieldItIsCountedFrom() throws {
        let due = "SELECT deadline || ' ' || due || ' ' || coalesce(met, '-') FROM deadlines"
        try producer.open()
        try producer.set(SampleValues.producer)
        referee.receive(from: producer)
        #expect(try rows(due) == [])
        try producer.set(["seasonFrom": .string("2026-12-01")])
        referee.receive(from: producer)
        #expect(try rows(due) == ["season-ended 2027-12-01T23:59:59.999Z -"])
        // In summer time a day in London ends at 23:00 UTC.
        try producer.set(["seasonFrom": .string("2027-06-01")])
        referee.receive(from: producer)
        #expect(try rows(due) == ["season-ended 2028-06-01T22:59:59.999Z -"])
        try producer.set(["seasonFrom": .null])
        referee.receive(from: producer)
        #expect(try rows(due) == [])
    }
}
