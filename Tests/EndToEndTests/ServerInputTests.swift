import Foundation
import Tallystick
import Testing

/// What the operator's commands say to mistakes.
@Suite struct ServerInputTests {
    @Test func databasesThatAreNone() throws {
        let world = try World()
        var random = SystemRandomNumberGenerator()
        let garbage = (0..<10_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        try world.write(garbage, to: "garbage.sqlite")
        try world.write("hello", to: "letter.txt")
        let server = try world.enrolled()
        server.stop()
        let commands = [
            ["invite", "--party", "X Ltd", "--roles", "carrier"], ["run", "--listen", "127.0.0.1:0"], ["trust"],
            ["rebuild", "--check"], ["revoke", "00000000000000000000000000000000", "--why", "test"],
        ]
        for command in commands {
            for (database, code, status) in [
                ("garbage.sqlite", "not-a-tallystick-file", 65), ("letter.txt", "not-a-tallystick-file", 65),
                ("homes/producer/device.sqlite", "not-a-tallystick-file", 65), ("nothing.sqlite", "not-found", 66),
                ("nowhere/nothing.sqlite", "not-found", 66),
            ] as [(String, String, Int32)] {
                let run = try world.run(["server"] + command + ["--db", database, "--json"])
                #expect(run.errorCode == code && run.status == status, "\(run)")
            }
        }
        #expect(try world.read("garbage.sqlite") == garbage, "what is not ours is left as it was")
        #expect(!world.exists("nothing.sqlite"), "nothing is made by looking for it")
        try world.fails("exists", 1, "server", "init", "--db", "letter.txt", "--origin", "X")
        #expect(!world.exists("letter.txt.keys"))
        try world.fails("exists", 1, "server", "init", "--db", "server.sqlite", "--origin", "X")
        try world.fails("bad-value", 65, "server", "init", "--db", "new.sqlite", "--origin", "two\nlines")
        try world.fails("file-failed", 1, "server", "init", "--db", "nowhere/new.sqlite", "--origin", "X")
        #expect(!world.exists("new.sqlite") && !world.exists("new.sqlite.keys"))
    }

    @Test func keyFilesThatDoNotFit() throws {
        let world = try World()
        try world.makeServer()
        try world.tally("server", "init", "--db", "other.sqlite", "--origin", "Other")
        let keys = try world.read("server.sqlite.keys")
        func write(_ bytes: [UInt8], mode: Int = 0o600) throws {
            try world.write(bytes, to: "server.sqlite.keys")
            try FileManager.default.setAttributes(
                [.posixPermissions: mode],
                ofItemAtPath: world.file("server.sqlite.keys")
            )
        }
        func invite(_ code: String, _ status: Int32) throws {
            let error = try world.fails(
                code,
                status,
                "server",
                "invite",
                "--db",
                "server.sqlite",
                "--party",
                "X Ltd",
                "--roles",
                "carrier"
            )
            #expect(error["remedy"]?.text != nil || error["message"]?.text?.contains("chmod") == true)
        }
        try write(try world.read("other.sqlite.keys"))
        try invite("wrong-keys", 65)
        try write(Array(keys.prefix(48)))
        try invite("wrong-keys", 65)
        try write(keys + keys)
        try invite("file-too-large", 65)
        try write(keys, mode: 0o640)
        try invite("file-exposed", 1)
        try FileManager.default.removeItem(atPath: world.file("server.sqlite.keys"))
        try invite("file-not-found", 66)
        try write(keys)
        try world.json("server", "invite", "--db", "server.sqlite", "--party", "X Ltd", "--roles", "carrier")
    }

    @Test func valuesThatCannotBeUsed() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        func invite(_ code: String, _ status: Int32, _ more: String...) throws {
            let run = try world.run(["server", "invite", "--db", "server.sqlite", "--json"] + more)
            #expect(run.errorCode == code && run.status == status, "\(run)")
        }
        try invite("bad-value", 65, "--party", "X Ltd", "--roles", "pilot")
        try invite("usage", 64, "--party", "X Ltd", "--roles", "")
        try invite("usage", 64, "--party", "X Ltd", "--roles", "carrier,,receiver two")
        try invite("usage", 64, "--party", "X Ltd", "--roles", "carrier", "--days", "0")
        try invite("bad-value", 65, "--party", "", "--roles", "carrier")
        try invite("bad-value", 65, "--party", "X\nY", "--roles", "carrier")
        try world.fails("usage", 64, "server", "revoke", "abc", "--db", "server.sqlite", "--why", "x")
        try world.fails(
            "unknown-device",
            66,
            "server",
            "revoke",
            String(repeating: "0", count: 32),
            "--db",
            "server.sqlite",
            "--why",
            "x"
        )
        for listen in ["8480", "127.0.0.1:99999", "127.0.0.1:http", ":"] {
            try world.fails("usage", 64, "server", "run", "--db", "server.sqlite", "--listen", listen)
        }
        try world.fails(
            "usage",
            64,
            "server",
            "run",
            "--db",
            "server.sqlite",
            "--listen",
            "127.0.0.1:0",
            "--tls-key",
            "k.pem"
        )
        let taken = try world.run([
            "server", "run", "--db", "server.sqlite", "--listen", "127.0.0.1:\(server.port)", "--json",
        ])
        #expect(taken.status == 1 && taken.errorCode != nil, "\(taken)")
        let tls = try world.run([
            "server", "run", "--db", "server.sqlite", "--listen", "127.0.0.1:0", "--tls-certificate", "no.pem",
            "--tls-key", "no.pem", "--json",
        ])
        #expect(tls.status != 0 && tls.errorCode != nil, "\(tls)")
    }

    @Test func aRevokedDeviceIsRefusedAndKeepsWhatItSaid() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let chain = try world.offered()
        let carrier = try world.enrol("lost", of: "Lost Phones Ltd", as: "carrier", at: server)
        let id = try #require(carrier["device"]?.text)
        try world.json("accept", "offer.png", "--yes", as: "lost")
        let revoked = try world.json("server", "revoke", id, "--db", "server.sqlite", "--why", "phone stolen")
        #expect(revoked["revoked"]?.text == id)
        let run = try world.run(["--home", "homes/lost", "sync", "--json"])
        #expect(run.status == 1 && run.errorCode == "server-refused", "\(run)")
        // What it said has the server's verdict, and stays on the device with it.
        let refused = try world.json("refused", as: "lost")["refused"]?.elements
        #expect(refused?.count == 1)
        #expect(refused?.first?["chain"]?.text == chain)
        #expect(refused?.first?["reasons"]?.elements?.map { $0["code"]?.text } == ["device-revoked"])
        #expect(try world.json("refused", "--strict", as: "lost", exits: 2)["refused"]?.elements?.count == 1)
        let event = try #require(refused?.first?["event"]?.text)
        try world.fails("event-unknown", 66, "refused", "--done", "0000", as: "lost")
        try world.json("refused", "--strict", "--done", event, as: "lost")
        #expect(try world.json("refused", "--all", as: "lost")["refused"]?.elements?.count == 1)
    }
}
