import CommandLineKit
import Schemes
import Tallystick

/// The values that a command was given, on the command line and in a file.
struct Values {
    let changes: [EventContent.FieldChange]
    let unused: [ValuesFile.Unused]

    init(_ invocation: Invocation, scheme: Scheme, role: Name?) throws {
        var changes: [EventContent.FieldChange] = []
        var unused: [ValuesFile.Unused] = []
        if let path = try invocation.option("from") {
            guard let role else {
                throw CommandError.usage(
                    "--from needs to know the role whose values are read",
                    remedy: "name it with --role ROLE"
                )
            }
            let bytes = try Files.read(path, limit: 8 << 20)
            let order = try Values.order(invocation)
            do throws(JSONError) {
                let file = try ValuesFile(bytes, scheme: scheme, role: role, order: order)
                changes = file.changes
                unused = file.unused
            } catch {
                throw CommandError(
                    exit: .badInput,
                    code: error.code.description,
                    message: "\(path): \(error.description)",
                    remedy: "values are a JSON object, such as fixtures/demo/producer.json"
                )
            }
        }
        var typed: Set<FieldPath> = []
        for argument in try invocation.arguments("FIELD=VALUE") {
            let change = try Values.change(argument, "FIELD=VALUE", scheme: scheme)
            guard typed.insert(change.path).inserted else {
                throw CommandError.usage("\(change.path) is given twice", remedy: "give each field once")
            }
            // What is typed wins over what the file says.
            changes.removeAll { $0.path == change.path }
            changes.append(change)
        }
        self.changes = changes
        self.unused = unused
    }

    /// Which of several parties of the role the file is read for; the first unless told otherwise.
    private static func order(_ invocation: Invocation) throws -> Int {
        guard let text = try invocation.option("order") else { return 1 }
        guard let order = Int(text), order > 0 else {
            throw CommandError.usage("expected --order to be a number from 1, got '\(Console.plain(text))'")
        }
        return order
    }

    /// A value as it is typed on the command line, `form` being what help calls it.
    static func change(_ argument: String, _ form: String, scheme: Scheme) throws -> EventContent.FieldChange {
        guard let equals = argument.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw CommandError.usage("expected \(form), got '\(Console.plain(argument))'")
        }
        let name = String(argument[..<equals])
        let text = String(argument[argument.utf8.index(after: equals)...])
        guard let path = FieldPath(name) else { throw unknown(name, scheme: scheme) }
        if text.isEmpty { return EventContent.FieldChange(path: path, value: nil) }
        guard let field = scheme.field(path) else { throw unknown(name, scheme: scheme) }
        switch scheme.value(typed: text, for: field) {
        case .value(let value): return EventContent.FieldChange(path: path, value: value)
        case .fault(let fault):
            throw CommandError(exit: .badInput, code: "field-invalid", message: "\(name): \(fault)")
        }
    }

    private static func unknown(_ name: String, scheme: Scheme) -> CommandError {
        CommandError(
            exit: .badInput,
            code: "field-unknown",
            message: "the scheme \(scheme.reference.id) has no field “\(Console.plain(name))”",
            remedy: "`tally scheme show \(scheme.reference.id)` lists the fields"
        )
    }

    /// What of the file was not used: nothing is dropped without a word.
    func report(on console: Console) {
        guard !unused.isEmpty, !console.isJSON else { return }
        console.print("\nNot used from the file:")
        var table = Table("WHERE", "VALUE", "WHY")
        for item in unused { table.add([item.pointer, String(item.value.prefix(40)), item.detail]) }
        console.print(table)
    }

    var json: (String, JSONOutput) {
        (
            "unused",
            .array(
                unused.map {
                    .object([
                        ("where", .string($0.pointer)), ("value", .string($0.value)), ("reason", .string($0.reason)),
                        ("detail", .string($0.detail)),
                    ])
                }
            )
        )
    }
}
