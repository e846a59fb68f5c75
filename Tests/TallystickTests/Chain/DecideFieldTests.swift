import Tallystick
import TallystickTestSupport
import Testing

/// What is said: fields, their owners, lines, seals, conflicts.
@Suite struct DecideFieldTests {
    @Test(arguments: [
        ("carrierName", JSON.string("Calder"), ["not-your-field carrierName"]),
        ("receivedItems/1/weight", SampleValues.quantity("1", "t"), ["not-your-field receivedItems/1/weight"]),
        ("receivedItems/1", .null, ["not-your-field receivedItems/1"]),
        ("colour", .string("grey"), ["field-unknown colour"]),
        ("wasteItems", .string("x"), ["field-unknown wasteItems"]),
        ("wasteItems/1/colour", .string("grey"), ["field-unknown wasteItems/1/colour"]),
        ("things/1", .null, ["field-unknown things/1"]),
        ("sicCode", .string("4120"), ["field-invalid sicCode"]),
        ("sicCode", .string("01110"), ["accepted"]),
        ("sicCode", .null, ["accepted"]),
        ("wasteItems/1", .null, ["accepted"]),
    ])
    func judgesAChange(path: String, value: JSON, expected: [String]) throws {
        let scene = try Scene.described("\(#function)\(path)\(value)")
        #expect(scene.result(of: try scene.producer.set([path: value], insisting: true)) == expected)
    }

    @Test func namesEveryReasonOfOneEvent() throws {
        let scene = try Scene.described()
        let event = try scene.producer.set(
            ["carrierName": .string("Calder"), "colour": .string("grey"), "sicCode": .boolean(true)],
            insisting: true
        )
        #expect(
            scene.result(of: event)
                == ["not-your-field carrierName", "field-unknown colour", "field-invalid sicCode"]
        )
    }

    @Test func judgesACodeOnTheDayItIsSaid() throws {
        let scene = try Scene("codes", scheme: ParcelScheme.read())
        try scene.producer.open()
        scene.referee.receive(from: scene.producer)
        let early = try scene.producer.set(["service": .string("night")], insisting: true)
        #expect(scene.result(of: early) == ["field-invalid service"])
        scene.teller.clock.set(try Derived.moment("2026-12-01T00:00:00.000Z"))
        #expect(scene.result(of: try scene.producer.set(["service": .string("night")])) == ["accepted"])
        scene.teller.clock.set(try Derived.moment("2027-01-01T00:00:00.000Z"))
        let late = try scene.producer.set(["service": .string("night")], insisting: true)
        #expect(scene.result(of: late) == ["field-invalid service"])
    }

    @Test func sealsTheFieldsOfARoleThatHasSigned() throws {
        let (scene, _) = try Scene.offered()
        let event = try scene.producer.set(["sicCode": .string("01110")], insisting: true)
        #expect(scene.result(of: event) == ["field-sealed sicCode"])
    }

    @Test func sealsNoOtherRolesFields() throws {
        let (scene, _) = try Scene.taken()
        #expect(scene.result(of: try scene.carrier.set(SampleValues.carrier)) == ["accepted"])
    }

    @Test func countsTheLinesThatWouldStand() throws {
        let scene = try Scene("lines", scheme: ParcelScheme.read())
        try scene.producer.open()
        scene.referee.receive(from: scene.producer)
        let two: SampleValues.Values = ["items/1/name": .string("Book"), "items/2/name": .string("Pen")]
        #expect(scene.result(of: try scene.producer.set(two)) == ["accepted"])
        let third = try scene.producer.set(["items/3/name": .string("Cup")], insisting: true)
        #expect(scene.result(of: third) == ["field-invalid items"])
        // One line goes, another comes, in one event.
        let exchange: SampleValues.Values = ["items/1": .null, "items/3/name": .string("Cup")]
        #expect(scene.result(of: try scene.producer.set(exchange)) == ["accepted"])
        // A line whose last value is cleared is no line.
        let emptied: SampleValues.Values = ["items/2/name": .null, "items/4/name": .string("Hat")]
        #expect(scene.result(of: try scene.producer.set(emptied)) == ["accepted"])
        #expect(
            scene.state.values(of: try present(scene.state.legs.first).event).keys.map(\.description).sorted()
                == ["items/3/name", "items/4/name"]
        )
    }

    @Test func replacesAWholeLineInOneEvent() throws {
        let scene = try Scene.described()
        let replaced: SampleValues.Values = ["wasteItems/1": .null, "wasteItems/1/description": .string("Soil")]
        #expect(scene.result(of: try scene.producer.set(replaced)) == ["accepted"])
        // A second device that has seen it, in conflict elsewhere, still sees the new value and not the removal.
        let yard = try scene.secondProducer()
        #expect(scene.result(of: try scene.producer.set(["wasteItems/1/description": .string("Clay")])) == ["accepted"])
        #expect(scene.result(of: try yard.set(["wasteItems/1/description": .string("Sand")])) == ["accepted"])
        let leg = try #require(scene.state.legs.first).event
        let paths = scene.state.values(of: leg).keys.filter { $0.line != nil }.map(\.description)
        #expect(paths == ["wasteItems/1/description"])
        #expect(scene.state.conflicts(of: leg).map(\.description) == ["wasteItems/1/description"])
    }

    @Test func keepsBothOfTwoWritesThatHadNotSeenEachOther() throws {
        let scene = try Scene.described()
        let yard = try scene.secondProducer()
        let first = try scene.producer.set(["sicCode": .string("01110")])
        let second = try yard.set(["sicCode": .string("01120")])
        #expect(scene.result(of: first) == ["accepted"])
        #expect(scene.result(of: second) == ["accepted"])
        #expect(scene.state.isInConflict)
        // Nobody signs over it, not even somebody who has seen both.
        yard.learn(from: scene.referee)
        #expect(yard.refusal { try yard.sign() } == ["conflict-open sicCode"])
        #expect(scene.result(of: try yard.sign(insisting: true)) == ["conflict-open sicCode"])
        // A write that has seen both settles it.
        yard.learn(from: scene.referee)
        #expect(scene.result(of: try yard.set(["sicCode": .string("01130")])) == ["accepted"])
        #expect(!scene.state.isInConflict)
        #expect(scene.result(of: try yard.sign()) == ["accepted"])
    }

    @Test func calmlyTakesTwoWritesThatSayTheSame() throws {
        let scene = try Scene.described()
        let yard = try scene.secondProducer()
        scene.referee.receive(try scene.producer.set(["sicCode": .string("01110")]), at: scene.teller.clock.now)
        scene.referee.receive(try yard.set(["sicCode": .string("01110")]), at: scene.teller.clock.now)
        #expect(!scene.state.isInConflict)
        #expect(scene.result(of: try scene.producer.sign()) == ["accepted"])
    }

    @Test func refusesToSignOverAWriteItHadNotSeen() throws {
        let scene = try Scene.described()
        let yard = try scene.secondProducer()
        let change = try yard.set(["sicCode": .string("01110")])
        let signed = try scene.producer.sign()
        #expect(scene.result(of: change) == ["accepted"])
        #expect(scene.result(of: signed) == ["conflict-open sicCode", "snapshot-mismatch producer"].dropLast())
        // The other way round the signature was first, and the write is to a sealed field.
        let again = try Scene.described("\(#function) again")
        let late = try again.secondProducer()
        let write = try late.set(["sicCode": .string("01110")])
        #expect(again.result(of: try again.producer.sign()) == ["accepted"])
        #expect(again.result(of: write) == ["field-sealed sicCode"])
    }
}
