import CommandLineKit
import Glibc
import Synchronization
import Tallystick
import TallystickCrypto
import TallystickDevice

extension CommandDeclaration {
    static let outbox = CommandDeclaration(
        ["outbox"],
        summary: "Show what has not reached the server, and when the last sync succeeded",
        section: Tally.field,
        examples: [("tally outbox", "counts by state and shows what waits to be sent")],
        exitCodes: homeExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let status = try place.device.outbox()
            if invocation.isJSON {
                invocation.console.print(OutboxPage(status: status).json)
            } else {
                OutboxPage(status: status).print(on: invocation.console)
            }
            return .done
        }
    )

    static let sync = CommandDeclaration(
        ["sync"],
        summary: "Send what is saved here and fetch what is new",
        discussion: """
            Sends what is saved here and fetches what the server has for your party. Whatever happens on the way, \
            nothing saved is lost: an event leaves the outbox only by the server's signed verdict.
            """,
        section: Tally.field,
        options: [
            OptionDeclaration(flag: "watch", help: "stay, and try again by itself until interrupted"),
            OptionDeclaration(flag: "strict", help: "exit with 2 if the server refused something"),
        ],
        examples: [
            ("tally sync", "sends and fetches once"), ("tally sync --watch", "stays and retries by itself"),
        ],
        exitCodes: [
            (.foundProblems, "with --strict: something is refused"), homeExitCodes[0], homeExitCodes[1],
            (.unavailable, "the server was not reached; the work is saved"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let transport = try Transport.network(server: try place.device.serverAddress())
            let isStrict = try invocation.flag("strict")
            guard try invocation.flag("watch") else {
                let report = try place.device.sync(transport)
                SyncPage(report: report).print(on: invocation.console)
                return isStrict && report.refused > 0 ? .foundProblems : .done
            }
            try watch(place, transport)
            return .done
        }
    )

    /// Syncs whenever something is due, until interrupted; failures are told and tried again.
    private static func watch(_ place: Workplace, _ transport: Transport) throws {
        Interruption.watch()
        var token: String?
        var last: SyncReport?
        while !Interruption.came, !place.console.outputReaderIsGone {
            do {
                let report = try place.device.sync(transport, .whenDue, token: &token)
                if report != last || report.pushed + report.pulled > 0 {
                    SyncPage(report: report).print(on: place.console)
                }
                last = report
            } catch let error as DeviceError {
                let transient: [DeviceError.Code] = [.serverUnreachable, .syncBusy, .busy, .diskFull]
                guard transient.contains(error.code) else { throw error }
                place.console.note("\(error.message); trying again by itself")
            }
            for _ in 0..<20 where !Interruption.came { usleep(100_000) }
        }
    }
}

/// Whether the person asked to stop.
enum Interruption {
    private static let flag = Atomic<Bool>(false)

    static var came: Bool { flag.load(ordering: .relaxed) }

    static func watch() {
        // A signal handler may only set a flag; a function without captures can be one.
        signal(SIGINT) { _ in Interruption.flag.store(true, ordering: .relaxed) }
        signal(SIGTERM) { _ in Interruption.flag.store(true, ordering: .relaxed) }
        // A program that starts this one may have blocked them, and a mask is inherited.
        var both = sigset_t()
        unsafe sigemptyset(&both)
        unsafe sigaddset(&both, SIGINT)
        unsafe sigaddset(&both, SIGTERM)
        unsafe pthread_sigmask(SIG_UNBLOCK, &both, nil)
    }
}

private struct SyncPage {
    let report: SyncReport

