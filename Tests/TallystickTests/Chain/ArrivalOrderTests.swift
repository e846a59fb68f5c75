import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// All arrival orders of the same events give the same chain, except where the first to come legitimately decides.
@Suite struct ArrivalOrderTests {
    /// What a server comes to, once everything has come.
    struct Ending: Equatable {
        let digest: String
        /// The final verdict on each event, as entries carry it.
        let verdicts: [Digest: String]
        let waiting: Int
    }

    /// Events as they arrive, by device, in each device's own order.
    struct Arrivals {
        let teller: StoryTeller
        let byDevice: [[Arrival]]

        /// Every event comes at one moment, so that orders differ in nothing else.
        init(_ actors: [StoryActor], in teller: StoryTeller, at received: String) throws {
            self.teller = teller
            let referee = try teller.referee()
            let moment = try Derived.moment(received)
            byDevice = actors.map { $0.said.map { referee.arrival(of: $0, at: moment) } }
        }

        /// Each device's events in its own order, devices interleaved.
        func interleaved(_ random: inout SeededGenerator) -> [Arrival] {
            var queues = byDevice.map { $0[...] }
            var order: [Arrival] = []
            while !queues.allSatisfy(\.isEmpty) {
                let index = random.below(queues.count)
                if let next = queues[index].popFirst() { order.append(next) }
            }
            return order
        }

        /// In any order, some twice.
        func shuffled(_ random: inout SeededGenerator) -> [Arrival] {
            let all = byDevice.flatMap { $0 }
            let twice = all.filter { _ in random.below(4) == 0 }
            return (all + twice).shuffled(using: &random)
        }

        func end(_ order: [Arrival]) throws -> (Ending, ChainState) {
            let context = Referee.context(secret: teller.secret, schemes: [teller.scheme])
            var ledger = ChainLedger(chain: teller.chain)
            var verdicts: [Digest: String] = [:]
            for arrival in order where !ledger.has(arrival.event.hash) {
                for decision in ledger.receive(arrival, in: context) {
                    let json = try decision.verdict.json.canonicalBytes()
                    verdicts[decision.arrival.event.hash] = String(decoding: json, as: UTF8.self)
                }
            }
            let digest = try StateSummary.digest(of: ledger.state)
            return (Ending(digest: digest, verdicts: verdicts, waiting: ledger.waiting.count), ledger.state)
        }
    }

    /// Producer with two devices, two carriers, receiving site: all offline until the end, knowing only the codes.
    private static func journey(_ name: String) throws -> (StoryTeller, [StoryActor]) {
        let teller = try StoryTeller(name)
        let producer = try teller.actor("producer", of: "Builder", as: "producer")
        let yard = try teller.actor("yard", of: "Builder", as: "producer")
        let first = try teller.actor("first", of: "Calder", as: "carrier")
        let second = try teller.actor("second", of: "Pennine", as: "carrier")
        let site = try teller.actor("site", of: "Holbeck", as: "receiver")
        let collection = try teller.producerOffers(producer)
        let unused = try producer.offer(to: "carrier")
        let transfer = try teller.carrierTakes(first, collection, SampleValues.carrier, offeringTo: "carrier")
        let delivery = try teller.carrierTakes(second, transfer, SampleValues.secondCarrier, offeringTo: "receiver")
        try teller.siteTakes(site, delivery, SampleValues.received(SampleValues.quantity("9", "t")))
        // Afterwards the yard syncs, and the producer looks in too.
        let referee = try teller.referee()
        referee.receive(from: producer, first, second, site)
        yard.learn(from: referee)
        try yard.note("All of it is sorted.")
        try yard.set(["sicCode": .string("01110")], insisting: true)
        producer.learn(from: referee)
        try producer.withdraw(unused)
        try producer.note("Filed.")
        return (teller, [producer, yard, first, second, site])
    }

