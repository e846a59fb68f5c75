import Tallystick
import TallystickCrypto

/// One synchronisation as a state machine: it says what to do next, and is told what came of it.
///
/// It opens a session, pushes what is in the outbox, then pulls until there is no more. It reads no clock and no file:
/// the driver sends requests, loads batches and saves what was verified here. Whatever the server says counts only
/// under the authority's signature.
struct SyncSession {
    /// The most events in a push.
    static let mostEvents = 500
    /// The most bytes in a push.
    static let mostBytes = 1 << 20
    /// The most items asked for in a page.
    static let pageItems = 500
    /// The domain under which a device answers a challenge.
    static let sessionDomain = "tallystick/session/v1"

    /// A line of the outbox.
    struct Line: Sendable, Equatable {
        let event: Digest
        let chain: UniqueID
        let bytes: [UInt8]
    }

    /// What the driver does next.
    enum Action {
        /// Send it, and hand the answer to ``receive(_:)``.
        case send(HTTPRequestValue)
        /// Load what is next in the outbox, and hand it to ``push(_:)``.
        case loadBatch
        /// Save the verdicts on these lines, then call ``saved()``.
        case saveReceipt(PushReceipt, [Line])
        /// Save the page, then call ``saved()``.
        case savePage(PullPage)
        /// The server's database is another one: forget its verdicts, offer everything again, then call ``saved()``.
        case startOver(epoch: String)
        /// Keep this line back, since the server does not take it alone, then call ``saved()``.
        case park(Line, DeviceError)
        /// Everything is done.
        case finish
        /// Stop, and try these lines again later: all of the outbox where there are none.
        case stop(DeviceError, retryAfter: Int?, [Line])
    }

    private enum Stage {
        case idle, challenging, answering(challenge: String), loading
        case pushing([Line])
        case pulling
        case savingReceipt, savingPage(PullPage), parking, startingOver(PushReceipt?, [Line])
        case done
    }

    /// The token in use; the driver may keep it for the next synchronisation.
    private(set) var token: String?
    private let device: DeviceID
    private let key: SigningKey
    private let authority: PublicKey
    private var epoch: String
    private var cursor: Int
    private var keys: [DeviceID: PublicKey]
    private var stage = Stage.idle
    /// Batches that wait for their turn, each to be sent in one piece.
    private var queue: [[Line]] = []
    private var mayRenew = true
    private var hasChangedEpoch = false
    /// What to go on with once there is a new token.
    private var resume: Stage?

    /// Begins where the last synchronisation ended.
    ///
    /// - Parameter keys: The keys of the devices whose certificates are known here.
    init(
        device: DeviceID,
        key: SigningKey,
        authority: PublicKey,
        epoch: String,
        cursor: Int,
        keys: [DeviceID: PublicKey],
        token: String?
    ) {
        self.device = device
        self.key = key
        self.authority = authority
        self.epoch = epoch
        self.cursor = cursor
        self.keys = keys
        self.token = token
    }

    /// The first thing to do.
    mutating func start() -> Action {
        guard token == nil else {
            stage = .loading
            return .loadBatch
        }
        return challenge()
    }

    /// What to do with lines of the outbox; none means that nothing is left to push.
    mutating func push(_ lines: [Line]) -> Action {
        guard case .loading = stage else { return stop(.misuse) }
        queue = SyncSession.batches(of: lines)
        return nextBatch()
    }

    /// What to do once the driver has saved what it was asked to.
    mutating func saved() -> Action {
        switch stage {
        case .savingReceipt, .parking: return nextBatch()
        case .savingPage(let page):
            cursor = page.next
            if page.hasMore { return pull() }
            stage = .done
            return .finish
        case .startingOver(let receipt, let lines):
            queue = []
            if let receipt {
                stage = .savingReceipt
                return .saveReceipt(receipt, lines)
            }
            stage = .loading
            return .loadBatch
        default: return stop(.misuse)
        }
    }

    /// What to do with an answer to the request sent last.
    mutating func receive(_ response: HTTPResponseValue) -> Action {
        switch stage {
        case .challenging: receiveChallenge(response)
        case .answering: receiveToken(response)
        case .pushing(let lines): receiveReceipt(response, for: lines)
        case .pulling: receivePage(response)
        default: stop(.misuse)
        }
    }

