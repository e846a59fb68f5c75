package import Tallystick
import TallystickCompression
package import TallystickCrypto
import TallystickStore

/// The load as a full code says it: verified with nothing but the authority's key.
package struct ReceivedLoad: Sendable {
    /// The giver's certificate, which the authority has signed.
    package let giver: Certificate
    /// What was stated at each handoff, the newest first, as far as the giver knew.
    package let snapshots: [HandoffSnapshot]
}

extension Device {
    // MARK: Giving

    /// The full code of an offer that this device made and that is still open.
    ///
    /// Earlier snapshots go along as far as they are known here and fit; a taker checks each by the hash that the one
    /// after it names.
    ///
    /// - Throws: ``DeviceError/Code/nothingToDo`` where there is no such offer of this device.
    package func fullCode(of offer: OfferID, in chain: UniqueID) throws -> FullCode {
        try atHome(home.path) {
            try database.snapshot {
                let state = try folded(chain).state
                guard let made = state.offers[offer], made.device == id,
                    let half = HandoffHalf(
                        statement: made.statement,
                        mac: Array(made.offer.mac.bytes.prefix(HandoffHalf.macLength))
                    )
                else {
                    throw DeviceError(
                        .nothingToDo,
                        "expected an offer of this device, got \(offer)",
                        remedy: "make one with “tally offer”"
                    )
                }
                var snapshots = try knownSnapshots(from: made.statement.snapshot, state: state)
                let signature = key.signature(for: made.statement.bytes, domain: HandoffStatement.domain)
                while true {
                    let contents = FullCode.Contents.bytes(certificate: certificate, snapshots: snapshots)
                    let code = FullCode(
                        half: half,
                        signature: signature,
                        dictionary: CodeDictionary.newest,
                        compressed: try Device.compressed(contents)
                    )
                    guard let code, !snapshots.isEmpty else {
                        throw DeviceError(
                            .nothingToDo,
                            "expected the snapshot of offer \(offer)",
                            remedy: "offer again"
                        )
                    }
                    let isCarried = CodeMessage.full(code).bytes.count <= CodePart.longestMessage
                    if isCarried, contents.count <= FullCode.longestContents { return code }
                    guard snapshots.count > 1 else {
                        throw DeviceError(
                            .tooLarge,
                            "the load says more than \(CodePart.mostParts) codes carry",
                            remedy: "offer it without --full: the taker reads the load once both have synced"
                        )
                    }
                    snapshots.removeLast()
                }
            }
        }
    }

    /// The offers of this device in a chain that can be taken now, with what their codes carry, by their ends.
    package func openOffers(in chain: UniqueID) throws -> [(offer: Offer, half: HandoffHalf)] {
        let time = now().milliseconds
        let state = try atHome(home.path) { try database.snapshot { try folded(chain).state } }
        guard state.ending == nil else { return [] }
        // What the load has left cannot be taken any more, whatever its end.
        return state.offers.values.filter {
            $0.leg == state.currentLeg?.event && $0.device == id && $0.end == .open
                && $0.offer.expires.milliseconds > time
        }
        .sorted { $0.offer.expires < $1.offer.expires }
        .compactMap { made in
            HandoffHalf(
                statement: made.statement,
                mac: Array(made.offer.mac.bytes.prefix(HandoffHalf.macLength))
            ).map { (made.offer, $0) }
        }
    }

    /// The bytes of a snapshot and of those before it, newest first, as far as they are known here.
    private func knownSnapshots(from first: Digest, state: ChainState) throws -> [[UInt8]] {
        var snapshots: [[UInt8]] = []
        var wanted: Digest? = first
        while let hash = wanted, snapshots.count < 63 {
            let kept = try database.first("SELECT bytes FROM snapshots WHERE hash = ?", hash.hex) { row in
                try row.blob(0)
            }
            guard let bytes = kept ?? state.handoffSnapshot(withHash: hash)?.bytes else { break }
            snapshots.append(bytes)
            wanted = try HandoffSnapshot(bytes: bytes).received
        }
        return snapshots
    }

    private static func compressed(_ bytes: [UInt8]) throws -> [UInt8] {
        guard let dictionary = CodeDictionary.bytes(version: CodeDictionary.newest) else {
            throw DeviceError(.badInput, "expected the newest dictionary", remedy: "install the program again")
        }
        return try RawDeflate.compress(bytes, dictionary: dictionary)
    }

    private static func decompressed(_ bytes: [UInt8], dictionary version: UInt8, limit: Int) throws -> [UInt8] {
        guard let dictionary = CodeDictionary.bytes(version: version) else {
            throw DeviceError(
                .needsNewerVersion,
                "the code uses dictionary \(version), which is not known here",
                remedy: "install a newer version of the program"
            )
        }
        do throws(CompressionError) {
            return try RawDeflate.decompress(bytes, dictionary: dictionary, limit: limit)
        } catch {
            throw DeviceError(.badCode, "the code is damaged: \(error.message)", remedy: "scan it again")
        }
    }

