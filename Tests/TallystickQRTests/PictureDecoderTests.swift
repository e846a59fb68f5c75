import Glibc
import Testing

@testable import TallystickQR

@Suite("PictureDecoderTests")
struct PictureDecoderTests {
    /// What a decoder that is this shell script makes of a picture.
    func answer(
        _ script: String,
        picture: [UInt8] = [1, 2, 3],
        timeLimit: Duration = .seconds(60),
        outputLimit: Int = 10_000
    ) -> Result<[QRSymbol], QRError> {
        let decoder = PictureDecoder(
            executable: "/bin/sh",
            arguments: ["-c", script],
            timeLimit: timeLimit,
            outputLimit: outputLimit
        )
        do throws(QRError) {
            return .success(try decoder.symbols(in: picture))
        } catch {
            return .failure(error)
        }
    }

    func code(_ result: Result<[QRSymbol], QRError>) -> QRError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test func aWholeAnswerIsTaken() throws {
        let script = #"echo '{"kind":"code","stage":"native","text":"AP9B"}'; echo '{"end":1}'"#
        #expect(try answer(script).get() == [QRSymbol(kind: .code, bytes: [0, 255, 0x41], stage: "native")])
        #expect(try answer(#"echo '{"end":0}'"#).get().isEmpty)
    }

    @Test func theErrorThatItNamesIsThrown() throws {
        let script = #"echo '{"code":"image-damaged","error":"expected more"}'; exit 1"#
        guard case .failure(let error) = answer(script) else { throw QRError(.empty, "no error") }
        #expect(error == QRError(.imageDamaged, "expected more"))
    }

    @Test(arguments: [
        "exit 0", "exit 1", "exit 2", "exit 65", "exit 255", "echo hello", "kill -9 $$", "kill -11 $$", "kill -6 $$",
        #"printf '{"end":0'"#, #"echo '{"end":1}'"#, #"echo '{"end":0}'; exit 1"#, #"echo '{"end":0}'; kill -9 $$"#,
        #"echo '{"end":0}'; exit 3"#, #"echo '{"end":0}'; echo '{"end":0}'"#, #"echo '{"end":-1}'"#,
        #"echo '{"code":"no-such-code","error":""}'; exit 1"#, #"echo '{"code":"image-damaged"}'; exit 1"#,
        #"echo '{"kind":"code","stage":"native","text":"AP9B"}'"#,
        #"echo '{"kind":"code","stage":"native","text":"AP9"}'; echo '{"end":1}'"#,
        #"echo '{"kind":"offer","stage":"native","text":"AP9B"}'; echo '{"end":1}'"#,
        #"echo '{"kind":"code","stage":"\u001b[2J","text":"AP9B"}'; echo '{"end":1}'"#,
        #"echo '{"kind":"code","stage":"native"}'; echo '{"end":1}'"#, #"echo '[]'"#, #"echo '""'"#,
        #"yes '{"kind":"code","stage":"native","text":"AA=="}' | head -n 200; echo '{"end":200}'; yes | head -c 9999"#,
    ])
    func everythingElseIsAFailureWithAName(_ script: String) {
        #expect(code(answer(script)) == .decoderFailed)
    }

    @Test func aProgramThatIsNotThereIsAFailure() {
        for path in ["/no/such/program", "/", ""] {
            let decoder = PictureDecoder(executable: path, arguments: [], timeLimit: .seconds(60), outputLimit: 100)
            let found = Samples.code { () throws(QRError) in _ = try decoder.symbols(in: []) }
            #expect(found == .decoderFailed)
        }
    }

    @Test func falseIsAFailure() {
        let decoder = PictureDecoder(executable: "/bin/false", arguments: [], timeLimit: .seconds(60), outputLimit: 9)
        #expect(Samples.code { () throws(QRError) in _ = try decoder.symbols(in: [0]) } == .decoderFailed)
    }

    // Each would go on for an hour: what is tested is that the parent does not.
    @Test(arguments: ["exec sleep 3600", "echo hello; exec sleep 3600", "exec >&-; exec sleep 3600"])
    func anAnswerThatDoesNotComeIsATimeout(_ script: String) {
        #expect(code(answer(script, timeLimit: .milliseconds(50))) == .decoderTimeout)
    }

    @Test func noTimeAtAllIsATimeout() {
        #expect(code(answer("exec sleep 3600", timeLimit: .seconds(-1))) == .decoderTimeout)
    }

    @Test func usingUpItsProcessorTimeIsATimeout() {
        #expect(code(answer("kill -XCPU $$")) == .decoderTimeout)
    }

    @Test func aFloodIsCutOff() {
        #expect(code(answer("exec yes", outputLimit: 100_000)) == .decoderFailed)
    }

    @Test func aPictureNobodyReadsBreaksNothing() throws {
        let picture = [UInt8](repeating: 7, count: 1 << 20)
        #expect(try answer(#"exec <&-; echo '{"end":0}'"#, picture: picture).get().isEmpty)
    }

    @Test func thePictureArrivesWhole() throws {
        let picture = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try answer(#"[ $(wc -c) -eq 300000 ] && echo '{"end":0}'"#, picture: picture).get().isEmpty)
        #expect(try answer(#"[ $(wc -c) -eq 0 ] && echo '{"end":0}'"#, picture: []).get().isEmpty)
    }

    @Test func nothingElseIsHandedDown() throws {
        // A descriptor that exec would keep, and a variable of this process.
        let kept = dup(STDERR_FILENO)
        defer { close(kept) }
        try #require(kept > 2)
        let script = "[ ! -e /proc/$$/fd/\(kept) ] && [ -z \"$PATH$HOME\" ] && echo '{\"end\":0}'"
        // The shell sets a PATH of its own where it has none, but does not export it.
        let exported = script.replacing("[ -z \"$PATH$HOME\" ]", with: "[ -z \"$HOME\" ]")
        #expect(try answer(exported).get().isEmpty)
    }
}
