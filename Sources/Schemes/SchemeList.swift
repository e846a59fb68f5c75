public import Tallystick
public import TallystickCrypto

/// The schemes that a server decides with, under its authority's signature.
///
/// Signed, since a device opens chains under what it names: somebody on the way could otherwise have it fetch rules
/// that the server never heard of.
public struct SchemeList: Sendable {
    /// The domain it is signed under.
    public static let domain = "tallystick/schemes/v1"
    /// The most schemes of a list.
    public static let most = 256

    /// The schemes, in the order the server came to know them.
    public let schemes: [SchemeReference]

    /// States a list.
    public init(_ schemes: [SchemeReference]) { self.schemes = schemes }

    /// Signs the list: `{"list":{"schemes":[…]},"signature":"…"}`.
    public func signed(by key: SigningKey) throws(EventError) -> [UInt8] {
        let json = JSON.members([("schemes", .array(schemes.map(\.json)))])
        return try SignedObject.line(json, named: "list", by: key, domain: SchemeList.domain)
    }

    /// Reads a list; nil where the line is none, is not signed by this key, or names too many.
    public init?(line: [UInt8], signedBy key: PublicKey) {
        guard let object = try? SignedObject(line: line, named: "list"),
            object.isSigned(by: key, domain: SchemeList.domain),
            let elements = object.value["schemes"]?.elements, elements.count <= SchemeList.most
        else { return nil }
        var schemes: [SchemeReference] = []
        for element in elements {
            guard let id = element["id"]?.text.flatMap(Name.init(_:)), let version = element["version"]?.integer,
                version > 0, let hash = element["hash"]?.text.flatMap(Digest.init(hex:))
            else { return nil }
            schemes.append(SchemeReference(id: id, version: version, hash: hash))
        }
        self.init(schemes)
    }
}

extension SchemeReference {
    /// The scheme as servers list it.
    public var json: JSON {
        .members([("hash", .string(hash.hex)), ("id", .string(id.text)), ("version", .integer(version))])
    }
}
