import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// Identifiers, names and paths: one spelling each.
@Suite struct IdentifierTests {
    @Test func readsAndWritesAUUIDOfVersion7() throws {
        // RFC 9562 appendix A.6.
        let text = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
        let id = try #require(UniqueID(text))
        #expect(id.description == text)
        #expect(id.milliseconds == 1_645_557_742_000)
        #expect(UniqueID(bytes: id.bytes) == id)
        let random: [UInt8] = [0xFC, 0xC3, 0x18, 0xC4, 0xDC, 0x0C, 0x0C, 0x07, 0x39, 0x8F]
        #expect(UniqueID(milliseconds: 1_645_557_742_000, random: random) == id)
    }

    @Test(arguments: [
        "", "017f22e279b07cc398c4dc0c0c07398f", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
        "017f22e2-79b0-4cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-18c4-dc0c0c07398f", "017f22e2-79b0-7cc3-c8c4-dc0c0c07398f",
        "{17f22e2-79b0-7cc3-98c4-dc0c0c07398}",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398", "017f22e2-79b0-7cc3-98c4-dc0c0c07398ff",
        "017f22e2_79b0-7cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-98c4-dc0c0c0739éf", "017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
    ])
    func refusesWhatIsNoIdentifier(text: String) {
        #expect(UniqueID(text) == nil)
    }

    @Test func refusesToMakeAnIdentifierOfTooMuch() {
        #expect(UniqueID(milliseconds: -1, random: [UInt8](repeating: 0, count: 10)) == nil)
        #expect(UniqueID(milliseconds: 1 << 48, random: [UInt8](repeating: 0, count: 10)) == nil)
        #expect(UniqueID(milliseconds: 0, random: [1, 2, 3]) == nil)
        #expect(UniqueID(milliseconds: (1 << 48) - 1, random: [UInt8](repeating: 255, count: 10)) != nil)
        #expect(UniqueID(bytes: []) == nil)
    }

