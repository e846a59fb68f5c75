import Tallystick

/// A file of a scheme in which places are looked up, read once.
struct SchemeText {
    /// What it says, or why it says nothing.
    let json: Result<JSON, JSONError>
    /// Where its lines end, in bytes.
    private let ends: [Int]

    init(_ text: [UInt8]) {
        json = Result { () throws(JSONError) in try JSON.parse(text) }
        ends = text.indices.filter { text[$0] == 0x0A }
    }

    /// The line of a byte, from 1.
    func line(at offset: Int) -> Int {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] < offset { low = middle + 1 } else { high = middle }
        }
        return low + 1
    }
}

/// Where in a file a mistake is, as a person finds it: the line, and what stands there is called.
///
/// `fields[12].owner` says it exactly, but nobody counts to twelve.
struct SchemePlace {
    /// The line, from 1; nil where there is no such place.
    private(set) var line: Int?
    /// What it belongs to: `field weight`; nil for the whole.
    private(set) var thing: String?

    /// The arrays whose elements have names, with the member that has it.
    private static let names = [
        ("roles", "role"), ("fields", "field"), ("lines", "lines"), ("rules", "rule"), ("signatures", "signature"),
        ("handoffs", "handoff"), ("checks", "check"), ("links", "link"), ("closing", "outcome"),
        ("deadlines", "deadline"), ("calendars", "calendar"), ("patterns", "name"), ("examples", "example"),
    ]

    /// No place that is known.
    init() {}

    /// Looks a problem's place up in the text of its file.
    init(of problem: SchemeProblem, in text: SchemeText) {
        let json: JSON
        switch text.json {
        case .success(let read): json = read
        case .failure(let error):
            line = text.line(at: error.offset)
            return
        }
        guard !problem.path.isEmpty else { return }
        var offset: Int?
        var things: [String] = []
        SchemePlace.walk(problem.path[...], from: json, array: "", &offset, &things)
        line = offset.map { text.line(at: $0) }
        thing = things.isEmpty ? nil : things.joined(separator: ", ")
    }

    /// Follows a path as far as it goes.
    private static func walk(
        _ path: Substring,
        from json: JSON,
        array: String,
        _ offset: inout Int?,
        _ things: inout [String]
    ) {
        if let own = names.first(where: { sameBytes($0.0, array) }), let name = json[own.1]?.text, name.utf8.count <= 64
        {
            things.append("\(sameBytes(own.1, "name") ? "pattern" : own.1) \(name)")
        }
        if path.first == "[", let end = path.firstIndex(of: "]"),
            let index = Int(path[path.index(after: path.startIndex)..<end]),
            let elements = json.elements, elements.indices.contains(index)
        {
            let element = elements[index]
            // Elements have no range of their own; their first member is on their line or the next.
            if let first = element.members?.first { offset = first.range.lowerBound }
            walk(path[path.index(after: end)...], from: element, array: array, &offset, &things)
            return
        }
        let rest = path.first == "." ? path.dropFirst() : path
        // Codes may have points in them: the longest name that fits is the one.
        let fitting = (json.members ?? []).filter { member in
            guard rest.hasPrefix(member.name) else { return false }
            let next = rest.dropFirst(member.name.count).first
            return next == nil || next == "." || next == "["
        }
        guard let member = fitting.max(by: { $0.name.utf8.count < $1.name.utf8.count }) else { return }
        offset = member.range.lowerBound
        walk(
            rest.dropFirst(member.name.count),
            from: member.value,
            array: member.value.elements == nil ? "" : member.name,
            &offset,
            &things
        )
    }
}
