/// A mistake in a scheme: what is wrong, where, and what to do.
public struct SchemeProblem: Sendable, Equatable, CustomStringConvertible {
    /// What kind of mistake it is.
    public enum Code: String, Sendable, CaseIterable {
        /// A file is not JSON of the strict kind.
        case notJSON = "not-json"
        /// A member that must be there is not.
        case memberMissing = "member-missing"
        /// A member that the format does not have.
        case memberUnknown = "member-unknown"
        /// A member has a value that it cannot have.
        case memberInvalid = "member-invalid"
        /// A name is not one.
        case nameInvalid = "name-invalid"
        /// Two things of a kind have one name; of fields, two roles would own one.
        case nameTaken = "name-taken"
        /// No such role.
        case unknownRole = "unknown-role"
        /// No such field.
        case unknownField = "unknown-field"
        /// No such lines.
        case unknownLines = "unknown-lines"
        /// No such signature or handoff.
        case unknownStage = "unknown-stage"
        /// No such calendar.
        case unknownCalendar = "unknown-calendar"
        /// No such time zone.
        case unknownZone = "unknown-zone"
        /// A field of another role than the one that acts.
        case fieldOfOtherRole = "field-of-other-role"
        /// A code list that is named, and has no file.
        case codeListMissing = "code-list-missing"
        /// A code list that no field uses.
        case codeListUnused = "code-list-unused"
        /// A code, flag or form that there is not.
        case unknownCode = "unknown-code"
        /// A pattern that cannot be read.
        case patternInvalid = "pattern-invalid"
        /// A condition, check or bound that does not fit the type of its field.
        case typeMismatch = "type-mismatch"
        /// A tolerance or sum without two amounts to compare.
        case amountsMissing = "amounts-missing"
        /// No role can begin a chain.
        case noOpener = "no-opener"
        /// A role that nobody can come to have.
        case unreachableRole = "unreachable-role"
        /// A signature or handoff that can never be made.
        case unreachableStage = "unreachable-stage"
        /// Stages that wait for each other.
        case guardCycle = "guard-cycle"
        /// More of something than there may be.
        case tooMany = "too-many"
        /// Conditions too deep inside each other.
        case tooDeep = "too-deep"
        /// The files are too large together.
        case tooLarge = "too-large"
    }

    /// What kind of mistake it is.
    public let code: Code
    /// The file in the scheme's folder.
    public let file: String
    /// Where in the file: `roles[2].title`; empty for the whole file.
    public let path: String
    /// What was expected and what came.
    public let message: String
    /// What to do.
    public let remedy: String

    /// States a mistake.
    public init(_ code: Code, file: String, path: String, _ message: String, remedy: String) {
        self.code = code
        self.file = file
        self.path = path
        self.message = message
        self.remedy = remedy
    }

    /// The numbers of a file that are not whole, or too great, each with its place; ten at most.
    public static func fractions(in json: JSON, file: String) -> [SchemeProblem] {
        var problems: [SchemeProblem] = []
        func look(at json: JSON, _ path: String) {
            guard problems.count < 10 else { return }
            switch json {
            case .number(let text) where json.integer == nil:
                problems.append(
                    SchemeProblem(
                        .memberInvalid,
                        file: file,
                        path: path,
                        "expected a whole number within ±(2^53−1), got \(text.prefix(40))",
                        remedy: "write it in quotes, \"\(text.prefix(40))\", where the place takes a decimal"
                    )
                )
            case .array(let elements):
                for (index, element) in elements.enumerated() { look(at: element, "\(path)[\(index)]") }
            case .object(let members):
                for member in members { look(at: member.value, path.isEmpty ? member.name : "\(path).\(member.name)") }
            default: break
            }
        }
        look(at: json, "")
        return problems
    }

    /// File, place and message.
    public var description: String { "\(file)\(path.isEmpty ? "" : ", \(path)"): \(message)" }
}

/// Why a scheme cannot be used.
public struct SchemeError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Every mistake that was found, at least one.
    public let problems: [SchemeProblem]

    /// Collects mistakes, at least one.
    public init(problems: [SchemeProblem]) { self.problems = problems }

    /// The first mistake, and how many more there are.
    public var description: String {
        let first = problems.first?.description ?? "a scheme that cannot be read"
        return problems.count > 1 ? "\(first) (and \(problems.count - 1) more: “tally scheme check” shows all)" : first
    }
}

/// Collects mistakes while a scheme is read.
final class SchemeLog {
    /// More than anybody corrects in one go; a hostile scheme could have millions.
    static let most = 200
    private(set) var problems: [SchemeProblem] = []

    var isFull: Bool { problems.count >= SchemeLog.most }

    func add(_ problem: SchemeProblem) {
        guard !isFull, !problems.contains(problem) else { return }
        problems.append(problem)
    }
}
