import Tallystick
import TallystickCrypto
import Testing

@testable import TallystickDevice

@Suite("Enrolment")
struct EnrolmentTests {
    @Test("goes on with the same key after any break")
    func goesOn() throws {
        let world = try World()
        try world.invite("producer", roles: ["producer"])
        let faults: [FakeServer.Fault] = [
            .dropBefore, .dropAfter, .status(503), .status(429), .change { Array($0.dropLast(5)) },
            .change { _ in Array("<html>please log in</html>".utf8) },
        ]
        for fault in faults {
            world.server.faults = [("/v1/enrol", fault)]
            #expect(throws: DeviceError.self) { try world.enrol("producer") }
            #expect(deviceError { try world.reopen("producer") }?.code == .notEnrolled)
        }
        let device = try world.enrol("producer")
        let keys = Set(try world.server.requests.map { try JSON.parse($0.body ?? [])["key"]?.text ?? "" })
        #expect(keys == [Base64.encode(device.certificate.key.bytes)])
        #expect(try world.reopen("producer").id == device.id)
        #expect(try device.serverAddress() == "https://fake.example")
    }

    @Test("says that the invitation is not valid, and takes a better one in the same folder")
    func refusesInvitations() throws {
        let world = try World()
        let error = deviceError { try world.enrol("nobody") }
        #expect(error?.code == .invitationInvalid)
        try world.invite("nobody", roles: ["producer"])
        _ = try world.enrol("nobody")
        #expect(deviceError { try world.enrol("nobody") }?.code == .alreadyEnrolled)
    }

    @Test("gives one invitation to one device only")
    func invitesOnce() throws {
        let world = try World()
        try world.invite("code", roles: ["producer"])
        _ = try world.enrol("code")
        let error = deviceError {
            try Device.enrol(
                home: world.home("thief"),
                server: "https://fake.example",
                code: "code",
                transport: world.server.transport,
                schemes: World.schemes,
                clock: { world.clock.now },
                random: SecureRandom.bytes
            )
        }
        #expect(error?.code == .invitationInvalid)
    }

    @Test("takes no certificate that is another key's, or another authority's")
    func checksTheCertificate() throws {
        let world = try World()
        let other = try World()
        _ = try other.device("other", roles: ["producer"])
        let certificate = try #require(other.server.certificates.values.first)
        try world.invite("producer", roles: ["producer"])
        let key = world.server.authority.publicKey
        for authority in [key, other.server.authority.publicKey] {
            world.server.faults = [
                (
                    "/v1/enrol",
                    .change { body in
                        guard let json = try? JSON.parse(body), let line = try? JSON.parse(certificate.line) else {
                            return []
                        }
                        let members = (json.members ?? []).map { member in
                            switch member.name {
                            case "certificate": JSONMember(member.name, line)
                            case "authority": JSONMember(member.name, .string(Base64.encode(authority.bytes)))
                            default: member
                            }
                        }
                        return (try? JSON.object(members).canonicalBytes()) ?? []
                    }
                )
            ]
            #expect(deviceError { try world.enrol("producer") }?.code == .serverMisbehaved)
        }
        _ = try world.enrol("producer")
    }

    @Test("takes no other authority than the one expected")
    func pinsTheAuthority() throws {
        let world = try World()
        try world.invite("producer", roles: ["producer"])
        func enrol(_ authority: PublicKey) throws -> Device {
            try Device.enrol(
                home: world.home("producer"),
                server: "https://fake.example",
                code: "producer",
                authority: authority,
                transport: world.server.transport,
                schemes: World.schemes,
                clock: { world.clock.now },
                random: SecureRandom.bytes
            )
        }
        #expect(deviceError { try enrol(SigningKey.generate().publicKey) }?.code == .serverMisbehaved)
        _ = try enrol(world.server.authority.publicKey)
    }
}
