extension ReasonCode {
    /// Every reason that this engine gives.
    public static let all: [ReasonCode] = [
        .notCanonical, .notAnEvent, .tooLarge, .badSignature, .unknownDevice, .certificateNotValid, .deviceRevoked,
        .unsupportedVersion, .idReused, .sequenceForked, .parentsInvalid, .roleNotHeld, .alreadyOpened, .chainNotYours,
        .schemeUnknown,
        .notYourField, .fieldUnknown, .fieldInvalid, .fieldSealed, .conflictOpen, .missingField, .forbiddenField,
        .ruleBroken, .discrepancy, .signatureOutOfOrder, .alreadySigned, .notYourSignature, .snapshotMismatch,
        .notTheHolder, .offerInvalid, .offerUnknown, .offerExpired, .offerWithdrawn, .offerDeclined, .offerTaken,
        .macMismatch, .ownOffer, .alreadyAcknowledged, .chainClosed,
        .amountsDiffer, .signatureMissing, .timeOutOfOrder, .tooLate, .roleInvalid, .notDelegated, .delegationInvalid,
        .paperNotAllowed, .lateEntry, .lateNotAllowed, .correctionInvalid, .correctionOpen, .correctionSettled,
        .linkInvalid, .outcomeInvalid,
    ]
}

extension Reason {
    /// The reason for a person: what is wrong, and what to do about it.
    ///
    /// Wording may change; programs branch on `code`.
    public var sentence: String {
        aboutTheEvent ?? aboutTheAuthor ?? aboutValues ?? aboutSignatures ?? aboutHandoffs ?? aboutEndings ?? unknown
    }

    private func named(_ word: String) -> String { subject.map { "\(word) “\($0)”" } ?? "A \(word.lowercased())" }

    private var facts: String { detail.map { " (\($0))" } ?? "" }

    private var aboutTheEvent: String? {
        switch code {
        case .notCanonical:
            "What was sent is not written in the one form that can be signed\(facts). Say it again with this program."
        case .notAnEvent: "What was sent is not an event\(facts). Say it again with this program."
        case .tooLarge: "This is too long to be sent\(facts). Say it in several shorter parts."
        case .unsupportedVersion:
            "Something in this chain was said by a newer version of the program\(about). Install the newer version."
        case .idReused:
            "This device has used the same identifier for something else\(facts). Say it again; if it happens again, "
                + "enrol the device anew."
        case .sequenceForked:
            "This device has said something else under the same number\(facts). It was probably restored from a "
                + "backup or copied: enrol it anew, then say this again."
        case .parentsInvalid:
            "This does not follow from what the device said before\(facts). Sync, then say it again."
        default: nil
        }
    }

    private var aboutTheAuthor: String? {
        switch code {
        case .badSignature:
            "The signature is not this device's. Do not rely on it; say it again from the device itself."
        case .unknownDevice: "The server does not know this device. Ask for a new invitation and enrol it again."
        case .certificateNotValid:
            "The time it is dated at is outside the device's certificate\(facts). Check the device's clock; if it is "
                + "right, ask for a new invitation."
        case .deviceRevoked:
            "This device may not say anything any more. Ask whoever runs the server, and use another device."
        case .roleNotHeld:
            "You cannot do this as \(subject ?? "this role")\(facts). Choose another role, or let somebody do it who "
                + "has that role here."
        case .alreadyOpened: "This chain has been opened before\(facts). Go on with it, or open another."
        case .chainNotYours:
            "This chain's identifier was made by another device, and only that one can open it. Open a chain of your own."
        case .schemeUnknown:
            "The rules of this chain are not known here: \(subject ?? "scheme unknown")\(facts). Install the version "
                + "of the program that has them."
        default: nil
        }
    }

    private var aboutValues: String? {
        switch code {
        case .notYourField: "\(named("Field")) is not yours to fill in\(facts). Leave it out."
        case .fieldUnknown: "There is no such field here\(about). Check the spelling against the scheme."
        case .fieldInvalid: "\(named("Field")) cannot have this value\(facts). Correct it."
        case .fieldSealed:
            "\(named("Field")) was signed and cannot be set any more. Propose a correction, if the scheme allows one for "
                + "it, or add a remark."
        case .conflictOpen:
            "\(named("Field")) has two values that contradict each other\(facts). Look at both, set the right one, "
                + "then try again."
        case .missingField: "\(named("Field")) is missing. \(detail ?? "Fill it in.")"
        case .forbiddenField: "\(named("Field")) must not be filled in. \(detail ?? "Clear it.")"
        case .ruleBroken: "\(detail ?? "A rule of the scheme is not met. Correct the values.")\(about)"
        case .discrepancy:
            "Declared and received differ: \(detail ?? "look at both quantities and correct the wrong one.")"
        default: nil
        }
    }

