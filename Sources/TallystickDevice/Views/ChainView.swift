package import Tallystick
package import TallystickCrypto

/// Everything this device can show of a chain; provisional where the server has not decided.
package struct ChainView: Sendable {
    /// The chain.
    package let chain: UniqueID
    /// What a person calls the scheme; nil where it is not known.
    package let title: String?
    /// The scheme; nil where it is not known, or the opening is not.
    package let scheme: SchemeReference?
    /// Who opened it, and when by their clock; nil where the opening is not known here.
    package let opening: (party: Party, at: Timestamp)?
    /// Who has the load.
    package let holder: Party?
    /// The legs, in order; the first may be missing where the load was taken by code alone.
    package let legs: [Leg]
    /// The parties that take part without ever holding the load.
    package let seats: [Leg]
    /// Who may sign in whose place, in order.
    package let delegations: [Delegation]
    /// The corrections of sealed values, in order.
    package let corrections: [Correction]
    /// The ties to other chains, in order.
    package let links: [Link]
    /// How the chain ended; nil where it goes on.
    package let ending: Ending?
    /// What full codes said of the load, where the givers' own events have not arrived: the newest first.
    package let received: [Received]
    /// The offers, in the order of their ends.
    package let offers: [Offer]
    /// The remarks, in order.
    package let notes: [Note]
    /// Who else says to have taken the load.
    package let contests: [Contest]
    /// The events that wait, and for what.
    package let waiting: [Waiting]
    /// The refused events, with every reason.
    package let refused: [Refused]
    /// Own events that the server will probably refuse, as the chain is known now.
    package let doubtful: [Refused]
    /// What accepted events were warned about, in order.
    package let warned: [Warned]
    /// What was entered afterwards, in order.
    package let late: [Late]
    /// The deadlines whose time has begun, in the order of the scheme.
    package let deadlines: [Deadline]
    /// How long this party must keep the record, by its roles.
    package let keeping: [Keeping]
    /// The identifiers that other systems gave the chain.
    package let externals: [External]
    /// The differences of quantities that the scheme warned about.
    package let discrepancies: [Reason]
    /// Whether values contradict each other.
    package let isInConflict: Bool
    /// Whether somebody disputes who has the load.
    package let isContested: Bool
    /// Whether there are events that need a newer version of the program.
    package let needsNewerVersion: Bool
    /// This device's events by how far they came.
    package let counts: BadgeCounts
    /// The badge.
    package var badge: Badge { counts.badge }
    /// Everything that accepted events were warned about.
    package var warnings: [Reason] { warned.flatMap(\.reasons) }

    /// A party, with its name where a certificate is known here.
    package struct Party: Sendable {
        /// The party.
        package let id: UniqueID
        /// What it is called.
        package let name: String?
        /// Whether this device acts for it.
        package let isOwn: Bool
        /// The name, or the identifier.
        package var text: String { name ?? id.description }
    }

    /// One holder's turn.
    package struct Leg: Sendable {
        /// The event that began it.
        package let event: Digest
        /// The number; nil where the legs before it are not known here.
        package let number: Int?
        /// The role.
        package let role: Name
        /// What a person calls the role.
        package let roleTitle: String?
        /// The holder.
        package let party: Party
        /// Whether the load is with it now.
        package let isCurrent: Bool
        /// When it began, by the holder's clock.
        package let at: Timestamp
        /// The offer it was taken by.
        package let offer: OfferID?
        /// The hash of the snapshot that was received.
        package let received: Digest?
        /// How the handoff was judged.
        package let finding: HandoffFinding?
        /// The values, in the order of the scheme.
        package let fields: [Field]
        /// The signatures, in order.
        package let signatures: [Signature]
        /// The signatures that the scheme lets be missing, and that are, although what they should come before is done.
        package let missing: [Name]
    }

    /// A value.
    package struct Field: Sendable {
        /// Where it stands.
        package let path: FieldPath
        /// What a person calls it.
        package let title: String?
        /// The value.
        package let value: JSON
        /// What its codes stand for, where they are codes with titles.
        package let codeTitles: [String]
        /// The other values where several contradict each other; null is a clearing.
        package let others: [JSON]
        /// Whether several contradict each other.
        package let isInConflict: Bool
        /// Whether a signature or a handoff has sealed it.
        package let isSealed: Bool
        /// Whether it can be corrected once it is sealed.
        package let isCorrectable: Bool
        /// The value before it was corrected, null where there was none; nil where it was not corrected.
        package let corrected: JSON?
        /// Who wrote it, or proposed the correction; nil where the device is not known here.
        package let party: Party?
        /// When, by the writer's clock.
        package let at: Timestamp
    }

    /// A signature.
    package struct Signature: Sendable {
        /// The signature's name.
        package let name: Name
        /// What a person calls it.
        package let title: String?
        /// The event.
        package let event: Digest
        /// Whose signature it is.
        package let party: Party
        /// Who gave it: the same party, its delegate, or who attests that it was given on paper.
        package let signer: Party
        /// How it was given.
        package let way: SigningWay
        /// When it was said, by that clock.
        package let at: Timestamp
        /// When it was given: of late entries and attested paper the original time, if it is known.
        package let happened: Timestamp
        /// The hash of what was signed.
        package let snapshot: Digest
        /// What the scheme warned about.
        package let warnings: [Reason]
    }

    /// What a giver stated when handing over, as received by code.
    package struct Received: Sendable {
        /// The giving role.
        package let from: Name
        /// The taking role.
        package let to: Name
        /// What a person calls the handoff.
        package let title: String?
        /// The hash of the snapshot.
        package let snapshot: Digest
        /// The giver's values, with what a person calls each.
        package let fields: [(path: FieldPath, title: String?, value: JSON, codeTitles: [String])]
    }

    /// An offer.
    package struct Offer: Sendable {
        /// The offer.
        package let id: OfferID
        /// The handoff's name.
        package let handoff: Name
        /// What a person calls the handoff.
        package let title: String?
        /// The receiving role.
        package let to: Name
        /// The only party that may take it.
        package let boundTo: Party?
        /// The giver.
        package let from: Party?
        /// When it ends.
        package let expires: Timestamp
        /// What became of it.
        package let state: State
        /// What the code carries, where this device made the offer.
        package let half: HandoffHalf?
        /// The taker's reply that the giver holds: with it both halves.
        package let reply: Reply?

        /// A taker's reply.
        package struct Reply: Sendable {
            /// Whether the load was taken.
            package let isAcceptance: Bool
            /// The taker, where its certificate is known here.
            package let taker: Party?
            /// When, by the taker's clock.
            package let at: Timestamp?
            /// The taker's event.
            package let event: Digest
        }

        /// What can become of an offer.
        package enum State: Sendable, Equatable {
            /// It can be taken.
            case open
            /// Its end has passed by this device's clock, and no acceptance is known.
            case expired
            /// The giver took it back.
            case withdrawn
            /// The taker refused the load.
            case declined(why: String)
            /// It was taken, by the leg of this event.
            case taken(Digest)
        }
    }

    /// A remark.
    package struct Note: Sendable {
        /// What was said.
        package let text: String
        /// Who said it.
        package let party: Party
        /// The role it was said in.
        package let role: Name
        /// When, by the author's clock.
        package let at: Timestamp
    }

    /// Somebody who says to have taken the load too.
    package struct Contest: Sendable {
        /// The refused acceptance.
        package let event: Digest
        /// The offer.
        package let offer: OfferID
        /// Who says so.
        package let party: Party
        /// When, by their clock.
        package let at: Timestamp
    }

    /// An event that waits.
    package struct Waiting: Sendable {
        /// The event.
        package let event: Digest
        /// Its type.
        package let type: String
        /// Whether this device said it.
        package let isOwn: Bool
        /// What it waits for.
        package let awaits: [Awaited]
    }

    /// An event that is refused.
    package struct Refused: Sendable {
        /// The event.
        package let event: Digest
        /// The chain.
        package let chain: UniqueID
        /// Its type.
        package let type: String
        /// Whether this device said it.
        package let isOwn: Bool
        /// When it was said, by the author's clock.
        package let at: Timestamp
        /// When the server received it; nil where it is only expected to be refused.
        package let received: Timestamp?
        /// Every reason.
        package let reasons: [Reason]
        /// Whether a person has dealt with it.
        package let isDealtWith: Bool
    }
}

extension Awaited {
    /// What is waited for, for a person.
    package var sentence: String {
        switch self {
        case .event(let hash): "It waits for an earlier event (\(hash.hex.prefix(8))…) that has not reached the server."
        case .offer(let offer): "It waits for the giver's device to send offer \(offer.short) to the server."
        case .opening: "It waits for the opening of the chain to reach the server."
        case .signature(let name): "It waits for the signature “\(name)” to reach the server."
        case .handoff(let name): "It waits for the taker of the handoff “\(name)” to reach the server."
        }
    }
}
