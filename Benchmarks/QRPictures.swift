import Foundation
import Tallystick
import TallystickQR
import TallystickTestSupport

/// A picture file and what it should be read as.
struct QRPicture {
    /// The group it is counted in.
    let group: String
    let path: String
    /// All the texts in it; none where nothing is to be found.
    let texts: Set<String>
    let pixels: Int

    var name: String { (path as NSString).lastPathComponent }
    var isSmall: Bool { pixels <= 1_600 * 1_600 }
    var is12Megapixel: Bool { pixels == 12_000_000 }
}

/// The pictures that the decoders are compared on.
enum QRPictures {
    /// Code pictures under each kind of damage, written into a folder; the same at every run.
    static func generated(in folder: String, isFast: Bool) throws -> [QRPicture] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var pictures: [QRPicture] = []
        for (version, size) in [(6, 90), (10, 204)] {
            for damage in Damage.all {
                let rounds = isFast ? min(1, damage.rounds) : damage.rounds
                for round in 0..<rounds {
                    let seed = UInt64(version * 1_000 + round)
                    let text = text(bytes: size, seed: seed)
                    let matrix = try QRMatrix(alphanumeric: text)
                    guard matrix.version == version else { throw Workload.Missing() }
                    let picture = try damage.make(matrix.picture(), round, seed)
                    let isLarge = picture.pixels.count > 4_000_000
                    let name = "v\(version)-\(damage.name.replacingOccurrences(of: " ", with: "-"))-\(round)"
                    let path = "\(folder)/\(name).\(isLarge ? "jpg" : "png")"
                    try Data(isLarge ? picture.jpeg(quality: 85) : picture.png()).write(to: URL(fileURLWithPath: path))
                    pictures.append(
                        QRPicture(
                            group: "v\(version) \(damage.name)",
                            path: path,
                            texts: damage.isEmpty ? [] : [text],
                            pixels: picture.pixels.count
                        )
                    )
                }
            }
        }
        return pictures
    }

    /// The photographs of others, where they are; nil where not.
    static func photographs() throws -> [QRPicture]? {
        let environment = ProcessInfo.processInfo.environment["TALLY_FIXTURES"]
        let folder = (environment ?? "../shared/fixtures") + "/qr-photos"
        guard let table = FileManager.default.contents(atPath: folder + "/expected.tsv") else { return nil }
        var texts: [String: Set<String>] = [:]
        for line in String(decoding: table, as: UTF8.self).split(separator: "\n").dropFirst() {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count >= 2 else { continue }
            texts[String(fields[0]), default: []].insert(normal(unescaped(fields[1])))
        }
        return try texts.sorted { $0.key < $1.key }.map { file, texts in
            let path = "\(folder)/\(file)"
            let image = try ImageReader.read([UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
            return QRPicture(group: "photographs", path: path, texts: texts, pixels: image.pixels.count)
        }
    }

    /// The text with line feeds only and without one at the end, as the photographs' README asks.
    static func normal(_ text: String) -> String {
        let unix = text.replacingOccurrences(of: "\r\n", with: "\n")
        return unix.hasSuffix("\n") ? String(unix.dropLast()) : unix
    }

    private static func unescaped(_ field: Substring) -> String {
        let marker = "\u{0}"
        return field.replacingOccurrences(of: "\\\\", with: marker).replacingOccurrences(of: "\\n", with: "\n")
            .replacingOccurrences(of: "\\r", with: "\r").replacingOccurrences(of: "\\t", with: "\t")
            .replacingOccurrences(of: marker, with: "\\")
    }

    private static func text(bytes count: Int, seed: UInt64) -> String {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        let bytes = (0..<count).map { _ -> UInt8 in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 32)
        }
        return CompactCode.prefix + Base45.encode(bytes)
    }
}

/// One kind of damage, as often as it is tried for each version.
private struct Damage: Sendable {
    let name: String
    let rounds: Int
    var isEmpty = false
    let make: @Sendable (_ code: GrayImage, _ round: Int, _ seed: UInt64) throws -> GrayImage

    // Modules are 8 pixels wide, so lengths in modules are eight times as many pixels.
    static let all: [Damage] = tilts + softened + covered + others + small + scenes + empty

