@main struct TallyBench { static func main() {} }
