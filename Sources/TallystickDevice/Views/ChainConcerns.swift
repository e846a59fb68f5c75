package import Tallystick
import TallystickStore

/// What a person has to look after in a chain: deadlines, differences, gaps, conflicts, and whether it has ended.
///
/// Kept in the chain's row, so that chains are found by it without folding any.
package struct ChainConcerns: Sendable, Equatable {
    /// The deadlines whose time has begun.
    package let deadlines: [Due]
    /// How many differences of quantities the scheme warned about.
    package let discrepancies: Int
    /// The roles of legs that lack a signature which the scheme lets be missing.
    package let gaps: [String]
    /// Whether values contradict each other.
    package let isInConflict: Bool
    /// How the chain ended; nil where it goes on.
    package let ending: Ending?
    /// The identifiers that other systems gave it.
    package let externals: [External]

    /// A deadline whose time has begun.
    package struct Due: Sendable, Equatable {
        /// The deadline's name in the scheme.
        package let name: String
        /// What a person calls it.
        package let title: String
        /// The role that has to act.
        package let role: String
        /// The last moment in time; nil where the zone was not known.
        package let due: Timestamp?
        /// When what was to follow had happened; nil where it has not.
        package let met: Timestamp?

        /// Whether the time has passed and it has not happened.
        package func isOverdue(at now: Timestamp) -> Bool {
            met == nil && (due.map { now.milliseconds > $0.milliseconds } ?? false)
        }
    }

    /// How a chain ended.
    package struct Ending: Sendable, Equatable {
        /// The outcome; nil where it was cancelled.
        package let outcome: String?
        /// The outcome's title, or that it was cancelled.
        package let title: String
    }

    /// An identifier that another system gave.
    package struct External: Sendable, Equatable {
        /// The system.
        package let system: String
        /// The identifier.
        package let value: String

        /// Whether a person who types this means the identifier: the case of ASCII letters does not matter.
        package func isNamed(_ text: String) -> Bool {
            func folded(_ text: String) -> [UInt8] {
                text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
            }
            return folded(value) == folded(text)
        }
    }

    /// The deadlines whose time has passed with nothing done.
    package func overdue(at now: Timestamp) -> [Due] { deadlines.filter { $0.isOverdue(at: now) } }

    /// Collects what a chain's state says.
    init(of state: ChainState, at now: Timestamp) {
        deadlines = state.deadlines(at: now, Zones.offsets).map { status in
            Due(
                name: status.deadline.name.text,
                title: status.deadline.title,
                role: status.deadline.role.text,
                due: status.due,
                met: status.met
            )
        }
        discrepancies = state.discrepancies.count
        gaps = state.gaps.map(\.role.text)
        isInConflict = state.isInConflict
        ending = state.ending.map { ending in
            let title = ending.outcome.flatMap { state.scheme?.closing($0)?.title } ?? ending.outcome?.text
            return Ending(outcome: ending.outcome?.text, title: title ?? "Cancelled")
        }
        externals = state.externals.flatMap { field, value in
            (value.elements ?? [value]).map { External(system: field.external ?? "", value: Scheme.text(of: $0)) }
        }
    }

    /// As it is stored.
    var json: JSON {
        .members([
            ("conflict", .boolean(isInConflict)),
            (
                "deadlines",
                .array(
                    deadlines.map { deadline in
                        .members([
                            ("due", deadline.due.map { .string($0.description) }),
                            ("met", deadline.met.map { .string($0.description) }),
                            ("name", .string(deadline.name)), ("role", .string(deadline.role)),
                            ("title", .string(deadline.title)),
                        ])
                    }
                )
            ),
            ("discrepancies", .integer(discrepancies)),
            (
                "ending",
                ending.map { ending in
                    .members([("outcome", ending.outcome.map { .string($0) }), ("title", .string(ending.title))])
                }
            ),
            (
                "externals",
                .array(externals.map { .members([("system", .string($0.system)), ("value", .string($0.value))]) })
            ),
            ("gaps", .strings(gaps)),
        ])
    }

    init?(_ json: JSON) {
        guard let deadlines = json["deadlines"]?.elements, let discrepancies = json["discrepancies"]?.integer,
            let gaps = json["gaps"]?.elements, let isInConflict = json["conflict"]?.boolean,
            let externals = json["externals"]?.elements
        else { return nil }
        self.deadlines = deadlines.map { deadline in
            Due(
                name: deadline["name"]?.text ?? "",
                title: deadline["title"]?.text ?? "",
                role: deadline["role"]?.text ?? "",
                due: deadline["due"]?.text.flatMap { Timestamp($0) },
                met: deadline["met"]?.text.flatMap { Timestamp($0) }
            )
        }
        self.discrepancies = discrepancies
        self.gaps = gaps.compactMap(\.text)
        self.isInConflict = isInConflict
        ending = json["ending"].map { Ending(outcome: $0["outcome"]?.text, title: $0["title"]?.text ?? "") }
        self.externals = externals.map {
            External(system: $0["system"]?.text ?? "", value: $0["value"]?.text ?? "")
        }
    }
}
