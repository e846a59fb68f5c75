import CommandLineKit
import Schemes
import Tallystick
import TallystickDevice

extension CommandDeclaration {
    static let open = CommandDeclaration(
        ["open"],
        summary: "Open a chain for a new load",
        discussion: """
            Opens a chain under a scheme and gives its first values. Nothing is sent: the chain is saved here until \
            `tally sync`.
            """,
        section: Tally.field,
        arguments: [.values],
        options: [
            OptionDeclaration("scheme", value: "ID", required: true, help: "the rules it follows"), .from, .order,
            .role,
        ] + lateOptions,
        examples: [
            ("tally open --scheme uk-waste-transfer-note --from load.json", "opens a chain with the values of a file"),
            ("tally open --scheme uk-waste-transfer-note sicCode=41201", "opens one with a value typed in"),
        ],
        exitCodes: [(.badInput, "a value or a file cannot be used"), (.noInput, "there is no such file or home")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let id = try invocation.requiredOption("scheme")
            guard let name = Name(id), let scheme = place.device.newestScheme(name) else {
                throw CommandError(
                    exit: .badInput,
                    code: "scheme-unknown",
                    message: "there is no scheme “\(Console.plain(id))”",
                    remedy: "`tally scheme list` names those there are; `tally sync` fetches those of the server"
                )
            }
            let role = try invocation.name("role") ?? scheme.roles.first { $0.opens }?.name
            let values = try Values(invocation, scheme: scheme, role: role)
            let said = try place.device.openChain(
                scheme: name,
                role: try invocation.name("role"),
                values: values.changes,
                late: try invocation.late()
            )
            place.report(
                said,
                """
                Opened \(scheme.title), chain …\(Workplace.short(said.chain)), with \(counted(values.changes.count, "value")).
                Next: \(try place.next(in: said.chain)), when everything is in.
                """,
                more: [values.json]
            )
            values.report(on: place.console)
            return .done
        }
    )

    static let set = CommandDeclaration(
        ["set"],
        summary: "Give, change or clear values",
        discussion: """
            What is signed is sealed, and cannot be set any more; `tally correct` proposes another value, where the \
            scheme allows it.
            """,
        section: Tally.field,
        arguments: [.chain, .values],
        options: [.from, .order, .role] + lateOptions,
        examples: [
            ("tally set 1f0c3a9e wasteItems/1/quantity='7.5 t'", "declares a weight"),
            ("tally set 1f0c3a9e vehicleRegistration=", "clears a value"),
            (
                "tally set 1f0c3a9e sicCode=41201 --late-at 2026-11-30T06:12+00:00 --late-why 'no signal' --late-paper note.jpg",
                "enters what was written on paper at the time"
            ),
        ],
        exitCodes: [(.badInput, "a value cannot be used"), (.noInput, "there is no such chain, file or home")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let scheme = try place.device.scheme(of: chain)
            let role = try invocation.name("role") ?? place.device.roles(in: chain).first
            let values = try Values(invocation, scheme: scheme, role: role)
            guard !values.changes.isEmpty else {
                values.report(on: place.console)
                throw CommandError.usage("there is no value to set", remedy: "give FIELD=VALUE, or --from FILE")
            }
            let late = try invocation.late()
            let said = try pointingToCorrections(of: scheme, in: chain) {
                try place.device.set(chain, values.changes, late: late)
            }
            place.report(
                said,
                "Saved \(counted(values.changes.count, "value")) in chain …\(Workplace.short(chain)).",
                more: [values.json]
            )
            values.report(on: place.console)
            return .done
        }
    )

    /// Says which of the sealed values can be corrected.
    private static func pointingToCorrections(
        of scheme: Scheme,
        in chain: UniqueID,
        _ body: () throws -> Said
    ) throws -> Said {
        do {
            return try body()
        } catch let error as DeviceError where error.code == .refused {
            let paths = error.reasons.filter { $0.code == .fieldSealed }.compactMap {
                $0.subject.flatMap { FieldPath($0) }
            }
            let correctable = paths.filter { scheme.field($0)?.correct != nil }.map(\.description)
            let described = Failure.describe(error)
            guard !correctable.isEmpty else { throw described }
            let these = correctable.prefix(8).joined(separator: ", ")
            let command = "`tally correct \(Workplace.short(chain)) FIELD=VALUE --why TEXT`"
            throw CommandError(
                exit: described.exit,
                code: described.code,
                message: described.message,
                remedy: "\(these): \(command) proposes another value.",
                details: described.details
            )
        }
    }

    static let note = CommandDeclaration(
        ["note"],
        summary: "Add a remark to a chain",
        section: Tally.field,
        arguments: [.chain, ArgumentDeclaration("TEXT", help: "the remark")],
        options: lateOptions,
        examples: [("tally note 1f0c3a9e 'skip lid damaged on arrival'", "adds a remark")],
        exitCodes: [
            (.badInput, "the remark is empty or too long, or the name fits several chains"),
            (.noInput, "there is no such chain, file or home"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let text = try invocation.argument("TEXT")
            try Invocation.check(text, "a remark")
            let late = try invocation.late()
            let said = try place.device.note(try place.chain(invocation), text, late: late)
            place.report(said, "Noted in chain …\(Workplace.short(said.chain)).")
            return .done
        }
    )
}
