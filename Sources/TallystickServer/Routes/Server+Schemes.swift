import Tallystick
import TallystickCrypto

/// The schemes that chains can be opened with, for devices.
extension Server {
    /// The signed list, or a scheme by its hash.
    func schemes(_ request: HTTPRequest) throws -> HTTPResponse {
        try allow("GET", for: request)
        _ = try reader(request)
        guard let text = request.path.dropFirst(2).first else {
            return answer(bytes: try store.schemeList(), type: "application/json")
        }
        guard let hash = Digest(hex: text), let bytes = try store.schemeBytes(hash) else {
            throw Problem(404, "not-found", "Not found", "there is no scheme with this hash here")
        }
        var response = answer(bytes: bytes, type: "application/json")
        // What a hash names never changes; it is for devices alone, since only they can ask.
        response.headers = [
            "Content-Type": "application/json", "Cache-Control": "private, max-age=31536000, immutable",
        ]
        return response
    }
}