    /// What to do where no answer came.
    mutating func failed(_ error: DeviceError) -> Action {
        stop(error)
    }

    // MARK: The session

    private mutating func challenge() -> Action {
        stage = .challenging
        return post("/v1/session", .members([("device", .string(device.description))]))
    }

    private mutating func receiveChallenge(_ response: HTTPResponseValue) -> Action {
        guard response.status == 200 else { return refusedSession(response) }
        guard let json = json(response), let challenge = json["challenge"]?.text,
            let bytes = Base64.decode(challenge), bytes.count == 32
        else { return stop(.misbehaved("expected a challenge of 32 bytes")) }
        stage = .answering(challenge: challenge)
        let signature = key.signature(for: bytes, domain: SyncSession.sessionDomain)
        return post(
            "/v1/session",
            .members([
                ("challenge", .string(challenge)), ("device", .string(device.description)),
                ("signature", .string(Base64.encode(signature))),
            ])
        )
    }

    private mutating func receiveToken(_ response: HTTPResponseValue) -> Action {
        guard response.status == 200 else { return refusedSession(response) }
        guard let token = json(response)?["token"]?.text, !token.isEmpty, token.utf8.count <= 4_096,
            token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return stop(.misbehaved("expected a token")) }
        self.token = token
        switch resume {
        case .pushing(let lines):
            resume = nil
            return send(lines)
        case .pulling:
            resume = nil
            return pull()
        default:
            stage = .loading
            return .loadBatch
        }
    }

    private mutating func refusedSession(_ response: HTTPResponseValue) -> Action {
        stop(
            SyncSession.failure(response, "a session"),
            retryAfter: SyncSession.retryAfter(response)
        )
    }

    /// A token that has ended is renewed once; after a request that went well, once more.
    private mutating func renew() -> Action {
        guard mayRenew else {
            token = nil
            return stop(
                DeviceError(
                    .serverRefused,
                    "expected the new session to be valid, but the server refuses its token",
                    remedy: "the work is saved and will be sent later; if this goes on, tell whoever runs the server"
                )
            )
        }
        mayRenew = false
        token = nil
        resume = stage
        return challenge()
    }

    // MARK: Push

    private mutating func nextBatch() -> Action {
        guard !queue.isEmpty else {
            // An empty answer to `loadBatch` ends the pushing; after batches, the outbox may hold more.
            if case .loading = stage { return pull() }
            stage = .loading
            return .loadBatch
        }
        return send(queue.removeFirst())
    }

    private mutating func send(_ lines: [Line]) -> Action {
        stage = .pushing(lines)
        var body: [UInt8] = []
        for line in lines { body += line.bytes + [0x0A] }
        let request = HTTPRequestValue(
            method: "POST",
            path: "/v1/events",
            headers: [("Authorization", "Bearer \(token ?? "")"), ("Content-Type", "application/jsonl")],
            body: body
        )
        return .send(request)
    }

    private mutating func receiveReceipt(_ response: HTTPResponseValue, for lines: [Line]) -> Action {
        switch response.status {
        case 200: break
        case 401: return renew()
        case 400, 413, 422: return divide(lines, response)
        default:
            return stop(
                SyncSession.failure(response, "the events"),
                retryAfter: SyncSession.retryAfter(response),
                lines
            )
        }
        let receipt: PushReceipt
        do throws(EventError) {
            receipt = try PushReceipt(line: trimmed(response.body), signedBy: authority)
        } catch {
            return stop(.misbehaved("expected a receipt: \(error.message)"), lines)
        }
        guard receipt.device == device, receipt.results.count == lines.count,
            zip(receipt.results, lines).allSatisfy(SyncSession.answers)
        else { return stop(.misbehaved("expected a receipt for the lines that were sent, got another"), lines) }
        mayRenew = true
        guard sameBytes(receipt.epoch, epoch) else { return startOver(receipt.epoch, receipt, lines) }
        stage = .savingReceipt
        return .saveReceipt(receipt, lines)
    }

    /// What the server does not take as a whole is halved, until one line alone is kept back.
    private mutating func divide(_ lines: [Line], _ response: HTTPResponseValue) -> Action {
        guard lines.count > 1 else {
            guard let line = lines.first else { return stop(.misuse) }
            let problem = Problem(response).text
            let error =
                response.status == 413
                ? DeviceError(
                    .tooLarge,
                    "the event alone is larger than the server takes: \(problem)",
                    remedy: "say it in shorter parts; whatever else there is goes on"
                )
                : DeviceError(
                    .serverRefused,
                    "the server does not take this event: \(problem)",
                    remedy: "tell whoever runs the server; whatever else there is goes on"
                )
            // What follows in the same chain would only wait for it.
            queue = queue.map { $0.filter { $0.chain != line.chain } }.filter { !$0.isEmpty }
            stage = .parking
            return .park(line, error)
        }
        let middle = lines.count / 2
        queue.insert(Array(lines[middle...]), at: 0)
        return send(Array(lines[..<middle]))
    }

    // MARK: Pull

    private mutating func pull() -> Action {
        stage = .pulling
        return .send(
            HTTPRequestValue(
                method: "GET",
                path: "/v1/events?after=\(cursor)&limit=\(SyncSession.pageItems)",
                headers: [("Authorization", "Bearer \(token ?? "")")]
            )
        )
    }

    private mutating func receivePage(_ response: HTTPResponseValue) -> Action {
        switch response.status {
        case 200: break
        case 401: return renew()
        default:
            return stop(
                SyncSession.failure(response, "a page of the feed"),
                retryAfter: SyncSession.retryAfter(response)
            )
        }
        let page: PullPage
        do throws(EventError) {
            page = try PullPage(line: trimmed(response.body), signedBy: authority)
        } catch {
            return stop(.misbehaved("expected a page of the feed: \(error.message)"))
        }
        mayRenew = true
        guard sameBytes(page.epoch, epoch) else { return startOver(page.epoch, nil, []) }
        if let fault = SyncSession.fault(of: page, after: cursor, keys: keys, authority: authority) {
            return stop(.misbehaved(fault))
        }
        for certificate in page.certificates { keys[certificate.device] = certificate.key }
        stage = .savingPage(page)
        return .savePage(page)
    }

    private mutating func startOver(_ new: String, _ receipt: PushReceipt?, _ lines: [Line]) -> Action {
        guard !hasChangedEpoch, !new.isEmpty, new.utf8.count <= 256 else {
            return stop(.misbehaved("expected one database behind the server, got several"), lines)
        }
        hasChangedEpoch = true
        epoch = new
        cursor = 0
        stage = .startingOver(receipt, lines)
        return .startOver(epoch: new)
    }

    // MARK: Answers

    private mutating func post(_ path: String, _ json: JSON) -> Action {
        do throws(JSONError) {
            let body = try json.canonicalBytes()
            return .send(
                HTTPRequestValue(
                    method: "POST",
                    path: path,
                    headers: [("Content-Type", "application/json")],
                    body: body
                )
            )
        } catch {
            return stop(.misuse)
        }
    }

    private mutating func stop(_ error: DeviceError, retryAfter: Int? = nil, _ lines: [Line] = []) -> Action {
        stage = .done
        return .stop(error, retryAfter: retryAfter, lines)
    }

    private mutating func stop(_ error: DeviceError, _ lines: [Line]) -> Action {
        stop(error, retryAfter: nil, lines)
    }

    private func json(_ response: HTTPResponseValue) -> JSON? {
        guard response.body.count <= 65_536 else { return nil }
        do throws(JSONError) {
            return try JSON.parse(response.body)
        } catch {
            return nil
        }
    }

    /// Signed answers are lines; the line feed at the end is not part of what is signed.
    private func trimmed(_ body: [UInt8]) -> [UInt8] {
        body.last == 0x0A ? Array(body.dropLast()) : body
    }

}

extension DeviceError {
    /// The driver called out of order.
    fileprivate static let misuse = DeviceError(
        .serverMisbehaved,
        "expected the steps of a synchronisation in order",
        remedy: "the work is saved; report this as a mistake in the program"
    )
}
