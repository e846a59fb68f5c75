public import Tallystick
import TallystickCrypto

extension ShippedScheme {
    /// The scheme's name, version and hash, as they were written beside its text; a test holds that they are right.
    public var reference: SchemeReference? {
        guard let id = Name(id), let hash = Digest(hex: hash) else { return nil }
        return SchemeReference(id: id, version: version, hash: hash)
    }

    /// The scheme, read and checked by the engine.
    public func read() throws(SchemeError) -> Scheme {
        try Scheme(scheme: Array(scheme.utf8), codeLists: codes.map { ($0.list, Array($0.text.utf8)) })
    }
}

extension ShippedSchemes {
    /// Every shipped scheme with its earlier versions, each read when it is first asked for.
    public static let library: SchemeLibrary = {
        var library = SchemeLibrary()
        for file in earlier + files { library.add(file) }
        return library
    }()

    /// Every shipped scheme with its earlier versions, read by the engine; a test holds that all can be.
    public static func read() throws(SchemeError) -> [Scheme] {
        try (earlier + files).map { (file) throws(SchemeError) in try file.read() }
    }
}