    private var aboutSignatures: String? {
        switch code {
        case .signatureOutOfOrder:
            "\(named("Signature")) must be given first. Get it, then try again."
        case .alreadySigned: "\(named("Signature")) has been given already. Nothing more needs to be done."
        case .alreadyAcknowledged:
            "The reply to \(subject.map { "offer \($0)" } ?? "the offer") is held already. Nothing more needs to be done."
        case .notYourSignature: "\(named("Signature")) is not one that you can give here. Sign under another name."
        case .snapshotMismatch:
            "What was signed or handed over is not what the chain says now\(facts). Sync, look at it again, and repeat "
                + "it."
        default: nil
        }
    }

    private var aboutHandoffs: String? {
        switch code {
        case .notTheHolder:
            "The load is not with whoever does this\(facts). Sync to see who has it, and speak with them."
        case .offerInvalid: "The offer is not one the scheme allows\(facts). Ask the giver for a new one."
        case .offerUnknown: "No such offer is known\(facts). Ask the giver for a new one."
        case .offerExpired: "The offer has ended\(facts). Ask the giver for a new one."
        case .offerWithdrawn: "The giver has taken the offer back. Ask for a new one."
        case .offerDeclined: "The offer has been declined. Ask the giver for a new one, if it was a mistake."
        case .offerTaken:
            "Somebody has accepted this offer before\(facts). Find out who has the load; a person must settle it."
        case .macMismatch:
            "The code was not made by the giver's device, or was changed. Do not take the load on it; ask for a new one."
        case .ownOffer: "You cannot accept your own offer on the device that made it. Let the other side scan it."
        case .chainClosed:
            "The chain has ended\(facts). It takes remarks and corrections only. If you have the load, keep it and speak "
                + "with whoever gave it to you."
        default: nil
        }
    }

    private var aboutEndings: String? {
        switch code {
        case .amountsDiffer:
            "Amounts do not add up\(about): \(detail ?? "the parts are not the whole. Correct the wrong one.")"
        case .signatureMissing:
            "It stands without \(named("Stage").lowercased()), which should come before\(facts). Get it as soon as you can."
        case .timeOutOfOrder:
            "By the devices' clocks this is earlier than \(subject.map { "“\($0)”" } ?? "what it follows")\(facts). Check "
                + "the clocks, and note which time is right."
        case .tooLate:
            "It is too late for this: \(subject.map { "“\($0)” is" } ?? "a later step is") done already\(facts). Speak with "
                + "the others, and add a remark."
        case .roleInvalid:
            "The role \(subject.map { "“\($0)” " } ?? "")cannot be given this way\(facts). Let somebody do it who may, or "
                + "choose another role."
        case .notDelegated:
            "You have not been asked to give \(named("Signature").lowercased()) in this party's place\(facts). Let them "
                + "delegate it, sync, and sign again."
        case .delegationInvalid:
            "\(named("Signature")) cannot be left to another this way\(facts). Sign it yourself."
        case .paperNotAllowed:
            "\(named("Signature")) cannot be attested on paper here\(facts). Let the signer sign on a device."
        case .lateEntry: "This was entered afterwards\(facts). Keep the paper."
        case .lateNotAllowed:
            "This cannot be entered afterwards\(about)\(facts). Add a remark that says when it happened."
        case .correctionInvalid: "\(named("Field")) cannot be corrected\(facts). Add a remark instead."
        case .correctionOpen:
            "Another correction of \(named("field").lowercased()) is open\(facts). Wait until it is approved or refused."
        case .correctionSettled:
            "There is nothing to answer in this correction\(facts). Sync, and look at the chain again."
        case .linkInvalid:
            "The link \(subject.map { "“\($0)” " } ?? "")cannot be made\(facts). Correct what is named and make it again."
        case .outcomeInvalid:
            "The chain cannot end like this now\(about)\(facts). See to what is named first, or choose another outcome."
        default: nil
        }
    }

    private var about: String { subject.map { " (\($0))" } ?? "" }

    private var unknown: String {
        "It is not allowed: \(code)\(about)\(facts). Install the newest version of the program to read why."
    }
}
