package import Tallystick
import TallystickStore

extension Device {
    /// What a device can do next with a load.
    package enum NextStep: Sendable, Equatable {
        /// Sign; named, and whether it need not be.
        case sign(Name, isOnly: Bool)
        /// Hand the load over.
        case offer
        /// Nothing before others have been heard.
        case sync
    }

    /// What the scheme lets this device do next: sign what it has not signed, hand over what it holds, or neither.
    ///
    /// A hint for a person: rules over values are judged when it is done.
    package func nextStep(in chain: UniqueID) throws -> NextStep {
        let state = try atHome(home.path) { try database.snapshot { try folded(chain).state } }
        guard let scheme = state.scheme, state.ending == nil else { return .sync }
        func isDone(_ needed: Scheme.Guard, on leg: ChainState.Leg) -> Bool {
            if needed.isOptional { return true }
            if scheme.signature(needed.stage)?.role == leg.role {
                return state.signature(needed.stage, on: leg.event) != nil
            }
            // Who took the load by a code alone does not know what others signed.
            return state.opening == nil || state.signatures.contains { $0.name == needed.stage }
                || state.legs.contains { $0.offer.flatMap { state.offers[$0] }?.offer.handoff == needed.stage }
        }
        let own = state.legs.filter { $0.party == certificate.party && certificate.roles.contains($0.role) }
        for leg in own.reversed() {
            let open = scheme.signatures.filter { rule in
                rule.role == leg.role && state.signature(rule.name, on: leg.event) == nil
                    && rule.after.allSatisfy { isDone($0, on: leg) }
            }
            // A second signature that nothing waits for is asked for by name only.
            let values = state.values(of: leg.event)
            let main = open.first { $0.name == $0.role }
            let wanted = main ?? open.first { values.keys.contains(where: $0.covers.contains) }
            if let wanted { return .sign(wanted.name, isOnly: open.count == 1) }
        }
        guard let leg = own.last, leg.event == state.currentLeg?.event else { return .sync }
        let canOffer = scheme.handoffs.contains { $0.from == leg.role && $0.after.allSatisfy { isDone($0, on: leg) } }
        return canOffer ? .offer : .sync
    }
}
