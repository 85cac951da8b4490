package helm

import (
	"context"
	"time"

	"helm.sh/helm/v4/pkg/postrenderer"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ReleaseName names a release of Helm.
type ReleaseName struct{ Name, Namespace string }

// String returns namespace/name.
func (r ReleaseName) String() string { return r.Namespace + "/" + r.Name }

// RecordLabels are the labels of a release's record.
type RecordLabels struct {
	// Run is the id of the run, Package and System are names; each may be empty.
	Run, Package, System string
	// SystemNamespace is the namespace of the System.
	SystemNamespace string
	// Installation and InstallationNamespace are set on releases that belong to no System.
	Installation, InstallationNamespace string
	// Version is the version of the package.
	Version string
}

// ReleaseSpec is a release to install or upgrade.
type ReleaseSpec struct {
	Release ReleaseName
	Chart   *chart.Chart
	Values  map[string]any
	Timeout time.Duration // of each hook
	// Kubernetes and APIs are the capabilities that templates see, equal to those of the plan.
	Kubernetes string
	APIs       []string
	// PostRenderer receives the rendered manifests; it may be nil.
	PostRenderer postrenderer.PostRenderer
	// TakeOwnership takes over objects of others, ForceConflicts fields of others.
	TakeOwnership, ForceConflicts bool
	// Lookup lets templates read the cluster.
	Lookup bool
	Marks  RecordLabels
}

// RevertOptions are the options of a rollback or an uninstallation.
type RevertOptions struct {
	Marks   RecordLabels
	Timeout time.Duration // of each hook
	// KeepHistory keeps the records of an uninstalled release, so that it can be restored.
	KeepHistory bool
	// NoHooks disables the hooks of the chart.
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

// Record is Helm's record of one revision of a release.
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
	RollbackOf  int // revision that it rolled back to; 0 for none
	Marks       RecordLabels
	Objects     []object.Ref // of the manifest, without Kept
	Kept        []object.Ref // with helm.sh/resource-policy: keep
	Hooks       []HookObject
	Values      map[string]any
	Manifest    string
	ServerSide  bool // applied server-side
	Notes       string
}

// HookObject is the object of a hook, with its events.
type HookObject struct {
	Object object.Ref
	Events []string
}

// Engine runs Helm. A call whose context ends leaves a pending record, as an interrupted Helm does.
type Engine interface {
	Install(ctx context.Context, c ReleaseSpec) error
	Upgrade(ctx context.Context, c ReleaseSpec) error
	// Rollback returns a release to a revision, also an uninstalled one.
	Rollback(ctx context.Context, r ReleaseName, to int, o RevertOptions) error
	Uninstall(ctx context.Context, r ReleaseName, o RevertOptions) error
	// History returns the records, the latest last; none if the release does not exist.
	History(ctx context.Context, r ReleaseName) ([]Record, error)
	// Forget deletes the records of an uninstalled release.
	Forget(ctx context.Context, r ReleaseName) error
}
