/// The files of one scheme that ships with the product, as they stand on disk.
public struct ShippedScheme: Sendable {
    /// The scheme's id, which is also its folder's name.
    public let id: String
    /// The scheme's version.
    public let version: Int
    /// The scheme's hash in hexadecimal digits.
    public let hash: String
    /// The text of `scheme.json`.
    public let scheme: String
    /// The texts of `codes/<list>.json`, in the order of the lists' names.
    public let codes: [(list: String, text: String)]

    /// The text of one of its code lists, for another scheme that has the very same; empty where there is none, which
    /// no hash of a scheme survives.
    func text(ofList list: String) -> String { codes.first { $0.list == list }?.text ?? "" }

    /// An earlier version of the scheme: its own text, and the lists that were different then.
    func earlier(
        version: Int,
        hash: String,
        scheme: String,
        changed: [(list: String, text: String)]
    ) -> ShippedScheme {
        ShippedScheme(
            id: id,
            version: version,
            hash: hash,
            scheme: scheme,
            codes: codes.map { current in changed.first { $0.list == current.list } ?? current }
        )
    }
}

/// The schemes that ship with the product.
///
/// They are texts, not read schemes: the engine reads and checks them like any other.
public enum ShippedSchemes {
    /// The newest version of every shipped scheme, in the order of their ids.
    public static let files: [ShippedScheme] = [
        .evidenceItem, .laboratorySample, .ukHazardousConsignmentNote, .ukWasteTransferNote, .usHazardousWasteManifest,
    ]

    /// The earlier versions: chains that were opened with one keep it for good.
    public static let earlier: [ShippedScheme] = [.ukWasteTransferNote1]
}
