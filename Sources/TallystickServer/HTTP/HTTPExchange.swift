import CMicroHTTPD
import Synchronization

/// One request while it arrives and is answered.
///
/// Only the thread of its connection touches it; the library holds the one reference, from ``beginRequest`` to
/// ``endRequest``.
final class HTTPExchange {
    private let target: String?
    private var method: String?
    private var peer = ""
    private var isTextValid = true
    private var body: [UInt8] = []
    private(set) var headers = HTTPHeaders()
    /// How much of the body came, kept or not.
    private(set) var receivedBytes = 0
    private(set) var hasHead = false
    /// Whether the handler was given it.
    var isInHand = false

    init(target: String?) {
        self.target = target
    }

    /// Reads what the library knows once the header fields have come.
    func readHead(method: String?, _ connection: OpaquePointer) {
        hasHead = true
        self.method = method
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        // The number of fields that it returns is the number of calls.
        _ = unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, addField, this)
        peer = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
            guard let start = text.baseAddress, unsafe tally_http_peer(connection, start, text.count) == 0 else {
                return ""
            }
            let address = unsafe String(cString: start)
            // An IPv4 client of a socket for both kinds (RFC 4291, section 2.5.5.2): one client, one spelling.
            let mapped = "::ffff:"
            return address.hasPrefix(mapped) && address.contains(".")
                ? String(address.dropFirst(mapped.count)) : address
        }
    }

    fileprivate func add(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        guard let name = unsafe String(validating: name, as: UTF8.self),
            let value = unsafe String(validating: value, as: UTF8.self)
        else {
            isTextValid = false
            return
        }
        headers.add(name, value)
    }

    /// Keeps a piece of the body, as far as it fits.
    func receive(_ bytes: UnsafeRawBufferPointer, limit: Int) {
        let (sum, overflow) = receivedBytes.addingReportingOverflow(bytes.count)
        receivedBytes = overflow ? .max : sum
        if receivedBytes <= limit {
            unsafe body.append(contentsOf: bytes)
        } else {
            body = []  // it will not be used
        }
    }

    /// Makes the request for the handler.
    ///
    /// - Throws: ``HTTPError/Code/badRequest``.
    func request() throws(HTTPError) -> HTTPRequest {
        guard isTextValid, let method, let target else {
            throw HTTPError(.badRequest, "expected a request line and header fields in UTF-8")
        }
        return HTTPRequest(
            method: method,
            target: try HTTPTarget(parsing: target),
            headers: headers,
            body: body,
            peer: peer
        )
    }
}

// MARK: - Callbacks
// The library calls these on its own threads. They are top-level functions, as a closure may inherit an actor and
// trap there. The context is the server's core, the slot holds the exchange.

/// Called when the request line was read; the library keeps what it returns in the request's slot.
func beginRequest(
    _ context: UnsafeMutableRawPointer?,
    _ target: UnsafePointer<CChar>?,
    _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    unsafe core(context).openRequests.add(1, ordering: .relaxed)
    let text = unsafe target.flatMap { unsafe String(validatingCString: $0) }
    return unsafe Unmanaged.passRetained(HTTPExchange(target: text)).toOpaque()
}

/// Called with the header fields, then with each piece of the body, then at the end.
func handleRequest(
    _ context: UnsafeMutableRawPointer?,
    _ connection: OpaquePointer?,
    _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?,
    _ data: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let connection = unsafe connection, let size = unsafe size,
        let held = unsafe slot?.pointee
    else { return .NO }
    let core = unsafe core(context)
    let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(held).takeUnretainedValue()
    guard exchange.hasHead else {
        let method = unsafe method.flatMap { unsafe String(validatingCString: $0) }
        return unsafe core.open(exchange, method: method, connection)
    }
    guard unsafe size.pointee > 0 else { return unsafe core.answer(exchange, on: connection) }
    let piece = unsafe UnsafeRawBufferPointer(start: data, count: size.pointee)
    unsafe size.pointee = 0  // all of it was taken
    return unsafe core.receive(exchange, piece)
}

/// Called once for each request that was begun, however it ended.
func endRequest(
    _ context: UnsafeMutableRawPointer?,
    _ connection: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ reason: MHD_RequestTerminationCode
) {
    guard let context = unsafe context, let slot = unsafe slot, let held = unsafe slot.pointee else { return }
    unsafe slot.pointee = nil
    let core = unsafe core(context)
    core.finish(unsafe Unmanaged<HTTPExchange>.fromOpaque(held).takeRetainedValue())
    if reason == .REQUEST_TERMINATED_COMPLETED_OK, let connection = unsafe connection {
        unsafe core.awaitHead(on: connection)
    }
    core.openRequests.subtract(1, ordering: .relaxed)
}

/// Called for each header field.
private func addField(
    _ context: UnsafeMutableRawPointer?,
    _ kind: MHD_ValueKind,
    _ name: UnsafePointer<CChar>?,
    _ nameSize: Int,
    _ value: UnsafePointer<CChar>?,
    _ valueSize: Int
) -> MHD_Result {
    guard let context = unsafe context else { return .NO }
    let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(context).takeUnretainedValue()
    unsafe exchange.add(
        UnsafeRawBufferPointer(start: name, count: name == nil ? 0 : nameSize),
        UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueSize)
    )
    return .YES
}

private func core(_ context: UnsafeMutableRawPointer) -> HTTPServerCore {
    unsafe Unmanaged<HTTPServerCore>.fromOpaque(context).takeUnretainedValue()
}
