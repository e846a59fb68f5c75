/// Something that is or is not so of a chain's values: a small fixed set of operators.
public indirect enum Condition: Sendable {
    /// The field has this value.
    case `is`(FieldReference, JSON)
    /// The two fields have the same value.
    case same(FieldReference, FieldReference)
    /// The field has a value that is one of these.
    case isIn(FieldReference, [JSON])
    /// The field has a value, or has none.
    case present(FieldReference, Bool)
    /// A code chosen has this flag, or none has.
    case flag(FieldReference, String, Bool)
    /// The identifier has the form of this name.
    case form(FieldReference, String)
    /// The value compares so.
    case compare(FieldReference, Comparison, Operand)
    /// It is so of at least one of these lines.
    case some(Name, Condition)
    /// It is so of every one of these lines.
    case every(Name, Condition)
    /// The signature stands.
    case signed(Name)
    /// All are so.
    case all([Condition])
    /// At least one is so.
    case any([Condition])
    /// It is not so.
    case not(Condition)

    /// How two values are compared.
    public enum Comparison: String, Sendable, CaseIterable {
        /// More.
        case above
        /// As much or more.
        case atLeast
        /// Less.
        case below
        /// As much or less.
        case atMost

        func holds(_ order: Order) -> Bool {
            switch self {
            case .above: order == .after
            case .atLeast: order != .before
            case .below: order == .before
            case .atMost: order != .after
            }
        }
    }

    /// What a value is compared with.
    public enum Operand: Sendable {
        /// A value that the scheme gives.
        case value(JSON)
        /// The value of another field.
        case field(FieldReference)
    }

    /// The order of two values.
    enum Order: Sendable, Equatable {
        case before, same, after

        init<Value: Comparable>(_ left: Value, _ right: Value) {
            self = left < right ? .before : right < left ? .after : .same
        }
    }
}

extension Condition {
    /// Every field that the condition looks at.
    public var references: [FieldReference] {
        switch self {
        case .is(let reference, _), .isIn(let reference, _), .present(let reference, _), .flag(let reference, _, _),
            .form(let reference, _), .compare(let reference, _, .value):
            [reference]
        case .compare(let reference, _, .field(let other)), .same(let reference, let other): [reference, other]
        case .some(_, let condition), .every(_, let condition), .not(let condition): condition.references
        case .signed: []
        case .all(let conditions), .any(let conditions): conditions.flatMap(\.references)
        }
    }

    /// Every signature that the condition looks at.
    public var signatures: [Name] {
        switch self {
        case .signed(let name): [name]
        case .some(_, let condition), .every(_, let condition), .not(let condition): condition.signatures
        case .all(let conditions), .any(let conditions): conditions.flatMap(\.signatures)
        case .is, .same, .isIn, .present, .flag, .form, .compare: []
        }
    }
}

extension Scheme.Rule {
    /// Every field that the rule looks at.
    public var references: [FieldReference] {
        let demanded: [FieldReference] =
            switch demand {
            case .require(let references), .forbid(let references): references
            case .that(let condition): condition.references
            }
        return demanded + (when?.references ?? [])
    }

    /// Every signature that the rule looks at.
    var signatures: [Name] {
        var names = when?.signatures ?? []
        if case .that(let condition) = demand { names += condition.signatures }
        return names
    }
}
