import Glibc
import Tallystick
import TallystickQR

/// The hidden command that `tally` gives itself: read one picture in a process that can do nothing else.
enum DecodeCommand {
    /// Does it, and ends the process, where the first argument asks for it; before anything else is set up.
    static func runIfAsked() {
        guard CommandLine.arguments.dropFirst().first == DecoderProcess.argument else { return }
        var joiner = PartJoiner()
        exit(DecoderProcess.run { text in isWhole(text, &joiner) })
    }

    /// Whether a code's text ends the search: a whole message of ours, or the last part of one.
    private static func isWhole(_ text: [UInt8], _ joiner: inout PartJoiner) -> Bool {
        guard case .message(let message) = CodeMessage.read(text: text) else { return false }
        guard case .part(let part) = message else { return true }
        if case .complete = joiner.add(part) { return true }
        return false
    }
}
