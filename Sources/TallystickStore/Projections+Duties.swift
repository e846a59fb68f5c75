import Tallystick
import TallystickCrypto

/// What is still to be done, or was left out: deadlines and gaps.
///
/// Both follow from the whole state, so the rows of the chain are written anew; but only after an event that can have
/// changed them, and not at all under a scheme that has none.
extension Projections {
    // MARK: Deadlines

    func writeDeadlines(after event: Event, state: ChainState) throws(StoreError) {
        // The count first: most events come under a scheme without deadlines, and a scheme is much to copy.
        guard state.scheme?.deadlines.isEmpty == false, let scheme = state.scheme,
            Projections.moves(event.content, scheme)
        else { return }
        try database.run("DELETE FROM deadlines WHERE chain = ?", state.chain.description)
        // The time asked at settles only what is overdue, which is for whoever reads the rows.
        for status in state.deadlines(at: event.at, Zones.offsets) {
            let role = status.deadline.role
            let party = (state.legs.last { $0.role == role } ?? state.seats.last { $0.role == role })?.party
            try database.run(
                "INSERT INTO deadlines VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                state.chain.description,
                status.deadline.name.text,
                role.text,
                party?.description,
                Projections.universal(status.start),
                status.due.map(Projections.universal),
                status.isCertain ? 1 : 0,
                status.met.map(Projections.universal)
            )
        }
    }

    /// The moment at UTC, so that the order of the texts is the order in time.
    private static func universal(_ moment: Timestamp) -> String {
        (moment.at(offsetMinutes: 0) ?? moment).description
    }

    /// Whether an event that says this can begin, end or move a deadline of the scheme.
    private static func moves(_ content: EventContent, _ scheme: Scheme) -> Bool {
        switch content {
        case .chainOpened, .signed, .handoffAccepted, .partyAdmitted, .chainCancelled, .chainClosed: true
        // Of these a correction that takes effect changes values that the event itself may not name.
        case .correctionProposed, .correctionApproved: true
        case .fieldsSet(let changes): scheme.deadlines.contains { looks($0, at: changes) }
        case .noteAdded, .handoffOffered, .handoffWithdrawn, .handoffDeclined, .handoffAcknowledged,
            .signatureDelegated, .correctionRefused, .chainLinked, .unknown:
            false
        }
    }

    private static func looks(_ deadline: Deadline, at changes: [EventContent.FieldChange]) -> Bool {
        if case .field(let reference) = deadline.from, looks(at: reference, changes) { return true }
        if case .field(let reference) = deadline.until, looks(at: reference, changes) { return true }
        return deadline.when?.references.contains { looks(at: $0, changes) } ?? false
    }

    private static func looks(at reference: FieldReference, _ changes: [EventContent.FieldChange]) -> Bool {
        changes.contains { change in
            guard let field = change.path.field else { return true }
            // By name alone: inside a condition over lines a field is named without them.
            return field == reference.field
        }
    }

    // MARK: Gaps

    func writeGaps(after decision: ChainLedger.Decision, state: ChainState) throws(StoreError) {
        guard state.scheme?.hasOptionalStages == true else { return }
        switch decision.arrival.event.content {
        case .signed, .handoffAccepted: break
        default:
            guard decision.verdict.warnings.contains(where: { $0.code == .signatureMissing }) else { return }
        }
        try database.run("DELETE FROM gaps WHERE chain = ?", state.chain.description)
        for leg in state.legs {
            for signature in state.missingSignatures(on: leg) {
                try database.run(
                    "INSERT INTO gaps VALUES (?, ?, ?, ?, ?)",
                    state.chain.description,
                    leg.event.hex,
                    signature.text,
                    leg.role.text,
                    leg.party.description
                )
            }
        }
    }
}
