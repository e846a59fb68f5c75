public import TallystickCrypto

/// The stable name of a reason for which an event is refused or warned about.
public struct ReasonCode: Hashable, Sendable, CustomStringConvertible {
    /// The stable spelling.
    public let description: String

    /// Names a reason.
    public init(_ description: String) { self.description = description }

    /// The bytes are not canonical JSON.
    public static let notCanonical = ReasonCode("not-canonical")
    /// The JSON is not an event, or its body is not what its type says.
    public static let notAnEvent = ReasonCode("not-an-event")
    /// The event is larger than 64 KiB.
    public static let tooLarge = ReasonCode("too-large")
    /// The signature is not the device's over these bytes.
    public static let badSignature = ReasonCode("bad-signature")
    /// No certificate is known for the device.
    public static let unknownDevice = ReasonCode("unknown-device")
    /// The event is dated outside its device's certificate.
    public static let certificateNotValid = ReasonCode("certificate-not-valid")
    /// The device was revoked before the event came.
    public static let deviceRevoked = ReasonCode("device-revoked")
    /// The type or its version is newer than this engine.
    public static let unsupportedVersion = ReasonCode("unsupported-version")
    /// The device used the event's id for other bytes.
    public static let idReused = ReasonCode("id-reused")
    /// The device used the number for another event.
    public static let sequenceForked = ReasonCode("sequence-forked")
    /// The parents do not lead to the device's own previous event, or lack what the type needs.
    public static let parentsInvalid = ReasonCode("parents-invalid")
    /// The party does not hold the role in this chain, or the device may not act in it.
    public static let roleNotHeld = ReasonCode("role-not-held")
    /// The chain is already open.
    public static let alreadyOpened = ReasonCode("already-opened")
    /// The chain's identifier was made by another device, which alone may open it.
    public static let chainNotYours = ReasonCode("chain-not-yours")
    /// The scheme is not known here.
    public static let schemeUnknown = ReasonCode("scheme-unknown")
    /// The field belongs to another role.
    public static let notYourField = ReasonCode("not-your-field")
    /// The scheme has no such field.
    public static let fieldUnknown = ReasonCode("field-unknown")
    /// The value is not one the field can have.
    public static let fieldInvalid = ReasonCode("field-invalid")
    /// The field was sealed by a signature.
    public static let fieldSealed = ReasonCode("field-sealed")
    /// Two values of a field contradict each other.
    public static let conflictOpen = ReasonCode("conflict-open")
    /// A field that must be there is not.
    public static let missingField = ReasonCode("missing-field")
    /// A field that must not be there is.
    public static let forbiddenField = ReasonCode("forbidden-field")
    /// A rule of the scheme is not met.
    public static let ruleBroken = ReasonCode("rule-broken")
    /// A check of the scheme found a difference.
    public static let discrepancy = ReasonCode("discrepancy")
    /// A signature that must come before has not come.
    public static let signatureOutOfOrder = ReasonCode("signature-out-of-order")
    /// The signature was already given.
    public static let alreadySigned = ReasonCode("already-signed")
    /// The reply of this offer's taker was already acknowledged.
    public static let alreadyAcknowledged = ReasonCode("already-acknowledged")
    /// The signature belongs to another role.
    public static let notYourSignature = ReasonCode("not-your-signature")
    /// The snapshot signed or handed over is not the one the events give.
    public static let snapshotMismatch = ReasonCode("snapshot-mismatch")
    /// The party does not hold the load.
    public static let notTheHolder = ReasonCode("not-the-holder")
    /// The offer says something its scheme does not allow.
    public static let offerInvalid = ReasonCode("offer-invalid")
    /// No such offer is known.
    public static let offerUnknown = ReasonCode("offer-unknown")
    /// The offer ended before it was accepted.
    public static let offerExpired = ReasonCode("offer-expired")
    /// The giver took the offer back.
    public static let offerWithdrawn = ReasonCode("offer-withdrawn")
    /// The taker has declined the offer.
    public static let offerDeclined = ReasonCode("offer-declined")
    /// Somebody else has accepted the offer.
    public static let offerTaken = ReasonCode("offer-taken")
    /// The MAC is not that of the statement.
    public static let macMismatch = ReasonCode("mac-mismatch")
    /// Giver and taker are the same device.
    public static let ownOffer = ReasonCode("own-offer")
    /// The chain is closed or cancelled.
    public static let chainClosed = ReasonCode("chain-closed")
    /// Parts do not add up to the whole.
    public static let amountsDiffer = ReasonCode("amounts-differ")
    /// A signature or handoff that should come before has not come, and the scheme lets that pass.
    public static let signatureMissing = ReasonCode("signature-missing")
    /// By the devices' clocks something is earlier than what it follows.
    public static let timeOutOfOrder = ReasonCode("time-out-of-order")
    /// A stage that must not be done yet is done.
    public static let tooLate = ReasonCode("too-late")
    /// The role cannot be given to this party by this one.
    public static let roleInvalid = ReasonCode("role-invalid")
    /// The principal has not let the author sign in its place, or not now.
    public static let notDelegated = ReasonCode("not-delegated")
    /// The scheme does not let this signature be given by another.
    public static let delegationInvalid = ReasonCode("delegation-invalid")
    /// The scheme does not let this role attest the signature on paper.
    public static let paperNotAllowed = ReasonCode("paper-not-allowed")
    /// The event was written down earlier than it was said.
    public static let lateEntry = ReasonCode("late-entry")
    /// The scheme does not let this be entered so late, or by this role.
    public static let lateNotAllowed = ReasonCode("late-not-allowed")
    /// The value cannot be corrected.
    public static let correctionInvalid = ReasonCode("correction-invalid")
    /// Another correction of the value is open.
    public static let correctionOpen = ReasonCode("correction-open")
    /// The correction is settled, or not one that the party has a say in.
    public static let correctionSettled = ReasonCode("correction-settled")
    /// The scheme has no such link, or not for this chain.
    public static let linkInvalid = ReasonCode("link-invalid")
    /// The chain cannot end with this outcome, or not now.
    public static let outcomeInvalid = ReasonCode("outcome-invalid")
}

