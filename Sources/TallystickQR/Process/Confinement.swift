import CLinux
import Glibc

/// Takes from this process what looking at a picture does not need, for good.
enum Confinement {
    /// Seconds of processor time, some more than a picture is looked at for.
    static let processorSeconds = 5
    /// Bytes of address space: a picture of 50 megapixels needs less than a third.
    static let addressSpace = 1 << 30

    /// Sets the limits; throws `decoder-failed` where one cannot be set.
    ///
    /// No new file or socket can be opened after it: the three standard descriptors are all that the limit allows.
    static func enter() throws(QRError) {
        prepareCharacterSets()
        // An orphan is of no use: nobody would read what it finds.
        guard tally_end_with_parent() == 0 else { throw failure("to end with its parent", errno) }
        guard tally_forbid_new_privileges() == 0 else { throw failure("to give up new privileges", errno) }
        let limits: [(resource: __rlimit_resource, name: String, soft: Int, hard: Int)] = [
            (RLIMIT_CPU, "processor time", processorSeconds, processorSeconds + 1),
            (RLIMIT_AS, "address space", addressSpace, addressSpace),
            (RLIMIT_FSIZE, "file size", 0, 0),
            (RLIMIT_CORE, "core file", 0, 0),
            (RLIMIT_NOFILE, "open files", 3, 3),
        ]
        for limit in limits {
            var current = rlimit()
            guard unsafe getrlimit(__rlimit_resource_t(limit.resource.rawValue), &current) == 0 else {
                throw failure(limit.name, errno)
            }
            // What is stricter already, from outside, stays.
            let hard = min(current.rlim_max, rlim_t(limit.hard))
            var wanted = rlimit(rlim_cur: min(hard, rlim_t(limit.soft)), rlim_max: hard)
            guard unsafe setrlimit(__rlimit_resource_t(limit.resource.rawValue), &wanted) == 0 else {
                throw failure(limit.name, errno)
            }
        }
    }

    /// Loads what libzbar converts text with while files can still be opened.
    ///
    /// Each stays open until the process ends. What cannot be loaded is not converted: such a code holds its bytes.
    private static func prepareCharacterSets() {
        let names = ["UTF-8", "SJIS", "BIG5", "CP437"] + (1...16).map { "ISO8859-\($0)" }
        for name in names { _ = unsafe iconv_open("UTF-8", name) }
    }

    private static func failure(_ what: String, _ code: Int32) -> QRError {
        QRError(.decoderFailed, "expected the decoding process to limit itself: \(what), got errno \(code)")
    }
}
