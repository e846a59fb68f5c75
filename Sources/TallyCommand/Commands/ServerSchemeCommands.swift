import CommandLineKit
import Schemes
import Tallystick
import TallystickCrypto
import TallystickServer
import TallystickStore

extension CommandDeclaration {
    static let serverSchemeAdd = CommandDeclaration(
        ["server", "scheme", "add"],
        summary: "Let chains be opened under a scheme that does not ship",
        discussion: """
            Checks a scheme's folder and makes the scheme known to the server from now on: what was decided before \
            stays as it was decided. Devices fetch it as they synchronise; a server that runs takes note at once. A \
            scheme that was changed needs another version: chains that were opened keep the one they were opened with, \
            and new ones are opened under the newest.
            """,
        arguments: [
            ArgumentDeclaration(
                "DIR",
                values: .folders,
                help: "a folder with scheme.json, codes/*.json and examples/*.json"
            )
        ],
        options: [.database],
        examples: [("tally server scheme add my-scheme --db server.sqlite", "adds the scheme of the folder my-scheme")],
        exitCodes: [
            (
                .failed,
                "the id ships with the program, this version is known with other contents, or there are too many"
            ),
            (.badInput, "the scheme has mistakes, an example fails, or the server's files cannot be used"),
            (.noInput, "a file of the scheme's, the database or its keys are missing"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let folder = try SchemeFolder(try invocation.argument("DIR"))
            guard let scheme = folder.scheme, folder.problems.isEmpty else {
                throw CommandError(
                    exit: .badInput,
                    code: "scheme-invalid",
                    message: "nothing was added: the scheme has \(counted(folder.problems.count, "mistake"))",
                    remedy: "`tally scheme check \(Console.plain(folder.path))` explains them"
                )
            }
            let id = scheme.reference.id
            if ShippedSchemes.library.references.contains(where: { $0.id == id && $0 != scheme.reference }) {
                throw CommandError(
                    exit: .failed,
                    code: "scheme-taken",
                    message: "nothing was added: “\(id)” is the id of a scheme that ships with the program",
                    remedy: "give yours an id of its own; devices would otherwise open all new chains under it"
                )
            }
            let failed = (folder.examples?.run(under: scheme, Zones.offsets) ?? []).filter { !$0.faults.isEmpty }
            if !failed.isEmpty {
                throw CommandError(
                    exit: .badInput,
                    code: "scheme-invalid",
                    message: "nothing was added: \(counted(failed.count, "example")) of the scheme came out otherwise",
                    remedy: "`tally scheme test \(Console.plain(folder.path))` shows them"
                )
            }
            let store = try ServerStore.open(invocation)
            let isNew = try store.add(scheme)
            let known = try store.knownSchemes()
            let new = scheme.reference
            let others = known.filter { $0.reference.id == new.id && $0.reference != new }
            if invocation.isJSON {
                invocation.console.print(
                    .object([
                        ("id", .string(new.id.text)), ("version", .int(new.version)),
                        ("title", .string(scheme.title)), ("hash", .string(new.hash.hex)), ("added", .bool(isNew)),
                        ("since", .optional(known.first { $0.reference == new }?.since)),
                    ])
                )
                return .done
            }
            let console = invocation.console
            guard isNew else {
                console.print(
                    "\(new.id) version \(new.version) is known with exactly these contents; nothing was changed."
                )
                return .done
            }
            console.print("Added \(new.id) version \(new.version), “\(Console.plain(scheme.title))”.")
            console.print("  hash \(new.hash.hex)")
            console.print("Chains can be opened under it from now on; devices fetch it when they sync.")
            for other in others where other.chains > 0 {
                console.print(
                    "\(counted(other.chains, "chain")) opened under version \(other.reference.version) \(other.chains == 1 ? "keeps" : "keep") it."
                )
            }
            if let newest = others.map(\.reference.version).max(), newest > new.version {
                console.print("New chains are opened under version \(newest), which is newer.")
            }
            return .done
        }
    )

    static let serverSchemeList = CommandDeclaration(
        ["server", "scheme", "list"],
        summary: "List the schemes that a server decides with",
        options: [.database],
        examples: [("tally server scheme list --db server.sqlite", "shows versions, since when, and how many chains")],
        exitCodes: serverExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let schemes = try ServerStore.open(invocation).knownSchemes()
            let shipped = Set(ShippedSchemes.library.references)
            if invocation.isJSON {
                let rows = schemes.map { scheme in
                    JSONOutput.object([
                        ("id", .string(scheme.reference.id.text)), ("version", .int(scheme.reference.version)),
                        ("title", .string(scheme.title)), ("hash", .string(scheme.reference.hash.hex)),
                        ("since", .int(scheme.since)), ("chains", .int(scheme.chains)),
                        ("shipped", .bool(shipped.contains(scheme.reference))),
                    ])
                }
                invocation.console.print(.object([("schemes", .array(rows))]))
                return .done
            }
            var table = Table("SCHEME", "VERSION", "SINCE", "CHAINS", "HASH", "TITLE")
            for scheme in schemes {
                table.add([
                    scheme.reference.id.text, "\(scheme.reference.version)", "\(scheme.since)", "\(scheme.chains)",
                    String(scheme.reference.hash.hex.prefix(8)), scheme.title,
                ])
            }
            invocation.console.print(table)
            return .done
        }
    )
}
