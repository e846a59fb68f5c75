/// Writes PNG files of any colour type, uncompressed, for what our own encoder does not write.
enum RawPNG {
    /// A file from its header fields and its filtered rows; `extra` chunks go before the picture.
    static func file(
        width: Int,
        height: Int,
        depth: UInt8,
        colour: UInt8,
        interlaced: Bool = false,
        extra: [(String, [UInt8])] = [],
        rows: [UInt8]
    ) -> [UInt8] {
        let header = number(width) + number(height) + [depth, colour, 0, 0, interlaced ? 1 : 0]
        let length = UInt16(truncatingIfNeeded: rows.count)
        // One stored deflate block in a zlib frame (RFC 1951 section 3.2.4, RFC 1950).
        let block: [UInt8] = [0x78, 0x01, 0x01] + little(length) + little(~length) + rows + number(adler32(rows))
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header)
        for (name, data) in extra { bytes += chunk(name, data) }
        return bytes + chunk("IDAT", block) + chunk("IEND", [])
    }

    static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + data
        return number(data.count) + body + number(crc32(body))
    }

    static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func little(_ value: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }

    private static func adler32(_ bytes: [UInt8]) -> Int {
        var (a, b) = (1, 0)
        for byte in bytes {
            a = (a + Int(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return b << 16 | a
    }

    static func crc32(_ bytes: [UInt8]) -> Int {
        var crc: UInt32 = ~0
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return Int(~crc)
    }
}
