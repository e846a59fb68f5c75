import CommandLineKit
import Testing

@Suite struct CommandParserTests {
    let program = SampleProgram.program

    @Test(arguments: [
        ("list", "list"),
        ("list count", "list ORDER<count>"),
        ("shed open --key f", "shed open --key<f>"),
        ("shed --key f open", "shed open --key<f>"),
        ("--key f shed open", "shed open --key<f>"),
        ("-kf shed open", "shed open --key<f>"),
        ("-k f shed open", "shed open --key<f>"),
        ("shed open --key=list", "shed open --key<list>"),
        ("shed open --key list", "shed open --key<list>"),
        ("shed open --key=", "shed open --key<>"),
        ("shed open --key=a=b", "shed open --key<a=b>"),
        ("shed open -k=f", "shed open --key<f>"),
        ("shed open -k -", "shed open --key<->"),
        ("shed open --key -5", "shed open --key<-5>"),
        ("shed open --key --strange", "shed open --key<--strange>"),
        ("shed open --key=--json", "shed open --key<--json>"),
        ("--home h list", "list --home<h>"),
        ("list --home=h --quiet", "list --home<h>"),
        ("put n a=1 --by x", "put SHED<n> THING=COUNT<a=1> --by<x> --for<15m>"),
        ("put --by x n a=1 b=--c", "put SHED<n> THING=COUNT<a=1> THING=COUNT<b=--c> --by<x> --for<15m>"),
        (
            "put n --by=x a=1 -nv -o slip",
            "put SHED<n> THING=COUNT<a=1> --by<x> --output<slip> --for<15m> --dry-run --verbose"
        ),
        (
            "put n a=1 --by x -nvoslip",
            "put SHED<n> THING=COUNT<a=1> --by<x> --output<slip> --for<15m> --dry-run --verbose"
        ),
        ("put n a=1 --by x -no slip", "put SHED<n> THING=COUNT<a=1> --by<x> --output<slip> --for<15m> --dry-run"),
        ("put --by x -- n -o --json", "put SHED<n> THING=COUNT<-o> THING=COUNT<--json> --by<x> --for<15m>"),
        ("put --by x - -- --", "put SHED<-> THING=COUNT<--> --by<x> --for<15m>"),
        (
            "put n a=1 --by x --label p --label q",
            "put SHED<n> THING=COUNT<a=1> --by<x> --label<p> --label<q> --for<15m>"
        ),
        ("put n a=1 --by x --for 2h -n -n", "put SHED<n> THING=COUNT<a=1> --by<x> --for<2h> --dry-run"),
        ("put list help --by x", "put SHED<list> THING=COUNT<help> --by<x> --for<15m>"),
        ("take a b", "take FROM<a> TO<b>"),
        ("take a x y b", "take FROM<a> THINGS<x> THINGS<y> TO<b>"),
        ("refused", "refused"),
        ("refused retry", "refused retry"),
        ("refused discard 7", "refused discard ID<7>"),
    ])
    func understands(_ line: String, as meaning: String) async {
        let ran = await program.ran(line)
        let shown = ran.output.split(separator: "\n").map { $0.replacing(" <", with: "<") }.joined(separator: " ")
        #expect(shown == meaning)
        #expect(ran.code == 0, "\(ran.error)")
    }

