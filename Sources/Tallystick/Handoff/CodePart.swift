import TallystickCrypto

/// One of the equal parts in which a message too long for one symbol travels.
///
/// 13 bytes of header: type 1, message name 4, index 1, count 1, length of the whole 2, CRC-32 of the whole 4; then the
/// part, padded with zeros in the last so that all symbols have one size.
public struct CodePart: Sendable, Hashable {
    /// The most bytes that a symbol of version 10-M carries as Base45 after the prefix.
    public static let largestSymbol = 204
    /// The most parts of a message.
    public static let mostParts = 16
    static let headerLength = 13
    static let largestPayload = largestSymbol - headerLength

    /// Names the message: the first 4 bytes of its SHA-256.
    public let message: [UInt8]
    /// Which part it is, from 0.
    public let index: Int
    /// How many parts there are.
    public let count: Int
    /// How many bytes the whole has.
    public let total: Int
    /// CRC-32 (ISO-HDLC) of the whole.
    public let checksum: UInt32
    /// The part itself.
    public let payload: [UInt8]

    /// The longest message that can travel in parts.
    public static var longestMessage: Int { mostParts * largestPayload }

    init?(bytes: [UInt8]) {
        guard bytes.count > CodePart.headerLength, bytes.count <= CodePart.largestSymbol,
            bytes[0] == CodeMessage.Kind.part
        else { return nil }
        message = Array(bytes[1..<5])
        index = Int(bytes[5])
        count = Int(bytes[6])
        total = Int(bytes[7]) << 8 | Int(bytes[8])
        checksum = bytes[9..<13].reduce(0) { $0 << 8 | UInt32($1) }
        payload = Array(bytes[13...])
        let room = count * payload.count
        guard (2...CodePart.mostParts).contains(count), index < count, total <= room, total > room - payload.count
        else {
            return nil
        }
    }

    private init(message: [UInt8], index: Int, count: Int, total: Int, checksum: UInt32, payload: [UInt8]) {
        self.message = message
        self.index = index
        self.count = count
        self.total = total
        self.checksum = checksum
        self.payload = payload
    }

    var bytes: [UInt8] {
        [CodeMessage.Kind.part] + message
            + [UInt8(index), UInt8(count), UInt8(total >> 8), UInt8(total & 0xFF)]
            + (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (24 - 8 * $0)) } + payload
    }

    /// Splits a message into as few equal parts as carry it; empty where it is too long for any.
    static func split(_ bytes: [UInt8]) -> [CodePart] {
        guard bytes.count <= longestMessage else { return [] }
        let count = max(2, (bytes.count + largestPayload - 1) / largestPayload)
        let size = (bytes.count + count - 1) / count
        let padded = bytes + [UInt8](repeating: 0, count: size * count - bytes.count)
        let message = Array(SHA256.hash(bytes).bytes.prefix(4))
        let checksum = CRC32.checksum(bytes)
        return (0..<count).map { index in
            CodePart(
                message: message,
                index: index,
                count: count,
                total: bytes.count,
                checksum: checksum,
                payload: Array(padded[index * size..<(index + 1) * size])
            )
        }
    }
}

/// Joins parts that come in any order, from any number of pictures, with duplicates and parts of other messages.
public struct PartJoiner: Sendable {
    /// The most messages that are kept open at once; the one that was touched least recently goes first.
    public static let mostMessages = 4

    private var open: [[CodePart]] = []

    /// Begins with nothing.
    public init() {}

    /// What a part led to.
    public enum Progress: Sendable, Equatable {
        /// The whole message.
        case complete([UInt8])
        /// There are parts missing: these indices, from 0.
        case incomplete(missing: [Int], count: Int)
        /// All parts are there and do not make the message that they say they do.
        case damaged
    }

    /// Takes a part.
    public mutating func add(_ part: CodePart) -> Progress {
        var parts: [CodePart] = []
        if let index = open.firstIndex(where: { $0.first.map { PartJoiner.isSame($0, part) } == true }) {
            parts = open.remove(at: index)
        }
        if !parts.contains(where: { $0.index == part.index }) { parts.append(part) }
        let missing = (0..<part.count).filter { index in !parts.contains { $0.index == index } }
        guard missing.isEmpty else {
            open.append(parts)
            if open.count > PartJoiner.mostMessages { open.removeFirst() }
            return .incomplete(missing: missing, count: part.count)
        }
        let bytes = Array(parts.sorted { $0.index < $1.index }.flatMap(\.payload).prefix(part.total))
        guard CRC32.checksum(bytes) == part.checksum, SHA256.hash(bytes).bytes.starts(with: part.message) else {
            return .damaged
        }
        return .complete(bytes)
    }

    /// What is still missing, for each message that has been begun.
    public var missing: [(have: Int, count: Int)] {
        open.compactMap { parts in parts.first.map { (parts.count, $0.count) } }
    }

    private static func isSame(_ left: CodePart, _ right: CodePart) -> Bool {
        left.message == right.message && left.count == right.count && left.total == right.total
            && left.checksum == right.checksum && left.payload.count == right.payload.count
    }
}

/// CRC-32 as PNG and zip have it (ISO-HDLC): finds accidents, proves nothing.
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        var value = UInt32(index)
        for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        return value
    }

    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes { value = table[Int((value ^ UInt32(byte)) & 0xFF)] ^ value >> 8 }
        return ~value
    }
}
