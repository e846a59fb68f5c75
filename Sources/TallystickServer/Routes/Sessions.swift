import Tallystick
import TallystickCrypto

/// The challenges and tokens that are out, in memory: a state machine that is told the time and given randomness.
///
/// A token opens the door only; what an event is worth, its signature says.
struct Sessions: Sendable {
    /// What a device signs a challenge under.
    static let domain = "tallystick/session/v1"
    /// For how long a challenge can be answered.
    static let challengeLife: Int64 = 60_000
    /// For how long a token opens the door.
    static let tokenLife: Int64 = 3_600_000

    private let mostChallenges: Int
    private let mostTokens: Int
    private var challenges: [[UInt8]: Challenge] = [:]
    /// By SHA-256 of the token: the table holds nothing that opens the door.
    private var tokens: [Digest: Token] = [:]

    private struct Challenge {
        let device: DeviceID
        let expires: Int64
    }

    private struct Token {
        let device: DeviceID
        let expires: Int64
    }

    /// Begins without sessions.
    init(mostChallenges: Int = 10_000, mostTokens: Int = 100_000) {
        self.mostChallenges = mostChallenges
        self.mostTokens = mostTokens
    }

    /// Keeps a challenge of 32 random bytes for a device.
    ///
    /// Where there are too many, those that end first make room.
    mutating func issue(_ bytes: [UInt8], to device: DeviceID, now: Timestamp) {
        if challenges.count >= mostChallenges {
            challenges = challenges.filter { $0.value.expires > now.milliseconds }
        }
        if challenges.count >= mostChallenges {
            let oldest = challenges.sorted { $0.value.expires < $1.value.expires }.prefix(mostChallenges / 4 + 1)
            for (bytes, _) in oldest { challenges[bytes] = nil }
        }
        challenges[bytes] = Challenge(device: device, expires: now.milliseconds + Sessions.challengeLife)
    }

    /// Takes a challenge back, once: true if it was given to this device and has not ended.
    mutating func redeem(_ bytes: [UInt8], by device: DeviceID, now: Timestamp) -> Bool {
        guard let challenge = challenges.removeValue(forKey: bytes) else { return false }
        return challenge.device == device && now.milliseconds < challenge.expires
    }

    /// Opens a session under a token, and says when it ends.
    mutating func open(_ token: String, for device: DeviceID, now: Timestamp) -> Int64 {
        if tokens.count >= mostTokens {
            tokens = tokens.filter { $0.value.expires > now.milliseconds }
        }
        if tokens.count >= mostTokens {
            let oldest = tokens.sorted { $0.value.expires < $1.value.expires }.prefix(mostTokens / 4 + 1)
            for (name, _) in oldest { tokens[name] = nil }
        }
        let expires = now.milliseconds + Sessions.tokenLife
        tokens[SHA256.hash(Array(token.utf8))] = Token(device: device, expires: expires)
        return expires
    }

    /// The device whose session this token is of; nil if there is none or it has ended.
    mutating func device(of token: String, now: Timestamp) -> DeviceID? {
        let name = SHA256.hash(Array(token.utf8))
        guard let found = tokens[name] else { return nil }
        guard now.milliseconds < found.expires else {
            tokens[name] = nil
            return nil
        }
        return found.device
    }
}
