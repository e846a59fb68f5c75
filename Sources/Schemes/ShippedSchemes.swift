/// The files of one scheme that ships with the product, as they stand on disk.
public struct ShippedScheme: Sendable {
    /// The scheme's id, which is also its folder's name.
    public let id: String
    /// The text of `scheme.json`.
    public let scheme: String
    /// The texts of `codes/<list>.json`, in the order of the lists' names.
    public let codes: [(list: String, text: String)]
}

/// The schemes that ship with the product.
///
/// They are texts, not read schemes: the engine reads and checks them like any other.
public enum ShippedSchemes {
    /// Every shipped scheme, in the order of their ids.
    public static let files: [ShippedScheme] = [.ukWasteTransferNote]
}
