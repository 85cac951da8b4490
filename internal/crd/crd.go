// Package crd decides whether one CustomResourceDefinition can replace another: whether stored
// objects can still be read, manifests are still accepted, and the APIs of clients are still
// served. It does no I/O.
package crd

// Severity says whether a change may break something.
type Severity string

const (
	// Safe changes break nothing.
	Safe Severity = "safe"
	// Unsafe changes may break objects or clients: they are refused.
	Unsafe Severity = "unsafe"
)

// Change is one difference between two definitions.
type Change struct {
	// Rule names the kind of change: "field-removed". See Rules.
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	// Version is the version with the change, or empty for the whole definition.
	Version string `json:"version,omitempty"`
	// Field is the path in objects (spec.replicas, spec.rules[].host), or in the definition itself
	// (spec.scope); empty for a whole version.
	Field string `json:"field,omitempty"`
	// Was and Is are the values, shortened, for people.
	Was string `json:"was,omitempty"`
	Is  string `json:"is,omitempty"`
	// Message describes it in a sentence.
	Message string `json:"message"`
}