    /// The last 62 bits are a hash of the device and the first 64, spelled out here once more.
    @Test func bindsAChainToTheDeviceThatOpensIt() throws {
        let device = DeviceID(try Derived.key("opener").publicKey)
        let id = try #require(UniqueID(openedBy: device, milliseconds: 1_645_557_742_000, random: [0xFC, 0xC3]))
        #expect(id.description.hasPrefix("017f22e2-79b0-7cc3-"))
        var low = Array(
            SHA256.hash(Array("tallystick/chain/v1\n".utf8) + device.bytes + id.bytes.prefix(8)).bytes.prefix(8)
        )
        low[0] = low[0] & 0x3F | 0x80
        #expect(Array(id.bytes.suffix(8)) == low)
        #expect(UniqueID(id.description) == id)
        #expect(id.isOpened(by: device))
        #expect(!id.isOpened(by: DeviceID(try Derived.key("squatter").publicKey)))
        for bit in 0..<128 {
            var bytes = id.bytes
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            // Version and variant are not free; every other bit counts.
            if let other = UniqueID(bytes: bytes) { #expect(!other.isOpened(by: device), "bit \(bit)") }
        }
    }

    @Test func refusesToBindAChainToTooMuch() {
        let device = DeviceID(SigningKey.generate().publicKey)
        #expect(UniqueID(openedBy: device, milliseconds: -1, random: [0, 0]) == nil)
        #expect(UniqueID(openedBy: device, milliseconds: 1 << 48, random: [0, 0]) == nil)
        #expect(UniqueID(openedBy: device, milliseconds: 0, random: [0]) == nil)
        #expect(UniqueID(openedBy: device, milliseconds: 0, random: [0, 0, 0]) == nil)
        #expect(UniqueID(openedBy: device, milliseconds: (1 << 48) - 1, random: [255, 255]) != nil)
    }

    @Test func readsWhatItWrites() throws {
        var random = Seed.generator()
        var last: UniqueID?
        for milliseconds in 0..<500 {
            let id = try #require(UniqueID(milliseconds: Int64(milliseconds), random: random.bytes(10)))
            #expect(UniqueID(id.description) == id, "\(Seed.note)")
            #expect(last.map { $0 < id } != false, "the order of making; \(Seed.note)")
            last = id
        }
    }

    @Test(arguments: ["a", "wasteItems", "EPR-1", "x_y.z", "0", String(repeating: "a", count: 64)])
    func takesNames(text: String) { #expect(Name(text)?.text == text) }

    @Test(arguments: ["", " ", "a b", "a/b", "é", "K\u{301}", "\u{212A}", "a\u{0}", String(repeating: "a", count: 65)])
    func refusesNames(text: String) { #expect(Name(text) == nil) }

    @Test(
        arguments: [
            ("sicCode", "sicCode", nil, nil), ("items/1/name", "name", "items", "1"), ("items/1", nil, "items", "1"),
            ("items/A-0/name", "name", "items", "A-0"), ("items/-/name", "name", "items", "-"),
            (
                "items/abcdefghijklmnopqrstuvwxyz012345", nil, "items", "abcdefghijklmnopqrstuvwxyz012345"
            ),
        ] as [(String, String?, String?, String?)]
    )
    func readsPaths(text: String, field: String?, list: String?, line: String?) throws {
        let path = try #require(FieldPath(text))
        #expect(path.description == text)
        #expect(path.field?.text == field)
        #expect(path.line?.list.text == list)
        #expect(path.line?.id.text == line)
    }

    @Test(arguments: [
        "", "/", "a/", "/a", "a//b", "a/b/c/d", "a/b/", "a b", "a/é/c", "a/1/n\u{0}",
        // A line's id has letters, digits and hyphens, and 32 of them at most.
        "items/1.5/name", "items/1_5/name", "items/.", "items/_", "items/abcdefghijklmnopqrstuvwxyz0123456/name",
        "items/abcdefghijklmnopqrstuvwxyz0123456",
    ])
    func refusesPaths(text: String) { #expect(FieldPath(text) == nil) }

    @Test func namesKeysByTheirHash() throws {
        let key = try Derived.key("somebody").publicKey
        let id = DeviceID(key)
        #expect(id.description == String(SHA256.hash(key.bytes).hex.prefix(32)))
        #expect(DeviceID(id.description) == id)
        #expect(DeviceID(id.description.uppercased()) == nil)
        #expect(DeviceID(String(id.description.dropLast())) == nil)
    }

    @Test func namesOffersByEightBytes() throws {
        let offer = try #require(OfferID("00ab12cd34ef5678"))
        #expect(offer.description == "00ab12cd34ef5678")
        #expect(offer.short == "00AB-12CD")
        #expect(OfferID(bytes: offer.bytes) == offer)
        #expect(OfferID("00AB12cd34ef5678") == nil)
        #expect(OfferID("00ab12cd34ef567") == nil)
    }
}

@Suite struct CertificateTests {
    private func draft(_ change: (inout Certificate.Draft) -> Void = { _ in }) throws -> Certificate.Draft {
        var draft = Certificate.Draft(
            key: try Derived.key("device").publicKey,
            notBefore: try Derived.moment("2026-11-30T00:00:00.000Z"),
            notAfter: try Derived.moment("2027-11-30T00:00:00.000Z"),
            party: try StoryTeller.party("Calder"),
            partyName: "Calder Haulage Ltd",
            person: "J. Smith",
            roles: [try Derived.name("producer"), try Derived.name("carrier"), try Derived.name("carrier")],
            serial: 7
        )
        change(&draft)
        return draft
    }

    @Test func readsWhatTheAuthorityWrites() throws {
        let authority = try Derived.key("authority")
        let made = try Certificate(try draft(), by: authority)
        let read = try Certificate(line: made.line)
        #expect(read.isSigned(by: authority.publicKey))
        #expect(!read.isSigned(by: try Derived.key("somebody").publicKey))
        #expect(read.device == DeviceID(read.key) && read.authority == DeviceID(authority.publicKey))
        #expect(read.roles.map(\.text) == ["carrier", "producer"])
        #expect(read.person == "J. Smith" && read.partyName == "Calder Haulage Ltd" && read.serial == 7)
        #expect(try Certificate(draft { $0.person = nil }, by: authority).person == nil)
    }

    @Test func isNotSignedOnceAnythingIsChanged() throws {
        let authority = try Derived.key("authority")
        let text = String(decoding: try Certificate(try draft(), by: authority).line, as: UTF8.self)
        for (old, new) in [("Calder", "Colder"), ("\"serial\":7", "\"serial\":8"), ("2027", "2037")] {
            let changed = try Certificate(line: Array(text.replacing(old, with: new).utf8))
            #expect(!changed.isSigned(by: authority.publicKey), "\(new)")
        }
    }

    @Test(arguments: [
        ("\"serial\":7", "\"serial\":0"), ("\"serial\":7", "\"serial\":\"7\""), ("\"J. Smith\"", "7"),
        ("\"J. Smith\"", "\"\""),
        ("[\"carrier\",\"producer\"]", "[]"), ("[\"carrier\",\"producer\"]", "[\"producer\",\"carrier\"]"),
        ("[\"carrier\",\"producer\"]", "[\"carrier\",\"carrier\"]"), ("[\"carrier\",\"producer\"]", "\"carrier\""),
        ("Calder Haulage Ltd", ""), ("\"party\":", "\"pardy\":"), ("2026-11-30T00:00:00.000Z", "2026-11-30"),
        ("\"device\":\"", "\"device\":\"0"), ("\"key\":\"", "\"key\":\"AA"), ("{\"certificate\"", "{\"certificat\""),
        ("\"signature\":\"", "\"signature\":\"AAAA"), ("{\"certificate\"", "{ \"certificate\""),
    ])
    func refusesToRead(old: String, new: String) throws {
        let line = try Certificate(try draft(), by: try Derived.key("authority")).line
        let text = String(decoding: line, as: UTF8.self)
        #expect(text.contains(old))
        #expect(throws: EventError.self) { try Certificate(line: Array(text.replacing(old, with: new).utf8)) }
    }

    @Test func refusesAKeyThatTheDeviceIsNotNamedBy() throws {
        let line = try Certificate(try draft(), by: try Derived.key("authority")).line
        let mine = Base64.encode(try Derived.key("device").publicKey.bytes)
        let other = Base64.encode(try Derived.key("other").publicKey.bytes)
        let text = String(decoding: line, as: UTF8.self).replacing(mine, with: other)
        #expect(throws: EventError.self) { try Certificate(line: Array(text.utf8)) }
    }

    @Test func boundsNames() throws {
        let authority = try Derived.key("authority")
        let long = String(repeating: "x", count: 200)
        #expect(try Certificate(draft { $0.partyName = long }, by: authority).partyName == long)
        #expect(throws: EventError.self) { try Certificate(draft { $0.partyName = long + "x" }, by: authority) }
        #expect(throws: EventError.self) { try Certificate(draft { $0.person = long + "x" }, by: authority) }
    }
}
