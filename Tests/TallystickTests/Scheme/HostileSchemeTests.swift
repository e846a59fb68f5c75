import Schemes
import TallystickTestSupport
import Testing

@testable import Tallystick

/// Schemes from strangers: refused by name, in bounded time and never by a trap.
@Suite struct HostileSchemeTests {
    private func problems(_ scheme: String, lists: [(name: String, text: [UInt8])] = []) -> [SchemeProblem] {
        do {
            _ = try Scheme(scheme: Array(scheme.utf8), codeLists: lists)
            return []
        } catch {
            return error.problems
        }
    }

    private func parcel(rules: String) -> [SchemeProblem] {
        let text = ParcelScheme.text.replacing("\"rules\": []", with: "\"rules\": [\(rules)]")
        return problems(text, lists: [("services", Array(ParcelScheme.services.utf8))])
    }

    @Test func refusesAListOfAMillionCodes() {
        var text = "{\"list\": \"services\", \"title\": \"Services\", \"codes\": {"
        for number in 0..<1_000_000 { text += "\"C\(number)\": {}," }
        text += "\"day\": {}}}"
        let found = problems(ParcelScheme.text, lists: [("services", Array(text.utf8))])
        #expect(found.map(\.code) == [.tooLarge])
    }

    @Test func refusesMoreCodesThanAListMayHave() {
        var text = "{\"list\": \"services\", \"title\": \"Services\", \"codes\": {"
        for number in 0...Scheme.mostCodes { text += "\"C\(number)\": {}," }
        text += "\"day\": {}}}"
        let found = problems(ParcelScheme.text, lists: [("services", Array(text.utf8))])
        #expect(found.contains { $0.code == .tooMany && $0.file == "codes/services.json" && $0.path == "codes" })
    }

    @Test func refusesConditionsBeyondCounting() {
        let one = "{\"field\": \"label\", \"present\": true}"
        let many = Array(repeating: one, count: 499).joined(separator: ", ")
        let rules = (0..<20).map {
            "{\"rule\": \"r\($0)\", \"at\": [\"producer\"], \"that\": {\"all\": [\(many)]}, \"says\": \"x\"}"
        }
        let found = parcel(rules: rules.joined(separator: ", "))
        #expect(found.contains { $0.code == .tooMany && $0.message.contains("5,000 conditions") })
    }

    @Test func refusesPatternsThatWouldTakeLong() {
        let pattern = "((a?){60}){60}"
        let text = ParcelScheme.text.replacing("[A-Z]{2}", with: pattern)
        let found = problems(text, lists: [("services", Array(ParcelScheme.services.utf8))])
        #expect(found.contains { $0.code == .patternInvalid && $0.path == "fields[10].patterns[0].pattern" })
    }

    @Test func refusesManyLargePatterns() {
        let pattern = "((ab){10}){90}"
        let fields = (0..<100).map {
            """
            {"field": "f\($0)", "owner": "producer", "title": "F", "type": "identifier", "patterns": \
            [{"name": "a", "pattern": "\(pattern)"}]}
            """
        }
        let old = "{\"field\": \"van\""
        let text = ParcelScheme.text.replacing(old, with: fields.joined(separator: ", ") + ", " + old)
        let found = problems(text, lists: [("services", Array(ParcelScheme.services.utf8))])
        #expect(found.contains { $0.code == .tooMany && $0.message.contains("100,000") })
    }

    @Test func refusesAScaleOfMistakesWithoutListingThemAll() {
        let fields = (0..<900).map {
            "{\"field\": \"f\($0)\", \"owner\": \"nobody\", \"title\": \"F\", \"type\": \"colour\"}"
        }
        let old = "{\"field\": \"van\""
        let text = ParcelScheme.text.replacing(old, with: fields.joined(separator: ", ") + ", " + old)
        let found = problems(text, lists: [("services", Array(ParcelScheme.services.utf8))])
        #expect(found.count == 200)
    }

    @Test(arguments: [
        "", "null", "[]", "{}", "{\"scheme\": null}", "{\"scheme\":{},\"codes\":[]}", "\u{FEFF}{}", "{\"a\":1,\"a\":2}",
        String(repeating: "[", count: 100_000), String(repeating: "{\"not\":", count: 50_000),
        "{\"roles\": [null, 1, \"x\", [], {}], \"fields\": {}, \"signatures\": 3, \"handoffs\": [[]], \"rules\": [{}]}",
        "{\"roles\": [{\"role\": \"a\", \"admits\": [\"a\"]}], \"cancelling\": [], \"closing\": {}, \"lateEntry\": 1}",
        "{\"deadlines\": [{\"within\": {\"days\": 99999999999999999999}}], \"calendars\": [{\"holidays\": [\"x\"]}]}",
    ])
    func refusesWhatIsNoScheme(text: String) {
        #expect(!problems(text).isEmpty)
    }

    /// Shipped schemes with parts of them exchanged, cut out or doubled: read or refused, and never a trap.
    @Test func survivesDamagedSchemes() throws {
        var generator = Seed.generator()
        var refused = 0
        for round in 0..<300 {
            let file = ShippedSchemes.files[round % ShippedSchemes.files.count]
            let lists = file.codes.map { (name: $0.list, text: Array($0.text.utf8)) }
            let damaged = Self.damage(try JSON.parse(Array(file.scheme.utf8)), &generator)
            // What is no canonical JSON any more is refused before the reader sees it.
            guard let text = try? damaged.canonicalBytes() else { continue }
            do {
                let scheme = try Scheme(scheme: text, codeLists: lists)
                #expect(!scheme.roles.isEmpty)
            } catch {
                refused += 1
                #expect(!error.problems.isEmpty && error.problems.count <= 200, "\(Seed.note)")
            }
        }
        #expect(refused > 100, "\(Seed.note)")
    }

    private static func damage(_ json: JSON, _ generator: inout SeededGenerator) -> JSON {
        var places = 0
        count(json, &places)
        var left = Int.random(in: 0..<max(places, 1), using: &generator)
        let replacement =
            [
                JSON.null, .boolean(true), .string(""), .string("nobody"), .integer(-1), .array([]), .object([]),
                .integer(9_007_199_254_740_991), .string(String(repeating: "x", count: 9_000)),
            ].randomElement(using: &generator) ?? .null
        return replace(json, &left, replacement)
    }

    private static func count(_ json: JSON, _ places: inout Int) {
        places += 1
        for element in json.elements ?? [] { count(element, &places) }
        for member in json.members ?? [] { count(member.value, &places) }
    }

    private static func replace(_ json: JSON, _ left: inout Int, _ other: JSON) -> JSON {
        left -= 1
        if left == -1 { return other }
        switch json {
        case .array(let elements): return .array(elements.map { replace($0, &left, other) })
        case .object(let members): return .object(members.map { JSONMember($0.name, replace($0.value, &left, other)) })
        default: return json
        }
    }
}
