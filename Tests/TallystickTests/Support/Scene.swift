import Tallystick
import TallystickCrypto
import TallystickTestSupport

/// A story with a server that hears it: given what was received, when one more event comes, then exactly these reasons.
struct Scene {
    let teller: StoryTeller
    let referee: Referee
    let producer: StoryActor
    let carrier: StoryActor
    let other: StoryActor
    let site: StoryActor

    /// Nothing has been said; the chain is the producer's device's to open, or another actor's.
    init(_ name: String = #function, scheme: Scheme? = nil, openedBy opener: String = "producer") throws {
        teller = try StoryTeller(name, scheme: scheme, openedBy: opener)
        producer = try teller.actor("producer", of: "Builder", as: "producer")
        carrier = try teller.actor("carrier", of: "Calder", as: "carrier")
        other = try teller.actor("other", of: "Pennine", as: "carrier")
        site = try teller.actor("site", of: "Holbeck", as: "receiver")
        referee = try teller.referee()
    }

    /// The producer has opened and described the load.
    static func described(_ name: String = #function) throws -> Scene {
        let scene = try Scene(name)
        try scene.producer.open()
        try scene.producer.set(SampleValues.producer)
        scene.referee.receive(from: scene.producer)
        return scene
    }

    /// The producer has signed too, and offered to any carrier.
    static func offered(_ name: String = #function, party: UniqueID? = nil) throws -> (Scene, HandoffHalf) {
        let scene = try described(name)
        try scene.producer.sign()
        let half = try scene.producer.offer(to: "carrier", party: party)
        scene.referee.receive(from: scene.producer)
        return (scene, half)
    }

    /// The carrier has taken the load.
    static func taken(_ name: String = #function) throws -> (Scene, HandoffHalf) {
        let (scene, half) = try offered(name)
        try scene.carrier.accept(half)
        scene.referee.receive(from: scene.carrier)
        return (scene, half)
    }

    /// The newest verdict once this event has come, at the time its device shows or another.
    func verdict(on signed: SignedEvent, at received: Timestamp? = nil) -> Verdict? {
        referee.receive(signed, at: received ?? signed.event.at)
        return referee.verdict(on: signed)
    }

    /// The reasons it is refused for, as `code` or `code subject`; `accepted` or `waiting` where it is not.
    func result(of signed: SignedEvent, at received: Timestamp? = nil) -> [String] {
        verdict(on: signed, at: received)?.words ?? ["no verdict"]
    }

    /// A second device of the producer's, which knows what the server knows.
    func secondProducer() throws -> StoryActor {
        let actor = try teller.actor("yard", of: "Builder", as: "producer")
        try referee.enter(actor.certificate)
        actor.learn(from: referee)
        return actor
    }

    /// The chain's state at the server.
    var state: ChainState { referee.ledger(of: teller.chain).state }
}

extension Verdict {
    /// The reasons as `code` or `code subject`, without subjects that are hashes or identifiers.
    var words: [String] {
        switch outcome {
        case .accepted: ["accepted"]
        case .waiting: ["waiting"]
        case .refused: reasons.map(\.words)
        }
    }
}

extension Reason {
    var words: String {
        guard let subject, Digest(hex: subject) == nil, UniqueID(subject) == nil, OfferID(subject) == nil,
            DeviceID(subject) == nil, Timestamp(subject) == nil
        else { return code.description }
        return "\(code) \(subject)"
    }
}

extension StoryActor {
    /// What this actor's own device says to an attempt.
    func refusal(of attempt: () throws -> Void) -> [String] {
        do {
            try attempt()
            return ["accepted"]
        } catch let refusal as StoryRefusal {
            return refusal.reasons.map(\.words)
        } catch {
            return ["\(error)"]
        }
    }
}

/// The value, which has to be there; for places inside `#require`, where another one cannot stand.
func present<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw StoryError("expected a value of type \(Value.self)") }
    return value
}
