import CommandLineKit
import Testing

@Suite struct CommandErrorTests {
    let program = SampleProgram.program

    @Test(
        arguments: [
            ("fail ok", 0, ""),
            ("fail problems", 2, ""),
            (
                "fail mapped", 65,
                "Error: page 7 of the ledger is torn\n  page: 7\nMend it with 'stock shed open'.\n"
            ),
            ("fail stray", 1, "Error: the ink ran out\n"),
            (
                "fail usage", 64,
                "Error: COUNT must be above 0, not -1\nUsage: stock fail [options] HOW\nRun 'stock fail --help' for help.\n"
            ),
            ("fail done", 1, "Error: an error that says done\n"),
            (
                "fail undeclared", 1,
                "Error: the command fail declares no option --colour\nThis is a mistake in stock; please report it.\n"
            ),
            (
                "fail hostile", 66,
                "Error: no shed <U+001B>[2J<U+202E>dehs\nAsk<U+000A>again.\n"
            ),
            (
                "fail mapped --quiet", 65,
                "Error: page 7 of the ledger is torn\n  page: 7\nMend it with 'stock shed open'.\n"
            ),
        ] as [(String, Int32, String)]
    )
    func tellsPeopleOnStandardError(_ line: String, code: Int32, error: String) async {
        let ran = await program.ran(line)
        #expect(ran.error == error)
        #expect(ran.output == "")
        #expect(ran.code == code)
    }

    @Test(
        arguments: [
            (
                "fail mapped --json", 65,
                #"{"error":{"code":"page-torn","message":"page 7 of the ledger is torn","remedy":"Mend it with 'stock shed open'.","details":{"page":"7"},"exit":65}}"#
            ),
            (
                "--json fail stray", 1,
                #"{"error":{"code":"failed","message":"the ink ran out","remedy":null,"details":{},"exit":1}}"#
            ),
            (
                "lst --json", 64,
                #"{"error":{"code":"unknown-command","message":"unknown command 'lst'","remedy":"Did you mean 'stock list'?","details":{},"exit":64}}"#
            ),
            (
                "--json", 64,
                #"{"error":{"code":"missing-command","message":"no command was given","remedy":null,"details":{},"exit":64}}"#
            ),
        ] as [(String, Int32, String)]
    )
    func tellsScriptsOnStandardOutput(_ line: String, code: Int32, output: String) async {
        let ran = await program.ran(line)
        #expect(ran.output == output + "\n")
        #expect(ran.error == "")
        #expect(ran.code == code)
    }

    @Test func failsWhenTheResultCouldNotBeWritten() async {
        let captured = CapturedConsole(outputResult: .failed("No space left on device"))
        let code = await program.run(["list"], console: captured.console)
        #expect(code == 1)
        #expect(
            captured.error == "noted\nError: standard output could not be written: No space left on device\n"
        )
    }

    @Test func doesNotFailWhenTheReaderHasGone() async {
        let captured = CapturedConsole(outputResult: .readerGone)
        let code = await program.run(["list"], console: captured.console)
        #expect(code == 0)
        #expect(captured.error == "noted\n")
    }
}
