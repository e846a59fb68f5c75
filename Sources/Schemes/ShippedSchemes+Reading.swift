public import Tallystick

extension ShippedScheme {
    /// The scheme, read and checked by the engine.
    public func read() throws(SchemeError) -> Scheme {
        try Scheme(scheme: Array(scheme.utf8), codeLists: codes.map { ($0.list, Array($0.text.utf8)) })
    }
}

extension ShippedSchemes {
    /// Every shipped scheme with its earlier versions, read by the engine; a test holds that all can be.
    public static func read() throws(SchemeError) -> [Scheme] {
        try (earlier + files).map { (file) throws(SchemeError) in try file.read() }
    }
}
