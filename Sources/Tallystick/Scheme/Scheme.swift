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
    /// Comparisons and sums of quantities.
    public let checks: [Check]
    /// The ways this chain hangs together with others.
    public let links: [LinkRule]
    /// Who can cancel a chain and until when; nil where nobody can.
    public let cancelling: Cancelling?
    /// The outcomes that a chain can be closed with.
    public let closings: [Closing]
    /// Who can enter afterwards what was written on paper; nil where nobody can.
    public let lateEntry: LateEntry?
    /// What has to follow within which time.
    public let deadlines: [Deadline]
    /// The calendars that deadlines count working days by.
    public let calendars: [Calendar]
    /// The code lists by name.
    public let codeLists: [Name: CodeList]
    /// The canonical bytes the hash is taken of: the scheme with its code lists.
    public let bytes: [UInt8]

    let fieldsByName: [FieldKey: Field]
    let rulesByStage: [Name: [Rule]]
    let optionalStages: Set<Name>
    /// Whether a stage can stand without one that should come before it.
    public var hasOptionalStages: Bool { !optionalStages.isEmpty }
    let otherRolesByStage: [Name: [Name]]
    let signaturesByName: [Name: SignatureRule]

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
        /// Whether the role can hold the load; one that cannot takes part once another has admitted it.
        public let hasCustody: Bool
        /// Whether the role opens chains.
        public let opens: Bool
        /// Whether several can hold it one after another.
        public let repeats: Bool
        /// Whether the chain ends with it.
        public let closes: Bool
        /// The roles without custody that its parties can let take part.
        public let admits: [Name]
        /// How long its record has to be kept.
        public let retention: Retention?
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
        /// The roles whose approval a correction needs, where the field can be corrected after it was sealed.
        public let correct: [Name]?
        /// Whether signatures cover and seal it.
        public let isSealable: Bool
        /// The system whose identifier it holds.
        public let external: String?
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

    /// What must hold at a stage: when somebody signs, or offers the load.
    public struct Rule: Sendable {
        /// The rule's name.
        public let name: Name
        /// The signatures and handoffs at which it is judged.
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

    /// A stage that must be done before another.
    public struct Guard: Sendable, Equatable {
        /// The signature or handoff.
        public let stage: Name
        /// Whether the later one can stand without it, with a warning.
        public let isOptional: Bool
    }

    /// The fields and lines that a signature or a handoff covers.
    public struct Coverage: Sendable {
        /// The names of fields outside lines, and of lines, all of one role.
        public let names: Set<Name>

        /// Whether a value in this place is covered.
        public func contains(_ path: FieldPath) -> Bool {
            (path.line?.list ?? path.field).map(names.contains) ?? false
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
        /// The stages that must be done before.
        public let after: [Guard]
        /// The stages that must not be done yet.
        public let before: [Name]
        /// The stages whose time must not be later than the signature's.
        public let notBefore: [Name]
        /// What it covers and seals.
        public let covers: Coverage
        /// Whether a party can let another sign in its place.
        public let isDelegable: Bool
        /// The roles that can attest that it was given on paper.
        public let paper: [Name]
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
        /// The stages that must be done before.
        public let after: [Guard]
        /// How long an offer lasts if nothing else is said, in seconds.
        public let lasts: Int
        /// How long an offer may last, in seconds.
        public let longest: Int
        /// What of the giver's values is part of the snapshot.
        public let covers: Coverage
        /// Whether what it covers is sealed while an offer is open and once the load is taken.
        public let seals: Bool
    }

    /// A comparison of two quantities, or a sum that must come out.
    public struct Check: Sendable {
        /// The check's name.
        public let name: Name
        /// The signatures and handoffs at which it is judged.
        public let at: [Name]
        /// When it applies.
        public let when: Condition?
        /// What is compared.
        public let kind: Kind
        /// Whether it only warns.
        public let warns: Bool
        /// What to tell a person.
        public let says: String

        /// What is compared.
        public enum Kind: Sendable {
            /// What one role declared with what another found; row by row, or the sums of all rows.
            case difference(declared: FieldReference, received: FieldReference, Tolerance, isEach: Bool)
            /// Parts that must be exactly the whole, in each of these rows or once.
            case sum(whole: FieldReference, parts: [FieldReference], each: Name?)
        }

        /// The difference that is let pass.
        public enum Tolerance: Sendable {
            /// In percent of what was declared.
            case percent(DecimalNumber)
            /// In the first unit of what was declared.
            case amount(DecimalNumber)
        }
    }

    /// A way for a chain to hang together with another.
    public struct LinkRule: Sendable {
        /// The link's name.
        public let name: Name
        /// What kind it is, such as `split-to`.
        public let kind: Kind
        /// What a person calls it.
        public let title: String
        /// The roles that can make it.
        public let roles: [Name]
        /// The stages that must be done before.
        public let after: [Guard]
        /// The amounts that links of this name divide among themselves.
        public let conserves: FieldReference?
        /// Whether the amounts have to go on even where no link of this name was made.
        public let isDue: Bool
        /// Whether a reason has to be given.
        public let needsReason: Bool

        /// The kinds, in pairs for the two chains to name each other.
        public enum Kind: String, Sendable, CaseIterable {
            /// A part of the load goes on in the other chain.
            case splitTo = "split-to"
            /// The load is a part of the other chain's.
            case splitFrom = "split-from"
            /// The load was refused and goes on in the other chain.
            case rejectedTo = "rejected-to"
            /// The load was refused in the other chain.
            case rejectedFrom = "rejected-from"
            /// The other chain is of an item that was part of this one.
            case child
            /// The item was part of the other chain's.
            case parent
            /// The other chain is one collection of this round.
            case round
            /// The collection belongs to the other chain's round.
            case roundOf = "round-of"
            /// The other chain goes on from here.
            case continuedBy = "continued-by"
            /// It goes on from the other chain.
            case continues
            /// The load is part of the other chain's from here on.
            case mergedInto = "merged-into"
            /// The other chain's load is part of this one.
            case mergedFrom = "merged-from"

            /// The kind by which the other chain names this one.
            public var inverse: Kind {
                switch self {
                case .splitTo: .splitFrom
                case .splitFrom: .splitTo
                case .rejectedTo: .rejectedFrom
                case .rejectedFrom: .rejectedTo
                case .child: .parent
                case .parent: .child
                case .round: .roundOf
                case .roundOf: .round
                case .continuedBy: .continues
                case .continues: .continuedBy
                case .mergedInto: .mergedFrom
                case .mergedFrom: .mergedInto
                }
            }
        }
    }

    /// Who can cancel a chain, and until when.
    public struct Cancelling: Sendable {
        /// The roles that can.
        public let roles: [Name]
        /// The stages that must not be done yet.
        public let before: [Name]
    }

    /// An outcome that a chain can be closed with.
    public struct Closing: Sendable {
        /// The outcome's name.
        public let outcome: Name
        /// What a person calls it.
        public let title: String
        /// The roles whose holder can close with it.
        public let roles: [Name]
        /// The stages that must be done before.
        public let after: [Guard]
        /// Whether a reason has to be given.
        public let needsReason: Bool
        /// The role that has the duty for the load again.
        public let dutyTo: Name?
    }

    /// Who can enter afterwards what was written on paper at the time.
    public struct LateEntry: Sendable {
        /// The roles that can.
        public let roles: [Name]
        /// How long after the original time; nil has no end.
        public let longest: Period?
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
    public func signature(_ name: Name) -> SignatureRule? { signaturesByName[name] }
    /// The handoff of this name, with its index.
    public func handoff(_ name: Name) -> (index: Int, rule: HandoffRule)? {
        handoffs.enumerated().first { $0.element.name == name }.map { ($0.offset, $0.element) }
    }
    /// The link of this name.
    public func link(_ name: Name) -> LinkRule? { links.first { $0.name == name } }
    /// The outcome of this name.
    public func closing(_ outcome: Name) -> Closing? { closings.first { $0.outcome == outcome } }
    /// The calendar of this name.
    public func calendar(_ name: Name) -> Calendar? { calendars.first { $0.name == name } }
    /// The group of lines of this name.
    public func lines(_ name: Name) -> Lines? { lines.first { $0.name == name } }

    /// The field that a path leads to, if the scheme has it.
    public func field(_ path: FieldPath) -> Field? {
        guard let name = path.field else { return nil }
        return fieldsByName[FieldKey(list: path.line?.list, field: name)]
    }

    /// The field that a rule names, if the scheme has it.
    public func field(_ reference: FieldReference) -> Field? {
        fieldsByName[FieldKey(list: reference.list, field: reference.field)]
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