    // MARK: Taking

    /// Reads a full code and verifies giver, authority, signature and load with no network and no earlier sync.
    ///
    /// - Throws: ``DeviceError/Code/badCode`` with every reason for which it must not be believed.
    package func load(in code: FullCode) throws -> ReceivedLoad {
        let bytes = try Device.decompressed(
            code.compressed,
            dictionary: code.dictionary,
            limit: FullCode.longestContents
        )
        let contents: FullCode.Contents
        do {
            contents = try FullCode.Contents(bytes: bytes)
        } catch {
            throw DeviceError(.badCode, "the code is damaged: \(error)", remedy: "scan it again")
        }
        let faults = code.faults(in: contents, authority: try authority(), at: now())
        guard faults.isEmpty else {
            throw DeviceError(
                .badCode,
                "the code must not be believed: \(faults.map(\.code.description).joined(separator: ", "))",
                remedy: "do not take the load on this code; ask the giver to offer again",
                reasons: faults
            )
        }
        return ReceivedLoad(giver: contents.certificate, snapshots: contents.snapshots)
    }

    /// Keeps what a full code said, in the transaction that accepts it.
    func keep(_ load: ReceivedLoad) throws {
        try Device.store(load.giver, in: database)
        for snapshot in load.snapshots { try keep(snapshot.bytes, of: snapshot.chain, hash: snapshot.hash) }
    }

    func keep(_ snapshot: [UInt8], of chain: UniqueID, hash: Digest) throws {
        try database.run(
            "INSERT INTO snapshots (hash, chain, bytes) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING",
            hash.hex,
            chain.description,
            snapshot
        )
    }

    /// The authority that this device was enrolled under.
    package func authority() throws -> PublicKey {
        try atHome(home.path) {
            let bytes = try database.first("SELECT authority FROM sync") { row in try row.blob(0) }
            guard let key = bytes.flatMap({ PublicKey(bytes: $0) }) else {
                throw StoreError(.corrupt, "expected the server's authority")
            }
            return key
        }
    }

    // MARK: Replies

    /// The reply to the offer that this device answered last in a chain, alone and with its certificate.
    ///
    /// - Throws: ``DeviceError/Code/nothingToDo`` where it has answered none.
    package func reply(in chain: UniqueID) throws -> (reply: HandoffReply, full: FullReply) {
        try atHome(home.path) {
            let lines = try database.query(
                "SELECT line FROM events WHERE chain = ? AND own = 1 ORDER BY row DESC",
                chain.description
            ) { row in try row.blob(0) }
            for line in lines {
                let event = try SignedEvent(line: line).event
                let answer: (half: HandoffHalf, isAcceptance: Bool)
                switch event.content {
                case .handoffAccepted(let half): answer = (half, true)
                case .handoffDeclined(let half, _): answer = (half, false)
                default: continue
                }
                let reply = HandoffReply(
                    isAcceptance: answer.isAcceptance,
                    statement: answer.half.statement,
                    at: event.at,
                    event: event.hash,
                    by: key
                )
                guard let reply else { break }
                let full = FullReply(
                    reply: reply,
                    dictionary: CodeDictionary.newest,
                    compressed: try Device.compressed(certificate.line)
                )
                return (reply, full)
            }
            throw DeviceError(
                .nothingToDo,
                "expected a chain in which this device answered an offer",
                remedy: "accept or decline one first"
            )
        }
    }

    /// What a giver learned from a taker's reply.
    package struct Acknowledged: Sendable {
        /// What was saved.
        package let said: Said
        /// The taker's certificate.
        package let taker: Certificate
        /// The reply.
        package let reply: HandoffReply
    }

    /// Verifies a taker's reply offline and says in the chain that both halves are held.
    ///
    /// - Parameters:
    ///   - reply: The reply.
    ///   - certificate: The taker's certificate, where it came along; else the one known here is used.
    /// - Throws: ``DeviceError/Code/badCode`` where it is not the taker's, or the taker is not known;
    ///   ``DeviceError/Code/nothingToDo`` where it answers no offer of this device; ``DeviceError/Code/refused``.
    package func acknowledge(_ reply: HandoffReply, certificate: Certificate? = nil) throws -> Acknowledged {
        let taker = try takerCertificate(of: reply, given: certificate)
        guard reply.isSigned(by: taker.key) else {
            throw DeviceError(
                .badCode,
                "the reply is not signed by device \(taker.device)",
                remedy: "ask the taker to show the reply again"
            )
        }
        let chain = try chain(ofOwn: reply.offer)
        let said = try say(chain) { folded in
            guard let offer = folded.state.offers[reply.offer], let leg = folded.state.leg(offer.leg),
                taker.roles.contains(offer.offer.to)
            else {
                throw DeviceError.refused(
                    "handoff.acknowledged",
                    [Reason(.roleNotHeld, taker.device.description, "the offer is to another role")]
                )
            }
            try Device.store(taker, in: database)
            return [Word(role: leg.role, .handoffAcknowledged(reply))]
        }
        return Acknowledged(said: said, taker: taker, reply: reply)
    }

