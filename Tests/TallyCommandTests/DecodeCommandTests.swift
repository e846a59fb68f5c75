import Foundation
import Tallystick
import TallystickQR
import TallystickTestSupport
import Testing

/// The real child process: the program `tally`, which is built beside the tests.
@Suite("DecodeCommandTests")
struct DecodeCommandTests {
    static let tally = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appendingPathComponent("tally").path

    /// A text of the form of an offer: what ends the search.
    static func offer() throws -> String {
        var bytes = [UInt8](repeating: 0, count: 74)
        bytes[0] = 0x11
        (bytes[12], bytes[14]) = (0x70, 0x80)  // the chain's identifier is a UUID of version 7
        _ = try #require(HandoffStatement(bytes: bytes))
        return CompactCode.prefix + Base45.encode(bytes + [UInt8](repeating: 9, count: 16))
    }

    /// A decoder that is `tally` itself, started by a shell that limits it first.
    static func decoder(after command: String = ":") -> PictureDecoder {
        PictureDecoder(
            executable: "/bin/sh",
            arguments: ["-c", "\(command); exec \"$0\" __decode", tally],
            timeLimit: .seconds(120),
            outputLimit: 1 << 20
        )
    }

    func code(_ decoder: PictureDecoder, _ picture: [UInt8]) -> QRError.Code? {
        do throws(QRError) {
            _ = try decoder.symbols(in: picture)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func readsAPhotograph() throws {
        let offer = try Self.offer()
        let photograph = try PhotoSimulator.photograph(
            QRMatrix(alphanumeric: offer).picture(),
            tiltPercent: 5,
            blurSigma: 1,
            noise: 3,
            seed: 1
        )
        for file in [try photograph.png(), try photograph.jpeg(quality: 70)] {
            let symbols = try Self.decoder().symbols(in: file)
            #expect(symbols.map(\.text) == [offer])
            #expect(symbols.map(\.stage) == ["native"])
        }
    }

    @Test func namesWhatIsWrongWithAPicture() throws {
        let picture = try GrayImage(width: 50, height: 40, shade: 9).png()
        #expect(try Self.decoder().symbols(in: picture).isEmpty)
        #expect(code(Self.decoder(), []) == .notAnImage)
        #expect(code(Self.decoder(), Array("GIF89a".utf8)) == .notAnImage)
        #expect(code(Self.decoder(), picture.dropLast(20)) == .imageDamaged)
        var wide = picture
        for (index, byte) in [0, 0, 0x2E, 0xE1].enumerated() { wide[16 + index] = UInt8(byte) }
        #expect(code(Self.decoder(), wide) == .imageTooLarge, "12,001 pixels")
        #expect(code(Self.decoder(), picture + [UInt8](repeating: 0, count: 26 << 20)) == .imageTooLarge)
    }

    // What happens is not ours to say (a trap, an abort, a refusal to start): that it has a name is.
    @Test(arguments: ["ulimit -v 60000", "ulimit -v 20000", "ulimit -n 0"])
    func runningOutOfWhatItNeedsIsAFailureOfThePictureOnly(_ limit: String) throws {
        let picture = try GrayImage(width: 8_000, height: 6_000, shade: 200).png()
        let found = code(Self.decoder(after: limit), picture)
        #expect(found == .decoderFailed || found == .libraryFailure || found == .imageDamaged)
    }

    @Test func hasGivenUpEverythingBeforeItReads() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.tally)
        process.arguments = ["__decode"]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        defer { process.waitUntilExit() }
        defer { try? input.fileHandleForWriting.close() }
        // It waits for its picture, so it stays in the state that it has got itself into.
        let deadline = ContinuousClock.now + .seconds(60)
        var limits: [String: [String]] = [:]
        repeat {
            let text = try String(contentsOfFile: "/proc/\(process.processIdentifier)/limits", encoding: .utf8)
            for line in text.split(separator: "\n") {
                let name = line.prefix(25).trimmingCharacters(in: .whitespaces)
                limits[name] = line.dropFirst(25).split(separator: " ").prefix(2).map(String.init)
            }
        } while limits["Max open files"] != ["3", "3"] && ContinuousClock.now < deadline
        #expect(limits["Max open files"] == ["3", "3"])
        #expect(limits["Max cpu time"] == ["5", "6"])
        #expect(limits["Max address space"] == ["1073741824", "1073741824"])
        #expect(limits["Max file size"] == ["0", "0"])
        #expect(limits["Max core file size"] == ["0", "0"])
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        #expect(status.contains("NoNewPrivs:\t1"))
    }

    @Test func isNotInTheHelp() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.tally)
        process.arguments = ["help"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(text.contains("scan") && !text.contains("__decode"))
    }

    @Test func aScanSaysEachCodesTextKindAndStage() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tally-scan-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let texts = [try Self.offer(), "HTTPS://EXAMPLE.ORG/", CompactCode.prefix + "ABC"]
        var sheet = try GrayImage(width: 1_200, height: 420, shade: 255)
        for (index, text) in texts.enumerated() {
            sheet.draw(try QRMatrix(alphanumeric: text).picture(), x: index * 400, y: 0)
        }
        let path = folder.appendingPathComponent("codes.png")
        try Data(try sheet.png()).write(to: path)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.tally)
        process.arguments = ["scan", path.path, "--json"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        let codes = try #require(JSON.parse(bytes)["codes"]?.elements)
        let kinds = Dictionary(
            uniqueKeysWithValues: codes.compactMap { code in
                code["text"]?.text.map { ($0, [code["kind"]?.text, code["stage"]?.text]) }
            }
        )
        #expect(
            kinds == [
                texts[0]: ["offer", "native"], texts[1]: ["foreign", "native"], texts[2]: ["damaged", "native"],
            ]
        )
    }
}
