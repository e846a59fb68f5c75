import Synchronization
import Testing

@testable import CommandLineKit

@Suite struct ConsoleTests {
    @Test(arguments: [
        ("plain ünïcode 👍", "plain ünïcode 👍"),
        ("\u{1B}[2J", "<U+001B>[2J"),
        ("ding\u{07}", "ding<U+0007>"),
        ("abc\u{202E}fdp.exe", "abc<U+202E>fdp.exe"),
        ("\u{2066}x\u{2069}\u{200F}\u{061C}", "<U+2066>x<U+2069><U+200F><U+061C>"),
        ("\u{9B}31m", "<U+009B>31m"),
        ("a\r\nb\tc", "a<U+000D><U+000A>b<U+0009>c"),
        ("\u{0}\u{7F}\u{85}\u{2028}", "<U+0000><U+007F><U+0085><U+2028>"),
        ("e\u{301}\u{1B}", "e\u{301}<U+001B>"),
        ("", ""),
    ])
    func makesUntrustedTextPlain(_ text: String, _ plain: String) {
        #expect(Array(Console.plain(text).utf8) == Array(plain.utf8))
    }

    @Test(
        arguments: [
            (true, ["TERM": "xterm"], true),
            (false, ["TERM": "xterm"], false),
            (true, ["TERM": "dumb"], false),
            (true, [:], false),
            (true, ["TERM": "xterm", "NO_COLOR": "1"], false),
            (true, ["TERM": "xterm", "NO_COLOR": ""], true),
        ] as [(Bool, [String: String], Bool)]
    )
    func coloursOnlyWhereItIsWanted(_ isTerminal: Bool, _ environment: [String: String], _ allowed: Bool) {
        let console = CapturedConsole(isTerminal: isTerminal, environment: environment).console
        #expect(console.allowsColour(on: .output) == allowed)
        #expect(console.styled("x", .good, on: .error) == (allowed ? "\u{1B}[32mx\u{1B}[0m" : "x"))
    }

    @Test(
        arguments: [
            (nil, [:], 80), (100, [:], 100), (nil, ["COLUMNS": "60"], 60), (5, [:], 20), (0, [:], 80),
            (nil, ["COLUMNS": "-3"], 80), (nil, ["COLUMNS": "wide"], 80),
        ] as [(Int?, [String: String], Int)]
    )
    func knowsTheWidth(_ window: Int?, _ environment: [String: String], _ width: Int) {
        #expect(CapturedConsole(width: window, environment: environment).console.width == width)
    }

    @Test(arguments: [
        (["y"], true), (["YES "], true), (["n"], false), ([""], false), ([], false), (["what", "yes"], true),
        (["a", "b", "c", "y"], false),
    ])
    func asksAndTakesTheAnswer(_ input: [String], _ answer: Bool) {
        let captured = CapturedConsole(isTerminal: true, input: input)
        #expect(captured.console.confirm("Discard it?") == answer)
        #expect(captured.error.hasPrefix("Discard it? [y/N] "))
        #expect(captured.output == "")
    }

    @Test func asksNobodyWithoutATerminalOrWithJSON() {
        let captured = CapturedConsole(input: ["y"])
        #expect(captured.console.confirm("Discard it?") == nil)
        let terminal = CapturedConsole(isTerminal: true, input: ["y"])
        #expect(terminal.console.configured(quiet: false, json: true).confirm("Discard it?") == nil)
        #expect(captured.error + terminal.error == "")
    }

    @Test func stopsWritingWhenTheReaderHasGone() {
        let console = CapturedConsole(outputResult: .readerGone).console
        #expect(!console.outputReaderIsGone)
        console.print("x")
        #expect(console.outputReaderIsGone)
        #expect(console.configured(quiet: true, json: false).outputReaderIsGone)
        #expect(console.outputFailure == nil)
    }

    @Test func printsJSONOnOneLine() {
        let captured = CapturedConsole()
        captured.console.print(["a": 1])
        captured.console.print(["a": "x\ny"])
        #expect(captured.output == "{\"a\":1}\n{\"a\":\"x\\ny\"}\n")
    }
}

@Suite struct ProgressTests {
    @Test func showsOnlyAfterASecondAndCleansUp() {
        let captured = CapturedConsole(isTerminal: true, environment: ["TERM": "xterm"])
        let console = captured.console
        let progress = Progress("reading", total: 200, on: console)
        progress.advance(by: 10)
        #expect(captured.error == "")
        captured.pass(.seconds(1))
        progress.advance(by: 40)
        #expect(captured.error == "\r\u{1B}[Kreading: 50 of 200 (25%)")
        captured.pass(.milliseconds(50))
        progress.advance(to: 60)
        #expect(captured.error == "\r\u{1B}[Kreading: 50 of 200 (25%)", "at most ten times a second")
        console.print("a result")
        #expect(captured.error.hasSuffix("\r\u{1B}[K"), "a result must not land in the line of progress")
        captured.pass(.seconds(1))
        progress.advance(to: 200)
        progress.finish()
        progress.advance(to: 300)
        #expect(captured.error.hasSuffix("\r\u{1B}[Kreading: 200 of 200 (100%)\r\u{1B}[K"))
    }

    @Test(arguments: [(false, "xterm", false), (true, "dumb", false), (true, "xterm", true)])
    func staysSilentWithoutATerminalOrWhenQuiet(_ isTerminal: Bool, _ term: String, _ quiet: Bool) {
        let captured = CapturedConsole(isTerminal: isTerminal, environment: ["TERM": term])
        let progress = Progress("reading", total: nil, on: captured.console.configured(quiet: quiet, json: false))
        captured.pass(.seconds(5))
        progress.advance(by: 1)
        progress.finish()
        #expect(captured.error == "")
    }

    @Test func survivesAbsurdNumbers() {
        let captured = CapturedConsole(isTerminal: true, environment: ["TERM": "xterm"])
        let progress = Progress("x", total: 1, on: captured.console)
        captured.pass(.seconds(2))
        progress.advance(to: .max)
        progress.advance(by: 1)
        captured.pass(.seconds(2))
        progress.advance(to: .min)
        #expect(captured.error.contains("(100%)"))
        #expect(captured.error.contains("(0%)"))
    }
}