    @Test(arguments: ["2026-11-30T08:05:00.000Z", "2026-12-03T00:00:00.000Z"])
    func endsTheSameInEveryOrder(received: String) throws {
        var random = Seed.generator("\(#function)\(received)")
        let (teller, actors) = try Self.journey("every order")
        let arrivals = try Arrivals(actors, in: teller, at: received)
        let (expected, state) = try arrivals.end(arrivals.byDevice.flatMap { $0 })
        #expect(expected.waiting == 0)
        #expect(state.legs.map(\.number) == [1, 2, 3, 4])
        #expect(Set(state.legs.compactMap(\.finding?.time)).count == 1)
        #expect(expected.verdicts.count == actors.reduce(0) { $0 + $1.said.count })
        let refused = expected.verdicts.values.filter { $0.contains("\"refused\"") }
        #expect(refused.count == 1, "only the edit of a sealed field: \(refused)")
        for round in 0..<120 {
            let order =
                round.isMultiple(of: 2) ? arrivals.interleaved(&random) : arrivals.shuffled(&random)
            let (ending, _) = try arrivals.end(order)
            #expect(ending == expected, "round \(round), \(Seed.note)")
            if ending != expected { return }
        }
    }

    /// Somebody who has photographed the codes declines them and opens the chain too: whenever that is heard, all that
    /// the others said ends as if it had not been said.
    @Test func endsTheSameInEveryOrderAmongStrangers() throws {
        var random = Seed.generator()
        let (teller, actors) = try Self.journey("strangers")
        let codes = actors.prefix(3).flatMap { actor in
            actor.said.compactMap { Self.half(of: $0, by: actor, in: teller) }
        }
        #expect(codes.count == 3)
        let stranger = try teller.actor("stranger", of: "Passers-by", as: "carrier")
        // After the codes have ended, by its own clock too: that a server does not ask of a refusal.
        for code in codes { try stranger.decline(code, why: "not for us", insisting: true) }
        let squatter = try teller.actor("squatter", of: "Squatters", as: "producer", "carrier")
        let opening = try squatter.say(.chainOpened(teller.scheme.reference), insisting: true)
        try squatter.say(.handoffDeclined(codes[0], why: "mine"), as: Derived.name("carrier"), insisting: true)
        try squatter.note("This chain is ours.", insisting: true)
        let declines = Set(
            (stranger.said + squatter.said).filter { $0.event.type == "handoff.declined" }.map(\.event.hash)
        )
        #expect(declines.count == 4)

        let alone = try Arrivals(actors, in: teller, at: "2026-11-30T08:05:00.000Z")
        let (undisturbed, _) = try alone.end(alone.byDevice.flatMap { $0 })
        let arrivals = try Arrivals(actors + [stranger, squatter], in: teller, at: "2026-11-30T08:05:00.000Z")
        var digests: Set<String> = []
        var outcomes: Set<String> = []
        for round in 0..<120 {
            let order =
                round.isMultiple(of: 2) ? arrivals.interleaved(&random) : arrivals.shuffled(&random)
            let (ending, state) = try arrivals.end(order)
            let note = "round \(round), \(Seed.note)"
            #expect(ending.waiting == 0, "\(note)")
            #expect(state.legs.map(\.number) == [1, 2, 3, 4], "\(note)")
            #expect(!state.isContested, "\(note)")
            for (event, verdict) in undisturbed.verdicts {
                #expect(ending.verdicts[event] == verdict, "\(note)")
            }
            let squatted = ending.verdicts[opening.event.hash] ?? ""
            #expect(squatted.contains("\"refused\"") && squatted.contains("chain-not-yours"), "\(note)")
            for decline in declines {
                let verdict = ending.verdicts[decline] ?? ""
                let isLate = verdict.contains("offer-taken") || verdict.contains("offer-withdrawn")
                #expect(verdict.contains("\"accepted\"") || isLate, "\(verdict), \(note)")
                outcomes.insert(isLate ? "late" : "accepted")
            }
            digests.insert(ending.digest)
        }
        #expect(digests.count == 1, "\(Seed.note)")
        #expect(outcomes == ["late", "accepted"], "\(Seed.note)")
    }

    /// What the code of an offer to a carrier said.
    private static func half(of signed: SignedEvent, by actor: StoryActor, in teller: StoryTeller) -> HandoffHalf? {
        guard case .handoffOffered(let offer) = signed.event.content, offer.to.text == "carrier",
            let index = teller.scheme.handoffs.firstIndex(where: { $0.name == offer.handoff }),
            let statement = HandoffStatement(
                offer,
                chain: teller.chain,
                scheme: teller.scheme.reference.hash,
                handoffIndex: index
            )
        else { return nil }
        return HandoffHalf(statement: statement, mac: Array(offer.mac.bytes.prefix(HandoffHalf.macLength)))
    }

