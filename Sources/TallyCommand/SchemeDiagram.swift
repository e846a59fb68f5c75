import CommandLineKit
import Tallystick

/// Who hands to whom and who signs when, drawn with box characters: roles as boxes in the order of custody.
///
/// A handoff to the next role down is an arrow between their boxes, one to the same role a loop beside it, every other
/// one a line at the right that ends in an arrow at the role it leads to. Roles without custody have dashed boxes,
/// beside the others where there is room, else below them. It needs no colour.
struct SchemeDiagram {
    private let scheme: Scheme
    private let width: Int
    /// The roles with custody, in the order a load can pass.
    private let order: [Scheme.Role]

    init(_ scheme: Scheme, width: Int) {
        self.scheme = scheme
        self.width = width
        order = SchemeDiagram.custodyOrder(of: scheme)
    }

    /// The roles with custody: each after one that can hand over to it, otherwise as the scheme has them.
    private static func custodyOrder(of scheme: Scheme) -> [Scheme.Role] {
        var left = scheme.roles.filter(\.hasCustody)
        var placed: [Scheme.Role] = []
        while !left.isEmpty {
            let next = left.firstIndex { role in
                placed.isEmpty
                    ? role.opens
                    : role.opens
                        || scheme.handoffs.contains { handoff in
                            handoff.to == role.name && placed.contains { $0.name == handoff.from }
                        }
            }
            placed.append(left.remove(at: next ?? 0))
        }
        return placed
    }

    // MARK: Rows

    /// What meets the right border of a box in a row.
    private enum Port: Equatable {
        case none, loopOut, loopIn
        case out(Int)
        case into(Int)

        var leaves: Bool {
            switch self {
            case .loopOut, .out: true
            case .none, .loopIn, .into: false
            }
        }
    }

    private struct Row {
        /// The box's part of the row, without the border at the right where there is a box.
        var text: String
        var isInBox: Bool
        var port: Port = .none
        /// Border characters at the right end of the box's part, such as `┐`.
        var corner = ""

        /// The role that the line leads to which has an end here.
        var target: Int? {
            switch port {
            case .out(let target), .into(let target): target
            case .none, .loopOut, .loopIn: nil
            }
        }
    }

    /// The lines of the drawing.
    var lines: [String] {
        let lanes = lanes(in: rows(width: width))
        let side = scheme.roles.filter { !$0.hasCustody }
        let loopWidth = hasLoops ? 2 : 0
        let wanted = loopWidth + 3 * ((lanes.values.max() ?? -1) + 1)
        // Where the lines would leave no room for the boxes, the boxes' words say it alone.
        let railWidth = width - wanted >= 40 ? wanted : loopWidth
        let sideWidth = side.isEmpty ? 0 : 28
        let natural = naturalWidth
        // Beside the boxes as long as these keep enough room for their sentences.
        let roomBeside = width - railWidth - 3 - sideWidth
        let isBeside = !side.isEmpty && roomBeside >= min(natural, 44)
        let boxWidth = max(30, min(natural, isBeside ? roomBeside : width - railWidth))
        let rows = rows(width: boxWidth)
        let cells = cells(of: rows, lanes: railWidth == wanted ? lanes : [:], width: railWidth)
        var drawn = zip(rows, cells).map { row, cells in
            TextLayout.padded(row.text, to: row.isInBox ? boxWidth - 1 : boxWidth) + row.corner + cells
        }
        let boxes = side.map { sideBox($0, width: isBeside ? sideWidth : min(width, 60)) }
        if isBeside {
            let blocks = boxes.flatMap { $0 + [""] }
            // Level with the first role that lets one of them take part.
            let first = order.first { role in side.contains { role.admits.contains($0.name) } }
            let start = first.flatMap { role in rows.firstIndex { $0.text.hasPrefix("│ \(role.name):") } } ?? 1
            for (index, line) in blocks.dropLast().enumerated() {
                let place = start - 1 + index
                while drawn.count <= place { drawn.append("") }
                drawn[place] = TextLayout.padded(drawn[place], to: boxWidth + railWidth + 3) + line
            }
        } else {
            for box in boxes { drawn += [""] + box }
        }
        return drawn.map { line in String(line.reversed().drop { $0 == " " }.reversed()) }
    }

    private var hasLoops: Bool { scheme.handoffs.contains { $0.from == $0.to } }

    private func place(of role: Name) -> Int? { order.firstIndex { $0.name == role } }

    /// Whether an arrow straight down shows the handoff.
    private func isStraight(_ handoff: Scheme.HandoffRule) -> Bool {
        guard let from = place(of: handoff.from), let to = place(of: handoff.to) else { return false }
        return to == from + 1
    }

    /// The roles that lines at the right lead to.
    private var railTargets: [Int] {
        let far = scheme.handoffs.filter { $0.from != $0.to && !isStraight($0) }
        return Set(far.compactMap { place(of: $0.to) }).sorted()
    }