    /// Reads and verifies the certificate that came with a reply.
    package func certificate(in reply: FullReply) throws -> Certificate {
        let line = try Device.decompressed(reply.compressed, dictionary: reply.dictionary, limit: 16_384)
        do {
            return try Certificate(line: line)
        } catch {
            throw DeviceError(.badCode, "the code is damaged: \(error)", remedy: "scan it again")
        }
    }

    private func takerCertificate(of reply: HandoffReply, given: Certificate?) throws -> Certificate {
        if let given {
            guard given.isSigned(by: try authority()), given.device.bytes.starts(with: reply.devicePrefix) else {
                throw DeviceError(
                    .badCode,
                    "the certificate in the reply is not the taker's, or not from this device's authority",
                    remedy: "do not hand the load over on this reply"
                )
            }
            return given
        }
        let lines = try atHome(home.path) {
            try database.query("SELECT line FROM certificates ORDER BY serial DESC") { row in try row.blob(0) }
        }
        for line in lines {
            let certificate = try Certificate(line: line)
            if certificate.device.bytes.starts(with: reply.devicePrefix), reply.isSigned(by: certificate.key) {
                return certificate
            }
        }
        throw DeviceError(
            .badCode,
            "the taker's device is not known here, so the reply cannot be verified offline",
            remedy: "ask for the full reply (“tally accept --reply” without --compact), or sync first"
        )
    }

    private func chain(ofOwn offer: OfferID) throws -> UniqueID {
        let chains = try atHome(home.path) {
            try database.query("SELECT chain FROM chains") { row in UniqueID(try row.text(0)) }
        }
        for case .some(let chain) in chains {
            let state = try atHome(home.path) { try database.snapshot { try folded(chain).state } }
            if state.offers[offer]?.device == id { return chain }
        }
        throw DeviceError(
            .nothingToDo,
            "the reply answers offer \(offer), which this device did not make",
            remedy: "show it to the device that made the offer"
        )
    }

    // MARK: Challenges

    /// Makes a challenge for the giver to answer, for a few minutes.
    package func challenge(lasting seconds: Int) throws -> HandoffChallenge {
        let challenge = HandoffChallenge(
            random: random(HandoffChallenge.length),
            expires: now().seconds + Int64(min(max(seconds, 30), 3_600))
        )
        guard let challenge else {
            throw DeviceError(.badInput, "expected a challenge that ends in this era", remedy: "correct the clock")
        }
        try atHome(home.path) {
            try database.run(
                "INSERT INTO challenges (offer, random, expires) VALUES (?, ?, ?)",
                challenge.offer?.description ?? "",
                challenge.random,
                Int(challenge.expires)
            )
        }
        return challenge
    }

    /// How an offer stands to the challenges of this device.
    package enum ChallengeStanding: Sendable, Equatable {
        /// It answers none, and none is open.
        case none
        /// It answers a challenge of this device that is still open.
        case answered
        /// It answers a challenge of this device that has ended.
        case ended
        /// It answers somebody else's challenge.
        case foreign
        /// It answers none although one of this device is open.
        case unanswered
    }

    /// How an offer stands to the challenges of this device.
    package func standing(of statement: HandoffStatement) throws -> ChallengeStanding {
        try atHome(home.path) {
            let time = Int(now().seconds)
            let end = try database.first(
                "SELECT expires FROM challenges WHERE offer = ?",
                statement.offer.description
            ) { row in try row.int(0) }
            if let end { return end > time ? .answered : .ended }
            if statement.isChallenged { return .foreign }
            let isOpen = try database.first("SELECT 1 FROM challenges WHERE expires > ?", time) { _ in true }
            return isOpen == true ? .unanswered : .none
        }
    }

    /// How far an offer's end can be judged by this device's clock.
    package enum ClockStanding: Sendable, Equatable {
        /// The offer is open.
        case valid
        /// It has ended.
        case expired
        /// The clock of this device cannot be right, or the giver's cannot: what it says is recorded, the server decides.
        case doubtful(String)
    }

    /// How far an offer's end can be judged by this device's clock; five minutes either way are nobody's fault.
    package func clockStanding(of statement: HandoffStatement) throws -> ClockStanding {
        let time = now().seconds
        if statement.expires > time + 86_400 + 300 {
            return .doubtful("the offer ends more than a day from now by this device's clock")
        }
        let last = try outbox().lastSuccess
        if let last, time < last.seconds - 300 {
            return .doubtful("this device's clock is behind the time of its last sync")
        }
        return time >= statement.expires ? .expired : .valid
    }
}
