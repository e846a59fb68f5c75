import CommandLineKit
import Foundation
import Glibc
import TallystickCrypto

/// Reading what a person names and writing what they asked for.
enum Files {
    /// Reads a file, or standard input for `-`, of at most `limit` bytes.
    static func read(_ path: String, limit: Int) throws(CommandError) -> [UInt8] {
        let isInput = path.utf8.elementsEqual("-".utf8)
        let descriptor = isInput ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let code = errno
            throw CommandError(
                exit: .noInput,
                code: code == ENOENT ? "no-such-file" : "file-unreadable",
                message: "\(path) could not be opened: \(reason(code))"
            )
        }
        defer { if !isInput { close(descriptor) } }
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
        let bytes = try read(path, limit: CodePicture.largest)
        guard !bytes.isEmpty else {
            throw CommandError(
                exit: .badInput,
                code: "not-an-image",
                message: "\(path) is empty",
                remedy: "take the picture again"
            )
        }
        return SHA256.hash(bytes)
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
