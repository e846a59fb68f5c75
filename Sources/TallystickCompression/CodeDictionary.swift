/// The preset dictionaries of full codes, by version.
///
/// A version that has been used is never edited: codes name it.
package enum CodeDictionary {
    /// The version that new codes use.
    package static let newest: UInt8 = 1

    /// The dictionary of a version, or nil if this program does not know it.
    package static func bytes(version: UInt8) -> [UInt8]? {
        version == 1 ? Array(first.utf8) : nil
    }

    // What is most common stands last: deflate's distances to it are shortest (RFC 1950 §2.2 on preset dictionaries).
    private static let first = """
        "isEstimate":false,"isEstimate":true,"physicalForm":"Liquid","physicalForm":"Mixed","physicalForm":"Solid",\
        "brokerName":"","brokerRegistration":"","noRegistrationReason":"","producerNumbers":[""],"collectedAt":"2026-\
        "carrierAddress":"","carrierName":"","meansOfTransport":"Road","registrationNumber":"CBDU","vehicleRegistration":"\
        "hierarchyDuty":true,"producerAddress":"","producerCapacity":["producer"],"producerName":"","sicCode":"\
        "transferAt":"2026-","transferPlace":"","wasteItems/1/containerCount":1,"wasteItems/1/containerType":"SKI",\
        "wasteItems/1/containment":"container","wasteItems/1/description":"mixed construction and demolition waste",\
        "wasteItems/1/ewcCodes":["170904"],"wasteItems/1/quantity":{"amount":"","unit":"t"},"unit":"kg"},Ltd,Road,\
        "from":"carrier","handoff":"delivery","from":"carrier","handoff":"transfer","from":"producer","handoff":"collection",\
        "kind":"handoff","received":null,"scheme":"signatures":{"carrier":"},"to":"receiver"}"signatures":{"producer":"},\
        "to":"carrier"}{"certificate":{"authority":"","device":"","key":"","notAfter":"2028-T00:00:00.000Z","notBefore":"2026-\
        "party":"01","partyName":"","person":"","roles":["receiver"],"roles":["producer"],"roles":["carrier"],"serial":},\
        "signature":"=="}{"chain":"01","fields":{
        """
}
