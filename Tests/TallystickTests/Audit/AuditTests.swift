import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// What an audit finds in records that their own authority has rewritten and sealed again.
@Suite struct AuditTests {
    /// The record, each line changed on the way, sealed with the authority's key.
    private func rewritten(
        _ told: Stories.Told,
        certificate: (Certificate) throws -> Certificate = { $0 },
        entry: (LogEntry) -> LogEntry = { $0 }
    ) throws -> [UInt8] {
        let record = try told.referee.record(of: told.teller.chain, at: told.teller.clock.now)
        var writer: RecordWriter?
        for line in record.split(separator: 0x0A) {
            switch try Record.read(line: Array(line)) {
            case .header(let header): writer = try RecordWriter(header)
            case .scheme(let scheme): writer?.append(scheme)
            case .certificate(let line): writer?.append(try certificate(line))
            case .event(let event): writer?.append(event)
            case .entry(let line): try writer?.append(entry(line))
            case .seal: break
            }
        }
        var sealing = try present(writer)
        return try sealing.sealed(by: told.teller.authority)
    }

    private func findings(_ record: [UInt8], _ told: Stories.Told) -> [String] {
        Audit.report(on: record, trusting: told.teller.authority.publicKey).findings.map {
            "\($0.subject.rawValue) \($0.code)"
        }
    }

    @Test(arguments: Stories.all.map(\.name)) func findsNothingInWhatWasOnlySealedAgain(name: String) throws {
        let told = try #require(Stories.all.first { $0.name == name }).tell()
        let record = try rewritten(told)
        #expect(try record == told.referee.record(of: told.teller.chain, at: told.teller.clock.now))
        #expect(findings(record, told).isEmpty)
    }

    /// The authority signs another certificate for a device: valid, but not the one that its log names.
    @Test func findsACertificateThatWasSignedAgain() throws {
        let told = try Stories.plain()
        let carrier = told.teller.certificates[1]
        let other = try Certificate(
            Certificate.Draft(
                key: carrier.key,
                notBefore: carrier.notBefore,
                notAfter: carrier.notAfter,
                party: carrier.party,
                partyName: "Somebody Else Ltd",
                person: carrier.person,
                roles: carrier.roles,
                serial: carrier.serial
            ),
            by: told.teller.authority
        )
        let record = try rewritten(told, certificate: { $0.device == carrier.device ? other : $0 })
        #expect(findings(record, told) == ["certificates certificate-differs"])
        let finding = try #require(Audit.report(on: record).findings.first)
        #expect(finding.message.contains(carrier.device.description))
        #expect(finding.line != nil)
    }

    /// Nothing says that a certificate stands before the entry about it: the comparison must not depend on that.
    @Test func findsACertificateThatWasSignedAgainAfterItsEntry() throws {
        let told = try Stories.plain()
        let entry = LogEntry(
            position: 1_000,
            content: .certificate(SHA256.hash([]), device: told.teller.certificates[0].device)
        )
        let record = try told.referee.record(of: told.teller.chain, at: told.teller.clock.now)
        var lines = try record.split(separator: 0x0A).map { try Record.read(line: Array($0)) }
        let place = try #require(lines.firstIndex { if case .certificate = $0 { true } else { false } })
        // The entry first; then positions only grow where all others are above it.
        let first = LogEntry(position: 1, content: entry.content)
        lines.removeAll {
            if case .entry(let line) = $0, line.position == 1 { true } else { false }
        }
        lines.insert(.entry(first), at: place)
        var writer: RecordWriter?
        for line in lines {
            switch line {
            case .header(let header): writer = try RecordWriter(header)
            case .scheme(let scheme): writer?.append(scheme)
            case .certificate(let certificate): writer?.append(certificate)
            case .event(let event): writer?.append(event)
            case .entry(let entry): try writer?.append(entry)
            case .seal: break
            }
        }
        var sealing = try present(writer)
        #expect(
            findings(try sealing.sealed(by: told.teller.authority), told) == ["certificates certificate-differs"]
        )
    }

    /// The server says to have received an event before one that its log has first.
    @Test(arguments: [-1, 0, 1]) func findsATimeOfReceiptThatWentBack(milliseconds: Int64) throws {
        let told = try Stories.plain()
        let verdicts: [LogEntry.EventVerdict] = told.referee.log.compactMap { line in
            guard case .entry(let entry) = line, case .verdict(let verdict) = entry.content else { return nil }
            return verdict
        }
        let last = try #require(verdicts.last)
        let before = try #require(verdicts.dropLast().last).received
        let moved = try #require(Timestamp(milliseconds: before.milliseconds + milliseconds))
        let record = try rewritten(
            told,
            entry: { entry in
                guard case .verdict(let verdict) = entry.content, verdict.event == last.event else { return entry }
                let changed = LogEntry.EventVerdict(
                    chain: verdict.chain,
                    event: verdict.event,
                    number: verdict.number,
                    received: moved,
                    verdict: verdict.verdict
                )
                return LogEntry(position: entry.position, content: .verdict(changed))
            }
        )
        #expect(findings(record, told) == (milliseconds < 0 ? ["entries time-order"] : []))
        if milliseconds < 0 {
            let finding = try #require(Audit.report(on: record).findings.first)
            #expect(finding.event == last.event.hex)
            #expect(finding.message.contains(moved.description) && finding.message.contains(before.description))
        }
    }

    /// An event that waited is settled later with the time it came at; that is no way back.
    @Test func takesTheTimesOfEventsThatWaited() throws {
        let told = try Stories.lateArrivals()
        let received: [Int64] = told.referee.log.compactMap { line in
            guard case .entry(let entry) = line, case .verdict(let verdict) = entry.content else { return nil }
            return verdict.received.milliseconds
        }
        #expect(received != received.sorted())
        #expect(findings(try rewritten(told), told).isEmpty)
    }
}
