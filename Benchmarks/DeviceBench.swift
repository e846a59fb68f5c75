import Foundation
import Schemes
import Tallystick
import TallystickCrypto
import TallystickDevice
import TallystickServer
import TallystickStore

/// A device's appends against the same rows written to the same tables by SQLite alone.
enum DeviceBench {
    static func run(in folder: Folder, rounds: Int) throws {
        let work = try Workload()
        let schemes = [work.scheme]
        let store = try ServerStore.create(
            path: "\(folder.path)/enrol.sqlite",
            origin: "bench",
            schemes: schemes,
            random: { SecureRandom.bytes($0) }
        )
        let server = Server(store: store, clock: { work.start })
        try server.start(address: "127.0.0.1", port: 0)
        defer { server.stop() }
        let address = "http://127.0.0.1:\(server.port ?? 0)"
        let code = try store.invite(party: "Producer", roles: [work.producer], validFor: 3_600, now: work.start)
        let device = try Device.enrol(
            home: DeviceHome(path: "\(folder.path)/home"),
            server: address,
            code: code,
            transport: try Transport.network(server: address),
            schemes: schemes,
            clock: { work.start },
            random: { SecureRandom.bytes($0) }
        )
        let rawPath = "\(folder.path)/raw.sqlite"
        for suffix in ["", "-wal"]
        where FileManager.default.fileExists(atPath: "\(folder.path)/home/device.sqlite\(suffix)") {
            try FileManager.default.copyItem(
                atPath: "\(folder.path)/home/device.sqlite\(suffix)",
                toPath: rawPath + suffix
            )
        }
        let raw = try Database(path: rawPath, mode: .open)
        let flush = try flushRate(in: folder)

        let perRound = 100
        var deviceRates: [Double] = []
        var rawRates: [Double] = []
        for round in 0..<rounds {
            let chain = try device.openChain(scheme: work.scheme.reference.id).chain
            let ours = try Figures.seconds {
                for number in 0..<perRound { _ = try device.set(chain, try work.values(round * perRound + number)) }
            }
            let lines = try work.lines(perRound, perChain: perRound, key: SigningKey.generate())
            let rows = try lines.map { line in (try SignedEvent(line: line).event, line) }
            let theirs = try Figures.seconds { for (event, line) in rows { try append(event, line, to: raw) } }
            deviceRates.append(Double(perRound) / ours)
            rawRates.append(Double(perRound) / theirs)
        }
        Figures.heading(
            "Device append, one event a transaction, WAL and synchronous=FULL, \(rounds) interleaved rounds"
        )
        Figures.line("this disk: write and fdatasync 4 KiB", flush, "a second")
        Figures.line("SQLite alone: the same rows, tables and indexes", Figures.median(rawRates), "events/s")
        Figures.line("device: make, decide, sign, fold, save", Figures.median(deviceRates), "events/s")
        let ratios = zip(deviceRates, rawRates).map { $0 / $1 }
        Figures.line("ratio (goal 0.8)", Figures.median(ratios), "of SQLite alone")
    }

    private static func append(_ event: Event, _ line: [UInt8], to raw: Database) throws {
        try raw.transaction {
            try raw.run(
                "INSERT INTO events (hash, chain, device, seq, line, line_hash, own) VALUES (?, ?, ?, ?, ?, ?, 1)",
                event.hash.hex,
                event.chain.description,
                event.device.description,
                event.seq,
                line,
                event.hash.hex
            )
            try raw.run("INSERT INTO outbox (event, chain) VALUES (?, ?)", event.hash.hex, event.chain.description)
            try raw.run(
                """
                INSERT INTO chains (chain, updated, summary) VALUES (?1, ?2, ?3)
                ON CONFLICT (chain) DO UPDATE SET updated = ?2, summary = ?3
                """,
                event.chain.description,
                event.at.description,
                line
            )
        }
    }

    private static func flushRate(in folder: Folder) throws -> Double {
        let path = "\(folder.path)/flush"
        guard FileManager.default.createFile(atPath: path, contents: nil) else { throw Workload.Missing() }
        let descriptor = open(path, O_WRONLY)
        defer { close(descriptor) }
        let block = [UInt8](repeating: 7, count: 4_096)
        let count = 100
        let time = Figures.seconds {
            for _ in 0..<count {
                _ = write(descriptor, block, block.count)
                fdatasync(descriptor)
            }
        }
        return Double(count) / time
    }
}
