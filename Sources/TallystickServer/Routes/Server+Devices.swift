import Synchronization
import Tallystick
import TallystickCrypto

/// What devices do: enrol, open a session, push, pull, and read their party's chains.
extension Server {
    // MARK: Enrolment and sessions

    func enrol(_ body: JSON) throws -> JSON {
        guard let code = body["code"]?.text,
            let key = body["key"]?.text.flatMap(Base64.decode).flatMap({ PublicKey(bytes: $0) }),
            let proof = body["proof"]?.text.flatMap(Base64.decode)
        else { throw Problem.badRequest("expected “code”, “key” and “proof”") }
        let now = clock()
        let enrolment = try store.enrol(code: code, key: key, proof: proof, now: now)
        logEnrolment(of: enrolment.certificate)
        return .members([
            ("authority", .string(Base64.encode(store.authority.bytes))),
            ("certificate", try JSON.parse(enrolment.certificate.line)),
            ("epoch", .string(store.epoch)),
            ("handoffKey", .string(Base64.encode(enrolment.handoffKey.bytes))),
            ("now", .string(now.description)),
            ("origin", .string(store.origin)),
        ])
    }

    func session(_ body: JSON) throws -> JSON {
        guard let device = body["device"]?.text.flatMap(DeviceID.init(_:)) else {
            throw Problem.badRequest("expected “device” as 32 hexadecimal digits")
        }
        guard let known = try store.standing(of: device) else {
            throw Problem(401, "unknown-device", "Unknown device", "expected a device that has enrolled here")
        }
        let now = clock()
        guard let text = body["challenge"]?.text else {
            let challenge = store.random(32)
            sessions.withLock { $0.issue(challenge, to: device, now: now) }
            return .members([("challenge", .string(Base64.encode(challenge)))])
        }
        guard let challenge = Base64.decode(text), let signature = body["signature"]?.text.flatMap(Base64.decode) else {
            throw Problem.badRequest("expected “challenge” and “signature” in base64")
        }
        let isOpen = sessions.withLock { $0.redeem(challenge, by: device, now: now) }
        guard isOpen, known.certificate.key.isValid(signature, for: challenge, domain: Sessions.domain) else {
            throw Problem(
                401,
                "challenge-invalid",
                "Challenge invalid",
                "expected the device's signature of a challenge given to it a moment ago; ask for another"
            )
        }
        let token = Hex.encode(store.random(32))
        let end = sessions.withLock { $0.open(token, for: device, now: now) }
        if known.isRevoked { logRevocation(of: device) }
        return .members([
            ("expires", Timestamp(milliseconds: end).map { .string($0.description) }),
            // It may still push, so that what it has said is not lost.
            ("revoked", .boolean(known.isRevoked)), ("token", .string(token)),
        ])
    }

    /// The device whose token the request carries.
    private func device(_ request: HTTPRequest) throws(Problem) -> DeviceID {
        let scheme = "bearer "
        guard let header = request.header("Authorization"), header.utf8.count > scheme.utf8.count,
            header.utf8.prefix(scheme.utf8.count).elementsEqual(scheme.utf8, by: { $0 | 0x20 == $1 | 0x20 })
        else { throw .unauthorized }
        let token = String(decoding: Array(header.utf8.dropFirst(scheme.utf8.count)), as: UTF8.self)
        let now = clock()
        guard let device = sessions.withLock({ $0.device(of: token, now: now) }) else { throw .unauthorized }
        return device
    }

    /// The certificate of a device that may read: a revoked one may not, though what it pushes is still answered.
    func reader(_ request: HTTPRequest) throws -> Certificate {
        let device = try device(request)
        guard let known = try store.standing(of: device) else { throw Problem.unauthorized }
        guard !known.isRevoked else {
            logRevocation(of: device)
            throw ServerError(
                .deviceRevoked,
                "this device was revoked: it may not read any more; it may still push, and every event is kept and "
                    + "answered with a refusal"
            )
        }
        return known.certificate
    }

    // MARK: Events

    func push(_ request: HTTPRequest) throws -> HTTPResponse {
        let device = try device(request)
        let limits = store.limits
        guard request.body.count <= limits.pushBytes else {
            throw Problem(413, "too-large", "Too large", "expected at most \(limits.pushBytes) bytes in a push")
        }
        var lines = request.body.split(separator: 0x0A, omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        guard !lines.isEmpty else { throw Problem.badRequest("expected at least one line") }
        guard lines.count <= limits.pushEvents else {
            throw Problem(
                413,
                "too-many-events",
                "Too many events",
                "expected at most \(limits.pushEvents) lines in a push"
            )
        }
        let receipt = try store.ingest(lines, from: device, received: clock(), complain: logFailure)
        logRevocations()
        return answer(bytes: receipt, type: "application/json")
    }

    func pull(_ request: HTTPRequest) throws -> HTTPResponse {
        let party = try reader(request).party
        func number(_ name: String, otherwise value: Int) throws(Problem) -> Int {
            guard let text = request.query(name) else { return value }
            guard let number = Int(text), number >= 0, number <= 1 << 53 else {
                throw .badRequest("expected “\(name)” to be a number of 0 or more")
            }
            return number
        }
        let page = try store.pull(
            party: party,
            after: try number("after", otherwise: 0),
            limit: try number("limit", otherwise: store.limits.pushEvents),
            now: clock()
        )
        return answer(bytes: page, type: "application/json")
    }

    // MARK: Chains

    func chains(_ request: HTTPRequest) throws -> HTTPResponse {
        try allow("GET", for: request)
        let party = try reader(request).party
        guard let text = request.path.dropFirst(2).first else { return try answer(try store.chains(of: party)) }
        guard let chain = UniqueID(text) else { throw Problem.notFound }
        switch request.path.dropFirst(3).first {
        case nil:
            guard let json = try store.chain(chain, for: party) else { throw Problem.notFound }
            return try answer(json)
        case "record":
            guard let record = try store.record(of: chain, for: party, now: clock()) else { throw Problem.notFound }
            return answer(bytes: record, type: "application/jsonl")
        default: throw Problem.notFound
        }
    }
}
