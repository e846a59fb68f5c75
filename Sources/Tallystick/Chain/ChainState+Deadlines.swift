public import TallystickCrypto

/// Questions about a chain that depend on when they are asked, or that look at all of it.
extension ChainState {
    /// A deadline of a chain, as it stands at some time.
    public struct DeadlineStatus: Sendable {
        /// The deadline.
        public let deadline: Deadline
        /// When the time began to run.
        public let start: Timestamp
        /// The last moment in time; nil where the zone is not known.
        public let due: Timestamp?
        /// Whether the calendar knew the holidays of the whole time.
        public let isCertain: Bool
        /// When what was to follow had happened; nil where it has not.
        public let met: Timestamp?
        /// Whether the time has passed and it has not happened.
        public let isOverdue: Bool
        /// Whether it happened, and too late.
        public var wasLate: Bool { met.map { met in due.map { met.milliseconds > $0.milliseconds } ?? false } ?? false }
    }

    /// The deadlines whose time has begun, in the order of the scheme; none of a chain that was cancelled.
    ///
    /// - Parameters:
    ///   - now: When it is asked.
    ///   - offsets: What is known of time zones.
    public func deadlines(at now: Timestamp, _ offsets: ZoneOffsets) -> [DeadlineStatus] {
        guard let scheme, ending == nil || ending?.outcome != nil else { return [] }
        return scheme.deadlines.compactMap { deadline in
            guard let start = moment(deadline.from, deadline.zone, offsets) else { return nil }
            if let outcome = ending?.outcome, deadline.unless.contains(outcome) { return nil }
            if let when = deadline.when, !holds(when, scheme: scheme) { return nil }
            let end = deadline.within.end(
                from: start,
                in: deadline.zone,
                by: deadline.calendar.flatMap { scheme.calendar($0) },
                offsets
            )
            let met = moment(deadline.until, deadline.zone, offsets)
            return DeadlineStatus(
                deadline: deadline,
                start: start,
                due: end?.at,
                isCertain: end?.isCertain ?? false,
                met: met,
                isOverdue: met == nil && (end.map { now.milliseconds > $0.at.milliseconds } ?? false)
            )
        }
    }

    /// The day until which a role has to keep its record; nil where the time has not begun, or the scheme does not say.
    public func keepUntil(_ role: Name, in zone: String, _ offsets: ZoneOffsets) -> Day? {
        guard let retention = scheme?.role(role)?.retention, let start = moment(retention.from, zone, offsets),
            let offset = offsets(zone, start)
        else { return nil }
        return Day(start, offsetMinutes: offset).adding(retention.period, by: nil).day
    }

    /// What accepted events were warned about that a person should look into: quantities that differ.
    public var discrepancies: [(event: Digest, reason: Reason)] {
        warned.flatMap { warned in
            warned.reasons.filter { $0.code == .discrepancy || $0.code == .amountsDiffer }.map { (warned.event, $0) }
        }
    }

    /// The values of the fields that hold identifiers other systems gave, each with its field.
    public var externals: [(field: Scheme.Field, value: JSON)] {
        guard let scheme else { return [] }
        let names = Set(scheme.fields.filter { $0.external != nil }.map(\.name))
        guard !names.isEmpty else { return [] }
        return (legs + seats).flatMap { leg -> [(field: Scheme.Field, value: JSON)] in
            let slots = (slots[leg.event] ?? [:]).filter { $0.key.field.map(names.contains) ?? false }
            return slots.sorted { $0.key < $1.key }.compactMap { path, slot in
                guard let value = slot.value, let field = scheme.field(path), field.external != nil else { return nil }
                return (field, value)
            }
        }
    }

    /// What is sealed on a leg at some time: what its signatures cover, and what sealing handoffs cover while the load
    /// is offered and once it is taken.
    public func seals(on leg: Digest, at now: Timestamp) -> [Scheme.Coverage] {
        guard let scheme else { return [] }
        let signed = signatures.filter { $0.leg == leg }.compactMap { scheme.signature($0.name)?.covers }
        guard scheme.handoffs.contains(where: \.seals) else { return signed }
        return signed
            + offers.values.filter { $0.leg == leg }.compactMap { offer -> Scheme.Coverage? in
                guard let rule = scheme.handoff(offer.offer.handoff)?.rule, rule.seals else { return nil }
                switch offer.end {
                case .taken: return rule.covers
                case .withdrawn: return nil
                case .open, .declined:
                    let isHeld = offer.reply?.isAcceptance == true
                    return isHeld || now.seconds < offer.offer.expires.seconds ? rule.covers : nil
                }
            }
    }

    /// Whether a value can be changed by a correction only, or not at all, at some time.
    public func isSealed(_ path: FieldPath, on leg: Digest, at now: Timestamp) -> Bool {
        scheme?.field(path)?.isSealable != false && seals(on: leg, at: now).contains { $0.contains(path) }
    }

    /// The role that has the duty for the load after a chain was closed with an outcome that says so.
    public var duty: Name? { ending?.outcome.flatMap { scheme?.closing($0)?.dutyTo } }

    private func moment(_ moment: ChainMoment, _ zone: String, _ offsets: ZoneOffsets) -> Timestamp? {
        switch moment {
        case .opened: return opening?.at
        case .closed: return ending?.at
        case .stage(let name): return time(of: name)
        case .field(let reference):
            guard let owner = scheme?.field(reference)?.owner, let leg = latestLeg(of: owner),
                let path = FieldPath(reference.field.text), let text = slot(path, on: leg.event)?.value?.text
            else { return nil }
            // A day is over at its end: what has to follow within days of it is counted from there.
            return Timestamp(text) ?? Day(text)?.end(in: zone, offsets)
        }
    }

    private func holds(_ condition: Condition, scheme: Scheme) -> Bool {
        let roles = Set(condition.references.compactMap { scheme.field($0)?.owner })
        var values: [FieldPath: JSON] = [:]
        for role in roles.sorted() {
            guard let leg = latestLeg(of: role) else { continue }
            values.merge(self.values(of: leg.event)) { first, _ in first }
        }
        return Judgement(values: values, scheme: scheme) { name in
            self.signatures.contains { $0.name == name }
        }.holds(condition)
    }
}