/// Why an event is refused, or what it is warned about: a stable code and the facts it rests on.
public struct Reason: Sendable, Equatable {
    /// The stable code.
    public let code: ReasonCode
    /// What it is about: a field, an offer, a signature, an event.
    public let subject: String?
    /// More facts, in words or figures: what was expected, what came.
    public let detail: String?
    /// The scheme's rule that it follows from, where there is one.
    public let rule: String?

    /// States a reason.
    public init(_ code: ReasonCode, _ subject: String? = nil, _ detail: String? = nil, rule: Name? = nil) {
        self.code = code
        self.subject = subject
        self.detail = detail
        self.rule = rule?.text
    }

    /// The reason as entries and receipts carry it.
    public var json: JSON {
        .members([
            ("code", .string(code.description)), ("detail", detail.map { .string($0) }),
            ("rule", rule.map { .string($0) }), ("subject", subject.map { .string($0) }),
        ])
    }

    /// Reads a reason, or nil if the JSON is none.
    public init?(_ json: JSON) {
        guard let code = json["code"]?.text else { return nil }
        self.init(
            ReasonCode(code),
            json["subject"]?.text,
            json["detail"]?.text,
            rule: json["rule"]?.text.flatMap(Name.init)
        )
    }
}

/// What an event waits for.
public enum Awaited: Hashable, Sendable {
    /// An event that has not come, or is itself waiting.
    case event(Digest)
    /// The offer that an acceptance names.
    case offer(OfferID)
    /// The chain's opening.
    case opening
    /// A signature that must come before.
    case signature(Name)
    /// A load that must have been taken by this handoff before.
    case handoff(Name)

    /// As entries and receipts carry it.
    public var json: JSON {
        switch self {
        case .event(let hash): .members([("event", .string(hash.hex))])
        case .offer(let offer): .members([("offer", .string(offer.description))])
        case .opening: .members([("opening", .boolean(true))])
        case .signature(let name): .members([("signature", .string(name.text))])
        case .handoff(let name): .members([("handoff", .string(name.text))])
        }
    }

    /// Reads what is waited for, or nil.
    public init?(_ json: JSON) {
        if let hash = json["event"]?.text.flatMap(Digest.init(hex:)) {
            self = .event(hash)
        } else if let offer = json["offer"]?.text.flatMap(OfferID.init(_:)) {
            self = .offer(offer)
        } else if json["opening"] != nil {
            self = .opening
        } else if let name = json["signature"]?.text.flatMap(Name.init) {
            self = .signature(name)
        } else if let name = json["handoff"]?.text.flatMap(Name.init) {
            self = .handoff(name)
        } else {
            return nil
        }
    }
}

/// The decision on an event.
public struct Verdict: Sendable, Equatable {
    /// The three ways it can end.
    public enum Outcome: String, Sendable {
        /// The event is part of the chain.
        case accepted
        /// The event is kept, and is not part of the chain.
        case refused
        /// The event is kept until something else comes.
        case waiting
    }

