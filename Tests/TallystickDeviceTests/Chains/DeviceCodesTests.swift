import Tallystick
import TallystickCrypto
import Testing

@testable import TallystickDevice

/// Full codes, replies and challenges between devices that have never synchronised.
@Suite("Codes between devices")
struct DeviceCodesTests {
    struct Yard {
        let world: World
        let producer: Device
        let carrier: Device
        let receiver: Device
        let chain: UniqueID
        let offer: Device.OfferMade

        init() throws {
            world = try World()
            producer = try world.device("producer", roles: ["producer"])
            carrier = try world.device("carrier", roles: ["carrier"])
            receiver = try world.device("receiver", roles: ["receiver"])
            chain = try producer.openChain(scheme: World.waste).chain
            _ = try producer.set(chain, Values.producer)
            _ = try producer.sign(chain)
            offer = try producer.offer(chain)
        }
    }

    @Test("the taker reads the load and verifies giver, authority and signature with no network")
    func readsTheLoad() throws {
        let yard = try Yard()
        let code = try yard.producer.fullCode(of: yard.offer.offer.id, in: yard.chain)
        let load = try yard.carrier.load(in: code)
        #expect(load.giver.partyName == "The producer")
        #expect(load.snapshots.count == 1)
        #expect(load.snapshots[0].fields.count == Values.producer.count)
        #expect(load.snapshots[0].hash == yard.offer.half.statement.snapshot)
        let size = CodeMessage.full(code).bytes.count
        #expect((300...1_000).contains(size), "\(size) bytes")
        #expect(CodeMessage.full(code).texts.count <= 6)

        _ = try yard.carrier.accept(code.half, values: Values.carrier, load: load)
        let view = try yard.carrier.view(yard.chain)
        #expect(view.opening == nil)
        #expect(view.received.map(\.from.text) == ["producer"])
        #expect(view.received[0].fields.count == Values.producer.count)
        #expect(view.received[0].fields.allSatisfy { $0.title != nil })

        // The next taker reads what both givers said: each snapshot names the one before.
        _ = try yard.carrier.sign(yard.chain)
        let onward = try yard.carrier.offer(yard.chain, to: World.name("receiver"))
        let second = try yard.carrier.fullCode(of: onward.offer.id, in: yard.chain)
        let whole = try yard.receiver.load(in: second)
        #expect(whole.snapshots.map(\.from.text) == ["carrier", "producer"])
        _ = try yard.receiver.accept(second.half, load: whole)
        #expect(try yard.receiver.view(yard.chain).received.map(\.from.text) == ["carrier", "producer"])

        // Once the givers' own events are there, they are shown instead.
        for device in [yard.producer, yard.carrier, yard.receiver, yard.receiver] {
            _ = try device.sync(yard.world.server.transport)
        }
        let settled = try yard.receiver.view(yard.chain)
        #expect(settled.received.isEmpty && settled.opening != nil)
        #expect(settled.legs.map(\.number) == [1, 2, 3])
    }

