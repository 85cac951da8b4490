// Package install installs, upgrades and uninstalls operators and whole Systems: completely, or not
// at all.
//
// A Part is a Helm release, and Helm's own library installs it. This package adds the order of
// parts, their definitions, readiness gates, a journal across releases and the protection of data.
// NewPlan plans, and reads nothing; a Runner executes the plan, and writes the journal before
// anything else.
package install

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// FieldManager writes what belongs to no release: definitions, namespaces, the journal.
const FieldManager = "sysop.dev/install"

// Annotations on objects of the cluster.
const (
	// RunAnnotation is on namespaces and definitions that a run created.
	RunAnnotation = "sysop.dev/run"
	// BeforeAnnotation is on definitions that a run changed: its id, and the hash of the
	// before-image.
	BeforeAnnotation = "sysop.dev/before"
)

// Installation is the target of a run: an operator, or a System. Its journal, lease and history are
// named sysop-install-NAME and stored in its namespace.
type Installation struct {
	Name, Namespace string
	// System is true for a System, and false for an operator.
	System bool
}

// Part is one Helm release: an operator in a version, or an app of a System.
type Part struct {
	// Name is the name of the package, or of the app.
	Name string
	// App is true for an app of a System, and false for a package of a catalog.
	App bool
	// Release and Namespace name the Helm release.
	Release, Namespace string
	// Version is the package's, or the chart's.
	Version string
	Chart   *chart.Chart
	Values  map[string]any
	// APIs are the API versions that its templates see, in the run as in the plan.
	APIs []string
	// Rendered is the chart with its values. Fields that get values of other parts (Connections)
	// are missing in it until those parts exist.
	Rendered *chart.Rendered
	// Needs are the names of parts that must be ready first.
	Needs []string
	// Ready are the objects that must be Healthy before dependants start; empty for every object
	// that has health.
	Ready []object.Ref
	// Connections are values of other parts that flow into this one.
	Connections []connection.Connection
	// Labels are the keys of the labels that its objects and pods keep (spec.labels of a System).
	Labels []string
	// KeepDefinitions does not change existing definitions (catalog.Install, catalog.Leave).
	KeepDefinitions bool
	// Why names the dependants, for people.
	Why []string
}

// AppsOf returns the apps that a part is, or is the operator of.
func (p *Part) AppsOf(sys *system.System) []string {
	if p.App {
		return []string{p.Name}
	}
	var out []string
	for _, a := range sys.Apps {
		if a.Operator == p.Name {
			out = append(out, a.Name)
		}
	}
	return out
}

// Action is the purpose of a run.
type Action string

// The actions.
const (
	Install   Action = "install"
	Upgrade   Action = "upgrade"
	Rollback  Action = "rollback"
	Uninstall Action = "uninstall"
)

// StepKind is the kind of a step.
type StepKind string

const (
	// MakeNamespace creates a namespace. Undo deletes it, unless others have put objects in it.
	MakeNamespace StepKind = "namespace"
	// ApplyDefinitions creates and upgrades definitions, and waits until they are served. Undo
	// deletes created ones unless custom resources of others exist, and restores the schema of
	// changed ones unless objects are stored in a new version.
	ApplyDefinitions StepKind = "definitions"
	// InstallRelease is Helm's install. Undo uninstalls.
	InstallRelease StepKind = "install"
	// UpgradeRelease is Helm's upgrade. Undo rolls back to the revision before.
	UpgradeRelease StepKind = "upgrade"
	// RollbackRelease is Helm's rollback. Undo rolls back to the revision before.
	RollbackRelease StepKind = "rollback"
	// RemoveRelease is Helm's uninstall. Undo restores the release from its records.
	RemoveRelease StepKind = "remove"
	// Await waits until the objects of a part are Healthy. There is nothing to undo.
	Await StepKind = "await"
	// DeleteObjects deletes custom resources and waits until they are gone. It cannot be undone.
	DeleteObjects StepKind = "delete-objects"
	// DeleteDefinitions deletes definitions that have no objects. It cannot be undone.
	DeleteDefinitions StepKind = "delete-definitions"
)

// Step is one change of a run.
type Step struct {
	// ID is stable for the same plan: "release/cert-manager/cert-manager".
	ID   string   `json:"id"`
	Kind StepKind `json:"kind"`
	// Part is the name of its part.
	Part string `json:"part,omitempty"`
	// Release and Namespace name the Helm release; for MakeNamespace, Namespace is the one to
	// create.
	Release   string `json:"release,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Was is the revision that is deployed before the step; 0 for none. To is the target of a
	// rollback.
	Was int `json:"-"`
	To  int `json:"-"`
	// From and Version are the versions of the part before and after.
	From    string `json:"from,omitempty"`
	Version string `json:"version,omitempty"`
	// Objects are those that it creates, changes, deletes or waits for.
	Objects []object.Ref `json:"objects,omitempty"`
	// Definitions are the definitions to apply, complete.
	Definitions []*unstructured.Unstructured `json:"-"`
	// Timeout limits the step.
	Timeout time.Duration `json:"-"`
	// Removed means that the release was uninstalled with its records kept.
	Removed bool `json:"-"`
	// Irreversible is what undo cannot restore; empty for nothing.
	Irreversible string `json:"irreversible,omitempty"`
	// Data are the custom resources, claims and definitions that it deletes (Plan.Losses).
	Data []object.Ref `json:"-"`
}

// Plan has the steps of a run in order, and the refusals that block it.
type Plan struct {
	Installation Installation
	Action       Action
	// Parts are the parts of the run, dependencies first.
	Parts []*Part
	Steps []Step
	// Unchanged are parts that are already in the desired state.
	Unchanged []string
	// Stays are releases that the installation depends on and that the run does not change; they
	// are recorded as parts of it.
	Stays []ReleaseState
	// Needs are the needs of the parts, for the journal.
	Needs []Need
	// Refusals are the reasons not to start. A plan with refusals writes nothing.
	Refusals []Refusal
	// Changes are the changes of objects, Grants all RBAC rules that are granted, new ones first.
	Changes []ObjectChange
	Grants  []permission.Grant
	// Notes are remarks for people.
	Notes []string
	// To is the revision of the history that a rollback returns to.
	To int
	// Fingerprint is a hash of the desired state (parts, versions, charts, values), not of the live
	// state: a plan with the same fingerprint resumes a killed run.
	Fingerprint string
	// basis is the journal that the plan was made from (MadeOf).
	basis *basis
}

// Refusal is a reason not to start a run.
type Refusal struct {
	// Topic is the subject as one word, such as "ownership", "definitions", "data" or "connection".
	Topic string `json:"topic"`
	// Part is the part concerned; empty for the whole run.
	Part   string     `json:"part,omitempty"`
	Object object.Ref `json:"object,omitzero"`
	// Message is a sentence; Hint is a way out.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}
