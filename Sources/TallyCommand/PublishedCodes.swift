import CommandLineKit
import Tallystick

/// A list of codes as a regulator publishes it, in one of the forms that are in use.
///
/// JSON: an array of objects, an array of texts, an object of names by their codes, or an object of objects by their
/// codes. CSV: a header line and a line for each code.
struct PublishedCodes {
    /// One code as it was published.
    struct Entry: Equatable {
        /// The code, without blanks at its ends.
        let code: String
        /// What it is called, on one line.
        let title: String?
        /// The flags that were asked for and that are true.
        let flags: Set<String>
    }

    /// The codes in the order of the file.
    private(set) var entries: [Entry] = []
    /// The member or column that the codes were taken from; nil where the form has none.
    private(set) var codeMember: String?
    /// The member or column that the titles were taken from; nil where there is none.
    private(set) var titleMember: String?

    /// How to read: members chosen by hand, and flags with the members they are taken from.
    struct Choice {
        let code: String?
        let title: String?
        let flags: [(name: String, member: String)]
    }

    private static let codeMembers = ["code", "id", "key", "value", "number", "symbol"]
    private static let titleMembers = [
        "title", "name", "label", "description", "shortDescription", "shortDesc", "text", "longDescription", "longDesc",
        "meaning",
    ]

    private let file: String
    private let choice: Choice
    /// Where each code stands among the entries, by its bytes.
    private var places: [[UInt8]: Int] = [:]

    /// Reads the text of a file; CSV is what begins with neither `[` nor `{`.
    init(_ bytes: [UInt8], file: String, _ choice: Choice) throws(CommandError) {
        self.file = file
        self.choice = choice
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        let first = text.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        if first == UInt8(ascii: "[") || first == UInt8(ascii: "{") {
            let json: JSON
            do {
                json = try JSON.parse(text)
            } catch {
                throw fault(error.description, remedy: "save it again as JSON in UTF-8")
            }
            try read(json)
        } else {
            try readCSV(text)
        }
        guard !entries.isEmpty else { throw fault("there are no codes in it") }
    }

    private func fault(_ message: String, remedy: String? = nil) -> CommandError {
        CommandError(
            exit: .badInput,
            code: "published-list-unreadable",
            message: "\(file): \(message)",
            remedy: remedy
                ?? "expected an array of objects or texts, an object of names by their codes, or CSV with a header line"
        )
    }

    // MARK: JSON

    private mutating func read(_ json: JSON) throws(CommandError) {
        if let elements = json.elements {
            if elements.allSatisfy({ $0.text != nil }) {
                for element in elements { try add(element.text ?? "", title: nil, flags: []) }
                return
            }
            guard elements.allSatisfy({ $0.members != nil }) else {
                throw fault("expected all elements to be objects, or all to be texts")
            }
            try read(objects: elements)
            return
        }
        let members = json.members ?? []
        if members.allSatisfy({ $0.value.text != nil }) {
            for member in members { try add(member.name, title: member.value.text, flags: []) }
            return
        }
        guard members.allSatisfy({ $0.value.members != nil }) else {
            throw fault("expected an object of names, or of objects, by their codes")
        }
        titleMember = try chosen(choice.title, PublishedCodes.titleMembers, among: members.map(\.value), what: "title")
        for member in members { try add(member.name, object: member.value) }
    }

    private mutating func read(objects: [JSON]) throws(CommandError) {
        let codes = try chosen(choice.code, PublishedCodes.codeMembers, among: objects, what: "code")
        guard let codes else {
            throw fault(
                "no member of the objects looks like a code; there are \(PublishedCodes.names(in: objects))",
                remedy: "name it with --code MEMBER"
            )
        }
        codeMember = codes
        titleMember = try chosen(choice.title, PublishedCodes.titleMembers, among: objects, what: "title", not: codes)
        for (index, object) in objects.enumerated() {
            guard let code = PublishedCodes.text(object[codes]) else {
                throw fault("element \(index + 1) has no text or number under “\(Console.plain(codes))”")
            }
            try add(code, object: object)
        }
    }

    /// The member that was asked for, which must be there, or the first that is called as such members are.
    private func chosen(
        _ asked: String?,
        _ usual: [String],
        among objects: [JSON],
        what: String,
        not other: String? = nil
    ) throws(CommandError) -> String? {
        if let asked {
            guard objects.contains(where: { $0[asked] != nil }) else {
                throw absent(asked, what, PublishedCodes.names(in: objects))
            }
            return asked
        }
        let there = objects.first?.members?.map(\.name) ?? []
        return PublishedCodes.usual(usual, among: there.filter { $0 != other })
    }

    private func absent(_ asked: String, _ what: String, _ there: String) -> CommandError {
        fault("there is no \(what) member “\(Console.plain(asked))”; there are \(there)", remedy: "name one of these")
    }