    func print(on console: Console) {
        if console.isJSON {
            console.print(
                .object([
                    ("sent", .int(report.pushed)), ("putOff", .int(report.putOff)), ("fetched", .int(report.pulled)),
                    ("startedOver", .bool(report.hasStartedOver)), ("refused", .int(report.refused)),
                    ("notBefore", .optional(report.notBefore?.description)),
                    ("schemes", JSONOutput(report.schemes.fetched)),
                    (
                        "schemeFaults",
                        .array(
                            report.schemes.faults.map { fault in
                                .object([
                                    ("id", .optional(fault.scheme?.id.text)),
                                    ("version", .optional(fault.scheme?.version)),
                                    ("hash", .optional(fault.scheme?.hash.hex)),
                                    ("code", .string(fault.code.rawValue)), ("message", .string(fault.message)),
                                    ("remedy", .string(fault.remedy)),
                                ])
                            }
                        )
                    ),
                ])
            )
            return
        }
        if let notBefore = report.notBefore {
            console.note("Nothing was tried: the next try is due \(Moment.text(notBefore)).")
            return
        }
        console.print("Sent \(counted(report.pushed, "event")), fetched \(counted(report.pulled, "entry", "entries")).")
        if report.hasStartedOver {
            console.print(
                console.styled(
                    "The server's log is not the one this device knew: its database was put back from a backup, or "
                        + "rewritten. What this device was told before is kept; all was read and offered again.",
                    .warning,
                    on: .output
                )
            )
        }
        for scheme in report.schemes.fetched {
            console.print("Fetched the scheme \(scheme.id) version \(scheme.version).")
        }
        for fault in report.schemes.faults {
            console.print(
                console.styled("Warning: ", .warning, on: .output)
                    + Console.plain("\(fault.message) (\(fault.code.rawValue)); \(fault.remedy)")
            )
        }
        if report.putOff > 0 {
            console.print("The server put off \(counted(report.putOff, "event")); nothing is lost.")
        }
        if report.refused > 0 {
            let count = "\(report.refused) of your events \(report.refused == 1 ? "is" : "are") refused"
            console.print(
                console.styled(
                    "\(count): `tally refused` says why, `tally refused --done EVENT` puts it away.",
                    .error,
                    on: .output
                )
            )
        }
    }
}

private struct OutboxPage {
    let status: OutboxStatus

    var json: JSONOutput {
        .object([
            ("savedHere", .int(status.counts.savedHere)), ("atTheServer", .int(status.counts.atTheServer)),
            ("confirmed", .int(status.counts.confirmed)), ("refused", .int(status.counts.refused)),
            ("server", .string(status.server)),
            ("lastSuccess", .optional(status.lastSuccess?.description)),
            ("lastError", .optional(status.lastError?.message)),
            ("lastErrorCode", .optional(status.lastError?.code)),
            ("nextAttempt", .optional(status.nextAttempt?.description)),
            ("clockSkewMilliseconds", .int(Int(status.clockSkew))),
            ("copied", .bool(status.isCopied)),
            (
                "events",
                .array(
                    status.rows.map {
                        .object([
                            ("event", .string($0.event.hex)), ("chain", .string($0.chain.description)),
                            ("type", .string($0.type)), ("attempts", .int($0.attempts)),
                            ("nextAttempt", .optional($0.nextAttempt?.description)),
                            ("lastError", .optional($0.lastError)),
                        ])
                    }
                )
            ),
        ])
    }

    func print(on console: Console) {
        let counts = status.counts
        console.print("saved here     \(counts.savedHere)")
        console.print("at the server  \(counts.atTheServer)")
        console.print("confirmed      \(counts.confirmed)")
        console.print("refused        \(counts.refused)\(counts.refused > 0 ? "   (`tally refused` says why)" : "")")
        console.print(
            "last sync      \(status.lastSuccess.map(Moment.text) ?? "never")   \(Console.plain(status.server))"
        )
        if let error = status.lastError { console.print("last failure   \(Console.plain(error.message))") }
        if let next = status.nextAttempt { console.print("next try       \(Moment.text(next))") }
        if abs(status.clockSkew) > 300_000 {
            console.print(
                console.styled(
                    "The clock of this device differs from the server's by \(abs(status.clockSkew) / 60_000) minutes.",
                    .warning,
                    on: .output
                )
            )
        }
        if status.isCopied {
            console.print(
                console.styled(
                    "This home was copied or restored: enrol it anew before saying anything.",
                    .error,
                    on: .output
                )
            )
        }
        guard !status.rows.isEmpty else { return }
        console.print("")
        var table = Table("EVENT", "CHAIN", "WHAT", "TRIES", "LAST FAILURE")
        for row in status.rows {
            table.add([
                String(row.event.hex.prefix(8)), "…\(Workplace.short(row.chain))", row.type, "\(row.attempts)",
                row.lastError ?? "",
            ])
        }
        console.print(table)
    }
}
