import Schemes
import Tallystick
import Testing

/// Every row of the laws' tables, and every complaint, has cases among the shipped examples.
///
/// Which row a case shows is said in its `shows`; the rows are those of the collection of facts that the schemes were
/// made from, and their numbers are the ones in the names of the examples.
@Suite struct RowCoverageTests {
    /// A table: its name, the schemes that put it into practice, and what its rows are about, in order.
    struct Table: CustomTestStringConvertible, Sendable {
        let name: String
        let schemes: [String]
        let rows: [String]

        var testDescription: String { name }
    }

    static let tables = [
        Table(
            name: "1A",
            schemes: ["uk-waste-transfer-note"],
            rows: [
                "waste codes", "description", "quantity", "containment", "SIC code", "waste hierarchy",
                "name and address of each party", "capacity of each party", "place and time, or period",
                "carrier's registration or reason", "means of transport and vehicle", "time of receipt",
                "site's authorisation and address", "what was received, line by line",
                "recovery or disposal, line by line",
                "broker or dealer",
            ]
        ),
        Table(
            name: "1B",
            schemes: ["uk-hazardous-consignment-note"],
            rows: [
                "consignment code", "places of part A", "process and waste of part B", "dangerous goods",
                "carrier's certificate C", "consignor's certificate D", "what was received, line by line",
                "the receipt E",
            ]
        ),
        Table(
            name: "1C",
            schemes: ["us-hazardous-waste-manifest"],
            rows: [
                "tracking number", "generator's site", "flags of a line", "DOT description or words",
                "containers and quantity", "waste codes and PCB", "transporters", "discrepancies", "refusal",
                "management method", "broker",
            ]
        ),
        Table(
            name: "1D",
            schemes: ["evidence-item", "laboratory-sample"],
            rows: [
                "case and exhibit number", "description and identifiers", "time, place and photographs", "seals",
                "both sides of each move", "seals and hashes at each move", "examination", "disposal and witness",
                "sampling", "laboratory's receipt",
            ]
        ),
    ]

    /// What practice complains of, by number; 20 and 24 are about records and screens, not about a scheme.
    static let complaints = [
        1: "weight differs after weighing", 2: "absurd weights", 3: "units and rounding",
        4: "carrier changed on the way",
        5: "one leg unsigned", 6: "last part never comes back", 7: "signer without a device", 8: "signing for another",
        9: "signature stamped by itself", 10: "load splits", 11: "rounds", 12: "refused quantity missing",
        13: "origin and place of a rejected load", 14: "item lost", 15: "correction after signing",
        16: "values of another leg filled in", 17: "brokers", 18: "no signal or excluded", 19: "clock and zone",
        21: "retention by role", 22: "party closed midway", 23: "retries and simultaneous edits",
    ]

    private static func examples(_ ids: [String]) throws -> [(scheme: String, example: SchemeExamples.Example)] {
        try ids.flatMap { id in
            try SchemeExamples(files: try SchemePlace.examples(of: id)).examples.map { (id, $0) }
        }
    }

    @Test(arguments: tables) func showsEachRowAcceptedAndRefused(table: Table) throws {
        let examples = try RowCoverageTests.examples(table.schemes)
        var shown = RealTable("Rows of table \(table.name):", "ROW", "ABOUT", "ACCEPTED", "REFUSED", "OTHER")
        for (index, title) in table.rows.enumerated() {
            let row = "\(table.name).\(index + 1)"
            // The whole number: 1D.1 is not 1D.10.
            let cases = examples.filter { $0.example.shows.contains { $0 == row || $0.hasPrefix(row + " ") } }
            let accepted = cases.count { $0.example.expects == "accepted" }
            let refused = cases.count { $0.example.expects == "refused" }
            shown.add(row, title, "\(accepted)", "\(refused)", "\(cases.count - accepted - refused)")
            #expect(accepted > 0, "\(row) \(title): no example is accepted")
            #expect(refused > 0, "\(row) \(title): no example is refused")
        }
        shown.show()
    }

    @Test func showsNoRowThatThereIsNot() throws {
        for table in RowCoverageTests.tables {
            for (scheme, example) in try RowCoverageTests.examples(table.schemes) {
                for row in example.shows.compactMap({ $0.split(separator: " ").first })
                where row.hasPrefix(table.name + ".") {
                    let number = Int(row.dropFirst(table.name.count + 1)) ?? 0
                    #expect((1...table.rows.count).contains(number), "\(scheme): \(example.name) shows \(row)")
                }
            }
        }
    }

    @Test func showsEachComplaint() throws {
        let examples = try RowCoverageTests.examples(ShippedSchemes.files.map(\.id))
        var shown = RealTable("Complaints:", "NUMBER", "ABOUT", "EXAMPLES", "SCHEMES")
        for (number, title) in RowCoverageTests.complaints.sorted(by: { $0.key < $1.key }) {
            let cases = examples.filter { $0.example.shows.contains("complaint \(number)") }
            shown.add("\(number)", title, "\(cases.count)", Set(cases.map(\.scheme)).sorted().joined(separator: ", "))
            #expect(!cases.isEmpty, "complaint \(number), \(title), has no example")
        }
        shown.show()
        #expect(RowCoverageTests.complaints.keys.sorted() == Array(1...19) + [21, 22, 23])
    }
}
