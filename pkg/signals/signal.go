// Package signals has the ways in which operators pause or stop the objects of a kind by fields that
// users may write: those of a catalogue and those of Kubernetes itself.
package signals

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Mode says what a signal of an operator does. The same word means opposite things:
// spec.pause of one operator stops the database, spec.paused of another only its operator.
type Mode string

// The modes.
const (
	PauseReconcile Mode = "pause-reconcile" // the operator leaves it alone; it continues
	PauseRollout   Mode = "pause-rollout"   // no change is rolled out; what runs continues
	PauseScaling   Mode = "pause-scaling"
	HoldAdmission  Mode = "hold-admission" // nothing new is let in, and what runs may be put out
	SuspendRun     Mode = "suspend-run"    // no new runs; a run that is on may end
	StopWorkload   Mode = "stop-workload"  // pods go
)

// The presets.
const (
	PresetPause = "pause" // leaves the workload running
	PresetStop  = "stop"
)

// PodsOf stands in a patch for the names of the pods that belong to the object, in order
// and joined by commas. The caller of Signal.Changes gives the names.
const PodsOf = "{{pods}}"

// Before stands in what is documented for the way back (Resume) for what was there before.
const Before = "{{before}}"

// Signal is how the operator of a kind pauses or stops an object, by its API. Signals are
// shared: their mappings must not be modified.
type Signal struct {
	// Kind is written Kind.group. *.group is any kind of a group, *.*.group any kind of the
	// groups below one, and * any kind at all.
	Kind string `json:"kind" read:"-"`
	// Except are kinds that such a pattern does not mean, written as Kind is, or the name of
	// a kind for that of any group. Categories are those of custom kinds that it means as
	// well, whatever their group: who knows the kinds of a cluster makes a signal of each.
	Except     []string `json:"except,omitempty" read:"-"`
	Categories []string `json:"categories,omitempty" read:"-"`
	Preset     string   `json:"preset" read:"-"`
	Mode       Mode     `json:"mode" read:",required"`
	// Versions are those of the kind that have it; none means every one.
	Versions []string `json:"versions,omitempty"`
	// Patch is a merge patch (RFC 7386). With Each it is that of every item of the list at
	// that path (spec.componentSpecs), since a merge patch would replace the list.
	Patch map[string]any `json:"patch" read:"patch"`
	Each  string         `json:"each,omitempty" read:"path"`
	// Presence says that the keys of the patch hold by being there, whatever their value.
	// Same are other values of its one field that hold as well.
	Presence bool  `json:"presence,omitempty"`
	Same     []any `json:"same,omitempty" read:"values"`
	// Or is the signal of objects that have another field, which excludes that of Patch.
	Or *Variant `json:"or,omitempty"`
	// Resume is the merge patch that operators document for the way back. It is for people:
	// what is restored is what was there before.
	Resume map[string]any `json:"resume" read:"patch"`
	// Requires is a path that must be there for the signal to mean anything.
	Requires string `json:"requires,omitempty" read:"path"`
	// Other says that it is another way to the same end: no preset means it, and who wants
	// it writes a patch.
	Other bool `json:"other,omitempty" read:"-"`
	// Scale says that replicas are set to 0 through the scale subresource: the patch is that
	// of a Scale.
	Scale bool `json:"scale,omitempty"`
	// Stateful says that the kind keeps data, and Caution that its operator warns of this
	// signal: both want allowStop in the manifest, Caution also of a pause.
	Stateful bool   `json:"stateful,omitempty"`
	Caution  bool   `json:"caution,omitempty"`
	Effect   string `json:"effect" read:",required"`
	Caveat   string `json:"caveat,omitempty"`
	Source   string `json:"source" read:",required"`
	// Since is the release of the operator as of which it reads this; an older one leaves what
	// is written alone, and nothing in the object tells.
	Since string `json:"since,omitempty"`
	// Reacted is an expression of CEL, as in health rules, that is true of an object whose
	// status says that its operator has read the signal. Empty where no status says so.
	Reacted string `json:"reacted,omitempty" read:"predicate"`
	// Origin says whose word it is: catalogue strimzi, built-in.
	Origin string `json:"origin" read:"-"`
}

// ReactedField is the key of Reacted in an entry.
const ReactedField = "reacted"

// Warning returns what is to be known before a signal is sent: its caveat, and that an
// operator of before Since ignores it, which can be verified where its status says that it
// reacted. Empty for nothing.
func (s Signal) Warning() string {
	var all []string
	if s.Caveat != "" {
		all = append(all, s.Caveat)
	}
	switch {
	case s.Since != "" && s.Reacted != "":
		all = append(all, "read by its operator as of "+s.Since+": an older one ignores it, and it is held only when its status says that the operator reacted")
	case s.Since != "":
		all = append(all, "read by its operator as of "+s.Since+": an older one ignores it, and the hold cannot be verified")
	}
	return strings.Join(all, "; ")
}

// Variant is what is written, and the way back, where an object has the field at When.
type Variant struct {
	When   string         `json:"when" read:"path,required"`
	Patch  map[string]any `json:"patch" read:"patch,required"`
	Resume map[string]any `json:"resume" read:"patch,required"`
}

// Finder finds the signals of a kind.
type Finder interface {
	// Of returns the signal of a preset for objects of a kind in a version; false for none.
	Of(gvk schema.GroupVersionKind, preset string) (Signal, bool)
}
