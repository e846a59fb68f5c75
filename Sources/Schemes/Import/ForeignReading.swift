import Tallystick

/// A file in somebody else's shape, while it is read: the values for the role's fields, and for every other value in it
/// why it is not one of them.
///
/// Fields are looked up in the scheme, so that one reader serves every scheme that has the names. What nobody has
/// settled when the reading ends is listed too: nothing is dropped without a word.
struct ForeignReading {
    /// The whole file.
    let root: JSON
    let scheme: Scheme
    let role: Name
    private(set) var changes: [EventContent.FieldChange] = []
    private var settled: [String: Settlement] = [:]
    private var expected: Set<String> = []

    private enum Settlement {
        case used
        case left(Why)
    }

    /// Why a value is not used.
    struct Why {
        let reason: String
        let detail: String

        init(_ reason: String, _ detail: String) {
            self.reason = reason
            self.detail = detail
        }
    }

    /// How a value of the file becomes one of the field; nil where it cannot.
    typealias Conversion = (JSON, Scheme.Field) -> JSON?

    init(_ root: JSON, scheme: Scheme, role: Name) {
        self.root = root
        self.scheme = scheme
        self.role = role
    }

    // MARK: Looking

    /// The value at a pointer, where there is one that is not null.
    func find(_ pointer: String) -> JSON? {
        var value: JSON? = root
        for part in pointer.split(separator: "/") {
            if let elements = value?.elements {
                value = Int(part).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            } else {
                value = value?[String(part)]
            }
        }
        return value?.isNull == true ? nil : value
    }

    /// The value at a pointer, where there is something in it.
    func content(_ pointer: String) -> JSON? {
        find(pointer).flatMap { ForeignReading.isEmpty($0) ? nil : $0 }
    }

    /// The pointers of an array's elements.
    mutating func elements(_ pointer: String) -> [String] {
        expected.insert(ForeignReading.shape(pointer) + "/*")
        return (find(pointer)?.elements ?? []).indices.map { "\(pointer)/\($0)" }
    }

    private static func isEmpty(_ json: JSON) -> Bool {
        switch json {
        case .null: true
        case .string(let text): text.isEmpty
        case .array(let elements): elements.isEmpty
        case .object(let members): members.isEmpty
        case .boolean, .number: false
        }
    }

    // MARK: Settling

    /// Says why what stands here is not used, save what is used or settled already.
    mutating func leave(_ pointers: [String], _ why: Why) {
        for pointer in pointers {
            expected.insert(ForeignReading.shape(pointer))
            guard let json = content(pointer) else { continue }
            for leaf in ValuesFile.leaves(of: json, at: pointer) where settled[leaf.pointer] == nil {
                settled[leaf.pointer] = .left(why)
            }
        }
    }

    /// Gives a value that these places make up to the field among these that the role sets.
    mutating func give(from pointers: [String], as paths: [String], _ read: (Scheme.Field) -> JSON?) {
        for pointer in pointers { expected.insert(ForeignReading.shape(pointer)) }
        guard pointers.contains(where: { content($0) != nil }) else { return }
        let fields = paths.compactMap { FieldPath($0) }.compactMap { path in
            scheme.field(path).map { (path: path, field: $0) }
        }
        guard let first = fields.first else {
            leave(pointers, Why("no-field", "the scheme \(scheme.reference.id) has no field for it"))
            return
        }
        guard let own = fields.first(where: { $0.field.owner == role }) else {
            leave(pointers, Why("other-role", "the \(first.field.owner) sets it: \(first.path)"))
            return
        }
        guard !changes.contains(where: { $0.path == own.path }) else {
            leave(pointers, Why("not-a-value", "the file gave \(own.path) before"))
            return
        }
        guard let value = read(own.field), ForeignReading.canBeSaid(value) else {
            leave(pointers, Why("not-a-value", "it cannot be read as \(own.path)"))
            return
        }
        add(own.path, value)
        use(pointers)
    }

    /// Gives the value that stands here to the field among these that the role sets.
    mutating func take(_ pointer: String, as paths: [String], _ convert: Conversion = { json, _ in json }) {
        guard let json = content(pointer) else {
            expected.insert(ForeignReading.shape(pointer))
            return
        }
        give(from: [pointer], as: paths) { convert(json, $0) }
    }

    /// Gives a value that does not stand in the file as it is.
    mutating func add(_ path: FieldPath, _ value: JSON) {
        changes.append(EventContent.FieldChange(path: path, value: value))
    }

    private mutating func use(_ pointers: [String]) {
        for pointer in pointers {
            guard let json = find(pointer) else { continue }
            for leaf in ValuesFile.leaves(of: json, at: pointer) { settled[leaf.pointer] = .used }
        }
    }

    // MARK: Entries

    /// A member of an entry: where it stands below the entry's place, what the scheme calls it, and how it is read.
    struct EntryMember {
        /// The pointers below the entry's that it is made of; the first says whether it is there.
        let places: [String]
        let name: String
        let read: (JSON) -> JSON?

