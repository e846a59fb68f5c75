import CommandLineKit
import Glibc

/// The program `tally`.
@main
struct Tally {
    /// The version that `--version` prints.
    static let version = "0.1.0"

    static let field = "In the field"
    static let records = "Records and rules"
    static let operators = "For operators"
    static let more = "More"

    static let program = Program(
        name: "tally",
        version: version,
        summary: "chain of custody that works with no signal and can be checked by anyone",
        discussion: """
            A load passes from producer to carrier to receiver. Each signs for it on a device of its own, with or \
            without a network; giver and taker match their halves by a QR code; the server checks both when they \
            arrive; an auditor rebuilds everything from the record and gets the same answer.

            A device keeps its key and its file in its home: --home DIR, or TALLY_HOME. Nothing a command says waits \
            for the network: `tally sync` sends and fetches when there is one.
            """,
        options: [
            OptionDeclaration(
                "home",
                value: "DIR",
                default: .described("the user's data folder, ~/.local/share/tallystick"),
                environment: "TALLY_HOME",
                values: .folders,
                help: "the device's folder"
            )
        ],
        groups: [
            GroupDeclaration(["server"], summary: "Run and keep a server", section: operators),
            GroupDeclaration(["scheme"], summary: "Read the rules that chains follow", section: records),
        ],
        commands: [
            .enrol, .open, .set, .note, .sign, .offer, .withdraw, .scan, .accept, .decline, .list, .show, .refused,
            .outbox, .sync,
            .export, .audit, .replay, .schemeList, .schemeShow, .schemeCheck,
            .serverInit, .serverInvite, .serverRun, .serverRevoke, .serverRebuild, .serverTrust,
            .doctor, .completions(section: more), .manual(section: more),
        ],
        describe: { Failure.describe($0) }
    )

    static func main() async {
        DecodeCommand.runIfAsked()
        let status = await program.run(Array(CommandLine.arguments.dropFirst()), console: .standard())
        exit(status)
    }
}