    @Test("a full code that was changed, or comes from elsewhere, is not believed")
    func refusesWhatIsNotTheGivers() throws {
        let yard = try Yard()
        let code = try yard.producer.fullCode(of: yard.offer.offer.id, in: yard.chain)
        func fails(_ code: FullCode?, _ expected: ReasonCode?) throws {
            let given = try #require(code)
            let error = #expect(throws: DeviceError.self) { try yard.carrier.load(in: given) }
            #expect(error?.code == .badCode)
            if let expected {
                #expect(error?.reasons.map(\.code).contains(expected) == true, "\(error?.reasons ?? [])")
            }
        }
        var signature = code.signature
        signature[3] ^= 1
        try fails(
            FullCode(half: code.half, signature: signature, dictionary: 1, compressed: code.compressed),
            .badSignature
        )
        var statement = code.half.statement.bytes
        statement[60] ^= 1
        let changed = try #require(HandoffStatement(bytes: statement))
        let half = try #require(HandoffHalf(statement: changed, mac: code.half.mac))
        try fails(
            FullCode(half: half, signature: code.signature, dictionary: 1, compressed: code.compressed),
            .snapshotMismatch
        )
        try fails(
            FullCode(half: code.half, signature: code.signature, dictionary: 1, compressed: [1, 2, 3, 4, 5]),
            nil
        )
        try fails(
            FullCode(
                half: code.half,
                signature: code.signature,
                dictionary: 1,
                compressed: code.compressed + [0]
            ),
            nil
        )
        // The same words under another server's authority.
        let elsewhere = try Yard()
        try fails(try elsewhere.producer.fullCode(of: elsewhere.offer.offer.id, in: elsewhere.chain), .unknownDevice)
        let newer = try #require(
            FullCode(half: code.half, signature: code.signature, dictionary: 9, compressed: code.compressed)
        )
        let error = #expect(throws: DeviceError.self) { try yard.carrier.load(in: newer) }
        #expect(error?.code == .needsNewerVersion)
    }

    @Test("the giver verifies a reply offline and holds both halves before any sync")
    func holdsBothHalves() throws {
        let yard = try Yard()
        yard.world.clock.advance(seconds: 30)
        _ = try yard.carrier.accept(yard.offer.half)
        let (compact, full) = try yard.carrier.reply(in: yard.chain)
        // Alone it cannot be verified by a giver who has never heard of the taker.
        let unknown = #expect(throws: DeviceError.self) { try yard.producer.acknowledge(compact) }
        #expect(unknown?.code == .badCode)
        let taker = try yard.producer.certificate(in: full)
        let done = try yard.producer.acknowledge(full.reply, certificate: taker)
        #expect(done.taker.partyName == "The carrier")
        let view = try yard.producer.view(yard.chain)
        #expect(view.offers.first?.reply?.isAcceptance == true)
        #expect(view.offers.first?.reply?.taker?.name == "The carrier")
        #expect(view.offers.first?.reply?.at != nil)
        let again = #expect(throws: DeviceError.self) {
            try yard.producer.acknowledge(full.reply, certificate: taker)
        }
        #expect(again?.reasons.map(\.code) == [.alreadyAcknowledged])

        // In both orders of coming online everything is accepted.
        for device in [yard.producer, yard.carrier, yard.producer] {
            _ = try device.sync(yard.world.server.transport)
        }
        #expect(try yard.producer.view(yard.chain).badge == .confirmed)
        #expect(yard.world.server.waitingCount(of: yard.chain) == 0)
        #expect(yard.world.server.state(of: yard.chain)?.offers.values.first?.reply == full.reply)
    }

    @Test("who holds the taker's reply cannot take the offer back, make another, or hold a second taker's")
    func staysHandedOver() throws {
        let yard = try Yard()
        let second = try yard.world.device("second", roles: ["carrier"])
        let third = try yard.world.device("third", roles: ["carrier"])
        _ = try third.decline(yard.offer.half, why: "full")
        _ = try yard.carrier.accept(yard.offer.half)
        _ = try second.accept(yard.offer.half)
        // Who declined speaks for no other taker.
        for taker in [third, yard.carrier] {
            let (_, full) = try taker.reply(in: yard.chain)
            _ = try yard.producer.acknowledge(full.reply, certificate: try yard.producer.certificate(in: full))
        }
        let (_, late) = try second.reply(in: yard.chain)
        let refusals: [() throws -> Void] = [
            { _ = try yard.producer.acknowledge(late.reply, certificate: try yard.producer.certificate(in: late)) },
            { _ = try yard.producer.withdraw(yard.chain, offer: yard.offer.offer.id) },
        ]
        for refusal in refusals {
            let error = #expect(throws: DeviceError.self) { try refusal() }
            #expect(error?.reasons.map(\.code) == [.offerTaken])
        }
        let another = #expect(throws: DeviceError.self) { try yard.producer.offer(yard.chain) }
        #expect(another?.reasons.map(\.code) == [.notTheHolder])

        for device in [yard.producer, third, yard.carrier, yard.producer] {
            _ = try device.sync(yard.world.server.transport)
        }
        #expect(try yard.producer.view(yard.chain).badge == .confirmed)
        #expect(yard.world.server.state(of: yard.chain)?.offers.values.first?.reply?.isAcceptance == true)
    }

    @Test("a device that has the load takes it from nobody else until it has offered it")
    func takesOnce() throws {
        let yard = try Yard()
        let newer = try yard.producer.offer(yard.chain)
        _ = try yard.carrier.accept(yard.offer.half)
        let twice = #expect(throws: DeviceError.self) { try yard.carrier.accept(newer.half) }
        #expect(twice?.reasons.map(\.code) == [.notTheHolder])
    }

    @Test("a forged reply, and one to somebody else's offer, are refused")
    func refusesForgedReplies() throws {
        let yard = try Yard()
        _ = try yard.carrier.accept(yard.offer.half)
        let (_, full) = try yard.carrier.reply(in: yard.chain)
        let certificate = try yard.producer.certificate(in: full)
        var bytes = full.reply.bytes
        bytes[100] ^= 1
        let forged = try #require(HandoffReply(bytes: bytes))
        #expect(throws: DeviceError.self) { try yard.producer.acknowledge(forged, certificate: certificate) }
        let elsewhere = try Yard()
        let strangers = #expect(throws: DeviceError.self) {
            try elsewhere.producer.acknowledge(full.reply, certificate: certificate)
        }
        #expect(strangers?.code == .badCode)
        let other = try yard.world.device("another", roles: ["producer"])
        let foreign = #expect(throws: DeviceError.self) { try other.acknowledge(full.reply, certificate: certificate) }
        #expect(foreign?.code == .nothingToDo)
        #expect(try yard.producer.view(yard.chain).offers.first?.reply == nil)
    }

    @Test("a refusal has its reply too")
    func declinesWithAReply() throws {
        let yard = try Yard()
        _ = try yard.carrier.decline(yard.offer.half, why: "asbestos")
        let (_, full) = try yard.carrier.reply(in: yard.chain)
        #expect(!full.reply.isAcceptance)
        _ = try yard.producer.acknowledge(full.reply, certificate: try yard.producer.certificate(in: full))
        #expect(try yard.producer.view(yard.chain).offers.first?.reply?.isAcceptance == false)
        for device in [yard.carrier, yard.producer] { _ = try device.sync(yard.world.server.transport) }
        #expect(try yard.producer.view(yard.chain).badge == .confirmed)
    }

    @Test("an offer that answers another's challenge cannot be taken; one that answers this device's can")
    func answersChallenges() throws {
        let yard = try Yard()
        let challenge = try yard.carrier.challenge(lasting: 120)
        #expect(try yard.carrier.standing(of: yard.offer.half.statement) == .unanswered)
        let answer = try yard.producer.offer(yard.chain, answering: challenge)
        #expect(answer.offer.id == challenge.offer)
        #expect(answer.half.statement.isChallenged)
        #expect(try yard.carrier.standing(of: answer.half.statement) == .answered)
        let thief = try yard.world.device("thief", roles: ["carrier"])
        #expect(try thief.standing(of: answer.half.statement) == .foreign)
        let stolen = #expect(throws: DeviceError.self) { try thief.accept(answer.half) }
        #expect(stolen?.code == .badCode)
        _ = try yard.carrier.accept(answer.half)
        for device in [yard.carrier, yard.producer] { _ = try device.sync(yard.world.server.transport) }
        #expect(try yard.producer.view(yard.chain).badge == .confirmed)
        let twice = #expect(throws: DeviceError.self) { try yard.producer.offer(yard.chain, answering: challenge) }
        #expect(twice?.code == .badInput)
        yard.world.clock.advance(seconds: 600)
        #expect(try yard.carrier.standing(of: answer.half.statement) == .ended)
        let late = #expect(throws: DeviceError.self) { try yard.producer.offer(yard.chain, answering: challenge) }
        #expect(late?.code == .badInput)
    }

    @Test("a clock that cannot be right is said to be doubtful")
    func doubtsClocks() throws {
        let yard = try Yard()
        let statement = yard.offer.half.statement
        #expect(try yard.carrier.clockStanding(of: statement) == .valid)
        yard.world.clock.advance(seconds: 3_600)
        #expect(try yard.carrier.clockStanding(of: statement) == .expired)
        _ = try yard.carrier.sync(yard.world.server.transport)
        yard.world.clock.advance(seconds: -90_000)
        guard case .doubtful = try yard.carrier.clockStanding(of: statement) else {
            Issue.record("expected the clock to be doubted")
            return
        }
    }
}
