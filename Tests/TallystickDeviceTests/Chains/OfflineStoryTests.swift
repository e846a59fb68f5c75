import Tallystick
import TallystickCrypto
import Testing

@testable import TallystickDevice

/// A load from hand to hand with no network, each device knowing only what it scanned.
@Suite("Offline story")
struct OfflineStoryTests {
    struct Story {
        let world: World
        let producer: Device
        let carrier: Device
        let receiver: Device
        let chain: UniqueID
    }

    /// Producer, carrier and receiver do their part; nothing is synchronised.
    static func tell() throws -> Story {
        let world = try World()
        let producer = try world.device("producer", roles: ["producer"])
        let carrier = try world.device("carrier", roles: ["carrier"])
        let receiver = try world.device("receiver", roles: ["receiver"])
        let chain = try producer.openChain(scheme: World.waste).chain
        _ = try producer.set(chain, Values.producer)
        _ = try producer.sign(chain)
        let collection = try producer.offer(chain)
        world.clock.advance(seconds: 60)
        _ = try carrier.accept(collection.half, values: Values.carrier)
        _ = try carrier.sign(chain)
        let delivery = try carrier.offer(chain, to: World.name("receiver"))
        world.clock.advance(seconds: 60)
        _ = try receiver.accept(delivery.half, values: Values.receiver)
        return Story(world: world, producer: producer, carrier: carrier, receiver: receiver, chain: chain)
    }

    @Test("shows each device what it can know")
    func showsWhatIsKnown() throws {
        let story = try Self.tell()
        let given = try story.producer.view(story.chain)
        #expect(given.title == "Waste transfer note (UK, not hazardous)")
        #expect(given.opening?.party.isOwn == true)
        #expect(given.legs.map(\.number) == [1])
        #expect(given.legs.first?.fields.count == Values.producer.count)
        #expect(given.legs.first?.fields.allSatisfy { $0.isSealed } == true)
        #expect(given.legs.first?.signatures.map(\.name.text) == ["producer"])
        #expect(given.offers.map(\.state) == [.open])
        #expect(given.offers.first?.half != nil)
        #expect(given.badge == .savedHere)
        #expect(given.counts == BadgeCounts(savedHere: 4, atTheServer: 0, confirmed: 0, refused: 0))

        let carried = try story.carrier.view(story.chain)
        #expect(carried.title == given.title)
        #expect(carried.opening == nil)
        #expect(carried.legs.map(\.number) == [nil])
        #expect(carried.legs.first?.received == given.offers.first?.half?.statement.snapshot)
        #expect(carried.legs.first?.signatures.map(\.name.text) == ["carrier"])
        #expect(carried.holder?.isOwn == true)
        #expect(carried.holder?.name == "The carrier")
        #expect(carried.offers.map(\.to.text) == ["receiver"])

        let received = try story.receiver.view(story.chain)
        #expect(received.legs.map(\.role.text) == ["receiver"])
        #expect(received.legs.first?.received == carried.offers.first?.half?.statement.snapshot)
        #expect(received.doubtful.isEmpty)
    }

    static let orders: [[Int]] = [
        [0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0],
    ]

    @Test("ends the same whichever device comes online first", arguments: orders)
    func endsTheSame(order: [Int]) throws {
        let story = try Self.tell()
        let devices = [story.producer, story.carrier, story.receiver]
        for index in order { _ = try devices[index].sync(story.world.server.transport) }
        for device in devices { _ = try device.sync(story.world.server.transport) }
        let final = try #require(story.world.server.state(of: story.chain))
        #expect(final.legs.map(\.number) == [1, 2, 3])
        #expect(story.world.server.waitingCount(of: story.chain) == 0)
        for device in devices {
            let view = try device.view(story.chain)
            #expect(view.badge == .confirmed, "\(view.refused) \(view.waiting)")
            #expect(view.legs.map(\.number) == [1, 2, 3])
            #expect(view.legs.map(\.party.name) == ["The producer", "The carrier", "The receiver"])
            #expect(view.legs.map { $0.finding?.mac } == [nil, .matched, .matched])
            #expect(view.offers.allSatisfy { if case .taken = $0.state { true } else { false } })
            #expect(view.holder?.name == "The receiver")
            #expect(view.doubtful.isEmpty)
            #expect(try device.outbox().rows.isEmpty)
            #expect(try device.chains().map(\.holder) == ["The receiver"])
        }
    }

    @Test("shows what waits at the server, and for what")
    func showsWhatWaits() throws {
        let story = try Self.tell()
        _ = try story.carrier.sync(story.world.server.transport)
        let view = try story.carrier.view(story.chain)
        #expect(view.badge == .atTheServer)
        #expect(view.counts.atTheServer == 4)
        let offer = try #require(view.legs.first?.offer)
        #expect(view.waiting.first?.awaits == [.offer(offer)])
        #expect(view.waiting.allSatisfy { $0.isOwn })
        #expect(try story.carrier.chains().first?.badge == .atTheServer)
        // What the carrier says meanwhile goes on from what it has.
        _ = try story.carrier.note(story.chain, "On the way")
        #expect(try story.carrier.view(story.chain).badge == .savedHere)
    }

    @Test("signs under the same snapshot before and after the pull")
    func signsAfterThePull() throws {
        let story = try Self.tell()
        for device in [story.producer, story.carrier, story.receiver, story.receiver] {
            _ = try device.sync(story.world.server.transport)
        }
        let items = Values.changes([
            ("outcome", .string("accepted")), ("receivedItems/1/ewcCodes", .strings(["170101"])),
            ("receivedItems/1/physicalForm", .string("Solid")), ("receivedItems/1/containerType", .string("LOO")),
            ("receivedItems/1/containerCount", .integer(0)),
            ("receivedItems/1/weight", .members([("amount", .string("2")), ("unit", .string("t"))])),
            ("receivedItems/1/isEstimate", .boolean(false)), ("receivedItems/1/containsHazardous", .boolean(false)),
            ("receivedItems/1/containsPops", .boolean(false)),
        ])
        _ = try story.receiver.set(story.chain, items)
        let said = try story.receiver.sign(story.chain)
        #expect(said.warnings.contains { $0.code == .discrepancy })
        _ = try story.receiver.sync(story.world.server.transport)
        let view = try story.receiver.view(story.chain)
        #expect(view.badge == .confirmed, "\(view.refused)")
        #expect(view.legs.last?.signatures.map(\.name.text) == ["receiver"])
        let container = view.legs.last?.fields.first { $0.path.description == "receivedItems/1/containerType" }
        #expect(container?.codeTitles == ["Loose, nothing around it"])
    }

    @Test("lets only one of two takers have the load, and shows both")
    func contests() throws {
        let story = try Self.tell()
        let other = try story.world.device("other", roles: ["carrier"])
        let half = try #require(try story.producer.view(story.chain).offers.first?.half)
        _ = try other.accept(half)
        for device in [story.producer, story.carrier, other, story.producer] {
            _ = try device.sync(story.world.server.transport)
        }
        let lost = try other.view(story.chain)
        #expect(lost.badge == .refused)
        #expect(lost.refused.first?.reasons.map(\.code) == [.offerTaken])
        #expect(try other.refusals().map(\.type) == ["handoff.accepted"])
        let seen = try story.producer.view(story.chain)
        #expect(seen.holder?.name == "The carrier")

        let refused = try #require(try other.refusals().first?.event)
        try other.dealWith(refused: refused)
        #expect(try other.view(story.chain).badge == .confirmed)
        #expect(try other.refusals().map(\.isDealtWith) == [true])
    }
}
