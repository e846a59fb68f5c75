import Tallystick
import TallystickCrypto
import TallystickStore
import Testing

@testable import TallystickDevice

@Suite("Device acts")
struct DeviceActsTests {
    private func eventCount(_ device: Device) throws -> Int? {
        try device.database.first("SELECT count(*) FROM events") { row in try row.int(0) }
    }

    @Test("refuses with every reason and writes nothing")
    func refusesWithEveryReason() throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        let chain = try device.openChain(scheme: World.waste).chain
        let before = try eventCount(device)
        let error = deviceError {
            try device.set(
                chain,
                Values.changes([
                    ("sicCode", .string("no")), ("carrierName", .string("x")), ("nothing", .string("x")),
                ])
            )
        }
        #expect(error?.code == .refused)
        #expect(Set(error?.reasons.map(\.code) ?? []) == [.fieldInvalid, .notYourField, .fieldUnknown])
        #expect(error?.remedy.contains("carrierName") == true)
        #expect(deviceError { try device.sign(chain) }?.reasons.contains { $0.code == .missingField } == true)
        #expect(deviceError { try device.offer(chain) }?.reasons.map(\.code) == [.signatureOutOfOrder])
        #expect(try eventCount(device) == before)
        #expect(try device.view(chain).badge == .savedHere)
        // What was refused has used no number.
        _ = try device.set(chain, Values.producer)
        #expect(try device.view(chain).legs.first?.fields.count == Values.producer.count)
    }

    @Test("opens with first values in one step, or not at all")
    func opensAtOnce() throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        let bad = Values.changes([("sicCode", .string("x"))])
        let error = deviceError { try device.openChain(scheme: World.waste, values: bad) }
        #expect(error?.reasons.map(\.code) == [.fieldInvalid])
        #expect(try device.chains().isEmpty)
        let said = try device.openChain(scheme: World.waste, values: Values.producer)
        #expect(said.events.count == 2)
        #expect(try device.chains().map(\.chain) == [said.chain])
    }

    @Test("says which schemes and roles there are")
    func saysChoices() throws {
        let world = try World()
        let carrier = try world.device("carrier", roles: ["carrier"])
        #expect(deviceError { try carrier.openChain(scheme: World.name("other")) }?.code == .schemeUnknown)
        #expect(deviceError { try carrier.openChain(scheme: World.waste) }?.code == .nothingToDo)
        #expect(
            deviceError { try carrier.openChain(scheme: World.waste, role: World.name("carrier")) }?.reasons.map(\.code)
                == [.roleNotHeld]
        )
    }

    @Test("asks whom an offer is for where the scheme has several")
    func asksForTheRole() throws {
        let story = try OfflineStoryTests.tell()
        let next = try story.world.device("next", roles: ["carrier", "receiver"])
        _ = try story.carrier.withdraw(story.chain)
        let error = deviceError { try story.carrier.offer(story.chain) }
        #expect(error?.code == .choiceNeeded)
        #expect(error?.message.contains("carrier") == true && error?.message.contains("receiver") == true)
        #expect(deviceError { try story.carrier.offer(story.chain, to: World.name("producer")) }?.code == .badInput)
        let offer = try story.carrier.offer(story.chain, to: World.name("carrier"), lasting: 3_600)
        #expect(offer.handoff.name.text == "transfer")
        #expect(offer.offer.expires.seconds - story.world.clock.now.seconds == 3_600)
        _ = try next.accept(offer.half)
        #expect(try next.view(story.chain).legs.map(\.role.text) == ["carrier"])
    }

    @Test("keeps an offer within the scheme's limits", arguments: [0, 30, 86_500, Int.max])
    func limitsOffers(seconds: Int) throws {
        let story = try OfflineStoryTests.tell()
        _ = try story.producer.withdraw(story.chain)
        #expect(
            deviceError { try story.producer.offer(story.chain, lasting: seconds) }?.reasons.map(\.code)
                == [.offerInvalid]
        )
    }

    @Test("uses an offer once, also long after its end")
    func usesOnce() throws {
        let story = try OfflineStoryTests.tell()
        let half = try #require(try story.producer.view(story.chain).offers.first?.half)
        #expect(deviceError { try story.carrier.accept(half) }?.reasons.map(\.code) == [.offerTaken])
        story.world.clock.advance(seconds: 1_000_000)
        let again = try story.world.reopen("carrier")
        #expect(deviceError { try again.accept(half) }?.reasons.map(\.code) == [.offerTaken])
        #expect(deviceError { try again.decline(half, why: "no") }?.reasons.map(\.code) == [.offerTaken])
    }

    @Test("refuses an offer that has ended, and says when it did")
    func refusesExpired() throws {
        let story = try OfflineStoryTests.tell()
        let late = try story.world.device("late", roles: ["carrier"])
        let half = try #require(try story.producer.view(story.chain).offers.first?.half)
        story.world.clock.advance(seconds: 900)
        let error = deviceError { try late.accept(half) }
        #expect(error?.reasons.map(\.code) == [.offerExpired])
        #expect(error?.remedy.contains("2026-") == true)
        #expect(try late.chains().isEmpty)
        // A refused acceptance has not used the offer up.
        let used = try late.database.first("SELECT count(*) FROM used_offers") { row in try row.int(0) }
        #expect(used == 0)
        #expect(try story.producer.view(story.chain).offers.map(\.state) == [.expired])
    }

    @Test("declines by the code alone, and the giver learns why")
    func declines() throws {
        let story = try OfflineStoryTests.tell()
        let other = try story.world.device("other", roles: ["carrier"])
        let half = try #require(try story.producer.view(story.chain).offers.first?.half)
        _ = try other.decline(half, why: "Too heavy")
        #expect(deviceError { try other.accept(half) }?.reasons.map(\.code) == [.offerDeclined])
        #expect(try other.chains().map(\.badge) == [.savedHere])
        #expect(try other.view(story.chain).legs.isEmpty)
        for device in [story.producer, other, story.producer] { _ = try device.sync(story.world.server.transport) }
        #expect(try story.producer.view(story.chain).offers.map(\.state) == [.declined(why: "Too heavy")])
        #expect(try other.view(story.chain).badge == .confirmed)
    }

    @Test("takes an offer back that somebody declined, and one that nobody did first")
    func withdrawsDeclined() throws {
        let story = try OfflineStoryTests.tell()
        let other = try story.world.device("other", roles: ["carrier"])
        let world = story.world
        let chain = try story.producer.openChain(scheme: World.waste, values: Values.producer).chain
        _ = try story.producer.sign(chain)
        let first = try story.producer.offer(chain)
        _ = try other.decline(first.half, why: "Too heavy")
        for device in [story.producer, other, story.producer] { _ = try device.sync(world.server.transport) }
        let second = try story.producer.offer(chain)
        _ = try story.producer.withdraw(chain)
        func ends() throws -> [OfferID: ChainView.Offer.State] {
            let offers = try story.producer.view(chain).offers
            return Dictionary(uniqueKeysWithValues: offers.map { ($0.id, $0.state) })
        }
        #expect(try ends() == [first.offer.id: .declined(why: "Too heavy"), second.offer.id: .withdrawn])
        _ = try story.producer.withdraw(chain)
        #expect(try ends() == [first.offer.id: .withdrawn, second.offer.id: .withdrawn])
        #expect(deviceError { try story.producer.withdraw(chain) }?.code == .nothingToDo)
        _ = try story.producer.sync(world.server.transport)
        #expect(try story.producer.view(chain).badge == .confirmed)
    }

    @Test("keeps the load with its taker, whatever a stranger declines")
    func outlivesAStrangersDecline() throws {
        let story = try OfflineStoryTests.tell()
        let stranger = try story.world.device("stranger", roles: ["carrier"])
        let half = try #require(try story.producer.view(story.chain).offers.first?.half)
        _ = try stranger.decline(half, why: "Not for us")
        let devices = [story.producer, stranger, story.carrier, story.receiver]
        for device in devices + devices { _ = try device.sync(story.world.server.transport) }
        for device in [story.producer, story.carrier, story.receiver] {
            #expect(try device.view(story.chain).badge == .confirmed)
            #expect(try device.view(story.chain).legs.map(\.number) == [1, 2, 3])
            #expect(try device.chains().map(\.isContested) == [false])
        }
    }

    /// Beside the moment a chain's identifier has 12 random bits of the device's own.
    @Test("opens a chain of its own each time, however fast and however poor the chance")
    func opensDistinctChains() throws {
        let world = try World()
        _ = try world.device("producer", roles: ["producer"])
        let device = try Device(
            home: world.home("producer"),
            schemes: World.schemes,
            clock: { [clock = world.clock] in clock.now },
            random: { Array(repeating: 7, count: $0) }
        )
        let chains = try (0..<20).map { _ in try device.openChain(scheme: World.waste).chain }
        #expect(Set(chains).count == 20)
        #expect(chains.allSatisfy { $0.isOpened(by: device.id) })
        _ = try device.sync(world.server.transport)
        #expect(try device.chains().allSatisfy { $0.badge == .confirmed })
        #expect(try device.chains().count == 20)
    }

    @Test("does not take its own offer, or in a role it has not")
    func refusesWrongTakers() throws {
        let world = try World()
        let both = try world.device("both", roles: ["producer", "carrier"])
        let receiver = try world.device("receiver", roles: ["receiver"])
        let chain = try both.openChain(scheme: World.waste, values: Values.producer).chain
        _ = try both.sign(chain)
        let offer = try both.offer(chain)
        #expect(deviceError { try both.accept(offer.half) }?.reasons.map(\.code) == [.ownOffer])
        #expect(deviceError { try receiver.accept(offer.half) }?.reasons.map(\.code) == [.roleNotHeld])
        #expect(deviceError { try receiver.accept(offer.half, role: World.name("receiver")) }?.code == .badInput)
    }

    @Test("binds an offer to one party")
    func bindsOffers() throws {
        let story = try OfflineStoryTests.tell()
        _ = try story.producer.withdraw(story.chain)
        let other = try story.world.device("other", roles: ["carrier"])
        let party = story.carrier.certificate.party
        let offer = try story.producer.offer(story.chain, boundTo: party)
        #expect(offer.half.statement.isBound)
        _ = try other.accept(offer.half)
        for device in [story.producer, other] { _ = try device.sync(story.world.server.transport) }
        #expect(try other.view(story.chain).refused.first?.reasons.map(\.code) == [.roleNotHeld])
    }

    @Test("names chains by any beginning or end that is theirs alone")
    func namesChains() throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        let chains = try (0..<3).map { _ in try device.openChain(scheme: World.waste).chain }
        for chain in chains {
            let text = chain.description
            #expect(try device.chain(named: text) == chain)
            #expect(try device.chain(named: String(text.suffix(12))) == chain)
            #expect(try device.chain(named: String(text.suffix(15)).uppercased()) == chain)
            #expect(try device.chain(named: text.replacing("-", with: "")) == chain)
        }
        let start = String(chains[0].description.prefix(8))
        let ambiguous = deviceError { try device.chain(named: start) }
        #expect(ambiguous?.code == .chainAmbiguous)
        for chain in chains { #expect(ambiguous?.message.contains(chain.description) == true) }
        #expect(deviceError { try device.chain(named: "abc") }?.code == .badInput)
        #expect(deviceError { try device.chain(named: "zzzzzz") }?.code == .chainUnknown)
        #expect(deviceError { try device.set(try world.party(), Values.producer) }?.code == .chainUnknown)
        #expect(deviceError { try device.view(try world.party()) }?.code == .chainUnknown)
    }

    @Test("shows both values where two devices of one party did not know of each other")
    func showsConflicts() throws {
        let world = try World()
        let party = try world.party()
        let first = try world.device("first", party: party, roles: ["producer"])
        let second = try world.device("second", party: party, roles: ["producer"])
        let chain = try first.openChain(scheme: World.waste, values: Values.producer).chain
        for device in [first, second] { _ = try device.sync(world.server.transport) }
        _ = try first.set(chain, Values.changes([("sicCode", .string("11111"))]))
        _ = try second.set(chain, Values.changes([("sicCode", .string("22222"))]))
        for device in [first, second, first] { _ = try device.sync(world.server.transport) }
        let field = try second.view(chain).legs.first?.fields.first { $0.path.description == "sicCode" }
        #expect(field?.value == .string("11111"))
        #expect(field?.others == [.string("22222")])
        #expect(deviceError { try second.sign(chain) }?.reasons.contains { $0.code == .conflictOpen } == true)
        _ = try second.set(chain, Values.changes([("sicCode", .string("33333"))]))
        _ = try second.sign(chain)
        _ = try second.sync(world.server.transport)
        _ = try first.sync(world.server.transport)
        #expect(try first.view(chain).legs.first?.signatures.count == 1)
        #expect(try first.view(chain).badge == .confirmed)
    }

    @Test("expects a refusal of what others' events make impossible")
    func doubts() throws {
        let world = try World()
        let party = try world.party()
        let first = try world.device("first", party: party, roles: ["producer"])
        let second = try world.device("second", party: party, roles: ["producer"])
        let chain = try first.openChain(scheme: World.waste, values: Values.producer).chain
        for device in [first, second] { _ = try device.sync(world.server.transport) }
        _ = try first.sign(chain)
        _ = try first.sync(world.server.transport)
        _ = try second.set(chain, Values.changes([("sicCode", .string("22222"))]))
        // Put off, so that it is still only here when the signature is pulled.
        let event = try #require(try second.outbox().rows.first)
        try second.database.run("UPDATE outbox SET next_attempt_ms = ?", world.clock.milliseconds + 60_000)
        _ = try second.sync(world.server.transport, .whenDue)
        let view = try second.view(chain)
        #expect(view.badge == .savedHere)
        #expect(view.doubtful.map(\.event) == [event.event])
        #expect(view.doubtful.first?.reasons.map(\.code) == [.fieldSealed])
        #expect(view.refused.isEmpty)
        _ = try second.sync(world.server.transport)
        #expect(try second.view(chain).refused.first?.reasons.map(\.code) == [.fieldSealed])
        #expect(try second.view(chain).doubtful.isEmpty)
        #expect(try second.view(chain).badge == .refused)
        // The chain goes on after the refused event.
        _ = try second.note(chain, "the code was wrong")
        _ = try second.sync(world.server.transport)
        #expect(try second.view(chain).notes.count == 1)
        #expect(try second.outbox().rows.isEmpty)
    }
}