    private static let tilts: [Damage] =
        [10.0, 15, 20, 25, 30].map { percent in
            Damage(name: "tilt \(Int(percent)) %", rounds: 8) { code, round, seed in
                // Each of the four sides, twice, turned by some degrees more.
                try PhotoSimulator.photograph(
                    code,
                    tiltPercent: percent,
                    rotationDegrees: Double(round % 4) * 90 + (round < 4 ? 3 : -4),
                    blurSigma: 1,
                    noise: 3,
                    seed: seed
                )
            }
        }

    private static let softened: [Damage] =
        [2.4, 3.2, 4].map { sigma in
            Damage(name: "blur \(sigma / 8) modules", rounds: 4) { code, round, seed in
                try photograph(code, round, seed).blurred(sigma: sigma)
            }
        }
        + [20.0, 40, 60].map { noise in
            Damage(name: "noise \(Int(noise))", rounds: 4) { code, round, seed in
                try PhotoSimulator.noisy(photograph(code, round, seed), noise, seed: seed)
            }
        }

    private static let covered: [Damage] =
        [0.1, 0.15].map { share in
            Damage(name: "glare \(Int(share * 100)) %", rounds: 4) { code, round, seed in
                try PhotoSimulator.glared(
                    photograph(code, round, seed),
                    radius: Double(code.width) * share,
                    seed: seed
                )
            }
        }
        + [0.4, 0.6].map { strength in
            Damage(name: "moire \(strength)", rounds: 4) { code, round, seed in
                try PhotoSimulator.banded(photograph(code, round, seed), strength: strength, seed: seed)
            }
        }

    private static let others: [Damage] =
        [
            Damage(name: "turned 45°", rounds: 4) { code, round, seed in
                try PhotoSimulator.photograph(code, rotationDegrees: 45, blurSigma: 1, noise: 3, seed: seed)
            },
            Damage(name: "moved 1.5 modules", rounds: 4) { code, round, seed in
                try PhotoSimulator.smeared(photograph(code, round, seed), length: 12)
            },
            Damage(name: "contrast 10 levels", rounds: 4) { code, round, seed in
                try PhotoSimulator.faded(photograph(code, round, seed), levels: 10)
            },
            Damage(name: "inverted", rounds: 4) { code, round, seed in
                try photograph(code, round, seed).inverted()
            },
            Damage(name: "quiet zone 1 on dark", rounds: 4) { code, round, seed in
                try photograph(PhotoSimulator.cropped(code, by: 24, ground: 20), round, seed)
            },
            Damage(name: "quiet zone 0.5 on dark", rounds: 4) { code, round, seed in
                try photograph(PhotoSimulator.cropped(code, by: 28, ground: 20), round, seed)
            },
        ]

    private static let small: [Damage] =
        [2.0, 1.5].map { width in
            Damage(name: "\(width) pixels a module", rounds: 4) { code, round, seed in
                let photo = try photograph(code, round, seed)
                func side(_ pixels: Int) -> Int { Int(Double(pixels) * width / 8) }
                return try photo.scaled(width: side(photo.width), height: side(photo.height))
            }
        }

    private static let scenes: [Damage] =
        [10.0, 2].map { area in
            Damage(name: "12 MP, \(Int(area)) %", rounds: 4) { code, round, seed in
                try PhotoSimulator.scene(
                    code,
                    width: 4_000,
                    height: 3_000,
                    areaPercent: area,
                    tiltPercent: 6 + Double(round) * 2,
                    rotationDegrees: Double(round) * 100 + 5,
                    blurSigma: 1.5,
                    noise: 8,
                    seed: seed
                )
            }
        }

    private static let empty: [Damage] =
        [
            Damage(name: "no code", rounds: 2, isEmpty: true) { _, _, seed in
                try PhotoSimulator.photograph(try GrayImage(width: 500, height: 500, shade: 200), noise: 5, seed: seed)
            },
            Damage(name: "no code, 12 MP", rounds: 1, isEmpty: true) { _, _, seed in
                let paper = try GrayImage(width: 500, height: 500, shade: 200)
                return try PhotoSimulator.scene(
                    paper,
                    width: 4_000,
                    height: 3_000,
                    areaPercent: 10,
                    noise: 8,
                    seed: seed
                )
            },
        ]

    /// Nearly straight on, a little soft and noisy: what the damage is done to.
    private static func photograph(_ code: GrayImage, _ round: Int, _ seed: UInt64) throws -> GrayImage {
        try PhotoSimulator.photograph(
            code,
            tiltPercent: 3,
            rotationDegrees: Double(round) * 90 + 4,
            blurSigma: 0.8,
            noise: 2,
            seed: seed
        )
    }
}
