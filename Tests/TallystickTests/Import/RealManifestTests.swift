import Foundation
import Schemes
import Tallystick
import TallystickCrypto
import TallystickTestSupport
import Testing

/// EPA's published manifests, each played as a chain by its generator, transporters and facilities, as far as the
/// signatures in it go.
@Suite struct RealManifestTests {
    /// What a source says of a file: the words of its name or of EPA's answer, and what they come to here.
    ///
    /// The last two are the table at the end of `docs/schemes/us-hazardous-waste-manifest-mapping.md`.
    private struct Expected {
        let file: String
        /// EPA's answer to just this file, where there is one.
        var answer: String?
        let source: String
        let reached: String
        let result: RealChain.Result
        var reasons: [String] = []
        var warnings: [String] = []
    }

    /// Samples whose tracking number is the words CHANGE ME have a number of the right form put in for the second row.
    private static let placeholder = "CHANGE ME"
    private static let number = "017351209JJK"

    private static let manifests = "epa-emanifest/manifests/emanifest-save"
    private static let scenarios = "epa-emanifest/scenarios/scenario"

    private static func amounts(_ rows: Int...) -> [String] {
        rows.flatMap { row in
            ["receivedContainers", "receivedQuantity"].map { "missing-field received/\(row)/\($0)" }
        }
    }

    private static let all: [Expected] = [
        Expected(
            file: "\(manifests)-valid-data-and-image-example.json",
            source: "valid",
            reached: "facility closes",
            result: .warned,
            warnings: ["signature-missing generator"] + amounts(1, 2, 4, 5, 6)
        ),
        Expected(
            file: "\(manifests)-valid-data-and-image-full-reject-tranonsite-example.json",
            source: "valid",
            reached: "alternate closes",
            result: .warned,
            warnings: ["signature-missing generator", "signature-missing transporter"] + amounts(1)
        ),
        Expected(
            file: "\(manifests)-valid-data-and-image-manual-entry-example.json",
            source: "valid",
            reached: "facility closes",
            result: .warned,
            warnings: ["signature-missing generator"] + amounts(1)
        ),
        Expected(
            file: "\(manifests)-valid-full-electronic-example.json",
            source: "valid",
            reached: "generator signs",
            result: .accepted
        ),
        Expected(
            file: "\(manifests)-valid-image-only-designated-facility-example.json",
            source: "valid",
            reached: "facility closes",
            result: .warned,
            warnings: ["uploadGeneratorPrintedName", "uploadGeneratorSignedAt", "documentHash"].map {
                "missing-field \($0)"
            }
        ),
        Expected(
            file: "\(manifests)-valid-image-only-designated-facility-acting-generator-example.json",
            source: "valid",
            reached: "facility closes",
            result: .warned,
            warnings: ["uploadGeneratorPrintedName", "documentHash"].map { "missing-field \($0)" }
        ),
        Expected(
            file: "\(manifests)-invalid-example.json",
            answer: "epa-emanifest/responses/emanifest-return-failure-example.json",
            source: "invalid",
            reached: "generator sets",
            result: .refused,
            reasons: [
                "field-invalid wastes/1/quantity", "missing-field manifestTrackingNumber",
                "missing-field wastes/1/dotHazardous", "missing-field wastes/1/epaWaste", "missing-field wastes/1/pcb",
                "missing-field wastes/1/br", "missing-field wastes/1/quantity",
            ]
        ),
        Expected(
            file: "epa-emanifest/manifests/py-client-emanifest.json",
            source: "scheduled",
            reached: "generator signs",
            result: .accepted
        ),
        Expected(
            file: "epa-haztrak/manifests/scheduled-100032524elc.json",
            source: "scheduled",
            reached: "generator signs",
            result: .accepted
        ),
        Expected(
            file: "\(scenarios)-1-emanifest-save-valid-full-electronic-example.json",
            answer: "\(scenarios)-1-emanifest-save-valid-full-electronic-example-response.json",
            source: "saved",
            reached: "generator signs",
            result: .accepted
        ),
        Expected(
            file: "\(scenarios)-1-emanifest-update-valid-full-electronic-example.json",
            answer: "\(scenarios)-1-emanifest-update-valid-full-electronic-example-response.json",
            source: "updated, 1 warning",
            reached: "generator signs",
            result: .warned,
            warnings: ["missing-field wastes/1/plannedMethod"]
        ),
        Expected(
            file: "\(scenarios)-2-emanifest-save-valid-full-electronic-example.json",
            answer: "\(scenarios)-2-emanifest-save-valid-full-electronic-example-response.json",
            source: "saved",
            reached: "generator signs",
            result: .accepted
        ),
        Expected(
            file: "\(scenarios)-2-emanifest-update-valid-hybrid-example.json",
            answer: "\(scenarios)-2-emanifest-update-valid-hybrid-example-response.json",
            source: "updated",
            reached: "generator signs on paper",
            result: .warned,
            warnings: ["signature-missing generator"]
        ),
    ]

