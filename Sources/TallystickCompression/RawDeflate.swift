import CZlib

/// Raw deflate (RFC 1951) with a preset dictionary: bytes in, bytes out, with a cap on what comes out.
package enum RawDeflate {
    /// Compresses as far as zlib can.
    package static func compress(_ bytes: [UInt8], dictionary: [UInt8]) throws(CompressionError) -> [UInt8] {
        var stream = unsafe z_stream()
        guard unsafe tally_deflate_init_raw(&stream, 9) == Z_OK else { throw CompressionError("zlib could not begin") }
        defer { unsafe deflateEnd(&stream) }
        let set = unsafe dictionary.withUnsafeBufferPointer { buffer in
            unsafe deflateSetDictionary(&stream, buffer.baseAddress, uInt(buffer.count))
        }
        guard set == Z_OK else { throw CompressionError("zlib did not take the dictionary") }
        var output = [UInt8](repeating: 0, count: Int(unsafe deflateBound(&stream, uLong(bytes.count))) + 16)
        var input = bytes
        let status = unsafe input.withUnsafeMutableBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target in
                unsafe stream.next_in = source.baseAddress
                unsafe stream.avail_in = uInt(source.count)
                unsafe stream.next_out = target.baseAddress
                unsafe stream.avail_out = uInt(target.count)
                return unsafe deflate(&stream, Z_FINISH)
            }
        }
        guard status == Z_STREAM_END else { throw CompressionError("zlib stopped with status \(status)") }
        output.removeLast(Int(unsafe stream.avail_out))
        return output
    }

    /// Decompresses at most `limit` bytes.
    ///
    /// Throws if the bytes are not one whole stream, if something follows it, or if more than `limit` would come out.
    package static func decompress(
        _ bytes: [UInt8],
        dictionary: [UInt8],
        limit: Int
    ) throws(CompressionError) -> [UInt8] {
        guard !bytes.isEmpty else { throw CompressionError("expected compressed bytes, got none") }
        var stream = unsafe z_stream()
        guard unsafe tally_inflate_init_raw(&stream) == Z_OK else { throw CompressionError("zlib could not begin") }
        defer { unsafe inflateEnd(&stream) }
        let set = unsafe dictionary.withUnsafeBufferPointer { buffer in
            unsafe inflateSetDictionary(&stream, buffer.baseAddress, uInt(buffer.count))
        }
        guard set == Z_OK else { throw CompressionError("zlib did not take the dictionary") }
        // One byte more than allowed tells a stream that ends there from one that goes on.
        var output = [UInt8](repeating: 0, count: limit + 1)
        var input = bytes
        let status = unsafe input.withUnsafeMutableBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target in
                unsafe stream.next_in = source.baseAddress
                unsafe stream.avail_in = uInt(source.count)
                unsafe stream.next_out = target.baseAddress
                unsafe stream.avail_out = uInt(target.count)
                return unsafe inflate(&stream, Z_FINISH)
            }
        }
        let count = limit + 1 - Int(unsafe stream.avail_out)
        guard count <= limit else { throw CompressionError("expected at most \(limit) bytes decompressed") }
        guard status == Z_STREAM_END else { throw CompressionError("expected a whole deflate stream (RFC 1951)") }
        guard unsafe stream.avail_in == 0 else { throw CompressionError("expected nothing after the deflate stream") }
        output.removeLast(limit + 1 - count)
        return output
    }
}

/// Why bytes could not be compressed or decompressed.
package struct CompressionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The stable code.
    package let code = "compression-failed"
    /// What was expected and what came.
    package let message: String
    /// The message.
    package var description: String { message }

    init(_ message: String) { self.message = message }
}
