package regulate

import "k8s.io/apimachinery/pkg/runtime/schema"

// Mode says what a signal of an operator does. The same word means opposite things:
// spec.pause of one operator stops the database, spec.paused of another only its operator.
type Mode string

const (
	PauseReconcile Mode = "pause-reconcile" // the operator leaves it alone; it goes on
	PauseRollout   Mode = "pause-rollout"   // no change is rolled out; what runs goes on
	PauseScaling   Mode = "pause-scaling"
	HoldAdmission  Mode = "hold-admission" // nothing new is let in, and what runs may be put out
	SuspendRun     Mode = "suspend-run"    // no new runs; a run that is on ends
	StopWorkload   Mode = "stop-workload"  // pods go
)

// The presets.
const (
	PresetPause = "pause" // leaves the workload running
	PresetStop  = "stop"
)

// Signal is how the operator of a kind is told to hold one of its objects, after its API.
type Signal struct {
	// Kind is written Kind.group; its Kind or its first label of the group may be *.
	Kind   string `json:"kind"`
	Preset string `json:"preset"`
	Mode   Mode   `json:"mode"`
	// Versions are those of the kind that have it; none means every one.
	Versions []string `json:"versions,omitempty"`
	// Patch is a merge patch (RFC 7386). In Each it is that of every item of the list at
	// that path, since a merge patch would replace the list.
	Patch map[string]any `json:"patch"`
	Each  string         `json:"each,omitempty"`
	// Resume is the merge patch that operators document for the way back. It is for people:
	// what is put back is what was there before.
	Resume map[string]any `json:"resume"`
	// Requires is a path that must be there for the signal to mean anything.
	Requires string `json:"requires,omitempty"`
	// Scale says that replicas are set to 0 through the scale subresource.
	Scale bool `json:"scale,omitempty"`
	// Stateful says that the kind keeps data, and Caution that its operator warns of this
	// signal: both want allowStop in the manifest, Caution also of a pause.
	Stateful bool   `json:"stateful,omitempty"`
	Caution  bool   `json:"caution,omitempty"`
	Effect   string `json:"effect"`
	Caveat   string `json:"caveat,omitempty"`
	Source   string `json:"source"`
	// Origin says whose word it is: catalogue strimzi, built-in.
	Origin string `json:"-"`
}

// Signals finds the signals of a kind.
type Signals interface {
	// Of returns the signal of a preset for objects of a kind in a version; false for none.
	Of(gvk schema.GroupVersionKind, preset string) (Signal, bool)
}
