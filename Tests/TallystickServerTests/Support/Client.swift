import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

@testable import TallystickServer

/// Asks a server's routes without a socket.
struct Client {
    let server: Server

    init(_ server: Server) {
        self.server = server
    }

    static func with(_ token: String?, _ request: HTTPRequest, body: [UInt8]? = nil) -> HTTPRequest {
        HTTPRequest(
            method: request.method,
            target: request.target,
            headers: token.map { ["Authorization": "Bearer \($0)"] } ?? [:],
            body: body ?? request.body
        )
    }

    func get(_ path: String, token: String? = nil, _ query: [(String, String)] = []) -> HTTPResponse {
        let parameters = query.map { HTTPTarget.Parameter(name: $0.0, value: $0.1) }
        let target = HTTPTarget(path: path.split(separator: "/").map(String.init), parameters: parameters)
        return server.respond(to: Client.with(token, HTTPRequest(method: "GET", target: target)))
    }

    func post(_ path: String, _ body: [UInt8], token: String? = nil) -> HTTPResponse {
        let target = HTTPTarget(path: path.split(separator: "/").map(String.init))
        return server.respond(to: Client.with(token, HTTPRequest(method: "POST", target: target, body: body)))
    }

    func post(_ path: String, _ members: [(String, String)]) throws -> HTTPResponse {
        post(path, try JSON.members(members.map { ($0.0, .string($0.1)) }).canonicalBytes())
    }

    /// The challenge a device is given.
    func challenge(for device: DeviceID) throws -> [UInt8] {
        let response = try post("v1/session", [("device", device.description)])
        return try #require(try Client.json(response)["challenge"]?.text.flatMap(Base64.decode))
    }

    /// Answers a challenge.
    func answer(_ challenge: [UInt8], as device: DeviceID, key: SigningKey) throws -> HTTPResponse {
        try post(
            "v1/session",
            [
                ("challenge", Base64.encode(challenge)), ("device", device.description),
                ("signature", Base64.encode(key.signature(for: challenge, domain: Sessions.domain))),
            ]
        )
    }

    /// The token of a new session.
    func token(of actor: StoryActor) throws -> String {
        let response = try answer(try challenge(for: actor.device), as: actor.device, key: actor.key)
        return try #require(try Client.json(response)["token"]?.text)
    }

    static func json(_ response: HTTPResponse) throws -> JSON { try JSON.parse(response.body) }

    /// The code of problem details; everything they must have is there.
    static func problem(_ response: HTTPResponse) -> String? {
        guard let json = try? json(response), let code = json["code"]?.text else { return nil }
        #expect(response.headers["Content-Type"] == "application/problem+json")
        #expect(json["type"]?.text == "urn:tallystick:problem:\(code)")
        #expect(json["status"]?.integer == response.status)
        #expect(json["title"]?.text?.isEmpty == false)
        #expect(json["detail"]?.text?.isEmpty == false)
        return code
    }
}
