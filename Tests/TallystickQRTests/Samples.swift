import Foundation
import Tallystick
import TallystickQR

/// Texts and pictures that several suites use.
enum Samples {
    /// An offer-sized payload: `TS1$` and the Base45 of 90 bytes, 139 characters.
    static let offer = "TS1$" + Base45.encode((0..<90).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 17) })

    /// A caption as the command line will write it.
    static let caption = ["Offer 7K2M-9QXD", "Brown & Sons -> North Depot", "expires 2026-03-04 15:30 UTC"]

    /// The folder of fixtures: `TALLY_FIXTURES`, or `../shared/fixtures` beside the package.
    static let fixtures: URL = {
        if let path = ProcessInfo.processInfo.environment["TALLY_FIXTURES"] { return URL(fileURLWithPath: path) }
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return root.deletingLastPathComponent().appendingPathComponent("shared/fixtures")
    }()

    /// Time enough for every stage on any machine: what is read must not depend on how fast it is.
    static let unhurried = Duration.seconds(3_600)

    /// Sends a picture through the decoder with the prefix as what is wanted.
    static func decode(_ image: GrayImage) throws -> [QRSymbol] {
        try QRDecoder.symbols(in: image, budget: unhurried) { $0.starts(with: "TS1$".utf8) }
    }

    /// The code of an error thrown by the body, or nil where it threw none.
    static func code(of body: () throws(QRError) -> Void) -> QRError.Code? {
        do throws(QRError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }
}
