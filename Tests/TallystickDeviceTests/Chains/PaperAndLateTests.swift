import Tallystick
import TallystickCrypto
import Testing

@testable import TallystickDevice

@Suite("Paper and late entry")
struct PaperAndLateTests {
    private let picture = SHA256.hash(Array("a picture".utf8))

    private func paper(at: Timestamp? = nil) -> SigningWay {
        .paper(PaperSignature(at: at, picture: picture, signer: "Tom Ackroyd"))
    }

    /// The load is at the receiver, and the carrier has not signed.
    private func unsigned() throws -> OfflineStoryTests.Story {
        let world = try World()
        let producer = try world.device("producer", roles: ["producer"])
        let carrier = try world.device("carrier", roles: ["carrier"])
        let receiver = try world.device("receiver", roles: ["receiver"])
        let chain = try producer.openChain(scheme: World.waste, values: Values.producer).chain
        _ = try producer.sign(chain)
        let collection = try producer.offer(chain)
        _ = try carrier.accept(collection.half, values: Values.carrier)
        _ = try carrier.set(chain, Values.changes([("unsignedReason", .string("The telephone broke"))]))
        world.clock.advance(seconds: 60)
        let delivery = try carrier.offer(chain, to: World.name("receiver"))
        _ = try receiver.accept(delivery.half, values: Values.receiver)
        try world.sync(producer, carrier, receiver)
        return OfflineStoryTests.Story(
            world: world,
            producer: producer,
            carrier: carrier,
            receiver: receiver,
            chain: chain
        )
    }

    @Test("attests another role's signature on paper over that role's values, and closes the gap")
    func attests() throws {
        let story = try unsigned()
        let gap = try #require(try story.receiver.view(story.chain).legs.first { $0.role.text == "carrier" })
        #expect(gap.missing.map(\.text) == ["carrier"])
        #expect(gap.fields.allSatisfy { !$0.isSealed })
        #expect(try story.receiver.chains().first?.concerns?.gaps == ["carrier"])

        let at = try #require(Timestamp(milliseconds: story.world.clock.milliseconds - 1_800_000))
        #expect(
            try story.receiver.signatureToGive(in: story.chain, as: World.name("carrier"), paper()).name.text
                == "carrier"
        )
        _ = try story.receiver.sign(story.chain, as: World.name("carrier"), paper(at: at))
        try story.world.sync(story.receiver, story.carrier)
        let leg = try #require(try story.carrier.view(story.chain).legs.first { $0.role.text == "carrier" })
        let signature = try #require(leg.signatures.first)
        #expect(signature.party.isOwn)
        #expect(signature.signer.name == "The receiver")
        #expect(signature.way.paper?.signer == "Tom Ackroyd")
        #expect(signature.way.paper?.picture == picture)
        #expect(signature.happened == at)
        #expect(leg.missing.isEmpty)
        #expect(leg.fields.allSatisfy { $0.isSealed })
        #expect(try story.carrier.chains().first?.concerns?.gaps.isEmpty == true)
        #expect(try story.receiver.view(story.chain).badge == .confirmed)
    }

    @Test("attests the own role's signature without being told which")
    func attestsOwn() throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        let chain = try device.openChain(scheme: World.waste, values: Values.producer).chain
        _ = try device.sign(chain, as: nil, paper())
        #expect(try device.view(chain).legs.first?.signatures.first?.way == paper())
        _ = try device.sync(world.server.transport)
        #expect(try device.view(chain).badge == .confirmed)
    }

    @Test("attests nothing that the scheme does not let, that is dated ahead, or that is not there")
    func refusesToAttest() throws {
        let story = try unsigned()
        let ahead = try #require(Timestamp(milliseconds: story.world.clock.milliseconds + 3_600_000))
        func codes(_ name: String, _ way: SigningWay) -> [ReasonCode]? {
            deviceError { try story.receiver.sign(story.chain, as: World.name(name), way) }?.reasons.map(\.code)
        }
        #expect(codes("schedule", paper()) == [.paperNotAllowed])
        #expect(codes("producer", paper()) == [.paperNotAllowed])
        #expect(codes("carrier", paper(at: ahead)) == [.paperNotAllowed])
    }

    private func late(_ world: World, hoursAgo: Int64, paper: Digest? = nil) throws -> LateEntry {
        let at = try #require(Timestamp(milliseconds: world.clock.milliseconds - hoursAgo * 3_600_000))
        return LateEntry(at: at, paper: paper, why: "No signal in the basement")
    }

    @Test("enters opening, values, signature and remark afterwards, with both times")
    func entersLate() throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        let entry = try late(world, hoursAgo: 48, paper: picture)
        let opened = try device.openChain(scheme: World.waste, values: Values.producer, late: entry)
        #expect(opened.warnings.map(\.code) == [.lateEntry, .lateEntry])
        _ = try device.set(opened.chain, Values.changes([("sicCode", .string("43341"))]), late: entry)
        _ = try device.note(opened.chain, "Two skips that day", late: entry)
        _ = try device.sign(opened.chain, late: entry)
        let view = try device.view(opened.chain)
        #expect(view.late.map(\.type) == ["chain.opened", "fields.set", "fields.set", "note.added", "signed"])
        #expect(view.late.allSatisfy { $0.happened == entry.at && $0.at == world.clock.now && $0.paper == picture })
        #expect(view.late.first?.why == "No signal in the basement")
        #expect(view.legs.first?.signatures.first?.happened == entry.at)
        #expect(view.warnings.allSatisfy { $0.code == .lateEntry })
        #expect(view.warned.count == 5)
        _ = try device.sync(world.server.transport)
        #expect(try device.view(opened.chain).badge == .confirmed)
        #expect(try device.view(opened.chain).late.count == 5)
    }

    @Test("refuses an entry that is too late, ahead of its time, or of a role that may not")
    func refusesLate() throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        let broker = try world.device("broker", roles: ["broker"])
        let chain = try device.openChain(scheme: World.waste, values: Values.producer).chain
        _ = try device.admit(chain, broker.certificate.party, as: World.name("broker"))
        try world.sync(device, broker)
        func codes(_ device: Device, hoursAgo: Int64) -> [ReasonCode]? {
            deviceError { try device.note(chain, "Late", late: try late(world, hoursAgo: hoursAgo)) }?.reasons.map(
                \.code
            )
        }
        #expect(codes(device, hoursAgo: 15 * 24) == [.lateNotAllowed])
        #expect(codes(device, hoursAgo: -1) == [.lateNotAllowed])
        #expect(codes(broker, hoursAgo: 1) == [.lateNotAllowed])
        #expect(try device.view(chain).notes.isEmpty)
    }
}
