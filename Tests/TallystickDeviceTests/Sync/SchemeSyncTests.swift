import Schemes
import Tallystick
import TallystickCrypto
import TallystickStore
import TallystickTestSupport
import Testing

@testable import TallystickDevice

/// Schemes that do not ship reach a device by its server, and nothing a server sends as one breaks it.
@Suite("Schemes of the server's")
struct SchemeSyncTests {
    private static let parcel = World.name(CourierParcel.id)
    private static let first = Values.changes([("contents", .string("Books")), ("service", .string("night"))])

    private let world: World

    init() throws {
        world = try World()
        world.server.schemes.append(try CourierParcel.scheme(version: 1))
    }

    private func sync(_ device: Device) throws -> SyncReport { try device.sync(world.server.transport) }

    /// Paths of requests for schemes that the server was sent.
    private func asked() -> [String] { world.server.requests.map(\.path).filter { $0.hasPrefix("/v1/schemes") } }

    @Test("fetches what it does not know, once, and keeps it")
    func fetches() throws {
        let device = try world.device("sender", roles: ["sender"])
        let scheme = try CourierParcel.scheme(version: 1).reference
        #expect(deviceError { try device.openChain(scheme: Self.parcel) }?.code == .schemeUnknown)
        let report = try sync(device)
        #expect(report.schemes.fetched == [scheme])
        #expect(report.schemes.faults == [])
        #expect(asked() == ["/v1/schemes", "/v1/schemes/\(scheme.hash.hex)"])
        #expect(device.schemes.references == World.schemes.map(\.reference) + [scheme])
        #expect(try sync(device).schemes == SchemeFetch())
        #expect(asked().count == 3)
        let again = try world.reopen("sender")
        #expect(again.schemes.scheme(scheme)?.title == "Parcel by courier")
        #expect(try world.home("sender").schemes().references == [scheme])
        #expect(try sync(again).schemes == SchemeFetch())
        let chain = try again.openChain(scheme: Self.parcel, values: Self.first).chain
        // The other process has the scheme now, too, and whoever only opened the home before it came.
        #expect(try device.scheme(of: chain).reference == scheme)
    }

    @Test("has it before the first synchronisation, where the device asks while it enrols")
    func fetchesAtEnrolment() throws {
        let device = try world.device("sender", roles: ["sender"])
        #expect(try device.fetchSchemes(world.server.transport).fetched.map(\.version) == [1])
        _ = try device.openChain(scheme: Self.parcel)
    }

    @Test("opens chains under the newest version that the server lists, and goes on with old ones as they are")
    func keepsVersions() throws {
        let sender = try world.device("sender", roles: ["sender"])
        let courier = try world.device("courier", roles: ["courier"])
        for device in [sender, courier] { _ = try sync(device) }
        let old = try sender.openChain(scheme: Self.parcel, values: Self.first).chain
        world.server.schemes.append(try CourierParcel.scheme(version: 2))
        #expect(try sync(sender).schemes.fetched.map(\.version) == [2])
        let new = try sender.openChain(scheme: Self.parcel, values: Array(Self.first.prefix(1))).chain
        #expect(try sender.scheme(of: old).reference.version == 1)
        #expect(try sender.scheme(of: new).reference.version == 2)
        // What a code list says is judged by the event's day, and by the chain's own version.
        let (night, drone) = ("night", "drone")
        func set(_ service: String, in chain: UniqueID) -> [ReasonCode]? {
            deviceError { try sender.set(chain, Values.changes([("service", .string(service))])) }?.reasons.map(\.code)
        }
        #expect(set(drone, in: new) == [.fieldInvalid])
        #expect(set(night, in: new) == nil)
        world.clock.advance(seconds: 86_400)
        #expect(set(night, in: new) == [.fieldInvalid])
        #expect(set(drone, in: new) == nil)
        #expect(set(night, in: old) == nil)
        #expect(set(drone, in: old) == [.fieldInvalid])
        // Version 2 asks for the value, version 1 does not.
        _ = try sender.sign(old)
        #expect(deviceError { try sender.sign(new) }?.reasons.map(\.subject) == ["value"])
        _ = try sender.set(new, Values.changes([("value", .integer(40))]))
        _ = try sender.sign(new)
        let offers = try [old, new].map { try sender.offer($0).half }
        #expect(try courier.accept(offers[0]).chain == old)
        // Until it has synchronised the courier cannot know what a code of version 2 is about.
        #expect(deviceError { try courier.accept(offers[1]) }?.code == .schemeUnknown)
        _ = try sync(courier)
        #expect(try courier.accept(offers[1]).chain == new)
        _ = try courier.sign(new)
        for device in [sender, courier, sender, courier] { _ = try sync(device) }
        for device in [sender, courier] {
            #expect(try device.view(old).scheme?.version == 1)
            #expect(try device.view(new).scheme?.version == 2)
            #expect(try device.view(new).badge == .confirmed)
            #expect(try device.refusals().isEmpty)
        }
        #expect(world.server.state(of: old)?.scheme?.reference.version == 1)
        #expect(world.server.state(of: new)?.scheme?.reference.version == 2)
    }

