extension SchemeReader {
    /// Whether no two things of a kind have one name.
    func checkNames() {
        func once(_ names: [Name], _ kind: String) {
            for name in Set(names).sorted() where names.count(where: { $0 == name }) > 1 {
                root.problem(.nameTaken, at: kind, "expected “\(name)” once, got it more often", "rename or take away")
            }
        }
        once(roles.map(\.name), "roles")
        once(lines.map(\.name), "lines")
        once(rules.map(\.name), "rules")
        once(signatures.map(\.name), "signatures")
        once(handoffs.map(\.name), "handoffs")
        once(checks.map(\.name), "checks")
        once(links.map(\.name), "links")
        once(closings.map(\.outcome), "closing")
        once(deadlines.map(\.name), "deadlines")
        once(calendars.map(\.name), "calendars")
    }

    /// Whether every role can be come by and every stage can be done.
    ///
    /// Followed from the roles that open: what a stage needs is done, or can be, and no stage waits for itself.
    func checkReach() {
        guard roles.contains(where: \.opens) else {
            root.problem(.noOpener, at: "roles", "expected a role with \"opens\": true", "say who begins a chain")
            return
        }
        // What waits for a circle could be done once the circle is no more: only the circle is a mistake.
        let cycles = self.cycles()
        let circular = Set(cycles.flatMap { $0 })
        var reached = Set(roles.filter(\.opens).map(\.name))
        var done = circular
        var isGrowing = true
        while isGrowing {
            let before = reached.count + done.count
            for role in roles where reached.contains(role.name) { reached.formUnion(role.admits) }
            for signature in signatures where reached.contains(signature.role) && isReady(signature.after, done) {
                done.insert(signature.name)
            }
            for handoff in handoffs where reached.contains(handoff.from) && isReady(handoff.after, done) {
                done.insert(handoff.name)
                reached.insert(handoff.to)
            }
            isGrowing = reached.count + done.count > before
        }
        report(cycles)
        report(unreached: reached, done)
        checkAdmissions()
    }

    private func isReady(_ guards: [Scheme.Guard], _ done: Set<Name>) -> Bool {
        guards.allSatisfy { $0.isOptional || done.contains($0.stage) }
    }

    private func report(_ cycles: [[Name]]) {
        for cycle in cycles {
            root.problem(
                .guardCycle,
                at: cycle.first.map { place(ofStage: $0) } ?? "signatures",
                "expected stages that do not wait for each other, got \(cycle.map(\.text).joined(separator: " after "))",
                "take one of these out of an “after”"
            )
        }
    }

    /// Where in the file the thing of this name is, of an array whose elements have their name under this member.
    private func place(of name: Name, in array: String, under member: String) -> String {
        let index = root.json[array]?.elements?.firstIndex { $0[member]?.text == name.text }
        return index.map { "\(array)[\($0)]" } ?? array
    }

    private func place(ofStage name: Name) -> String {
        signatureRoles[name] == nil
            ? place(of: name, in: "handoffs", under: "handoff") : place(of: name, in: "signatures", under: "signature")
    }

    private func report(unreached reached: Set<Name>, _ done: Set<Name>) {
        for role in roles where !reached.contains(role.name) {
            root.problem(
                .unreachableRole,
                at: place(of: role.name, in: "roles", under: "role"),
                role.hasCustody
                    ? "expected a handoff that leads to “\(role.name)” and can be made"
                    : "expected a role that admits “\(role.name)”",
                role.hasCustody
                    ? "add a handoff to it, or take the role away"
                    : "add “\(role.name)” to the “admits” of a role, or take the role away"
            )
        }
        for stage in signatures.map(\.name) + handoffs.map(\.name) where !done.contains(stage) {
            // Of a role that nobody comes to have, that is said.
            guard let role = actor(at: stage), reached.contains(role) else { continue }
            let lacking =
                (signatures.first { $0.name == stage }?.after ?? handoffs.first { $0.name == stage }?.after ?? [])
                .filter { !$0.isOptional && !done.contains($0.stage) }.map(\.stage.text)
            root.problem(
                .unreachableStage,
                at: place(ofStage: stage),
                "expected “\(stage)” to be possible; it waits for \(lacking.joined(separator: ", ")), which can never be done",
                "take that out of its “after”, or see to it that it can be done"
            )
        }
    }

    /// The stages that wait for each other through what has to be done before.
    private func cycles() -> [[Name]] {
        var after: [Name: [Name]] = [:]
        for signature in signatures { after[signature.name] = signature.after.filter { !$0.isOptional }.map(\.stage) }
        for handoff in handoffs { after[handoff.name] = handoff.after.filter { !$0.isOptional }.map(\.stage) }
        var finished: Set<Name> = []
        var cycles: [[Name]] = []
        func visit(_ stage: Name, _ path: [Name]) {
            if let start = path.firstIndex(of: stage) {
                cycles.append(Array(path[start...]) + [stage])
                return
            }
            guard !finished.contains(stage) else { return }
            for next in after[stage] ?? [] { visit(next, path + [stage]) }
            finished.insert(stage)
        }
        for stage in after.keys.sorted() { visit(stage, []) }
        return cycles
    }

    private func checkAdmissions() {
        for role in roles {
            for name in role.admits where roles.first(where: { $0.name == name })?.hasCustody == true {
                root.problem(
                    .memberInvalid,
                    at: "roles",
                    "expected “\(role.name)” to admit roles without custody, got “\(name)”",
                    "give “\(name)” \"custody\": false, or reach it by a handoff"
                )
            }
        }
    }
}
