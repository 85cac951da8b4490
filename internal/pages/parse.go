package pages

// Parse reads the page at path, which is below root and has slashes.
func Parse(root, path string) (Page, error) { return Page{}, nil }

// All reads every page below root, in the order of their paths. Hidden folders, vendored
// ones, dist and testdata are left out.
func All(root string) ([]Page, error) { return nil, nil }

// Check holds the links and blocks of all pages of a checkout to what is there, without
// asking the network. The findings are ordered by path and line.
func Check(root string, pages []Page) []Finding { return nil }
