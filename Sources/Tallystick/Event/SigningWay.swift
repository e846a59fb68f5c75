public import TallystickCrypto

/// How a signature was given.
public enum SigningWay: Sendable, Equatable {
    /// By the party that has the role, on its own device.
    case own
    /// By another party in the place of this one, which had let it.
    case delegate(of: UniqueID)
    /// On paper, of which the author holds a picture and says so.
    case paper(PaperSignature)

    /// The party in whose place the author signs.
    public var principal: UniqueID? {
        if case .delegate(let party) = self { party } else { nil }
    }

    /// What the author says of a signature on paper.
    public var paper: PaperSignature? {
        if case .paper(let paper) = self { paper } else { nil }
    }

    init(_ reader: inout MemberReader) throws(EventError) {
        if let principal = reader.takeOptional("for") {
            guard let party = principal.text.flatMap({ UniqueID($0) }) else {
                throw .malformed("for", "a party's identifier")
            }
            self = .delegate(of: party)
        } else if let paper = reader.takeOptional("paper") {
            self = .paper(try PaperSignature(paper))
        } else {
            self = .own
        }
    }
}

/// A signature on paper: whose it is, and the picture that shows it.
public struct PaperSignature: Sendable, Equatable {
    /// When it was given, as the paper says; nil where it does not.
    public let at: Timestamp?
    /// SHA-256 of the picture.
    public let picture: Digest
    /// Who signed, as the paper says.
    public let signer: String

    /// States a signature on paper.
    public init(at: Timestamp?, picture: Digest, signer: String) {
        self.at = at
        self.picture = picture
        self.signer = signer
    }

    init(_ json: JSON) throws(EventError) {
        var reader = try MemberReader(json, of: "the paper")
        at = try reader.takeOptionalTimestamp("at")
        picture = try reader.take("picture", Digest.init(hex:))
        signer = try reader.takeSentence("signer", mayBeEmpty: false)
        try reader.finish()
    }

    /// As events carry it.
    var json: JSON {
        .members([
            ("at", at.map { .string($0.description) }), ("picture", .string(picture.hex)), ("signer", .string(signer)),
        ])
    }
}

/// What an event says of having been written down earlier: when, why late, and the paper it stood on.
public struct LateEntry: Sendable, Equatable {
    /// When it happened, or was written on paper.
    public let at: Timestamp
    /// SHA-256 of a picture of the paper, where there is one.
    public let paper: Digest?
    /// Why it was not entered then.
    public let why: String

    /// States an original time.
    public init(at: Timestamp, paper: Digest?, why: String) {
        self.at = at
        self.paper = paper
        self.why = why
    }

    init(_ json: JSON) throws(EventError) {
        var reader = try MemberReader(json, of: "the late entry")
        at = try reader.take("at", Timestamp.init(_:))
        let paper = reader.takeOptional("paper")
        self.paper = paper?.text.flatMap { Digest(hex: $0) }
        guard (paper == nil) == (self.paper == nil) else {
            throw .malformed("paper", "a hash of 64 hexadecimal digits")
        }
        why = try reader.takeSentence("why", mayBeEmpty: false)
        try reader.finish()
    }

    /// As events carry it.
    var json: JSON {
        .members([
            ("at", .string(at.description)), ("paper", paper.map { .string($0.hex) }), ("why", .string(why)),
        ])
    }
}

/// A chain's tie to another.
public struct ChainLink: Sendable, Equatable {
    /// The link's name in the scheme.
    public let link: Name
    /// The other chain.
    public let chain: UniqueID
    /// How much of each row goes into the other chain, where the link divides amounts.
    public let amounts: [EventContent.FieldChange]
    /// Why; may be empty.
    public let why: String

    /// States a tie.
    public init(link: Name, chain: UniqueID, amounts: [EventContent.FieldChange] = [], why: String = "") {
        self.link = link
        self.chain = chain
        self.amounts = amounts
        self.why = why
    }

    var body: JSON {
        .members([
            ("amounts", EventContent.values(amounts)), ("chain", .string(chain.description)),
            ("link", .string(link.text)), ("why", .string(why)),
        ])
    }
}

extension MemberReader {
    fileprivate mutating func takeOptionalTimestamp(_ name: String) throws(EventError) -> Timestamp? {
        guard let value = takeOptional(name) else { return nil }
        guard let at = value.text.flatMap({ Timestamp($0) }) else { throw .malformed(name, "a moment") }
        return at
    }
}