    @Test func findsTheSameConflictsInEveryOrder() throws {
        var random = Seed.generator()
        let teller = try StoryTeller("conflicts", openedBy: "office")
        let office = try teller.actor("office", of: "Builder", as: "producer")
        let yard = try teller.actor("yard", of: "Builder", as: "producer")
        let gate = try teller.actor("gate", of: "Builder", as: "producer")
        try office.open()
        try office.set(SampleValues.producer)
        let referee = try teller.referee()
        referee.receive(from: office)
        yard.learn(from: referee)
        gate.learn(from: referee)
        try office.set(["sicCode": .string("01110"), "wasteItems/2/description": .string("Soil")])
        try office.set(["wasteItems/1/containerCount": .integer(2)])
        try yard.set(["sicCode": .string("01120"), "wasteItems/1": .null, "wasteItems/2": .null])
        try yard.set(["transferPlace": .string("Gate")])
        try gate.set(["wasteItems/2/description": .string("Clay"), "transferPlace": .string("Gate")])
        try gate.set(["wasteItems/3/description": .string("Sand"), "wasteItems/1/containerType": .string("BAG")])
        let arrivals = try Arrivals([office, yard, gate], in: teller, at: "2026-11-30T09:00:00.000Z")
        let (expected, state) = try arrivals.end(arrivals.byDevice.flatMap { $0 })
        let leg = try #require(state.legs.first).event
        #expect(
            state.conflicts(of: leg).map(\.description)
                == [
                    "sicCode", "wasteItems/1/containerCount", "wasteItems/1/containerType", "wasteItems/2/description",
                ]
        )
        for round in 0..<300 {
            let order =
                round.isMultiple(of: 2) ? arrivals.interleaved(&random) : arrivals.shuffled(&random)
            let (ending, _) = try arrivals.end(order)
            #expect(ending == expected, "round \(round), \(Seed.note)")
            if ending != expected { return }
        }
    }

    /// Two takers of one code, or of two codes of one giver; each drives on and hands over.
    @Test(arguments: [true, false])
    func verifiesExactlyOneOfTwoTakers(isOneCode: Bool) throws {
        var random = Seed.generator("\(#function)\(isOneCode)")
        let teller = try StoryTeller("two takers \(isOneCode)")
        let producer = try teller.actor("producer", of: "Builder", as: "producer")
        let takers = [
            try teller.actor("first", of: "Calder", as: "carrier"),
            try teller.actor("second", of: "Pennine", as: "carrier"),
        ]
        let sites = [
            try teller.actor("site", of: "Holbeck", as: "receiver"),
            try teller.actor("plant", of: "Armley", as: "receiver"),
        ]
        let code = try teller.producerOffers(producer)
        let codes = [code, isOneCode ? code : try producer.offer(to: "carrier")]
        for (taker, code) in zip(takers, codes) { try taker.accept(code) }
        for (taker, site) in zip(takers, sites) {
            let delivery = try teller.carrierDrives(taker, SampleValues.carrier, offeringTo: "receiver")
            try teller.siteTakes(site, delivery)
        }
        let arrivals = try Arrivals([producer] + takers + sites, in: teller, at: "2026-11-30T23:00:00.000Z")
        var digests: [UniqueID: Set<String>] = [:]
        for round in 0..<120 {
            let order =
                round.isMultiple(of: 2) ? arrivals.interleaved(&random) : arrivals.shuffled(&random)
            let (ending, state) = try arrivals.end(order)
            let note = "round \(round), \(Seed.note)"
            let acceptances = takers.compactMap { $0.said.first.flatMap { ending.verdicts[$0.event.hash] } }
            #expect(acceptances.count { $0.contains("\"accepted\"") } == 1, "\(note)")
            let loss = isOneCode ? "offer-taken" : "not-the-holder"
            #expect(acceptances.count { $0.contains("\"refused\"") && $0.contains(loss) } == 1, "\(note)")
            #expect(state.isContested && state.contests.count == 1, "\(note)")
            #expect(ending.waiting == 0, "\(note)")
            #expect(state.legs.count == 3, "\(note)")
            digests[try #require(state.legs.dropFirst().first).party, default: []].insert(ending.digest)
        }
        #expect(digests.count == 2, "each of the two comes first in some order; \(Seed.note)")
        #expect(digests.values.allSatisfy { $0.count == 1 }, "who came first decides, and nothing else; \(Seed.note)")
    }
}
