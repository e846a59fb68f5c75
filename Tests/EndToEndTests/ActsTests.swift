import Foundation
import Tallystick
import Testing

/// What parties do beside handing over: admit, delegate, attest paper, correct, link, end; and what is seen of it.
@Suite struct ActsTests {
    private func time(hoursFromNow hours: Int64) throws -> String {
        let milliseconds = Int64(Date().timeIntervalSince1970 * 1_000) + hours * 3_600_000
        return try #require(Timestamp(milliseconds: milliseconds)).description
    }

    private func sync(_ devices: String..., in world: World) throws {
        for device in devices { try world.json("sync", as: device) }
    }

    // MARK: Parties

    @Test func aBrokerThatWasAdmittedReadsTheChainAndAddsToIt() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let broker = try world.enrol("broker", of: "Ridgeway Waste Brokers", as: "broker", at: server)
        let party = try #require(broker["party"]?.text)
        let chain = try world.offered()
        // Nobody has heard of the broker here, so its name is not known.
        try world.fails("bad-input", 65, "admit", chain, "broker", "--party", "Ridgeway Waste Brokers", as: "producer")
        let admitted = try world.json("admit", chain, "broker", "--party", party, as: "producer")
        #expect(admitted["role"]?.text == "broker" && admitted["party"]?.text == party)
        try sync("producer", "broker", in: world)

