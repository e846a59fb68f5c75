import Foundation
import Synchronization
import Tallystick
import TallystickCrypto
import TallystickStore
import Testing

@testable import TallystickDevice

@Suite("Two processes in one home")
struct ConcurrencyTests {
    @Test("lose no event and use no number twice")
    func appendSideBySide() async throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        let chain = try device.openChain(scheme: World.waste).chain
        let path = world.home("producer").path
        let failures = Mutex<[String]>([])
        await onThreads(2) { number in
            do {
                let device = try Device(
                    home: DeviceHome(path: path),
                    schemes: World.schemes,
                    clock: { ManualClock().now },
                    random: SecureRandom.bytes
                )
                for index in 0..<200 { _ = try device.note(chain, "\(number) \(index)") }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let numbers = try device.database.query("SELECT seq FROM events ORDER BY seq") { row in try row.int(0) }
        #expect(numbers == Array(1...401))
        // The view of the third object, opened before, is up to date too.
        #expect(Set(try device.view(chain).notes.map(\.text)).count == 400)
        #expect(try device.outbox().counts.savedHere == 401)
        let report = try device.sync(world.server.transport)
        #expect(report.pushed == 401)
        #expect(try device.view(chain).badge == .confirmed)
    }

    @Test("see each other's synchronisation")
    func seeEachOthersSync() throws {
        let world = try World()
        let first = try world.device("producer", roles: ["producer"])
        let second = try world.reopen("producer")
        let chain = try first.openChain(scheme: World.waste).chain
        #expect(try second.view(chain).badge == .savedHere)
        _ = try first.sync(world.server.transport)
        #expect(try second.view(chain).badge == .confirmed)
        _ = try second.note(chain, "one")
        _ = try first.note(chain, "two")
        #expect(try second.view(chain).notes.map(\.text) == ["one", "two"])
    }

    @Test("synchronise one at a time")
    func syncOneAtATime() throws {
        let world = try World()
        let first = try world.device("producer", roles: ["producer"])
        let second = try world.reopen("producer")
        _ = try first.openChain(scheme: World.waste)
        var inner: DeviceError?
        let transport = Transport { request in
            inner = inner ?? deviceError { try second.sync(world.server.transport) }
            return try world.server.handle(request)
        }
        _ = try first.sync(transport)
        #expect(inner?.code == .syncBusy)
        _ = try second.sync(world.server.transport)
    }

    @Test("write nothing any more once their lease has passed to another")
    func writeNothingWithoutALease() throws {
        let world = try World()
        let party = try world.party()
        let first = try world.device("producer", party: party, roles: ["producer"])
        let chain = try first.openChain(scheme: World.waste).chain
        let second = try world.reopen("producer")
        var isSlow = true
        let slow = Transport { request in
            let reply = try world.server.handle(request)
            if isSlow, request.method == "POST", request.path == "/v1/events" {
                isSlow = false
                world.clock.milliseconds += Lease.milliseconds
                _ = try second.sync(world.server.transport)
            }
            return reply
        }
        #expect(deviceError { try first.sync(slow) }?.code == .syncBusy)
        #expect(try first.view(chain).badge == .confirmed)
        #expect(try first.sync(world.server.transport).pulled == 0)

        _ = try first.note(chain, "more")
        let slower = Transport { request in
            let reply = try world.server.handle(request)
            if request.method == "POST", request.path == "/v1/events" {
                world.clock.milliseconds += Lease.milliseconds
                try Lease(name: "other", database: second.database).take(at: world.clock.now, home: "")
            }
            return reply
        }
        #expect(deviceError { try first.sync(slower) }?.code == .syncBusy)
        #expect(try first.view(chain).badge == .savedHere)
    }

    @Test("take the lease of a process that died at once")
    func takeTheLeaseOfTheDead() throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        // No process has a number above the kernel's greatest, 2^22.
        try Lease(name: "\(1 << 23)-dead", database: device.database).take(at: world.clock.now, home: "")
        _ = try device.sync(world.server.transport)
        // One that ran until a moment ago.
        let process = try Process.run(URL(fileURLWithPath: "/bin/true"), arguments: [])
        process.waitUntilExit()
        let dead = Lease(name: "\(process.processIdentifier)-dead", database: device.database)
        try dead.take(at: world.clock.now, home: "")
        _ = try device.sync(world.server.transport)
    }

    @Test("take no lease of a process that lives, which is named by it")
    func leaveTheLeaseOfTheLiving() throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        let own = ProcessInfo.processInfo.processIdentifier
        var names: [String?] = []
        let transport = Transport { request in
            names.append(try device.database.first("SELECT lease FROM sync") { row in try row.optionalText(0) } ?? nil)
            return try world.server.handle(request)
        }
        _ = try device.sync(transport)
        #expect(!names.isEmpty)
        #expect(names.allSatisfy { $0?.hasPrefix("\(own)-") == true }, "\(names)")
        // Ours, and the first process, which is always there and somebody else's.
        for process in [own, 1] {
            let lease = Lease(name: "\(process)-alive", database: device.database)
            try lease.take(at: world.clock.now, home: "")
            #expect(deviceError { try device.sync(world.server.transport) }?.code == .syncBusy)
            try lease.release()
        }
        _ = try device.sync(world.server.transport)
    }

    @Test("take any lease once it has ended")
    func takeADeadLease() throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        try Lease(name: "dead", database: device.database).take(at: world.clock.now, home: "")
        #expect(deviceError { try device.sync(world.server.transport) }?.code == .syncBusy)
        world.clock.milliseconds += Lease.milliseconds
        _ = try device.sync(world.server.transport)
        // A lease from a clock that was far ahead does not lock the home for ever.
        var ahead = world.clock.now
        ahead = try #require(Timestamp(milliseconds: ahead.milliseconds + 1_000_000_000))
        try Lease(name: "ahead", database: device.database).take(at: ahead, home: "")
        _ = try device.sync(world.server.transport)
    }
}
