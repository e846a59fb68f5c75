import Foundation
import TallystickQR

/// The decoder against others: what is read of real photographs and of generated damage, and how fast.
enum QRBench {
    static func run(in folder: Folder, isFast: Bool) throws {
        let generated = try QRPictures.generated(in: "\(folder.path)/qr", isFast: isFast)
        let photographs = try QRPictures.photographs()
        let all = (photographs ?? []) + generated
        var columns = [Column(name: "tally", readings: try ours(all))]
        columns.append(Column(name: "zbarimg", readings: zbarimg(all)))
        columns += peers(all)

        Figures.heading("QR codes read right, of how many")
        row("", columns.map { $0.readings == nil ? "\($0.name) –" : $0.name })
        if photographs == nil { print("  photographs: not installed") }
        var groups: [String] = []
        for picture in all where !picture.texts.isEmpty && !groups.contains(picture.group) {
            groups.append(picture.group)
        }
        for group in groups { count(all.filter { $0.group == group }, group, columns) }
        count(generated.filter { !$0.texts.isEmpty }, "all generated", columns)
        row("wrong texts, all pictures", columns.map { $0.readings.map { "\(wrong(all, $0))" } ?? "–" })
        for column in columns where column.readings == nil { print("  \(column.name): not installed") }
        if let readings = columns[0].readings {
            let missed = (photographs ?? []).filter { !isRight($0, readings) }.map(\.name)
            if !missed.isEmpty { print("  photographs that tally missed: \(missed.joined(separator: ", "))") }
        }

        Figures.heading("Time to open and read a picture in ms: median / worst (zbarimg with the start of its process)")
        row("", columns.map(\.name))
        time(photographs ?? [], "photographs, read", columns, hits: true)
        time(all.filter { $0.isSmall && !$0.texts.isEmpty }, "small pictures, read", columns, hits: true)
        time(all.filter { $0.isSmall }, "small pictures, given up", columns, hits: false)
        time(all.filter { $0.is12Megapixel }, "12 megapixels, read", columns, hits: true)
        time(all.filter { $0.is12Megapixel }, "12 megapixels, given up", columns, hits: false)
        try child(all.filter { $0.group == "v6 tilt 10 %" })
        if let readings = columns[0].readings { stages(all, readings) }
    }

    // MARK: Decoders

    /// What a decoder made of one picture.
    private struct Reading {
        var texts: [String]
        var milliseconds: Double
        var processor = 0.0
        /// Of that, all but opening the file.
        var looking = 0.0
        var stage = ""
    }

    private struct Column {
        let name: String
        /// By path; nil where the decoder is not installed.
        let readings: [String: Reading]?
    }

