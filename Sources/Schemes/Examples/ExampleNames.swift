public import Tallystick

extension SchemeExamples {
    /// What the examples name that the scheme does not have.
    ///
    /// A step that is to be refused may name what there is not: that is then what it shows.
    public func problems(under scheme: Scheme) -> [SchemeProblem] {
        var reader = NameReader(scheme: scheme, backgrounds: backgrounds.keys.sorted())
        for background in backgrounds.values.sorted(by: { ($0.file, $0.path) < ($1.file, $1.path) }) {
            for (index, step) in background.steps.enumerated() {
                reader.check(step, background.file, "\(background.path)[\(index)]")
            }
        }
        for example in examples {
            for (index, step) in example.given.enumerated() {
                reader.check(step, example.file, "\(example.path).given[\(index)]")
            }
            if case .step(let step) = example.question {
                reader.check(step, example.file, "\(example.path).when", isRefused: example.expects == "refused")
            }
            reader.check(then: example.then, example.file, "\(example.path).then")
        }
        return reader.problems
    }
}

private struct NameReader {
    let scheme: Scheme
    let backgrounds: [String]
    var problems: [SchemeProblem] = []

    init(scheme: Scheme, backgrounds: [String]) {
        self.scheme = scheme
        self.backgrounds = backgrounds
    }

    private mutating func expect(
        _ name: String,
        among all: [String],
        _ what: String,
        _ code: SchemeProblem.Code,
        _ file: String,
        _ path: String
    ) {
        guard problems.count < 200, !all.contains(where: { sameBytes($0, name) }) else { return }
        let near = Spelling.nearest(to: name, among: all).map { "did you mean “\($0)”? " } ?? ""
        let known = all.prefix(40).joined(separator: ", ") + (all.count > 40 ? "…" : "")
        problems.append(
            SchemeProblem(
                code,
                file: file,
                path: path,
                "expected \(what), got “\(name.prefix(64))”",
                remedy: all.isEmpty ? "there are none" : "\(near)there are \(known)"
            )
        )
    }

    private var roles: [String] { scheme.roles.map(\.name.text) }

    mutating func check(_ step: JSON, _ file: String, _ path: String, isRefused: Bool = false) {
        if let name = step.text {
            return expect(name, among: backgrounds, "the name of a background", .memberInvalid, file, path)
        }
        if let by = step["by"]?.text {
            let role = by.split(separator: ":", maxSplits: 1).first.map(String.init) ?? by
            expect(role, among: roles, "a role", .unknownRole, file, "\(path).by")
        }
        guard !isRefused, step["verdict"] == nil else { return }
        for verb in ["set", "correct"] { checkFields(step[verb], file, "\(path).\(verb)") }
        let handoffs = scheme.handoffs.map(\.name.text)
        let named: [(verb: String, all: [String], what: String, code: SchemeProblem.Code)] = [
            ("sign", scheme.signatures.map(\.name.text), "a signature", .unknownStage),
            ("offer", handoffs, "a handoff", .unknownStage), ("accept", handoffs, "a handoff", .unknownStage),
            ("admit", roles, "a role", .unknownRole),
            ("link", scheme.links.map(\.name.text), "a link", .memberInvalid),
            ("close", scheme.closings.map(\.outcome.text), "an outcome", .memberInvalid),
        ]
        for (verb, all, what, code) in named {
            if let name = step[verb]?.text { expect(name, among: all, what, code, file, "\(path).\(verb)") }
        }
        for name in (step["delegate"]?.elements ?? []).compactMap(\.text) {
            expect(
                name,
                among: scheme.signatures.map(\.name.text),
                "a signature",
                .unknownStage,
                file,
                "\(path).delegate"
            )
        }
    }

    private mutating func checkFields(_ values: JSON?, _ file: String, _ path: String) {
        let single = scheme.fields.filter { $0.list == nil }.map(\.name.text) + scheme.lines.map(\.name.text)
        for member in values?.members ?? [] where !member.name.utf8.contains(UInt8(ascii: "/")) {
            expect(member.name, among: single, "a field or lines", .unknownField, file, path)
            guard let name = Name(member.name), scheme.lines(name) != nil else { continue }
            let fields = scheme.fields.filter { $0.list == name }.map(\.name.text)
            let rows = member.value.elements ?? member.value.members?.map(\.value) ?? []
            for row in rows {
                for field in row.members ?? [] {
                    expect(field.name, among: fields, "a field of “\(name)”", .unknownField, file, "\(path).\(name)")
                }
            }
        }
    }

    mutating func check(then: JSON, _ file: String, _ path: String) {
        let codes = ReasonCode.all.map(\.description)
        for member in ["reasons", "warnings"] {
            for text in (then[member]?.elements ?? []).compactMap(\.text) {
                let code = text.split(separator: " ").first.map(String.init) ?? text
                expect(code, among: codes, "the code of a reason", .unknownCode, file, "\(path).\(member)")
            }
        }
        let named: [(member: String, all: [String], what: String)] = [
            ("overdue", scheme.deadlines.map(\.name.text), "a deadline"),
            ("discrepancies", scheme.checks.map(\.name.text) + scheme.links.map(\.name.text), "a check"),
            ("gaps", roles, "a role"), ("duty", roles, "a role, or null for none"),
        ]
        for (member, all, what) in named {
            guard let value = then[member] else { continue }
            for name in (value.elements ?? [value]).compactMap(\.text) {
                expect(name, among: all, what, .memberInvalid, file, "\(path).\(member)")
            }
        }
        for member in then["due"]?.members ?? [] {
            expect(
                member.name,
                among: scheme.deadlines.map(\.name.text),
                "a deadline",
                .memberInvalid,
                file,
                "\(path).due"
            )
        }
        for member in then["keep"]?.members ?? [] {
            expect(member.name, among: roles, "a role", .unknownRole, file, "\(path).keep")
        }
    }
}
