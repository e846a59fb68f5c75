/// Whether two strings are the same bytes.
///
/// `==` takes the Kelvin sign for a K; the names of commands and options must not.
func sameBytes(_ first: String, _ second: String) -> Bool {
    first.utf8.elementsEqual(second.utf8)
}
