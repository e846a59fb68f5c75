package import Tallystick
import TallystickCrypto

extension Device {
    /// Asks the server for a chain's record.
    ///
    /// - Throws: ``DeviceError``: `server-unreachable`, `server-refused`, `server-misbehaved`, `chain-unknown` where
    ///   the server has no such chain for this party.
    package func record(of chain: UniqueID, _ transport: Transport) throws -> [UInt8] {
        let token = try openSession(transport)
        let answer = try transport.send(
            HTTPRequestValue(
                method: "GET",
                path: "/v1/chains/\(chain)/record",
                headers: [("Authorization", "Bearer \(token)")],
                body: nil
            )
        )
        switch answer.status {
        case 200: return answer.body
        case 404:
            throw DeviceError(
                .chainUnknown,
                "the server has no chain \(chain) in which this party takes part",
                remedy: "sync first: the server knows of a chain what devices have sent"
            )
        default: throw refusal(of: answer)
        }
    }

    /// Opens a session and gives its token.
    func openSession(_ transport: Transport) throws -> String {
        let challenge = try ask(
            transport,
            "/v1/session",
            .members([("device", .string(id.description))]),
            for: "challenge"
        )
        guard let bytes = Base64.decode(challenge) else {
            throw DeviceError.misbehaved("expected a challenge in base64")
        }
        return try ask(
            transport,
            "/v1/session",
            .members([
                ("challenge", .string(challenge)), ("device", .string(id.description)),
                (
                    "signature",
                    .string(Base64.encode(key.signature(for: bytes, domain: SyncSession.sessionDomain)))
                ),
            ]),
            for: "token"
        )
    }

    private func ask(_ transport: Transport, _ path: String, _ json: JSON, for member: String) throws -> String {
        let answer = try transport.send(
            HTTPRequestValue(
                method: "POST",
                path: path,
                headers: [("Content-Type", "application/json")],
                body: try Device.bytes(of: json)
            )
        )
        guard answer.status == 200 || answer.status == 201 else { throw refusal(of: answer) }
        guard let text = (try? JSON.parse(answer.body))?[member]?.text else {
            throw DeviceError.misbehaved("expected an answer with a “\(member)”")
        }
        return text
    }

    private func refusal(of answer: HTTPResponseValue) -> DeviceError {
        let problem = try? JSON.parse(answer.body)
        let detail = problem?["detail"]?.text ?? problem?["title"]?.text ?? "it gave no reason"
        if answer.status >= 500 || answer.status == 429 {
            return DeviceError(
                .serverUnreachable,
                "the server could not answer (status \(answer.status)): \(detail)",
                remedy: "try again later"
            )
        }
        return DeviceError(
            .serverRefused,
            "the server refused (status \(answer.status)): \(detail)",
            remedy: "check with the server's operator that this device is in good standing"
        )
    }
}
