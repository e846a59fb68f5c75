package import Schemes
package import Tallystick
package import TallystickCrypto
import TallystickStore

extension Device {
    /// The domain under which a device proves that it has the key it wants certified.
    package static let enrolmentDomain = "tallystick/enrol/v1"

    /// Makes a device in a new or empty folder with an invitation, or goes on where that was broken off.
    ///
    /// The key is on the disk before the server hears of it, so a lost answer costs nothing: the same code with the
    /// same key is answered again.
    ///
    /// - Parameters:
    ///   - home: The folder; made, for its owner alone, where there is none.
    ///   - server: The server's address, kept for `sync`.
    ///   - code: The invitation's code.
    ///   - authority: The authority's key, where it is known beforehand; nil takes the one the server gives.
    /// - Throws: ``DeviceError``: `invitation-invalid`, `already-enrolled`, `server-unreachable`, `server-refused`,
    ///   `server-misbehaved`, and those of opening a home.
    package static func enrol(
        home: DeviceHome,
        server: String,
        code: String,
        authority expected: PublicKey? = nil,
        transport: Transport,
        schemes: SchemeLibrary,
        clock: @escaping () -> Timestamp,
        random: @escaping (Int) -> [UInt8]
    ) throws -> Device {
        let (identity, database) = try home.prepare(random: random)
        let proof = identity.key.signature(for: Array(code.utf8), domain: enrolmentDomain)
        let body = JSON.members([
            ("code", .string(code)), ("key", .string(Base64.encode(identity.key.publicKey.bytes))),
            ("proof", .string(Base64.encode(proof))),
        ])
        let request = HTTPRequestValue(
            method: "POST",
            path: "/v1/enrol",
            headers: [("Content-Type", "application/json")],
            body: try bytes(of: body)
        )
        let response = try transport.send(request)
        guard response.status == 201 || response.status == 200 else { throw enrolmentRefused(response) }
        let answer = try EnrolmentAnswer(response.body, for: identity.key.publicKey)
        if let expected, answer.authority != expected {
            throw DeviceError.misbehaved("the server's authority is not the one that was expected")
        }
        let received = clock()
        try atHome(home.path) {
            try database.transaction {
                try store(answer.certificate, in: database)
                try database.run(
                    "UPDATE meta SET device = ?, handoff_key = ?",
                    answer.certificate.device.description,
                    answer.handoffKey.bytes
                )
                try database.run(
                    """
                    INSERT OR IGNORE INTO sync (only, server, authority, origin, epoch, skew_ms) VALUES (1, ?, ?, ?, ?, ?)
                    """,
                    server,
                    answer.authority.bytes,
                    answer.origin,
                    answer.epoch,
                    answer.now.milliseconds - received.milliseconds
                )
            }
        }
        return try Device(
            home: home,
            identity: identity,
            database: database,
            schemes: schemes,
            clock: clock,
            random: random
        )
    }

    private static func enrolmentRefused(_ response: HTTPResponseValue) -> DeviceError {
        let problem = Problem(response)
        switch response.status {
        case 403:
            return DeviceError(
                .invitationInvalid,
                "expected a valid invitation: \(problem.text)",
                remedy: "check the code; if it was used or has ended, ask for a new one"
            )
        case 429, 500...:
            return .unreachable("the server could not enrol the device now: \(problem.text)")
        case 400..<500:
            return DeviceError(
                .serverRefused,
                "the server did not take the enrolment: \(problem.text)",
                remedy: "check the server's address and the code, then try again"
            )
        default:
            return .misbehaved("expected the answer to an enrolment, got status \(response.status)")
        }
    }

    static func bytes(of json: JSON) throws -> [UInt8] {
        do {
            return try json.canonicalBytes()
        } catch {
            throw DeviceError(
                .badInput,
                "expected text that can be sent: \(error.message)",
                remedy: "correct the input"
            )
        }
    }

    static func store(_ certificate: Certificate, in database: Database) throws {
        try database.run(
            """
            INSERT OR IGNORE INTO certificates (hash, device, party, party_name, serial, line)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            SHA256.hash(certificate.line).hex,
            certificate.device.description,
            certificate.party.description,
            certificate.partyName,
            certificate.serial,
            certificate.line
        )
    }
}

/// What the server gives a new device.
private struct EnrolmentAnswer {
    let authority: PublicKey
    let certificate: Certificate
    let epoch: String
    let handoffKey: HandoffKey
    let now: Timestamp
    let origin: String

    init(_ body: [UInt8], for key: PublicKey) throws {
        do {
            let json = try JSON.parse(body)
            guard let authority = json["authority"]?.text.flatMap(Base64.decode).flatMap({ PublicKey(bytes: $0) }),
                let certificate = json["certificate"], let epoch = json["epoch"]?.text, !epoch.isEmpty,
                let handoffKey = json["handoffKey"]?.text.flatMap(Base64.decode),
                let now = json["now"]?.text.flatMap(Timestamp.init), let origin = json["origin"]?.text
            else { throw DeviceError.misbehaved("expected the answer to an enrolment, got another JSON object") }
            self.authority = authority
            self.certificate = try Certificate(line: try certificate.canonicalBytes())
            self.epoch = epoch
            self.handoffKey = try HandoffKey(bytes: handoffKey)
            self.now = now
            self.origin = origin
        } catch let error as DeviceError {
            throw error
        } catch {
            throw DeviceError.misbehaved("expected the answer to an enrolment: \(error)")
        }
        guard certificate.isSigned(by: authority), certificate.key == key else {
            throw DeviceError.misbehaved(
                "expected a certificate for this device's key, signed by the server's authority"
            )
        }
    }
}

/// What an error answer says (RFC 9457), or its status where it says nothing that can be read.
struct Problem {
    let code: String?
    let text: String

    init(_ response: HTTPResponseValue) {
        let json = response.body.count <= 65_536 ? try? JSON.parse(response.body) : nil
        let words = [json?["title"]?.text, json?["detail"]?.text].compactMap { $0.map { String($0.prefix(500)) } }
        code = json?["code"]?.text.map { String($0.prefix(64)) }
        text = words.isEmpty ? "status \(response.status)" : "\(words.joined(separator: ": ")) (\(response.status))"
    }
}
