import CommandLineKit
import Schemes
import Tallystick
import TallystickCrypto
import TallystickDevice

extension Invocation {
    /// The name that an option gives; throws where it is not one, so that a slip never counts as nothing said.
    func name(_ option: String) throws -> Name? {
        guard let text = try self.option(option) else { return nil }
        guard let name = Name(text) else {
            throw CommandError.usage(
                "expected --\(option) with a name of the scheme's, got '\(Console.plain(text))'",
                code: "name-invalid",
                remedy: "`tally scheme show ID` lists the names"
            )
        }
        return name
    }

    /// The name that a required argument gives.
    func nameArgument(_ argument: String) throws -> Name {
        try Invocation.name(try self.argument(argument), argument)
    }

    /// The name that a text is; throws where it is none, calling it `what`.
    static func name(_ text: String, _ what: String) throws -> Name {
        guard let name = Name(text) else {
            throw CommandError.usage(
                "expected \(what), a name of the scheme's, got '\(Console.plain(text))'",
                code: "name-invalid",
                remedy: "`tally scheme show ID` lists the names"
            )
        }
        return name
    }

    /// What a person wrote to be kept: 1 to 8192 bytes, or none where it may be left out.
    static let longestText = 8_192

    /// Throws where a text is not one that an event can hold.
    static func check(_ text: String, _ what: String) throws(CommandError) {
        guard !text.isEmpty, text.utf8.count <= longestText else {
            throw CommandError(
                exit: .badInput,
                code: "text-invalid",
                message: "expected \(what) of 1 to \(longestText) bytes, got \(text.utf8.count)",
                remedy: text.isEmpty ? "say it in words" : "say it in several shorter parts"
            )
        }
    }
}

extension Invocation {
    /// The reason that `--why` gives, where it may be left out.
    func why() throws -> String {
        guard let why = try option("why") else { return "" }
        try Invocation.check(why, "a reason")
        return why
    }

    /// The original time of what is entered afterwards; nil where nothing is said of one.
    func late() throws -> LateEntry? {
        let (at, why, paper) = (try option("late-at"), try option("late-why"), try option("late-paper"))
        guard at != nil || why != nil || paper != nil else { return nil }
        guard let at, let why else {
            throw CommandError.usage("a late entry needs both --late-at TIME and --late-why TEXT")
        }
        try Invocation.check(why, "a reason")
        let moment = try Moment.typed(at, option: "late-at")
        return LateEntry(at: moment, paper: try paper.map { try Files.pictureHash($0) }, why: why)
    }
}

/// How many there are of something, in words: `1 event`, `2 events`.
func counted(_ count: Int, _ thing: String, _ things: String? = nil) -> String {
    "\(count) \(count == 1 ? thing : things ?? thing + "s")"
}

/// What a command on a device works with: its home, opened.
struct Workplace {
    let device: Device
    let console: Console

    /// The folder a command names, or the user's data folder.
    static func home(_ invocation: Invocation) throws -> DeviceHome {
        if let path = try invocation.option("home") { return DeviceHome(path: path) }
        let environment = invocation.console.environment
        if let data = environment("XDG_DATA_HOME"), !data.isEmpty { return DeviceHome(path: "\(data)/tallystick") }
        guard let user = environment("HOME"), !user.isEmpty else {
            throw CommandError(
                exit: .usage,
                code: "home-unknown",
                message: "there is no HOME to keep the device's folder in",
                remedy: "name a folder with --home DIR or TALLY_HOME"
            )
        }
        return DeviceHome(path: "\(user)/.local/share/tallystick")
    }

    static func open(_ invocation: Invocation) throws -> Workplace {
        // Asked once before anything is done, so that an impossible clock is an error and not a wrong date.
        let start = try Moment.now()
        let device = try Device(
            home: try home(invocation),
            schemes: ShippedSchemes.library,
            clock: { (try? Moment.now()) ?? start },
            random: { SecureRandom.bytes($0) }
        )
        return Workplace(device: device, console: invocation.console)
    }

    /// The schemes that ship and those that the home has from its server, where there is a home.
    static func schemes(_ invocation: Invocation) throws -> SchemeLibrary {
        var library = ShippedSchemes.library
        do {
            library.add(try home(invocation).schemes())
        } catch is DeviceError {
            // Not every machine that reads codes and schemes is a device; what is wrong with a home, the commands say
            // that work in it.
        } catch let error as CommandError where error.code == "home-unknown" {
        }
        return library
    }