    @Test("does not open chains under what ships and the server does not list, while it lists another version")
    func opensWhatTheServerKnows() throws {
        world.server.schemes = [try CourierParcel.scheme(version: 1)]
        _ = try world.device("sender", roles: ["sender"])
        let device = try Device(
            home: world.home("sender"),
            schemes: [try CourierParcel.scheme(version: 1), try CourierParcel.scheme(version: 2)],
            clock: { [clock = world.clock] in clock.now },
            random: SecureRandom.bytes
        )
        // Nothing is known of the server yet.
        #expect(device.newestScheme(Self.parcel)?.reference.version == 2)
        #expect(try sync(device).schemes == SchemeFetch())
        #expect(device.newestScheme(Self.parcel)?.reference.version == 1)
        // What it lists no more stays for the chains that have it.
        world.server.schemes = [try CourierParcel.scheme(version: 2)]
        _ = try sync(device)
        #expect(device.newestScheme(Self.parcel)?.reference.version == 2)
        #expect(device.schemes.references.map(\.version) == [1, 2])
    }

    @Test("folds a chain again whose scheme came later")
    func foldsAgain() throws {
        let sender = try world.device("sender", roles: ["sender"])
        let party = sender.certificate.party
        let office = try world.device("office", party: party, roles: ["sender"])
        _ = try sync(sender)
        let chain = try sender.openChain(scheme: Self.parcel, values: Self.first).chain
        _ = try sync(sender)
        world.server.faults = [("/v1/schemes/", .status(500))]
        let report = try sync(office)
        #expect(report.schemes.faults.map(\.code) == [.serverUnreachable])
        #expect(report.pulled == 2)
        #expect(try office.chains().map(\.title) == [nil])
        #expect(deviceError { try office.sign(chain) }?.code == .schemeUnknown)
        #expect(try sync(office).schemes.fetched.count == 1)
        #expect(try office.chains().map(\.title) == ["Parcel by courier"])
        #expect(try office.view(chain).legs.first?.fields.count == 2)
        _ = try office.sign(chain)
        #expect(try sync(office).pushed == 1)
    }

    // MARK: Bad servers

    /// What a server gives in place of a scheme, and what it is called.
    enum Bad: String, CaseIterable {
        case otherBytes, noScheme, otherVersion, mistakes, tooLarge, missing, failing, lost, notFit
    }

