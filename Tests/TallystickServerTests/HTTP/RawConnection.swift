import Foundation

/// A TCP connection to loopback that sends bytes as they are, well-formed or not.
struct RawConnection: ~Copyable {
    struct Failure: Error {
        let call: String
        let code: Int32
    }

    private let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        var address = Self.loopback(port: port)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(call: "connect", code: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Sends the bytes, or as many as the peer takes before it closes.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Says that nothing more will be sent.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads until the peer closes.
    func readToEnd() -> String {
        var all: [UInt8] = []
        while let piece = read() { all += piece }
        return String(decoding: all, as: UTF8.self)
    }

    /// Reads until the text has come, or the peer closes.
    func read(until text: String) -> String {
        var all: [UInt8] = []
        while !String(decoding: all, as: UTF8.self).contains(text), let piece = read() { all += piece }
        return String(decoding: all, as: UTF8.self)
    }

    private func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }

    /// Holds a port on which nothing listens, while `body` runs: connections to it are refused.
    static func withClosedPort<T>(_ body: (Int) throws -> T) throws -> T {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 ? getsockname(descriptor, generic, &length) : -1
            }
        }
        guard result == 0 else { throw Failure(call: "bind", code: errno) }
        return try body(Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return address
    }
}

/// Runs the body on this many threads of its own, numbered from 0, and waits without blocking the test pool.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        for number in 0..<count {
            group.addTask {
                await withCheckedContinuation { continuation in
                    Thread {
                        body(number)
                        continuation.resume()
                    }.start()
                }
            }
        }
    }
}
