package import Tallystick
package import TallystickCrypto

/// Keys, identifiers and random bytes made of names, the same in every run.
package enum Derived {
    /// As many bytes as asked for: SHA-256 of `tallystick/test`, the name and a block number, joined by line feeds.
    package static func bytes(_ name: String, count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var block = 0
        while bytes.count < count {
            bytes.append(contentsOf: SHA256.hash(Array("tallystick/test\n\(name)\n\(block)".utf8)).bytes)
            block += 1
        }
        return Array(bytes.prefix(count))
    }

    /// The signing key of a name.
    package static func key(_ name: String) throws(CryptoError) -> SigningKey {
        try SigningKey(seed: bytes("key/\(name)", count: 32))
    }

    /// The identifier of a name at a moment.
    package static func id(_ name: String, at moment: Timestamp) throws(StoryError) -> UniqueID {
        let random = bytes("id/\(name)", count: 10)
        guard let id = UniqueID(milliseconds: moment.milliseconds, random: random) else {
            throw StoryError("expected a moment that fits an identifier, got \(moment)")
        }
        return id
    }

    /// The identifier of a chain that a key's device opens, made of a name and a moment.
    package static func chain(
        _ name: String,
        openedBy key: SigningKey,
        at moment: Timestamp
    ) throws(StoryError) -> UniqueID {
        let chain = UniqueID(
            openedBy: DeviceID(key.publicKey),
            milliseconds: moment.milliseconds,
            random: bytes("id/\(name)", count: 2)
        )
        guard let chain else { throw StoryError("expected a moment that fits an identifier, got \(moment)") }
        return chain
    }

    /// The offer of a name.
    package static func offer(_ name: String) throws(StoryError) -> OfferID {
        guard let id = OfferID(bytes: bytes("offer/\(name)", count: 8)) else {
            throw StoryError("expected eight bytes to make an offer's name")
        }
        return id
    }

    /// A moment from its text.
    package static func moment(_ text: String) throws(StoryError) -> Timestamp {
        guard let moment = Timestamp(text) else { throw StoryError("expected a moment, got “\(text)”") }
        return moment
    }

    /// A name from its text.
    package static func name(_ text: String) throws(StoryError) -> Name {
        guard let name = Name(text) else { throw StoryError("expected a name, got “\(text)”") }
        return name
    }
}

/// Why a story could not be told: a mistake of the test that tells it.
package struct StoryError: Error, Equatable, CustomStringConvertible {
    /// What was expected and what came.
    package let description: String

    /// States the mistake.
    package init(_ description: String) { self.description = description }
}

/// The actor's own device does not let the actor say it.
package struct StoryRefusal: Error, CustomStringConvertible {
    /// The device's reasons.
    package let reasons: [Reason]

    /// The reasons' codes.
    package var description: String {
        "the device refuses: "
            + reasons.map { "\($0.code) \($0.subject ?? "") \($0.detail ?? "")" }.joined(separator: "; ")
    }
}
