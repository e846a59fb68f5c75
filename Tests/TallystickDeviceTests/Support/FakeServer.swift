import Schemes
import Tallystick
import TallystickCrypto

@testable import TallystickDevice

/// A server in memory, small and on the engine's own ledger: what the real one must do, without its storage.
final class FakeServer {
    /// What goes wrong with the next request to a path.
    enum Fault: Sendable {
        /// The request does not arrive.
        case dropBefore
        /// It arrives and is dealt with; the answer is lost.
        case dropAfter
        /// It is answered with this status, and not dealt with.
        case status(Int, headers: [HTTPReply.Field] = [], body: String = "")
        /// It is dealt with, and the answer is changed on the way.
        case change(@Sendable ([UInt8]) -> [UInt8])
    }

    struct Invitation {
        let party: UniqueID
        let name: String
        let roles: [Name]
        var key: PublicKey?
    }

    let authority = SigningKey.generate()
    let secret = SecureRandom.bytes(32)
    /// What it decides with.
    var schemes: [Scheme]
    /// What it lists in place of them.
    var listed: [SchemeReference]?
    /// What it gives for a scheme in place of its bytes.
    var schemeBytes: [Digest: [UInt8]] = [:]
    var now: () -> Timestamp
    var epoch = "epoch-1"
    var invitations: [String: Invitation] = [:]
    var certificates: [DeviceID: Certificate] = [:]
    var tokens: [String: DeviceID] = [:]
    var challenges: Set<[UInt8]> = []
    /// Faults in the order they happen, by the beginning of the path.
    var faults: [(path: String, fault: Fault)] = []
    /// How many events of one device may wait.
    var waitingPerDevice = 1_000
    /// The largest push taken.
    var mostBytes = 1 << 20
    /// The most items in a page.
    var pageItems = 500
    /// Signs pages and receipts; changed to play an impostor.
    lazy var signer = authority
    /// Devices whose events are not taken, although their sessions are.
    var forgotten: Set<DeviceID> = []
    /// Changes a page before it is signed.
    var changePage: ((PullPage) -> PullPage)?
    private(set) var requests: [HTTPRequestValue] = []

    private var ledgers: [UniqueID: ChainLedger] = [:]
    private var entries: [LogEntry] = []
    private var entriesOfChain: [UniqueID: [(entry: LogEntry, event: SignedEvent)]] = [:]
    private var newest: [Digest: LogEntry] = [:]
    private var lines: [Digest: SignedEvent] = [:]
    private var members: [UniqueID: Set<UniqueID>] = [:]
    private(set) var feeds: [UniqueID: [PullPage.Item]] = [:]

    init(schemes: [Scheme], now: @escaping () -> Timestamp) {
        self.schemes = schemes
        self.now = now
    }

    var transport: Transport { Transport { [self] request in try handle(request) } }

    func state(of chain: UniqueID) -> ChainState? { ledgers[chain]?.state }
    func waitingCount(of chain: UniqueID) -> Int { ledgers[chain]?.waiting.count ?? 0 }

    /// What a backup holds of the log.
    struct Backup {
        fileprivate let ledgers: [UniqueID: ChainLedger]
        fileprivate let entries: [LogEntry]
        fileprivate let entriesOfChain: [UniqueID: [(entry: LogEntry, event: SignedEvent)]]
        fileprivate let newest: [Digest: LogEntry]
        fileprivate let lines: [Digest: SignedEvent]
        fileprivate let members: [UniqueID: Set<UniqueID>]
        fileprivate let feeds: [UniqueID: [PullPage.Item]]
    }

    func backup() -> Backup {
        Backup(
            ledgers: ledgers,
            entries: entries,
            entriesOfChain: entriesOfChain,
            newest: newest,
            lines: lines,
            members: members,
            feeds: feeds
        )
    }

    /// Puts a backup back and says nothing of it, as copying an old file does.
    func restore(_ backup: Backup) {
        ledgers = backup.ledgers
        entries = backup.entries
        entriesOfChain = backup.entriesOfChain
        newest = backup.newest
        lines = backup.lines
        members = backup.members
        feeds = backup.feeds
    }

    /// Loses everything but devices and invitations, as a restored backup may.
    func restoreEmpty(epoch: String) {
        self.epoch = epoch
        ledgers = [:]
        entries = []
        entriesOfChain = [:]
        newest = [:]
        lines = [:]
        members = [:]
        feeds = [:]
    }

