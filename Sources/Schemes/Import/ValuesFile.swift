public import Tallystick

/// Values for a role's fields, read from a file, with everything in the file that could not be used.
public struct ValuesFile: Sendable {
    /// The file's shape.
    public let shape: Shape
    /// The values for fields that the role owns.
    public let changes: [EventContent.FieldChange]
    /// Every other value in the file, and why it was not used: nothing is dropped without a word.
    public let unused: [Unused]

    /// The shapes that are known.
    public enum Shape: String, Sendable {
        /// Our own: field names with their values, lines as objects or arrays.
        case values
        /// The body of Defra's receipt-of-movement interface.
        case defraReceipt = "defra-receipt-of-movement"
        /// The manifest of EPA's e-Manifest service.
        case epaManifest = "epa-manifest"
        /// The answer of that service to a manifest that was saved.
        case epaAnswer = "epa-answer"
        /// A request to that service for a quick signature.
        case epaQuickSign = "epa-quick-sign"
    }

    /// A value that was not used.
    public struct Unused: Sendable, Equatable {
        /// Where it stands in the file: a JSON pointer (RFC 6901).
        public let pointer: String
        /// The value as text.
        public let value: String
        /// A stable word for why: `no-field`, `other-role`, `other-party`, `not-yet`, `not-a-value`,
        /// `not-about-the-load` or `unknown-member`.
        public let reason: String
        /// Why, for a person.
        public let detail: String
    }

    /// Reads a file for a role, recognising its shape.
    ///
    /// Throws where the file is not JSON, is of no known shape, or says itself that it is out of date.
    ///
    /// - Parameter order: Which of several parties of the role is read, where the file has several: the transporter of
    ///   this number, or the second facility after the first refused the load.
    public init(_ bytes: [UInt8], scheme: Scheme, role: Name, order: Int = 1) throws(JSONError) {
        let json = try JSON.parse(bytes)
        guard json.members != nil else {
            throw JSONError(code: .syntax, message: "expected an object of values, got another JSON value", offset: 0)
        }
        if DefraReceipt.recognises(json) {
            self = DefraReceipt.read(json, scheme: scheme, role: role)
        } else if EPAManifest.recognises(json) {
            self = try EPAManifest.read(json, scheme: scheme, role: role, order: order)
        } else if EPAAnswer.recognises(json) {
            self = EPAAnswer.read(json, scheme: scheme, role: role)
        } else if EPAQuickSign.recognises(json) {
            self = EPAQuickSign.read(json, scheme: scheme, role: role, order: order)
        } else {
            var reader = OwnValues(scheme: scheme, role: role)
            reader.read(file: json)
            self.init(shape: .values, changes: reader.changes, unused: reader.unused)
        }
    }

    init(shape: Shape, changes: [EventContent.FieldChange], unused: [Unused]) {
        self.shape = shape
        self.changes = changes
        self.unused = unused
    }

    /// Every scalar in a JSON value with its pointer, and every array or object that holds nothing.
    static func leaves(of json: JSON, at pointer: String) -> [(pointer: String, value: JSON)] {
        switch json {
        case .object(let members) where !members.isEmpty:
            members.flatMap { leaves(of: $0.value, at: "\(pointer)/\(escaped($0.name))") }
        case .array(let elements) where !elements.isEmpty:
            elements.enumerated().flatMap { leaves(of: $0.element, at: "\(pointer)/\($0.offset)") }
        default: [(pointer, json)]
        }
    }

