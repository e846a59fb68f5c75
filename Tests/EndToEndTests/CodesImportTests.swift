import Foundation
import Tallystick
import Testing

/// The published reference data, in `TALLY_FIXTURES` or `../shared/fixtures`.
private enum ReferenceData {
    static let folder: URL = {
        let named = ProcessInfo.processInfo.environment["TALLY_FIXTURES"].map { URL(fileURLWithPath: $0) }
        let fixtures =
            named ?? TallyProgram.packageRoot.deletingLastPathComponent().appendingPathComponent("shared/fixtures")
        return fixtures.appendingPathComponent("real/defra-dwt/reference-data")
    }()

    /// Whether the folder is there; where one was named, it has to be.
    static let isExpected =
        ProcessInfo.processInfo.environment["TALLY_FIXTURES"] != nil
        || FileManager.default.fileExists(atPath: folder.path)
}

/// `tally scheme codes import`.
@Suite struct CodesImportTests {
    private static let list = "mine/codes/conditions.json"

    private func texts(_ json: JSON?) -> [String] { json?.elements?.compactMap(\.text) ?? [] }

    @Test func mergesNamesAndNamesWhatDiffers() throws {
        let world = try World()
        try SmallScheme.write("mine", in: world)
        try world.write(
            #"[{"id":"used","description":"In  use\n","isWorn":false},{"id":"lost","description":"Gone","isWorn":true}]"#,
            to: "published.json"
        )
        let before = try world.read(Self.list)
        let dry = try world.json(
            "scheme",
            "codes",
            "import",
            Self.list,
            "published.json",
            "--flag",
            "worn=isWorn",
            "--dry-run"
        )
        #expect(dry["changed"]?.boolean == true && dry["written"]?.boolean == false)
        #expect(try world.read(Self.list) == before)
        #expect(dry["codeMember"]?.text == "id" && dry["titleMember"]?.text == "description")
        #expect(texts(dry["unknown"]) == ["lost"] && texts(dry["missing"]) == ["new"] && texts(dry["added"]).isEmpty)
        #expect(dry["retitled"]?.elements?.first?["to"]?.text == "In use")
        #expect(dry["kept"]?.elements?.first?["flag"]?.text == "worn", "a flag of the scheme's own stays")

        let run = try world.json(
            "scheme",
            "codes",
            "import",
            Self.list,
            "published.json",
            "--flag",
            "worn=isWorn",
            "--add",
            "--source",
            "The board"
        )
        #expect(texts(run["added"]) == ["lost"] && run["written"]?.boolean == true)
        #expect(
            String(decoding: try world.read(Self.list), as: UTF8.self) == #"""
                {
                  "list": "conditions",
                  "title": "Conditions",
                  "source": "The board",
                  "codes": {
                    "lost": {"title": "Gone", "worn": true},
                    "new": {"title": "New"},
                    "used": {"title": "In use", "from": "2020-01-01", "until": "2030-12-31", "worn": true}
                  }
                }

                """#
        )
        #expect(try world.json("scheme", "check", "mine")["problems"]?.elements?.isEmpty == true)
        let again = try world.tally(
            "scheme",
            "codes",
            "import",
            Self.list,
            "published.json",
            "--flag",
            "worn=isWorn",
            "--add",
            "--source",
            "The board"
        )
        #expect(again.output.contains("Nothing changes in mine/codes/conditions.json."))
    }

    @Test(
        "reads the forms lists are published in",
        arguments: [
            (#"["used","new"]"#, 2, nil, nil), (#"{"used":"In use","new":"Fresh"}"#, 2, nil, nil),
            (#"{"used":{"label":"In use"},"new":{"label":"Fresh"}}"#, 2, nil, "label"),
            (#"[{"name":"In use","code":"used"}]"#, 1, "code", "name"), (#"[{"Code":1}]"#, 1, "Code", nil),
            ("Code,Short description\r\nused,\"In use, worn\"\r\nnew,Fresh\r\n", 2, "Code", "Short description"),
            ("\u{FEFF}wasteCode;x,Title\nused,x\n", 1, "wasteCode;x", "Title"),
        ] as [(String, Int, String?, String?)]
    )
    func readsForms(text: String, count: Int, code: String?, title: String?) throws {
        let world = try World()
        try SmallScheme.write("mine", in: world)
        try world.write(text, to: "published")
        let arguments = code?.contains(";") == true ? ["--code", "wasteCode;x"] : []
        let run = try world.run(
            ["scheme", "codes", "import", Self.list, "published", "--dry-run", "--json"] + arguments
        ).json
        #expect(run["published"]?.integer == count, "\(run)")
        #expect(run["codeMember"]?.text == code)
        #expect(run["titleMember"]?.text == title)
    }

    @Test(
        "says what it cannot read",
        arguments: [
            ("[", "expected a value"), ("", "no codes"), ("[1]", "all elements"), (#"{"a":1}"#, "object of names"),
            (#"[{"what":"x"}]"#, "no member of the objects looks like a code"),
            ("what,which\n1,2\n", "no column looks like a code"),
            ("code,title\nused\n", "line 2: expected 2 fields"),
            ("code,title\nused,\"x\n", "line 2: expected a field in quotation marks to end"),
            ("code,title\nused,a\"b\n", "line 2"),
            (#"[{"code":"used","title":"a"},{"code":"used","title":"b"}]"#, "twice"),
            (#"[{"code":"used","title":"\u202eabc"}]"#, "cannot be shown"),
        ]
    )
    func saysWhatItCannotRead(text: String, message: String) throws {
        let world = try World()
        try SmallScheme.write("mine", in: world)
        let before = try world.read(Self.list)
        try world.write(text, to: "published")
        let run = try world.run(["scheme", "codes", "import", Self.list, "published", "--json"])
        #expect(run.status == 65, "\(run)")
        let error = try #require(run.json["error"])
        #expect(error["message"]?.text?.contains(message) == true, "\(error)")
        #expect(try world.read(Self.list) == before)
    }

    @Test func refusesWrongArguments() throws {
        let world = try World()
        try SmallScheme.write("mine", in: world)
        try world.write(#"[{"code":"used","x":"maybe"}]"#, to: "published.json")
        func fails(_ code: String, _ status: Int32, _ arguments: String...) throws {
            let run = try world.run(["scheme", "codes", "import"] + arguments + ["--json"])
            #expect(run.status == status && run.errorCode == code, "\(run)")
        }
        try fails("no-such-file", 66, "nothing.json", "published.json")
        try fails("no-such-file", 66, Self.list, "nothing.json")
        try fails("flag-invalid", 64, Self.list, "published.json", "--flag", "worn")
        try fails("flag-invalid", 64, Self.list, "published.json", "--flag", "title=x")
        try fails("list-invalid", 64, "-", "published.json")
        try fails("published-list-unreadable", 65, Self.list, "published.json", "--title", "nope")
        try fails("published-list-unreadable", 65, Self.list, "published.json", "--flag", "worn=x")
        try fails("code-list-unreadable", 65, "mine/scheme.json", "published.json")
    }

    /// Codes are looked up by their bytes, and written without what regulators put between digits.
    @Test func findsCodesThatAreWrittenOtherwise() throws {
        let world = try World()
        try world.write(
            #"{"list":"ewc","title":"EWC","codes":{"170904":{},"K1":{}}}"#,
            to: "ewc.json"
        )
        // The Kelvin sign is canonically equivalent to K, and not the same code.
        try world.write("code,title\n17 09 04*,Mixed\n\u{212A}1,Kelvin\n17 09 03*,Other\n", to: "published.csv")
        let run = try world.json("scheme", "codes", "import", "ewc.json", "published.csv", "--add")
        #expect(texts(run["added"]) == ["170903"])
        #expect(texts(run["unknown"]) == ["\u{212A}1"])
        #expect(texts(run["missing"]) == ["K1"])
        let text = String(decoding: try world.read("ewc.json"), as: UTF8.self)
        #expect(text.contains("    \"170903\": {\"title\": \"Other\"},\n    \"170904\": {\"title\": \"Mixed\"},"))
    }

    @Test(.enabled(if: ReferenceData.isExpected, "no shared fixtures here: set TALLY_FIXTURES to their folder"))
    func takesInTheListsOfDefra() throws {
        let world = try World()
        let lists = [
            ("ewc", "ewc-codes", 842, 0), ("containers", "container-types", 16, 0),
            ("treatments", "recovery-codes", 13, 15),
            ("treatments", "disposal-codes", 15, 13), ("hazard-properties", "hazardous-property-codes", 16, 0),
            ("means-of-transport", "means-of-transport", 7, 0), ("pops", "pop-names", 31, 0),
            ("component-sources", "source-of-components", 4, 0),
            ("no-registration-reasons", "reasons-for-no-registration-number", 4, 0),
            ("no-consignment-reasons", "reasons-for-no-consignment-code", 3, 0),
        ]
        let shipped = TallyProgram.packageRoot.appendingPathComponent("Sources/Schemes/uk-waste-transfer-note").path
        try FileManager.default.copyItem(atPath: shipped, toPath: world.file("note"))
        for (list, file, count, missing) in lists {
            let published = ReferenceData.folder.appendingPathComponent("\(file).json").path
            let flags = list == "ewc" ? ["--flag", "hazardous=isHazardous"] : []
            let run = try world.run(
                ["scheme", "codes", "import", "note/codes/\(list).json", published, "--json"] + flags
            ).json
            #expect(run["published"]?.integer == count, "\(run)")
            #expect(texts(run["unknown"]).isEmpty && texts(run["added"]).isEmpty, "\(list)")
            #expect(texts(run["missing"]).count == missing, "\(list)")
            // The scheme's flags are Defra's already.
            #expect(run["flagged"]?.elements?.isEmpty == true && run["kept"]?.elements?.isEmpty == true)
        }
        let checked = try world.json("scheme", "check", "note")
        #expect(checked["problems"]?.elements?.isEmpty == true)
        let codes = try world.json("scheme", "show", "note", "--codes", "ewc")["codeLists"]?.elements?
            .first { $0["name"]?.text == "ewc" }?["codes"]
        #expect(codes?["170904"]?["title"]?.text?.isEmpty == false)
        #expect(codes?["170903"]?["flags"]?.elements?.compactMap(\.text) == ["hazardous"])
    }
}