    func handle(_ request: HTTPRequestValue) throws -> HTTPReply {
        requests.append(request)
        guard let index = faults.firstIndex(where: { request.path.hasPrefix($0.path) }) else {
            return try answer(request)
        }
        let fault = faults.remove(at: index).fault
        switch fault {
        case .dropBefore: throw DeviceError.unreachable("dropped")
        case .dropAfter:
            _ = try answer(request)
            throw DeviceError.unreachable("dropped")
        case .status(let status, let headers, let body):
            return HTTPReply(status: status, headers: headers, body: Array(body.utf8))
        case .change(let change):
            let reply = try answer(request)
            return HTTPReply(status: reply.status, headers: reply.headers, body: change(reply.body))
        }
    }

    private func answer(_ request: HTTPRequestValue) throws -> HTTPReply {
        switch request.path {
        case "/v1/enrol": return try enrol(try JSON.parse(request.body ?? []))
        case "/v1/session": return try session(try JSON.parse(request.body ?? []))
        default: break
        }
        let header = request.headers.first { $0.name == "Authorization" }?.value ?? ""
        guard let device = tokens[String(header.dropFirst("Bearer ".count))], let certificate = certificates[device]
        else {
            return HTTPReply(status: 401)
        }
        if request.path.hasPrefix("/v1/schemes") { return try scheme(request.path) }
        if request.method == "POST" { return try push(request.body ?? [], from: device) }
        return try pull(request.path, party: certificate.party)
    }

    private func enrol(_ json: JSON) throws -> HTTPReply {
        guard let code = json["code"]?.text, var invitation = invitations[code],
            let key = json["key"]?.text.flatMap(Base64.decode).flatMap({ PublicKey(bytes: $0) }),
            let proof = json["proof"]?.text.flatMap(Base64.decode),
            key.isValid(proof, for: Array(code.utf8), domain: Device.enrolmentDomain),
            invitation.key == nil || invitation.key == key
        else {
            let body = "{\"code\":\"invitation-invalid\",\"status\":403,\"title\":\"The invitation is not valid\"}"
            return HTTPReply(status: 403, body: Array(body.utf8))
        }
        invitation.key = key
        invitations[code] = invitation
        let id = DeviceID(key)
        if certificates[id] == nil {
            certificates[id] = try Certificate(
                Certificate.Draft(
                    key: key,
                    notBefore: Timestamp(milliseconds: 0) ?? now(),
                    notAfter: Timestamp(milliseconds: 4_000_000_000_000) ?? now(),
                    party: invitation.party,
                    partyName: invitation.name,
                    person: nil,
                    roles: invitation.roles,
                    serial: certificates.count + 1
                ),
                by: authority
            )
        }
        let line = certificates[id]?.line ?? []
        let answer = JSON.members([
            ("authority", .string(Base64.encode(authority.publicKey.bytes))), ("certificate", try JSON.parse(line)),
            ("epoch", .string(epoch)),
            ("handoffKey", .string(Base64.encode(try HandoffKey(serverSecret: secret, device: id, number: 1).bytes))),
            ("now", .string(now().description)), ("origin", .string("fake.example")),
        ])
        return HTTPReply(status: 201, body: try answer.canonicalBytes())
    }

    private func session(_ json: JSON) throws -> HTTPReply {
        guard let device = json["device"]?.text.flatMap(DeviceID.init(_:)), let certificate = certificates[device]
        else {
            return HTTPReply(status: 403)
        }
        guard let challenge = json["challenge"]?.text.flatMap(Base64.decode) else {
            let bytes = SecureRandom.bytes(32)
            challenges.insert(bytes)
            return HTTPReply(
                status: 200,
                body: try JSON.members([("challenge", .string(Base64.encode(bytes)))]).canonicalBytes()
            )
        }
        guard challenges.remove(challenge) != nil, let signature = json["signature"]?.text.flatMap(Base64.decode),
            certificate.key.isValid(signature, for: challenge, domain: SyncSession.sessionDomain)
        else { return HTTPReply(status: 401) }
        let token = Hex.encode(SecureRandom.bytes(16))
        tokens[token] = device
        let answer = JSON.members([("expires", .string(now().description)), ("token", .string(token))])
        return HTTPReply(status: 200, body: try answer.canonicalBytes())
    }

    private func scheme(_ path: String) throws -> HTTPReply {
        guard let hash = Digest(hex: String(path.dropFirst("/v1/schemes/".count))) else {
            let list = SchemeList(listed ?? schemes.map(\.reference))
            return HTTPReply(status: 200, body: try list.signed(by: signer))
        }
        guard let bytes = schemeBytes[hash] ?? schemes.first(where: { $0.reference.hash == hash })?.bytes else {
            return HTTPReply(status: 404)
        }
        return HTTPReply(status: 200, body: bytes)
    }

    private func push(_ body: [UInt8], from device: DeviceID) throws -> HTTPReply {
        guard body.count <= mostBytes else { return HTTPReply(status: 413) }
        let results = try body.split(separator: 0x0A).map { try result(of: Array($0), from: device) }
        let receipt = PushReceipt(epoch: epoch, device: device, received: now(), results: results)
        return HTTPReply(status: 200, body: try receipt.signed(by: signer) + [0x0A])
    }

