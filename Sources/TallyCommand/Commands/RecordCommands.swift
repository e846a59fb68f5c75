import CommandLineKit
import Glibc
import Tallystick
import TallystickCrypto
import TallystickDevice
import TallystickServer
import TallystickStore

extension CommandDeclaration {
    static let export = CommandDeclaration(
        ["export"],
        summary: "Write a chain's record: everything needed to check it with no server",
        discussion: """
            A device asks its server for the record; on the server itself, --db takes it from the database, and CHAIN \
            is then the whole identifier. The record is sealed by the authority and checked with `tally audit`.
            """,
        section: Tally.records,
        arguments: [.chain],
        options: [
            OptionDeclaration(
                "output",
                short: "o",
                value: "FILE",
                required: true,
                values: .files,
                help: "where to write it"
            ),
            OptionDeclaration("db", value: "FILE", values: .files, help: "take it from this server's database"),
        ],
        examples: [
            ("tally export 1f0c3a9e -o load.jsonl", "asks the server and writes the record"),
            ("tally export 01932b1e-… --db server.sqlite -o load.jsonl", "on the server itself"),
        ],
        exitCodes: [
            (.noInput, "there is no such chain or home"), (.unavailable, "the server was not reached"),
        ],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let name = try invocation.argument("CHAIN")
            let record: [UInt8]
            if try invocation.option("db") != nil {
                guard let chain = UniqueID(name),
                    let bytes = try ServerStore.open(invocation).record(of: chain, for: nil, now: try Moment.now())
                else {
                    throw CommandError(
                        exit: .noInput,
                        code: "chain-unknown",
                        message: "the database has no chain “\(Console.plain(name))”",
                        remedy: "give the whole identifier"
                    )
                }
                record = bytes
            } else {
                let place = try Workplace.open(invocation)
                let transport = try Transport.network(server: try place.device.serverAddress())
                let chain = try place.chain(invocation)
                record = try Failure.reaching("check the connection, then export again") {
                    try place.device.record(of: chain, transport)
                }
            }
            let path = try invocation.requiredOption("output")
            try Files.write(record, to: path)
            let lines = record.count { $0 == 0x0A }
            if invocation.isJSON {
                invocation.console.print(
                    .object([("file", .string(path)), ("bytes", .int(record.count)), ("lines", .int(lines))])
                )
            } else {
                invocation.console.print(
                    "Wrote \(path): \(lines) lines, \(record.count) bytes. Check it with `tally audit \(path)`."
                )
            }
            return .done
        }
    )

    static let replay = CommandDeclaration(
        ["replay"],
        summary: "Fold a record, and print the chain or write it as a SQLite file",
        discussion: """
            Replay folds what the record's log says; `tally audit` is what checks it. The SQLite file has the tables \
            that a server keeps, in words that a person can query.
            """,
        section: Tally.records,
        arguments: [ArgumentDeclaration("FILE", values: .files, help: "the record, or - for standard input")],
        options: [
            OptionDeclaration("db", value: "OUT", values: .files, help: "write a new SQLite file of the chain's tables")
        ],
        examples: [
            ("tally replay load.jsonl", "prints who held the load and what happened"),
            ("tally replay load.jsonl --db load.sqlite", "writes a file to query with sqlite3"),
        ],
        exitCodes: [(.badInput, "the file is no record"), (.noInput, "there is no such file")],
        run: { (invocation: Invocation) async throws -> ExitCode in
            let record = try Files.read(try invocation.argument("FILE"), limit: Record.longest)
            let replay: RecordReplay
            if let path = try invocation.option("db") {
                replay = try ProjectionFile.write(record, to: path)
            } else {
                replay = try RecordReplay(folding: record)
            }
            let page = ReplayPage(replay: replay, output: try invocation.option("db"))
            if invocation.isJSON {
                invocation.console.print(page.json)
            } else {
                page.print(on: invocation.console)
            }
            return .done
        }
    )
}

private struct ReplayPage {
    let replay: RecordReplay
    let output: String?

    private var state: ChainState { replay.ledger.state }

    private func name(_ party: UniqueID) -> String {
        replay.certificates.values.first { $0.party == party }?.partyName ?? party.description
    }

    func print(on console: Console) {
        console.print("Chain \(state.chain)")
        console.print("  \(state.scheme?.title ?? "rules not in the record")")
        console.print(
            "  \(counted(replay.events, "event")): \(state.count(accepted: true)) accepted, "
                + "\(state.count(accepted: false)) refused, \(replay.ledger.waiting.count) waiting"
        )
        if state.isContested { console.print(console.styled("  CONTESTED", .error, on: .output)) }
        for leg in state.legs {
            let values = state.values(of: leg.event).count
            let signed = state.signatures.filter { $0.leg == leg.event }.map(\.name.text)
            let time = leg.finding?.time.map { ", handoff \($0.rawValue)" } ?? ""
            console.print(
                "  leg \(leg.number.map(String.init) ?? "?"): \(leg.role), \(Console.plain(name(leg.party))), from \(Moment.text(leg.at))\(time)"
            )
            console.print(
                "      \(values) values\(signed.isEmpty ? ", not signed" : ", signed: \(signed.joined(separator: ", "))")"
            )
        }
        for contest in state.contests {
            console.print("  \(Console.plain(name(contest.party))) also accepted offer \(contest.offer.short); refused")
        }
        if let output {
            console.print("Wrote the tables to \(output); for example: sqlite3 \(output) 'SELECT * FROM handoffs'")
        }
    }

    var json: JSONOutput {
        .object([
            ("chain", .string(state.chain.description)),
            ("scheme", .optional(state.scheme?.reference.id.text)),
            ("events", .int(replay.events)),
            ("accepted", .int(state.count(accepted: true))),
            ("refused", .int(state.count(accepted: false))),
            ("waiting", .int(replay.ledger.waiting.count)),
            ("contested", .bool(state.isContested)),
            ("database", .optional(output)),
            (
                "legs",
                .array(
                    state.legs.map { leg in
                        .object([
                            ("number", .optional(leg.number)), ("role", .string(leg.role.text)),
                            ("party", .string(leg.party.description)), ("partyName", .string(name(leg.party))),
                            ("at", .string(leg.at.description)), ("time", .optional(leg.finding?.time?.rawValue)),
                            (
                                "values",
                                .object(
                                    state.values(of: leg.event).sorted { $0.key < $1.key }
                                        .map { ($0.key.description, JSONOutput($0.value)) }
                                )
                            ),
                            (
                                "signatures",
                                .strings(state.signatures.filter { $0.leg == leg.event }.map(\.name.text))
                            ),
                        ])
                    }
                )
            ),
        ])
    }
}
