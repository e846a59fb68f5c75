import Schemes
import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// The schemes somebody knows, read when they are asked for.
@Suite("Scheme library")
struct SchemeLibraryTests {
    @Test(
        "names every shipped scheme as the engine reads it",
        arguments: (ShippedSchemes.earlier + ShippedSchemes.files)
    )
    func namesWhatShips(file: ShippedScheme) throws {
        let reference = try #require(file.reference)
        let read = try file.read().reference
        #expect(reference == read, "run script/embed-schemes; version \(read.version) has the hash \(read.hash)")
    }

    @Test("has every shipped scheme, in the same order")
    func hasWhatShips() throws {
        let read = try ShippedSchemes.read()
        #expect(ShippedSchemes.library.references == read.map(\.reference))
        #expect(ShippedSchemes.library.all().map(\.bytes) == read.map(\.bytes))
    }

    @Test("finds by reference, by the beginning of the hash, and the newest version")
    func finds() throws {
        let versions = try [2, 10, 1].map { try CourierParcel.scheme(version: $0) }
        let library = SchemeLibrary(versions)
        let id = try #require(Name(CourierParcel.id))
        for scheme in versions {
            let hash = scheme.reference.hash
            #expect(library.contains(scheme.reference))
            #expect(library.scheme(scheme.reference)?.bytes == scheme.bytes)
            #expect(library.scheme(prefix: hash.bytes.prefix(4))?.reference == scheme.reference)
            #expect(library.reference(of: hash) == scheme.reference)
            let other = SchemeReference(id: id, version: 3, hash: hash)
            #expect(library.scheme(other) == nil)
        }
        #expect(library.newest(id)?.reference.version == 10)
        #expect(library.newest(id) { $0.version < 10 }?.reference.version == 2)
        #expect(library.newest(id) { _ in false } == nil)
        #expect(library.newest(try #require(Name("other"))) == nil)
        #expect(library.scheme(prefix: [0, 1, 2, 3]) == nil)
        #expect(library.filter { $0.version == 2 }.references.map(\.version) == [2])
    }

    @Test("adds nothing twice, and of two with one version prefers the later")
    func adds() throws {
        let scheme = try CourierParcel.scheme(version: 1)
        let other = try Scheme(
            scheme: Array(CourierParcel.text(version: 1, title: "Other").utf8),
            codeLists: [("services", Array(CourierParcel.services(version: 1).utf8))]
        )
        var library = SchemeLibrary([scheme])
        library.add(scheme)
        library.add(scheme.reference, bytes: scheme.bytes)
        library.add(SchemeLibrary([scheme]))
        #expect(library.references == [scheme.reference])
        library.add(other)
        #expect(library.newest(scheme.reference.id)?.title == "Other")
    }

    @Test("does not know what cannot be read or is another than it says")
    func countsTheUnreadableAsUnknown() throws {
        let scheme = try CourierParcel.scheme(version: 1)
        let other = try CourierParcel.scheme(version: 2)
        var library = SchemeLibrary()
        library.add(scheme.reference, bytes: Array("{}".utf8))
        library.add(other.reference, bytes: scheme.bytes)
        for _ in 0..<2 {
            #expect(library.scheme(scheme.reference) == nil)
            #expect(library.scheme(other.reference) == nil)
            #expect(library.newest(scheme.reference.id) == nil)
            #expect(library.all().isEmpty)
        }
    }

    @Test("decides with what the library has")
    func servesDecisions() throws {
        let scheme = try CourierParcel.scheme(version: 1)
        let context = DecisionContext(stage: .final, schemes: SchemeLibrary([scheme])) { _ in .unchecked }
        #expect(context.scheme(scheme.reference)?.title == scheme.title)
        #expect(context.schemeByPrefix(Array(scheme.reference.hash.bytes.prefix(4)))?.title == scheme.title)
        #expect(context.scheme(try CourierParcel.scheme(version: 2).reference) == nil)
    }
}