        let shown = try world.json("show", chain, as: "broker")
        #expect(shown["legs"]?.elements?.map { $0["role"]?.text } == ["producer"])
        #expect(shown["seats"]?.elements?.map { $0["party"]?["name"]?.text } == ["Ridgeway Waste Brokers"])
        try world.json("set", chain, "brokerNumber=CBDU987654", as: "broker")
        try world.json("note", chain, "morning collection wanted", as: "broker")
        try world.fails("refused", 1, "set", chain, "sicCode=43341", as: "broker")
        try sync("broker", "producer", in: world)
        let text = try world.tally("show", chain, as: "producer").output
        #expect(text.contains("Takes part:") && text.contains("Ridgeway Waste Brokers"))
        #expect(text.contains("CBDU987654") && text.contains("morning collection wanted"))
        #expect(try world.json("list", as: "broker")["chains"]?.elements?.map { $0["badge"]?.text } == ["confirmed"])
        try world.fails("refused", 1, "admit", chain, "broker", "--party", party, as: "producer")
    }

    @Test func anAgentThatTakesNoOtherPartSignsForTheProducer() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let agent = try world.enrol("agent", of: "Keel Agents", as: "carrier", at: server)
        let opened = try world.json(
            "open",
            "--scheme",
            "uk-waste-transfer-note",
            "--from",
            World.demo("producer"),
            as: "producer"
        )
        let chain = try #require(opened["chain"]?.text)
        let party = try #require(agent["party"]?.text)
        try world.json("delegate", chain, "producer", "--to", party, "--for", "8h", as: "producer")
        try sync("producer", "agent", in: world)
        try world.json("sign", chain, "--for", "Hartley Build Ltd", as: "agent")
        try sync("agent", "producer", in: world)
        let text = try world.tally("show", chain, as: "producer").output
        #expect(text.contains("signed for Hartley Build Ltd (you) by Keel Agents"))
    }

    /// Carrier and receiver have the chain anyway, so this needs nothing of the server's feed.
    @Test func theCarrierSignsForTheReceiverThatLetIt() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let chain = try delivered(world)
        let before = try world.fails(
            "refused",
            1,
            "sign",
            chain,
            "--as",
            "receiver",
            "--for",
            "Erewash Recycling Park",
            as: "carrier"
        )
        #expect(before["details"]?.members?.map(\.name) == ["not-delegated receiver"])
        let until = try time(hoursFromNow: 8)
        let said = try world.json(
            "delegate",
            chain,
            "receiver",
            "--to",
            "Pennine Skips Ltd",
            "--until",
            until,
            as: "receiver"
        )
        #expect(said["until"]?.text == until && said["signatures"]?.elements?.map(\.text) == ["receiver"])
        try sync("receiver", "carrier", in: world)
        let signed = try world.json("sign", chain, "--for", "Erewash Recycling Park", as: "carrier")
        #expect(signed["way"]?.text == "delegate" && signed["signature"]?.text == "receiver")
        try sync("carrier", "receiver", in: world)
        let leg = try #require(try world.json("show", chain, as: "receiver")["legs"]?.elements?.last)
        let signature = try #require(leg["signatures"]?.elements?.first)
        #expect(signature["party"]?["own"]?.boolean == true)
        #expect(signature["signer"]?["name"]?.text == "Pennine Skips Ltd")
        #expect(try world.json("list", as: "carrier")["chains"]?.elements?.map { $0["badge"]?.text } == ["confirmed"])
        for arguments in [["--for", "0h"], ["--for", "8"], ["--until", "tomorrow"]] {
            let run = try world.run(
                ["--home", "homes/receiver", "delegate", chain, "receiver", "--to", "Pennine Skips Ltd"] + arguments
                    + ["--json"]
            )
            #expect(run.errorCode == "time-invalid" && run.status == 64, "\(run)")
        }
        try world.fails("usage", 64, "delegate", chain, "receiver", "--to", "Pennine Skips Ltd", as: "receiver")
    }

    // MARK: Paper and late entry

    @Test func paperAndLateEntriesKeepTheirPictureAndBothTimes() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        try world.write("%PDF-1.7 a scan of a note", to: "note.jpg")
        try world.write([UInt8](), to: "empty.jpg")
        let earlier = try time(hoursFromNow: -30)
        let late = ["--late-at", earlier, "--late-why", "no signal in the basement", "--late-paper", "note.jpg"]
        let opened = try world.run(
            [
                "--home", "homes/producer", "open", "--scheme", "uk-waste-transfer-note", "--from",
                World.demo("producer"), "--json",
            ] + late
        )
        #expect(opened.status == 0, "\(opened)")
        let chain = try #require(try opened.json["chain"]?.text)
        #expect(try opened.json["warnings"]?.elements?.compactMap { $0["code"]?.text } == ["late-entry", "late-entry"])
        for missing in [["--late-at", earlier], ["--late-why", "x"], ["--late-paper", "note.jpg"]] {
            let run = try world.run(["--home", "homes/producer", "note", chain, "x", "--json"] + missing)
            #expect(run.status == 64, "\(run)")
        }
        try world.fails(
            "time-invalid",
            64,
            "note",
            chain,
            "x",
            "--late-at",
            "yesterday",
            "--late-why",
            "y",
            as: "producer"
        )
        try world.fails(
            "refused",
            1,
            "note",
            chain,
            "x",
            "--late-at",
            try time(hoursFromNow: 24),
            "--late-why",
            "y",
            as: "producer"
        )

        let paper = ["--signer", "Elsie Holt", "--paper-at", earlier]
        try world.fails("not-an-image", 65, "sign", chain, "--paper", "empty.jpg", "--signer", "E", as: "producer")
        try world.write("Dear reader", to: "letter.jpg")
        try world.fails("not-an-image", 65, "sign", chain, "--paper", "letter.jpg", "--signer", "E", as: "producer")
        try world.fails("usage", 64, "set", chain, "sicCode=41201", "sicCode=41202", as: "producer")
        try world.fails("no-such-file", 66, "sign", chain, "--paper", "none.jpg", "--signer", "E", as: "producer")
        try world.fails("usage", 64, "sign", chain, "--paper", "note.jpg", as: "producer")
        try world.fails("usage", 64, "sign", chain, "--signer", "Elsie Holt", as: "producer")
        try world.fails(
            "usage",
            64,
            "sign",
            chain,
            "--paper",
            "note.jpg",
            "--signer",
            "E",
            "--for",
            "X",
            as: "producer"
        )
        let signed = try world.json(
            "sign",
            chain,
            "--paper",
            "note.jpg",
            paper[0],
            paper[1],
            paper[2],
            paper[3],
            as: "producer"
        )
        #expect(signed["way"]?.text == "paper" && signed["picture"]?.text?.utf8.count == 64)
        try sync("producer", in: world)
        let shown = try world.json("show", chain, as: "producer")
        #expect(shown["badge"]?.text == "confirmed")
        #expect(
            shown["late"]?.elements?.map { $0["paper"]?.text } == [signed["picture"]?.text, signed["picture"]?.text]
        )
        let text = try world.tally("show", chain, as: "producer").output
        #expect(text.contains("signed on paper by Elsie Holt") && text.contains("Entered afterwards"))
    }

    // MARK: Corrections

    @Test func aCorrectionAppliesOnceTheOthersHaveApprovedOnTheirDevices() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let chain = try world.recorded()
        let path = "wasteItems/1/description"
        let sealed = try world.fails("refused", 1, "set", chain, "\(path)=Rubble", as: "producer")
        #expect(sealed["remedy"]?.text?.contains("tally correct") == true)
        let forGood = try world.fails("refused", 1, "set", chain, "hierarchyDuty=no", as: "producer")
        #expect(forGood["remedy"]?.text?.contains("tally correct") != true)

        try world.fails("missing-option", 64, "correct", chain, "\(path)=Rubble", as: "producer")
        let proposed = try world.json("correct", chain, "\(path)=Rubble", "--why", "wrong skip", as: "producer")
        #expect(proposed["applied"]?.boolean == false)
        let names = ["Pennine Skips Ltd", "Erewash Recycling Park"]
        #expect(proposed["waitsFor"]?.elements?.compactMap { $0["name"]?.text } == names)
        let again = try world.fails("refused", 1, "correct", chain, "\(path)=Brick", "--why", "no", as: "producer")
        #expect(again["details"]?.members?.map(\.name) == ["correction-open \(path)"])
        try sync("producer", "carrier", "receiver", in: world)
        let waiting = try world.tally("show", chain, as: "carrier").output
        #expect(waiting.contains("1 correction waits for you") && waiting.contains("→ Rubble"))

        #expect(try world.json("approve", chain, as: "carrier")["applied"]?.boolean == false)
        try sync("carrier", "receiver", in: world)
        let name = String(try #require(proposed["correction"]?.text).prefix(8))
        #expect(try world.json("approve", chain, name, as: "receiver")["applied"]?.boolean == true)
        try world.fails("nothing-to-do", 1, "approve", chain, as: "receiver")
        try sync("receiver", "producer", in: world)
        let shown = try world.json("show", chain, as: "producer")
        let field = shown["legs"]?.elements?.first?["fields"]?.elements?.first { $0["path"]?.text == path }
        #expect(field?["value"]?.text == "Rubble" && field?["sealed"]?.boolean == true)
        #expect(shown["corrections"]?.elements?.map { $0["state"]?.text } == ["applied"])
        #expect(shown["badge"]?.text == "confirmed")

        let refused = try world.json("correct", chain, "\(path)=Timber", "--why", "wrong again", as: "producer")
        try sync("producer", "carrier", in: world)
        try world.json("refuse", chain, "--why", "it was rubble", as: "carrier")
        try sync("carrier", "producer", in: world)
        let last = try world.json("show", chain, as: "producer")["corrections"]?.elements?.last
        #expect(last?["correction"]?.text == refused["correction"]?.text && last?["state"]?.text == "refused")
        #expect(last?["refusal"]?.text == "it was rubble" && last?["refusedBy"]?["name"]?.text == "Pennine Skips Ltd")

        try world.json("export", chain, "-o", "corrected.jsonl", as: "producer")
        #expect(try world.json("audit", "corrected.jsonl", "--trust", "trust.json")["clean"]?.boolean == true)
    }

    // MARK: Endings, and finding chains

    @Test func chainsEndAndAreFoundByWhatTheyNeed() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let chain = try world.recorded()
        func listed(_ arguments: String..., as device: String = "producer") throws -> [String] {
            let run = try world.run(["--home", "homes/\(device)", "list", "--json"] + arguments)
            #expect(run.status == 0, "\(run)")
            return try run.json["chains"]?.elements?.compactMap { $0["chain"]?.text } ?? []
        }
        let early = try world.fails("refused", 1, "cancel", chain, "--why", "too late", as: "producer")
        #expect(early["details"]?.members?.map(\.name) == ["too-late collection"])
        try world.json("set", chain, "defraTrackingId=26HRA0B2", as: "receiver")
        let closed = try world.json("close", chain, "delivered", as: "receiver")
        #expect(closed["outcome"]?.text == "delivered")
        try world.fails("refused", 1, "close", chain, "delivered", as: "receiver")
        try sync("receiver", "producer", in: world)

        let season = try world.json(
            "open",
            "--scheme",
            "uk-waste-transfer-note",
            "seasonFrom=2020-01-01",
            as: "producer"
        )
        let ticket = try #require(season["chain"]?.text)
        let unwanted = try #require(
            try world.json("open", "--scheme", "uk-waste-transfer-note", as: "producer")["chain"]?.text
        )
        try world.fails("refused", 1, "link", ticket, "load", chain, as: "producer")
        try world.json("link", unwanted, "season-ticket", ticket, as: "producer")
        try world.json("cancel", unwanted, "--why", "not needed", as: "producer")
        #expect(try listed("--overdue") == [ticket])
        #expect(try listed("--open") == [ticket])
        #expect(Set(try listed("--ended")) == [chain, unwanted])
        #expect(try listed("--external", "26hra0b2") == [chain])
        #expect(try listed("--external", "26HRA0B3").isEmpty)
        // 6.94 t where 6.2 t were declared.
        #expect(try listed("--discrepancies") == [chain])
        #expect(try listed("--discrepancies", "--open").isEmpty)
        #expect(try listed("--gaps").isEmpty && listed("--contested").isEmpty)
        try world.fails("usage", 64, "list", "--open", "--ended", as: "producer")

        let text = try world.tally("list", "--overdue", as: "producer").output
        #expect(text.contains("OVERDUE") && text.contains("not yet"))
        #expect(try world.tally("list", "--gaps", as: "producer").output == "No chain is with a gap here.\n")
        let page = try world.tally("show", chain, as: "producer").output
        #expect(page.contains("ended: Delivered") && page.contains("Defra DWT: 26HRA0B2"))
        #expect(page.contains("Keep this record") && page.contains("as producer: until 20"))
        #expect(page.contains("DISCREPANCY") && page.contains("Deadlines"))
        let cancelled = try world.tally("show", unwanted, as: "producer").output
        #expect(cancelled.contains("CANCELLED") && cancelled.contains("not needed"))
        #expect(cancelled.contains("Other chains") && cancelled.contains("…\(ticket.suffix(8))"))
        #expect(try world.tally("show", ticket, as: "producer").output.contains("OVERDUE"))
    }

    @Test func aLoadIsRefusedInPartAndGoesOnInAnotherChain() throws {
        let world = try World()
        let server = try world.enrolled()
        defer { server.stop() }
        let chain = try delivered(world)
        for value in ["outcome=accepted-in-part", "receivedItems/1/acceptedWeight=6 t"] {
            try world.json("set", chain, value, as: "receiver")
        }
        try world.json(
            "set",
            chain,
            "receivedItems/1/rejectedWeight=0.94 t",
            "receivedItems/1/rejectionReason=timber",
            as: "receiver"
        )
        try world.json("sign", chain, as: "receiver")
        let other = try #require(
            try world.json("open", "--scheme", "uk-waste-transfer-note", as: "producer")["chain"]?.text
        )
        let amount = "receivedItems/1/rejectedWeight"
        try world.fails("refused", 1, "close", chain, "delivered", as: "receiver")
        try world.fails("field-invalid", 65, "link", chain, "refused-part", other, "\(amount)=much", as: "receiver")
        try world.fails("refused", 1, "link", chain, "refused-part", other, "\(amount)=2 t", as: "receiver")
        // The other chain is not on this device, so its whole identifier is needed.
        try world.fails(
            "chain-unknown",
            66,
            "link",
            chain,
            "refused-part",
            String(other.suffix(8)),
            "\(amount)=0.94 t",
            as: "receiver"
        )
        try world.json("link", chain, "refused-part", other, "\(amount)=0.94 t", as: "receiver")
        try world.json("close", chain, "delivered", as: "receiver")
        try sync("receiver", "producer", in: world)
        // On the producer's device both are known, and the end of a name is enough.
        let back = try world.tally(
            "link",
            String(other.suffix(8)),
            "was-refused",
            String(chain.suffix(8)),
            as: "producer"
        )
        #expect(!back.output.contains("Next:"), "the other chain says so already")
        try sync("producer", in: world)
        let link = try #require(try world.json("show", chain, as: "producer")["links"]?.elements?.first)
        #expect(link["other"]?.text == other && link["here"]?.boolean == true && link["kind"]?.text == "rejected-to")
        #expect(try world.json("show", other, as: "producer")["badge"]?.text == "confirmed")
    }

    /// The receiver has the load and has said everything but signed; all have synchronised.
    private func delivered(_ world: World) throws -> String {
        let chain = try world.offered()
        try world.json("accept", "offer.png", "--yes", "--from", World.demo("carrier-1"), as: "carrier")
        try world.json("sign", chain, as: "carrier")
        try world.json("offer", chain, "--to", "receiver", "--text", "second.txt", as: "carrier")
        try world.json("accept", "second.txt", "--yes", "--from", World.demo("receiver"), as: "receiver")
        try sync("producer", "carrier", "receiver", "producer", "carrier", in: world)
        return chain
    }
}
