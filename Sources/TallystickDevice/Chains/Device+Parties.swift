package import Tallystick

/// Who takes part: letting a party in, and letting another sign.
extension Device {
    /// Lets a party take part in a role without custody.
    package func admit(_ chain: UniqueID, _ party: UniqueID, as role: Name) throws -> Said {
        try existing(chain)
        return try say(chain) { folded in
            let scheme = try scheme(of: folded.state)
            guard scheme.role(role) != nil else {
                let seats = scheme.roles.filter { !$0.hasCustody }.map(\.name.text).joined(separator: ", ")
                throw DeviceError(
                    .badInput,
                    "expected the name of a role, got “\(role)”",
                    remedy: seats.isEmpty
                        ? "the scheme has no role without custody, so there is nobody to admit"
                        : "the roles that parties are admitted in are \(seats)"
                )
            }
            let admitting = scheme.roles.filter { $0.admits.contains(role) }.map(\.name)
            return [
                Word(
                    role: try self.role(among: admitting, in: folded.state),
                    .partyAdmitted(party: party, role: role)
                )
            ]
        }
    }

    /// Lets another party give signatures in this one's place, in this chain and until a time.
    ///
    /// - Parameter names: The signatures, of one role or of several, each once.
    package func delegate(_ chain: UniqueID, _ names: [Name], to party: UniqueID, until: Timestamp) throws -> Said {
        try existing(chain)
        return try say(chain) { folded in
            let scheme = try scheme(of: folded.state)
            var roles: [Name] = []
            var namesByRole: [Name: [Name]] = [:]
            for name in names {
                guard let rule = scheme.signature(name) else {
                    let delegable = scheme.signatures.filter(\.isDelegable).map(\.name.text)
                    throw DeviceError(
                        .badInput,
                        "expected the name of a signature, got “\(name)”",
                        remedy: delegable.isEmpty
                            ? "the scheme lets no signature be given by another"
                            : "those that another can give are \(delegable.joined(separator: ", "))"
                    )
                }
                if !roles.contains(rule.role) { roles.append(rule.role) }
                if namesByRole[rule.role]?.contains(name) != true { namesByRole[rule.role, default: []].append(name) }
            }
            return roles.map { role in
                Word(
                    role: role,
                    .signatureDelegated(signatures: (namesByRole[role] ?? []).sorted(), to: party, until: until)
                )
            }
        }
    }
}
