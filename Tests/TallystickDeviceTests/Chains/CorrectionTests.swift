import Tallystick
import TallystickCrypto
import Testing

@testable import TallystickDevice

@Suite("Corrections")
struct CorrectionTests {
    private let rubble = Values.changes([("wasteItems/1/description", .string("Rubble, the timber was left behind"))])

    private func description(_ device: Device, _ chain: UniqueID) throws -> JSON? {
        try device.view(chain).legs.first?.fields.first { $0.path.description == "wasteItems/1/description" }?.value
    }

    @Test("applies once everybody concerned has approved, on every device")
    func appliesWhenApproved() throws {
        let story = try World.received()
        let said = try story.producer.correct(story.chain, rubble, why: "Wrong skip")
        let proposed = try #require(try story.producer.view(story.chain).corrections.first)
        #expect(proposed.event == said.events.first)
        #expect(proposed.awaited.map(\.name) == ["The carrier", "The receiver"])
        #expect(proposed.changes.first?.before == .string("Broken concrete"))
        #expect(proposed.why == "Wrong skip" && !proposed.waitsForOwn)
        try story.world.sync(story.producer, story.carrier, story.receiver)
        #expect(try story.carrier.view(story.chain).corrections.first?.waitsForOwn == true)

        _ = try story.carrier.approve(story.chain)
        try story.world.sync(story.carrier, story.receiver)
        #expect(try description(story.receiver, story.chain) == .string("Broken concrete"))
        let half = try #require(try story.receiver.view(story.chain).corrections.first)
        #expect(half.approved.map(\.name) == ["The carrier"] && half.awaited.map(\.name) == ["The receiver"])

        _ = try story.receiver.approve(story.chain, correction: String(half.event.hex.prefix(8)))
        try story.world.sync(story.receiver, story.producer, story.carrier)
        for device in [story.producer, story.carrier, story.receiver] {
            #expect(try description(device, story.chain) == .string("Rubble, the timber was left behind"))
            let correction = try #require(try device.view(story.chain).corrections.first)
            guard case .applied = correction.state else { throw DeviceError(.refused, "not applied", remedy: "") }
            #expect(correction.changes.first?.before == .string("Broken concrete"))
            #expect(correction.awaited.isEmpty && correction.approved.count == 2)
            #expect(try device.view(story.chain).badge == .confirmed)
        }
    }

    @Test("applies at once where nobody else is concerned")
    func appliesAtOnce() throws {
        let story = try World.received()
        _ = try story.producer.correct(
            story.chain,
            Values.changes([("sicCode", .string("43341"))]),
            why: "Typing error"
        )
        let view = try story.producer.view(story.chain)
        guard case .applied? = view.corrections.first?.state else {
            throw DeviceError(.refused, "not applied", remedy: "")
        }
        let field = try #require(view.legs.first?.fields.first { $0.path.description == "sicCode" })
        #expect(field.value == .string("43341"))
        #expect(field.isSealed && field.isCorrectable)
        #expect(deviceError { try story.carrier.approve(story.chain) }?.code == .nothingToDo)
    }

    @Test("leaves the values where somebody does not agree, with the reason")
    func refused() throws {
        let story = try World.received()
        _ = try story.producer.correct(story.chain, rubble, why: "Wrong skip")
        try story.world.sync(story.producer, story.receiver)
        _ = try story.receiver.refuse(story.chain, why: "The timber is here")
        try story.world.sync(story.receiver, story.producer)
        let correction = try #require(try story.producer.view(story.chain).corrections.first)
        guard case .refused(let by, let why) = correction.state else {
            throw DeviceError(.refused, "not refused", remedy: "")
        }
        #expect(by.name == "The receiver" && why == "The timber is here")
        #expect(try description(story.producer, story.chain) == .string("Broken concrete"))
        // It is settled, also for whoever did not answer.
        try story.world.sync(story.carrier)
        let name = String(correction.event.hex.prefix(6)).uppercased()
        #expect(
            deviceError { try story.carrier.approve(story.chain, correction: name) }?.reasons.map(\.code)
                == [.correctionSettled]
        )
    }

    @Test("asks which of several is meant, and knows no others")
    func choosesOne() throws {
        let story = try World.received()
        _ = try story.producer.correct(story.chain, rubble, why: "Wrong skip")
        let name = Values.changes([("producerName", .string("Brown Builders Ltd"))])
        _ = try story.producer.correct(story.chain, name, why: "The whole name")
        try story.world.sync(story.producer, story.carrier)
        let choice = deviceError { try story.carrier.approve(story.chain) }
        #expect(choice?.code == .choiceNeeded)
        let open = try story.carrier.view(story.chain).corrections
        for correction in open { #expect(choice?.remedy.contains(correction.event.hex.prefix(8)) == true) }
        for text in ["abc", "zzzz", String(open[0].event.hex.prefix(3))] {
            #expect(deviceError { try story.carrier.approve(story.chain, correction: text) }?.code == .badInput)
        }
        #expect(try story.carrier.correctionToAnswer(in: story.chain, named: open[1].event.hex) == open[1].event)
        _ = try story.carrier.approve(story.chain, correction: open[1].event.hex)
        #expect(try story.carrier.correctionToAnswer(in: story.chain, named: nil) == open[0].event)
    }

    @Test("corrects nothing that is not sealed, that stays as signed, that is open, or that is another's")
    func refusesCorrections() throws {
        let story = try World.received()
        func codes(_ device: Device, _ changes: [(String, JSON?)]) -> [ReasonCode]? {
            deviceError { try device.correct(story.chain, Values.changes(changes), why: "It was wrong") }?.reasons
                .map(\.code)
        }
        #expect(codes(story.receiver, [("defraTrackingId", .string("26HRA0B2"))]) == [.correctionInvalid])
        #expect(codes(story.producer, [("hierarchyDuty", .boolean(true))]) == [.correctionInvalid])
        #expect(codes(story.carrier, [("sicCode", .string("43341"))]) == [.notYourField])
        #expect(codes(story.producer, [("sicCode", .string("x"))]) == [.fieldInvalid])
        // What was signed has to stay something that could have been signed.
        #expect(codes(story.producer, [("sicCode", nil)]) == [.missingField])
        _ = try story.producer.correct(story.chain, rubble, why: "Wrong skip")
        #expect(codes(story.producer, [("wasteItems/1/description", .string("Once more"))]) == [.correctionOpen])
        #expect(deviceError { try story.producer.correct(story.chain, rubble, why: "") }?.reasons.count == 1)
        // The proposer has no say in its own.
        #expect(deviceError { try story.producer.approve(story.chain) }?.reasons.map(\.code) == [.correctionSettled])
    }
}