    /// What stands in a role's box: each entry a sentence with what leaves or enters at its first line.
    private func entries(of role: Scheme.Role, at index: Int) -> [(text: String, port: Port)] {
        var entries: [(String, Port)] = [
            (
                "\(role.name): \(SchemeWords.line(role.title))",
                railTargets.contains(index) ? .into(index) : .none
            )
        ]
        let marks = [
            role.opens ? "opens a chain" : nil, role.repeats ? "several in a row" : nil,
            role.closes ? "a chain can end here" : nil,
        ].compactMap { $0 }
        if !marks.isEmpty { entries.append(("(\(marks.joined(separator: ", ")))", .none)) }
        for signature in scheme.signatures where signature.role == role.name {
            entries.append((sentence(of: signature), .none))
        }
        for handoff in scheme.handoffs where handoff.from == role.name && !isStraight(handoff) {
            guard let target = place(of: handoff.to) else { continue }
            let to = handoff.from == handoff.to ? "the next \(handoff.to)" : handoff.to.text
            let guards = SchemeWords.guards(handoff.after)
            let text = "• hands to \(to): \(handoff.name)\(guards.isEmpty ? "" : ", \(guards)")"
            entries.append((text, handoff.from == handoff.to ? .loopOut : .out(target)))
            if handoff.from == handoff.to { entries.append(("", .loopIn)) }
        }
        return entries
    }

    private func sentence(of signature: Scheme.SignatureRule) -> String {
        let guards = SchemeWords.guards(signature.after)
        let before = signature.before.isEmpty ? "" : ", only before \(SchemeWords.list(signature.before, "or"))"
        return "• signs \(signature.name)\(guards.isEmpty ? "" : ", \(guards)")\(before)"
    }

    /// The width at which no sentence is wrapped.
    private var naturalWidth: Int {
        let texts = order.enumerated().flatMap { index, role in entries(of: role, at: index).map(\.text) }
        return (texts.map { TextLayout.width(of: $0) }.max() ?? 0) + 4
    }

    private func rows(width: Int) -> [Row] {
        var rows: [Row] = []
        func border(_ left: String, _ right: String, arrow: Bool) -> Row {
            let dashes = String(repeating: "─", count: max(0, width - 2))
            let line = arrow ? String(repeating: "─", count: 4) + "┬" + dashes.dropFirst(5) : dashes
            return Row(text: left + line, isInBox: true, corner: right)
        }
        for (index, role) in order.enumerated() {
            rows.append(border("┌", "┐", arrow: false))
            var isPending = false
            for entry in entries(of: role, at: index) {
                // The loop comes back in a line of its own, which is the sentence's second where it has one.
                if entry.port == .loopIn {
                    if isPending { rows.append(Row(text: "│", isInBox: true, port: .loopIn, corner: "│")) }
                    isPending = false
                    continue
                }
                let indent = entry.text.hasPrefix("•") ? "    " : "  "
                let lines = SchemeDiagram.hanging(entry.text, width: width - 4, by: indent)
                for (number, line) in lines.enumerated() {
                    let isSecond = number == 1 && entry.port == .loopOut
                    rows.append(
                        Row(
                            text: "│ " + line,
                            isInBox: true,
                            port: number == 0 ? entry.port : isSecond ? .loopIn : .none,
                            corner: number == 0 && entry.port.leaves ? "├" : "│"
                        )
                    )
                    if entry.port == .loopOut { isPending = number == 0 }
                }
            }
            let straight = scheme.handoffs.filter { $0.from == role.name && isStraight($0) }
            rows.append(border("└", "┘", arrow: !straight.isEmpty))
            for handoff in straight {
                let guards = SchemeWords.guards(handoff.after)
                let text = "\(handoff.name)\(guards.isEmpty ? "" : ", \(guards)")"
                for line in TextLayout.wrapped(text, width: max(16, width - 8)) {
                    rows.append(Row(text: "     │ " + line, isInBox: false))
                }
            }
            if !straight.isEmpty { rows.append(Row(text: "     ▼", isInBox: false)) }
            if straight.isEmpty, index < order.count - 1 { rows.append(Row(text: "", isInBox: false)) }
        }
        return rows
    }

    /// The text on lines of this width, all but the first of them indented.
    private static func hanging(_ text: String, width: Int, by indent: String) -> [String] {
        let lines = TextLayout.wrapped(text, width: max(16, width))
        guard let first = lines.first, lines.count > 1 else { return lines }
        let rest = lines.dropFirst().joined(separator: " ")
        return [first] + TextLayout.wrapped(rest, width: max(16, width - indent.count)).map { indent + $0 }
    }

    // MARK: Lines at the right

