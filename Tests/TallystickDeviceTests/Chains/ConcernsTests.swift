import Tallystick
import TallystickCrypto
import TallystickStore
import TallystickTestSupport
import Testing

@testable import TallystickDevice

/// What a chain's row says, so that chains are found by it without folding any.
@Suite("Concerns of chains")
struct ConcernsTests {
    private func concerns(_ device: Device) throws -> ChainConcerns {
        try #require(try device.chains().first?.concerns)
    }

    @Test("knows a deadline that was missed, once its time has passed by the clock alone")
    func overdue() throws {
        let story = try World.delivered()
        let first = try #require(try concerns(story.producer).deadlines.first)
        #expect(first.name == "receipt-recorded" && first.role == "receiver" && first.met == nil)
        // Delivered on Monday 30 November 2026: the second working day ends on Wednesday.
        #expect(first.due == Timestamp("2026-12-02T23:59:59.999Z"))
        #expect(try concerns(story.producer).overdue(at: story.world.clock.now).isEmpty)
        #expect(try story.producer.view(story.chain).deadlines.map(\.isOverdue) == [false])
        story.world.clock.advance(seconds: 4 * 86_400)
        // Nothing was written meanwhile.
        #expect(try concerns(story.producer).overdue(at: story.world.clock.now).map(\.name) == ["receipt-recorded"])
        let shown = try #require(try story.producer.view(story.chain).deadlines.first)
        #expect(shown.isOverdue && shown.isCertain && shown.due == first.due)

        _ = try story.receiver.set(story.chain, Values.weighed("2.5"))
        _ = try story.receiver.sign(story.chain)
        let met = try #require(try concerns(story.receiver).deadlines.first)
        #expect(met.met == story.world.clock.now)
        #expect(!met.isOverdue(at: story.world.clock.now), "it is done")
        #expect(try story.receiver.view(story.chain).deadlines.map(\.wasLate) == [true])
    }

    @Test("says what can be done next with a load")
    func nextSteps() throws {
        let story = try World.delivered()
        #expect(try story.receiver.nextStep(in: story.chain) == .sign(Derived.name("receiver"), isOnly: true))
        // Who has given the load away and signed has nothing left to do.
        #expect(try story.producer.nextStep(in: story.chain) == .sync)
        let signed = try World.received()
        #expect(try signed.receiver.nextStep(in: signed.chain) == .sync)
    }

    @Test("shows what a corrected value was before, and who corrected it")
    func correctedValues() throws {
        let story = try World.received()
        let path = try #require(FieldPath("sicCode"))
        func field() throws -> ChainView.Field? {
            try story.producer.view(story.chain).legs.first?.fields.first { $0.path == path }
        }
        let before = try #require(try field())
        #expect(before.corrected == nil)
        let change = EventContent.FieldChange(path: path, value: .string("43341"))
        _ = try story.producer.correct(story.chain, [change], why: "the last digits were wrong")
        let after = try #require(try field())
        #expect(after.value == .string("43341") && after.corrected == before.value && after.isSealed)
        #expect(after.party?.isOwn == true)
    }

    @Test("is content where what had to follow came in time")
    func inTime() throws {
        let story = try World.received()
        story.world.clock.advance(seconds: 30 * 86_400)
        #expect(try concerns(story.producer).overdue(at: story.world.clock.now).isEmpty)
        #expect(try story.producer.view(story.chain).deadlines.map(\.isOverdue) == [false])
    }

    @Test("counts differences of quantities, and names them")
    func discrepancies() throws {
        #expect(try concerns(try World.received().receiver).discrepancies == 0)
        let story = try World.received(weight: "2.0")
        #expect(try concerns(story.producer).discrepancies == 1)
        let view = try story.producer.view(story.chain)
        #expect(view.discrepancies.map(\.code) == [.discrepancy])
        #expect(view.warned.map(\.party.name) == ["The receiver"])
        #expect(view.warnings.count { $0.code == .discrepancy } == 1)
    }

    @Test("tells of values that contradict each other")
    func conflicts() throws {
        let world = try World()
        let party = try world.party()
        let first = try world.device("first", party: party, roles: ["producer"])
        let second = try world.device("second", party: party, roles: ["producer"])
        let chain = try first.openChain(scheme: World.waste, values: Values.producer).chain
        try world.sync(first, second)
        #expect(try concerns(first).isInConflict == false)
        _ = try first.set(chain, Values.changes([("sicCode", .string("11111"))]))
        _ = try second.set(chain, Values.changes([("sicCode", .string("22222"))]))
        try world.sync(first, second)
        #expect(try concerns(first).isInConflict)
        #expect(try first.view(chain).isInConflict)
    }

    @Test("finds a chain by another system's identifier, in whichever case it is typed")
    func externals() throws {
        let story = try World.delivered()
        _ = try story.receiver.set(story.chain, Values.changes([("defraTrackingId", .string("26HRA0B2"))]))
        let external = try #require(try concerns(story.receiver).externals.first)
        #expect(external.system == "Defra DWT" && external.value == "26HRA0B2")
        #expect(external.isNamed("26hra0b2") && !external.isNamed("26HRA0B"))
        try story.world.sync(story.receiver, story.producer)
        #expect(try concerns(story.producer).externals == [external])
    }

    @Test("reads rows of an older version and makes them anew, once")
    func refreshesOldRows() throws {
        let story = try World.received(weight: "2.0")
        let before = try #require(try story.producer.chains().first)
        let bytes = try #require(
            try story.producer.database.first("SELECT summary FROM chains") { row in try row.blob(0) }
        )
        let members = try #require(try JSON.parse(bytes).members)
        let old = JSON.object(members.filter { $0.name != "concerns" })
        try story.producer.database.run("UPDATE chains SET summary = ?", try Device.bytes(of: old))
        #expect(ChainSummary(old)?.concerns == nil)
        #expect(ChainSummary(old)?.holder == "The receiver")

        story.world.clock.advance(seconds: 3_600)
        let reopened = try story.world.reopen("producer")
        let after = try #require(try reopened.chains().first)
        #expect(after.concerns == before.concerns)
        #expect(after.updated == before.updated, "reading is not news")
        let stored = try reopened.database.first("SELECT summary FROM chains") { row in try row.blob(0) }
        #expect(stored == bytes)
    }

    @Test("is read back as it was written")
    func roundTrips() throws {
        let story = try World.received(weight: "2.0")
        _ = try story.receiver.set(story.chain, Values.changes([("defraTrackingId", .string("26HRA0B2"))]))
        _ = try story.receiver.close(story.chain, World.name("delivered"))
        let folded = try story.receiver.folded(story.chain)
        let concerns = ChainConcerns(of: folded.state, at: story.world.clock.now)
        #expect(concerns.ending != nil && !concerns.deadlines.isEmpty && !concerns.externals.isEmpty)
        #expect(ChainConcerns(concerns.json) == concerns)
    }
}
