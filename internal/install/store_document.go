package install

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

const (
	// JournalKind is the kind field of a stored journal.
	JournalKind = "InstallJournal"
	// journalVersion is the apiVersion field of a stored journal.
	journalVersion = "sysop.dev/v1alpha1"
	// maxRuns limits how many ended runs the journal has.
	maxRuns = 10
)

type document struct {
	journal.Header `json:",inline"`
	*Journal       `json:",inline"`
}

func formatOf(target Installation) journal.Format[Journal] {
	return journal.Format[Journal]{
		Header:   journal.Header{APIVersion: journalVersion, Kind: JournalKind},
		New:      func() *Journal { return &Journal{Installation: target} },
		Revision: func(j *Journal) *journal.Revision { return &j.Revision },
		Inline:   func(h journal.Header, j *Journal) any { return &document{h, j} },
		Valid: func(j *Journal) error {
			if j.Installation.Name != target.Name || j.Installation.Namespace != target.Namespace {
				return fmt.Errorf("it belongs to %s in namespace %s", j.Installation.Name, j.Installation.Namespace)
			}
			return j.valid()
		},
		Open:     "was started",
		TooLarge: func(*Journal) string { return "split it into two Systems" },
	}
}

var (
	errNameless = errors.New("it names no installation")
	errNoRun    = errors.New("its run has no id")
)

func (j *Journal) valid() error {
	if j.Installation.Name == "" || j.Installation.Namespace == "" {
		return errNameless
	}
	for _, p := range j.Runs {
		for _, r := range p.Releases {
			if r.App && (r.Namespace != j.Installation.Namespace || r.Release != j.Installation.Name+"-"+r.Part) {
				return fmt.Errorf("release %s/%s does not belong to an app of %s", r.Namespace, r.Release, j.Installation.Name)
			}
		}
	}
	if j.Run == nil {
		return nil
	}
	if j.Run.ID == "" {
		return errNoRun
	}
	for i, s := range j.Run.Steps {
		switch {
		case !slices.Contains([]Phase{Started, Done, Undone, NotUndone}, s.Phase):
			return fmt.Errorf("step %d (%s): unknown phase %q", i, s.ID, s.Phase)
		case !slices.Contains(stepKinds(), s.Kind):
			return fmt.Errorf("step %d (%s): unknown kind %q", i, s.ID, s.Kind)
		case s.ofRelease() && (s.Release == "" || s.Namespace == ""):
			return fmt.Errorf("step %d (%s): it names no release", i, s.ID)
		}
		for _, b := range s.Changed {
			if b.StoredIn != journal.ImageName(JournalName(j.Installation.Name), j.Run.ID, b.Object) {
				return fmt.Errorf("step %d (%s): %s is not where the before-image of %s is stored", i, s.ID, b.StoredIn, b.Object)
			}
		}
	}
	return nil
}

func stepKinds() []StepKind {
	return []StepKind{MakeNamespace, ApplyDefinitions, InstallRelease, UpgradeRelease, RollbackRelease, RemoveRelease, Await, DeleteObjects, DeleteDefinitions}
}

func (s *StepState) ofRelease() bool {
	switch s.Kind {
	case InstallRelease, UpgradeRelease, RollbackRelease, RemoveRelease:
		return true
	}
	return false
}
