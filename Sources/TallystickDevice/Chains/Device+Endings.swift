package import Tallystick

/// How a chain hangs together with others, and how it ends.
extension Device {
    /// Ties the chain to another.
    ///
    /// - Parameters:
    ///   - name: The link's name in the scheme.
    ///   - other: The other chain, which need not be known here.
    ///   - amounts: How much of each row goes into the other chain, where the link divides amounts.
    ///   - why: The reason, where the link asks for one; else it may be empty.
    package func link(
        _ chain: UniqueID,
        _ name: Name,
        to other: UniqueID,
        amounts: [EventContent.FieldChange] = [],
        why: String = ""
    ) throws -> Said {
        try existing(chain)
        return try say(chain) { folded in
            let scheme = try scheme(of: folded.state)
            guard let rule = scheme.link(name) else {
                let names = scheme.links.map(\.name.text).joined(separator: ", ")
                throw DeviceError(
                    .badInput,
                    "expected the name of a link, got “\(name)”",
                    remedy: names.isEmpty ? "the scheme ties no chains together" : "there are \(names)"
                )
            }
            let link = ChainLink(link: name, chain: other, amounts: amounts, why: why)
            return [Word(role: try role(among: rule.roles, in: folded.state), .chainLinked(link))]
        }
    }

    /// Ends the chain before the load moved.
    package func cancel(_ chain: UniqueID, why: String) throws -> Said {
        try existing(chain)
        return try say(chain) { folded in
            let roles = try scheme(of: folded.state).cancelling?.roles ?? []
            return [Word(role: try role(among: roles, in: folded.state), .chainCancelled(why: why))]
        }
    }

    /// Ends the chain with an outcome of the scheme's.
    ///
    /// - Parameter why: The reason, where the outcome asks for one; else it may be empty.
    package func close(_ chain: UniqueID, _ outcome: Name, why: String = "") throws -> Said {
        try existing(chain)
        return try say(chain) { folded in
            let roles = try scheme(of: folded.state).closing(outcome)?.roles ?? []
            // Only the holder closes a chain, in the role it holds the load in.
            let held = folded.state.currentLeg.flatMap { leg in
                leg.party == certificate.party && roles.contains(leg.role) ? leg.role : nil
            }
            return [
                Word(
                    role: try held ?? role(among: roles, in: folded.state),
                    .chainClosed(outcome: outcome, why: why)
                )
            ]
        }
    }
}
