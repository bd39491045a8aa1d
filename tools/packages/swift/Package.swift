// swift-tools-version:5.9
// Millwright for SwiftPM: the library as one C file, and a thin layer of Swift. Written by tools/packages/swift.sh; it has
// not been run on a Mac.
import PackageDescription

let package = Package(
    name: "Millwright",
    platforms: [.macOS(.v13)],
    products: [.library(name: "Millwright", targets: ["Millwright"])],
    targets: [
        .target(
            name: "CMillwright",
            cSettings: [
                .unsafeFlags(["-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"])
            ]),
        .target(name: "Millwright", dependencies: ["CMillwright"]),
    ]
)
