import CommandLineKit
import Foundation
import Glibc
import TallystickCrypto

/// Reading what a person names and writing what they asked for.
enum Files {
    /// Reads a file, or standard input for `-`, of at most `limit` bytes.
    ///
    /// - Parameter isPlain: Whether it has to be a file on a disk: a pipe that nobody writes to would be waited for for
    ///   ever.
    static func read(_ path: String, limit: Int, isPlain: Bool = false) throws(CommandError) -> [UInt8] {
        let isInput = path.utf8.elementsEqual("-".utf8)
        let flags = O_RDONLY | O_CLOEXEC | (isPlain ? O_NONBLOCK : 0)
        let descriptor = isInput ? STDIN_FILENO : unsafe open(path, flags)
        guard descriptor >= 0 else {
            let code = errno
            throw CommandError(
                exit: .noInput,
                code: code == ENOENT ? "no-such-file" : "file-unreadable",
                message: "\(path) could not be opened: \(reason(code))"
            )
        }
        defer { if !isInput { close(descriptor) } }
        var status = stat()
        if isPlain, unsafe fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFREG {
            throw CommandError(
                exit: .noInput,
                code: "file-unreadable",
                message: "\(path) is not a file on a disk",
                remedy: "give the path of a plain file"
            )
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            guard count > 0 else {
                let code = errno
                if code == EINTR { continue }
                throw CommandError(
                    exit: .noInput,
                    code: "file-unreadable",
                    message: "\(path) could not be read: \(reason(code))"
                )
            }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= limit else {
                throw CommandError(
                    exit: .badInput,
                    code: "too-large",
                    message: "\(path) is larger than \(limit) bytes",
                    remedy: "check that it is the file you meant"
                )
            }
        }
    }

    /// SHA-256 of a picture's file, which an event names in its place; the file is only read.
    static func pictureHash(_ path: String) throws(CommandError) -> Digest {
        let bytes = try read(path, limit: CodePicture.largest, isPlain: true)
        guard isPicture(bytes) else {
            throw CommandError(
                exit: .badInput,
                code: "not-an-image",
                message: "\(path) is \(bytes.isEmpty ? "empty" : "no picture that is known here")",
                remedy: "give a PNG, JPEG, TIFF, HEIC, WebP or PDF file that shows the paper"
            )
        }
        return SHA256.hash(bytes)
    }

    /// Whether a file begins as pictures and scans do.
    private static func isPicture(_ bytes: [UInt8]) -> Bool {
        let starts: [[UInt8]] = [
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], [0xFF, 0xD8, 0xFF], [0x49, 0x49, 0x2A, 0x00],
            [0x4D, 0x4D, 0x00, 0x2A], Array("%PDF-".utf8),
        ]
        if starts.contains(where: { bytes.starts(with: $0) }) { return true }
        let isHEIC = bytes.dropFirst(4).starts(with: Array("ftyp".utf8))
        return isHEIC || bytes.starts(with: Array("RIFF".utf8)) && bytes.dropFirst(8).starts(with: Array("WEBP".utf8))
    }

    /// Throws where a file could not be written at this path; leaves nothing.
    static func probe(_ path: String) throws(CommandError) {
        let temporary = "\(path).\(getpid()).probe"
        let descriptor = unsafe Glibc.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure(path, errno) }
        close(descriptor)
        unsafe unlink(temporary)
    }

    /// Writes a file so that a reader never sees half of it: beside it first, flushed, then renamed.
    static func write(_ bytes: [UInt8], to path: String) throws(CommandError) {
        let temporary = "\(path).\(getpid()).part"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure(path, errno) }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = errno
                close(descriptor)
                unsafe unlink(temporary)
                throw failure(path, code)
            }
            written += count
        }
        guard fsync(descriptor) == 0, close(descriptor) == 0, unsafe rename(temporary, path) == 0 else {
            let code = errno
            unsafe unlink(temporary)
            throw failure(path, code)
        }
    }

    private static func failure(_ path: String, _ code: Int32) -> CommandError {
        CommandError(
            exit: .failed,
            code: code == ENOSPC ? "disk-full" : "file-unwritable",
            message: "\(path) could not be written: \(reason(code))",
            remedy: code == ENOSPC ? "make room on the disk and try again" : nil
        )
    }

    private static func reason(_ code: Int32) -> String {
        unsafe String(cString: strerror(code)).lowercased()
    }
}
