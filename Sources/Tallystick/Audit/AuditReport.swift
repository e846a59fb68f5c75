import TallystickCrypto

/// What an audit of a record found: every check with its count, and every finding with its evidence.
public struct AuditReport: Sendable {
    /// The checks, in the order they are reported.
    public internal(set) var checks: [Check]
    /// What was found wrong.
    public internal(set) var findings: [Finding]
    /// The record's header, if it could be read.
    public internal(set) var header: Record.Header?
    /// The chain's state as the audit folded it.
    public internal(set) var state: ChainState?
    /// The certificates that the record carries and its authority signed.
    public internal(set) var certificates: [Certificate]
    /// How many events the record has.
    public internal(set) var events: Int
    /// How many of them were accepted, refused and still waiting, by the audit's own decisions.
    public internal(set) var outcomes: [Verdict.Outcome: Int]
    /// Whether the authority's key came from the record itself instead of a trusted file.
    public let trustsRecord: Bool

    /// Whether nothing was found wrong.
    public var isClean: Bool { findings.isEmpty }

    /// One kind of check.
    public enum Subject: String, Sendable, CaseIterable {
        /// Every line is canonical JSON of a known kind, in the right order.
        case lines
        /// The seal covers every line.
        case seal
        /// Certificates are the authority's.
        case certificates
        /// Events are signed by their devices.
        case signatures
        /// Entries follow each other without gaps.
        case entries
        /// Parents, sequences and every rule: each event is decided again and the verdict is the same.
        case decisions
        /// Both halves of each handoff match.
        case handoffs
        /// The MACs of offers.
        case macs
        /// The Merkle log's proofs.
        case inclusion
        /// The interval in which each event was made.
        case times

        /// What a person calls the check.
        public var title: String {
            switch self {
            case .lines: "lines are canonical and in order"
            case .seal: "seal over the whole record"
            case .certificates: "certificates are the authority's"
            case .signatures: "events are signed by their devices"
            case .entries: "the log's entries have no gap"
            case .decisions: "every event decided again, same verdict"
            case .handoffs: "both halves of each handoff match"
            case .macs: "MACs of offers"
            case .inclusion: "inclusion in the public log"
            case .times: "time intervals from checkpoints"
            }
        }
    }

    /// A check and how it went.
    public struct Check: Sendable {
        /// What was checked.
        public let subject: Subject
        /// How many things were checked.
        public internal(set) var count: Int
        /// How many of them were found wrong.
        public internal(set) var failures: Int
        /// Why it was not done, if it was not.
        public internal(set) var notDone: String?
    }

    /// Something that is wrong.
    public struct Finding: Sendable {
        /// The check that found it.
        public let subject: Subject
        /// The stable code.
        public let code: String
        /// The record's line, from 1.
        public let line: Int?
        /// The event it is about: its hash, or as much as could be made out.
        public let event: String?
        /// What is wrong.
        public let message: String
    }

    init(trustsRecord: Bool) {
        checks = Subject.allCases.map { Check(subject: $0, count: 0, failures: 0, notDone: nil) }
        findings = []
        certificates = []
        events = 0
        outcomes = [:]
        self.trustsRecord = trustsRecord
    }

    mutating func count(_ subject: Subject) {
        if let index = checks.firstIndex(where: { $0.subject == subject }) { checks[index].count += 1 }
    }

    mutating func skip(_ subject: Subject, because why: String) {
        if let index = checks.firstIndex(where: { $0.subject == subject }) { checks[index].notDone = why }
    }

    mutating func find(_ subject: Subject, _ code: String, line: Int?, event: String? = nil, _ message: String) {
        if let index = checks.firstIndex(where: { $0.subject == subject }) { checks[index].failures += 1 }
        findings.append(Finding(subject: subject, code: code, line: line, event: event, message: message))
    }
}
