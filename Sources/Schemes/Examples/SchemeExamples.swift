public import Tallystick

/// The cases in a scheme's `examples` folder: what was said before, one thing that is said now, and the verdict.
public struct SchemeExamples: Sendable {
    /// The cases, in the order of the files.
    public let examples: [Example]
    /// Named beginnings that cases share.
    let backgrounds: [String: Background]

    /// One case.
    public struct Example: Sendable {
        /// The file it stands in.
        public let file: String
        /// Where in the file.
        public let path: String
        /// Its name, which is its own in the scheme.
        public let name: String
        /// More for a person; may be empty.
        public let title: String
        /// What it is about: rows of tables, complaints.
        public let shows: [String]
        let given: [JSON]
        let question: Question
        let then: JSON

        enum Question: Sendable {
            case step(JSON)
            case look(Timestamp)
        }

        /// The verdict it expects, or `shown` where it looks at the chain.
        public var expects: String { then["verdict"]?.text ?? "shown" }
    }

    struct Background: Sendable {
        let file: String
        let path: String
        let steps: [JSON]
    }

    /// Reads the files of a scheme's examples.
    ///
    /// - Throws: ``SchemeError`` with every mistake in their form.
    public init(files: [(name: String, text: [UInt8])]) throws(SchemeError) {
        var reader = ExampleReader()
        for file in files { reader.read(file.text, file: "examples/\(file.name).json") }
        guard reader.problems.isEmpty else { throw SchemeError(problems: reader.problems) }
        examples = reader.examples
        backgrounds = reader.backgrounds
    }
}

private struct ExampleReader {
    var examples: [SchemeExamples.Example] = []
    var backgrounds: [String: SchemeExamples.Background] = [:]
    var problems: [SchemeProblem] = []
    private var names: Set<String> = []

    private mutating func fail(
        _ code: SchemeProblem.Code,
        _ file: String,
        _ path: String,
        _ message: String,
        _ remedy: String
    ) {
        guard problems.count < 200 else { return }
        problems.append(SchemeProblem(code, file: file, path: path, message, remedy: remedy))
    }

    mutating func read(_ text: [UInt8], file: String) {
        let root: JSON
        do {
            root = try JSON.parse(text)
        } catch {
            fail(
                .notJSON,
                file,
                "",
                error.description,
                "write strict JSON: no comments, no trailing commas, no doubled names"
            )
            return
        }
        problems += SchemeProblem.fractions(in: root, file: file).prefix(200 - problems.count)
        check(root, of: ["topic", "title", "backgrounds", "examples"], file, "")
        for member in ["topic", "title"] where root[member] != nil && root[member]?.text == nil {
            fail(.memberInvalid, file, member, "expected a text", "write it in quotes")
        }
        if let backgrounds = root["backgrounds"], backgrounds.members == nil {
            fail(
                .memberInvalid,
                file,
                "backgrounds",
                "expected an object of steps by name",
                "write it in curly brackets"
            )
        }
        for member in root["backgrounds"]?.members ?? [] {
            let path = "backgrounds.\(member.name)"
            guard let steps = member.value.elements else {
                fail(.memberInvalid, file, path, "expected an array of steps", "write it in square brackets")
                continue
            }
            if backgrounds[member.name] != nil {
                fail(.nameTaken, file, path, "expected a name that no other background has", "rename one of the two")
            }
            check(steps: steps, file, path)
            backgrounds[member.name] = SchemeExamples.Background(file: file, path: path, steps: steps)
        }
        guard let elements = root["examples"]?.elements else {
            if root["examples"] != nil {
                fail(.memberInvalid, file, "examples", "expected an array of examples", "write it in square brackets")
            } else if root["backgrounds"] == nil {
                fail(.memberMissing, file, "examples", "expected an array of examples", "add “examples”")
            }
            return
        }
        for (index, json) in elements.enumerated() { read(json, file, "examples[\(index)]") }
    }

    private mutating func check(_ json: JSON, of members: [String], _ file: String, _ path: String) {
        guard let own = json.members else {
            fail(.memberInvalid, file, path, "expected an object", "write it in curly brackets")
            return
        }
        for member in own where !members.contains(where: { sameBytes($0, member.name) }) {
            let place = path.isEmpty ? member.name : "\(path).\(member.name)"
            let near = Spelling.nearest(to: member.name, among: members).map { "did you mean “\($0)”? " } ?? ""
            fail(
                .memberUnknown,
                file,
                place,
                "expected no member “\(member.name.prefix(64))” here",
                "\(near)there are \(members.joined(separator: ", "))"
            )
        }
    }

