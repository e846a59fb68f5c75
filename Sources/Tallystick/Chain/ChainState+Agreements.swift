public import TallystickCrypto

/// What parties agree on beside handing over: who signs for whom, corrections, ties to other chains, and the end.
extension ChainState {
    /// Leave to sign in another's place.
    public struct Delegation: Sendable {
        /// The event.
        public let event: Digest
        /// The leg whose signatures they are.
        public let leg: Digest
        /// Whose signatures they are.
        public let from: UniqueID
        /// Who may give them.
        public let to: UniqueID
        /// The signatures.
        public let signatures: [Name]
        /// Until when.
        public let until: Timestamp
        let device: DeviceID
        let seq: Int
    }

    /// A correction of sealed values.
    public struct Correction: Sendable {
        /// The event that proposed it, which names it.
        public let event: Digest
        /// The leg whose values are corrected.
        public let leg: Digest
        /// Who proposed it.
        public let party: UniqueID
        /// In which role.
        public let role: Name
        /// The new values.
        public let changes: [EventContent.FieldChange]
        /// Why.
        public let why: String
        /// The proposer's time.
        public let at: Timestamp
        /// The parties that have to approve.
        public let approvers: [UniqueID]
        /// The parties that have approved.
        public internal(set) var approved: [UniqueID] = []
        /// What became of it.
        public internal(set) var end: End
        let device: DeviceID
        let seq: Int

        /// What can become of a correction.
        public enum End: Sendable, Equatable {
            /// Somebody has yet to answer.
            case open
            /// It took effect with this event.
            case applied(Digest)
            /// A party did not agree.
            case refused(by: UniqueID, why: String)
        }
    }

    /// A tie to another chain.
    public struct Link: Sendable {
        /// What was said.
        public let link: ChainLink
        /// The event.
        public let event: Digest
        /// Who said it.
        public let party: UniqueID
        /// The author's time.
        public let at: Timestamp
    }

    /// How a chain ended.
    public struct Ending: Sendable {
        /// The outcome it was closed with; nil where it was cancelled.
        public let outcome: Name?
        /// Why.
        public let why: String
        /// The event.
        public let event: Digest
        /// Who ended it.
        public let party: UniqueID
        /// The author's time.
        public let at: Timestamp
        let device: DeviceID
        let seq: Int
    }

    /// What an accepted event was warned about.
    public struct Warned: Sendable {
        /// The event.
        public let event: Digest
        /// Who said it.
        public let party: UniqueID
        /// The author's leg, where it had one before.
        public let leg: Digest?
        /// The author's time.
        public let at: Timestamp
        /// The warnings.
        public let reasons: [Reason]
    }
}
