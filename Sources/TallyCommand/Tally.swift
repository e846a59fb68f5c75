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
            GroupDeclaration(
                ["server", "scheme"],
                summary: "Keep the schemes that a server decides with",
                section: operators
            ),
            GroupDeclaration(["scheme"], summary: "Read the rules that chains follow", section: records),
            GroupDeclaration(["scheme", "codes"], summary: "Keep the code lists of a scheme"),
        ],
        commands: [
            .enrol, .open, .set, .note, .sign, .offer, .withdraw, .scan, .accept, .decline, .ack, .challenge, .list,
            .show, .refused,
            .admit, .delegate, .correct, .approve, .refuse, .link, .cancel, .close,
            .outbox, .sync,
            .export, .audit, .replay, .schemeList, .schemeShow, .schemeCheck, .schemeTest, .schemeCodesImport,
            .serverInit, .serverInvite, .serverRun, .serverRevoke, .serverRestored, .serverRebuild, .serverTrust,
            .serverSchemeAdd, .serverSchemeList,
            .doctor,
            .completions(
                section: more,
                examples: [("tally completions bash", "prints the script to source in ~/.bashrc")]
            ),
            .manual(section: more, examples: [("tally manual", "prints the page that man -l - shows")]),
        ],
        describe: { Failure.describe($0) }
    )

    /// The number of the first argument that is not UTF-8, from 1: Swift repairs such text without a word, and what
    /// would be signed is not what was typed.
    private static func firstUnreadableArgument() -> Int? {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { continue }
            let bytes = unsafe UnsafeBufferPointer(start: argument, count: strlen(argument)).map {
                UInt8(bitPattern: $0)
            }
            if String(validating: bytes, as: UTF8.self) == nil { return index }
        }
        return nil
    }

    static func main() async {
        DecodeCommand.runIfAsked()
        if let argument = firstUnreadableArgument() {
            Console.standard().note(
                "Error: argument \(argument) is not UTF-8; set the terminal to UTF-8 and type it again"
            )
            exit(ExitCode.usage.rawValue)
        }
        let status = await program.run(Array(CommandLine.arguments.dropFirst()), console: .standard())
        exit(status)
    }
}
