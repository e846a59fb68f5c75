import Foundation
import TallystickQR
import TallystickTestSupport

/// Makes a photo-like picture of a code, for the demo: no camera is needed to show what one would see.
@main
struct TallyPhotograph {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 3, let seed = arguments.last.flatMap(UInt64.init) else {
            FileHandle.standardError.write(Data("usage: tally-photograph CODE.png PHOTO.jpg SEED\n".utf8))
            exit(64)
        }
        let paths = Array(arguments)
        do {
            let code = try ImageReader.read([UInt8](try Data(contentsOf: URL(fileURLWithPath: paths[0]))))
            let photo = try PhotoSimulator.photograph(
                code,
                tiltPercent: 10,
                rotationDegrees: 4,
                blurSigma: 1.1,
                noise: 6,
                seed: seed
            )
            try Data(try photo.jpeg(quality: 62)).write(to: URL(fileURLWithPath: paths[1]))
        } catch {
            FileHandle.standardError.write(Data("tally-photograph: \(error)\n".utf8))
            exit(1)
        }
    }
}
