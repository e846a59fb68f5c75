import Foundation
import Tallystick
import TallystickCrypto
import TallystickStore
import Testing

@testable import TallystickDevice

@Suite("Device home")
struct DeviceHomeTests {
    private func open(_ path: String) -> DeviceError? {
        deviceError {
            try Device(
                home: DeviceHome(path: path),
                schemes: World.schemes,
                clock: { ManualClock().now },
                random: SecureRandom.bytes
            )
        }
    }

    @Test("says of a folder that is no home what it is and what to do")
    func refusesOtherFolders() throws {
        let folder = try TemporaryFolder()
        let files = FileManager.default
        try files.createDirectory(atPath: folder.path + "/empty", withIntermediateDirectories: true)
        try files.createDirectory(atPath: folder.path + "/other", withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path + "/other/notes.txt"))
        let cases: [(String, DeviceError.Code)] = [
            ("/absent", .notEnrolled), ("/empty", .notEnrolled), ("/other", .notAHome), ("/other/notes.txt", .notAHome),
            ("/other/notes.txt/deeper", .notAHome),
        ]
        for (name, code) in cases {
            let error = open(folder.path + name)
            #expect(error?.code == code, "\(name)")
            #expect(error?.message.contains(folder.path + name) == true, "\(name)")
            #expect(error?.remedy.contains("--home") == true, "\(name)")
        }
        #expect(!files.fileExists(atPath: folder.path + "/absent"))
        #expect(try files.contentsOfDirectory(atPath: folder.path + "/empty").isEmpty)
    }

    @Test("enrols no device into a folder that is something else's")
    func enrolsNotOverOthers() throws {
        let world = try World()
        try FileManager.default.createDirectory(atPath: world.home("producer").path, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(fileURLWithPath: world.home("producer").path + "/notes.txt"))
        #expect(deviceError { try world.device("producer", roles: ["producer"]) }?.code == .notAHome)
        #expect(world.server.requests.isEmpty)
    }

    @Test("keeps the folder and the key for their owner")
    func keepsToTheOwner() throws {
        let world = try World()
        _ = try world.device("producer", roles: ["producer"])
        for (path, mode) in [(world.home("producer").path, 0o700), (world.home("producer").keyPath, 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
    }

    @Test("refuses a key that others can read")
    func refusesExposedKeys() throws {
        let world = try World()
        _ = try world.device("producer", roles: ["producer"])
        let path = world.home("producer").keyPath
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let error = open(world.home("producer").path)
        #expect(error?.code == .keyExposed)
        #expect(error?.remedy.contains("chmod 600") == true)
    }

    @Test("tells a lost key, a lost database and a damaged one apart")
    func tellsDamageApart() throws {
        let files = FileManager.default
        for (name, code) in [("device.key", DeviceError.Code.keyMissing), ("device.sqlite", .databaseMissing)] {
            let world = try World()
            _ = try world.device("producer", roles: ["producer"])
            try files.removeItem(atPath: world.home("producer").path + "/" + name)
            #expect(open(world.home("producer").path)?.code == code)
            // Enrolling again over it would use the old key's numbers twice.
            #expect(deviceError { try world.enrol("producer") } != nil)
        }
        for (name, bytes) in [("device.sqlite", "no database, whatever its name says"), ("device.key", "short")] {
            let world = try World()
            var device: Device? = try world.device("producer", roles: ["producer"])
            device?.database.close()
            device = nil
            let path = world.home("producer").path + "/" + name
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: Data(bytes.utf8))
            try handle.close()
            #expect(open(world.home("producer").path)?.code == .damaged, "\(name)")
        }
    }

    @Test("finds pages of the database that were overwritten")
    func findsOverwrittenPages() throws {
        let world = try World()
        var device: Device? = try world.device("producer", roles: ["producer"])
        for _ in 0..<20 { _ = try device?.openChain(scheme: World.waste, values: Values.producer) }
        try device?.database.checkpoint()
        device?.database.close()
        device = nil
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: world.home("producer").databasePath))
        let size = try handle.seekToEnd()
        try handle.seek(toOffset: 4_096)
        try handle.write(contentsOf: Data(repeating: 0xA5, count: Int(size) - 4_096))
        try handle.close()
        let error = deviceError {
            let device = try world.reopen("producer")
            for summary in try device.chains() { _ = try device.view(summary.chain) }
        }
        #expect(error?.code == .damaged)
    }

    @Test("notices a database that stands beside another installation's key")
    func noticesCopies() throws {
        let world = try World()
        for code in ["first", "second"] {
            let device = try world.device(code, roles: ["producer"])
            try device.database.checkpoint()
            device.database.close()
        }
        let files = FileManager.default
        try files.removeItem(atPath: world.home("first").databasePath)
        try files.copyItem(atPath: world.home("second").databasePath, toPath: world.home("first").databasePath)
        let error = open(world.home("first").path)
        #expect(error?.code == .epochMismatch)
        #expect(error?.message.contains(world.home("first").path) == true)
        #expect(error?.remedy.contains("enrol") == true)
    }

    @Test("says nothing new in a home restored from a backup, once the server shows it", arguments: [false, true])
    func noticesRestores(saysMore: Bool) throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        let chain = try device.openChain(scheme: World.waste).chain
        try device.database.checkpoint()
        let backup = try Data(contentsOf: URL(fileURLWithPath: world.home("producer").databasePath))
        _ = try device.set(chain, Values.producer)
        _ = try device.sync(world.server.transport)
        device.database.close()
        for end in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: world.home("producer").databasePath + end)
        }
        try backup.write(to: URL(fileURLWithPath: world.home("producer").databasePath))

        let restored = try world.reopen("producer")
        #expect(try restored.view(chain).legs.first?.fields.isEmpty == true)
        if saysMore { _ = try restored.note(chain, "with a number used before") }
        _ = try restored.sync(world.server.transport)
        if saysMore {
            #expect(try restored.refusals().map { $0.reasons.map(\.code) } == [[.sequenceForked]])
            #expect(try restored.view(chain).badge == .refused)
        }
        #expect(try restored.view(chain).legs.first?.fields.count == Values.producer.count)
        #expect(try restored.outbox().isCopied)
        let error = deviceError { try restored.note(chain, "again") }
        #expect(error?.code == .homeCopied)
        #expect(error?.remedy.contains("enrol") == true)
    }

    @Test("writes nothing by halves where the disk is full")
    func survivesAFullDisk() throws {
        let world = try World()
        let device = try world.device("producer", roles: ["producer"])
        let chain = try device.openChain(scheme: World.waste).chain
        let pages = try device.database.first("PRAGMA page_count") { row in try row.int(0) } ?? 0
        try device.database.execute("PRAGMA max_page_count = \(pages + 4)")
        var saved = 0
        var failure: DeviceError?
        while failure == nil, saved < 200 {
            failure = deviceError { try device.note(chain, String(repeating: "x", count: 2_000)) }
            if failure == nil { saved += 1 }
        }
        #expect(failure?.code == .diskFull)
        func count(_ sql: String) throws -> Int? { try device.database.first(sql) { row in try row.int(0) } }
        #expect(try count("SELECT count(*) FROM events") == saved + 1)
        #expect(try count("SELECT count(*) FROM outbox") == saved + 1)
        #expect(try device.view(chain).notes.count == saved)
        #expect(try device.chains().first?.counts.savedHere == saved + 1)
        // With room again it goes on with the next number.
        try device.database.execute("PRAGMA max_page_count = 1000000")
        _ = try device.note(chain, "room again")
        _ = try device.sync(world.server.transport)
        #expect(try device.view(chain).badge == .confirmed)
        let again = try world.reopen("producer")
        #expect(try again.view(chain).notes.count == saved + 1)
    }

    @Test("keeps the cursor where a page does not fit on the disk")
    func keepsTheCursor() throws {
        let world = try World()
        let party = try world.party()
        let first = try world.device("first", party: party, roles: ["producer"])
        let second = try world.device("second", party: party, roles: ["producer"])
        for _ in 0..<20 { _ = try first.openChain(scheme: World.waste, values: Values.producer) }
        _ = try first.sync(world.server.transport)
        let pages = try second.database.first("PRAGMA page_count") { row in try row.int(0) } ?? 0
        try second.database.execute("PRAGMA max_page_count = \(pages + 2)")
        #expect(deviceError { try second.sync(world.server.transport) }?.code == .diskFull)
        #expect(try second.chains().isEmpty)
        try second.database.execute("PRAGMA max_page_count = 1000000")
        #expect(try second.sync(world.server.transport).pulled == 40)
        #expect(try second.chains().count == 20)
    }
}
