package regulator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// maxRuns limits how many runs on a System are returned.
const maxRuns = 50

// Run is a run on a System: of its installation, or a signal to one of its apps.
type Run struct {
	// Action is install, upgrade, rollback or uninstall, or the signal.
	Action string `json:"action"`
	// App is the app that the signal was sent to.
	App string `json:"app,omitempty"`
	// By is the user of an installation, or the cause of a signal.
	By      string     `json:"by"`
	Started time.Time  `json:"started"`
	Ended   *time.Time `json:"ended,omitempty"`
	Result  string     `json:"result"`
	Reason  string     `json:"reason,omitempty"`
	Failed  bool       `json:"failed,omitempty"`
}

// Runs returns the latest runs of the installation of a System, whose journal may be nil, and of its
// regulation, newest first.
func Runs(installation *install.Journal, regulation *regulate.Journal) []Run {
	runs := []Run{}
	for _, r := range regulation.History {
		runs = append(runs, Run{Action: r.Signal, App: r.App, By: r.Why, Started: r.At, Ended: &r.At, Result: r.Result, Failed: r.Error})
	}
	if installation != nil {
		for _, r := range installation.Runs {
			runs = append(runs, Run{Action: string(r.Action), By: r.By, Started: r.Started, Ended: &r.Ended, Result: installResult(r.Result), Reason: r.Why, Failed: r.Result != install.ResultDone})
		}
		if r := installation.Run; r != nil {
			runs = append(runs, Run{Action: string(r.Action), By: r.By, Started: r.Started, Result: installResult(install.ResultUnfinished), Reason: r.Why})
		}
	}
	slices.SortStableFunc(runs, func(a, b Run) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.App, b.App), cmp.Compare(a.Action, b.Action))
	})
	return runs[:min(len(runs), maxRuns)]
}

// installResult is the result of a run for people.
func installResult(result string) string {
	switch result {
	case install.ResultPartlyUndone:
		return "partly undone"
	case install.ResultUnfinished:
		return "unfinished"
	}
	return result
}

// InstallJournal reads the journal of the installation of a System; it is empty if the System was
// not installed with this program.
func InstallJournal(ctx context.Context, config *rest.Config, name, namespace string) (*install.Journal, error) {
	store, err := install.NewStore(config, install.Installation{Name: name, Namespace: namespace, System: true})
	if err != nil {
		return nil, err
	}
	return store.Load(ctx)
}
