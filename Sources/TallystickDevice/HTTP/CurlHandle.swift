import CCurl

/// The result of setting up libcurl, done once for the process; a global is initialised once even with many threads.
let curlSetUp: CURLcode = tally_curl_global_init()

/// Owns one easy handle of libcurl, with the connections it keeps.
@safe struct CurlHandle: ~Copyable {
    private let handle: UnsafeMutableRawPointer
    /// Where curl writes the reason of a failure.
    private let reason: UnsafeMutablePointer<CChar>
    private var headers: UnsafeMutablePointer<curl_slist>?

    init() throws(HTTPClientError) {
        guard let handle = unsafe curl_easy_init() else {
            throw HTTPClientError(.other, "libcurl could not be set up")
        }
        unsafe self.handle = handle
        unsafe reason = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe reason.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(headers)
        unsafe reason.deallocate()
    }

    /// Forgets all options, and with them all pointers; connections stay.
    mutating func clear() {
        unsafe curl_easy_reset(handle)
        unsafe curl_slist_free_all(headers)
        unsafe headers = nil
    }

    func set(_ option: CURLoption, _ value: Int) throws(HTTPClientError) {
        try check(unsafe tally_curl_set_long(handle, option, value))
    }

    func set(_ option: CURLoption, _ value: String) throws(HTTPClientError) {
        try check(unsafe tally_curl_set_text(handle, option, value))
    }

    func setAuthority(_ pem: String) throws(HTTPClientError) {
        var pem = pem
        let code = pem.withUTF8 { bytes in
            unsafe tally_curl_set_authority(handle, bytes.baseAddress, bytes.count)
        }
        try check(code)
    }

    mutating func setHeaders(_ lines: [String]) throws(HTTPClientError) {
        for line in lines {
            guard let longer = unsafe curl_slist_append(headers, line) else {
                throw HTTPClientError(.other, "expected memory for header fields")
            }
            unsafe headers = longer
        }
        try check(unsafe tally_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers))
    }

    /// Sends the request and fills the reception.
    ///
    /// - Returns: The code of the transfer and the status of the answer.
    func perform(body: [UInt8]?, into reception: Reception) throws(HTTPClientError) -> (CURLcode, Int) {
        unsafe reason.pointee = 0
        try check(unsafe tally_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, reason))
        let receiver = unsafe Unmanaged.passUnretained(reception).toOpaque()
        try check(unsafe tally_curl_set_receiver(handle, CURLOPT_WRITEFUNCTION, receiveBody))
        try check(unsafe tally_curl_set_pointer(handle, CURLOPT_WRITEDATA, receiver))
        try check(unsafe tally_curl_set_receiver(handle, CURLOPT_HEADERFUNCTION, receiveHeader))
        try check(unsafe tally_curl_set_pointer(handle, CURLOPT_HEADERDATA, receiver))
        let code: CURLcode
        if let body {
            try check(unsafe tally_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
            code = unsafe body.withUnsafeBytes { bytes in
                // curl reads from here while it sends, so the whole transfer happens inside; `clear` forgets the
                // pointer. A null pointer would have curl ask a callback for the body.
                let set = unsafe "".withCString { empty in
                    unsafe tally_curl_set_pointer(
                        handle,
                        CURLOPT_POSTFIELDS,
                        bytes.baseAddress ?? UnsafeRawPointer(empty)
                    )
                }
                return unsafe set == CURLE_OK ? curl_easy_perform(handle) : set
            }
        } else {
            code = unsafe curl_easy_perform(handle)
        }
        // The callbacks hold no reference of their own.
        withExtendedLifetime(reception) {}
        var status = 0
        try check(unsafe tally_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status))
        return (code, status)
    }

    /// Gives what curl says about the transfer that ended with a code.
    func message(for code: CURLcode) -> String {
        let detail = unsafe String(cString: reason)
        guard detail.isEmpty else { return detail }
        return unsafe curl_easy_strerror(code).map { unsafe String(cString: $0) } ?? "unknown error"
    }

    private func check(_ code: CURLcode) throws(HTTPClientError) {
        guard code == CURLE_OK else {
            throw HTTPClientError(.other, "libcurl refused an option: \(message(for: code))")
        }
    }
}

/// Collects an answer while it arrives.
final class Reception {
    private let bodyLimit: Int
    private let headerLimit: Int
    private var headerBytes = 0
    private(set) var headers: [HTTPReply.Field] = []
    private(set) var body: [UInt8] = []
    /// Whether the transfer was ended because there was too much.
    private(set) var isTooLarge = false

    init(bodyLimit: Int, headerLimit: Int) {
        self.bodyLimit = bodyLimit
        self.headerLimit = headerLimit
    }

    /// Takes a piece of the body; false ends the transfer.
    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= bodyLimit - body.count else {
            isTooLarge = true
            return false
        }
        unsafe body.append(contentsOf: bytes)
        return true
    }

    /// Takes a line of the header; false ends the transfer.
    func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= headerLimit - headerBytes else {
            isTooLarge = true
            return false
        }
        headerBytes += bytes.count
        let line = unsafe String(decoding: bytes, as: UTF8.self)  // nothing that is signed travels in header fields
        if line.hasPrefix("HTTP/") {
            headers = []  // what came before belongs to an interim answer (100 Continue)
            return true
        }
        let parts = line.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = parts.first, let value = parts.last else { return true }
        headers.append(HTTPReply.Field(name: Self.trimmed(name), value: Self.trimmed(value)))
        return true
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        let isBlank: (UInt8) -> Bool = { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
        var rest = text.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return String(Substring(rest))
    }
}

// MARK: - Callbacks
// libcurl calls these on the thread of the call. Top-level functions, as a closure could inherit an actor.

private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ reception: UnsafeMutableRawPointer?
) -> Int {
    unsafe receive(bytes, size, count, reception) { reception, bytes in unsafe reception.takeBody(bytes) }
}

private func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ reception: UnsafeMutableRawPointer?
) -> Int {
    unsafe receive(bytes, size, count, reception) { reception, bytes in unsafe reception.takeHeader(bytes) }
}

/// Hands bytes to the reception and says how many it took: another number than came ends the transfer.
private func receive(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ reception: UnsafeMutableRawPointer?,
    _ take: (Reception, UnsafeRawBufferPointer) -> Bool
) -> Int {
    let (length, overflow) = size.multipliedReportingOverflow(by: count)
    guard !overflow, length > 0, let bytes = unsafe bytes, let reception = unsafe reception else { return 0 }
    let receiver = unsafe Unmanaged<Reception>.fromOpaque(reception).takeUnretainedValue()
    return unsafe take(receiver, UnsafeRawBufferPointer(start: bytes, count: length)) ? length : 0
}