    /// A lane for each role that lines lead to: the shortest nearest to the boxes, none over another.
    private func lanes(in rows: [Row]) -> [Int: Int] {
        // Counted in the ends of lines, so that it is the same however the sentences are wrapped.
        let ends = rows.filter { $0.target != nil }
        var lanes: [Int: Int] = [:]
        var taken: [[ClosedRange<Int>]] = []
        let spans = railTargets.compactMap { target in SchemeDiagram.span(of: target, in: ends).map { (target, $0) } }
            .sorted { ($0.1.count, $0.0) < ($1.1.count, $1.0) }
        for (target, span) in spans {
            let free = taken.firstIndex { !$0.contains { $0.overlaps(span) } }
            if let free {
                taken[free].append(span)
            } else {
                taken.append([span])
            }
            lanes[target] = free ?? taken.count - 1
        }
        return lanes
    }

    /// The rows from the first to the last end of the line that leads to a role.
    private static func span(of target: Int, in rows: [Row]) -> ClosedRange<Int>? {
        let ends = rows.indices.filter { rows[$0].target == target }
        guard let first = ends.first, let last = ends.last else { return nil }
        return first...last
    }

    private func cells(of rows: [Row], lanes: [Int: Int], width: Int) -> [String] {
        func column(_ lane: Int) -> Int { (hasLoops ? 2 : 0) + 3 * lane + 2 }
        var cells = Array(repeating: Array(repeating: Character(" "), count: width), count: rows.count)
        for (target, lane) in lanes {
            guard let span = SchemeDiagram.span(of: target, in: rows) else { continue }
            for row in span { cells[row][column(lane)] = "│" }
        }
        for (index, row) in rows.enumerated() {
            switch row.port {
            case .none: break
            case .loopOut: cells[index].replaceSubrange(0..<2, with: ["─", "┐"])
            case .loopIn: cells[index].replaceSubrange(0..<2, with: ["◀", "┘"])
            case .out(let target), .into(let target):
                guard let lane = lanes[target], let span = SchemeDiagram.span(of: target, in: rows) else { continue }
                let end = column(lane)
                // A line that is passed stays whole: it is the one that crosses which is broken.
                for place in 0..<end where cells[index][place] == " " { cells[index][place] = "─" }
                cells[index][end] = index == span.lowerBound ? "┐" : index == span.upperBound ? "┘" : "┤"
                if row.port == .into(target) { cells[index][0] = "◀" }
            }
        }
        return cells.map { String($0) }
    }

    // MARK: Roles without custody

    private func sideBox(_ role: Scheme.Role, width: Int) -> [String] {
        let admitting = scheme.roles.filter { $0.admits.contains(role.name) }.map(\.name)
        var texts = [
            "\(role.name): \(SchemeWords.line(role.title))",
            "(never has the load; let in by \(SchemeWords.list(admitting, "or")))",
        ]
        texts += scheme.signatures.filter { $0.role == role.name }.map { sentence(of: $0) }
        let inside = width - 4
        let lines = texts.flatMap { SchemeDiagram.hanging($0, width: inside, by: "  ") }
        let edge = String(repeating: "╌", count: width - 2)
        return ["┌\(edge)┐"] + lines.map { "╎ \(TextLayout.padded($0, to: inside)) ╎" } + ["└\(edge)┘"]
    }
}

extension SchemeDiagram {
    /// The same as a flowchart in the language of Mermaid.
    var mermaid: String {
        var lines = ["flowchart TD"]
        let places = Dictionary(scheme.roles.enumerated().map { ($0.element.name, $0.offset) }) { first, _ in first }
        for role in order + scheme.roles.filter({ !$0.hasCustody }) {
            guard let place = places[role.name] else { continue }
            let signatures = scheme.signatures.filter { $0.role == role.name }.map { signature in
                let guards = SchemeWords.guards(signature.after)
                return "signs \(signature.name)\(guards.isEmpty ? "" : ", \(guards)")"
            }
            let label = ([SchemeWords.line(role.title)] + signatures).map(SchemeDiagram.escaped).joined(
                separator: "<br/>"
            )
            lines.append(role.hasCustody ? "    r\(place)[\"\(label)\"]" : "    r\(place)([\"\(label)\"])")
        }
        for handoff in scheme.handoffs {
            guard let from = places[handoff.from], let to = places[handoff.to] else { continue }
            let guards = SchemeWords.guards(handoff.after)
            let label = SchemeDiagram.escaped("\(handoff.name)\(guards.isEmpty ? "" : ", \(guards)")")
            lines.append("    r\(from) -->|\"\(label)\"| r\(to)")
        }
        for role in scheme.roles {
            for admitted in role.admits {
                guard let from = places[role.name], let to = places[admitted] else { continue }
                lines.append("    r\(from) -.->|\"lets take part\"| r\(to)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Characters with a meaning for Mermaid or HTML as its entity codes.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            if "\"#<>&;|`\\".unicodeScalars.contains(scalar) {
                escaped += "#\(scalar.value);"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
