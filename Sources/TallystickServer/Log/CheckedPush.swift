import Tallystick
import TallystickCrypto

/// A push whose lines were read and whose signatures were checked, ready for the writer.
struct CheckedPush: Sendable {
    /// The device whose session brought it.
    let device: DeviceID
    /// When it came; the writer moves it where the clock has gone back.
    var received: Timestamp
    /// The lines, in order.
    let lines: [Line]

    /// One line.
    struct Line: Sendable {
        /// SHA-256 of the line.
        let digest: Digest
        let content: Content
    }

    /// What a line turned out to be.
    enum Content: Sendable {
        /// An event, signed by the device that this certificate is of.
        case event(SignedEvent, Certificate)
        /// Nothing that may take an event's place: the verdict says why.
        case unreadable([UInt8], Verdict)
    }

    /// Reads and checks the lines; costs about 0.1 ms a line, on the caller's thread.
    ///
    /// An event becomes one only with a valid signature of a certified device. Anything else is known by its line's
    /// hash: under the event's own hash, id or number it could keep the true event out.
    init(device: DeviceID, received: Timestamp, lines: [ArraySlice<UInt8>], certificates: [DeviceID: Certificate]) {
        self.device = device
        self.received = received
        self.lines = lines.map { line in
            Line(digest: SHA256.hash(line), content: CheckedPush.content(of: Array(line), certificates))
        }
    }

    private static func content(of line: [UInt8], _ certificates: [DeviceID: Certificate]) -> Content {
        let signed: SignedEvent
        do throws(EventError) {
            signed = try SignedEvent(line: line)
        } catch {
            return .unreadable(line, .refused([Reason(error.code, nil, String(error.message.prefix(300)))]))
        }
        let event = signed.event
        guard let certificate = certificates[event.device] else {
            return .unreadable(line, .refused([Reason(.unknownDevice, event.device.description)]))
        }
        guard signed.isSigned(by: certificate.key) else {
            return .unreadable(line, .refused([Reason(.badSignature, event.hash.hex)]))
        }
        return .event(signed, certificate)
    }
}

/// What became of a line: a receipt's result, with the entry as it stands in the log.
struct TakenLine: Sendable {
    let line: Digest
    let status: PushReceipt.Result.Status
    /// The entry's canonical bytes; nil where the line was not taken.
    let entry: [UInt8]?
    /// Why the line could not be written; nil where it could, or was put off.
    var failure: (any Error)?
}

/// What became of a push.
struct TakenPush: Sendable {
    /// When it is taken to have come.
    let received: Timestamp
    /// The database's name when it was written.
    let epoch: String
    let lines: [TakenLine]
}
