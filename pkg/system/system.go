// Package system is the System manifest: a file that names the applications of a system
// and says how they depend on each other, how they are regulated, and who pays.
//
// The manifest is a file, and never required in a cluster. A System that was adopted is
// known there by an ApplySet, whose parent keeps the manifest (Parent).
package system

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// APIVersion and Kind are what a manifest calls itself.
const (
	APIVersion = "sysop.dev/v1alpha1"
	Kind       = "System"
)

// System is a manifest, read and checked. Everything that it names exists: an app that a
// rule is about, a signal that a rule sends.
type System struct {
	// Name is a DNS label. Namespace is that of roots that name none, and where the journal
	// is kept; empty in a manifest that leaves it to its user.
	Name, Namespace string
	Description     string
	// Values are what templates are filled in with.
	Values map[string]any
	Apps   []App
	// Operators are those that the apps need, Inputs what must be there before, Upgrade how
	// it is upgraded: for who installs it.
	Operators    []Operator
	Inputs       []Input
	Upgrade      UpgradePolicy
	Dependencies []Dependency
	Connections  []Connection
	// Labels are set on the objects of the apps, and on their pods, beside Kubernetes's recommended
	// labels; nil sets none, and an empty map the recommended ones.
	Labels      map[string]string
	Regulation  Regulation
	Chargeback  Chargeback
	Autoscaling Autoscaling
	Monitoring  Monitoring
	Backup      Backup
	Waivers     []check.Waiver
	// Origin is the file, or the object, that it was read from, for people.
	Origin string
}

// App returns the app of a name.
func (s *System) App(name string) (*App, bool) {
	for i := range s.Apps {
		if s.Apps[i].Name == name {
			return &s.Apps[i], true
		}
	}
	return nil, false
}

// AppNames are the names of the apps, in the order of the manifest.
func (s *System) AppNames() []string {
	var names []string
	for i := range s.Apps {
		names = append(names, s.Apps[i].Name)
	}
	return names
}

// Root is an object that represents an app: TYPE/NAME or TYPE/NAMESPACE/NAME as people
// write it. It is resolved against the kinds that a cluster serves.
type Root struct {
	Type, Namespace, Name string // Namespace is empty where the root names none
	Line                  int
}

// App is one application of a system.
type App struct {
	// Name is a DNS label, unique among the apps of the system.
	Name string
	// Roots represent it. Those of Resources are among them.
	Roots []Root
	// Resources are objects that the manifest contains, their templates filled in.
	Resources []*unstructured.Unstructured
	// Operator is the catalog entry of the operator that runs it; empty where none is named.
	Operator string
	// Monitoring is how its metrics are found, where its objects do not show it.
	Monitoring AppMonitoring
	// On is what it does on a signal: by the name of the signal, in order.
	On map[string][]Action
	// GitOps says what happens to a target that a manager reverts; empty for
	// what the regulation says.
	GitOps GitOps
	// Autoscaling says how it is scaled; nil for the defaults.
	Autoscaling *AppAutoscaling
	Line        int
}

// Dependency says that From needs To where no object shows it.
type Dependency struct {
	From, To string
	Reason   string
	Line     int
}

// The signals that always exist. Recover undoes any of the others.
const (
	Stop    = "Stop"
	Recover = "Recover"
)

// Regulation is when which signals go to whom.
type Regulation struct {
	// Signals are the names of the user's own, in addition to Stop and Recover.
	Signals []string
	Rules   []Rule
	// MaxUnavailableApps bounds how many apps rules hold at a time; 0 for no bound.
	MaxUnavailableApps int
	// HoldOff is how long no rule stops an app after it has recovered; MaxSignalsPerHour is how
	// often rules stop an app in an hour (0: no bound).
	HoldOff           time.Duration
	MaxSignalsPerHour int
	// Settle is how long a recovered app may take to become healthy before its neighbours are
	// recovered as well; it is no cause meanwhile.
	Settle time.Duration
	GitOps GitOps
}

// The defaults.
const (
	DefaultFor               = 30 * time.Second
	DefaultRecoverFor        = 30 * time.Second
	DefaultHoldOff           = 2 * time.Minute
	DefaultMaxSignalsPerHour = 6
	DefaultSettle            = 2 * time.Minute
)

