import CommandLineKit
import Foundation
import Glibc
import Tallystick
import TallystickQR

/// Where a command puts the code it made: files of several kinds, or the terminal.
struct CodeOutput {
    private let png: String?
    private let svg: String?
    private let text: String?
    private let loop: String?
    private let parts: String?

    /// How long each part of a loop shows, in milliseconds: cheap cameras need half a second.
    static let partMilliseconds = 500

    /// Takes the files that a command's options name.
    init(_ invocation: Invocation) throws {
        png = try invocation.option("png")
        svg = try invocation.option("svg")
        text = try invocation.option("text")
        loop = try invocation.option("loop")
        parts = try invocation.option("parts")
    }

    /// Puts a code into one PNG picture.
    init(png: String) {
        self.png = png
        svg = nil
        text = nil
        loop = nil
        parts = nil
    }

    /// Throws where a file cannot be written, or a code of so many bytes would not be seen whole.
    ///
    /// Asked before anything is done that would stay, so that no offer is left that nobody saw.
    func check(_ length: Int, on console: Console) throws {
        for path in [png, svg, text, loop].compactMap({ $0 }) { try Files.probe(path) }
        if let parts { try Files.probe("\(parts)/part") }
        guard !isToFile, !console.isJSON, console.isTerminal(.output) else { return }
        let bytes = [UInt8](repeating: 0xFF, count: min(length, CodePart.largestSymbol))
        let picture = try QRCode(CompactCode.prefix + Base45.encode(bytes)).matrix.terminal()
        // Below it stand a line about the offer and the prompt.
        try check(picture.columns, picture.rows + 2, on: console)
    }

    private var isToFile: Bool { [png, svg, text, loop, parts].contains { $0 != nil } }

    /// Writes the files that were named, and gives their paths.
    func write(_ message: CodeMessage, caption: [String]) throws -> [String] {
        guard isToFile else { return [] }
        let texts = message.texts
        let codes = try texts.map { try QRCode($0) }
        var written: [String] = []
        func write(_ bytes: [UInt8], to path: String) throws {
            try Files.write(bytes, to: path)
            written.append(path)
        }
        if let png {
            let bytes =
                codes.count == 1
                ? try codes[0].verifiedPNG(caption: caption) : try QRSheet(codes).verifiedPNG(caption: caption)
            try write(bytes, to: png)
        }
        if let svg {
            guard let code = codes.first, codes.count == 1 else {
                throw CommandError.usage(
                    "a code of \(codes.count) parts is no SVG",
                    remedy: "use --png, --loop or --parts"
                )
            }
            try write(Array(try code.verifiedSVG(caption: caption).utf8), to: svg)
        }
        if let text { try write(Array((texts.joined(separator: "\n") + "\n").utf8), to: text) }
        if let loop {
            let bytes = try QRSheet(codes).verifiedLoop(caption: caption, milliseconds: CodeOutput.partMilliseconds)
            try write(bytes, to: loop)
        }
        if let parts {
            for (index, code) in codes.enumerated() {
                let label = "\(index + 1) of \(codes.count)"
                try write(try code.verifiedPNG(caption: [label] + caption), to: "\(parts)/part-\(index + 1).png")
            }
        }
        return written
    }

    /// Shows a code on the terminal, a loop of its parts where it has several; into a pipe, its text.
    func show(_ message: CodeMessage, on console: Console, until end: Timestamp?) throws {
        let texts = message.texts
        guard console.isTerminal(.output) else {
            for text in texts { console.print(text) }
            return
        }
        let codes = try texts.map { try QRCode($0) }
        if let code = codes.first, codes.count == 1 {
            console.write(try code.verifiedTerminal().text)
            return
        }
        let frames = try QRSheet(codes).verifiedTerminalFrames()
        Interruption.watch()
        var index = 0
        console.note("Press Ctrl-C when the taker has all \(codes.count) parts.")
        while !Interruption.came, try end.map({ try Moment.now() < $0 }) ?? true {
            let frame = frames[index % frames.count]
            console.write((index == 0 ? "" : frame.redraw) + frame.text)
            index += 1
            pause(milliseconds: CodeOutput.partMilliseconds)
        }
    }

    private func check(_ columns: Int, _ rows: Int, on console: Console) throws(CommandError) {
        guard columns > console.width || rows > console.height ?? rows else { return }
        let window = "\(console.width) columns" + (console.height.map { " and \($0) rows" } ?? "")
        throw CommandError(
            exit: .failed,
            code: "window-too-small",
            message: "the code needs \(columns) columns and \(rows) rows, the window has \(window)",
            remedy: "nothing was offered: make the window larger, or write a picture with --png FILE"
        )
    }
}

/// Waits a little, or until interrupted.
func pause(milliseconds: Int = 200) {
    usleep(UInt32(milliseconds) * 1_000)
}