    /// How it ended.
    public let outcome: Outcome
    /// Every reason it is refused for.
    public let reasons: [Reason]
    /// What it waits for.
    public let awaits: [Awaited]
    /// What a person should know about an accepted event.
    public let warnings: [Reason]
    /// How the handoff was judged, where the event ends one.
    public let handoff: HandoffFinding?

    /// Accepts.
    public static func accepted(warnings: [Reason] = [], handoff: HandoffFinding? = nil) -> Verdict {
        Verdict(outcome: .accepted, reasons: [], awaits: [], warnings: warnings, handoff: handoff)
    }

    /// Refuses for these reasons.
    public static func refused(_ reasons: [Reason], handoff: HandoffFinding? = nil) -> Verdict {
        Verdict(outcome: .refused, reasons: reasons, awaits: [], warnings: [], handoff: handoff)
    }

    /// Waits for these things.
    public static func waiting(_ awaits: [Awaited]) -> Verdict {
        Verdict(outcome: .waiting, reasons: [], awaits: awaits, warnings: [], handoff: nil)
    }

    /// Whether two verdicts decide the same: the outcome, the codes and what they are about, what is waited for, and how
    /// a handoff was judged.
    ///
    /// Details are words and figures for people. A later version may put them otherwise, and an old record must not
    /// become a false one by that.
    public func decides(sameAs other: Verdict) -> Bool {
        func facts(_ reasons: [Reason]) -> [[String?]] { reasons.map { [$0.code.description, $0.subject] } }
        return outcome == other.outcome && facts(reasons) == facts(other.reasons)
            && facts(warnings) == facts(other.warnings) && awaits == other.awaits && handoff == other.handoff
    }

    /// The verdict as entries and receipts carry it.
    public var json: JSON {
        .members([
            ("handoff", handoff?.json),
            ("outcome", .string(outcome.rawValue)),
            ("reasons", reasons.isEmpty ? nil : .array(reasons.map(\.json))),
            ("waitsFor", awaits.isEmpty ? nil : .array(awaits.map(\.json))),
            ("warnings", warnings.isEmpty ? nil : .array(warnings.map(\.json))),
        ])
    }

    /// Reads a verdict, or nil if the JSON is none.
    public init?(_ json: JSON) {
        guard let outcome = json["outcome"]?.text.flatMap(Outcome.init(rawValue:)) else { return nil }
        let reasons = json["reasons"]?.elements ?? []
        let warnings = json["warnings"]?.elements ?? []
        let awaits = json["waitsFor"]?.elements ?? []
        self.init(
            outcome: outcome,
            reasons: reasons.compactMap(Reason.init(_:)),
            awaits: awaits.compactMap(Awaited.init(_:)),
            warnings: warnings.compactMap(Reason.init(_:)),
            handoff: json["handoff"].flatMap(HandoffFinding.init(_:))
        )
        guard self.reasons.count == reasons.count, self.awaits.count == awaits.count,
            self.warnings.count == warnings.count, (json["handoff"] == nil) == (handoff == nil)
        else { return nil }
    }

    private init(
        outcome: Outcome,
        reasons: [Reason],
        awaits: [Awaited],
        warnings: [Reason],
        handoff: HandoffFinding?
    ) {
        self.outcome = outcome
        self.reasons = reasons
        self.awaits = awaits
        self.warnings = warnings
        self.handoff = handoff
    }
}

/// What the check of a handoff's two halves rests on.
public struct HandoffFinding: Sendable, Equatable {
    /// How the time of acceptance is known.
    public enum TimeBasis: String, Sendable {
        /// The acceptance reached the server before the offer ended.
        case witnessed
        /// Only the taker's device says that it was in time.
        case claimed
    }

    /// How the MAC was checked.
    public enum MACResult: String, Sendable {
        /// It was made again and is the same.
        case matched
        /// It was made again and differs.
        case mismatched
        /// The key to make it again is not here.
        case unchecked
    }

    /// How the time of acceptance is known; nil where it was not in time or is not judged.
    public let time: TimeBasis?
    /// How the MAC was checked.
    public let mac: MACResult

    /// As entries carry it.
    public var json: JSON {
        .members([("mac", .string(mac.rawValue)), ("time", time.map { .string($0.rawValue) })])
    }

    /// States a finding.
    public init(time: TimeBasis?, mac: MACResult) {
        self.time = time
        self.mac = mac
    }

    /// Reads a finding, or nil.
    public init?(_ json: JSON) {
        guard let mac = json["mac"]?.text.flatMap(MACResult.init(rawValue:)) else { return nil }
        self.mac = mac
        time = json["time"]?.text.flatMap(TimeBasis.init(rawValue:))
        guard (time == nil) == (json["time"] == nil) else { return nil }
    }
}
