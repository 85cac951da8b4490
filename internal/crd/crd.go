// Package crd says whether one CustomResourceDefinition can take the place of another:
// whether what is stored is still read, what is written still accepted, and what clients
// rely on still served. It reads and writes nothing.
package crd

// Severity says what a change means.
type Severity string

const (
	// Safe changes break nobody.
	Safe Severity = "safe"
	// Unsafe changes may break objects or clients: they are refused.
	Unsafe Severity = "unsafe"
)

// Change is one difference between two definitions.
type Change struct {
	// Rule names the kind of change: "field-removed". See Rules.
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	// Version is that of the definition in which it is, empty where it is in none.
	Version string `json:"version,omitempty"`
	// Field is the path in objects (spec.replicas, spec.rules[].host), or in the definition
	// itself (spec.scope); empty where it is about a whole version.
	Field string `json:"field,omitempty"`
	// Was and Is are the values, short, for people.
	Was string `json:"was,omitempty"`
	Is  string `json:"is,omitempty"`
	// Message says it in a sentence.
	Message string `json:"message"`
}
