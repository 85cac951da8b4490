package regulate

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// FieldManager writes the targets. If the result of a write is unknown, it is found by this name
// in managedFields.
const FieldManager = "sysop.dev/regulate"

// Client is what a Runner does to objects of a cluster. Errors are those of
// k8s.io/apimachinery/pkg/api/errors.
type Client interface {
	Get(ctx context.Context, t Target) (*unstructured.Unstructured, error)
	// Patch writes through the target's subresource, as FieldManager unless dry.
	Patch(ctx context.Context, t Target, pt types.PatchType, body []byte, o WriteOptions) (*unstructured.Unstructured, error)
	Create(ctx context.Context, t Target, o *unstructured.Unstructured, w WriteOptions) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, t Target, w WriteOptions) error
}

// WriteOptions are those of a write.
type WriteOptions struct {
	Manager string
	DryRun  bool
}

// Store keeps the journal.
type Store interface {
	// Load returns the journal, an empty one where there is none.
	Load(ctx context.Context) (*Journal, error)
	// Save writes the journal. It returns a *journal.ConflictError if it was changed since it
	// was loaded.
	Save(ctx context.Context, j *Journal) error
}

// Runner runs plans.
type Runner struct {
	Client Client
	Store  Store
	Kinds  *object.Kinds
	System *system.System
	// World is the state of the apps: operations of a journal are verified with it.
	World *SystemState
	// Signals are asked for the signal of a manager that is suspended first.
	Signals signals.Finder
	// Pods returns the names of the pods that belong to an object, for the few signals that
	// name them; it may be nil.
	Pods func(object.Ref) []string
	Now  func() time.Time
	// Events receives the events of the run; it may be nil.
	Events func(journal.Event)
	// Output is called with the end of the output of a command of an app, which is stored
	// nowhere. It may be nil.
	Output func(app, text string)
	// Parallel is how many targets are written at a time; 0 for 16.
	Parallel  int
	AllowExec bool
	// Force also undoes fields that were changed since.
	Force bool
	// DryRun sends all writes as dry runs; the journal is not written.
	DryRun bool
}

// Outcome is what became of a plan.
type Outcome struct {
	Done   []Record
	Failed []Record
	// Restored are the objects that were restored when a hold ended; their health is unknown
	// yet.
	Restored []Restored
}

// Restored is an object that was restored when a hold of an app ended.
type Restored struct {
	App    string
	Object object.Ref
	// Template says that the template of its pods was written, so that there are two revisions.
	Template bool
	// Suspended says that the app was Suspended before it was held.
	Suspended bool
}

// restored returns the objects with restored fields.
func (h *Hold) restored() []Restored {
	var out []Restored
	for _, o := range h.Operations {
		gv, err := schema.ParseGroupVersion(o.Target.APIVersion)
		if o.OnRecover || o.State != Undone || o.Target.Name == "" || o.Action == "job" || err != nil {
			continue
		}
		template := slices.ContainsFunc(o.Changes, func(c patch.Change) bool { return strings.HasPrefix(c.Path+"/", "/spec/template/") })
		ref := object.Ref{Group: gv.Group, Kind: o.Target.Kind, Namespace: o.Target.Namespace, Name: o.Target.Name}
		out = append(out, Restored{App: h.App, Object: ref, Template: template, Suspended: h.Suspended})
	}
	return out
}
