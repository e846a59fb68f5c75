import Foundation
import Tallystick
import Testing

/// What the program says to mistakes on a device: each by its name, with its exit code and a way out.
@Suite struct BadInputTests {
    @Test func homesThatAreNone() throws {
        let world = try World()
        let empty = try world.fails("not-enrolled", 66, "list", as: "nobody")
        #expect(empty["remedy"]?.text?.contains("tally enrol --home homes/nobody") == true)
        #expect(!world.exists("homes"), "looking makes nothing")

        try FileManager.default.createDirectory(atPath: world.file("photos"), withIntermediateDirectories: true)
        try world.write("a letter", to: "photos/letter.txt")
        for command in ["list", "outbox", "sync", "refused"] {
            try world.fails("not-a-home", 66, "--home", "photos", command)
        }
        try world.fails("not-a-home", 66, "--home", "photos/letter.txt", "list")
        try world.fails(
            "not-a-home",
            66,
            "--home",
            "photos",
            "enrol",
            "--server",
            "http://127.0.0.1:1",
            "--code",
            "X"
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.file("photos")) == ["letter.txt"])
        // Without --home, the environment and then the user's data folder say where.
        let run = try world.tally("list", exits: 66, environment: ["TALLY_HOME": "elsewhere"])
        #expect(run.errors.contains("elsewhere"))
        #expect(try world.tally("list", exits: 66).errors.contains(".local/share/tallystick"))
    }

    @Test func homesThatAreDamagedOrExposed() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let chain = try world.offered()
        func change(_ path: String, _ mode: Int) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: world.file(path))
        }
        try change("homes/producer/device.key", 0o644)
        let exposed = try world.fails("key-exposed", 1, "list", as: "producer")
        #expect(exposed["remedy"]?.text?.contains("chmod 600") == true)
        try change("homes/producer/device.key", 0o600)
        try world.json("list", as: "producer")

        let key = try world.read("homes/producer/device.key")
        try world.write(Array(key.dropLast()), to: "homes/producer/device.key")
        try world.fails("damaged", 65, "list", as: "producer")
        try world.write(try world.read("homes/carrier/device.key"), to: "homes/producer/device.key")
        try world.fails("epoch-mismatch", 1, "list", as: "producer")
        try FileManager.default.removeItem(atPath: world.file("homes/producer/device.key"))
        try world.fails("key-missing", 66, "list", as: "producer")
        try world.write(key, to: "homes/producer/device.key")
        try change("homes/producer/device.key", 0o600)
        #expect(try world.json("show", chain, as: "producer")["badge"]?.text == "saved here")

        try FileManager.default.removeItem(atPath: world.file("homes/carrier/device.sqlite"))
        try world.fails("database-missing", 66, "list", as: "carrier")
        try world.write([UInt8](repeating: 0xA5, count: 8_192), to: "homes/carrier/device.sqlite")
        try world.fails("damaged", 65, "list", as: "carrier")
    }

    @Test func namesOfChains() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let first = try world.offered()
        let second = try world.offered()
        let start = String(first.prefix(8))
        #expect(second.hasPrefix(start), "identifiers made in the same hour begin alike")
        let error = try world.fails("chain-ambiguous", 65, "show", start, as: "producer")
        #expect(error["message"]?.text?.contains(first) == true && error["message"]?.text?.contains(second) == true)
        try world.fails("chain-unknown", 66, "show", "ffffffff", as: "producer")
        try world.fails("chain-unknown", 66, "sign", "01932b1e-0000-7000-8000-000000000000", as: "producer")
        try world.fails("bad-input", 65, "show", "ab", as: "producer")
        for name in [first, String(first.suffix(8)), String(first.suffix(8)).uppercased()] {
            #expect(try world.json("show", name, as: "producer")["chain"]?.text == first)
        }
        // The server has not heard of it yet.
        try world.fails("chain-unknown", 66, "export", first, "-o", "r.jsonl", as: "producer")
        try world.fails("chain-unknown", 66, "export", first, "--db", "server.sqlite", "-o", "r.jsonl")
        #expect(!world.exists("r.jsonl"))
    }

    @Test func fieldsAndFilesOfValues() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        func open(_ code: String, _ status: Int32, _ more: String...) throws {
            let run = try world.run(
                ["--home", "homes/producer", "open", "--scheme", "uk-waste-transfer-note", "--json"] + more
            )
            #expect(run.errorCode == code && run.status == status, "\(run)")
        }
        try open("field-unknown", 65, "colour=red")
        try open("field-unknown", 65, "wasteItems/1/colour=red")
        try open("field-unknown", 65, "wasteItems/1/quantity/x=1")
        try open("usage", 64, "sicCode")
        try open("field-invalid", 65, "wasteItems/1/quantity=7.5")
        try open("field-invalid", 65, "hierarchyDuty=perhaps")
        try open("field-invalid", 65, "transferAt=yesterday")
        // A value of the right kind that the scheme does not allow: the rules refuse it, and it is bad input all the same.
        try open("refused", 65, "sicCode=abc")
        try open("refused", 1, "carrierName=Somebody")
        try open("name-invalid", 64, "--role", "No Role")
        try open("no-such-file", 66, "--from", "nothing.json")
        try open("file-unreadable", 66, "--from", "homes")
        for (text, code) in [
            ("{\"sicCode\":\"41201\",}", "json-syntax"), ("[1,2]", "json-syntax"), ("", "json-syntax"),
            ("{\"sicCode\":\"41201\",\"sic\\u0043ode\":\"41202\"}", "json-duplicate-name"),
            ("\u{FEFF}{}", "json-encoding"), (String(repeating: "[", count: 40), "json-too-deep"),
        ] {
            try world.write(text, to: "values.json")
            try open(code, 65, "--from", "values.json")
        }
        #expect(try world.json("list", as: "producer")["chains"]?.elements?.isEmpty == true, "nothing was opened")
        try world.fails("scheme-unknown", 65, "open", "--scheme", "no-such-scheme", as: "producer")
        try world.fails("refused", 1, "open", "--scheme", "uk-waste-transfer-note", "--role", "carrier", as: "producer")

        let chain = try world.offered()
        try world.fails("usage", 64, "set", chain, as: "producer")
        let sealed = try world.fails("refused", 1, "set", chain, "sicCode=41202", as: "producer")
        #expect(sealed["details"]?.members?.map(\.name) == ["field-sealed sicCode"])
        try world.fails("text-invalid", 65, "note", chain, "", as: "producer")
        try world.fails("text-invalid", 65, "note", chain, String(repeating: "x", count: 8_193), as: "producer")
        try world.fails("refused", 1, "sign", chain, as: "producer")
        try world.fails("name-invalid", 64, "sign", chain, "--as", "a b", as: "producer")
        try world.fails("name-invalid", 64, "offer", chain, "--to", "a b", as: "producer")
        for time in ["90", "0s", "59s", "25h", "-5m", "99999999999999999999h", "1d", ""] {
            let code = time.isEmpty ? "missing-value" : "time-invalid"
            let run = try world.run(["--home", "homes/producer", "offer", chain, "--for=\(time)", "--json"])
            #expect(run.status == 64 && [code, "time-invalid"].contains(run.errorCode), "\(run)")
        }
        // A mistyped offer must not take back another one.
        try world.fails("offer-unknown", 66, "withdraw", chain, "--offer", "zz", as: "producer")
        let offer = try #require(world.json("show", chain, as: "producer")["offers"]?.elements?.first)
        #expect(offer["state"]?.text == "open")
        let short = try #require(offer["offer"]?.text?.prefix(8).uppercased())
        try world.json("withdraw", chain, "--offer", "\(short.prefix(4))-\(short.suffix(4))", as: "producer")
        try world.fails("nothing-to-do", 1, "withdraw", chain, as: "producer")
    }

    @Test func filesThatAreNoRecordsOrTrust() throws {
        let world = try World()
        try world.write([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], to: "picture.png")
        try world.write("", to: "empty")
        try world.write("{\"a\":1}\n", to: "other.jsonl")
        for name in ["picture.png", "empty", "other.jsonl"] {
            try world.fails("not-a-record", 65, "audit", name)
            try world.fails("bad-record", 65, "replay", name)
            try world.fails("bad-record", 65, "replay", name, "--db", "out.sqlite")
            #expect(!world.exists("out.sqlite"), "nothing is left of a failed replay")
            let code = name == "other.jsonl" ? "not-a-trust-file" : "json-syntax"
            try world.fails(code, 65, "audit", "empty", "--trust", name)
        }
        try world.fails("no-such-file", 66, "audit", "nothing.jsonl")
        try world.fails("no-such-file", 66, "replay", "nothing.jsonl")
        try world.fails("file-unreadable", 66, "audit", ".")
        try world.fails("no-such-file", 66, "audit", "empty", "--trust", "nothing.json")
        #expect(try world.tally("audit", "-", exits: 65, input: Array("x".utf8)).errors.contains("not a record"))
    }

    @Test func schemesWithMistakes() throws {
        let world = try World()
        try world.fails("scheme-unknown", 66, "scheme", "show", "no-such-scheme")
        try world.fails("scheme-unknown", 66, "scheme", "show", "uk-waste-transfer-note@9")
        try world.fails("list-unknown", 66, "scheme", "show", "uk-waste-transfer-note", "--codes", "colours")
        try world.fails("no-such-file", 66, "scheme", "check", "nowhere")
        try FileManager.default.createDirectory(atPath: world.file("mine/codes"), withIntermediateDirectories: true)
        try world.write("{", to: "mine/scheme.json")
        let notJSON = try world.json("scheme", "check", "mine", exits: 2)
        #expect(notJSON["problems"]?.elements?.compactMap { $0["code"]?.text } == ["not-json"])
        try world.fails("scheme-invalid", 65, "scheme", "show", "mine")
        try world.fails("scheme-invalid", 2, "scheme", "test", "mine")
        try world.write(#"{"list":"colours","title":"Colours","codes":{}}"#, to: "mine/codes/colours.json")
        let both = try world.json("scheme", "check", "mine", exits: 2)
        #expect(both["problems"]?.elements?.isEmpty == false)
        // A pipe that nobody writes to would be waited for for ever.
        try FileManager.default.createDirectory(atPath: world.file("pipe"), withIntermediateDirectories: true)
        #expect(mkfifo(world.file("pipe/scheme.json"), 0o600) == 0)
        try world.fails("file-unreadable", 66, "scheme", "check", "pipe")
        let shipped = TallyProgram.packageRoot.appendingPathComponent("Sources/Schemes/evidence-item").path
        let checked = try world.json("scheme", "check", shipped)
        let listed = try world.json("scheme", "list")["schemes"]?.elements?.first
        #expect(checked["scheme"]?["hash"]?.text == listed?["hash"]?.text, "what ships is what stands in the folder")
    }

    @Test func commandLinesThatAreWrong() throws {
        let world = try World()
        let unknown = try world.tally("singn", exits: 64)
        #expect(unknown.errors.contains("sign"), "the nearest spelling is named")
        #expect(unknown.output.isEmpty)
        try world.fails("unknown-command", 64, "server", "explode")
        try world.fails("unknown-option", 64, "list", "--nope")
        try world.fails("missing-argument", 64, "show")
        try world.fails("missing-option", 64, "open")
        try world.fails("missing-command", 64)
        #expect(try world.tally("server", exits: 64).output.contains("tally help server COMMAND"))
    }
}
