import Foundation
import TallystickCrypto
import Testing

@Suite struct KeyFileTests {
    @Test func readsBackWhatItCreatedForItsOwnerAlone() throws {
        try inFolder { folder in
            let path = folder + "/device.key"
            let contents = SecureRandom.bytes(10_000)
            try KeyFile.create(contents, at: path)
            #expect(try KeyFile.read(path, limit: 10_000) == contents)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func readsAnEmptyFile() throws {
        try inFolder { folder in
            try KeyFile.create([], at: folder + "/key")
            #expect(try KeyFile.read(folder + "/key", limit: 0) == [])
        }
    }

    @Test func refusesToReplaceAFileAndLeavesItAsItWas() throws {
        try inFolder { folder in
            let path = folder + "/key"
            try KeyFile.create([1], at: path)
            #expect(code { try KeyFile.create([2], at: path) } == .fileExists)
            #expect(try KeyFile.read(path, limit: 1) == [1])
        }
    }

    @Test func refusesToCreateThroughADanglingLink() throws {
        try inFolder { folder in
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/key",
                withDestinationPath: folder + "/elsewhere"
            )
            #expect(code { try KeyFile.create([1], at: folder + "/key") } == .fileExists)
            #expect(!FileManager.default.fileExists(atPath: folder + "/elsewhere"))
        }
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o666, 0o777])
    func refusesAFileOthersCanUseAndSaysWhatToDo(mode: Int) throws {
        try inFolder { folder in
            let path = folder + "/key"
            try KeyFile.create([1, 2, 3], at: path)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            let error = #expect(throws: CryptoError.self) { try KeyFile.read(path, limit: 100) }
            #expect(error?.code == .fileExposed)
            #expect(error?.message.contains("its mode is \(String(mode, radix: 8))") == true)
            #expect(error?.message.hasSuffix("run: chmod 600 \(path)") == true)
        }
    }

    @Test(arguments: [0o600, 0o400, 0o700]) func readsAFileOnlyItsOwnerCanUse(mode: Int) throws {
        try inFolder { folder in
            let path = folder + "/key"
            try KeyFile.create([7], at: path)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            #expect(try KeyFile.read(path, limit: 100) == [7])
        }
    }

    @Test(arguments: [0, 1, 4095, 4096, 8999]) func refusesAFileAboveTheLimit(limit: Int) throws {
        try inFolder { folder in
            let path = folder + "/key"
            try KeyFile.create([UInt8](repeating: 1, count: 9000), at: path)
            #expect(code { try KeyFile.read(path, limit: limit) } == .fileTooLarge)
            #expect(try KeyFile.read(path, limit: .max).count == 9000)
            #expect(code { try KeyFile.read(path, limit: -1) } == .wrongLength)
        }
    }

    @Test func namesAFileThatIsNotThere() throws {
        try inFolder { folder in
            let error = #expect(throws: CryptoError.self) { try KeyFile.read(folder + "/none", limit: 1) }
            #expect(error?.code == .fileNotFound)
            #expect(error?.description.contains(folder + "/none") == true)
            #expect(code { try KeyFile.create([1], at: folder + "/none/key") } == .fileFailed)
            #expect(code { try KeyFile.create([1], at: "") } == .fileFailed)
        }
    }

    @Test func refusesWhatIsNoRegularFileWithoutWaitingForIt() throws {
        try inFolder { folder in
            #expect(mkfifo(folder + "/pipe", 0o600) == 0)
            #expect(code { try KeyFile.read(folder + "/pipe", limit: 1) } == .fileFailed)
            #expect(code { try KeyFile.read(folder, limit: 1) } == .fileFailed)
        }
    }

    @Test func refusesAPathThatAZeroByteWouldEndEarly() throws {
        try inFolder { folder in
            #expect(code { try KeyFile.create([1], at: folder + "/key\u{0}.txt") } == .badPath)
            #expect(code { try KeyFile.read(folder + "/key\u{0}.txt", limit: 1) } == .badPath)
            let left = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(left.isEmpty)
        }
    }

    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }

    private func code(_ body: () throws -> Void) -> CryptoError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? CryptoError)?.code
        }
    }

    private func code(_ body: () throws -> [UInt8]) -> CryptoError.Code? {
        code { () throws -> Void in _ = try body() }
    }
}
