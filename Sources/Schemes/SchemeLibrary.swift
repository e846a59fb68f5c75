import Synchronization
public import Tallystick
public import TallystickCrypto

/// The schemes that a device, a server or a command knows, each read when it is first asked for.
///
/// Reading all that ship takes longer than most commands do otherwise, and most need one of them or none. Copies share
/// what has been read.
public struct SchemeLibrary: Sendable {
    private var books: [Book] = []

    /// Knows nothing.
    public init() {}

    /// Knows schemes that have been read.
    public init(_ schemes: [Scheme]) {
        for scheme in schemes { add(scheme) }
    }

    /// The names, versions and hashes of all, in the order they were added.
    public var references: [SchemeReference] { books.map(\.reference) }

    // MARK: Finding

    /// The scheme of exactly this name, version and hash; nil where it is not known, or cannot be read.
    public func scheme(_ reference: SchemeReference) -> Scheme? {
        books.first { $0.reference == reference }?.scheme
    }

    /// The scheme whose hash begins with these bytes; nil where none does, or it cannot be read.
    public func scheme(prefix: some Sequence<UInt8>) -> Scheme? {
        books.first { $0.reference.hash.bytes.starts(with: prefix) }?.scheme
    }

    /// The newest version of the scheme of this name that can be read, of those that fit.
    public func newest(_ id: Name, where fits: (SchemeReference) -> Bool = { _ in true }) -> Scheme? {
        let versions = books.enumerated().filter { $0.element.reference.id == id && fits($0.element.reference) }
        // Of two with one version the one that came later: it is the server's.
        let order = versions.sorted {
            ($0.element.reference.version, $0.offset) > ($1.element.reference.version, $1.offset)
        }
        for (_, book) in order {
            if let scheme = book.scheme { return scheme }
        }
        return nil
    }

    /// The name and version of the scheme with this hash; nil where it is not known.
    public func reference(of hash: Digest) -> SchemeReference? { references.first { $0.hash == hash } }

    /// The part of the library that fits.
    public func filter(_ fits: (SchemeReference) -> Bool) -> SchemeLibrary {
        var library = self
        library.books.removeAll { !fits($0.reference) }
        return library
    }

    /// Whether this very scheme is known.
    public func contains(_ reference: SchemeReference) -> Bool { books.contains { $0.reference == reference } }

    /// All that can be read, in the order they were added.
    public func all() -> [Scheme] { books.compactMap(\.scheme) }

    // MARK: Adding

    /// Adds a scheme, unless this very one is known.
    public mutating func add(_ scheme: Scheme) { add(Book(scheme.reference, .read(scheme))) }

    /// Adds a scheme by the bytes its hash is taken of.
    ///
    /// Whoever calls this has compared the hash; bytes that are no scheme are found when they are asked for, and then
    /// count as not known.
    public mutating func add(_ reference: SchemeReference, bytes: [UInt8]) { add(Book(reference, .bytes(bytes))) }

    /// Adds all that another library knows.
    public mutating func add(_ other: SchemeLibrary) {
        for book in other.books { add(book) }
    }

    mutating func add(_ shipped: ShippedScheme) {
        if let reference = shipped.reference { add(Book(reference, .shipped(shipped))) }
    }

    private mutating func add(_ book: Book) {
        if !contains(book.reference) { books.append(book) }
    }
}

/// A scheme that is known by name, and read once.
private final class Book: Sendable {
    enum Text {
        case shipped(ShippedScheme)
        case bytes([UInt8])
        case read(Scheme)
        case unreadable
    }

    let reference: SchemeReference
    private let text: Mutex<Text>

    init(_ reference: SchemeReference, _ text: Text) {
        self.reference = reference
        self.text = Mutex(text)
    }

    /// The scheme; nil where what is there is none.
    var scheme: Scheme? {
        text.withLock { text in
            if case .read(let scheme) = text { return scheme }
            guard let scheme = Book.read(text), scheme.reference == reference else {
                text = .unreadable
                return nil
            }
            text = .read(scheme)
            return scheme
        }
    }

    private static func read(_ text: Text) -> Scheme? {
        do throws(SchemeError) {
            return switch text {
            case .shipped(let shipped): try shipped.read()
            case .bytes(let bytes): try Scheme(bytes: bytes)
            case .read(let scheme): scheme
            case .unreadable: nil
            }
        } catch {
            // A version of the language that this program does not know; whoever needs it says that it is unknown.
            return nil
        }
    }
}

extension DecisionContext {
    /// A context that knows the schemes of a library.
    public init(
        stage: Stage,
        schemes: SchemeLibrary,
        mac: @escaping @Sendable (MACQuestion) -> HandoffFinding.MACResult
    ) {
        self.init(
            stage: stage,
            scheme: { reference in schemes.scheme(reference) },
            schemeByPrefix: { prefix in schemes.scheme(prefix: prefix) },
            mac: mac
        )
    }
}