        init(_ place: String, _ name: String, of parts: [String] = [], _ read: @escaping (JSON) -> JSON? = { $0 }) {
            places = parts.isEmpty ? [place] : parts.map { place + $0 }
            self.name = name
            self.read = read
            self.place = place
        }

        let place: String
    }

    /// Gives entries that stand at these places to the field among these that the role sets.
    ///
    /// - Parameter fixed: what each entry has besides, such as its kind; an entry with nothing else is none.
    mutating func takeEntries(
        _ elements: [(pointer: String, fixed: [(String, JSON)])],
        as paths: [String],
        _ members: [EntryMember]
    ) {
        var entries: [JSON] = []
        var used: [String] = []
        let field = paths.compactMap { FieldPath($0) }.compactMap { scheme.field($0) }.first
        var known: [ValueType.EntryField]?
        if case .entries(let fields)? = field?.type { known = fields }
        for element in elements {
            var entry: [JSONMember] = []
            for member in members {
                let places = member.places.map { element.pointer + $0 }
                for place in places { expected.insert(ForeignReading.shape(place)) }
                guard let json = content(element.pointer + member.place) else { continue }
                if known?.contains(where: { sameBytes($0.field.name.text, member.name) }) == false {
                    leave(places, Why("no-field", "the scheme \(scheme.reference.id) has no field for it"))
                } else if let value = member.read(json), ForeignReading.canBeSaid(value) {
                    entry.append(JSONMember(member.name, value))
                    used += places
                } else {
                    leave(places, Why("not-a-value", "it cannot be read as \(member.name)"))
                }
            }
            guard !entry.isEmpty else { continue }
            let all = element.fixed.map { JSONMember($0.0, $0.1) } + entry
            // Events are canonical: their members are in the order of their names.
            entries.append(.object(all.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }))
        }
        give(from: used, as: paths) { _ in .array(entries) }
    }

    // MARK: The end

    /// The values, and everything that was not used, in the order of the file.
    ///
    /// - Parameter known: why a value of this place, with `*` for numbers of elements, is never used.
    func finish(_ shape: ValuesFile.Shape, _ known: (String) -> Why?) -> ValuesFile {
        var unused: [ValuesFile.Unused] = []
        for leaf in ValuesFile.leaves(of: root, at: "") {
            let why: Why
            switch settled[leaf.pointer] {
            case .used: continue
            case .left(let said): why = said
            case nil: why = self.why(leaf.pointer, leaf.value, known)
            }
            unused.append(
                ValuesFile.Unused(
                    pointer: leaf.pointer,
                    value: Scheme.text(of: leaf.value),
                    reason: why.reason,
                    detail: why.detail
                )
            )
        }
        return ValuesFile(shape: shape, changes: changes, unused: unused)
    }

    private func why(_ pointer: String, _ value: JSON, _ known: (String) -> Why?) -> Why {
        let shape = ForeignReading.shape(pointer)
        var place = shape
        while !place.isEmpty {
            if let why = known(place) { return why }
            guard let slash = place.lastIndex(of: "/") else { break }
            place = String(place[..<slash])
        }
        if expected.contains(where: { $0.hasPrefix(shape + "/") || sameBytes($0, shape) }) {
            return ForeignReading.isEmpty(value)
                ? Why("not-a-value", "there is nothing in it")
                : Why("not-a-value", "expected something else here than \(ForeignReading.kind(of: value))")
        }
        return Why("unknown-member", "this kind of file has no such member")
    }

    /// A pointer with `*` for the numbers of elements.
    private static func shape(_ pointer: String) -> String {
        pointer.split(separator: "/").map { part in
            "/" + (part.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? "*" : part)
        }.joined()
    }

    private static func kind(of json: JSON) -> String {
        switch json {
        case .null: "nothing"
        case .boolean: "a yes or no"
        case .number: "a number"
        case .string: "a text"
        case .array: "a list"
        case .object: "an object"
        }
    }

    /// Whether an event can carry the value: its only numbers are whole.
    private static func canBeSaid(_ json: JSON) -> Bool {
        switch json {
        case .null, .boolean, .string: true
        case .number: json.integer != nil
        case .array(let elements): elements.allSatisfy { canBeSaid($0) }
        case .object(let members): members.allSatisfy { canBeSaid($0.value) }
        }
    }
}

/// Conversions that several shapes need.
extension ForeignReading {
    /// A moment in any spelling of RFC 3339, in the one of events.
    static func moment(_ json: JSON) -> JSON? {
        json.text.flatMap { Timestamp.typed($0) }.map { .string($0.description) }
    }

    /// The digits of a number as a text, so that nothing is rounded.
    static func decimal(_ json: JSON) -> JSON? {
        guard case .number(let text) = json, DecimalNumber(text) != nil else { return nil }
        return .string(text)
    }

    /// A number in a unit that the file does not name.
    static func amount(_ json: JSON, _ unit: String) -> JSON? {
        decimal(json).map { .members([("amount", $0), ("unit", .string(unit))]) }
    }
}