    private static func ours(_ pictures: [QRPicture]) throws -> [String: Reading] {
        var readings: [String: Reading] = [:]
        for picture in pictures {
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: picture.path)))
            var symbols: [QRSymbol] = []
            var open = picture.texts
            let start = processorTime()
            var opened = start
            let begin = ContinuousClock.now
            let seconds = try Figures.seconds {
                let image = try ImageReader.read(bytes)
                opened = processorTime()
                // As the decoding process counts: opening the picture is part of the three seconds.
                let rest = QRDecoder.usualBudget - (ContinuousClock.now - begin)
                symbols = try QRDecoder.symbols(in: image, budget: rest) { bytes in
                    open.remove(QRPictures.normal(String(decoding: bytes, as: UTF8.self)))
                    return !picture.texts.isEmpty && open.isEmpty
                }
            }
            readings[picture.path] = Reading(
                texts: symbols.filter { $0.kind == .code }.map { String(decoding: $0.bytes, as: UTF8.self) },
                milliseconds: seconds * 1_000,
                processor: (processorTime() - start) * 1_000,
                looking: (processorTime() - opened) * 1_000,
                stage: symbols.last?.stage ?? ""
            )
        }
        return readings
    }

    /// Seconds of processor time that this process has used: what others do on the machine does not count.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func zbarimg(_ pictures: [QRPicture]) -> [String: Reading]? {
        var readings: [String: Reading] = [:]
        for picture in pictures {
            let start = ContinuousClock.now
            let arguments = ["zbarimg", "--nodbus", "-q", "--raw", "-Sdisable", "-Sqrcode.enable", picture.path]
            // 127 is env's answer for a program that is not there.
            guard let (output, status) = output(of: arguments), status != 127 else { return nil }
            let time = ContinuousClock.now - start
            let text = String(decoding: output, as: UTF8.self)
            // Several codes come one after the other: what is expected of the picture parts them.
            var rest = QRPictures.normal(text)
            var texts: [String] = []
            for expected in picture.texts where rest.contains(expected) {
                rest = rest.replacingOccurrences(of: expected, with: "")
                texts.append(expected)
            }
            if !rest.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty { texts.append(rest) }
            readings[picture.path] = Reading(texts: texts, milliseconds: time / .milliseconds(1))
        }
        return readings
    }

    private static func peers(_ pictures: [QRPicture]) -> [Column] {
        let script = ProcessInfo.processInfo.environment["TALLY_PEERS"] ?? "script/bench-qr-peers"
        let python = ProcessInfo.processInfo.environment["TALLY_PYTHON"] ?? "python3"
        let names = pictures.map(\.path).joined(separator: "\n") + "\n"
        var found: [String: [String: Reading]] = [:]
        if let (output, _) = output(of: [python, script], input: names) {
            for line in String(decoding: output, as: UTF8.self).split(separator: "\n") {
                let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
                guard fields.count >= 3, let time = Double(fields[2]) else { continue }
                let texts = fields[3...].compactMap { Data(base64Encoded: $0) }.map {
                    String(decoding: $0, as: UTF8.self)
                }
                found[fields[0], default: [:]][fields[1]] = Reading(texts: texts, milliseconds: time)
            }
        }
        return ["zxing-cpp", "OpenCV"].map { Column(name: $0, readings: found[$0]) }
    }

    /// Runs a program and returns what it printed and how it ended; nil where it could not be started.
    private static func output(of arguments: [String], input: String? = nil) -> (Data, Int32)? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        let (standardInput, standardOutput) = (Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        if let input { try? standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8)) }
        try? standardInput.fileHandleForWriting.close()
        let data = standardOutput.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (data, process.terminationStatus)
    }

    /// What a process of its own costs, on pictures that are read at once.
    private static func child(_ pictures: [QRPicture]) throws {
        var times: [Double] = []
        var right = 0
        for picture in pictures {
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: picture.path)))
            var symbols: [QRSymbol] = []
            times.append(try Figures.seconds { symbols = try PictureDecoder.ownProgram.symbols(in: bytes) } * 1_000)
            if Set(symbols.compactMap(\.text)) == picture.texts { right += 1 }
        }
        let name = "in a process of its own: v6 tilt 10 %, \(right) of \(pictures.count) read"
        Figures.line(name, Figures.median(times), "ms median")
    }

    // MARK: Counting

    private static func isRight(_ picture: QRPicture, _ readings: [String: Reading]) -> Bool {
        let texts = Set((readings[picture.path]?.texts ?? []).map(QRPictures.normal))
        return picture.texts.isSubset(of: texts)
    }

    private static func wrong(_ pictures: [QRPicture], _ readings: [String: Reading]) -> Int {
        pictures.reduce(0) { sum, picture in
            let texts = Set((readings[picture.path]?.texts ?? []).map(QRPictures.normal))
            return sum + texts.subtracting(picture.texts).count
        }
    }

    private static func count(_ pictures: [QRPicture], _ name: String, _ columns: [Column]) {
        row(
            "\(name), \(pictures.count)",
            columns.map { column in
                column.readings.map { readings in "\(pictures.count { isRight($0, readings) })" } ?? "–"
            }
        )
    }

    private static func time(_ pictures: [QRPicture], _ name: String, _ columns: [Column], hits: Bool) {
        row(
            name,
            columns.map { column in
                guard let readings = column.readings else { return "–" }
                let read = pictures.filter { (isRight($0, readings) && !$0.texts.isEmpty) == hits }
                return figures(read.compactMap { readings[$0.path]?.milliseconds })
            }
        )
        guard let readings = columns[0].readings else { return }
        let read = pictures.filter { (isRight($0, readings) && !$0.texts.isEmpty) == hits }
        row("    in processor time", [figures(read.compactMap { readings[$0.path]?.processor })])
        row("    once it is opened", [figures(read.compactMap { readings[$0.path]?.looking })])
    }

    private static func figures(_ times: [Double]) -> String {
        guard let worst = times.max() else { return "none" }
        return String(format: "%.1f / %.0f", Figures.median(times), worst)
    }

    private static func stages(_ pictures: [QRPicture], _ readings: [String: Reading]) {
        Figures.heading("Stage that read it, and how often")
        var counts: [String: Int] = [:]
        for picture in pictures where !picture.texts.isEmpty && isRight(picture, readings) {
            counts[readings[picture.path]?.stage ?? "", default: 0] += 1
        }
        for (stage, count) in counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            print("  \(stage.padding(toLength: 32, withPad: " ", startingAt: 0))\(count)")
        }
    }

    private static func row(_ name: String, _ cells: [String]) {
        let padded = cells.map { String(repeating: " ", count: max(1, 15 - $0.count)) + $0 }
        print("  \(name.padding(toLength: 30, withPad: " ", startingAt: 0))\(padded.joined())")
    }
}
