import CommandLineKit
import TallystickQR

/// Which libzbar reads the codes, and whether it has the fixes for CVE-2023-40889 and CVE-2023-40890.
///
/// The library says only three numbers. Those of 0.23.93 and later are enough; 0.23.92 has the fixes from Debian's
/// package version 0.23.92-7+deb12u1 on, which only the package manager knows, and only if the library came from it.
struct CodeReaderLibrary: Equatable {
    /// What is known of the fixes.
    enum Fixes: Equatable {
        case present
        case absent
        case unknown
    }

    /// The version, of the package where it is known.
    let version: String
    let fixes: Fixes

    /// Judges the numbers that the library says, and the state of Debian's packages where there is one.
    init(numbers: (Int, Int, Int)?, packages: [UInt8]?) {
        guard let numbers else {
            (version, fixes) = ("of an unknown version", .unknown)
            return
        }
        let spoken = "\(numbers.0).\(numbers.1).\(numbers.2)"
        let package = packages.flatMap(CodeReaderLibrary.package)
        // A package of another version is not where this library came from.
        let isOurs = package.map { $0.hasPrefix(spoken + "-") || $0.hasPrefix(spoken + "+") } ?? false
        version = isOurs ? package ?? spoken : spoken
        if numbers >= (0, 23, 93) {
            fixes = .present
        } else if numbers < (0, 23, 92) {
            fixes = .absent
        } else if isOurs, let package {
            let update = "0.23.92-7+deb12u"
            let number = package.hasPrefix(update) ? Int(package.dropFirst(update.count)) : nil
            fixes = (number ?? 0) >= 1 ? .present : .absent
        } else {
            fixes = .unknown
        }
    }

    /// The library of this process on this machine.
    static func installed() -> CodeReaderLibrary {
        // No list of packages, or one that cannot be read, only means that less is known.
        let packages = try? Files.read("/var/lib/dpkg/status", limit: 64 << 20)
        return CodeReaderLibrary(numbers: QRDecoder.libraryVersion, packages: packages)
    }

    /// Throws `libzbar-unpatched` where the fixes are missing or not known to be there.
    func check() throws(CommandError) {
        guard fixes != .present else { return }
        throw CommandError(
            exit: .foundProblems,
            code: "libzbar-unpatched",
            message:
                "libzbar \(version) \(fixes == .absent ? "lacks" : "may lack") the fixes of CVE-2023-40889 and -40890",
            remedy:
                "install libzbar 0.23.93 or later, or Debian's 0.23.92-7+deb12u1; pictures are read in a limited process either way"
        )
    }

    /// The version of the installed package libzbar0 in dpkg's list: paragraphs of `Name: value` lines.
    private static func package(_ status: [UInt8]) -> String? {
        var name = false
        var installed = false
        var version: String?
        for line in status.split(separator: 0x0A, omittingEmptySubsequences: false) {
            if line.isEmpty {
                if name, installed, let version { return version }
                (name, installed, version) = (false, false, nil)
            } else if line.elementsEqual("Package: libzbar0".utf8) {
                name = true
            } else if line.elementsEqual("Status: install ok installed".utf8) {
                installed = true
            } else if name, line.starts(with: "Version: ".utf8) {
                version = String(decoding: line.dropFirst("Version: ".utf8.count), as: UTF8.self)
            }
        }
        return name && installed ? version : nil
    }
}
