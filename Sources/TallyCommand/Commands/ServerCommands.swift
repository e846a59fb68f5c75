import CommandLineKit
import Glibc
import Schemes
import Tallystick
import TallystickCrypto
import TallystickServer

extension OptionDeclaration {
    static let database = OptionDeclaration(
        "db",
        value: "FILE",
        required: true,
        environment: "TALLY_DB",
        values: .files,
        help: "the server's database; its keys are in FILE.keys beside it"
    )
}

extension ServerStore {
    /// Opens the database that a command names.
    static func open(_ invocation: Invocation) throws -> ServerStore {
        try ServerStore.open(
            path: try invocation.requiredOption("db"),
            schemes: ShippedSchemes.library,
            random: { SecureRandom.bytes($0) }
        )
    }
}

extension CommandDeclaration {
    /// How every command ends that cannot open the server's files.
    static let serverExitCodes: [(code: ExitCode, says: String)] = [
        (.badInput, "the file is no server's database, the keys are not its own, or a value cannot be used"),
        (.noInput, "there is no such database, or no key file beside it"),
    ]

    static let serverInit = CommandDeclaration(
        ["server", "init"],
        summary: "Make a new server: a database, and the file with its keys",
        discussion: """
            Keep the key file safe and apart from backups of the database that others can read: whoever has it can \
            certify devices and seal records in the server's name.
            """,
        options: [
            .database,
            OptionDeclaration("origin", value: "NAME", required: true, help: "what the server calls itself, for good"),
        ],
        examples: [("tally server init --db server.sqlite --origin 'Derwent Waste Register'", "makes a server")],
        exitCodes: [(.badInput, "the name cannot be used")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let store = try ServerStore.create(
                path: try invocation.requiredOption("db"),
                origin: try invocation.requiredOption("origin"),
                schemes: ShippedSchemes.library,
                random: { SecureRandom.bytes($0) }
            )
            if invocation.isJSON {
                invocation.console.print(
                    .object([
                        ("database", .string(store.path)), ("origin", .string(store.origin)),
                        ("epoch", .string(store.epoch)), ("authority", .string(DeviceID(store.authority).description)),
                        ("authorityKey", .string(Base64.encode(store.authority.bytes))),
                    ])
                )
                return .done
            }
            invocation.console.print("Made \(store.path), and its keys in \(store.path).keys (keep that file safe).")
            invocation.console.print("Authority \(DeviceID(store.authority)) of “\(Console.plain(store.origin))”.")
            invocation.console.print("Next: `tally server invite` for each device, then `tally server run`.")
            return .done
        }
    )

