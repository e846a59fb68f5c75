import Schemes
import Tallystick
import TallystickTestSupport
import Testing

/// Files of values in our own shape.
@Suite struct OwnValuesTests {
    private static func read(_ text: String, as role: String = "producer") throws -> ValuesFile {
        try ValuesFile(Array(text.utf8), scheme: try ParcelScheme.read(), role: try Derived.name(role))
    }

    /// The changes as `path=value`.
    private static func changes(_ file: ValuesFile) -> [String] {
        file.changes.map { "\($0.path)=\($0.value.map { Scheme.text(of: $0) } ?? "cleared")" }
    }

    /// What is not used as `pointer reason`.
    private static func unused(_ file: ValuesFile) -> [String] { file.unused.map { "\($0.pointer) \($0.reason)" } }

    @Test(arguments: [
        (
            #"{"items":[{"name":"a"},{"name":"b","mass":"2 kg"}]}"#,
            ["items/1/name=a", "items/2/name=b", "items/2/mass=2 kg"]
        ),
        (#"{"items":{"x":{"name":"a"},"7":{"mass":"20 g"}}}"#, ["items/x/name=a", "items/7/mass=20 g"]),
        (#"{"items/x/name":"a","label":"abc"}"#, ["items/x/name=a", "label=abc"]),
        (#"{"values":{"label":"abc","items":[{"name":"a"}]}}"#, ["label=abc", "items/1/name=a"]),
        ("{}", []), (#"{"values":{}}"#, []),
    ])
    func readsLinesAsArraysObjectsAndPaths(text: String, expected: [String]) throws {
        let file = try Self.read(text)
        #expect(file.shape == .values)
        #expect(Self.changes(file) == expected)
        #expect(file.unused.isEmpty)
    }

    @Test(arguments: [
        (#"{"value":12.50}"#, "value", JSON.string("12.50")), (#"{"value":"12.50"}"#, "value", .string("12.50")),
        (#"{"weight":"7.10 kg"}"#, "weight", .members([("amount", .string("7.10")), ("unit", .string("kg"))])),
        (
            #"{"weight":{"amount":7.10,"unit":"kg"}}"#, "weight",
            .members([("amount", .string("7.10")), ("unit", .string("kg"))])
        ),
        (
            #"{"weight":{"amount":"7.10","unit":"kg"}}"#, "weight",
            .members([("amount", .string("7.10")), ("unit", .string("kg"))])
        ),
        (#"{"pieces":3}"#, "pieces", .number("3")), (#"{"pieces":"3"}"#, "pieces", .number("3")),
        (#"{"fragile":true}"#, "fragile", .boolean(true)), (#"{"fragile":"no"}"#, "fragile", .boolean(false)),
        (#"{"services":["day","slow"]}"#, "services", .strings(["day", "slow"])),
        (#"{"services":"day, slow"}"#, "services", .strings(["day", "slow"])),
        (#"{"packedAt":"2026-11-30 06:12+01:00"}"#, "packedAt", .string("2026-11-30T06:12:00.000+01:00")),
    ])
    func readsNumbersDigitByDigitAndTextAsTyped(text: String, path: String, value: JSON) throws {
        let file = try Self.read(text)
        #expect(file.changes.map(\.path.description) == [path])
        #expect(file.changes.first?.value == value)
        #expect(file.unused.isEmpty)
    }

    @Test(arguments: [
        (#"{"colour":"red"}"#, ["/colour no-field"]), (#"{"van":"AB12"}"#, ["/van other-role"]),
        (#"{"weight":7.5}"#, ["/weight not-a-value"]), (#"{"weight":"7.5 stone"}"#, ["/weight not-a-value"]),
        (#"{"weight":{"amount":1e2,"unit":"kg"}}"#, ["/weight/amount not-a-value", "/weight/unit not-a-value"]),
        (#"{"pieces":"many"}"#, ["/pieces not-a-value"]), (#"{"label":null}"#, ["/label not-a-value"]),
        (#"{"fragile":"perhaps"}"#, ["/fragile not-a-value"]),
        (#"{"packedAt":"yesterday"}"#, ["/packedAt not-a-value"]),
        (#"{"a/b~c":{"d":1,"e":[2,3]}}"#, ["/a~1b~0c/d no-field", "/a~1b~0c/e/0 no-field", "/a~1b~0c/e/1 no-field"]),
        (#"{"items":[]}"#, ["/items not-a-value"]), (#"{"items":{}}"#, ["/items not-a-value"]),
        (#"{"items":"two"}"#, ["/items not-a-value"]), (#"{"items":[{}]}"#, ["/items/0 not-a-value"]),
        (#"{"items":[1,{"name":"a","size":4}]}"#, ["/items/0 not-a-value", "/items/1/size no-field"]),
        (#"{"items":{"not a name":{"name":"a"}}}"#, ["/items/not a name/name no-field"]),
        (#"{"label":"abc","values":{"pieces":1}}"#, ["/label no-field"]),
        (#"{"values":[1]}"#, ["/values/0 not-a-value"]), (#"{"values":7}"#, ["/values not-a-value"]),
        (#"{"unknown":{},"other":[]}"#, ["/unknown no-field", "/other no-field"]),
        (#"{"items":[{"name":"a"}],"items/1/name":"b"}"#, ["/items~11~1name not-a-value"]),
    ])
    func listsEverythingThatIsNotUsed(text: String, expected: [String]) throws {
        let file = try Self.read(text)
        #expect(Self.unused(file) == expected)
        #expect(file.unused.allSatisfy { !$0.detail.isEmpty })
    }

    @Test func keepsTheFirstOfAValueThatIsGivenTwice() throws {
        let file = try Self.read(#"{"items":[{"name":"a"}],"items/1/name":"b"}"#)
        #expect(Self.changes(file) == ["items/1/name=a"])
        #expect(file.unused.map(\.value) == ["b"])
    }

    @Test(arguments: [
        "", "[]", "7", "\"label\"", "{\"label\":\"a\",}", "{\"label\":1,\"label\":2}", "{\"label\":\"a\"} x",
    ])
    func refusesWhatIsNoObject(text: String) throws {
        #expect(throws: JSONError.self) { _ = try Self.read(text) }
    }

    @Test func readsTheDemosValuesWhole() throws {
        let scheme = try StoryTeller.wasteTransferNote.get()
        let text = #"{"wasteItems":[{"ewcCodes":["170904"],"quantity":"6.2 t","isEstimate":"yes"}],"sicCode":"41201"}"#
        let file = try ValuesFile(Array(text.utf8), scheme: scheme, role: try Derived.name("producer"))
        #expect(
            Self.changes(file) == [
                "wasteItems/1/ewcCodes=170904", "wasteItems/1/quantity=6.2 t", "wasteItems/1/isEstimate=yes",
                "sicCode=41201",
            ]
        )
        #expect(file.unused.isEmpty)
    }
}
