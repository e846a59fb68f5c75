import CommandLineKit
import Testing

@Suite struct ManualPageTests {
    let page = ManualPage(of: SampleProgram.program, date: "2025-11-03").text

    @Test func knowsEveryCommandOptionAndExitCode() {
        #expect(page.hasPrefix(".TH \"STOCK\" 1 \"2025\\-11\\-03\" \"stock 1.2.3\"\n"))
        for command in SampleProgram.program.commands {
            #expect(page.contains(".SS \"\((["stock"] + command.path).joined(separator: " "))\"\n"))
            for option in command.options {
                #expect(page.contains("\\-\\-" + option.name.replacing("-", with: "\\-")))
            }
            for exit in command.exitCodes { #expect(page.contains(".B \(exit.code.rawValue)\n")) }
        }
        #expect(page.contains(".B STOCK_HOME\n"))
    }

    @Test func isASCIIAndEscapesWhatRoffActsOn() {
        #expect(page.utf8.allSatisfy { $0 < 0x80 })
        #expect(page.contains("THING=COUNT\\[u2026]"))
        #expect(page.contains("the user\\(aqs data folder"))
        let odd = Program(
            name: "odd",
            version: "1",
            summary: "C:\\dir",
            discussion: ".so /etc/passwd\n\n'quoted' start",
            commands: []
        )
        let text = ManualPage(of: odd, date: "").text
        #expect(text.contains("\n\\&.so /etc/passwd\n"))
        #expect(text.contains("\n\\(aqquoted\\(aq start\n"))
        #expect(text.contains("C:\\edir"))
    }

    @Test(.enabled(if: Shell.path(of: "groff") != nil, "needs groff"))
    func isSetWithoutWarnings() throws {
        let ran = try Shell.run("groff", ["-man", "-Tutf8", "-ww", "-z"], input: page)
        #expect(ran.printed == "")
        #expect(ran.status == 0)
    }
}
