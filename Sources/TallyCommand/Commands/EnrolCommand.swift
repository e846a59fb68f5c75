import CommandLineKit
import Schemes
import Tallystick
import TallystickCrypto
import TallystickDevice

extension CommandDeclaration {
    static let enrol = CommandDeclaration(
        ["enrol"],
        summary: "Make this folder a device of your party",
        discussion: """
            Uses an invitation that the server's operator gave you (`tally server invite`). The key is made here and \
            never leaves this folder. Schemes of the server's that do not ship are fetched. If the answer is lost on the way, run the same command again.
            """,
        section: Tally.field,
        options: [
            OptionDeclaration("server", value: "URL", required: true, help: "the server's address"),
            OptionDeclaration("code", value: "CODE", required: true, help: "the invitation's code"),
            OptionDeclaration(
                "trust",
                value: "FILE",
                values: .files,
                help: "a file with the authority's key you expect"
            ),
        ],
        examples: [("tally enrol --server http://127.0.0.1:8480 --code 7KQM-2FXR-90TB-C4WD", "enrols this device")],
        exitCodes: [
            (.badInput, "the address or the trust file cannot be used"),
            (.noInput, "there is no such trust file, or the folder is something else's"),
            (.unavailable, "the server was not reached; the key is kept for the next try"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let server = try invocation.requiredOption("server")
            let transport = try Transport.network(server: server)
            let start = try Moment.now()
            let device = try Failure.reaching("check the address and the connection, then give the same command again")
            {
                try Device.enrol(
                    home: try Workplace.home(invocation),
                    server: server,
                    code: try invocation.requiredOption("code"),
                    authority: try invocation.option("trust").map { try TrustFile.read($0) },
                    transport: transport,
                    schemes: ShippedSchemes.library,
                    clock: { (try? Moment.now()) ?? start },
                    random: { SecureRandom.bytes($0) }
                )
            }
            let certificate = device.certificate
            // Work may begin before the next network; where it fails, each sync tries again.
            let schemes = (try? device.fetchSchemes(transport))?.fetched ?? []
            if invocation.isJSON {
                invocation.console.print(
                    .object([
                        ("device", .string(device.id.description)),
                        ("party", .string(certificate.party.description)),
                        ("partyName", .string(certificate.partyName)),
                        ("person", .optional(certificate.person)),
                        ("roles", .strings(certificate.roles.map(\.text))),
                        ("notAfter", .string(certificate.notAfter.description)),
                        ("authority", .string(certificate.authority.description)),
                        ("home", .string(device.home.path)), ("schemes", JSONOutput(schemes)),
                    ])
                )
                return .done
            }
            let console = invocation.console
            console.print("Enrolled as a device of \(Console.plain(certificate.partyName)).")
            console.print("  device     \(device.id)")
            console.print("  roles      \(certificate.roles.map(\.text).joined(separator: ", "))")
            console.print("  valid to   \(Moment.text(certificate.notAfter))")
            console.print("  authority  \(certificate.authority)")
            console.print("  home       \(device.home.path)")
            for scheme in schemes { console.print("  scheme     \(scheme.id) version \(scheme.version)") }
            return .done
        }
    )
}
