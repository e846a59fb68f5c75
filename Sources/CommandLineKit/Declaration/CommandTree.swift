/// The program's commands and groups as a tree of words.
struct CommandTree {
    /// One word of the tree with all that leads to it.
    struct Node {
        /// The words from the program on; empty for the program itself.
        let path: [String]
        /// What it is for, in one line.
        var summary: String
        /// More about it.
        var discussion: String
        /// The heading it is listed under.
        var section: String
        /// What is run; nil for a group that is nothing but a group.
        var command: CommandDeclaration?
        /// The words that may follow, in the order declared.
        var children: [String] = []
    }

    /// Every node, each after its parent; the first is the program.
    private(set) var nodes: [Node]

    init(_ program: Program) {
        nodes = [Node(path: [], summary: program.summary, discussion: program.discussion, section: "", command: nil)]
        for command in program.commands {
            let index = insert(command.path)
            nodes[index].command = command
            nodes[index].summary = command.summary
            nodes[index].discussion = command.discussion
            nodes[index].section = command.section
        }
        // After the commands, so that a group is listed where its first command stands.
        for group in program.groups {
            let index = insert(group.path)
            guard nodes[index].command == nil else { continue }
            nodes[index].summary = group.summary
            nodes[index].discussion = group.discussion
            nodes[index].section = group.section
        }
    }

    /// The program's own node.
    var root: Node {
        nodes.first ?? Node(path: [], summary: "", discussion: "", section: "", command: nil)
    }

    /// The node these words lead to.
    func node(at path: [String]) -> Node? {
        index(of: path).map { nodes[$0] }
    }

    /// The nodes one word further than this one.
    func children(of node: Node) -> [Node] {
        node.children.compactMap { self.node(at: node.path + [$0]) }
    }

    /// The commands at this node and below it.
    func commands(under node: Node) -> [CommandDeclaration] {
        nodes.compactMap { candidate in
            candidate.path.starts(with: node.path, by: sameBytes) ? candidate.command : nil
        }
    }

    private func index(of path: [String]) -> Int? {
        nodes.firstIndex { $0.path.elementsEqual(path, by: sameBytes) }
    }

    /// Adds the node and those that lead to it where they are missing, and returns its index.
    private mutating func insert(_ path: [String]) -> Int {
        if let index = index(of: path) { return index }
        guard let word = path.last else { return 0 }
        let parent = insert(Array(path.dropLast()))
        nodes[parent].children.append(word)
        nodes.append(Node(path: path, summary: "", discussion: "", section: "Commands", command: nil))
        return nodes.count - 1
    }
}
