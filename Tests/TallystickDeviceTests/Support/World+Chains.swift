import Schemes
import Tallystick
import TallystickCrypto

@testable import TallystickDevice

extension World {
    /// Every device syncs twice, so that each has what all said.
    func sync(_ devices: Device...) throws {
        for device in devices + devices { _ = try device.sync(server.transport) }
    }

    /// A chain that producer, carrier and receiver have, each with what the others said; the load is at the receiver.
    static func delivered() throws -> OfflineStoryTests.Story {
        let story = try OfflineStoryTests.tell()
        try story.world.sync(story.producer, story.carrier, story.receiver)
        return story
    }

    /// The same, once the receiver has weighed the load and signed.
    static func received(weight: String = "2.5") throws -> OfflineStoryTests.Story {
        let story = try delivered()
        _ = try story.receiver.set(story.chain, Values.weighed(weight))
        _ = try story.receiver.sign(story.chain)
        try story.world.sync(story.receiver, story.producer, story.carrier)
        return story
    }
}

extension Values {
    /// What the receiver says of a load that it weighed and took.
    static func weighed(_ weight: String) -> [EventContent.FieldChange] {
        changes([
            ("outcome", .string("accepted")), ("receivedItems/1/ewcCodes", .strings(["170101"])),
            ("receivedItems/1/physicalForm", .string("Solid")), ("receivedItems/1/containerType", .string("LOO")),
            ("receivedItems/1/containerCount", .integer(0)),
            ("receivedItems/1/weight", .members([("amount", .string(weight)), ("unit", .string("t"))])),
            ("receivedItems/1/isEstimate", .boolean(false)), ("receivedItems/1/containsHazardous", .boolean(false)),
            ("receivedItems/1/containsPops", .boolean(false)),
        ])
    }
}
