import CommandLineKit
import Tallystick
import TallystickCrypto
import TallystickDevice

extension CommandDeclaration {
    static let correct = CommandDeclaration(
        ["correct"],
        summary: "Propose other values for what is sealed",
        discussion: """
            What was signed stays in the chain as it was signed; a correction says what is right, and why. Whoever the \
            scheme names for these values has to approve it; where nobody else is concerned it applies at once. The \
            values must still be ones that could have been signed.
            """,
        section: Tally.field,
        arguments: [.chain, .values],
        options: [.from, .role, .why],
        examples: [
            ("tally correct 1f0c3a9e wasteItems/1/quantity='7.2 t' --why 'tare was wrong'", "proposes another weight")
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
                throw CommandError.usage("there is no value to correct", remedy: "give FIELD=VALUE, or --from FILE")
            }
            let said = try place.device.correct(chain, values.changes, why: try invocation.why())
            let page = try CorrectionPage(said.events.last, of: place.device.view(chain))
            let what = "\(counted(values.changes.count, "value")) of chain …\(Workplace.short(chain))"
            place.report(
                said,
                page.isApplied
                    ? "Corrected \(what)."
                    : """
                    Proposed a correction of \(what), \(page.name). It waits for \(page.awaited), who can \
                    `tally approve` or `tally refuse` it.
                    """,
                more: [values.json] + page.json
            )
            values.report(on: place.console)
            return .done
        }
    )

    static let approve = CommandDeclaration(
        ["approve"],
        summary: "Agree to a correction",
        discussion:
            "Shows what would change and asks, on a terminal. It applies once everybody concerned has approved.",
        section: Tally.field,
        arguments: [.chain, .correction],
        options: [.yes],
        examples: [
            ("tally approve 1f0c3a9e", "agrees to the only correction that waits for you"),
            ("tally approve 1f0c3a9e 7be2c9d4", "agrees to this one of several"),
        ],
        exitCodes: chainExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let name = try invocation.argumentIfGiven("CORRECTION")
            let event = try place.device.correctionToAnswer(in: chain, named: name)
            try place.confirm(
                "Approve this?",
                invocation,
                about: CorrectionPage(event, of: place.device.view(chain)).lines
            )
            let said = try place.device.approve(chain, correction: event.hex)
            let page = try CorrectionPage(event, of: place.device.view(chain))
            place.report(
                said,
                page.isApplied
                    ? "Approved; correction \(page.name) of chain …\(Workplace.short(chain)) applies."
                    : "Approved; correction \(page.name) still waits for \(page.awaited).",
                more: page.json
            )
            return .done
        }
    )

    static let refuse = CommandDeclaration(
        ["refuse"],
        summary: "Do not agree to a correction",
        discussion: """
            The values stay as they were signed, and your reason is kept with the correction. To refuse a load, see \
            `tally decline`; what the server refused of yours is under `tally refused`.
            """,
        section: Tally.field,
        arguments: [.chain, .correction],
        options: [.why],
        examples: [
            ("tally refuse 1f0c3a9e --why 'we weighed 7.5 t'", "refuses the only correction that waits for you")
        ],
        exitCodes: chainExitCodes,
        run: { (invocation: Invocation) async throws -> ExitCode in
            let place = try Workplace.open(invocation)
            let chain = try place.chain(invocation)
            let name = try invocation.argumentIfGiven("CORRECTION")
            let event = try place.device.correctionToAnswer(in: chain, named: name)
            let said = try place.device.refuse(chain, correction: event.hex, why: try invocation.why())
            let page = try CorrectionPage(event, of: place.device.view(chain))
            place.report(
                said,
                "Refused; the values of chain …\(Workplace.short(chain)) stay as they were signed.",
                more: page.json
            )
            return .done
        }
    )
}

extension ArgumentDeclaration {
    fileprivate static let correction = ArgumentDeclaration(
        "CORRECTION",
        .optional,
        help: "the correction, where several are open: its first digits, as `tally show` has them"
    )
}

/// A correction, for whoever proposes or answers it.
private struct CorrectionPage {
    let correction: ChainView.Correction

    init(_ event: Digest?, of view: ChainView) throws {
        guard let correction = view.corrections.first(where: { $0.event == event }) else {
            throw CommandError(
                exit: .failed,
                code: "nothing-to-do",
                message: "the correction is not in chain …\(Workplace.short(view.chain)) as it is known here",
                remedy: "`tally show \(Workplace.short(view.chain))` says how it stands"
            )
        }
        self.correction = correction
    }

    var name: String { String(correction.event.hex.prefix(8)) }

    var isApplied: Bool { if case .applied = correction.state { true } else { false } }

    var awaited: String { correction.awaited.map { Console.plain($0.text) }.joined(separator: ", ") }

    var lines: [String] {
        ["\(Console.plain(correction.party.text)) corrects: \(Console.plain(correction.why))"]
            + correction.changes.map { "  " + ChainPage.words($0) }
    }

    var json: [(String, JSONOutput)] {
        [
            ("correction", .string(correction.event.hex)), ("applied", .bool(isApplied)),
            ("waitsFor", .array(correction.awaited.map { ChainPage.party($0) })),
        ]
    }
}
