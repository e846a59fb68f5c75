import Glibc

/// Files that hold secrets, such as device keys.
public enum KeyFile {
    /// Creates a file only its owner can use, and returns when it is safely on the disk.
    ///
    /// The mode is 0600 whatever the umask. Both the file and its folder are flushed, since a key lost after
    /// its certificate was issued cannot be made again. Throws `fileExists` where anything is at the path, be it
    /// a dangling link; `fileFailed` if a step fails, and then no file is left behind.
    public static func create(_ contents: [UInt8], at path: String) throws(CryptoError) {
        var file = try Descriptor(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, toDo: "create key file")
        do throws(CryptoError) {
            try file.restrictToOwner()
            try file.write(contents)
            try file.flush()
            try file.close()
            var folder = try Descriptor(parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC, toDo: "open folder")
            try folder.flush()
            try folder.close()
        } catch {
            _ = unsafe unlink(path)  // the first failure is the one to report
            throw error
        }
    }

    /// Reads a file that only its owner can use, of at most `limit` bytes.
    ///
    /// Throws `fileExposed` if group or others may read, write or run it, saying how to mend that;
    /// `fileTooLarge` beyond the limit; `fileNotFound`; `fileFailed` if it is no regular file or reading fails.
    /// Links are followed, as service managers hand out secrets through them.
    public static func read(_ path: String, limit: Int) throws(CryptoError) -> [UInt8] {
        // O_NONBLOCK: opening a named pipe would otherwise wait for a writer for ever.
        let file = try Descriptor(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, toDo: "read key file")
        let mode = try file.mode()
        guard mode & S_IFMT == S_IFREG else {
            throw CryptoError(.fileFailed, "expected a regular file at \(path), found something else")
        }
        // The open file is asked, not the path, which may name another file by now.
        guard mode & 0o077 == 0 else {
            let octal = String(mode & 0o777, radix: 8)
            throw CryptoError(
                .fileExposed,
                "expected key file \(path) to be its owner's alone, but its mode is \(octal), which lets group or "
                    + "others use it; if the key may have been seen, replace it, else run: chmod 600 \(path)"
            )
        }
        return try file.read(limit: limit)
    }

    private static func parent(of path: String) -> String {
        let bytes = Array(path.utf8)
        guard let slash = bytes.lastIndex(of: 0x2f) else { return "." }
        return slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self)
    }
}

/// One open file, closed with its owner.
private struct Descriptor: ~Copyable {
    private var number: Int32
    private let path: String

    init(_ path: String, _ flags: Int32, toDo: String) throws(CryptoError) {
        guard !path.utf8.contains(0) else {
            throw CryptoError(.badPath, "expected a path without a zero byte, which would end it early")
        }
        let number = retrying { unsafe open(path, flags, 0o600) }
        guard number >= 0 else {
            let reason = errno
            let code: CryptoError.Code =
                switch reason {
                case EEXIST: .fileExists
                case ENOENT where flags & O_CREAT == 0: .fileNotFound
                case ENOSPC, EDQUOT: .diskFull
                default: .fileFailed
                }
            throw CryptoError(code, "could not \(toDo) \(path): \(text(reason))")
        }
        self.number = number  // last: throwing after this line would run deinit
        self.path = path
    }

    deinit {
        if number >= 0 { _ = Glibc.close(number) }
    }

    borrowing func restrictToOwner() throws(CryptoError) {
        guard fchmod(number, 0o600) == 0 else { throw failure("set the mode of") }
    }

    borrowing func mode() throws(CryptoError) -> mode_t {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw failure("look at") }
        return status.st_mode
    }

    borrowing func write(_ contents: [UInt8]) throws(CryptoError) {
        var written = 0
        while written < contents.count {
            let count = unsafe contents.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
                return retrying { unsafe Glibc.write(number, rest.baseAddress, rest.count) }
            }
            guard count > 0 else { throw failure("write") }
            written += count
        }
    }

    borrowing func read(limit: Int) throws(CryptoError) -> [UInt8] {
        guard limit >= 0 else { throw CryptoError(.wrongLength, "expected a limit of 0 or more bytes, not \(limit)") }
        var contents: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { bytes in
                retrying { unsafe Glibc.read(number, bytes.baseAddress, bytes.count) }
            }
            guard count >= 0 else { throw failure("read") }
            guard count > 0 else { return contents }
            guard count <= limit - contents.count else {
                throw CryptoError(.fileTooLarge, "expected at most \(limit) bytes in \(path), found more")
            }
            contents += chunk.prefix(count)
        }
    }

    borrowing func flush() throws(CryptoError) {
        guard retrying({ fsync(number) }) == 0 else { throw failure("flush") }
    }

    /// Closes at once, to see a failure that closing with the owner would hide.
    mutating func close() throws(CryptoError) {
        // Not retried: after EINTR Linux has closed the descriptor already, and it may be another's by now.
        let code = Glibc.close(number)
        number = -1
        guard code == 0 else { throw failure("close") }
    }

    /// The error of the call that has just failed.
    private borrowing func failure(_ toDo: String) -> CryptoError {
        let reason = errno
        let code: CryptoError.Code = reason == ENOSPC || reason == EDQUOT ? .diskFull : .fileFailed
        return CryptoError(code, "could not \(toDo) \(path): \(text(reason))")
    }
}

/// Repeats a call that a signal interrupted.
private func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        guard result < 0, errno == EINTR else { return result }
    }
}

private func text(_ reason: Int32) -> String {
    unsafe String(cString: strerror(reason))
}
