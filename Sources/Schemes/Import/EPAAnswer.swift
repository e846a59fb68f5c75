import Tallystick

/// What EPA's e-Manifest service answers when a manifest is saved: of it only the tracking number is a value.
enum EPAAnswer {
    /// Whether a JSON object has the shape: a report with what became of the request.
    static func recognises(_ json: JSON) -> Bool {
        json["reportId"]?.text != nil && json["operationStatus"]?.text != nil
    }

    static func read(_ json: JSON, scheme: Scheme, role: Name) -> ValuesFile {
        var reading = ForeignReading(json, scheme: scheme, role: role)
        reading.take("/manifestTrackingNumber", as: ["manifestTrackingNumber", "uploadTrackingNumber"])
        return reading.finish(.epaAnswer) { place in
            switch place {
            case "/reportId", "/date", "/operationStatus", "/currentVersionNumber":
                ForeignReading.Why("not-about-the-load", "it is about the request")
            case "/errors", "/warnings", "/generatorReport", "/transportersReports", "/tsdfReport", "/wastesReports",
                "/wasteReports":
                ForeignReading.Why("not-about-the-load", "it is what EPA has to say about the request")
            default: nil
            }
        }
    }
}

/// A request for a quick signature of EPA's e-Manifest service: of it only the printed name is a value.
enum EPAQuickSign {
    /// Whether a JSON object has the shape: a site that signs manifests under a printed name.
    static func recognises(_ json: JSON) -> Bool {
        json["siteType"]?.text != nil && json["printedSignatureName"]?.text != nil
            && json["manifestTrackingNumbers"]?.elements != nil
    }

    static func read(_ json: JSON, scheme: Scheme, role: Name, order: Int) -> ValuesFile {
        var reading = ForeignReading(json, scheme: scheme, role: role)
        let fields = [
            "Generator": "generatorPrintedName", "Transporter": "transporterPrintedName", "Tsdf": "facilityPrintedName",
        ]
        let number = reading.find("/transporterOrder")?.integer
        if sameBytes(role.text, "transporter"), let number, number != order {
            reading.leave(
                ["/printedSignatureName"],
                ForeignReading.Why("other-party", "it is transporter \(number), and \(order) was asked for")
            )
        } else if let field = reading.find("/siteType")?.text.flatMap({ fields[$0] }) {
            reading.take("/printedSignatureName", as: [field])
        }
        return reading.finish(.epaQuickSign) { place in
            switch place {
            case "/printedSignatureName": ForeignReading.Why("no-field", "nobody signs as such a site")
            case "/printedSignatureDate": ForeignReading.Why("no-field", "it is the time of the signature")
            case "/siteId", "/siteType", "/transporterOrder":
                ForeignReading.Why("no-field", "it says whose signature it is")
            case "/manifestTrackingNumbers": ForeignReading.Why("no-field", "it says which chains are signed")
            default: nil
            }
        }
    }
}
