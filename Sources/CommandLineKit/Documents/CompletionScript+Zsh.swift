extension CompletionModel {
    /// The script for zsh.
    var zsh: String {
        """
        #compdef \(program.name)
        # zsh \(title)

        \(function)() {
            local at=\(Self.quoted(program.name)) option='' word=''
            local -i count=0 ended=0 index
            local -a offers
            for ((index = 2; index < CURRENT; index++)); do
                word=${(Q)words[index]}
                if [[ -n $option ]]; then
                    option=''
                elif ((ended)); then
                    ((count += 1))
                elif [[ $word == -- ]]; then
                    ended=1
                elif [[ $word == -?* ]]; then
                    case "$at $word" in
        \(zshCase(valueSteps, "option=$word"))
                    esac
                elif ((count)); then
                    ((count += 1))
                else
                    case "$at $word" in
        \(zshCase(helpSteps, ":"))
        \(zshCase(steps, "at=\"$at $word\""))
                        (*) ((count += 1)) ;;
                    esac
                fi
            done
            if [[ -z $option && $ended -eq 0 && $PREFIX == --*=* ]]; then
                option=${PREFIX%%=*}
                compset -P 1 '*='
            fi
            if [[ -n $option ]]; then
                case "$at $option" in
        \(zshOptionValues)
                esac
            elif [[ $PREFIX == -* && $ended -eq 0 ]]; then
                case $at in
        \(zshOffers(\.optionOffers))
                esac
                _describe -o 'option' offers
            else
                if ((count == 0)); then
                    case $at in
        \(zshOffers(\.wordOffers))
                    esac
                    ((${#offers})) && _describe 'command' offers
                fi
                case "$at $count" in
        \(zshArguments)
                esac
            fi
        }

        if [[ ${funcstack[1]} == \(Self.quoted(function)) ]]; then
            \(function) "$@"
        else
            compdef \(function) \(program.name)
        fi

        """
    }

    private func zshCase(_ words: [String], _ action: String) -> String {
        guard !words.isEmpty else { return "                (' ') ;;" }
        return "                (\(Self.pattern(words, indent: "                "))) \(action) ;;"
    }

    private func zshOffers(_ offers: (Place) -> [(String, String)]) -> String {
        places.filter { !offers($0).isEmpty }.map { place in
            let list = offers(place).map { "                " + Self.quoted("\($0):\($1)") }
            return """
                            (\(Self.quoted(place.name))) offers=(
                \(list.joined(separator: "\n"))
                            ) ;;
                """
        }
        .joined(separator: "\n")
    }

    private var zshOptionValues: String {
        let lines = places.flatMap { place in
            place.valueOptions.compactMap { option -> String? in
                guard let action = zshAction(option.declaration.values) else { return nil }
                let patterns = option.spellings.map { Self.quoted("\(place.name) \($0)") }
                return "            (\(patterns.joined(separator: " | "))) \(action) ;;"
            }
        }
        return (lines + ["            (*) ;;"]).joined(separator: "\n")
    }

    private var zshArguments: String {
        let lines = places.flatMap { place in
            place.arguments.compactMap { argument -> String? in
                guard let action = zshAction(argument.values) else { return nil }
                let position = argument.position.map { Self.quoted("\(place.name) \($0)") }
                return "            (\(position ?? Self.quoted(place.name + " ") + "<->")) \(action) ;;"
            }
        }
        return (lines + ["            (*) ;;"]).joined(separator: "\n")
    }

    private func zshAction(_ values: AcceptedValues) -> String? {
        switch values {
        case .anything: nil
        case .files: "_files"
        case .folders: "_files -/"
        case .choices(let words): "compadd -- \(words.map(Self.quoted).joined(separator: " "))"
        }
    }
}

extension CompletionModel.Place {
    /// The options offered, with what they do.
    fileprivate var optionOffers: [(String, String)] {
        options.map { ("--" + $0.declaration.name, $0.declaration.help) }
    }

    /// The words that may follow, with what they do.
    fileprivate var wordOffers: [(String, String)] { words.map { ($0.word, $0.summary) } }
}
