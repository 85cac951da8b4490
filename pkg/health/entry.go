package health

// Rule is what an entry of the catalogue, or a user's file, says of the health of a
// kind: expressions of CEL that are true of an object in that state. They are tried in
// the order of the fields, and the first that is true decides. Where none is true the
// general stages are asked; but what an entry with a Healthy does not call healthy is
// not called healthy by them either.
type Rule struct {
	// Kind is written Kind.group.
	Kind string `json:"kind"`
	// Source says where the operator's API tells this: an address, or a path below the
	// source of the entry.
	Source string `json:"source,omitempty"`

	Degraded    string `json:"degraded,omitempty"`
	Progressing string `json:"progressing,omitempty"`
	Suspended   string `json:"suspended,omitempty"`
	Healthy     string `json:"healthy,omitempty"`
	// Message is an expression that gives a text for people; empty for what the object's
	// conditions say.
	Message string `json:"message,omitempty"`
	// Origin says whose rule it is: catalogue cert-manager, file x.yaml.
	Origin string `json:"-"`
}

// entry is a rule, compiled when the first object of its kind comes.
type entry struct{ rule *Rule }

// entry judges by what the catalogue knows of the kind.
func (j *Judge) entry(s *subject) (Health, bool) {
	return Health{}, false
}
