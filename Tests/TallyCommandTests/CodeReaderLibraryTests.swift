import Testing

@testable import TallyCommand

@Suite("CodeReaderLibraryTests")
struct CodeReaderLibraryTests {
    static func packages(_ version: String, status: String = "install ok installed") -> [UInt8] {
        Array(
            """
            Package: libyaml
            Status: install ok installed
            Version: 9.9

            Package: libzbar0
            Status: \(status)
            Source: zbar
            Version: \(version)

            Package: libzstd1
            Status: install ok installed
            Version: 1.5

            """.utf8
        )
    }

    @Test(
        arguments: [
            ("0.23.92-7+deb12u1", .present), ("0.23.92-7+deb12u2", .present), ("0.23.92-7", .absent),
            ("0.23.92-7+deb12u0", .absent), ("0.23.92-7+deb12uX", .absent), ("0.23.90-1+deb11u1", .unknown),
            ("", .unknown),
        ] as [(String, CodeReaderLibrary.Fixes)]
    )
    func debiansPackageSaysWhatTheNumbersDoNot(_ version: String, fixes: CodeReaderLibrary.Fixes) {
        let library = CodeReaderLibrary(numbers: (0, 23, 92), packages: Self.packages(version))
        #expect(library.fixes == fixes)
    }

    @Test func aRemovedPackageSaysNothing() {
        let packages = Self.packages("0.23.92-7+deb12u1", status: "deinstall ok config-files")
        #expect(CodeReaderLibrary(numbers: (0, 23, 92), packages: packages).fixes == .unknown)
    }

    @Test(
        arguments: [
            (23, 93, .present), (24, 0, .present), (23, 91, .absent), (10, 0, .absent), (23, 92, .unknown),
        ] as [(Int, Int, CodeReaderLibrary.Fixes)]
    )
    func withoutPackagesTheNumbersCount(minor: Int, patch: Int, fixes: CodeReaderLibrary.Fixes) {
        #expect(CodeReaderLibrary(numbers: (0, minor, patch), packages: nil).fixes == fixes)
    }

    @Test func noNumbersAreUnknown() {
        #expect(CodeReaderLibrary(numbers: nil, packages: nil).fixes == .unknown)
        #expect(throws: (any Error).self) { try CodeReaderLibrary(numbers: nil, packages: nil).check() }
    }
}
