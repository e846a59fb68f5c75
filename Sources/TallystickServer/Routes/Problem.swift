import Tallystick
import TallystickStore

/// An answer that says what went wrong, as problem details (RFC 9457).
struct Problem: Error {
    let status: Int
    let code: String
    let title: String
    let detail: String
    var headers: HTTPHeaders = [:]

    init(_ status: Int, _ code: String, _ title: String, _ detail: String) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
    }

    /// The request is not one that is understood.
    static func badRequest(_ detail: String) -> Problem {
        Problem(400, "bad-request", "Bad request", detail)
    }

    /// There is nothing here, or nothing for this party: the two cannot be told apart.
    static let notFound = Problem(404, "not-found", "Not found", "there is nothing here that you may see")

    /// The request needs a session.
    static var unauthorized: Problem {
        var problem = Problem(
            401,
            "session-needed",
            "Session needed",
            "expected the token of a session that has not expired; open one with POST /v1/session"
        )
        problem.headers = ["WWW-Authenticate": "Bearer"]
        return problem
    }

    /// What a failure of the store or the engine means to a client.
    init(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as ServerError: self.init(error)
        case let error as StoreError where error.code == .diskFull:
            self.init(503, "disk-full", "Disk full", "nothing was stored; keep it and try again later")
        case let error as StoreError where error.code == .busy:
            self.init(503, "busy", "Busy", "nothing was stored; try again")
        case is StoreError:
            self.init(503, "store-failed", "The store failed", "nothing was stored; try again later")
        default: self.init(500, "internal", "Internal error", "the server could not answer; it is not your doing")
        }
    }

    private init(_ error: ServerError) {
        switch error.code {
        case .invitationInvalid, .alreadyEnrolled:
            self.init(403, error.code.rawValue, "Refused", error.message)
        case .deviceRevoked:
            self.init(403, error.code.rawValue, "Device revoked", error.message)
        case .unknownDevice:
            self = .unauthorized
        case .badValue:
            self = .badRequest(error.message)
        default: self.init(500, "internal", "Internal error", "the server could not answer; it is not your doing")
        }
    }

    /// What happened, for those who run the server: nothing of it comes from an event, a token or a key.
    static func cause(of error: any Error) -> String {
        switch error {
        case let error as StoreError: "\(error.code.rawValue): \(error)"
        case let error as ServerError: "\(error.code.rawValue): \(error)"
        // Parsers say what they read, and that may be an event: of others only the kind is told.
        default: "\(type(of: error))"
        }
    }

    /// The response.
    var response: HTTPResponse {
        let json = JSON.members([
            ("code", .string(code)), ("detail", .string(detail)), ("status", .integer(status)),
            ("title", .string(title)), ("type", .string("urn:tallystick:problem:\(code)")),
        ])
        var headers = headers
        headers.add("Content-Type", "application/problem+json")
        headers.add("Cache-Control", "no-store")
        // Strings and an integer always have a spelling.
        return HTTPResponse(status: status, headers: headers, body: (try? json.canonicalBytes()) ?? [])
    }
}
