package catalog

// PackedEntry is what entries.bin is a list of, and FreeTypes are the types of free values by
// their tags in it, for the test that writes it.
type PackedEntry = packedEntry

var FreeTypes = freeTypes

// Requirement and Conflict are solve.Requirement as entries have it.
var (
	Requirement = &requirement{}
	Conflict    = &conflict{}
)