    @Test("plays each manifest to the end that its source says", .needsRealFixtures(13))
    func playsEveryManifest() throws {
        var table = RealTable(
            "Manifests of EPA's e-Manifest service:",
            "FILE",
            "SCHEME",
            "SOURCE",
            "RESULT",
            "AS FAR AS",
            "LATE",
            "REASONS AND WARNINGS"
        )
        for expected in RealManifestTests.all {
            let bytes = try OutsideFixtures.real(expected.file)
            let text = String(decoding: bytes, as: UTF8.self)
            let name = String(expected.file.split(separator: "/").last ?? "")
            func play(_ text: String, _ row: String) throws -> RealChain {
                let chain = try Manifest(Array(text.utf8)).play()
                table.add(
                    row,
                    "us-hazardous-waste-manifest",
                    expected.source,
                    chain.result.rawValue,
                    chain.reached,
                    "\(chain.lateEntries)",
                    (chain.reasons + chain.warnings).joined(separator: ", ")
                )
                return chain
            }
            if text.contains(RealManifestTests.placeholder) {
                // No number was filled in: EPA would refuse it as this does, and the file is a pattern until it is.
                let chain = try play(text, name)
                let field = text.contains(#""Image""#) ? "uploadTrackingNumber" : "manifestTrackingNumber"
                #expect(chain.steps.contains { $0.verdict.words == ["field-invalid \(field)"] }, "\(name)")
                #expect(chain.result == .refused, "\(name)")
            }
            let isFilled = text.contains(RealManifestTests.placeholder)
            let filled = text.replacing(RealManifestTests.placeholder, with: RealManifestTests.number)
            let chain = try play(filled, isFilled ? "  with a number" : name)
            #expect(chain.result == expected.result, "\(name)")
            #expect(chain.reached == expected.reached, "\(name)")
            #expect(chain.reasons == expected.reasons, "\(name)")
            #expect(chain.warnings == expected.warnings, "\(name)")
            if let answer = expected.answer { try compare(chain, with: answer, file: filled, name) }
        }
        table.show()
        let folders = ["epa-emanifest/manifests", "epa-emanifest/scenarios", "epa-haztrak/manifests"]
        let files = try folders.flatMap { folder in
            try OutsideFixtures.realNames(in: folder).filter { !$0.hasSuffix("-response.json") }.map {
                "\(folder)/\($0)"
            }
        }
        #expect(files.sorted() == RealManifestTests.all.map(\.file).sorted(), "every sample is played")
    }

    // MARK: EPA's answers

    /// Holds what came out against EPA's own answer to the file.
    private func compare(_ chain: RealChain, with answer: String, file: String, _ name: String) throws {
        let bytes = try OutsideFixtures.real(answer)
        let json = try JSON.parse(bytes)
        switch json["operationStatus"]?.text {
        case "Saved", "Updated":
            #expect(chain.result != .refused, "\(name)")
            let warned = try (json["wasteReports"]?.elements ?? []).flatMap { report in
                let row = try #require(report["entityId"]?["entityIdValue"]?.text)
                return (report["warnings"]?.elements ?? []).map { warning in
                    "\(warning["field"]?.text ?? "") \(row)"
                }
            }
            // What EPA warns of in a line is warned of here too; what is warned of besides is not about lines.
            let fields = ["Emanifest.wastes.managementMethod.code": "plannedMethod"]
            let expected = try warned.map { text in
                let parts = text.split(separator: " ").map(String.init)
                return "missing-field wastes/\(parts[1])/\(try #require(fields[parts[0]], "a field for \(text)"))"
            }
            #expect(chain.warnings.filter { $0.contains("wastes/") } == expected, "\(name)")
            try keepsTheNumber(of: bytes, in: chain, name)
        default: try compareFailure(json, chain, file: file, name)
        }
    }

    /// The number that EPA gives can be set with its answer, signed or not.
    private func keepsTheNumber(of answer: [UInt8], in chain: RealChain, _ name: String) throws {
        let scheme = chain.teller.scheme
        let values = try ValuesFile(answer, scheme: scheme, role: try Derived.name("generator"))
        #expect(values.shape == .epaAnswer)
        #expect(values.changes.map(\.path.description) == ["manifestTrackingNumber"], "\(name)")
        #expect(try chain.set(values.changes, by: "generator"), "\(name)")
    }

    /// Each fault that EPA finds in the sample meant to fail is found here: at the file, at a value or at the signature.
    private func compareFailure(_ answer: JSON, _ chain: RealChain, file: String, _ name: String) throws {
        let values = try ValuesFile(
            Array(file.utf8),
            scheme: chain.teller.scheme,
            role: try Derived.name("generator")
        )
        func isListed(_ pointer: String, _ reason: String) -> Bool {
            values.unused.contains { $0.pointer == pointer && $0.reason == reason }
        }
        let errors = (answer["errors"]?.elements ?? []).map {
            "\($0["field"]?.text ?? ""): \($0["message"]?.text ?? "")"
        }
        #expect(errors.count == 6, "\(name)")
        for error in errors {
            switch error.prefix(while: { $0 != ":" }) {
            case "Emanifest.wastes.0" where error.contains("hazardous\"]"):
                #expect(isListed("/wastes/0/hazardous", "unknown-member"), "\(error)")
            case "Emanifest.wastes.0":
                for field in ["dotHazardous", "epaWaste", "pcb"] {
                    #expect(
                        error.contains(field) && chain.reasons.contains("missing-field wastes/1/\(field)"),
                        "\(error)"
                    )
                }
            case "Emanifest.wastes.0.br":
                #expect(isListed("/wastes/0/br/density", "not-a-value"), "\(error)")
                #expect(chain.reasons.contains("missing-field wastes/1/br"), "\(error)")
            case "Emanifest.wastes.0.brInfo": #expect(isListed("/wastes/0/brInfo", "not-a-value"), "\(error)")
            case "Emanifest.wastes.0.quantity.quantity":
                #expect(chain.reasons.contains("field-invalid wastes/1/quantity"), "\(error)")
            case "Emanifest.wastes.0.dotInformation":
                // The one deviation, which the mapping page gives reasons for: earlier files had these members.
                #expect(values.changes.contains { $0.path.description == "wastes/1/technicalName" }, "\(error)")
            default: Issue.record("\(error): nothing here corresponds to it")
            }
        }
    }