// GitOps says what becomes of a target that Argo CD, Flux or Helm keeps as it is.
type GitOps string

const (
	// Refuse does not change the app, and says why. It is the default.
	Refuse GitOps = "refuse"
	// Suspend suspends the manager first (an Application, a Kustomization, a HelmRelease).
	// Helm itself reverts nothing until the next upgrade: a note says so.
	Suspend GitOps = "suspend"
	// Ignore writes as if it had no manager.
	Ignore GitOps = "ignore"
)

// Rule is when a signal goes to whom.
type Rule struct {
	Name string
	// App is the app whose state is watched; empty for any.
	App string
	// Health are the states in which it fires, and Upgrading says that it fires while the
	// app is being upgraded. At least one is set, and either one suffices.
	Health    []health.Status
	Upgrading bool
	// For is how long that must have been so.
	For    time.Duration
	Signal string
	// To are the apps that get the signal; none means the neighbours, and with Cascade the
	// neighbours of these as well, at any depth.
	To      []string
	Cascade bool
	// RecoverFor is how long it must be over before they are recovered.
	RecoverFor time.Duration
	Line       int
}

// Action is one thing that an app does on a signal. Exactly one of the pointers, Preset and
// the bools is set.
type Action struct {
	// Preset is pause or stop: what the catalog says of the kind.
	Preset          string
	Patch           *Patch
	Scale           *Scale
	Annotate, Label map[string]*string // nil removes a key
	SuspendCronJobs bool
	CordonTraffic   bool
	Restart         bool
	Job             *Job
	HTTP            *HTTP
	Exec            *Exec

	// Targets are the objects that it changes: TYPE/NAME, or a TYPE alone for all of it in
	// the app's own stack. None means the roots (of Preset, Patch, Annotate, Label), what has
	// a scale among roots and what they own directly (Scale), the workloads of the stack
	// (Restart), the CronJobs or the Services of it.
	Targets []Root
	// Inverse undoes it; without it the former value is restored.
	Inverse *Action
	// AllowStop lets a preset stop what keeps data, or what its operator warns of.
	AllowStop bool
	// Timeout bounds Job, HTTP and Exec, and how long is waited until the operator reacts to
	// a Preset of which its status says so.
	Timeout time.Duration
	Line    int
}

// Name is the word by which an action is written in a manifest.
func (a *Action) Name() string {
	switch {
	case a.Preset != "":
		return "preset"
	case a.Patch != nil:
		return "patch"
	case a.Scale != nil:
		return "scale"
	case a.Annotate != nil:
		return "annotate"
	case a.Label != nil:
		return "label"
	case a.SuspendCronJobs:
		return "suspendCronJobs"
	case a.CordonTraffic:
		return "cordonTraffic"
	case a.Restart:
		return "restart"
	case a.Job != nil:
		return "job"
	case a.HTTP != nil:
		return "http"
	case a.Exec != nil:
		return "exec"
	}
	return ""
}

// The types of patches.
const (
	Merge     = "merge"     // RFC 7386
	JSON      = "json"      // RFC 6902
	Strategic = "strategic" // of built-in kinds only
)

// Patch changes fields of a target.
type Patch struct {
	Type string
	// Body is a mapping, or for JSON a list of operations.
	Body any
	// Subresource is status, scale, or empty.
	Subresource string
}

// Scale sets the number of replicas.
type Scale struct{ Replicas int32 }

// Job runs a Job to its end.
type Job struct {
	// Template is a whole batch/v1 Job, or what stands under its spec; its name is made.
	Template map[string]any
}

// HTTP sends a POST with what happened, signed.
type HTTP struct {
	URL string
	// SecretName and SecretKey name the Secret with the key of the signature
	// (HMAC-SHA256); SecretEnv names a variable of the environment instead.
	SecretName, SecretKey, SecretEnv string
	Headers                          map[string]string
}

// Exec runs a command where kubectl sysop runs. It is off unless --allow-exec.
type Exec struct {
	Command []string
	Env     map[string]string
}

// Chargeback says who pays for the system, and how.
type Chargeback struct {
	// Prices is the file of a price book; empty for the default one.
	Prices  string
	Sharing cost.Sharing // empty for the default
	Weights map[string]string
	Tenant  string
}
