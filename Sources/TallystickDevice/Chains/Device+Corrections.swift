package import Tallystick
package import TallystickCrypto
import TallystickStore

/// Corrections of sealed values: proposing one, and answering it.
extension Device {
    /// Proposes new values in the place of sealed ones; where nobody else is concerned they apply at once.
    package func correct(_ chain: UniqueID, _ values: [EventContent.FieldChange], why: String) throws -> Said {
        try existing(chain)
        return try say(chain) { folded in
            [Word(role: try role(toSet: values, in: folded.state), .correctionProposed(values, why: why))]
        }
    }

    /// Agrees to a correction; nil is the only one that waits for this party.
    ///
    /// - Parameter name: The beginning of the hash of the event that proposed it.
    package func approve(_ chain: UniqueID, correction name: String? = nil) throws -> Said {
        try existing(chain)
        return try say(chain) { folded in
            let correction = try correction(named: name, in: folded.state)
            return [Word(role: try role(toAnswer: correction, in: folded.state), .correctionApproved(correction.event))]
        }
    }

    /// Does not agree to a correction; nil is the only one that waits for this party.
    ///
    /// - Parameter name: The beginning of the hash of the event that proposed it.
    package func refuse(_ chain: UniqueID, correction name: String? = nil, why: String) throws -> Said {
        try existing(chain)
        return try say(chain) { folded in
            let correction = try correction(named: name, in: folded.state)
            return [
                Word(
                    role: try role(toAnswer: correction, in: folded.state),
                    .correctionRefused(correction.event, why: why)
                )
            ]
        }
    }

    /// The correction that a person means, for showing it before it is answered.
    ///
    /// - Throws: ``DeviceError``: `nothing-to-do`, `choice-needed` or `bad-input`, as answering it would.
    package func correctionToAnswer(in chain: UniqueID, named name: String?) throws -> Digest {
        try atHome(home.path) {
            try database.snapshot { try correction(named: name, in: try folded(chain).state).event }
        }
    }

    private func role(toAnswer correction: ChainState.Correction, in state: ChainState) throws -> Name {
        let concerned = correction.changes.flatMap { state.scheme?.field($0.path)?.correct ?? [] }
        return try role(among: concerned, in: state)
    }

    private func correction(named name: String?, in state: ChainState) throws -> ChainState.Correction {
        let found: [ChainState.Correction]
        if let name {
            let digits = name.lowercased()
            found = state.corrections.filter {
                digits.utf8.count >= Device.shortestName && $0.event.hex.utf8.starts(with: digits.utf8)
            }
            guard !found.isEmpty else {
                throw DeviceError(
                    .badInput,
                    "expected the name of a correction of this chain, at least four characters of it, got “\(name)”",
                    remedy: "“tally show” lists them"
                )
            }
        } else {
            let open = state.corrections.filter { $0.end == .open }
            let own = open.filter {
                $0.approvers.contains(certificate.party) && !$0.approved.contains(certificate.party)
            }
            // Where none waits for this party the engine says why it cannot answer.
            found = own.isEmpty ? open : own
        }
        if let only = found.first, found.count == 1 { return only }
        throw DeviceError(
            found.isEmpty ? .nothingToDo : .choiceNeeded,
            "expected one correction to answer, got \(found.count)",
            remedy: found.isEmpty
                ? "no correction is open here; sync first if another device has proposed one"
                : "name one of \(found.map { String($0.event.hex.prefix(8)) }.joined(separator: ", "))"
        )
    }
}
