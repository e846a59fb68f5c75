// swift-tools-version: 6.2
import PackageDescription

/// The settings tests are built with: the language as it will be, and no warnings.
let checked: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// The settings the product is built with: those, and a mark on every unsafe call.
var strict: [SwiftSetting] = checked + [.strictMemorySafety()]

func library(_ name: String, package: String, pkgConfig: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies + ["TallystickTestSupport"], swiftSettings: checked)
}

// script/fuzz sets it: coverage for libFuzzer and the address sanitizer, which only a root package may ask for.
let isFuzzed = Context.environment["TALLY_FUZZ"] != nil
let sanitizers = ["-sanitize=fuzzer,address"]
if isFuzzed { strict.append(.unsafeFlags(sanitizers)) }

let package = Package(
    name: "tallystick",
    products: [
        .library(name: "Tallystick", targets: ["Tallystick"]),
        .executable(name: "tally", targets: ["TallyCommand"]),
        .executable(name: "tally-photograph", targets: ["TallyPhotograph"]),
        .executable(name: "tally-bench", targets: ["TallyBench"]),
    ],
    targets: [
        // C libraries, one folder each; each is imported by exactly one Swift target.
        library("CSQLite", package: "libsqlite3-dev", pkgConfig: "sqlite3"),
        library("COpenSSL", package: "libssl-dev", pkgConfig: "libcrypto"),
        library("CSodium", package: "libsodium-dev", pkgConfig: "libsodium"),
        library("CQREncode", package: "libqrencode-dev", pkgConfig: "libqrencode"),
        library("CZBar", package: "libzbar-dev", pkgConfig: "zbar"),
        library("CPNG", package: "libpng-dev", pkgConfig: "libpng"),
        library("CTurboJPEG", package: "libturbojpeg0-dev", pkgConfig: "libturbojpeg"),
        library("CMicroHTTPD", package: "libmicrohttpd-dev", pkgConfig: "libmicrohttpd"),
        library("CCurl", package: "libcurl4-openssl-dev", pkgConfig: "libcurl"),
        library("CZlib", package: "zlib1g-dev", pkgConfig: "zlib"),
        // Calls of the system that Swift cannot make by itself.
        .systemLibrary(name: "CLinux"),

        // Bytes in, bytes out.
        .target(name: "TallystickCrypto", dependencies: ["COpenSSL", "CSodium"], swiftSettings: strict),
        .target(name: "TallystickCompression", dependencies: ["CZlib"], swiftSettings: strict),
        // The engine: pure values.
        .target(name: "Tallystick", dependencies: ["TallystickCrypto"], swiftSettings: strict),
        // The schemes that ship.
        .target(
            name: "Schemes",
            dependencies: ["Tallystick", "TallystickCrypto"],
            exclude: [
                "evidence-item", "laboratory-sample", "uk-hazardous-consignment-note", "uk-waste-transfer-note",
                "us-hazardous-waste-manifest",
            ],
            swiftSettings: strict
        ),
        // The outside worlds, one target each.
        .target(
            name: "TallystickStore",
            dependencies: ["CSQLite", "Tallystick", "TallystickCrypto"],
            swiftSettings: strict
        ),
        .target(
            name: "TallystickQR",
            dependencies: ["CLinux", "CQREncode", "CZBar", "CPNG", "CTurboJPEG", "Tallystick", "TallystickCrypto"],
            swiftSettings: strict
        ),
        .target(
            name: "TallystickDevice",
            dependencies: [
                "CCurl", "Tallystick", "TallystickCompression", "TallystickCrypto", "TallystickStore", "Schemes",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "TallystickServer",
            dependencies: ["CMicroHTTPD", "Tallystick", "TallystickCrypto", "TallystickStore", "Schemes"],
            swiftSettings: strict
        ),
        // The command line.
        .target(name: "CommandLineKit", swiftSettings: strict),
        .executableTarget(
            name: "TallyCommand",
            dependencies: [
                "CommandLineKit", "Schemes", "Tallystick", "TallystickCrypto", "TallystickDevice", "TallystickQR",
                "TallystickServer", "TallystickStore",
            ],
            swiftSettings: strict
        ),
        // What the demo and the benchmark run.
        .executableTarget(
            name: "TallyPhotograph",
            dependencies: ["TallystickQR", "TallystickTestSupport"],
            swiftSettings: checked
        ),
        .executableTarget(
            name: "TallyBench",
            dependencies: [
                "Schemes", "Tallystick", "TallystickCrypto", "TallystickDevice", "TallystickQR", "TallystickServer",
                "TallystickStore", "TallystickTestSupport",
            ],
            path: "Benchmarks",
            swiftSettings: checked
        ),
        // Tests and what they share.
        .target(
            name: "TallystickTestSupport",
            dependencies: ["Schemes", "Tallystick", "TallystickCrypto", "TallystickQR"],
            path: "Sources/TallystickTestSupport",
            swiftSettings: strict
        ),
        tests("TallystickCryptoTests", ["TallystickCrypto", "Tallystick"]),
        tests("TallystickTests", ["Tallystick", "TallystickCrypto", "Schemes"]),
        tests("TallystickStoreTests", ["TallystickStore", "Tallystick", "TallystickCrypto"]),
        tests("TallystickQRTests", ["TallystickQR", "Tallystick"]),
        tests(
            "TallystickDeviceTests",
            ["TallystickDevice", "TallystickStore", "Tallystick", "TallystickCrypto", "Schemes"]
        ),
        tests(
            "TallystickServerTests",
            ["TallystickServer", "TallystickDevice", "TallystickStore", "Tallystick", "TallystickCrypto", "Schemes"]
        ),
        tests("CommandLineKitTests", ["CommandLineKit"]),
        tests("TallyCommandTests", ["TallyCommand", "CommandLineKit", "TallystickQR", "Tallystick"]),
        tests("EndToEndTests", ["TallyCommand", "Tallystick", "TallystickCrypto", "TallystickStore"]),
    ],
    swiftLanguageModes: [.v6]
)

if isFuzzed {
    package.targets.append(
        .executableTarget(
            name: "TallyFuzz",
            dependencies: ["Tallystick", "TallystickQR"],
            path: "Fuzz/Targets",
            swiftSettings: checked + [.unsafeFlags(sanitizers)],
            // gold ends with an internal error over these objects.
            linkerSettings: [.unsafeFlags(sanitizers + ["-use-ld=lld"])]
        )
    )
    package.products.append(.executable(name: "tally-fuzz", targets: ["TallyFuzz"]))
}
