import TallystickQR
import Testing

@Suite("QRMatrixTests")
struct QRMatrixTests {
    @Test func anOfferIsAtMostVersion6() throws {
        #expect(Samples.offer.utf8.count == 139)
        let matrix = try QRMatrix(alphanumeric: Samples.offer)
        #expect(matrix.version <= 6)
        #expect(matrix.side == 17 + 4 * matrix.version)
        #expect(matrix.level >= .medium)
    }

    @Test func raisesErrorCorrectionOnlyWhereTheVersionStays() throws {
        // ISO/IEC 18004 table 7, alphanumeric: version 1 holds 20 at M and 16 at Q, version 2 holds 29 at Q.
        let spare = try QRMatrix(alphanumeric: String(repeating: "A", count: 16))
        #expect(spare.version == 1 && spare.level == .quartile)
        let tight = try QRMatrix(alphanumeric: String(repeating: "A", count: 17))
        #expect(tight.version == 1 && tight.level == .medium)
        let low = try QRMatrix(alphanumeric: String(repeating: "A", count: 18), level: .low)
        #expect(low.version == 1 && low.level == .medium)
        let high = try QRMatrix(alphanumeric: "A", level: .high)
        #expect(high.level == .high)
    }

    @Test func startsWithAFinderPattern() throws {
        let matrix = try QRMatrix(alphanumeric: "TS1$")
        let rows = (0..<7).map { y in String((0..<7).map { x in matrix.dark(x, y) ? "#" : "." }) }
        #expect(rows == ["#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######"])
        #expect(!matrix.dark(-1, 0) && !matrix.dark(0, matrix.side) && !matrix.dark(Int.max, Int.min))
    }

    @Test func takesWhatFitsVersion10AndNoMore() throws {
        // ISO/IEC 18004 table 7: 10-M holds 311 alphanumeric characters.
        let most = try QRMatrix(alphanumeric: String(repeating: "Z", count: 311))
        #expect(most.version == 10 && most.level == .medium)
    }

    @Test(arguments: [
        (312, QRError.Code.tooLarge), (4_296, .tooLarge), (4_297, .tooLarge), (1_000_000, .tooLarge), (0, .empty),
    ])
    func refusesALength(_ count: Int, code: QRError.Code) {
        let text = String(repeating: "Z", count: count)
        #expect(Samples.code { () throws(QRError) in _ = try QRMatrix(alphanumeric: text) } == code)
    }

    @Test func aLargerVersionCanBeAllowed() throws {
        let low = try QRMatrix(alphanumeric: String(repeating: "0A", count: 2_148), level: .low, largestVersion: 40)
        #expect(low.version == 40 && low.level == .low)
    }

    @Test(arguments: ["ts1$", "TS1$\0", "A\nB", "É", "🙂", "A,B", "\0"])
    func refusesOtherCharacters(_ text: String) {
        #expect(Samples.code { () throws(QRError) in _ = try QRMatrix(alphanumeric: text) } == .notAlphanumeric)
    }

    @Test func aTextThatLooksLikeAnOptionIsText() throws {
        #expect(try QRCode("--HELP").verifiedPNG().isEmpty == false)
    }
}