    /// The first of the usual names that is there, whatever the case and marks of its letters: `Short desc` for
    /// `shortDesc`.
    private static func usual(_ usual: [String], among names: [String]) -> String? {
        func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
        for candidate in usual {
            if let found = names.first(where: { plain($0) == plain(candidate) }) { return found }
        }
        // `wasteCode`, `code_description`: the name of such a member often begins or ends with what it is.
        for candidate in usual.prefix(usual.count > 6 ? 4 : 1) {
            if let found = names.first(where: { plain($0).hasSuffix(plain(candidate)) }) { return found }
        }
        return nil
    }

    private static func names(in objects: [JSON]) -> String {
        let names = objects.first?.members?.map { Console.plain(String($0.name.prefix(64))) } ?? []
        return names.isEmpty ? "none" : names.prefix(20).joined(separator: ", ")
    }

    private static func text(_ json: JSON?) -> String? {
        switch json {
        case .string(let text)?: text
        case .number(let text)?: text
        default: nil
        }
    }

    private mutating func add(_ code: String, object: JSON) throws(CommandError) {
        var flags: Set<String> = []
        for flag in choice.flags {
            switch object[flag.member] {
            case .boolean(let isSet)?: if isSet { flags.insert(flag.name) }
            case .string(let text)?: if try truth(of: text, code, flag.member) { flags.insert(flag.name) }
            case .null?, nil: break
            default: throw fault("“\(Console.plain(flag.member))” of “\(Console.plain(code))” is not true or false")
            }
        }
        try add(code, title: titleMember.flatMap { PublishedCodes.text(object[$0]) }, flags: flags)
    }

    // MARK: CSV

    private mutating func readCSV(_ bytes: [UInt8]) throws(CommandError) {
        let rows: [[String]]
        do {
            rows = try CSVReader.rows(bytes)
        } catch {
            throw fault("line \(error.line): \(error.message)", remedy: "save it again as CSV with commas, in UTF-8")
        }
        guard let header = rows.first, rows.count > 1 else { return }
        func column(
            _ asked: String?,
            _ usual: [String],
            _ what: String,
            not other: String? = nil
        ) throws(CommandError) -> String? {
            if let asked {
                guard header.contains(asked) else {
                    throw absent(asked, what, header.map(Console.plain).joined(separator: ", "))
                }
                return asked
            }
            return PublishedCodes.usual(usual, among: header.filter { $0 != other })
        }
        guard let codes = try column(choice.code, PublishedCodes.codeMembers, "code"),
            let place = header.firstIndex(of: codes)
        else {
            throw fault(
                "no column looks like a code; there are \(header.map(Console.plain).joined(separator: ", "))",
                remedy: "name it with --code COLUMN"
            )
        }
        codeMember = codes
        titleMember = try column(choice.title, PublishedCodes.titleMembers, "title", not: codes)
        let titles = titleMember.flatMap { header.firstIndex(of: $0) }
        let flags = try choice.flags.map { (flag) throws(CommandError) in
            guard let place = header.firstIndex(of: flag.member) else {
                throw absent(flag.member, "flag", header.map(Console.plain).joined(separator: ", "))
            }
            return (name: flag.name, place: place)
        }
        for row in rows.dropFirst() {
            var set: Set<String> = []
            for flag in flags where try truth(of: row[flag.place], row[place], header[flag.place]) {
                set.insert(flag.name)
            }
            try add(row[place], title: titles.map { row[$0] }, flags: set)
        }
    }

    /// Whether a text says yes; spreadsheets write it in several ways.
    private func truth(of text: String, _ code: String, _ member: String) throws(CommandError) -> Bool {
        switch text.lowercased().filter({ !$0.isWhitespace }) {
        case "true", "yes", "y", "1", "x": return true
        case "false", "no", "n", "0", "": return false
        default:
            throw fault(
                "“\(Console.plain(member))” of “\(Console.plain(code))” is “\(Console.plain(String(text.prefix(40))))”, not yes or no"
            )
        }
    }

    private mutating func add(_ code: String, title: String?, flags: Set<String>) throws(CommandError) {
        let code = code.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let title = title.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        guard !code.isEmpty else { throw fault("entry \(entries.count + 1) has an empty code") }
        let entry = Entry(code: code, title: title?.isEmpty == false ? title : nil, flags: flags)
        if let other = places[Array(code.utf8)] {
            guard entries[other] == entry else {
                throw fault(
                    "“\(Console.plain(code))” is there twice, and not the same",
                    remedy: "take one of them away"
                )
            }
            return
        }
        guard entries.count < Scheme.mostCodes else { throw fault("expected at most \(Scheme.mostCodes) codes") }
        places[Array(code.utf8)] = entries.count
        entries.append(entry)
    }
}