    @Test(
        arguments: [
            ("lst", "unknown command 'lst'", "Did you mean 'stock list'?"),
            ("LIST", "unknown command 'LIST'", "Did you mean 'stock list'?"),
            ("open", "unknown command 'open'", "Did you mean 'stock shed open'?"),
            ("shed opne", "unknown command 'shed opne'", "Did you mean 'stock shed open'?"),
            ("zzzzzz", "unknown command 'zzzzzz'", nil),
            ("help nonesuch", "unknown command 'nonesuch'", nil),
            ("help put north", "unknown command 'put north'", nil),
            ("-- list", "unknown command 'list'", "Did you mean 'stock list'?"),
            ("--bogus", "unknown option '--bogus'", nil),
            ("list --jsn", "unknown option '--jsn'", "Did you mean '--json'?"),
            ("shed open --kee f", "unknown option '--kee'", "Did you mean '--key'?"),
            ("list --version", "unknown option '--version'", nil),
            ("list --quiet=yes", "option --quiet takes no value", nil),
            ("list -x", "unknown option '-x'", "An argument that starts with a dash goes after '--'."),
            ("list -json", "unknown option '-json'", "Did you mean '--json'?"),
            ("list -5", "unknown option '-5'", "An argument that starts with a dash goes after '--'."),
            ("list nam", "ORDER must be one of name, count, not 'nam'", "Did you mean 'name'?"),
            ("list name count", "unexpected argument 'count'", nil),
            ("shed close now", "unexpected argument 'now'", nil),
            ("refused rety", "unexpected argument 'rety'", "Did you mean 'stock refused retry'?"),
            ("refused discard", "missing argument ID", nil),
            ("take", "missing argument FROM", nil),
            ("take a", "missing argument TO", nil),
            ("put --by x", "missing argument SHED", nil),
            ("put --by x n", "missing argument THING=COUNT", nil),
            ("put n a=1", "missing option --by NAME", nil),
            ("put n a=1 --by", "option --by needs a value: --by NAME", nil),
            (
                "put n a=1 --by --for 3", "option --by needs a value: --by NAME",
                "If the value is '--for', write it as --by=--for"
            ),
            (
                "--home --key f shed open", "option --home needs a value: --home DIR",
                "If the value is '--key', write it as --home=--key"
            ),
            ("put n a=1 --by -n", "option --by needs a value: --by NAME", "If the value is '-n', write it as --by=-n"),
            (
                "put n a=1 -n --by -- x", "option --by needs a value: --by NAME",
                "If the value is '--', write it as --by=--"
            ),
            ("put n a=1 --by x -o", "option --output needs a value: --output FILE", nil),
            ("put n a=1 --by x --by y", "option --by was given more than once", nil),
        ] as [(String, String, String?)]
    )
    func refuses(_ line: String, saying message: String, remedy: String?) async {
        let ran = await program.ran(line)
        let lines = ran.error.split(separator: "\n").map(String.init)
        #expect(lines.first == "Error: \(message)")
        if let remedy { #expect(lines.dropFirst().first == remedy) }
        #expect(lines.dropFirst(remedy == nil ? 1 : 2).first?.hasPrefix("Usage: stock") == true)
        #expect(lines.last?.hasPrefix("Run 'stock") == true)
        #expect(lines.last?.hasSuffix("--help' for help.") == true)
        #expect(ran.output == "")
        #expect(ran.code == 64)
    }

    @Test func takesAnOptionFromTheEnvironmentUnlessItIsGivenOrTheVariableIsEmpty() async {
        let set = await program.ran("list", environment: ["STOCK_HOME": "/a"])
        #expect(set.output == "list\n--home </a>\n")
        let given = await program.ran("list --home /b", environment: ["STOCK_HOME": "/a"])
        #expect(given.output == "list\n--home </b>\n")
        let empty = await program.ran("list", environment: ["STOCK_HOME": ""])
        #expect(empty.output == "list\n")
    }

    @Test func comparesNamesByBytesNotByUnicodeForm() async {
        let program = Program(
            name: "x",
            version: "1",
            summary: "",
            commands: [CommandDeclaration(["K"], summary: "") { _ in .done }]
        )
        #expect(await program.ran(["K"]).code == 0)
        // U+212A, the Kelvin sign, is canonically a K.
        #expect(await program.ran(["\u{212A}"]).code == 64)
    }

    @Test func seesTheDashesBeforeACombiningAccent() async {
        let ran = await program.ran(["list", "-\u{301}x"])
        #expect(ran.error.hasPrefix("Error: unknown option"))
        #expect(ran.code == 64)
    }
}
