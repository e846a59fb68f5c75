import CommandLineKit
import Foundation
import Testing

@testable import TallyCommand

@Suite("WatchedFolderTests")
struct WatchedFolderTests {
    let folder: URL

    /// A console that shows nothing and asks nobody.
    static let silent = Console(
        Console.Connection(
            write: { _, _ in .written },
            readLine: { nil },
            inputIsTerminal: false,
            outputIsTerminal: false,
            errorIsTerminal: false,
            windowWidth: { nil },
            environment: { _ in nil },
            now: { .now }
        )
    )

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("tally-watch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func write(_ name: String, _ text: String = "x") throws {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name), options: [])
    }

    @Test func tellsWhatArrivedInOrder() throws {
        try write("before.png")
        let watched = try WatchedFolder(folder.path)
        try write("a.png")
        try write(".hidden.png")
        try write("b.jpg")
        var arrived = try watched.next()
        while arrived.count < 2 { arrived += try watched.next() }
        #expect(arrived == ["\(folder.path)/a.png", "\(folder.path)/b.jpg"])
    }

    @Test func whatIsMovedInHasArrivedAndWhatIsOpenHasNot() throws {
        let watched = try WatchedFolder(folder.path)
        try #require(FileManager.default.createFile(atPath: folder.path + "/.open", contents: nil))
        try FileManager.default.moveItem(atPath: folder.path + "/.open", toPath: folder.path + "/whole.png")
        #expect(try watched.next() == ["\(folder.path)/whole.png"])
        let file = open(folder.path + "/half.png", O_CREAT | O_WRONLY, 0o600)
        try #require(file >= 0)
        try #require(Glibc.write(file, "half", 4) == 4)
        try write("other.png")
        #expect(try watched.next() == ["\(folder.path)/other.png"], "half.png is still open")
        close(file)
        #expect(try watched.next() == ["\(folder.path)/half.png"])
    }

    @Test func namesWithAnyBytesAreTold() throws {
        let watched = try WatchedFolder(folder.path)
        let name = "né w\n\(String(repeating: "x", count: 200)).png"
        try write(name)
        #expect(try watched.next() == ["\(folder.path)/\(name)"])
    }

    @Test func aRemovedFolderIsAnError() throws {
        let watched = try WatchedFolder(folder.path)
        try FileManager.default.removeItem(at: folder)
        #expect(throws: CommandError.self) { _ = try watched.next() }
    }

    @Test(arguments: ["/no/such/folder", "/etc/hostname", ""])
    func onlyAFolderCanBeWatched(_ path: String) {
        #expect(throws: CommandError.self) { _ = try WatchedFolder(path) }
    }

    @Test func picturesAreTriedUntilOnePasses() async throws {
        let watched = try WatchedFolder(folder.path)
        for name in ["1.png", "2.png", "3.png"] { try write(name) }
        var tried: [String] = []
        let end = try await watched.firstToPass(on: Self.silent) { path in
            tried.append((path as NSString).lastPathComponent)
            if tried.count < 2 { throw CommandError(exit: .badInput, code: "no-code", message: "no code in it") }
            return .done
        }
        #expect(end == .done)
        #expect(tried == ["1.png", "2.png"])
    }
}
