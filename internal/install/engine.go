package install

import (
	"context"
	"time"

	"helm.sh/helm/v4/pkg/postrenderer"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ReleaseName names a release of Helm.
type ReleaseName struct{ Name, Namespace string }

// String returns namespace/name.
func (r ReleaseName) String() string { return r.Namespace + "/" + r.Name }

// RecordLabels are the labels of a release's record.
type RecordLabels struct {
	// Run is the id of the run, Package the name of the package, System that of the system;
	// each may be empty.
	Run, Package, System string
	// SystemNamespace is that of the system.
	SystemNamespace string
	// Installation and InstallationNamespace are those of a release that is of no System.
	Installation, InstallationNamespace string
	// Version is that of the package.
	Version string
}

// ReleaseSpec is a release that is installed, or changed to another version or other values.
type ReleaseSpec struct {
	Release ReleaseName
	Chart   *chart.Chart
	Values  map[string]any
	Timeout time.Duration // of each hook
	// Kubernetes and APIs are what templates see; they must be those of the plan.
	Kubernetes string
	APIs       []string
	// PostRenderer is given all that the templates made; it may be nil.
	PostRenderer postrenderer.PostRenderer
	// TakeOwnership takes objects that are another's, ForceConflicts fields of theirs.
	TakeOwnership, ForceConflicts bool
	// Lookup lets templates read the cluster.
	Lookup bool
	Marks  RecordLabels
}

// RevertOptions is how a release goes back, or away.
type RevertOptions struct {
	Marks   RecordLabels
	Timeout time.Duration // of each hook
	// KeepHistory keeps the records of an uninstalled release, so that it can be brought back.
	KeepHistory bool
	// NoHooks leaves the hooks of the chart out.
	NoHooks        bool
	ForceConflicts bool
}

// Statuses of records, in Helm's words.
const (
	Deployed     = "deployed"
	Superseded   = "superseded"
	Failed       = "failed"
	Uninstalled  = "uninstalled"
	Uninstalling = "uninstalling"
)

// Record is what Helm keeps of one revision of a release.
type Record struct {
	Release  ReleaseName
	Revision int
	// Status is Helm's: deployed, superseded, failed, uninstalled, uninstalling, pending-install, ...
	Status      string
	Chart       string
	Version     string // of the chart
	App         string // appVersion
	Description string
	Updated     time.Time
	RollbackOf  int // the revision it went back to; 0 for none
	Marks       RecordLabels
	Objects     []object.Ref // of its manifest, but those that Helm keeps
	Kept        []object.Ref // with helm.sh/resource-policy: keep
	Hooks       []HookObject
	Values      map[string]any
	Manifest    string
	ServerSide  bool // it was applied on the server's side
	Notes       string
}

// HookObject is an object that is made at points of a release's life.
type HookObject struct {
	Object object.Ref
	Events []string
}

// Engine does what Helm does. Each call ends when its context does, and leaves then what an
// interrupted Helm leaves: a record that is pending.
type Engine interface {
	Install(ctx context.Context, c ReleaseSpec) error
	Upgrade(ctx context.Context, c ReleaseSpec) error
	// Rollback brings a release back to a revision, also one that was uninstalled.
	Rollback(ctx context.Context, r ReleaseName, to int, o RevertOptions) error
	Uninstall(ctx context.Context, r ReleaseName, o RevertOptions) error
	// History returns the records, the latest last; none for a release that is not there.
	History(ctx context.Context, r ReleaseName) ([]Record, error)
	// Forget deletes the records of a release that was uninstalled.
	Forget(ctx context.Context, r ReleaseName) error
}

// Precondition is what an object must still be like to be deleted; empty fields are not looked at.
type Precondition struct{ UID, ResourceVersion string }

// Objects are the objects of a cluster. Errors are those of k8s.io/apimachinery/pkg/api/errors;
// a kind that is not served is NotFound.
type Objects interface {
	Get(ctx context.Context, ref object.Ref) (*unstructured.Unstructured, error)
	// List lists a namespace, or all where it is empty.
	List(ctx context.Context, kind schema.GroupKind, namespace string) ([]unstructured.Unstructured, error)
	Create(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Apply applies on the server's side, as FieldManager.
	Apply(ctx context.Context, o *unstructured.Unstructured, force bool) (*unstructured.Unstructured, error)
	// Replace writes all of it, if it still has the resourceVersion it was read with.
	Replace(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Delete deletes in the foreground: what the object owns goes first.
	Delete(ctx context.Context, ref object.Ref, p Precondition) error
}

// Discovery says what a cluster serves.
type Discovery interface {
	// Refresh forgets what was served before.
	Refresh()
	// Serves says whether a kind is served in a version.
	Serves(ctx context.Context, kind schema.GroupVersionKind) (bool, error)
	// Contents returns all objects of a namespace, but Events.
	Contents(ctx context.Context, namespace string) ([]unstructured.Unstructured, error)
}
