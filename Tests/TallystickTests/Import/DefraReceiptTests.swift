import Foundation
import Schemes
import Tallystick
import TallystickTestSupport
import Testing

/// The published bodies, in `TALLY_FIXTURES` or `../shared/fixtures`.
private enum Payloads {
    private static let folder: URL = {
        let named = ProcessInfo.processInfo.environment["TALLY_FIXTURES"].map { URL(fileURLWithPath: $0) }
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let fixtures = named ?? root.deletingLastPathComponent().appendingPathComponent("shared/fixtures")
        return fixtures.appendingPathComponent("real/defra-dwt/payloads")
    }()

    /// Whether the folder is there; where one was named, it has to be.
    static let areExpected =
        ProcessInfo.processInfo.environment["TALLY_FIXTURES"] != nil
        || FileManager.default.fileExists(atPath: folder.path)

    /// The published bodies by their place under the folder, in order.
    static func bodies() throws -> [(name: String, bytes: [UInt8])] {
        try ["error", "valid", "warning"].flatMap { kind in
            let inside = folder.appendingPathComponent(kind)
            return try FileManager.default.contentsOfDirectory(atPath: inside.path).sorted().map { name in
                ("\(kind)/\(name)", [UInt8](try Data(contentsOf: inside.appendingPathComponent(name))))
            }
        }
    }
}

/// Bodies of Defra's receipt-of-movement interface: every value of one is used, or listed with why it was not.
@Suite(
    .enabled(if: Payloads.areExpected, "no shared fixtures here: set TALLY_FIXTURES to their folder")
)
struct DefraReceiptTests {
    /// A scalar, or an array or object that holds nothing, and where it stands.
    private struct Leaf: Hashable {
        let pointer: String
        let text: String

        /// Every leaf below a value, found here once more and not by the reader under test.
        static func all(of json: JSON, at pointer: String = "") -> [Leaf] {
            switch json {
            case .object(let members) where !members.isEmpty:
                members.flatMap { all(of: $0.value, at: "\(pointer)/\($0.name)") }
            case .array(let elements) where !elements.isEmpty:
                elements.indices.flatMap { all(of: elements[$0], at: "\(pointer)/\($0)") }
            case .number(let text), .string(let text): [Leaf(pointer: pointer, text: text)]
            case .boolean(let value): [Leaf(pointer: pointer, text: value ? "yes" : "no")]
            case .null, .array, .object: [Leaf(pointer: pointer, text: "")]
            }
        }

        /// What it becomes in an event: units by their symbols, codes without spaces.
        var imported: String {
            let units = ["Grams": "g", "Kilograms": "kg", "Tonnes": "t"]
            return pointer.hasSuffix("/metric") ? units[text] ?? text : text
        }
    }

    @Test func usesOrListsEveryValueForEveryRole() throws {
        let scheme = try StoryTeller.wasteTransferNote.get()
        let bodies = try Payloads.bodies()
        #expect(bodies.count == 10)
        var leaves = 0
        var used: [String: Int] = [:]
        for (name, bytes) in bodies {
            let all = Leaf.all(of: try JSON.parse(bytes))
            leaves += all.count
            for role in ["producer", "carrier", "receiver"] {
                let file = try ValuesFile(bytes, scheme: scheme, role: try Derived.name(role))
                #expect(file.shape == .defraReceipt, "\(name)")
                let unused = Dictionary(grouping: file.unused, by: \.pointer)
                #expect(unused.values.allSatisfy { $0.count == 1 }, "\(name), \(role): a value is listed twice")
                #expect(Set(unused.keys).isSubset(of: Set(all.map(\.pointer))), "\(name), \(role): a value was made up")
                // What is not listed is in the changes, digit by digit, and nothing else is.
                let taken = all.filter { unused[$0.pointer] == nil }
                let given = file.changes.flatMap { Leaf.all(of: $0.value ?? .null) }
                #expect(given.map(\.text).sorted() == taken.map(\.imported).sorted(), "\(name), \(role)")
                for leaf in all where unused[leaf.pointer] != nil {
                    #expect(unused[leaf.pointer]?.first?.value == leaf.text, "\(name), \(role): \(leaf.pointer)")
                }
                // What is set belongs to the role, and each field is set once.
                #expect(file.changes.allSatisfy { scheme.field($0.path)?.owner.text == role }, "\(name), \(role)")
                #expect(Set(file.changes.map(\.path)).count == file.changes.count, "\(name), \(role)")
                used[role, default: 0] += taken.count
            }
        }
        #expect(leaves == 288)
        #expect(used == ["producer": 80, "carrier": 30, "receiver": 202])
    }

