import Testing

@testable import TallystickDevice

@Suite("Transport")
struct TransportTests {
    @Test("says that a server that does not answer is unreachable, and that the work is saved")
    func saysUnreachable() throws {
        // Nothing listens on the port reserved for tcpmux, nor would an answer in HTTP come from it.
        let transport = try Transport.network(server: "http://127.0.0.1:1/")
        let error = deviceError { try transport.send(HTTPRequestValue(method: "GET", path: "/v1/server", timeout: 5)) }
        #expect(error?.code == .serverUnreachable)
        #expect(error?.remedy.contains("the work is saved") == true)
    }

    @Test("says what an address should look like", arguments: ["", "tally.example", "ftp://tally.example"])
    func saysBadAddress(server: String) throws {
        let transport = try Transport.network(server: server)
        let error = deviceError { try transport.send(HTTPRequestValue(method: "GET", path: "/v1/server")) }
        #expect(error?.code == .badInput)
    }
}
