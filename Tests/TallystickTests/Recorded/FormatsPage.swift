import Foundation
import Tallystick
import Testing

/// `docs/formats.md`: the block after `<!-- fixtures/vectors/F.json M -->` is member M of that file.
enum FormatsPage {
    static let place = OutsideFixtures.root.appending(path: "docs/formats.md")

    /// The page with every example as the vectors have it, and which examples those are.
    static func refreshed(
        _ page: String,
        _ vectors: [(name: String, members: [(String, String)])]
    ) throws -> (page: String, examples: [String]) {
        var lines: [String] = []
        var examples: [String] = []
        var old = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[...]
        while let line = old.popFirst() {
            lines.append(line)
            guard line.hasPrefix("<!-- fixtures/vectors/") else { continue }
            let words = line.split(separator: " ")
            try #require(words.count == 4, "\(line)")
            let name = String(words[1].split(separator: "/")[2].dropLast(5))
            let members = try #require(vectors.first { $0.name == name }, "\(line)").members
            let text = try #require(members.first { $0.0 == words[2] }, "\(line)").1
            try #require(old.popFirst() == "```", "\(line)")
            while let next = old.popFirst(), next != "```" {}
            lines += ["```", text, "```"]
            examples.append("\(name) \(words[2])")
        }
        return (lines.joined(separator: "\n"), examples)
    }
}

@Suite struct FormatsPageTests {
    @Test func showsTheVectors() throws {
        let page = try String(contentsOf: FormatsPage.place, encoding: .utf8)
        let (refreshed, examples) = try FormatsPage.refreshed(page, try Vectors.all())
        #expect(refreshed == page, "run script/fixtures if the formats are meant to change")
        #expect(examples.count == 45)
        #expect(Set(examples).count == examples.count)
        // One of each thing there is.
        let things = [
            "certificate line", "receipt line", "page line", "record seal", "handoff code", "snapshots handoff",
        ]
        #expect(Set(examples).isSuperset(of: things))
        let types = examples.compactMap { $0.hasPrefix("event-") && $0.hasSuffix(" event") ? $0 : nil }
        #expect(types.count == 17)
    }
}
