import Tallystick
import TallystickCrypto

/// Writes receipts and pages around entries and events whose canonical bytes are at hand.
///
/// The same as `PushReceipt.signed` and `PullPage.signed`, without reading and writing each entry again.
enum SignedLines {
    /// The line of a receipt.
    static func receipt(
        epoch: String,
        device: DeviceID,
        received: Timestamp,
        _ results: [TakenLine],
        by key: SigningKey
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256 + results.count * 512)
        append("{\"device\":\"\(device)\",\"epoch\":", to: &bytes)
        append(json: epoch, to: &bytes)
        append(",\"received\":\"\(received)\",\"results\":[", to: &bytes)
        var isFirst = true
        for result in results {
            append(isFirst ? "{" : ",{", to: &bytes)
            isFirst = false
            if let entry = result.entry {
                append("\"entry\":", to: &bytes)
                bytes.append(contentsOf: entry)
                append(",", to: &bytes)
            }
            append("\"line\":\"\(result.line.hex)\",\"status\":\"\(result.status.rawValue)\"}", to: &bytes)
        }
        append("]}", to: &bytes)
        return signed(bytes, named: "receipt", by: key)
    }

    /// What a page says of one number of a feed.
    struct Item {
        let entry: [UInt8]
        /// The event's line, where the entry is about one.
        let event: [UInt8]?
    }

    /// The line of a page.
    static func page(
        epoch: String,
        after: Int,
        hasMore: Bool,
        now: Timestamp,
        items: [Item],
        certificates: [[UInt8]],
        previous: Digest?,
        by key: SigningKey
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512 + items.reduce(0) { $0 + $1.entry.count + ($1.event?.count ?? 0) + 32 })
        append("{\"after\":\(after),\"certificates\":[", to: &bytes)
        var isFirst = true
        for certificate in certificates {
            if !isFirst { append(",", to: &bytes) }
            isFirst = false
            bytes.append(contentsOf: certificate)
        }
        append("],\"epoch\":", to: &bytes)
        append(json: epoch, to: &bytes)
        append(",\"items\":[", to: &bytes)
        isFirst = true
        for item in items {
            append(isFirst ? "{\"entry\":" : ",{\"entry\":", to: &bytes)
            isFirst = false
            bytes.append(contentsOf: item.entry)
            if let event = item.event {
                append(",\"event\":", to: &bytes)
                bytes.append(contentsOf: event)
            }
            append("}", to: &bytes)
        }
        append("],\"more\":\(hasMore),\"next\":\(after + items.count),\"now\":\"\(now)\",\"previous\":", to: &bytes)
        append(previous.map { "\"\($0.hex)\"}" } ?? "null}", to: &bytes)
        return signed(bytes, named: "page", by: key)
    }

    private static func signed(_ object: [UInt8], named name: String, by key: SigningKey) -> [UInt8] {
        let signature = key.signature(for: object, domain: PushReceipt.domain)
        var line: [UInt8] = []
        line.reserveCapacity(object.count + 128)
        append("{\"\(name)\":", to: &line)
        line.append(contentsOf: object)
        append(",\"signature\":\"\(Base64.encode(signature))\"}", to: &line)
        return line
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: text.utf8)
    }

    /// A text as JSON; the texts here are the server's own, so there is always a spelling.
    private static func append(json text: String, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: (try? JSON.string(text).canonicalBytes()) ?? Array("\"\"".utf8))
    }
}
