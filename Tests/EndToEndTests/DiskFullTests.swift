import Foundation
import Tallystick
import Testing

/// What happens where the disk is full: a named error, nothing half done, and everything works again afterwards.
@Suite(.enabled(if: TinyDisk.isAvailable, "needs root and the right to mount a disk in memory"))
struct DiskFullTests {
    @Test func aHomeOnAFullDisk() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        try FileManager.default.createDirectory(atPath: world.file("homes"), withIntermediateDirectories: true)
        let disk = try TinyDisk(at: world.file("homes/small"), kilobytes: 768)
        try world.enrol("small", of: "Small Disk Ltd", as: "producer", at: server)
        let open = ["open", "--scheme", "uk-waste-transfer-note", "--from", World.demo("producer")]
        let opened = try world.run(["--home", "homes/small", "--json"] + open)
        let chain = try #require(opened.json["chain"]?.text, "\(opened)")

        try disk.fill()
        for command in [open, ["note", chain, "still here"], ["sign", chain]] {
            let run = try world.run(["--home", "homes/small", "--json"] + command)
            #expect(run.errorCode == "disk-full" && run.status == 1, "\(run)")
            #expect(try run.json["error"]?["remedy"]?.text?.contains("free some space") == true, "\(run)")
        }
        disk.free()
        let shown = try world.json("show", chain, as: "small")
        #expect(shown["notes"]?.elements?.isEmpty == true)
        #expect(shown["legs"]?.elements?.first?["signatures"]?.elements?.isEmpty == true)
        #expect(try world.json("list", as: "small")["chains"]?.elements?.count == 1)
        #expect(try world.json("outbox", as: "small")["savedHere"]?.integer == 2)

        try world.json("sign", chain, as: "small")
        try world.json("note", chain, "room again", as: "small")
        #expect(try world.json("sync", as: "small")["sent"]?.integer == 4)
        #expect(try world.json("show", chain, as: "small")["badge"]?.text == "confirmed")
    }

    @Test func anEnrolmentOnAFullDisk() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let disk = try TinyDisk(at: world.file("small"), kilobytes: 768)
        let code =
            try world.json(
                "server",
                "invite",
                "--db",
                "server.sqlite",
                "--party",
                "Small Disk Ltd",
                "--roles",
                "producer"
            )["code"]?.text ?? ""
        for room in [0, 8, 64] {
            try disk.fill(leaving: room)
            let run = try world.run(
                ["--home", "small/home", "enrol", "--server", server.url, "--code", code, "--json"]
            )
            #expect(run.errorCode == "disk-full" && run.status == 1, "with \(room) KiB: \(run)")
            disk.free()
        }
        // The same invitation still enrols: its key was kept, or none was made.
        try world.json("--home", "small/home", "enrol", "--server", server.url, "--code", code)
        try world.json("--home", "small/home", "list")
    }

    @Test func aServerOnAFullDisk() throws {
        let world = try World()
        let disk = try TinyDisk(at: world.file("small"), kilobytes: 2_048)
        // With too little room nothing is left of the attempt, so that the next can be made.
        for room in [0, 16, 100] {
            try disk.fill(leaving: room)
            let run = try world.run(["server", "init", "--db", "small/s.sqlite", "--origin", "Small", "--json"])
            #expect(run.errorCode == "disk-full" && run.status == 1, "with \(room) KiB: \(run)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["filler"], "with \(room) KiB")
            disk.free()
        }
        try world.json("server", "init", "--db", "small/s.sqlite", "--origin", "Small")
        let server = try RunningServer(in: world, database: "small/s.sqlite")
        let invitation = try world.json(
            "server",
            "invite",
            "--db",
            "small/s.sqlite",
            "--party",
            "Hartley Build Ltd",
            "--roles",
            "producer"
        )
        let code = try #require(invitation["code"]?.text)
        try world.json("enrol", "--server", server.url, "--code", code, as: "producer")
        let chain = try world.offered()

        try disk.fill()
        let error = try world.fails("server-unreachable", 69, "sync", as: "producer")
        #expect(error["remedy"]?.text?.contains("saved") == true)
        #expect(try world.json("outbox", as: "producer")["savedHere"]?.integer == 4)
        try world.fails(
            "disk-full",
            1,
            "server",
            "invite",
            "--db",
            "small/s.sqlite",
            "--party",
            "X",
            "--roles",
            "carrier"
        )

        disk.free()
        #expect(try world.json("sync", as: "producer")["sent"]?.integer == 4)
        #expect(try world.json("show", chain, as: "producer")["badge"]?.text == "confirmed")
        let rebuilt = try world.json("server", "rebuild", "--db", "small/s.sqlite", "--check")
        #expect(rebuilt["clean"]?.boolean == true && rebuilt["events"]?.integer == 4)
        #expect(server.stop() == 0)
    }

    @Test func filesWrittenToAFullDisk() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let chain = try world.recorded()
        let disk = try TinyDisk(at: world.file("small"), kilobytes: 1_024)
        try disk.fill()
        let second = try world.offered()
        for (option, name) in [("--png", "small/code.png"), ("--svg", "small/code.svg"), ("--text", "small/code.txt")] {
            try world.fails("disk-full", 1, "offer", second, option, name, as: "producer")
        }
        try world.fails("disk-full", 1, "export", chain, "-o", "small/record.jsonl", as: "producer")
        try world.fails("disk-full", 1, "replay", "record.jsonl", "--db", "small/replay.sqlite")
        try world.fails("disk-full", 1, "server", "trust", "--db", "server.sqlite", "-o", "small/trust.json")
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["filler"], "no half files are left")
        disk.free()
        try world.json("replay", "record.jsonl", "--db", "small/replay.sqlite")
    }
}