    /// A member that no step has would be passed over without a word, and the example would show something else.
    private mutating func check(steps: [JSON], _ file: String, _ path: String) {
        for (index, step) in steps.enumerated() where step.text == nil {
            check(step: step, also: ["verdict"], file, "\(path)[\(index)]")
        }
    }

    private mutating func check(step: JSON, also members: [String], _ file: String, _ path: String) {
        check(step, of: ["by"] + ExampleRun.verbs + ExampleRun.details + members, file, path)
        guard step.members != nil else { return }
        if step["by"]?.text == nil {
            fail(.memberMissing, file, "\(path).by", "expected who says it, got nothing", "add “by” with a role")
        }
        let given = ExampleRun.verbs.filter { step[$0] != nil }
        if given.count != 1 {
            fail(
                .memberInvalid,
                file,
                path,
                "expected exactly one thing that is said, got \(given.isEmpty ? "none" : given.joined(separator: ", "))",
                "write a step for each; there are \(ExampleRun.verbs.joined(separator: ", "))"
            )
        }
        if let late = step["late"] { check(late, of: ["at", "why"], file, "\(path).late") }
    }

    private mutating func read(_ json: JSON, _ file: String, _ path: String) {
        check(json, of: ["example", "title", "shows", "given", "when", "on", "then"], file, path)
        guard let name = json["example"]?.text, !name.isEmpty else {
            fail(.memberMissing, file, "\(path).example", "expected a name", "name the example")
            return
        }
        if !names.insert(name).inserted {
            fail(.nameTaken, file, "\(path).example", "expected “\(name)” once in the folder", "rename one of the two")
        }
        let shows = json["shows"]?.elements ?? []
        if shows.contains(where: { $0.text == nil }) {
            fail(.memberInvalid, file, "\(path).shows", "expected texts", "write what the example is about")
        }
        guard let then = json["then"], then.members != nil else {
            fail(.memberMissing, file, "\(path).then", "expected the verdict as an object", "say what is to come out")
            return
        }
        if let given = json["given"], given.elements == nil {
            fail(.memberInvalid, file, "\(path).given", "expected an array of steps", "write it in square brackets")
        }
        check(steps: json["given"]?.elements ?? [], file, "\(path).given")
        for member in ["reasons", "warnings"] {
            guard let list = then[member], list.elements?.allSatisfy({ $0.text != nil }) != true else { continue }
            fail(
                .memberInvalid,
                file,
                "\(path).then.\(member)",
                "expected an array of texts",
                "write codes with their subjects, such as [\"missing-field tool\"]"
            )
        }
        if json["when"] != nil, json["on"] != nil {
            fail(.memberInvalid, file, path, "expected either “when” or “on”, got both", "write two examples")
            return
        }
        let question: SchemeExamples.Example.Question
        if let when = json["when"] {
            check(then, of: ["verdict", "reasons", "warnings"], file, "\(path).then")
            guard ["accepted", "refused", "waiting"].contains(then["verdict"]?.text ?? "") else {
                let got = then["verdict"]?.text.map { "“\($0.prefix(40))”" } ?? "none"
                fail(
                    .memberInvalid,
                    file,
                    "\(path).then.verdict",
                    "expected accepted, refused or waiting, got \(got)",
                    "say which of them is to come out"
                )
                return
            }
            check(step: when, also: [], file, "\(path).when")
            question = .step(when)
        } else if let on = json["on"]?.text.flatMap({ Timestamp($0) }) {
            let members = ["overdue", "due", "discrepancies", "contested", "gaps", "duty", "keep"]
            check(then, of: members, file, "\(path).then")
            if then.members?.isEmpty != false {
                fail(
                    .memberInvalid,
                    file,
                    "\(path).then",
                    "expected something to look for",
                    "there are \(members.joined(separator: ", "))"
                )
            }
            question = .look(on)
        } else if json["on"] != nil {
            let expected = "expected a datetime such as 2026-12-01T09:00:00.000Z"
            fail(.memberInvalid, file, "\(path).on", expected, "write seconds, milliseconds and the offset")
            return
        } else {
            fail(.memberMissing, file, path, "expected “when” with a step, or “on” with a time", "say what is judged")
            return
        }
        examples.append(
            SchemeExamples.Example(
                file: file,
                path: path,
                name: name,
                title: json["title"]?.text ?? "",
                shows: shows.compactMap(\.text),
                given: json["given"]?.elements ?? [],
                question: question,
                then: then
            )
        )
    }
}
