package solve

// Dependant is an installed package that would lack something.
type Dependant struct {
	// Name and Version are of the package that stays.
	Name, Version string
	// Of is the package that it needs.
	Of string
	// Needs is what it needs of it.
	Needs Requirement
}

// Removable says which installed packages need something of those named, by package or by an
// API that nothing else brings. Where nothing is returned, they can go.
func Removable(installed []Installed, names []string) ([]Dependant, error) {
	return removable(installed, names)
}

// Orphans names the installed packages that are neither wanted nor needed, sorted; one that
// only an orphan needs is an orphan too.
func Orphans(installed []Installed, wanted []Want) []string { return orphans(installed, wanted) }