    private func result(of line: [UInt8], from device: DeviceID) throws -> PushReceipt.Result {
        let digest = SHA256.hash(line)
        let signed: SignedEvent
        do throws(EventError) {
            signed = try SignedEvent(line: line)
        } catch {
            return unreadable(digest, from: device, Reason(error.code, nil, error.message))
        }
        let event = signed.event
        if let entry = newest[event.hash] { return PushReceipt.Result(line: digest, status: .known, entry: entry) }
        guard let certificate = certificates[event.device], !forgotten.contains(event.device) else {
            return unreadable(digest, from: device, Reason(.unknownDevice, event.device.description))
        }
        guard signed.isSigned(by: certificate.key) else {
            return unreadable(digest, from: device, Reason(.badSignature, event.hash.hex))
        }
        var ledger = ledgers[event.chain] ?? ChainLedger(chain: event.chain)
        let arrival = Arrival(
            event: event,
            certificate: certificate,
            isRevoked: false,
            isSignatureValid: true,
            received: now()
        )
        let decisions = ledger.receive(arrival, in: context)
        if decisions.first?.verdict.outcome == .waiting, ledger.waitingCount(of: device) > waitingPerDevice {
            return PushReceipt.Result(line: digest, status: .deferred, entry: nil)
        }
        ledgers[event.chain] = ledger
        lines[event.hash] = signed
        for decision in decisions { enter(decision) }
        return PushReceipt.Result(line: digest, status: .taken, entry: newest[event.hash])
    }

    private func unreadable(_ line: Digest, from device: DeviceID, _ reason: Reason) -> PushReceipt.Result {
        let entry = LogEntry(
            position: entries.count + 1,
            content: .unreadable(line, from: device, received: now(), .refused([reason]))
        )
        entries.append(entry)
        if let party = certificates[device]?.party { feeds[party, default: []].append(.init(entry: entry, event: nil)) }
        return PushReceipt.Result(line: line, status: .taken, entry: entry)
    }

    private func enter(_ decision: ChainLedger.Decision) {
        let event = decision.arrival.event
        guard let signed = lines[event.hash], let party = decision.arrival.certificate?.party else { return }
        let before = entriesOfChain[event.chain] ?? []
        let entry = LogEntry(
            position: entries.count + 1,
            content: .verdict(
                LogEntry.EventVerdict(
                    chain: event.chain,
                    event: event.hash,
                    number: before.count + 1,
                    received: decision.arrival.received,
                    verdict: decision.verdict
                )
            )
        )
        entries.append(entry)
        newest[event.hash] = entry
        entriesOfChain[event.chain, default: []].append((entry, signed))
        let isJoining: Bool =
            switch event.content {
            case .chainOpened, .handoffAccepted: decision.verdict.outcome == .accepted
            default: false
            }
        if isJoining, members[event.chain, default: []].insert(party).inserted {
            let fed = Set((feeds[party] ?? []).map(\.entry.position))
            for earlier in before where !fed.contains(earlier.entry.position) {
                feeds[party, default: []].append(.init(entry: earlier.entry, event: earlier.event))
            }
        }
        for reader in (members[event.chain] ?? []).union([party]) {
            feeds[reader, default: []].append(.init(entry: entry, event: signed))
        }
    }

    private func pull(_ path: String, party: UniqueID) throws -> HTTPReply {
        let numbers = path.split(whereSeparator: { "?&=".contains($0) }).compactMap { Int($0) }
        let after = numbers.first ?? 0
        let feed = feeds[party] ?? []
        let items = Array(feed.dropFirst(after).prefix(min(numbers.last ?? 0, pageItems)))
        let authors = Set(items.compactMap { $0.event?.event.device })
        let page = PullPage(
            epoch: epoch,
            after: after,
            next: after + items.count,
            hasMore: after + items.count < feed.count,
            now: now(),
            items: items,
            certificates: authors.sorted().compactMap { certificates[$0] },
            previous: try feed.prefix(after).count == after ? feed.prefix(after).last?.entry.digest() : nil
        )
        return HTTPReply(status: 200, body: try (changePage?(page) ?? page).signed(by: signer) + [0x0A])
    }

    private var context: DecisionContext {
        let secret = secret
        return DecisionContext(stage: .final, schemes: schemes) { question in
            guard let key = try? HandoffKey(serverSecret: secret, device: question.giver, number: 1) else {
                return .unchecked
            }
            let mac = key.mac(of: question.statement).bytes.prefix(question.mac.count)
            return ConstantTime.equal(Array(mac), question.mac) ? .matched : .mismatched
        }
    }
}
