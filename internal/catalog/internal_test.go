package catalog

// PackedEntry is what entries.bin is a list of, and FreeTypes are the types of free values by
// their tags in it, for the test that writes it.
type PackedEntry = packedEntry

var FreeTypes = freeTypes
