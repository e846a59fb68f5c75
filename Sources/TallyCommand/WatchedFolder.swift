import CommandLineKit
import Glibc
import Tallystick

/// A folder into which pictures arrive, from a phone say.
@safe struct WatchedFolder: ~Copyable {
    private let path: String
    private let descriptor: Int32

    /// Starts to watch: what arrives from then on is told, even before it is asked for.
    init(_ path: String) throws(CommandError) {
        let descriptor = inotify_init1(Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw WatchedFolder.failure(path, errno) }
        // A file that was written and closed, or moved here whole: one that is being written is not looked at yet.
        let events = UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO) | UInt32(IN_ONLYDIR)
        guard unsafe inotify_add_watch(descriptor, path, events) >= 0 else {
            let code = errno
            close(descriptor)
            throw WatchedFolder.failure(path, code)
        }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Waits for files and returns the paths of those that have arrived, in that order; hidden ones are left out.
    ///
    /// Throws `folder-gone` where the folder was removed.
    func next() throws(CommandError) -> [String] {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            let code = errno
            if count < 0, code == EINTR { continue }
            guard count > 0 else { throw WatchedFolder.failure(path, code) }
            let names = try names(in: Array(buffer[..<count]))
            if !names.isEmpty { return names.map { "\(path)/\($0)" } }
        }
    }

    /// The names in a run of `struct inotify_event`: descriptor, mask, cookie and length of 4 bytes, then the name.
    private func names(in events: [UInt8]) throws(CommandError) -> [String] {
        var names: [String] = []
        var rest = events[...]
        while rest.count >= 16 {
            func word(_ index: Int) -> UInt32 {
                rest.dropFirst(index * 4).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
            }
            guard word(1) & UInt32(IN_IGNORED) == 0 else {
                throw CommandError(exit: .noInput, code: "folder-gone", message: "\(path) was removed")
            }
            let name = rest.dropFirst(16).prefix(Int(word(3)))
            let text = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            if !text.isEmpty, !text.hasPrefix("."), !names.contains(text) { names.append(text) }
            rest = rest.dropFirst(16 + Int(word(3)))
        }
        return names
    }

    private static func failure(_ path: String, _ code: Int32) -> CommandError {
        let reason = unsafe String(cString: strerror(code)).lowercased()
        return CommandError(
            exit: .noInput,
            code: "folder-unwatchable",
            message: "\(path) could not be watched: \(reason)",
            remedy: code == ENOTDIR || code == ENOENT ? "name a folder that is there" : nil
        )
    }
}

extension WatchedFolder {
    /// Tries each picture that arrives until one ends without an error, and returns how that ended.
    ///
    /// Why a picture was not it is noted, and the next is waited for; a person ends this by an interrupt. A file that
    /// was closed half written is tried again when it is next closed.
    func firstToPass(
        on console: Console,
        _ attempt: (_ picture: String) async throws -> ExitCode
    ) async throws -> ExitCode {
        console.note("Watching \(Console.plain(path)): put a picture of the code there.")
        while true {
            for picture in try next() {
                do {
                    return try await attempt(picture)
                } catch {
                    let reason = (error as? CommandError) ?? Failure.describe(error)
                    // What this program was told wrong, no other picture puts right.
                    if reason.exit == .usage { throw error }
                    console.note("\(Console.plain(reason.code)): \(Console.plain(reason.message))")
                    for detail in reason.details { console.note("  \(Console.plain(detail.value))") }
                }
            }
        }
    }
}
