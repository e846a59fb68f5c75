import CommandLineKit
import Tallystick

extension JSONOutput {
    /// A value of the engine's, member by member.
    init(_ json: JSON) {
        switch json {
        case .null: self = .null
        case .boolean(let value): self = .bool(value)
        case .number(let text): self = Int(text).map { .int($0) } ?? .string(text)
        case .string(let text): self = .string(text)
        case .array(let elements): self = .array(elements.map { JSONOutput($0) })
        case .object(let members): self = .object(members.map { ($0.name, JSONOutput($0.value)) })
        }
    }

    /// Reasons as every command prints them.
    init(_ reasons: [Reason]) {
        self = .array(
            reasons.map { reason in
                .object([
                    ("code", .string(reason.code.description)),
                    ("subject", .optional(reason.subject)),
                    ("detail", .optional(reason.detail)),
                    ("sentence", .string(reason.sentence)),
                ])
            }
        )
    }
}
