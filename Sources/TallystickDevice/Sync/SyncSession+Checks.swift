import Tallystick
import TallystickCrypto

/// What is made of the outbox and of the server's answers, apart from what comes next.
extension SyncSession {
    /// Divides lines into pushes, in order; a line that is too large for any goes alone.
    static func batches(of lines: [Line]) -> [[Line]] {
        var batches: [[Line]] = []
        var batch: [Line] = []
        var size = 0
        for line in lines {
            let bytes = line.bytes.count + 1
            if !batch.isEmpty, batch.count >= mostEvents || size + bytes > mostBytes {
                batches.append(batch)
                batch = []
                size = 0
            }
            batch.append(line)
            size += bytes
        }
        if !batch.isEmpty { batches.append(batch) }
        return batches
    }

    /// Whether a result is about the line, and about it alone.
    static func answers(_ result: PushReceipt.Result, _ line: Line) -> Bool {
        guard result.line == SHA256.hash(line.bytes) else { return false }
        guard let entry = result.entry else { return result.status == .deferred }
        guard result.status != .deferred else { return false }
        switch entry.content {
        case .verdict(let verdict): return verdict.event == line.event && verdict.chain == line.chain
        case .unreadable(let digest, _, _, let verdict): return digest == result.line && verdict.outcome == .refused
        case .certificate, .revocation: return false
        }
    }

    /// What is wrong with a page, or nil.
    static func fault(
        of page: PullPage,
        after cursor: Int,
        keys known: [DeviceID: PublicKey],
        authority: PublicKey
    ) -> String? {
        guard page.after == cursor, page.next >= page.after else {
            return "expected the feed from number \(cursor) on, got it from \(page.after): there is a gap"
        }
        if page.hasMore, page.items.isEmpty { return "expected items in a page that has more after it, got none" }
        var keys = known
        for certificate in page.certificates {
            guard certificate.isSigned(by: authority) else {
                return "expected certificates signed by the authority, got another for device \(certificate.device)"
            }
            keys[certificate.device] = certificate.key
        }
        for item in page.items {
            if let fault = SyncSession.fault(of: item, keys: keys) { return fault }
        }
        return nil
    }

    private static func fault(of item: PullPage.Item, keys: [DeviceID: PublicKey]) -> String? {
        let position = item.entry.position
        if let signed = item.event {
            guard case .verdict(let entry) = item.entry.content, entry.event == signed.event.hash,
                entry.chain == signed.event.chain
            else { return "expected the event that entry \(position) is about, got another" }
            guard let key = keys[signed.event.device] else {
                return "expected a certificate for device \(signed.event.device), got none"
            }
            guard signed.isSigned(by: key) else {
                return "expected event \(signed.event.hash) to be signed by its device"
            }
        }
        return nil
    }

    /// What a status means for which no answer to use came.
    static func failure(_ response: HTTPResponseValue, _ what: String) -> DeviceError {
        let problem = Problem(response).text
        return switch response.status {
        case 408, 425, 429, 500...599: .unreachable("the server could not deal with \(what) now: \(problem)")
        case 400..<500:
            DeviceError(
                .serverRefused,
                "the server did not give or take \(what): \(problem)",
                remedy: "the work is saved; if this goes on, tell whoever runs the server"
            )
        default: .misbehaved("expected an answer about \(what), got status \(response.status)")
        }
    }

    /// The seconds that the server asks to be left alone for (RFC 9110 §10.2.3), at most a day; a date is not read.
    static func retryAfter(_ response: HTTPResponseValue) -> Int? {
        guard let text = response.header("Retry-After"), !text.isEmpty, text.utf8.count <= 9,
            text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
        else { return nil }
        return Int(text).map { min($0, 86_400) }
    }
}
