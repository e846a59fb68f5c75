import Testing
import Schemes
import Tallystick
@Test func readsEveryShippedScheme() throws {
    let s = try ShippedSchemes.read(); #expect(s.count == 1); print(s[0].reference.hash)
}
