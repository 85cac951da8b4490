package catalog

// Published compares the newest version of an entry with those that its source publishes.
type Published struct {
	Name   string
	Has    string   // the version of the catalog
	Newer  []string // newest first
	From   string   // the source; empty if none lists the versions of the entry
	Unread string   // why the published versions are unknown; empty if they are known
}
