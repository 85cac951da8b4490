package regulate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// JournalKind is what a stored journal calls itself, with the apiVersion of manifests.
const JournalKind = "Journal"

const (
	heldKey = "held"
	// maxHeld bounds the lines for people.
	maxHeld = 100
)

// ConfigMapStore keeps the journal in a ConfigMap of the System's namespace.
type ConfigMapStore = journal.Store[Journal]

// NewStore returns the store of a system's journal.
func NewStore(config *rest.Config, name, namespace string) (*ConfigMapStore, error) {
	client, err := journal.Connect(config, "the journal of "+name)
	if err != nil {
		return nil, err
	}
	return journal.NewStore(client, placeOf(name, system.JournalName(name), namespace), formatOf(name, namespace)), nil
}

// NewLock returns the lock of who acts on a system.
func NewLock(config *rest.Config, name, namespace string, o journal.LeaseOptions) (*journal.Lease, error) {
	o.Limit = journal.DefaultLimit
	return journal.NewLease(config, placeOf(name, system.LockName(name), namespace), o)
}

// NewElection returns the lock of the process that watches a system in a cluster: others wait
// until it ends.
func NewElection(config *rest.Config, name, namespace string, o journal.LeaseOptions) (*journal.Lease, error) {
	o.Limit = 0
	return journal.NewLease(config, placeOf(name, system.WatchName(name), namespace), o)
}

// RecordEvents adds a recorder of Kubernetes Events to a receiver of the events of a Runner, and returns
// what ends it.
func RecordEvents(config *rest.Config, emit func(journal.Event)) (receive func(journal.Event), flush func()) {
	return journal.Record(config, journal.RecorderOptions{Controller: FieldManager, Instance: journal.Holder()}, emit)
}

func placeOf(name, object, namespace string) journal.Place {
	return journal.Place{Namespace: namespace, Name: object, Labels: map[string]string{system.Label: name}, FieldManager: FieldManager}
}

// document is a journal as it is stored.
type document struct {
	journal.Header `json:",inline"`
	*Journal       `json:",inline"`
}

func formatOf(name, namespace string) journal.Format[Journal] {
	return journal.Format[Journal]{
		Header:   journal.Header{APIVersion: system.APIVersion, Kind: JournalKind},
		New:      func() *Journal { return &Journal{System: name, Namespace: namespace} },
		Revision: func(j *Journal) *journal.Revision { return &j.Revision },
		Inline:   func(h journal.Header, j *Journal) any { return &document{h, j} },
		Valid: func(j *Journal) error {
			if j.System != name || j.Namespace != namespace {
				return fmt.Errorf("it belongs to System %s in namespace %s", j.System, j.Namespace)
			}
			return j.valid()
		},
		Open:    "is held",
		Pending: func(j *Journal) bool { return len(j.Holds)+len(j.Conflicts) > 0 },
		Summary: func(j *Journal) map[string]string { return map[string]string{heldKey: heldText(j)} },
		TooLarge: func(j *Journal) string {
			return fmt.Sprintf("%d apps are held, by %d operations; recover some (regulate recover APP), or split it into two Systems", len(j.Holds), operations(j))
		},
	}
}

func operations(j *Journal) int {
	n := 0
	for _, h := range j.Holds {
		n += len(h.Operations)
	}
	return n
}

// heldText says for people who is held, a line an app and signal, and then what was left.
func heldText(j *Journal) string {
	var lines []string
	if len(j.Holds) == 0 {
		lines = append(lines, "nothing is held\n")
	}
	for _, h := range j.Holds {
		reason := ""
		if len(h.Causes) > 0 {
			reason = ": " + journal.Truncate(strings.Join(strings.Fields(h.Causes[0].Why), " "), 200)
		}
		lines = append(lines, fmt.Sprintf("%s %s since %s (%s)%s\n", h.App, h.Signal, h.At.UTC().Format(time.RFC3339), h.Phase, reason))
	}
	slices.Sort(lines)
	for _, h := range j.Conflicts {
		lines = append(lines, fmt.Sprintf("%s %s conflict: %s\n", h.App, h.Signal, journal.Truncate(leftText(h), 200)))
	}
	if more := len(lines) - maxHeld; more > 0 {
		lines = append(lines[:maxHeld], fmt.Sprintf("and %d more\n", more))
	}
	return strings.Join(lines, "")
}
