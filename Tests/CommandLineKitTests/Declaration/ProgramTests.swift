import CommandLineKit
import Testing

@Suite struct ProgramTests {
    let program = SampleProgram.program

    static let programHelp = """
        Usage: stock COMMAND [options] [arguments]

        Keep count of what is in the shed.

        For everyone:
          put   Put things into the shed
          take  Take things out
          list  List what is there

        Commands:
          refused  Show what did not fit

        For keepers:
          shed         Look after sheds
          completions  Print the script that completes commands in a shell
          manual       Print the manual page
          fail         Fail in a way of your choice

        Options:
              --home DIR  where the counts are kept [default: the user's data folder]
                          [env: STOCK_HOME]
              --json      print the result as JSON, one object a line
              --quiet     print results and errors only
          -h, --help      print this help
              --version   print the version

        Run 'stock help COMMAND' for help on a command.

        """

    static let putHelp = """
        Usage: stock put --by NAME [options] SHED THING=COUNT…

        Put things into the shed.

        Counts what is put. Things nobody has put before are added to the list, so that
        a slip of the pen makes a new thing.

          wood=3   three pieces of wood

        Arguments:
          SHED          which shed
          THING=COUNT…  what, and how many of it

        Options:
              --by NAME      who puts it (required)
          -o, --output FILE  also write a slip
              --label TEXT   stick a label on it (may be repeated)
              --for TIME     how long it stays [default: 15m]
          -n, --dry-run      only say what would happen
          -v, --verbose      say more

        Options of every command:
              --home DIR     where the counts are kept [default: the user's data folder]
                             [env: STOCK_HOME]
              --json         print the result as JSON, one object a line
              --quiet        print results and errors only
          -h, --help         print this help

        Examples:
          Put three pieces of wood into the north shed:
            $ stock put north wood=3 --by Ada

          Put a rope there, with a slip:
            $ stock put north rope=1 --by Ada -o slip.txt

        Exit codes:
           0  it is in the shed
           1  failed; the error says why
           2  the shed is full
          64  the command line was wrong

        """

    static let refusedHelp = """
        Usage: stock refused [options]
               stock refused COMMAND [options] [arguments]

        Show what did not fit.

        Commands:
          retry    Try again
          discard  Give it up

        Options:
        """

    @Test(arguments: ["help", "-h", "--help", "--home x --help", "--help --json"])
    func printsTheHelpOfTheProgram(_ line: String) async {
        let ran = await program.ran(line)
        #expect(ran.output == Self.programHelp)
        #expect(ran.error == "")
        #expect(ran.code == 0)
    }

    @Test func printsHelpAndFailsWithoutArguments() async {
        let ran = await program.ran("")
        #expect(ran.output == Self.programHelp)
        #expect(ran.code == 64)
    }

    @Test(arguments: [
        "help put", "put --help", "put -h", "put --bogus -h", "--help put", "put -nvh", "put x y --by --help",
    ])
    func printsTheHelpOfACommand(_ line: String) async {
        let ran = await program.ran(line)
        #expect(ran.output == Self.putHelp)
        #expect(ran.error == "")
        #expect(ran.code == 0)
    }

    @Test(arguments: [("shed", 64), ("shed help", 0), ("help shed", 0), ("shed --help", 0), ("shed --quiet", 64)])
    func printsTheHelpOfAGroup(_ line: String, code: Int32) async {
        let ran = await program.ran(line)
        #expect(
            ran.output.hasPrefix("Usage: stock shed COMMAND [options] [arguments]\n\nLook after sheds.\n\nCommands:\n")
        )
        #expect(ran.output.contains("  open   Open a shed\n  close  Close a shed\n"))
        #expect(ran.error == "")
        #expect(ran.code == code)
    }

    @Test func showsBothUsesOfACommandThatIsAGroupToo() async {
        let ran = await program.ran("refused --help")
        #expect(ran.output.hasPrefix(Self.refusedHelp))
    }

    @Test(arguments: [20, 40, 50, 80, 200])
    func wrapsHelpToTheWindowAndNeverPast80Columns(_ width: Int) async {
        let ran = await program.ran("help shed open", width: width)
        let widest = ran.output.split(separator: "\n").map(\.count).max() ?? 0
        // Below 40 columns the two columns keep a readable minimum.
        #expect(widest <= max(40, min(width, 80)))
    }

    @Test func makesHeadingsBoldOnlyOnATerminal() async {
        let captured = CapturedConsole(isTerminal: true, environment: ["TERM": "xterm"])
        _ = await program.run(["put", "--help"], console: captured.console)
        #expect(captured.output.contains("\u{1B}[1mArguments:\u{1B}[0m\n"))
        let without = await program.ran("put --help", environment: ["TERM": "xterm"])
        #expect(!without.output.contains("\u{1B}"))
    }

    @Test func printsTheVersion() async {
        let ran = await program.ran("--version")
        #expect(ran.output == "stock 1.2.3\n")
        #expect(ran.code == 0)
        let json = await program.ran("--version --json")
        #expect(json.output == #"{"name":"stock","version":"1.2.3"}"# + "\n")
    }

    @Test func silencesNotesButNotResultsWhenQuiet() async {
        let loud = await program.ran("shed close")
        #expect(loud.output == "shed close\n")
        #expect(loud.error == "noted\n")
        let quiet = await program.ran("shed close --quiet")
        #expect(quiet.output == "shed close\n")
        #expect(quiet.error == "")
    }

    @Test func suppliesExitCodesAndLetsACommandWordThem() {
        let codes = CommandDeclaration(["x"], summary: "", exitCodes: [(.noInput, "gone"), (.failed, "broke")]) { _ in
            .done
        }
        .exitCodes
        #expect(codes.map(\.code) == [.done, .failed, .usage, .noInput])
        #expect(codes.map(\.says) == ["done", "broke", "the command line was wrong", "gone"])
    }
}
