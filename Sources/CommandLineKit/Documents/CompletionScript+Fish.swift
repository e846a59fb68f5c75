extension CompletionModel {
    /// The script for fish.
    var fish: String {
        """
        # fish \(title)

        function _\(function)_at --description 'Succeeds if the command typed so far is this one'
            set -l words (commandline -opc)
            set -l at \(Self.fishQuoted(program.name))
            set -l waiting 0
            for word in $words[2..-1]
                if test $waiting = 1
                    set waiting 0
                    continue
                end
                switch $word
                    case --
                        break
                    case '-?*'
                        switch "$at $word"
        \(fishCase(valueSteps, "set waiting 1"))
                        end
                    case '*'
                        switch "$at $word"
        \(fishCase(helpSteps, "continue"))
        \(fishCase(steps, "set at \"$at $word\""))
                            case '*'
                                break
                        end
                end
            end
            test "$at" = "$argv"
        end

        complete -c \(program.name) -f
        \(places.flatMap(fishLines).joined(separator: "\n"))

        """
    }

    private func fishCase(_ words: [String], _ action: String) -> String {
        guard !words.isEmpty else { return "" }
        let patterns = words.map(Self.fishQuoted).joined(separator: " \\\n                    ")
        return """
                            case \(patterns)
                                \(action)
            """
    }

    private func fishLines(_ place: Place) -> [String] {
        let condition = Self.fishQuoted("_\(function)_at \(place.name)")
        let start = "complete -c \(program.name) -n \(condition)"
        var lines = place.words.map { word in
            "\(start) -a \(Self.fishQuoted(word.word)) -d \(Self.fishQuoted(word.summary))"
        }
        for option in place.options {
            let declaration = option.declaration
            let letter = declaration.short.map { " -s \($0)" } ?? ""
            let value = declaration.takesValue ? " " + fishValue(declaration.values) : ""
            let help = Self.fishQuoted(declaration.help)
            lines.append("\(start) -l \(declaration.name)\(letter)\(value) -d \(help)")
        }
        for argument in place.arguments {
            switch argument.values {
            case .anything: break
            case .files: lines.append("\(start) -F")
            case .folders, .choices: lines.append("\(start) \(fishOffer(argument.values))")
            }
        }
        return lines
    }

    private func fishValue(_ values: AcceptedValues) -> String {
        switch values {
        case .anything: "-x"
        case .files: "-r -F"
        case .folders, .choices: "-x \(fishOffer(values))"
        }
    }

    private func fishOffer(_ values: AcceptedValues) -> String {
        let words = values.choices?.joined(separator: " ")
        return "-a \(Self.fishQuoted(words ?? "(__fish_complete_directories (commandline -ct))"))"
    }

    /// The text in single quotes for fish, where a backslash escapes a quote and itself.
    private static func fishQuoted(_ text: String) -> String {
        let inner = text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
        return "'\(inner)'"
    }
}
