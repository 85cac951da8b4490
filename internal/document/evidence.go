package document

import "time"

// Evidence is what another source says about a stack. It is shown beside the health of the objects, and
// changes none.
type Evidence struct {
	// Source is who says it: prometheus, or backup.
	Source string `json:"source"`
	// Object is the object that it is about; empty for the whole stack.
	Object  string `json:"object,omitempty"`
	Message string `json:"message"`
	// Since is when that began, or the time of the backup; zero where it is unknown.
	Since time.Time `json:"since,omitzero"`
}