    @Test("refuses a bad scheme by name, and takes over all else", arguments: Bad.allCases)
    func refusesABadScheme(_ bad: Bad) throws {
        let device = try world.device("producer", roles: ["producer", "sender"])
        let chain = try device.openChain(scheme: World.waste).chain
        let second = try CourierParcel.scheme(version: 2)
        var hash = second.reference.hash
        var code = DeviceError.Code.schemeDamaged
        func serve(_ bytes: [UInt8]) {
            hash = SHA256.hash(bytes)
            world.server.schemeBytes[hash] = bytes
        }
        switch bad {
        case .otherBytes: world.server.schemeBytes[hash] = try CourierParcel.scheme(version: 1).bytes
        case .noScheme:
            serve(Array("<html>log in</html>".utf8))
            code = .schemeInvalid
        case .otherVersion: serve(try CourierParcel.scheme(version: 1).bytes)
        case .mistakes:
            serve(Array(String(decoding: second.bytes, as: UTF8.self).replacing("\"pickup\"", with: "\"sender\"").utf8))
            code = .schemeInvalid
        case .tooLarge:
            serve([UInt8](repeating: 0x20, count: Scheme.longest + 1))
            code = .tooLarge
        case .missing:
            hash = SHA256.hash([1])
            code = .serverRefused
        case .failing:
            world.server.faults = [("/v1/schemes/\(hash.hex)", .status(500))]
            code = .serverUnreachable
        case .lost:
            world.server.faults = [("/v1/schemes/\(hash.hex)", .dropAfter)]
            code = .serverUnreachable
        case .notFit:
            world.server.schemes.append(second)
            world.server.faults = [("/v1/schemes/\(hash.hex)", .change { _ in [] })]
        }
        let listed = SchemeReference(id: Self.parcel, version: 2, hash: hash)
        let good = try CourierParcel.scheme(version: 1).reference
        let known = World.schemes.map(\.reference)
        // The `otherVersion` one is the good one under another version: then there is no good one.
        world.server.listed = known + (bad == .otherVersion ? [listed] : [good, listed])
        let report = try sync(device)
        #expect(report.pushed == 1)
        #expect(report.pulled == 1)
        #expect(report.schemes.fetched == (bad == .otherVersion ? [] : [good]))
        let fault = try #require(report.schemes.faults.first)
        #expect(report.schemes.faults.count == 1)
        #expect(fault.scheme == listed)
        #expect(fault.code == code)
        #expect(fault.message.contains("courier-parcel version 2"))
        #expect(!fault.remedy.isEmpty)
        // All else goes on, here and wherever the home is opened.
        for device in [device, try world.reopen("producer")] {
            #expect(try device.view(chain).badge == .confirmed)
            #expect(try device.outbox().lastSuccess == world.clock.now)
            #expect(device.schemes.contains(listed) == false)
            _ = try device.openChain(scheme: World.waste)
        }
    }

