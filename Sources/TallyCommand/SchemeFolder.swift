import CommandLineKit
import Foundation
import Schemes
import Tallystick
import TallystickStore

/// A scheme's folder as it stands on disk: its texts, its mistakes, and the scheme where it has none.
struct SchemeFolder {
    /// The folder's path, as it was given.
    let path: String
    /// Every mistake, of the scheme first.
    private(set) var problems: [SchemeProblem] = []
    /// The files, by their names as problems have them; only where there are problems.
    private var texts: [String: SchemeText] = [:]
    /// The scheme, where it has no mistake.
    private(set) var scheme: Scheme?
    /// The examples, where they can be read.
    private(set) var examples: SchemeExamples?

    /// Reads the folder.
    ///
    /// Throws where there is no scheme.json, or a file cannot be read; what is wrong inside is in ``problems``.
    init(_ path: String) throws {
        self.path = path
        let text = try Files.read("\(path)/scheme.json", limit: Scheme.longest, isPlain: true)
        let lists = try SchemeFolder.files(in: "\(path)/codes")
        let cases = try SchemeFolder.files(in: "\(path)/examples")
        do {
            let scheme = try Scheme(scheme: text, codeLists: lists)
            problems += SchemeFolder.unknownZones(in: scheme)
            if problems.isEmpty { self.scheme = scheme }
        } catch {
            problems += error.problems
        }
        do {
            let examples = try SchemeExamples(files: cases)
            self.examples = examples
            if let scheme { problems += examples.problems(under: scheme) }
        } catch {
            problems += error.problems
        }
        let files =
            [("scheme.json", text)] + lists.map { ("codes/\($0.name).json", $0.text) }
            + cases.map { ("examples/\($0.name).json", $0.text) }
        for (name, text) in files where problems.contains(where: { sameBytes($0.file, name) }) {
            texts[name] = SchemeText(text)
        }
    }

    /// The JSON files of a folder by their names, in order; none where the folder is not there.
    private static func files(in folder: String) throws -> [(name: String, text: [UInt8])] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
        var left = Scheme.longest
        return try names.filter { $0.hasSuffix(".json") }.sorted().map { name in
            let text = try Files.read("\(folder)/\(name)", limit: max(left, 1), isPlain: true)
            left -= text.count
            return (String(name.dropLast(5)), text)
        }
    }

    /// The engine has no time zones; here they can be looked up.
    private static func unknownZones(in scheme: Scheme) -> [SchemeProblem] {
        scheme.deadlines.enumerated().filter { Zones.offset(in: $0.element.zone, at: Timestamp.epoch) == nil }.map {
            // Typed like “Europe/Londn” or “London”: what comes after the last slash is what people know.
            let zones = TimeZone.knownTimeZoneIdentifiers
            let zone = $0.element.zone
            let near =
                zones.first { $0.lowercased().hasSuffix("/\(zone.lowercased())") }
                ?? Spelling.nearest(to: zone, among: zones)
            return SchemeProblem(
                .unknownZone,
                file: "scheme.json",
                path: "deadlines[\($0.offset)].zone",
                "expected a time zone of the tz database, got “\(zone)”",
                remedy: "\(near.map { "did you mean “\($0)”? " } ?? "")write a name such as Europe/London or UTC"
            )
        }
    }

    /// The line of a problem, and what stands there is called.
    func place(of problem: SchemeProblem) -> SchemePlace {
        texts[problem.file].map { SchemePlace(of: problem, in: $0) } ?? SchemePlace()
    }
}