    static let serverInvite = CommandDeclaration(
        ["server", "invite"],
        summary: "Invite a device to act for a party",
        discussion: "Prints a code that enrols one device, once. The same party name always means the same party.",
        options: [
            .database,
            OptionDeclaration("party", value: "NAME", required: true, help: "what the party is called"),
            OptionDeclaration("roles", value: "A,B", required: true, help: "the roles the device may act in"),
            OptionDeclaration("person", value: "NAME", help: "who holds the device, where it is one person"),
            OptionDeclaration("days", value: "N", default: .value("7"), help: "for how many days the code can be used"),
        ],
        examples: [
            (
                "tally server invite --db server.sqlite --party 'Pennine Skips Ltd' --roles carrier",
                "prints a code for one of the carrier's devices"
            )
        ],
        exitCodes: serverExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let store = try ServerStore.open(invocation)
            let party = try invocation.requiredOption("party")
            let texts = try invocation.requiredOption("roles").split(separator: ",").map { String($0) }
            let roles = texts.compactMap(Name.init)
            guard roles.count == texts.count, !roles.isEmpty else {
                throw CommandError.usage("expected roles such as producer or carrier,receiver")
            }
            guard let days = Int(try invocation.option("days") ?? "7"), (1...366).contains(days) else {
                throw CommandError.usage("expected --days from 1 to 366")
            }
            let code = try store.invite(
                party: party,
                roles: roles,
                person: try invocation.option("person"),
                validFor: days * 86_400,
                now: try Moment.now()
            )
            if invocation.isJSON {
                invocation.console.print(
                    .object([
                        ("code", .string(code)), ("party", .string(party)), ("roles", .strings(roles.map(\.text))),
                        ("days", .int(days)),
                    ])
                )
                return .done
            }
            invocation.console.print("Code \(code) enrols one device of \(Console.plain(party)), within \(days) days:")
            invocation.console.print("    tally enrol --server URL --code \(code)")
            return .done
        }
    )

    static let serverRun = CommandDeclaration(
        ["server", "run"],
        summary: "Serve devices until interrupted",
        discussion: """
            Without --tls-certificate the connection is in the clear: signatures still prove who said what, but \
            anybody on the way can read it, and an enrolment's handoff key with it. Use it on loopback or behind a \
            proxy. What an operator should know goes to standard error, a line each.
            """,
        options: [
            .database,
            OptionDeclaration(
                "listen",
                value: "ADDRESS:PORT",
                default: .value("127.0.0.1:8480"),
                help: "where to listen; port 0 takes a free one"
            ),
            OptionDeclaration("tls-certificate", value: "FILE", values: .files, help: "the certificate chain, as PEM"),
            OptionDeclaration("tls-key", value: "FILE", values: .files, help: "the certificate's key, as PEM"),
        ],
        examples: [("tally server run --db server.sqlite --listen 127.0.0.1:8480", "serves on loopback")],
        exitCodes: serverExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let store = try ServerStore.open(invocation)
            let (address, port) = try endpoint(try invocation.option("listen") ?? "127.0.0.1:8480")
            let start = try Moment.now()
            let tls = try tls(invocation)
            let console = invocation.console
            let server = Server(
                store: store,
                clock: { (try? Moment.now()) ?? start },
                log: { line in console.note("\((try? Moment.now()) ?? start) \(Console.plain(line))") }
            )
            Interruption.watch()
            try server.start(address: address, port: port, tls: tls)
            let bound = server.port ?? port
            if invocation.isJSON {
                invocation.console.print(
                    .object([
                        ("listening", .string("\(address):\(bound)")), ("port", .int(bound)),
                        ("origin", .string(store.origin)),
                    ])
                )
            } else {
                invocation.console.print(
                    "“\(Console.plain(store.origin))” serves on \(tls == nil ? "http" : "https")://\(address):\(bound)"
                )
                invocation.console.note("Stop it with Ctrl-C; requests in hand are answered first.")
            }
            while !Interruption.came { usleep(50_000) }
            server.stop()
            return .done
        }
    )

    private static func endpoint(_ text: String) throws(CommandError) -> (String, Int) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw .usage("expected ADDRESS:PORT such as 127.0.0.1:8480, got '\(Console.plain(text))'")
        }
        var address = String(text[..<colon])
        if address.hasPrefix("["), address.hasSuffix("]") { address = String(address.dropFirst().dropLast()) }
        return (address, Int(port))
    }

    private static func tls(_ invocation: Invocation) throws -> Server.TLSFiles? {
        let certificate = try invocation.option("tls-certificate")
        let key = try invocation.option("tls-key")
        guard let certificate, let key else {
            guard certificate == nil, key == nil else {
                throw CommandError.usage("--tls-certificate and --tls-key go together")
            }
            return nil
        }
        return Server.TLSFiles(certificate: certificate, key: key)
    }

    static let serverRevoke = CommandDeclaration(
        ["server", "revoke"],
        summary: "Revoke a device: what arrives from it from now on is refused",
        discussion: "What the server received before stays valid: a revocation has a place in the log, not a time.",
        arguments: [ArgumentDeclaration("DEVICE", help: "the device's identifier, as its enrolment showed it")],
        options: [
            .database, OptionDeclaration("why", value: "TEXT", required: true, help: "the reason, kept in the log"),
        ],
        examples: [
            (
                "tally server revoke 3f2a91c45be07d1866a2c0f1d9e84b07 --db server.sqlite --why 'phone stolen'",
                "refuses what that device sends from now on"
            )
        ],
        exitCodes: [
            (.badInput, "the file is no server's database, or the keys are not its own"),
            (.noInput, "there is no such database, key file or device"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let text = try invocation.argument("DEVICE")
            guard let device = DeviceID(text) else {
                throw CommandError.usage("expected a device's 32 hexadecimal digits, got '\(Console.plain(text))'")
            }
            let why = try invocation.requiredOption("why")
            try ServerStore.open(invocation).revoke(device, why: why, now: try Moment.now())
            if invocation.isJSON {
                invocation.console.print(.object([("revoked", .string(text)), ("why", .string(why))]))
            } else {
                invocation.console.print("Device \(device) is revoked. A server that runs takes note at once.")
            }
            return .done
        }
    )

    static let serverTrust = CommandDeclaration(
        ["server", "trust"],
        summary: "Write the authority's key to a file that audits and devices can trust",
        options: [
            .database,
            OptionDeclaration("output", short: "o", value: "FILE", values: .files, help: "where to write it"),
        ],
        examples: [("tally server trust --db server.sqlite -o server.trust.json", "give this file to auditors")],
        exitCodes: serverExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let store = try ServerStore.open(invocation)
            let trust = JSON.members([
                ("authority", .string(Base64.encode(store.authority.bytes))), ("origin", .string(store.origin)),
            ])
            let bytes = try trust.canonicalBytes() + [0x0A]
            guard let path = try invocation.option("output") else {
                // The file's own bytes are one JSON object on one line already.
                invocation.console.write(bytes)
                return .done
            }
            try Files.write(bytes, to: path)
            if invocation.isJSON {
                invocation.console.print(.object([("file", .string(path)), ("origin", .string(store.origin))]))
            } else {
                invocation.console.print("Wrote \(path): the key of authority \(DeviceID(store.authority)).")
            }
            return .done
        }
    )

    static let serverRestored = CommandDeclaration(
        ["server", "restored"],
        summary: "Say that the database was put back from a backup",
        discussion: """
            Run it once after an older copy of the database was put back, before the server runs again. Devices then \
            read everything anew and offer again what they have, so that nothing that was said since is lost.
            """,
        options: [.database],
        examples: [("tally server restored --db server.sqlite", "after copying a backup back")],
        exitCodes: [(.badInput, "the file is no server's database"), (.noInput, "there is no such database")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let epoch = try ServerStore.open(invocation).renewEpoch()
            if invocation.isJSON {
                invocation.console.print(.object([("epoch", .string(epoch))]))
            } else {
                invocation.console.print("Done: devices will offer again what this copy does not have.")
            }
            return .done
        }
    )

    static let serverRebuild = CommandDeclaration(
        ["server", "rebuild"],
        summary: "Fold the event log again and compare every table",
        discussion: """
            Decides and folds every event again from the log into fresh tables, and compares each table's digest with \
            the one that is live. Without --check the live projections are then replaced by the fresh ones.
            """,
        options: [.database, OptionDeclaration(flag: "check", help: "only compare; change nothing")],
        examples: [
            ("tally server rebuild --db server.sqlite --check", "says whether the tables are what the log gives")
        ],
        exitCodes: [(.foundProblems, "something differs")] + serverExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let report = try ServerStore.open(invocation).rebuild(check: try invocation.flag("check"))
            if invocation.isJSON {
                invocation.console.print(
                    .object([
                        ("clean", .bool(report.isClean)), ("events", .int(report.events)),
                        ("position", .int(report.position)), ("swapped", .bool(report.wasSwapped)),
                        (
                            "tables",
                            .array(
                                report.tables.map {
                                    .object([("table", .string($0.table)), ("equal", .bool($0.isEqual))])
                                }
                            )
                        ),
                        ("faults", .strings(report.faults)),
                    ])
                )
                return report.isClean ? .done : .foundProblems
            }
            let console = invocation.console
            console.print("Folded \(counted(report.events, "event")) again, up to position \(report.position).")
            var table = Table("TABLE", "RESULT")
            for comparison in report.tables { table.add([comparison.table, comparison.isEqual ? "equal" : "DIFFERS"]) }
            console.print(table)
            for fault in report.faults { console.print(console.styled(Console.plain(fault), .error, on: .output)) }
            if report.wasSwapped { console.print("The projections were replaced by the fresh ones.") }
            return report.isClean ? .done : .foundProblems
        }
    )
}