    // MARK: More of a life than the files have

    @Test(
        "takes a picture without a warning once the paper's signature and the file's hash are given",
        .needsRealFixtures(2)
    )
    func takesACompletePicture() throws {
        for kind in ["", "-acting-generator"] {
            let text = String(
                decoding: try OutsideFixtures.real(
                    "\(RealManifestTests.manifests)-valid-image-only-designated-facility\(kind)-example.json"
                ),
                as: UTF8.self
            )
            var manifest = try Manifest(
                Array(text.replacing(RealManifestTests.placeholder, with: RealManifestTests.number).utf8)
            )
            manifest.more = [
                ("uploadGeneratorPrintedName", .string("Ana Reyes")),
                ("uploadGeneratorSignedAt", .string("2023-11-15T02:00:00.000Z")),
                ("documentHash", .string(SHA256.hash(Array("manifest.pdf".utf8)).hex)),
            ]
            let chain = try manifest.play()
            #expect(chain.result == .accepted && chain.reached == "facility closes")
        }
    }

    @Test("keeps the legs, the gap and both numbers of the load that was turned away", .needsRealFixtures(1))
    func keepsTheLegsOfARefusal() throws {
        let text = String(
            decoding: try OutsideFixtures.real(
                "\(RealManifestTests.manifests)-valid-data-and-image-full-reject-tranonsite-example.json"
            ),
            as: UTF8.self
        )
        let filled = text.replacing(RealManifestTests.placeholder, with: RealManifestTests.number)
        let chain = try Manifest(Array(filled.utf8)).play()
        let state = chain.state
        #expect(
            state.legs.map(\.role.text) == ["generator", "transporter", "facility", "transporter", "facility"]
        )
        #expect(state.gaps.map(\.number) == [4])
        func value(_ path: String, _ leg: Int) throws -> JSON? {
            state.values(of: state.legs[leg - 1].event)[try #require(FieldPath(path))]
        }
        #expect(try value("facilitySiteId", 3) == .string("VAD000532119"))
        #expect(try value("rejection", 3) == .boolean(true))
        #expect(try value("alternateSiteId", 3) == .string("VATEST000003"))
        #expect(try value("received/1/managementMethod", 3) == nil)
        #expect(try value("facilitySiteId", 5) == .string("VATEST000003"))
        #expect(try value("facilityPrintedName", 5) == .string("Desig Nated"))
        #expect(try value("rejection", 5) == .boolean(false))
        #expect(try value("received/1/managementMethod", 5) == .string("H141"))
        #expect(state.signatures.map(\.name.text) == ["generator", "transporter", "rejection", "facility"])
        #expect(state.signatures.allSatisfy { $0.way.paper != nil })
    }
}

