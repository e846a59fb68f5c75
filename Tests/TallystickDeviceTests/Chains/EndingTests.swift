import Tallystick
import TallystickCrypto
import Testing

@testable import TallystickDevice

@Suite("Links and endings")
struct EndingTests {
    @Test("cancels before the load moved, and not after")
    func cancels() throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        let chain = try device.openChain(scheme: World.waste, values: Values.producer).chain
        _ = try device.cancel(chain, why: "The skip was not filled")
        let ending = try #require(try device.view(chain).ending)
        #expect(ending.outcome == nil && ending.why == "The skip was not filled" && ending.party.isOwn)
        #expect(try device.chains().first?.concerns?.ending == ChainConcerns.Ending(outcome: nil, title: "Cancelled"))
        #expect(deviceError { try device.sign(chain) }?.reasons.map(\.code) == [.chainClosed])
        #expect(deviceError { try device.cancel(chain, why: "Again") }?.reasons.map(\.code) == [.chainClosed])
        _ = try device.note(chain, "A new note follows")
        _ = try device.sync(world.server.transport)
        #expect(try device.view(chain).badge == .confirmed)

        let story = try World.delivered()
        #expect(deviceError { try story.producer.cancel(story.chain, why: "Late") }?.reasons.map(\.code) == [.tooLate])
        #expect(
            deviceError { try story.receiver.cancel(story.chain, why: "Not ours") }?.reasons.map(\.code) == [
                .roleNotHeld
            ]
        )
    }

    @Test("closes with an outcome, and says how long to keep the record")
    func closes() throws {
        let story = try World.received()
        let delivered = World.name("delivered")
        #expect(try story.producer.view(story.chain).keeping.map(\.until) == [nil])
        #expect(
            deviceError { try story.producer.close(story.chain, delivered) }?.reasons.map(\.code) == [.outcomeInvalid]
        )
        _ = try story.receiver.close(story.chain, delivered)
        try story.world.sync(story.receiver, story.producer)
        let view = try story.producer.view(story.chain)
        #expect(view.ending?.outcome == delivered && view.ending?.title == "Delivered")
        #expect(view.ending?.dutyTo == nil)
        let keeping = try #require(view.keeping.first)
        #expect(keeping.role.text == "producer" && keeping.period == Period(count: 2, unit: .years))
        #expect(keeping.until == Day("2028-11-30"))
        #expect(try story.producer.chains().first?.concerns?.ending?.outcome == "delivered")
        // The number comes back from the regulator later.
        _ = try story.receiver.set(story.chain, Values.changes([("defraTrackingId", .string("26HRA0B2"))]))
        #expect(try story.receiver.view(story.chain).externals.map(\.value) == [.string("26HRA0B2")])
        #expect(deviceError { try story.receiver.close(story.chain, delivered) }?.reasons.map(\.code) == [.chainClosed])
    }

    @Test("closes nothing before its stage, without its reason, or with an outcome that is none")
    func refusesToClose() throws {
        let story = try World.delivered()
        func codes(_ device: Device, _ outcome: String, _ why: String = "") -> [ReasonCode]? {
            deviceError { try device.close(story.chain, World.name(outcome), why: why) }?.reasons.map(\.code)
        }
        #expect(codes(story.receiver, "delivered") == [.signatureOutOfOrder])
        #expect(codes(story.receiver, "vanished") == [.outcomeInvalid])
        #expect(codes(story.carrier, "lost", "It went overboard") == [.notTheHolder])
    }

    @Test("gives the duty back where the load is lost")
    func givesTheDutyBack() throws {
        let world = try World()
        let producer = try world.device("producer", roles: ["producer"])
        let carrier = try world.device("carrier", roles: ["carrier"])
        let chain = try producer.openChain(scheme: World.waste, values: Values.producer).chain
        _ = try producer.sign(chain)
        _ = try carrier.accept(try producer.offer(chain).half, values: Values.carrier)
        try world.sync(producer, carrier)
        #expect(
            deviceError { try carrier.close(chain, World.name("lost")) }?.reasons.map(\.code) == [.outcomeInvalid]
        )
        _ = try carrier.close(chain, World.name("lost"), why: "The skip went overboard")
        try world.sync(carrier, producer)
        #expect(try producer.view(chain).ending?.dutyTo?.text == "producer")
        #expect(try producer.view(chain).ending?.dutyTitle != nil)
    }

    @Test("ties chains together, with amounts and reasons where they are asked for")
    func links() throws {
        let story = try World.delivered()
        let items =
            Values.weighed("2.5")
            + Values.changes([
                ("outcome", .string("accepted-in-part")), ("receivedItems/1/rejectionReason", .string("Timber in it")),
                ("receivedItems/1/acceptedWeight", .members([("amount", .string("2")), ("unit", .string("t"))])),
                ("receivedItems/1/rejectedWeight", .members([("amount", .string("0.5")), ("unit", .string("t"))])),
            ])
        var last: [FieldPath: EventContent.FieldChange] = [:]
        for change in items { last[change.path] = change }
        _ = try story.receiver.set(story.chain, Array(last.values))
        let other = try story.producer.openChain(scheme: World.waste).chain
        let name = World.name("refused-part")
        func amount(_ text: String) -> [EventContent.FieldChange] {
            Values.changes([
                ("receivedItems/1/rejectedWeight", .members([("amount", .string(text)), ("unit", .string("t"))]))
            ])
        }
        func codes(_ amounts: [EventContent.FieldChange]) -> [ReasonCode]? {
            deviceError { try story.receiver.link(story.chain, name, to: other, amounts: amounts) }?.reasons.map(\.code)
        }
        #expect(codes(amount("0.5")) == [.signatureOutOfOrder])
        let signed = deviceError { try story.receiver.sign(story.chain) }
        #expect(signed == nil, "\(signed?.remedy ?? "")")
        #expect(codes([]) == [.linkInvalid])
        #expect(codes(amount("0.7")) == [.amountsDiffer])
        #expect(
            deviceError { try story.receiver.link(story.chain, name, to: story.chain, amounts: amount("0.5")) }?.reasons
                .map(\.code) == [.linkInvalid]
        )
        #expect(deviceError { try story.receiver.link(story.chain, World.name("x"), to: other) }?.code == .badInput)
        #expect(
            deviceError { try story.producer.link(story.chain, name, to: other) }?.reasons.map(\.code).first
                == .linkInvalid
        )
        _ = try story.receiver.link(story.chain, name, to: other, amounts: amount("0.5"))
        let link = try #require(try story.receiver.view(story.chain).links.first)
        #expect(link.kind == .rejectedTo && link.chain == other && !link.isHere)
        #expect(link.amounts.map { Scheme.text(of: $0.value) } == ["0.5 t"])
        _ = try story.producer.link(other, World.name("was-refused"), to: story.chain)
        let back = try #require(try story.producer.view(other).links.first)
        #expect(back.kind == .rejectedFrom && back.isHere)
    }
}