    @Test func saysWhyAValueIsNotUsed() throws {
        let scheme = try StoryTeller.wasteTransferNote.get()
        let body = try #require(try Payloads.bodies().first { $0.name == "valid/basic-pops-hazardous.post.json" }).bytes
        func reasons(_ role: String) throws -> [String: String] {
            let file = try ValuesFile(body, scheme: scheme, role: try Derived.name(role))
            return Dictionary(uniqueKeysWithValues: file.unused.map { ($0.pointer, $0.reason) })
        }
        let receiver = try reasons("receiver")
        #expect(receiver["/apiCode"] == "not-about-the-load")
        #expect(receiver["/hazardousWasteConsignmentCode"] == "no-field")
        #expect(receiver["/wasteItems/0/pops/components/1/concentration"] == "no-field")
        #expect(receiver["/carrier/organisationName"] == "other-role")
        #expect(receiver["/receiver/siteName"] == nil)
        #expect(try reasons("producer")["/receiver/siteName"] == "other-role")
        #expect(try reasons("carrier")["/carrier/organisationName"] == nil)
    }
}

/// Bodies in that shape which nobody published.
@Suite struct OddReceiptTests {
    private func read(_ text: String, as role: String = "receiver") throws -> ValuesFile {
        try ValuesFile(Array(text.utf8), scheme: try StoryTeller.wasteTransferNote.get(), role: try Derived.name(role))
    }

    @Test(arguments: ["2.5", "2.50", "0.00012", "123456.000000001", "7500"])
    func keepsEveryDigitOfAWeight(amount: String) throws {
        let file = try read(
            #"{"receipt":{},"wasteItems":[{"weight":{"metric":"Kilograms","amount":\#(amount),"isEstimate":false}}]}"#
        )
        #expect(
            file.changes.first { $0.path.description == "receivedItems/1/weight" }?.value
                == .members([("amount", .string(amount)), ("unit", .string("kg"))])
        )
    }

    @Test(arguments: [
        (#"{"metric":"Stones","amount":2}"#, ["metric", "amount"]), (#"{"amount":2}"#, ["amount"]),
        (#"{"metric":"Tonnes"}"#, ["metric"]), (#"{"metric":"Tonnes","amount":"2"}"#, ["metric", "amount"]),
        (#"{"metric":"Tonnes","amount":2e3}"#, ["metric", "amount"]),
        (#"{"metric":"Tonnes","amount":null}"#, ["metric", "amount"]),
        // More digits than an event can hold: listed, never shortened.
        (#"{"metric":"Tonnes","amount":12345678901234567890.000000001}"#, ["metric", "amount"]),
    ])
    func listsAWeightThatCannotBeRead(weight: String, parts: [String]) throws {
        let file = try read(#"{"receipt":{"note":[]},"wasteItems":[{"weight":\#(weight)}]}"#)
        #expect(file.changes.isEmpty)
        let listed = file.unused.filter { $0.reason == "not-a-value" }.map(\.pointer)
        #expect(listed == parts.map { "/wasteItems/0/weight/\($0)" })
        #expect(file.unused.map(\.pointer).contains("/receipt/note"), "what is empty is listed too")
    }

    @Test func listsWhatIsBesideOrInsteadOfWhatItKnows() throws {
        let file = try read(
            #"""
            {"dateTimeReceived":"soon","wasteItems":[{},{"weight":"2 t","ewcCodes":"170904"},
             {"weight":{"metric":"Tonnes","amount":1,"tare":3}}]}
            """#
        )
        #expect(
            file.unused.map(\.pointer).sorted() == [
                "/dateTimeReceived", "/wasteItems/0", "/wasteItems/1/weight", "/wasteItems/2/weight/tare",
            ]
        )
        #expect(file.changes.map(\.path.description) == ["receivedItems/2/ewcCodes", "receivedItems/3/weight"])
    }

    @Test func writesCodesWithoutTheirSpaces() throws {
        let file = try read(
            #"{"receipt":{},"wasteItems":[],"carrier":{"meansOfTransport":"Inland Waterway"}}"#,
            as: "carrier"
        )
        #expect(file.changes.map(\.value) == [.string("InlandWaterway")])
    }
}