    @Test("refuses a scheme that codes could not tell from a known one")
    func refusesAClash() throws {
        let scheme = try CourierParcel.scheme(version: 1).reference
        var bytes = scheme.hash.bytes
        bytes[31] ^= 1
        var shipped = ShippedSchemes.library
        let like = SchemeReference(id: World.name("like"), version: 1, hash: try #require(Digest(bytes: bytes)))
        shipped.add(like, bytes: [])
        _ = try world.device("sender", roles: ["sender"])
        let device = try Device(
            home: world.home("sender"),
            schemes: shipped,
            clock: { [clock = world.clock] in clock.now },
            random: SecureRandom.bytes
        )
        let report = try sync(device)
        #expect(report.schemes.faults.map(\.code) == [.schemeTaken])
        #expect(!device.schemes.contains(scheme))
    }

    @Test("takes no list that its server's authority has not signed", arguments: 0..<5)
    func takesNoForeignList(index: Int) throws {
        let device = try world.device("producer", roles: ["producer"])
        _ = try device.openChain(scheme: World.waste)
        let foreign = try SchemeList([CourierParcel.scheme(version: 1).reference]).signed(by: SigningKey.generate())
        let tooMany = [SchemeReference](
            repeating: try CourierParcel.scheme(version: 1).reference,
            count: SchemeList.most + 1
        )
        let faults: [FakeServer.Fault] = [
            .change { _ in foreign }, .change { _ in Array("<html>log in</html>".utf8) },
            .change { $0.map { $0 == 0x61 ? 0x62 : $0 } }, .status(500),
            .change { [line = try SchemeList(tooMany).signed(by: world.server.authority)] _ in line },
        ]
        world.server.faults = [("/v1/schemes", faults[index])]
        let report = try sync(device)
        #expect(report.pushed == 1)
        #expect(report.schemes.fetched == [])
        let expected: DeviceError.Code = index == 3 ? .serverUnreachable : .serverMisbehaved
        #expect(report.schemes.faults.map(\.code) == [expected])
        #expect(report.schemes.faults.first?.scheme == nil)
        #expect(device.schemes.references == World.schemes.map(\.reference))
        #expect(try sync(device).schemes.fetched.count == 1)
    }

    @Test("says nothing of a server that does not know the route")
    func isSilentAboutOldServers() throws {
        let device = try world.device("producer", roles: ["producer"])
        world.server.faults = [("/v1/schemes", .status(404))]
        #expect(try sync(device).schemes == SchemeFetch())
    }

    @Test("fetches a few dozen at once and no more than a home keeps")
    func isBounded() throws {
        let device = try world.device("sender", roles: ["sender"])
        world.server.schemes = try (1...40).map { number in
            let text = CourierParcel.text(version: number)
            let list = ("services", Array(CourierParcel.services(version: 1).utf8))
            return try Scheme(scheme: Array(text.utf8), codeLists: [list])
        }
        #expect(try sync(device).schemes.fetched.count == SchemeFetcher.mostAtOnce)
        #expect(try sync(device).schemes.fetched.count == 40 - SchemeFetcher.mostAtOnce)
        #expect(device.newestScheme(Self.parcel)?.reference.version == 40)
        // As if the home were full already.
        try device.database.run("UPDATE schemes SET bytes = zeroblob(?) WHERE version = 40", SchemeFetcher.mostBytes)
        world.server.schemes.append(try CourierParcel.scheme(version: 41))
        let report = try sync(device)
        #expect(report.schemes.fetched == [])
        #expect(report.schemes.faults.map(\.code) == [.tooLarge])
        #expect(report.schemes.faults.map(\.scheme?.version) == [41])
    }

    // MARK: The home

    @Test("counts what the disk has damaged as not there, and fetches it again")
    func healsDamage() throws {
        let device = try world.device("sender", roles: ["sender"])
        _ = try sync(device)
        let chain = try device.openChain(scheme: Self.parcel, values: Self.first).chain
        try device.database.execute("UPDATE schemes SET bytes = x'00' WHERE bytes IS NOT NULL")
        let again = try world.reopen("sender")
        #expect(deviceError { try again.sign(chain) }?.code == .schemeUnknown)
        #expect(try sync(again).schemes.fetched.count == 1)
        _ = try again.sign(chain)
        #expect(try world.reopen("sender").view(chain).title == "Parcel by courier")
    }

    @Test("does not ask at each beat of a timer, nor again for what it refused")
    func asksNowAndThen() throws {
        let device = try world.device("sender", roles: ["sender"])
        let scheme = try CourierParcel.scheme(version: 1).reference
        world.server.schemeBytes[scheme.hash] = [1]
        func watch() throws -> SyncReport { try device.sync(world.server.transport, .whenDue) }
        #expect(try watch().schemes.faults.map(\.code) == [.schemeDamaged])
        #expect(try watch().schemes == SchemeFetch())
        #expect(asked().count == 2)
        world.clock.advance(seconds: 300)
        #expect(try watch().schemes == SchemeFetch())
        #expect(asked().count == 3)
        world.server.schemeBytes = [:]
        // A person who syncs has it tried again.
        #expect(try sync(device).schemes.fetched == [scheme])
    }
}