/// A manifest and the chain that it tells of.
private struct Manifest {
    let bytes: [UInt8]
    let json: JSON
    /// Values that a facility gives beside those of a picture.
    var more: [(String, JSON)] = []

    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        json = try JSON.parse(bytes)
    }

    /// A signature on paper, as the file has it.
    private struct Paper {
        let site: JSON
        var signature: PaperSignature? {
            guard let info = site["paperSignatureInfo"], let name = info["printedName"]?.text,
                let at = info["signatureDate"]?.text.flatMap({ Timestamp.typed($0) })
            else { return nil }
            return PaperSignature(at: at, picture: SHA256.hash(Array("form-2050".utf8)), signer: name)
        }
    }

    private var transporters: [(order: Int, site: JSON)] {
        (json["transporters"]?.elements ?? []).map { ($0["order"]?.integer ?? 0, $0) }.sorted { $0.0 < $1.0 }
    }

    private func site(_ json: JSON?, _ device: String, _ role: String) -> RealChain.Party {
        RealChain.Party(device: device, party: json?["epaSiteId"]?.text ?? json?["name"]?.text ?? device, role: role)
    }

    private func values(_ chain: RealChain, _ role: String, order: Int = 1) throws -> [EventContent.FieldChange] {
        try ValuesFile(bytes, scheme: chain.teller.scheme, role: try Derived.name(role), order: order).changes
    }

    /// Plays it until something is refused, or as far as the file has signatures.
    func play() throws -> RealChain {
        if json["submissionType"]?.text == "Image" { return try playPicture() }
        let alternate = json["rejectionInfo"]?["alternateDesignatedFacility"]
        let chain = try RealChain(
            "manifest",
            scheme: try StoryTeller.shipped("us-hazardous-waste-manifest"),
            parties: [site(json["generator"], "generator", "generator")]
                + transporters.map { site($0.site, "transporter-\($0.order)", "transporter") }
                + [site(json["designatedFacility"], "facility", "facility")]
                + (alternate.map { [site($0, "alternate", "facility")] } ?? []),
            at: "2026-11-30T08:00:00.000Z"
        )
        try chain.step("generator opens", by: "generator") { try $0.open() }
        guard try setWhatCanBeSet(chain) else { return chain }
        guard let generator = Paper(site: json["generator"] ?? .null).signature else {
            try chain.step("generator signs", by: "generator") { try $0.sign(insisting: true) }
            return chain
        }
        guard try carry(chain, generator) else { return chain }
        guard let signature = Paper(site: json["designatedFacility"] ?? .null).signature else { return chain }
        let last = "transporter-\(transporters.last?.order ?? 0)"
        guard try chain.handOver(from: last, to: "facility", as: "facility"),
            try chain.set(try values(chain, "facility"), by: "facility")
        else { return chain }
        guard let alternate, json["rejection"]?.boolean == true else {
            _ = try receive(chain, signature, by: "facility")
            return chain
        }
        // Refused while the transporter waits, who takes the load on; the form has no room for another signature.
        guard try attest(chain, "rejection", signature, by: "facility"),
            try chain.handOver(from: "facility", to: last, as: "transporter"),
            try chain.handOver(from: last, to: "alternate", as: "facility"),
            try chain.set(try values(chain, "facility", order: 2), by: "alternate")
        else { return chain }
        guard let second = Paper(site: alternate).signature else { return chain }
        _ = try receive(chain, second, by: "alternate")
        return chain
    }

    /// Sets the generator's values; where the server refuses some, the others, so that the signature can be tried.
    private func setWhatCanBeSet(_ chain: RealChain) throws -> Bool {
        let all = try values(chain, "generator")
        if try chain.set(all, by: "generator") { return true }
        let refused = Set(try present(chain.steps.last).verdict.reasons.compactMap(\.subject))
        let others = all.filter { !refused.contains($0.path.description) }
        // A file whose number is missing is told so once: the rest of it is not played.
        guard !refused.contains("manifestTrackingNumber") else { return false }
        return try chain.set(others, by: "generator")
    }

    /// Each transporter in turn, the first of which attests what the generator signed on paper.
    private func carry(_ chain: RealChain, _ generator: PaperSignature) throws -> Bool {
        var giver = "generator"
        for (order, site) in transporters {
            let device = "transporter-\(order)"
            guard try chain.handOver(from: giver, to: device, as: "transporter") else { return false }
            if giver == "generator" {
                guard try attest(chain, "generator", generator, by: device) else { return false }
            }
            guard let signature = Paper(site: site).signature else { return false }
            guard try chain.set(try values(chain, "transporter", order: order), by: device),
                try attest(chain, "transporter", signature, by: device)
            else { return false }
            giver = device
        }
        return true
    }

    private func receive(_ chain: RealChain, _ signature: PaperSignature, by device: String) throws -> Bool {
        guard try attest(chain, "facility", signature, by: device) else { return false }
        return try chain.step("\(device) closes", by: device) { try $0.close("received", insisting: true) }
    }

    /// A signature from paper is entered afterwards: it has the time on the paper too.
    private func attest(
        _ chain: RealChain,
        _ signature: String,
        _ paper: PaperSignature,
        by device: String
    ) throws -> Bool {
        let at = try present(paper.at)
        let name = signature == "generator" || signature == "rejection" ? signature : device
        return try chain.step("\(name) signs on paper", by: device) { actor in
            try actor.attest(
                signature,
                paper,
                late: LateEntry(at: at, paper: paper.picture, why: "It was signed on the printed form."),
                insisting: true
            )
        }
    }

    private func playPicture() throws -> RealChain {
        let chain = try RealChain(
            "picture",
            scheme: try StoryTeller.shipped("us-hazardous-waste-manifest"),
            parties: [site(json["designatedFacility"] ?? json["generator"], "facility", "facility")],
            at: "2026-11-30T08:00:00.000Z"
        )
        try chain.step("facility opens", by: "facility") { try $0.open() }
        let others = try more.map { path, value in
            EventContent.FieldChange(path: try present(FieldPath(path)), value: value)
        }
        let given = try values(chain, "facility").filter { change in !others.contains { $0.path == change.path } }
        guard try chain.set(given + others, by: "facility"),
            try chain.step("facility signs", by: "facility", { try $0.sign("upload", insisting: true) })
        else { return chain }
        try chain.step("facility closes", by: "facility") { try $0.close("uploaded", insisting: true) }
        return chain
    }
}
