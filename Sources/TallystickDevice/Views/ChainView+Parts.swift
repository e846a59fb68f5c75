package import Tallystick
package import TallystickCrypto

/// What can be shown of a chain beside its legs: corrections, links, the end, and what has to be looked after.
extension ChainView {
    /// Leave to sign in another's place.
    package struct Delegation: Sendable {
        /// The event.
        package let event: Digest
        /// Whose signatures they are.
        package let from: Party
        /// Who may give them.
        package let to: Party
        /// The signatures.
        package let signatures: [Name]
        /// Until when.
        package let until: Timestamp
    }

    /// A correction of sealed values.
    package struct Correction: Sendable {
        /// The event that proposed it, which names it.
        package let event: Digest
        /// The leg whose values are corrected.
        package let leg: Digest
        /// Who proposed it.
        package let party: Party
        /// In which role.
        package let role: Name
        /// The new values.
        package let changes: [Change]
        /// Why.
        package let why: String
        /// When, by the proposer's clock.
        package let at: Timestamp
        /// The parties that have approved.
        package let approved: [Party]
        /// The parties that still have to, where it is open.
        package let awaited: [Party]
        /// What became of it.
        package let state: State

        /// A value that is corrected.
        package struct Change: Sendable {
            /// Where it stands.
            package let path: FieldPath
            /// What a person calls it.
            package let title: String?
            /// The new value; nil clears.
            package let value: JSON?
            /// The value before; nil where there was none.
            package let before: JSON?
        }

        /// What can become of a correction.
        package enum State: Sendable {
            /// Somebody has yet to answer.
            case open
            /// It took effect with this event.
            case applied(Digest)
            /// A party did not agree.
            case refused(by: Party, why: String)
        }

        /// Whether the device's own party has yet to answer.
        package var waitsForOwn: Bool { awaited.contains { $0.isOwn } }
    }

    /// A tie to another chain.
    package struct Link: Sendable {
        /// The event.
        package let event: Digest
        /// The link's name in the scheme.
        package let name: Name
        /// What a person calls it.
        package let title: String?
        /// What kind it is, such as `split-to`.
        package let kind: Scheme.LinkRule.Kind?
        /// The other chain.
        package let chain: UniqueID
        /// Whether the other chain is on this device.
        package let isHere: Bool
        /// How much of each row goes into the other chain.
        package let amounts: [(path: FieldPath, value: JSON)]
        /// Why; may be empty.
        package let why: String
        /// Who said it.
        package let party: Party
        /// When, by the author's clock.
        package let at: Timestamp
    }

    /// How a chain ended.
    package struct Ending: Sendable {
        /// The event.
        package let event: Digest
        /// The outcome; nil where it was cancelled.
        package let outcome: Name?
        /// What a person calls the outcome.
        package let title: String?
        /// Why; may be empty.
        package let why: String
        /// Who ended it.
        package let party: Party
        /// When, by the author's clock.
        package let at: Timestamp
        /// The role that has the duty for the load again.
        package let dutyTo: Name?
        /// What a person calls that role.
        package let dutyTitle: String?
    }

    /// What an accepted event was warned about.
    package struct Warned: Sendable {
        /// The event.
        package let event: Digest
        /// Who said it.
        package let party: Party
        /// When, by the author's clock.
        package let at: Timestamp
        /// The warnings.
        package let reasons: [Reason]
    }

    /// What was entered afterwards.
    package struct Late: Sendable {
        /// The event.
        package let event: Digest
        /// Its type.
        package let type: String
        /// Who said it.
        package let party: Party
        /// When it was entered, by the author's clock.
        package let at: Timestamp
        /// When it happened, or was written on paper.
        package let happened: Timestamp
        /// Why it was not entered then.
        package let why: String
        /// SHA-256 of a picture of the paper, where there is one.
        package let paper: Digest?
    }

    /// A deadline whose time has begun.
    package struct Deadline: Sendable {
        /// The deadline's name in the scheme.
        package let name: Name
        /// What a person calls it.
        package let title: String
        /// The role that has to act.
        package let role: Name
        /// What to tell a person.
        package let says: String
        /// When the time began to run.
        package let start: Timestamp
        /// The last moment in time; nil where the zone is not known.
        package let due: Timestamp?
        /// Whether the calendar knew the holidays of the whole time.
        package let isCertain: Bool
        /// When what was to follow had happened; nil where it has not.
        package let met: Timestamp?
        /// Whether the time has passed and it has not happened.
        package let isOverdue: Bool
        /// Whether it happened, and too late.
        package let wasLate: Bool
    }

    /// How long this party must keep the record in a role.
    package struct Keeping: Sendable {
        /// The role.
        package let role: Name
        /// How long.
        package let period: Period
        /// From when.
        package let from: ChainMoment
        /// The last day; nil where the time has not begun.
        package let until: Day?
    }

    /// An identifier that another system gave the chain.
    package struct External: Sendable {
        /// The system.
        package let system: String
        /// What a person calls the field that holds it.
        package let title: String
        /// The identifier.
        package let value: JSON
    }
}
