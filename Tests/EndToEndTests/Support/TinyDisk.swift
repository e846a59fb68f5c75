import Foundation
import Glibc

/// A disk of a few hundred kilobytes in memory, mounted for one test; only root can have one.
final class TinyDisk {
    /// Whether this process may mount disks; tests that need one are skipped, and say so, where it may not.
    static let isAvailable: Bool = {
        let folder = NSTemporaryDirectory() + "tallystick-mount-" + UUID().uuidString
        guard geteuid() == 0, mkdir(folder, 0o700) == 0 else { return false }
        defer { rmdir(folder) }
        guard mount("tallystick-test", folder, "tmpfs", 0, "size=64k") == 0 else { return false }
        return umount2(folder, Int32(MNT_DETACH)) == 0
    }()

    /// Where it is mounted.
    let path: String

    init(at path: String, kilobytes: Int) throws {
        self.path = path
        guard mkdir(path, 0o700) == 0, mount("tallystick-test", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
            throw UnexpectedRun("expected to mount a disk at \(path): errno \(errno)")
        }
    }

    deinit {
        // Detached even where a program still has a file open.
        umount2(path, Int32(MNT_DETACH))
    }

    /// Writes until nothing more goes on the disk, leaving about this much room.
    func fill(leaving kilobytes: Int = 0) throws {
        let descriptor = open(path + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw UnexpectedRun("expected to fill \(path): errno \(errno)") }
        defer { close(descriptor) }
        let page = [UInt8](repeating: 0xFF, count: 4_096)
        var size = 0
        while true {
            let count = write(descriptor, page, page.count)
            guard count > 0 else { break }
            size += count
        }
        guard errno == ENOSPC, ftruncate(descriptor, max(0, size - kilobytes * 1_024)) == 0 else {
            throw UnexpectedRun("expected a full disk at \(path): errno \(errno)")
        }
    }

    /// Makes the room free again.
    func free() { unlink(path + "/filler") }
}