    /// RFC 6901 §3 writes `~` as `~0` and `/` as `~1`.
    static func escaped(_ name: String) -> String {
        var text = ""
        for character in name.unicodeScalars {
            switch character {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}

/// Reads our own shape: `{"sicCode":"41201","wasteItems":[{"quantity":"7.5 t"}],"wasteItems/2/isEstimate":true}`.
private struct OwnValues {
    let scheme: Scheme
    let role: Name
    var changes: [EventContent.FieldChange] = []
    var unused: [ValuesFile.Unused] = []
    private var given: Set<FieldPath> = []

    init(scheme: Scheme, role: Name) {
        self.scheme = scheme
        self.role = role
    }

    /// Reads the values, which stand by themselves or under `values`.
    mutating func read(file json: JSON) {
        guard let values = json["values"] else { return read(json, at: "") }
        for member in json.members ?? [] where !sameBytes(member.name, "values") {
            leave(member.value, at: "/\(ValuesFile.escaped(member.name))", "no-field", "it stands beside “values”")
        }
        guard values.members != nil else {
            return leave(values, at: "/values", "not-a-value", "expected an object of values")
        }
        read(values, at: "/values")
    }

    private mutating func read(_ json: JSON, at pointer: String) {
        for member in json.members ?? [] {
            let place = "\(pointer)/\(ValuesFile.escaped(member.name))"
            if let name = Name(member.name), let group = scheme.lines(name) {
                lines(member.value, of: group, at: place)
            } else {
                value(member.value, path: member.name, at: place)
            }
        }
    }

    private mutating func lines(_ json: JSON, of group: Scheme.Lines, at pointer: String) {
        let lines: [(id: String, place: String, value: JSON)]
        switch json {
        case .array(let elements):
            lines = elements.enumerated().map { ("\($0.offset + 1)", "\(pointer)/\($0.offset)", $0.element) }
        case .object(let members):
            lines = members.map { ($0.name, "\(pointer)/\(ValuesFile.escaped($0.name))", $0.value) }
        default: lines = []
        }
        if lines.isEmpty { leave(json, at: pointer, "not-a-value", "expected lines as an array or an object") }
        for line in lines {
            guard let fields = line.value.members, !fields.isEmpty else {
                leave(line.value, at: line.place, "not-a-value", "expected a line as an object of fields")
                continue
            }
            for field in fields {
                value(
                    field.value,
                    path: "\(group.name)/\(line.id)/\(field.name)",
                    at: "\(line.place)/\(ValuesFile.escaped(field.name))"
                )
            }
        }
    }

    private mutating func value(_ json: JSON, path text: String, at pointer: String) {
        guard let path = FieldPath(text), let field = scheme.field(path) else {
            leave(json, at: pointer, "no-field", "the scheme \(scheme.reference.id) has no field “\(text)”")
            return
        }
        guard field.owner == role else {
            leave(json, at: pointer, "other-role", "the field belongs to the \(field.owner)")
            return
        }
        guard given.insert(path).inserted else {
            leave(json, at: pointer, "not-a-value", "the file gave “\(text)” before")
            return
        }
        switch reading(json, for: field) {
        case .value(let value): changes.append(EventContent.FieldChange(path: path, value: value))
        case .fault(let fault): leave(json, at: pointer, "not-a-value", fault)
        }
    }

    /// Texts are read as typed; amounts may be written as JSON numbers, whose text is kept digit by digit.
    private func reading(_ json: JSON, for field: Scheme.Field) -> Scheme.ValueReading {
        switch json {
        case .string(let text): return scheme.value(typed: text, for: field)
        case .number(let text):
            switch field.type {
            case .decimal: return scheme.value(typed: text, for: field)
            case .text, .identifier, .code, .date, .datetime:
                return .fault("expected a text, got the number \(text): put it in quotes")
            case .integer, .boolean, .entries: return .value(json)
            }
        case .object:
            if let amount = json["amount"], let unit = json["unit"]?.text, case .number(let text) = amount {
                return scheme.value(typed: "\(text) \(unit)", for: field)
            }
            return .value(json)
        case .null: return .fault("expected a value, got null")
        case .boolean, .array: return .value(json)
        }
    }

    private mutating func leave(_ json: JSON, at pointer: String, _ reason: String, _ detail: String) {
        for leaf in ValuesFile.leaves(of: json, at: pointer) {
            unused.append(
                ValuesFile.Unused(
                    pointer: leaf.pointer,
                    value: Scheme.text(of: leaf.value),
                    reason: reason,
                    detail: detail
                )
            )
        }
    }
}
