import CommandLineKit
import Glibc
import Schemes
import Tallystick
import TallystickDevice
import TallystickQR

extension CommandDeclaration {
    static let doctor = CommandDeclaration(
        ["doctor"],
        summary: "Check that this program and this device work",
        section: Tally.more,
        examples: [("tally doctor", "checks schemes, codes, the home and the clock")],
        exitCodes: [(.foundProblems, "something does not work")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            var results: [(String, String?)] = []
            func check(_ name: String, _ body: () throws -> Void) {
                do {
                    try body()
                    results.append((name, nil))
                } catch {
                    let error = (error as? CommandError) ?? Failure.describe(error)
                    results.append((name, [error.message, error.remedy].compactMap { $0 }.joined(separator: "; ")))
                }
            }
            check("the shipped schemes can be read") { _ = try ShippedSchemes.read() }
            check("a code can be drawn and read back") {
                _ = try QRCode(CompactCode.prefix + Base45.encode([UInt8](repeating: 0x5A, count: 90))).verifiedPNG()
            }
            check("a picture can be read in a process of its own") {
                let text = CompactCode.prefix + Base45.encode([UInt8](repeating: 0x5A, count: 90))
                let found = try PictureDecoder.ownProgram.symbols(in: try QRCode(text).verifiedPNG())
                guard found.map(\.text) == [text] else {
                    throw QRError(.unreadableCode, "expected the process to read a code, it read \(found.count)")
                }
            }
            let library = CodeReaderLibrary.installed()
            check("the code reader libzbar \(library.version) has its security fixes") { try library.check() }
            check("the clock is plausible") {
                let now = try Moment.now()
                guard let device = try? Workplace.open(invocation).device else { return }
                let certificate = device.certificate
                let last = try device.outbox().lastSuccess
                guard now.milliseconds >= certificate.notBefore.milliseconds,
                    now.milliseconds <= certificate.notAfter.milliseconds,
                    last.map({ now.milliseconds >= $0.milliseconds - 300_000 }) ?? true
                else {
                    throw CommandError(
                        exit: .failed,
                        code: "clock-implausible",
                        message:
                            "this machine's clock says \(Moment.text(now)), outside the device's certificate or before its last sync",
                        remedy: "set the clock; if it is right, ask for a new invitation"
                    )
                }
            }
            check("the home can be opened") { _ = try Workplace.open(invocation).device.outbox() }
            let certificate = try? Workplace.open(invocation).device.certificate
            if invocation.isJSON {
                invocation.console.print(
                    .object([
                        ("party", .optional(certificate?.party.description)),
                        ("device", .optional(certificate?.device.description)),
                        (
                            "checks",
                            .array(
                                results.map {
                                    .object([
                                        ("check", .string($0.0)), ("ok", .bool($0.1 == nil)),
                                        ("problem", .optional($0.1)),
                                    ])
                                }
                            )
                        ),
                    ])
                )
            } else {
                if let certificate {
                    let roles = certificate.roles.map(\.text).joined(separator: ", ")
                    invocation.console.print(
                        "This device acts for \(Console.plain(certificate.partyName)) as \(roles)."
                    )
                    invocation.console.print("  party   \(certificate.party)")
                    invocation.console.print("  device  \(certificate.device)")
                }
                for (name, problem) in results {
                    invocation.console.print("\(problem == nil ? "ok     " : "FAILED ") \(name)")
                    if let problem { invocation.console.print("        \(Console.plain(problem))") }
                }
            }
            return results.allSatisfy { $0.1 == nil } ? .done : .foundProblems
        }
    )
}
