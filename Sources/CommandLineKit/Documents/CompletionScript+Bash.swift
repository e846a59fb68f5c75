extension CompletionModel {
    /// The script for bash.
    var bash: String {
        """
        # bash \(title)

        \(function)_files() {
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
        }

        \(function)_words() {
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$1" -- "$current")
        }

        \(function)() {
            local current=${COMP_WORDS[COMP_CWORD]} at=\(Self.quoted(program.name)) option='' word=''
            local -i count=0 ended=0 joined=0 index
            COMPREPLY=()
            for ((index = 1; index < COMP_CWORD; index++)); do
                word=${COMP_WORDS[index]}
                # Bash makes '=' a word: it joins an option to its value, or a field to its own.
                if [[ $word == '=' ]]; then
                    [[ -n $option ]] || joined=1
                elif ((joined)); then
                    joined=0
                elif [[ -n $option ]]; then
                    option=''
                elif ((ended)); then
                    count+=1
                elif [[ $word == -- ]]; then
                    ended=1
                elif [[ $word == -?* ]]; then
                    case "$at $word" in
        \(bashCase(valueSteps, "option=$word"))
                    esac
                elif ((count)); then
                    count+=1
                else
                    case "$at $word" in
        \(bashCase(helpSteps, ":"))
        \(bashCase(steps, "at=\"$at $word\""))
                        *) count+=1 ;;
                    esac
                fi
            done
            [[ $current != '=' ]] || current=''
            if ((joined)); then
                return
            elif [[ -n $option ]]; then
                case "$at $option" in
        \(bashOptionValues)
                esac
            elif [[ $current == -* ]] && ! ((ended)); then
                case $at in
        \(bashWords(\.optionNames))
                esac
            else
                if ! ((count)); then
                    case $at in
        \(bashWords(\.wordNames))
                    esac
                fi
                case "$at $count" in
        \(bashArguments)
                esac
            fi
        }

        complete -F \(function) \(program.name)

        """
    }

    private func bashCase(_ words: [String], _ action: String) -> String {
        guard !words.isEmpty else { return "                *) ;;" }
        return "                \(Self.pattern(words, indent: "                "))) \(action) ;;"
    }

    private func bashWords(_ words: (Place) -> [String]) -> String {
        places.filter { !words($0).isEmpty }.map { place in
            let list = words(place).joined(separator: " ")
            return "            \(Self.quoted(place.name))) \(function)_words \(Self.quoted(list)) ;;"
        }
        .joined(separator: "\n")
    }

    private var bashOptionValues: String {
        let lines = places.flatMap { place in
            place.valueOptions.compactMap { option -> String? in
                guard let action = bashAction(option.declaration.values) else { return nil }
                let patterns = option.spellings.map { Self.quoted("\(place.name) \($0)") }
                return "            \(patterns.joined(separator: " | "))) \(action) ;;"
            }
        }
        return (lines + ["            *) ;;"]).joined(separator: "\n")
    }

    private var bashArguments: String {
        let lines = places.flatMap { place in
            place.arguments.compactMap { argument -> String? in
                guard let action = bashAction(argument.values) else { return nil }
                let position = argument.position.map { Self.quoted("\(place.name) \($0)") }
                return "            \(position ?? Self.quoted(place.name + " ") + "[0-9]*")) \(action) ;;"
            }
        }
        return (lines + ["            *) ;;"]).joined(separator: "\n")
    }

    private func bashAction(_ values: AcceptedValues) -> String? {
        switch values {
        case .anything: nil
        case .files: "\(function)_files -f"
        case .folders: "\(function)_files -d"
        case .choices(let words): "\(function)_words \(Self.quoted(words.joined(separator: " ")))"
        }
    }
}

extension CompletionModel.Place {
    /// The long names of the options offered, with their dashes.
    fileprivate var optionNames: [String] { options.map { "--" + $0.declaration.name } }

    /// The words that may follow.
    fileprivate var wordNames: [String] { words.map(\.word) }
}
