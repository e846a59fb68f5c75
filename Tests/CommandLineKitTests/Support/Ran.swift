import CommandLineKit

/// What one run of a program came to.
struct Ran {
    let code: Int32
    let output: String
    let error: String
}

extension Program {
    /// Runs the words of this line, parted by spaces, on a console that is no terminal.
    func ran(_ line: String, environment: [String: String] = [:], width: Int? = nil) async -> Ran {
        await ran(line.split(separator: " ").map(String.init), environment: environment, width: width)
    }

    func ran(_ arguments: [String], environment: [String: String] = [:], width: Int? = nil) async -> Ran {
        let captured = CapturedConsole(width: width, environment: environment)
        let code = await run(arguments, console: captured.console)
        return Ran(code: code, output: captured.output, error: captured.error)
    }
}
