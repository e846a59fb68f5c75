package import Tallystick

/// Values that satisfy the UK waste transfer note: a skip of mixed construction waste, 7.5 t, from site to sorting plant.
package enum SampleValues {
    /// Values by path.
    package typealias Values = [String: JSON]

    /// A quantity as events carry it.
    package static func quantity(_ amount: String, _ unit: String) -> JSON {
        .object([JSONMember("amount", .string(amount)), JSONMember("unit", .string(unit))])
    }

    /// What the producer says.
    package static let producer: Values = [
        "producerName": .string("Aire Valley Builders Ltd"),
        "producerAddress": .string("Plot 4, Kirkstall Road, Leeds LS4 2AZ"),
        "producerCapacity": .strings(["producer"]),
        "sicCode": .string("41201"),
        "hierarchyDuty": .boolean(true),
        "transferPlace": .string("Plot 4, Kirkstall Road, Leeds LS4 2AZ"),
        "transferAt": .string("2026-11-30T08:10:00.000Z"),
        "wasteItems/1/ewcCodes": .strings(["170904"]),
        "wasteItems/1/description": .string("Mixed construction and demolition waste: bricks, timber, plasterboard"),
        "wasteItems/1/physicalForm": .string("Mixed"),
        "wasteItems/1/containment": .string("container"),
        "wasteItems/1/containerType": .string("SKI"),
        "wasteItems/1/containerCount": .integer(1),
        "wasteItems/1/quantity": quantity("7.5", "t"),
        "wasteItems/1/isEstimate": .boolean(true),
    ]

    /// What a carrier says.
    package static let carrier: Values = [
        "carrierName": .string("Calder Haulage Ltd"),
        "carrierAddress": .string("12 Wharf Street, Wakefield WF1 1UQ"),
        "registrationNumber": .string("CBDU123456"),
        "meansOfTransport": .string("Road"),
        "vehicleRegistration": .string("YK24 ABC"),
        "collectedAt": .string("2026-11-30T08:20:00.000Z"),
    ]

    /// What another carrier says.
    package static let secondCarrier: Values = [
        "carrierName": .string("Pennine Bulk Transport"),
        "carrierAddress": .string("Unit 3, Canal Road, Bradford BD1 4SJ"),
        "registrationNumber": .string("CBDU654321"),
        "meansOfTransport": .string("Road"),
        "vehicleRegistration": .string("YN73 XYZ"),
        "collectedAt": .string("2026-11-30T10:05:00.000Z"),
    ]

    /// What the receiving site says; the load weighed 7.5 t.
    package static let receiver: Values = received(SampleValues.quantity("7500", "kg"))

    /// What the receiving site says of a load of this weight.
    package static func received(_ weight: JSON) -> Values {
        [
            "receiverName": .string("Holbeck Sorting Plant"),
            "siteAuthorisation": .string("EPR/AB1234CD"),
            "receiverAddress": .string("Gelderd Road, Leeds"),
            "receiverPostcode": .string("LS12 6LX"),
            "receivedAt": .string("2026-11-30T12:40:00.000Z"),
            "outcome": .string("accepted"),
            "receivedItems/1/ewcCodes": .strings(["170904"]),
            "receivedItems/1/description": .string("Mixed construction and demolition waste"),
            "receivedItems/1/physicalForm": .string("Mixed"),
            "receivedItems/1/containerType": .string("SKI"),
            "receivedItems/1/containerCount": .integer(1),
            "receivedItems/1/weight": weight,
            "receivedItems/1/isEstimate": .boolean(false),
            "receivedItems/1/containsHazardous": .boolean(false),
            "receivedItems/1/containsPops": .boolean(false),
            "receivedItems/1/treatmentCode": .string("R5"),
            "receivedItems/1/treatmentWeight": weight,
            "receivedItems/1/treatmentIsEstimate": .boolean(false),
        ]
    }
}
