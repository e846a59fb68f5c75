/// The rules for a kind of chain, as data (`docs/schemes.md`).
public struct Scheme: Sendable {
    /// The scheme's name, version and hash.
    public let reference: SchemeReference
    /// What a person calls it.
    public let title: String
    /// The law it comes from.
    public let source: String
    /// The roles, in order.
    public let roles: [Role]
    /// Every field, those of repeated lines included.
    public let fields: [Field]
    /// The groups of repeated lines.
    public let lines: [Lines]
    /// What must hold at signatures.
    public let rules: [Rule]
    /// The signatures.
    public let signatures: [SignatureRule]
    /// The handoffs; their index is part of codes.
    public let handoffs: [HandoffRule]
    /// Comparisons of declared with received quantities.
    public let checks: [Check]
    /// The code lists by name.
    public let codeLists: [Name: CodeList]
    /// The canonical bytes the hash is taken of: the scheme with its code lists.
    public let bytes: [UInt8]

    let fieldsByName: [FieldKey: Field]

    struct FieldKey: Hashable {
        let list: Name?
        let field: Name
    }

    /// What a party can be to a chain.
    public struct Role: Sendable {
        /// The role's name.
        public let name: Name
        /// What a person calls it.
        public let title: String
        /// Whether the role opens chains.
        public let opens: Bool
        /// Whether several can hold it one after another.
        public let repeats: Bool
        /// Whether the chain ends with it.
        public let closes: Bool
    }

    /// A value that a role may give.
    public struct Field: Sendable {
        /// The field's name.
        public let name: Name
        /// The lines it stands in, if any.
        public let list: Name?
        /// The role that gives it.
        public let owner: Name
        /// What a person calls it.
        public let title: String
        /// What a person should know to fill it in.
        public let help: String?
        /// What values it takes.
        public let type: ValueType
        /// How many values it takes, where it takes several.
        public let many: ClosedRange<Int>?
    }

    /// A group of repeated lines.
    public struct Lines: Sendable {
        /// The group's name.
        public let name: Name
        /// The role that gives its lines.
        public let owner: Name
        /// What a person calls it.
        public let title: String
        /// How many lines there must be when its owner signs.
        public let minimum: Int
        /// How many lines there may be.
        public let maximum: Int
    }

    /// What must hold when somebody signs.
    public struct Rule: Sendable {
        /// The rule's name.
        public let name: Name
        /// The signatures at which it is judged.
        public let at: [Name]
        /// The lines for each of which it is judged.
        public let each: Name?
        /// When it applies.
        public let when: Condition?
        /// What it demands.
        public let demand: Demand
        /// Whether it only warns.
        public let warns: Bool
        /// What to tell a person.
        public let says: String

        /// What a rule demands.
        public enum Demand: Sendable {
            /// These fields must have a value.
            case require([FieldReference])
            /// These fields must have none.
            case forbid([FieldReference])
            /// This must be so.
            case that(Condition)
        }
    }

    /// A signature that a role gives.
    public struct SignatureRule: Sendable {
        /// The signature's name.
        public let name: Name
        /// The role that gives it.
        public let role: Name
        /// What a person calls it.
        public let title: String
        /// The words that are signed under.
        public let statement: String
        /// The signatures that must come before.
        public let after: [Name]
    }

    /// A way for a load to pass from one role to another.
    public struct HandoffRule: Sendable {
        /// The handoff's name.
        public let name: Name
        /// The giving role.
        public let from: Name
        /// The taking role.
        public let to: Name
        /// What a person calls it.
        public let title: String
        /// The signatures that must come before.
        public let after: [Name]
        /// How long an offer lasts if nothing else is said, in seconds.
        public let lasts: Int
        /// How long an offer may last, in seconds.
        public let longest: Int
    }

    /// A comparison of two quantities with a tolerance.
    public struct Check: Sendable {
        /// The check's name.
        public let name: Name
        /// The signatures at which it is judged.
        public let at: [Name]
        /// Where the declared quantities stand.
        public let declared: FieldReference
        /// Where the received quantities stand.
        public let received: FieldReference
        /// The tolerance, in percent of what was declared.
        public let tolerancePercent: DecimalNumber
        /// What to tell a person.
        public let says: String
    }

    /// A list of codes with their flags.
    public struct CodeList: Sendable {
        /// The list's name.
        public let name: Name
        /// What a person calls it.
        public let title: String
        /// The codes.
        public let codes: [String: Code]

        /// One code.
        public struct Code: Sendable {
            /// What a person calls it, where the list says.
            public let title: String?
            /// The first day it may be used.
            public let from: String?
            /// The last day it may be used.
            public let until: String?
            /// The flags that are set.
            public let flags: Set<String>
        }

        /// The code of this text, which must be the list's spelling byte by byte.
        public func code(_ text: String) -> Code? {
            guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
            return codes[text]
        }
    }

    /// The role of this name.
    public func role(_ name: Name) -> Role? { roles.first { $0.name == name } }
    /// The signature of this name.
    public func signature(_ name: Name) -> SignatureRule? { signatures.first { $0.name == name } }
    /// The handoff of this name, with its index.
    public func handoff(_ name: Name) -> (index: Int, rule: HandoffRule)? {
        handoffs.enumerated().first { $0.element.name == name }.map { ($0.offset, $0.element) }
    }
    /// The group of lines of this name.
    public func lines(_ name: Name) -> Lines? { lines.first { $0.name == name } }

    /// The field that a path leads to, if the scheme has it.
    public func field(_ path: FieldPath) -> Field? {
        guard let name = path.field else { return nil }
        return fieldsByName[FieldKey(list: path.line?.list, field: name)]
    }
}

/// A field as a scheme's rules name it: `vehicle`, or `wasteItems/*/quantity` for that field of every line.
public struct FieldReference: Hashable, Sendable, CustomStringConvertible {
    /// The lines, where the field stands in some.
    public let list: Name?
    /// The field.
    public let field: Name

    init(list: Name?, field: Name) {
        self.list = list
        self.field = field
    }

    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: Array($0), as: UTF8.self) }
        if parts.count == 1, let field = Name(parts[0]) {
            self.init(list: nil, field: field)
        } else if parts.count == 3, parts[1].utf8.elementsEqual("*".utf8), let list = Name(parts[0]),
            let field = Name(parts[2])
        {
            self.init(list: list, field: field)
        } else {
            return nil
        }
    }

    /// The reference's text.
    public var description: String { list.map { "\($0)/*/\(field)" } ?? field.text }
}

/// Something that is or is not so of a role's values: a small fixed set of operators.
public indirect enum Condition: Sendable {
    /// The field has this value.
    case `is`(FieldReference, JSON)
    /// The field has a value that is one of these.
    case isIn(FieldReference, [JSON])
    /// The field has a value, or has none.
    case present(FieldReference, Bool)
    /// A code chosen has this flag, or none has.
    case flag(FieldReference, String, Bool)
    /// All are so.
    case all([Condition])
    /// At least one is so.
    case any([Condition])
    /// It is not so.
    case not(Condition)
}

/// Why a scheme cannot be used.
public struct SchemeError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Where in the scheme it shows.
    public let path: String
    /// What was expected and what came.
    public let message: String

    /// The place and the message.
    public var description: String { "scheme, at \(path): \(message)" }
}
