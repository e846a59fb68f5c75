import Synchronization
import Tallystick
import TallystickCrypto

/// The server's secrets: the authority's signing key, and what the devices' handoff keys are derived from.
///
/// They stand in a file of their own beside the database, for its owner only, so that a copy of the database alone
/// lets nobody certify devices or make offers.
struct ServerKeys: Sendable {
    /// Certifies devices, and signs receipts, pages and records.
    let authority: SigningKey
    private let secret: [UInt8]
    private let handoffKeys = HandoffKeyCache()

    private static let length = 64

    /// Where the keys of this database stand.
    static func path(for database: String) -> String { database + ".keys" }

    /// Makes keys of 64 random bytes and keeps them in a new file.
    static func create(at path: String, random: [UInt8]) throws -> ServerKeys {
        let keys = try ServerKeys(random)
        try KeyFile.create(random, at: path)
        return keys
    }

    /// Reads the file; throws `CryptoError` where others can read it too.
    init(readFrom path: String) throws {
        try self.init(try KeyFile.read(path, limit: ServerKeys.length))
    }

    private init(_ bytes: [UInt8]) throws {
        guard bytes.count == ServerKeys.length else {
            throw ServerError(.wrongKeys, "expected \(ServerKeys.length) bytes of keys, got \(bytes.count)")
        }
        authority = try SigningKey(seed: Array(bytes.prefix(32)))
        secret = Array(bytes.suffix(32))
    }

    /// The key a device makes the MACs of its offers with.
    func handoffKey(of device: DeviceID) throws(CryptoError) -> HandoffKey {
        if let key = handoffKeys.known.withLock({ $0[device] }) { return key }
        let key = try HandoffKey(serverSecret: secret, device: device, number: 1)
        handoffKeys.known.withLock { known in
            if known.count >= 10_000 { known.removeAll() }
            known[device] = key
        }
        return key
    }

    /// Makes a MAC again and compares it in constant time.
    func answer(_ question: DecisionContext.MACQuestion) -> HandoffFinding.MACResult {
        // Deriving fails only where OpenSSL does: then nothing was checked, and the entry says so.
        guard let key = try? handoffKey(of: question.giver) else { return .unchecked }
        guard key.id == question.statement.key else { return .mismatched }
        let isValid = HMACSHA256.isValid(question.mac, for: question.statement.signedBytes, key: key.secret)
        return isValid ? .matched : .mismatched
    }
}

/// The handoff keys derived lately, so that a busy giver's is not derived for every offer.
private final class HandoffKeyCache: Sendable {
    let known = Mutex<[DeviceID: HandoffKey]>([:])
}
