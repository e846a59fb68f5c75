import Glibc
import Tallystick
import TallystickQR

/// The hidden command that `tally` gives itself: read one picture in a process that can do nothing else.
enum DecodeCommand {
    /// Does it, and ends the process, where the first argument asks for it; before anything else is set up.
    static func runIfAsked() {
        guard CommandLine.arguments.dropFirst().first == DecoderProcess.argument else { return }
        exit(DecoderProcess.run(wanted: isWanted))
    }

    /// Whether a code's text ends the search: a whole one of ours.
    private static func isWanted(_ text: [UInt8]) -> Bool {
        if case .half = CompactCode.read(text) { true } else { false }
    }
}
