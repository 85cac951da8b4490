// Package install puts operators and whole systems on a cluster, changes them, and takes them
// away: all of it, or nothing.
//
// Helm's own library does what Helm does: a Part is a release of it. Its order, its
// definitions, its gates, the journal across releases and the care for data are ours. Make
// says what is to be done, and reads nothing; a Runner does it, writing into the journal
// before it writes anything else.
package install

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// FieldManager writes what no release does: definitions, namespaces, the journal.
const FieldManager = "sysop.dev/install"

// Marks of what we put on a cluster.
const (
	// RunLabel is on the records of releases: the run that made the revision.
	RunLabel = "sysop.dev/run"
	// PackageLabel and SystemLabel are on the records of releases, and PackageLabel on
	// definitions too: what the release is of.
	PackageLabel = "sysop.dev/package"
	SystemLabel  = system.Label
	// SystemNamespaceLabel is on the records of releases beside SystemLabel: where the System is.
	SystemNamespaceLabel = "sysop.dev/system-namespace"
	// InstallationLabel and InstallationNamespaceLabel are on the records of releases that no
	// System has made: the installation in whose journal it is written what they need.
	InstallationLabel          = "sysop.dev/installation"
	InstallationNamespaceLabel = "sysop.dev/installation-namespace"
	// VersionLabel is on the records and the definitions of packages: their version, which
	// need not be that of the chart; a + in it is a _.
	VersionLabel = "sysop.dev/version"
	// RunAnnotation is on namespaces and definitions that a run made.
	RunAnnotation = "sysop.dev/run"
	// BeforeAnnotation is on definitions that a run changed: its id, and the sum of what was kept.
	BeforeAnnotation = "sysop.dev/before"
)

// Installation is what a run is about: an operator, or a system. Its journal, its lock and
// its history are named after it (sysop-install-NAME) and kept in its namespace.
type Installation struct {
	Name, Namespace string
	// System says that it is a system.
	System bool
}

// Part is what is installed together: an operator in a version, or an app of a system. It is
// one Helm release.
type Part struct {
	// Name is that of the package, or of the app.
	Name string
	// App says that it is an app of a system; else it is a package of a catalogue.
	App bool
	// Release and Namespace are of Helm's release.
	Release, Namespace string
	// Version is the package's, or the chart's.
	Version string
	Chart   *chart.Chart
	Values  map[string]any
	// APIs are what its templates see that the cluster serves, in the run as in the plan.
	APIs []string
	// Rendered is the chart with its values. Where values come from other parts
	// (Connections) that are not there yet, fields are still missing in it.
	Rendered *chart.Rendered
	// Needs are names of parts that must be there before.
	Needs []string
	// Ready are the objects that must be Healthy before who needs it is started; empty for
	// every object that has health.
	Ready []object.Ref
	// Connections are values of other parts that flow into it.
	Connections []Connection
	// KeepDefinitions says that existing definitions are left alone (catalog.Install, catalog.Leave).
	KeepDefinitions bool
	// Why says who needs it, for people.
	Why []string
}

// Connection is a value of an object of another part.
type Connection struct {
	From object.Ref
	Path string // status.host
	// To is an object of this part, Field where the value goes.
	To    object.Ref
	Field string
	// Name is the app it comes from, for people.
	Name string
}

// Action is what a run does.
type Action string

// What a run does.
const (
	Install   Action = "install"
	Upgrade   Action = "upgrade"
	Rollback  Action = "rollback"
	Uninstall Action = "uninstall"
)

// StepKind is what a step does.
type StepKind string

const (
	// MakeNamespace creates a namespace. Undone: deleted, unless somebody else put something in it.
	MakeNamespace StepKind = "namespace"
	// ApplyDefinitions creates and upgrades definitions, and waits until they are served.
	// Undone: those that it made are deleted unless custom resources of others are there;
	// those that it changed get their former schema back, unless objects are stored in a new version.
	ApplyDefinitions StepKind = "definitions"
	// InstallRelease is Helm's. Undone: uninstalled.
	InstallRelease StepKind = "install"
	// UpgradeRelease is Helm's. Undone: rolled back to the revision there was.
	UpgradeRelease StepKind = "upgrade"
	// RollbackRelease is Helm's. Undone: rolled back to the revision there was.
	RollbackRelease StepKind = "rollback"
	// RemoveRelease is Helm's uninstall. Undone: brought back from its records.
	RemoveRelease StepKind = "remove"
	// Await waits until the objects of a part are Healthy. There is nothing to undo.
	Await StepKind = "await"
	// DeleteObjects deletes custom resources and waits until they are gone. It cannot be undone.
	DeleteObjects StepKind = "delete-objects"
	// DeleteDefinitions deletes definitions, of which no object is left. It cannot be undone.
	DeleteDefinitions StepKind = "delete-definitions"
)

// Step is one thing to do.
type Step struct {
	// ID is stable for the same plan: "release/cert-manager/cert-manager".
	ID   string
	Kind StepKind
	// Part is the name of the part that it is of.
	Part string
	// Release and Namespace are of Helm's release, or the namespace to be made.
	Release, Namespace string
	// Was is the deployed revision before; 0 for none. To is the one to roll back to.
	Was, To int
	// From and Version are the versions of the part before and after.
	From, Version string
	// Objects are whom it makes, changes or deletes: definitions, custom resources, what is awaited.
	Objects []object.Ref
	// Definitions are the whole ones to be applied.
	Definitions []*unstructured.Unstructured
	// Timeout bounds it.
	Timeout time.Duration
	// Removed says that the release was uninstalled, and its records were kept.
	Removed bool
	// Irreversible says what undoing cannot bring back; empty for nothing.
	Irreversible string
	// Data are the custom resources, claims and definitions that it deletes (Planned.Losses).
	Data []object.Ref
}

// Plan is what is to be done, in order, and why not.
type Plan struct {
	Installation Installation
	Action       Action
	// Parts are the parts that the run is about, in the order of needs.
	Parts []*Part
	Steps []Step
	// Unchanged are parts that are there as they are wanted.
	Unchanged []string
	// Stays are releases that the installation needs and that nothing was asked of: they are
	// remembered as parts of it.
	Stays []ReleaseState
	// Needs are what the parts need: it is written into the journal.
	Needs []Need
	// Refusals are why it must not be started. While there is one, nothing is written.
	Refusals []Refusal
	// Changes are what becomes of which object, Grants every rule of RBAC that is granted, the
	// new ones in front.
	Changes []ObjectChange
	Grants  []Grant
	// Notes are worth knowing.
	Notes []string
	// To is the revision of the history that a rollback goes back to.
	To int
	// Fingerprint is of what is wanted (parts, versions, charts, values), not of what is
	// there: a run that was killed is resumed by one of the same.
	Fingerprint string
	// basis is the journal that it was made of (MadeOf).
	basis *basis
}

// Refusal says why a run must not be started.
type Refusal struct {
	// Topic is one of: "ownership", "definitions", "rights", "kubernetes", "namespace",
	// "dependants", "data", "release", "connection", "images", "start".
	Topic string `json:"topic"`
	// Part is the one that it is about; empty for the whole.
	Part   string     `json:"part,omitempty"`
	Object object.Ref `json:"object,omitzero"`
	// Message says it in a sentence; Hint what can be done.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}
