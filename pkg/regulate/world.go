package regulate

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
)

// SystemState is the input of NewPlan: the states of the apps of a system. It holds no graph, so
// that a plan can be repeated from a file, and tested with any sequence of states.
type SystemState struct {
	// Apps are in the order of the manifest.
	Apps []AppState
}

// App returns the state of an app.
func (w *SystemState) App(name string) (*AppState, bool) {
	for i := range w.Apps {
		if w.Apps[i].Name == name {
			return &w.Apps[i], true
		}
	}
	return nil, false
}

// AppState is how an app is.
type AppState struct {
	Name string
	// Roots are the present objects of it. Absent are missing roots, and Unread those that could
	// not be read: then Health is at best Unknown.
	Roots          []object.Ref
	Absent, Unread []string
	// Health is the worst of its own objects: those it owns and those that serve it alone.
	// Trouble of another app that it needs does not count.
	Health health.Status
	// Since is when this health began, by the times in objects; zero if they have none.
	Since time.Time
	// Cause is the object that makes it so, and Message what is said of it.
	Cause   object.Ref
	Message string
	// Fingerprint is what an upgrade changes: versions, images, generations of custom
	// resources, by object. Rollout says that one is on right now, and by what that is seen.
	Fingerprint map[string]string
	Rollout     string
	// Needs are the apps whose parts it needs, directly, by name.
	Needs []Need
	// Actions are what it can do on each signal, with their targets resolved.
	Actions map[string][]Resolved
	// Managers are who keeps its targets as they are, by target.
	Managers map[object.Ref][]Manager
}

// Need is a need of an app for another one, with the evidence.
type Need struct {
	App string
	// Declared reports that the manifest declares it, with Reason; else Edge is the evidence.
	Declared bool
	Reason   string
	From, To object.Ref
	Edge     graph.Edge
	// Path is the way from an own object of the app to an own one of the other, where
	// something that belongs to neither lies between; else From and To.
	Path []object.Ref
}

// Manager keeps an object as it is, and reverts changes.
type Manager struct {
	Ref  object.Ref
	Tool string // argocd, flux, helm
	// Reverts says that it does so continuously; Helm alone does not.
	Reverts bool
}

// Resolved is an action of an app with the objects that it is about.
type Resolved struct {
	Index int    // in the manifest
	Name  string // preset, scale, ...
	// Text says what is done, for people: replicas = 0. Of a preset its Signals say.
	Text    string
	Targets []object.Ref
	// Signal is that of a preset, by target.
	Signals map[object.Ref]signals.Signal
	// Refused says why it cannot be done, and a way out; empty where it can.
	Refused string
	// Notes are what should be known before it is done: caveats.
	Notes []string
	// Default says that the manifest says nothing, and this is what is done then.
	Default bool
}
