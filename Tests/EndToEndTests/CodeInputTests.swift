import Foundation
import Tallystick
import TallystickTestSupport
import Testing

/// What the program says to pictures and codes that are not what they should be.
@Suite struct CodeInputTests {
    private let world: World
    private let server: RunningServer
    private let chain: String
    private let code: [UInt8]

    /// A producer has offered a load; a carrier and a receiver have devices.
    init() throws {
        world = try World()
        server = try world.enrolled()
        chain = try world.offered()
        code = Array(try world.read("offer.txt").dropLast())
    }

    private func accept(_ name: String, _ code: String, _ status: Int32) throws {
        try world.fails(code, status, "accept", name, "--yes", as: "carrier")
        #expect(try world.json("list", as: "carrier")["chains"]?.elements?.isEmpty == true, "nothing was accepted")
    }

    @Test func picturesWithoutOneCodeOfOurs() throws {
        try world.write(try CodePictures.png("HTTPS://EXAMPLE.COM/PAY"), to: "foreign.png")
        try accept("foreign.png", "foreign-code", 65)
        let scanned = try world.json("scan", "foreign.png")["codes"]?.elements?.first
        #expect(scanned?["kind"]?.text == "foreign" && scanned?["text"]?.text == "HTTPS://EXAMPLE.COM/PAY")

        try world.write(try CodePictures.png(), to: "empty.png")
        try accept("empty.png", "no-code", 65)
        #expect(try world.json("scan", "empty.png", exits: 65)["codes"]?.elements?.isEmpty == true)

        // A second code that is another offer, or that cannot be read for what it is.
        let text = String(decoding: code, as: UTF8.self)
        for other in [try #require(altered(at: 50, by: 1)), try #require(altered(at: 30, by: 1))] {
            try world.write(try CodePictures.png(text, other), to: "two.png")
            try accept("two.png", "several-codes", 65)
            #expect(try world.json("scan", "two.png")["codes"]?.elements?.count == 2)
        }

        try world.write(try CodePictures.png("TS1$AAAA"), to: "none.png")
        try accept("none.png", "damaged-code", 65)
    }

    @Test func picturesThatAreDamagedOrNone() throws {
        let png = try world.read("offer.png")
        let jpeg = try CodePictures.jpeg(String(decoding: code, as: UTF8.self))
        for (name, bytes) in [("cut.png", png), ("cut.jpg", jpeg)] {
            for share in [1, 3, 6, 9] {
                try world.write(Array(bytes.prefix(bytes.count * share / 10)), to: name)
                try accept(name, "image-damaged", 65)
                try world.fails("image-damaged", 65, "scan", name)
            }
        }
        try world.write(Array("GIF89a and more".utf8), to: "picture.gif")
        try accept("picture.gif", "not-an-image", 65)
        try world.write("", to: "nothing.png")
        try accept("nothing.png", "not-an-image", 65)
        try accept("absent.png", "no-such-file", 66)
        // 30,000 × 30,000 pixels by its header: refused before anything is decoded.
        var huge = png
        huge.replaceSubrange(16..<24, with: [0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30])
        try world.write(huge, to: "huge.png")
        try accept("huge.png", "image-too-large", 65)
        let file = try world.newFile("heavy.png")
        try file.truncate(atOffset: (25 << 20) + 1)
        try file.close()
        try accept("heavy.png", "too-large", 65)
    }

    @Test func codesThatSaySomethingElse() throws {
        let text = String(decoding: code, as: UTF8.self)
        for (name, text) in [
            ("short", String(text.dropLast(3))), ("letters", text.lowercased().replacing("ts1$", with: "TS1$")),
            ("version", try #require(altered(at: 0, by: 0x10))), ("prefix", "TS1$"),
        ] {
            try world.write(text + "\n", to: name)
            try accept(name, "damaged-code", 65)
            #expect(try world.json("scan", name)["codes"]?.elements?.first?["kind"]?.text == "damaged")
        }
        try world.write(try #require(altered(at: 38, by: 1)), to: "scheme")
        try accept("scheme", "scheme-unknown", 65)
        try world.write(try #require(altered(at: 1, by: 0x0F)), to: "handoff")
        try accept("handoff", "refused", 1)
        // Without --yes and without a terminal nobody was asked.
        try world.fails("confirmation-needed", 64, "accept", "offer.png", as: "carrier")
        let run = try world.tally("accept", "offer.png", as: "carrier", exits: 64)
        #expect(run.output.isEmpty && run.errors.contains("Collection"), "it says what the code offers")
        try world.fails("text-invalid", 65, "decline", "offer.png", "--yes", "--why", "", as: "carrier")
        // The right code in the wrong hands.
        let wrong = try world.fails("refused", 1, "accept", "offer.png", "--yes", as: "receiver")
        #expect(wrong["details"]?.members?.map(\.name) == ["role-not-held carrier"])
        try world.json("decline", "offer.png", "--yes", "--why", "asbestos in it", as: "carrier")
        let again = try world.fails("refused", 1, "accept", "offer.txt", "--yes", as: "carrier")
        #expect(again["details"]?.members?.first?.name.hasPrefix("offer-declined") == true)
    }

    @Test func anExpiredOffer() throws {
        // The same offer, ended an hour after midnight of 1 January 2020: made by the engine, not by waiting.
        let statement = try #require(half()).statement
        var bytes = statement.bytes
        let ended = UInt64(1_577_840_400)
        bytes.replaceSubrange(30..<38, with: (0..<8).map { UInt8(truncatingIfNeeded: ended >> (56 - 8 * $0)) })
        let old = try #require(HandoffStatement(bytes: bytes))
        #expect(old.expires == 1_577_840_400)
        let expired = try #require(HandoffHalf(statement: old, mac: half()?.mac ?? []))
        try world.write(try CodePictures.png(CompactCode.text(for: expired)), to: "old.png")
        let scanned = try world.json("scan", "old.png")["codes"]?.elements?.first?["offer"]
        #expect(scanned?["expired"]?.boolean == true)
        #expect(try world.tally("scan", "old.png").output.contains("expired"))
        let error = try world.fails("refused", 1, "accept", "old.png", "--yes", as: "carrier")
        #expect(error["details"]?.members?.first?.name.hasPrefix("offer-expired") == true)
        #expect(try world.json("list", as: "carrier")["chains"]?.elements?.isEmpty == true)
    }

    private func half() -> HandoffHalf? {
        if case .half(let half) = CompactCode.read(code) { half } else { nil }
    }

    /// The text of the code with one byte of its statement changed, whether or not that makes sense.
    private func altered(at index: Int, by mask: UInt8) -> String? {
        guard let half = half() else { return nil }
        var bytes = half.statement.bytes + half.mac
        bytes[index] ^= mask
        return CompactCode.prefix + Base45.encode(bytes)
    }
}
