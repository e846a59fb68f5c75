import CommandLineKit
import Tallystick
import TallystickCrypto

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

    /// Schemes by name, version and hash.
    init(_ schemes: [SchemeReference]) {
        self = .array(
            schemes.map { scheme in
                .object([
                    ("id", .string(scheme.id.text)), ("version", .int(scheme.version)),
                    ("hash", .string(scheme.hash.hex)),
                ])
            }
        )
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
