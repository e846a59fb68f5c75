import CommandLineKit
import Tallystick
import TallystickDevice

extension CommandDeclaration {
    static let admit = CommandDeclaration(
        ["admit"],
        summary: "Let a party take part in a role without custody",
        discussion: """
            A broker, a witness or a project manager never holds the load. Once somebody whose role may do it has \
            admitted it, the party reads the chain and gives the values and signatures of its role.

            Until the party has said something in a chain that you know, it is named by its identifier: \
            `tally enrol` shows it on the party's own device.
            """,
        section: Tally.field,
        arguments: [.chain, ArgumentDeclaration("ROLE", help: "the role, such as broker")],
        options: [.party],
        examples: [
            (
                "tally admit 1f0c3a9e broker --party 'Ridgeway Waste Brokers'",
                "lets a broker take part, and read the chain"
            )
        ],
        exitCodes: chainExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let role = try invocation.nameArgument("ROLE")
            let party = try place.device.party(named: try invocation.requiredOption("party"))
            let said = try place.device.admit(chain, party, as: role)
            let name = Console.plain(try place.device.name(of: party))
            place.report(
                said,
                "\(name) takes part in chain …\(Workplace.short(chain)) as \(role), once this is synced.",
                more: [("party", .string(party.description)), ("role", .string(role.text))]
            )
            return .done
        }
    )

    static let delegate = CommandDeclaration(
        ["delegate"],
        summary: "Let another party sign in your place",
        discussion: """
            For this chain, these signatures and a time only. The other party signs with `tally sign CHAIN --for YOU`, \
            and both names are kept. It gives no values in your place.
            """,
        section: Tally.field,
        arguments: [
            .chain, ArgumentDeclaration("SIGNATURE", .many, help: "the signatures, as `tally scheme show` names them"),
        ],
        options: [
            OptionDeclaration(
                "to",
                value: "PARTY",
                required: true,
                help: "who may sign: its identifier, or its name where its certificate is known here"
            ),
            OptionDeclaration("for", value: "TIME", help: "for how long: 30m, 8h or 7d"),
            OptionDeclaration("until", value: "TIME", help: "until when: 2026-11-30T18:00+00:00"),
        ],
        examples: [
            ("tally delegate 1f0c3a9e carrier --to 'Keel Agents' --for 8h", "lets an agent sign for the carrier today")
        ],
        exitCodes: chainExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let names = try invocation.arguments("SIGNATURE").map { try Invocation.name($0, "the name of a signature") }
            let party = try place.device.party(named: try invocation.requiredOption("to"))
            let until = try end(invocation)
            let said = try place.device.delegate(chain, names, to: party, until: until)
            let name = Console.plain(try place.device.name(of: party))
            place.report(
                said,
                """
                \(name) may sign \(names.map(\.text).joined(separator: ", ")) in your place until \(Moment.text(until)), \
                in chain …\(Workplace.short(chain)), once this is synced.
                """,
                more: [
                    ("to", .string(party.description)), ("signatures", .strings(names.map(\.text))),
                    ("until", .string(until.description)),
                ]
            )
            return .done
        }
    )

    private static func end(_ invocation: Invocation) throws -> Timestamp {
        let (length, end) = (try invocation.option("for"), try invocation.option("until"))
        guard (length == nil) != (end == nil) else {
            throw CommandError.usage("expected one of --for TIME and --until TIME")
        }
        if let end { return try Moment.typed(end, option: "until") }
        let now = try Moment.now()
        let milliseconds = try Moment.length(length ?? "", option: "for")
        guard let until = Timestamp(milliseconds: now.milliseconds + milliseconds, offsetMinutes: now.offsetMinutes)
        else { throw CommandError.usage("expected a time that ends before the year 10000", code: "time-invalid") }
        return until
    }
}
