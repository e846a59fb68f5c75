import Foundation
import Schemes
import Tallystick
import TallystickCrypto

@testable import TallystickDevice

/// A folder of one test, removed with it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "/tallystick-device-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// A clock that stands until it is moved.
final class ManualClock {
    var milliseconds: Int64 = 1_796_000_000_000

    var now: Timestamp {
        guard let time = Timestamp(milliseconds: milliseconds) else { preconditionFailure("the clock left its years") }
        return time
    }

    func advance(seconds: Int64) { milliseconds += seconds * 1_000 }
}

/// Some devices and a server, all in one process and one moment.
final class World {
    static let schemes: [Scheme] = (try? ShippedSchemes.read()) ?? []
    static let waste = name("uk-waste-transfer-note")

    let folder: TemporaryFolder
    let clock = ManualClock()
    let server: FakeServer

    init() throws {
        folder = try TemporaryFolder()
        server = FakeServer(schemes: World.schemes, now: { [clock] in clock.now })
    }

    static func name(_ text: String) -> Name {
        guard let name = Name(text) else { preconditionFailure("not a name: \(text)") }
        return name
    }

    func party() throws -> UniqueID {
        guard let party = UniqueID(milliseconds: clock.milliseconds, random: SecureRandom.bytes(10)) else {
            throw CryptoError(.wrongLength, "no party")
        }
        return party
    }

    /// Invites a device of a party and gives the code.
    @discardableResult func invite(_ code: String, party: UniqueID? = nil, roles: [String]) throws -> UniqueID {
        let party = try party ?? self.party()
        server.invitations[code] = FakeServer.Invitation(
            party: party,
            name: "The \(code)",
            roles: roles.map(World.name),
            key: nil
        )
        return party
    }

    func home(_ code: String) -> DeviceHome { DeviceHome(path: folder.path + "/" + code) }

    func enrol(_ code: String) throws -> Device {
        try Device.enrol(
            home: home(code),
            server: "https://fake.example",
            code: code,
            transport: server.transport,
            schemes: World.schemes,
            clock: { [clock] in clock.now },
            random: SecureRandom.bytes
        )
    }

    /// Invites and enrols a device.
    func device(_ code: String, party: UniqueID? = nil, roles: [String]) throws -> Device {
        try invite(code, party: party, roles: roles)
        return try enrol(code)
    }

    /// Opens an enrolled home again, as another process would.
    func reopen(_ code: String) throws -> Device {
        try Device(
            home: home(code),
            schemes: World.schemes,
            clock: { [clock] in clock.now },
            random: SecureRandom.bytes
        )
    }
}

/// Values that the UK waste transfer note's signatures are content with.
enum Values {
    static func changes(_ values: [(String, JSON?)]) -> [EventContent.FieldChange] {
        values.compactMap { path, value in FieldPath(path).map { EventContent.FieldChange(path: $0, value: value) } }
    }

    static let producer = changes([
        ("producerName", .string("Brown Builders")), ("producerAddress", .string("1 High Street, Leeds")),
        ("producerCapacity", .strings(["producer"])), ("sicCode", .string("41201")), ("hierarchyDuty", .boolean(true)),
        ("transferPlace", .string("1 High Street, Leeds")), ("transferAt", .string("2026-11-30T06:12:00.000Z")),
        ("wasteItems/1/ewcCodes", .strings(["170101"])), ("wasteItems/1/description", .string("Broken concrete")),
        ("wasteItems/1/containment", .string("loose")),
        ("wasteItems/1/quantity", .members([("amount", .string("2.5")), ("unit", .string("t"))])),
        ("wasteItems/1/isEstimate", .boolean(false)),
    ])

    static let carrier = changes([
        ("carrierName", .string("Green Haulage")), ("carrierAddress", .string("2 Low Road, Leeds")),
        ("registrationNumber", .string("CBDU123456")), ("meansOfTransport", .string("Road")),
        ("vehicleRegistration", .string("AB12 CDE")), ("collectedAt", .string("2026-11-30T06:30:00.000Z")),
    ])

    static let receiver = changes([
        ("receiverName", .string("North Tip")), ("siteAuthorisation", .string("EPR/AB1234CD")),
        ("receiverAddress", .string("3 Tip Lane, Leeds")), ("receiverPostcode", .string("LS1 4DY")),
        ("receivedAt", .string("2026-11-30T08:00:00.000Z")),
    ])
}

/// Runs the body on this many threads of its own, numbered from 0, and waits without blocking the test pool.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        for number in 0..<count {
            group.addTask {
                await withCheckedContinuation { continuation in
                    Thread {
                        body(number)
                        continuation.resume()
                    }.start()
                }
            }
        }
    }
}

/// The error a body throws, if it is a device's.
func deviceError(_ body: () throws -> some Any) -> DeviceError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? DeviceError
    }
}
