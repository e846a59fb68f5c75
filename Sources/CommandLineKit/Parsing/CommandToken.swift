/// What one argument looks like, before it is known what it means.
///
/// Read as bytes: a combining accent after `--` would hide the dashes from `hasPrefix`.
enum CommandToken {
    /// `--name` or `--name=value`.
    case long(name: String, value: String?)
    /// `-o`, `-ovalue` or several flags in one: everything after the dash.
    case short(String)
    /// `--`: what follows are arguments.
    case endOfOptions
    /// Anything else, `-` too.
    case argument(String)

    init(_ text: String) {
        let bytes = text.utf8
        guard bytes.first == UInt8(ascii: "-"), bytes.count > 1 else {
            self = .argument(text)
            return
        }
        let afterDash = bytes.dropFirst()
        guard afterDash.first == UInt8(ascii: "-") else {
            self = .short(String(decoding: afterDash, as: UTF8.self))
            return
        }
        let body = afterDash.dropFirst()
        guard !body.isEmpty else {
            self = .endOfOptions
            return
        }
        guard let equals = body.firstIndex(of: UInt8(ascii: "=")) else {
            self = .long(name: String(decoding: body, as: UTF8.self), value: nil)
            return
        }
        self = .long(
            name: String(decoding: body[..<equals], as: UTF8.self),
            value: String(decoding: body[equals...].dropFirst(), as: UTF8.self)
        )
    }
}

extension [OptionDeclaration] {
    /// The option with this long name.
    func named(_ name: String) -> OptionDeclaration? {
        first { sameBytes($0.name, name) }
    }

    /// The option with this letter.
    func lettered(_ letter: Unicode.Scalar) -> OptionDeclaration? {
        first { $0.short == letter }
    }

    /// Whether the argument is one of these options, or `--`, and so can't be the value of the option before it.
    func claims(_ text: String) -> Bool {
        switch CommandToken(text) {
        case .endOfOptions: true
        case .argument: false
        case .long(let name, _): named(name) != nil
        case .short(let letters):
            letters.unicodeScalars.count == 1 && letters.unicodeScalars.contains { lettered($0) != nil }
        }
    }

    /// Whether the argument is an option whose value is the next argument.
    func awaitsValue(_ text: String) -> Bool {
        switch CommandToken(text) {
        case .endOfOptions, .argument: return false
        case .long(let name, let value): return value == nil && named(name)?.takesValue == true
        case .short(let letters):
            // A bundle awaits a value only if its last letter does: before that the rest of the bundle is the value.
            let scalars = letters.unicodeScalars
            guard let first = scalars.firstIndex(where: { lettered($0)?.takesValue == true }) else { return false }
            return scalars.index(after: first) == scalars.endIndex
        }
    }
}
