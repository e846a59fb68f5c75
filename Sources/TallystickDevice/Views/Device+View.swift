package import Tallystick
package import TallystickCrypto
import TallystickStore

extension Device {
    /// Everything known of a chain.
    ///
    /// - Throws: ``DeviceError/Code/chainUnknown``, and those of a home that cannot be read.
    package func view(_ chain: UniqueID) throws -> ChainView {
        try atHome(home.path) {
            try database.snapshot {
                let isKnown = try database.first(
                    "SELECT 1 FROM chains WHERE chain = ?",
                    chain.description
                ) { _ in true }
                guard isKnown == true else {
                    throw DeviceError(
                        .chainUnknown,
                        "expected a chain on this device, got \(chain)",
                        remedy: "“tally list” shows the chains; “tally sync” gets those of other devices"
                    )
                }
                var builder = ViewBuilder(device: self, folded: try folded(chain))
                return try builder.view()
            }
        }
    }

    /// The refused events of this device, the latest last.
    package func refusals() throws -> [ChainView.Refused] {
        try atHome(home.path) {
            try database.query(
                """
                SELECT events.line, refused.verdict, refused.received, refused.is_dealt_with
                FROM refused JOIN events ON events.hash = refused.event ORDER BY events.row
                """
            ) { row in
                let event = try SignedEvent(line: try row.blob(0)).event
                return ChainView.Refused(
                    event: event.hash,
                    chain: event.chain,
                    type: event.type,
                    isOwn: true,
                    at: event.at,
                    received: Timestamp(try row.text(2)),
                    reasons: try Device.verdict(try row.blob(1)).reasons,
                    isDealtWith: try row.int(3) != 0
                )
            }
        }
    }

    /// Notes that a person has dealt with a refused event; it is kept, and no longer marks its chain.
    ///
    /// - Throws: ``DeviceError/Code/nothingToDo`` where the event is not refused.
    package func dealWith(refused event: Digest) throws {
        try atHome(home.path) {
            try database.transaction {
                let chain = try database.first("SELECT chain FROM refused WHERE event = ?", event.hex) { row in
                    try row.text(0)
                }
                guard let chain = chain.flatMap(UniqueID.init(_:)) else {
                    throw DeviceError(
                        .nothingToDo,
                        "expected a refused event, got \(event)",
                        remedy: "“tally refused” shows them"
                    )
                }
                try database.run("UPDATE refused SET is_dealt_with = 1 WHERE event = ?", event.hex)
                try saveSummary(of: try folded(chain), at: now())
            }
        }
    }
}