    /// What the scheme lets this device do next with the load, as the end of a sentence that begins with “Next: ”.
    func next(in chain: UniqueID) throws -> String {
        let short = Workplace.short(chain)
        switch try device.nextStep(in: chain) {
        case .sign(let name, let isOnly): return "`tally sign \(short)\(isOnly ? "" : " --as \(name)")`"
        case .offer: return "`tally offer \(short)` to hand it over"
        case .sync: return "`tally sync` when there is a network"
        }
    }

    /// The chain that the argument names.
    func chain(_ invocation: Invocation) throws -> UniqueID {
        try device.chain(named: try invocation.argument("CHAIN"))
    }

    /// Tells that something was said, and what the scheme warns about.
    func report(_ said: Said, _ sentence: String, more: [(String, JSONOutput)] = []) {
        if console.isJSON {
            console.print(
                .object(
                    [
                        ("chain", .string(said.chain.description)),
                        ("events", .strings(said.events.map(\.hex))),
                        ("warnings", JSONOutput(said.warnings)),
                    ] + more
                )
            )
            return
        }
        console.print(sentence)
        for warning in said.warnings {
            console.print(console.styled("Warning: ", .warning, on: .output) + Console.plain(warning.sentence))
        }
    }

    /// The rules that a code names; nil where they are not known here.
    func scheme(of half: HandoffHalf) -> Scheme? {
        device.schemes.scheme(prefix: half.statement.schemePrefix)
    }

    /// Throws where a person at a terminal does not want it done, having read these lines; scripts are not asked.
    func confirm(_ question: String, _ invocation: Invocation, about lines: @autoclosure () throws -> [String]) throws {
        guard try !invocation.flag("yes"), !invocation.isJSON, console.isTerminal(.output) else { return }
        for line in try lines() { console.note(line) }
        if console.confirm(question) == false {
            throw CommandError(exit: .failed, code: "not-confirmed", message: "nothing was done")
        }
    }

    /// The last eight characters of a chain's identifier: what people name it by.
    static func short(_ chain: UniqueID) -> String { String(chain.description.suffix(8)) }
}

extension CommandDeclaration {
    /// How a command ends that cannot work in its home.
    static let homeExitCodes: [(code: ExitCode, says: String)] = [
        (.badInput, "the home is damaged"), (.noInput, "there is no such home"),
    ]
    /// How a command ends that does not find its chain.
    static let chainExitCodes: [(code: ExitCode, says: String)] = [
        (.badInput, "the name fits several chains, something must be chosen, or the home is damaged"),
        (.noInput, "there is no such chain or home"),
    ]
}

extension CommandDeclaration {
    /// Of the acts that can be entered afterwards, by roles that the scheme lets.
    static let lateOptions: [OptionDeclaration] = [
        OptionDeclaration(
            "late-at",
            value: "TIME",
            help: "when it happened, for what was written on paper at the time: 2026-11-30T06:12+00:00"
        ),
        OptionDeclaration("late-why", value: "TEXT", help: "why it was not entered then"),
        OptionDeclaration(
            "late-paper",
            value: "FILE",
            values: .files,
            help: "a picture of the paper; only its SHA-256 goes into the chain, so keep it"
        ),
    ]
}

extension ArgumentDeclaration {
    static let chain = ArgumentDeclaration("CHAIN", help: "the chain: its identifier, or a beginning or end of it")
    static let values = ArgumentDeclaration(
        "FIELD=VALUE",
        .any,
        help: "a value, such as sicCode=41201 or wasteItems/1/quantity='7.5 t'; nothing after = clears the field"
    )
}

extension OptionDeclaration {
    static let also = OptionDeclaration(
        "also",
        value: "IMAGE",
        repeatable: true,
        values: .files,
        help: "a further picture with other parts of the same code"
    )
    static let from = OptionDeclaration(
        "from",
        value: "FILE",
        values: .files,
        help: """
            a JSON file of values: our own shape, Defra's receipt of movement, or EPA's manifest; - for standard input
            """
    )
    static let order = OptionDeclaration(
        "order",
        value: "N",
        help: "of several transporters or facilities in that file, the one that is meant: 1 unless given"
    )
    static let role = OptionDeclaration(
        "role",
        value: "ROLE",
        help: "the role to say it in, where the device has several"
    )
    static let party = OptionDeclaration(
        "party",
        value: "PARTY",
        required: true,
        help: "the party: its identifier, or its name where its certificate is known here"
    )
    static let why = OptionDeclaration("why", value: "TEXT", required: true, help: "the reason")
    static let yes = OptionDeclaration(flag: "yes", short: "y", help: "do not ask before doing it")
}
