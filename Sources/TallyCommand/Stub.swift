import CommandLineKit
extension CommandDeclaration {
    static let export = CommandDeclaration(["export"], summary: "x", run: { (_: Invocation) async throws -> ExitCode in .done })
    static let replay = CommandDeclaration(["replay"], summary: "x", run: { (_: Invocation) async throws -> ExitCode in .done })
    static let serverInit = CommandDeclaration(["server","init"], summary: "x", run: { (_: Invocation) async throws -> ExitCode in .done })
    static let serverInvite = CommandDeclaration(["server","invite"], summary: "x", run: { (_: Invocation) async throws -> ExitCode in .done })
    static let serverRun = CommandDeclaration(["server","run"], summary: "x", run: { (_: Invocation) async throws -> ExitCode in .done })
    static let serverRevoke = CommandDeclaration(["server","revoke"], summary: "x", run: { (_: Invocation) async throws -> ExitCode in .done })
    static let serverRebuild = CommandDeclaration(["server","rebuild"], summary: "x", run: { (_: Invocation) async throws -> ExitCode in .done })
    static let serverTrust = CommandDeclaration(["server","trust"], summary: "x", run: { (_: Invocation) async throws -> ExitCode in .done })
}
