import Foundation
import Tallystick
import Testing

/// `docs/scheme.schema.json`, through `script/check-schemes`.
@Suite struct SchemeSchemaTests {
    /// Whether there is a Python with jsonschema, as script/bootstrap installs it.
    static let canRun: Bool = {
        ["/usr/bin/env", "/usr/bin/python3"].contains { program in
            let arguments = ["-c", "import jsonschema; jsonschema.Draft202012Validator"]
            return (try? run(program, (program.hasSuffix("env") ? ["python3"] : []) + arguments))?.status == 0
        }
    }()

    private static func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, said: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let said = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }

    private static let script = TallyProgram.packageRoot.appendingPathComponent("script/check-schemes").path

    @Test(.enabled(if: canRun, "no python3 with jsonschema: script/bootstrap installs it"))
    func everySchemeThatShipsIsAsTheSchemaSays() throws {
        let run = try Self.run(Self.script, [])
        #expect(run.status == 0, "\(run.said)")
        let numbers = run.said.split(separator: " ").compactMap { Int($0) }
        #expect((numbers.first ?? 0) >= 100 && numbers.last == 0, "\(run.said)")
    }

    @Test(.enabled(if: canRun, "no python3 with jsonschema: script/bootstrap installs it"))
    func nothingToCheckIsAFailure() throws {
        let world = try World()
        let files = FileManager.default
        for folder in ["script", "docs"] {
            try files.createDirectory(atPath: world.file(folder), withIntermediateDirectories: true)
        }
        try files.copyItem(atPath: Self.script, toPath: world.file("script/check-schemes"))
        let schema = TallyProgram.packageRoot.appendingPathComponent("docs/scheme.schema.json").path
        try files.copyItem(atPath: schema, toPath: world.file("docs/scheme.schema.json"))
        let run = try Self.run(world.file("script/check-schemes"), [])
        #expect(run.status == 1 && run.said.contains("nothing to check"), "\(run.said)")
        let absent = try Self.run(Self.script, [world.file("nowhere")])
        #expect(absent.status == 1 && absent.said.contains("no scheme.json"), "\(absent.said)")
        #expect(try Self.run(Self.script, ["--nope"]).status == 64)
    }

    /// Wrong in their form: the schema and the program both have to refuse them.
    private static let wrong: [(text: String, other: String)] = [
        (#""title": "A borrowed tool", "#, ""),
        (#""version": 1"#, #""version": "1""#),
        (#""version": 1"#, #""version": 0"#),
        (#""scheme": "tool-loan""#, #""scheme": "Tool-loan""#),
        (#""opens": true, "#, ""),
        (#""opens": true"#, #""opens": "yes""#),
        (#""custody": false"#, #""custody": false, "opens": true"#),
        (#""role": "lender", "title": "Lender", "opens""#, #""role": "the lender", "title": "Lender", "opens""#),
        (#"{"years": 2, "from": "closed"}"#, #"{"years": 2, "days": 3, "from": "closed"}"#),
        (#"{"years": 2, "from": "closed"}"#, #"{"years": 2}"#),
        (#""maximumLength": 80"#, #""maxLength": 80"#),
        (#""maximumLength": 80"#, #""maximumLength": 80, "units": ["kg"]"#),
        (#""units": ["kg", "g"]"#, #""units": ["kg", "gramme"]"#),
        (#""units": ["kg", "g"]"#, #""units": []"#),
        (#""above": "0""#, #""above": 0"#),
        (#""above": "0""#, #""above": "0,5""#),
        (#""decimals": 3"#, #""decimals": 10"#),
        (#""must": true"#, #""must": "true""#),
        (#""title": "Seen", "type": "boolean""#, #""title": "Seen", "type": "bool""#),
        (#""title": "Seen", "type": "boolean""#, #""title": "Seen", "type": "code""#),
        (#""many": {"minimum": 1, "maximum": 9},"#, ""),
        (#""title": "Number", "type": "integer""#, #""title": "Number", "type": "integer", "owner": "lender""#),
        (#""title": "Size", "type": "integer""#, #""title": "Size", "type": "integer", "sealed": false"#),
        (#""lines": "bits", "owner": "lender""#, #""lines": "bits""#),
        (#""minimum": 1, "maximum": 20, "fields""#, #""minimum": 1, "fields""#),
        (#""require": ["size"]"#, #""require": ["size"], "forbid": ["mass"]"#),
        (#""require": ["size"]"#, #""require": []"#),
        (#""require": ["size"], "#, ""),
        (#""severity": "warning""#, #""severity": "mild""#),
        (#"{"field": "weight", "present": true}"#, #"{"field": "weight", "present": "yes"}"#),
        (#"{"field": "weight", "present": true}"#, #"{"field": "weight", "present": true, "is": "1"}"#),
        (#"{"field": "weight", "present": true}"#, #"{"field": "weight"}"#),
        (#"{"field": "weight", "present": true}"#, #"{"all": []}"#),
        (#"{"field": "weight", "present": true}"#, #"{"not": {"field": "weight", "exists": true}}"#),
        (#"{"field": "weight", "present": true}"#, #"{"some": "bits"}"#),
        (#""statement": "I saw it.", "#, ""),
        (#""delegable": true"#, #""delegable": "true""#),
        (#"{"stage": "lending", "missing": "warning"}"#, #"{"stage": "lending"}"#),
        (#"{"stage": "lending", "missing": "warning"}"#, #"{"stage": "lending", "missing": "error"}"#),
        (#""lasts": 600"#, #""lasts": 30"#),
        (#""lasts": 600"#, #""last": 600"#),
        (#""tolerancePercent": "5""#, #""tolerancePercent": 5"#),
        (#""tolerancePercent": "5""#, #""tolerancePercent": "101""#),
        (#""tolerancePercent": "5""#, #""tolerancePercent": "5", "tolerance": "1""#),
        (#""tolerancePercent": "5",\#n"#, "\n"),
        (#""received": "found", "#, ""),
        (#""parts": ["good", "broken"], "#, ""),
        (#""kind": "split-to""#, #""kind": "split""#),
        (#""conserves": "bits/*/mass", "#, #""due": true, "#),
        (#"{"roles": ["lender"], "before": ["lending"]}"#, #"{"before": ["lending"]}"#),
        (#""outcome": "returned", "title": "Returned""#, #""outcome": "returned""#),
        (#""longest": {"days": 3}"#, #""longest": {"months": 3}"#),
        (#""within": {"months": 1}"#, #""within": {"months": 1, "days": 1}"#),
        (#""within": {"months": 1}"#, #""within": {"weeks": 1}"#),
        (#""calendar": "workshop", "says""#, #""says""#),
        (#""weekend": [7]"#, #""weekend": [8]"#),
        (#""holidays": ["2026-12-25"]"#, #""holidays": ["25 December"]"#),
        (#""until": "2026-12-31", "#, ""),
        (#""list": "conditions",\#n  "title": "Conditions","#, #""list": "conditions","#),
        (#""new": {"title": "New"}"#, #""new": "New""#),
        (#""new": {"title": "New"}"#, #""new code": {"title": "New"}"#),
        (#""worn": true"#, #""worn": 1"#),
        (#""from": "2020-01-01""#, #""from": "2020-13-01""#),
        (#""topic": "lending""#, #""subject": "lending""#),
        (#""open": true"#, #""opens": true"#),
        (#""open": true"#, #""open": true, "sign": "lender""#),
        (#""verdict": "refused""#, #""verdict": "rejected""#),
        (#""example": "tool-is-named", "#, ""),
        (#""when": {"by": "lender", "sign": "lender"},"#, ""),
    ]

    @Test(.enabled(if: canRun, "no python3 with jsonschema: script/bootstrap installs it"))
    func refusesWhatTheProgramRefuses() throws {
        let world = try World()
        var folders: [String] = []
        for (number, change) in Self.wrong.enumerated() {
            var places = 0
            try SmallScheme.write("wrong-\(number)", in: world) { _, text in
                places += text.components(separatedBy: change.text).count - 1
                return text.replacing(change.text, with: change.other)
            }
            #expect(places > 0, "nothing was changed: \(change.text)")
            let problems = try world.json("scheme", "check", "wrong-\(number)", exits: 2)["problems"]?.elements
            #expect(problems?.isEmpty == false, "the program takes \(change.other)")
            folders.append(world.file("wrong-\(number)"))
        }
        try SmallScheme.write("right", in: world)
        let run = try Self.run(Self.script, folders + [world.file("right")])
        #expect(run.status == 1)
        for (number, change) in Self.wrong.enumerated() {
            #expect(run.said.contains("/wrong-\(number)/"), "the schema takes \(change.other) for \(change.text)")
        }
        #expect(!run.said.contains("/right/"), "\(run.said)")
    }

    @Test func theSchemaHasATitleOrDescriptionForEveryPart() throws {
        let text = try TallyProgram.packageFile("docs/scheme.schema.json")
        let schema = try JSON.parse(Array(text.utf8))
        let definitions = try #require(schema["$defs"]?.members)
        #expect(definitions.count > 40)
        for definition in definitions {
            #expect(
                definition.value["title"] != nil || definition.value["description"] != nil || definition.name == "count"
            )
            for member in definition.value["properties"]?.members ?? [] where definition.value["title"] != nil {
                let isSaid =
                    member.value["description"] != nil || member.value["$ref"] != nil || member.value["const"] != nil
                let isPlain = ["amount", "unit", "verdict", "type"].contains(member.name)
                #expect(isSaid || isPlain, "\(definition.name).\(member.name)")
            }
        }
    }
}
