package install

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
)

// basis identifies the journal that a plan was made from.
type basis struct {
	version string
	// run is the id of the run that was open then, revision that of the last run that had ended.
	run      string
	revision int
}

// MadeOf records the journal that the plan was made from: Do refuses the plan if the journal has
// changed. A plan without this record is compared with the releases alone.
func (p *Plan) MadeOf(j *Journal) {
	p.basis = &basis{version: j.Version(), revision: j.lastRevision()}
	if j.Run != nil {
		p.basis.run = j.Run.ID
	}
}

func (j *Journal) lastRevision() int {
	if len(j.Runs) == 0 {
		return 0
	}
	return j.Runs[len(j.Runs)-1].Revision
}

// OutdatedError means that the state has changed since the plan was made. Nothing was written.
type OutdatedError struct {
	Installation Installation
	// Changes are the differences, each a sentence.
	Changes []string
}

func (e *OutdatedError) Error() string {
	return fmt.Sprintf("the plan for %s is outdated: %s; nothing was written: run the command again to plan from the current state",
		e.Installation.Name, strings.Join(e.Changes, "; "))
}

// load reads the journal under the lease, and refuses a plan that was made from another state. A
// namespace that was created for the refused run alone is deleted.
func (x *run) load(ctx, undoing context.Context) error {
	j, err := x.Store.Load(ctx)
	if err != nil {
		return err
	}
	x.j = j
	if err = x.upToDate(ctx); err != nil && x.made && j.Version() == "" {
		err = errors.Join(err, x.takeBackNamespace(undoing))
	}
	return err
}

// upToDate compares the plan with the current journal and releases: a run may have waited long for
// the lease, and helm takes none.
func (x *run) upToDate(ctx context.Context) error {
	e := &OutdatedError{Installation: x.of}
	if text := x.p.basis.change(x.j); text != "" {
		e.Changes = append(e.Changes, text)
	}
	if r := x.j.Run; r != nil && !r.Committed && !x.goesOn() && len(e.Changes) == 0 {
		return nil // the open run is reported first
	}
	for i := range x.p.Steps {
		text, err := x.moved(ctx, &x.p.Steps[i])
		if err != nil {
			return err
		}
		if text != "" {
			e.Changes = append(e.Changes, text)
		}
	}
	if len(e.Changes) == 0 {
		return nil
	}
	return e
}

// change describes how the journal has changed; empty if it has not.
func (b *basis) change(j *Journal) string {
	switch {
	case b == nil || j.Version() == b.version:
		return ""
	case j.Version() == "":
		return "its journal was deleted since"
	case j.Run != nil && j.Run.ID != b.run:
		return fmt.Sprintf("an %s by %s started since and has not ended", j.Run.Action, j.Run.By)
	case j.lastRevision() > b.revision:
		p := j.Runs[len(j.Runs)-1]
		return fmt.Sprintf("an %s by %s has ended since (revision %d, %s)", p.Action, p.By, p.Revision, p.Result)
	}
	return "its journal was changed since"
}

// moved describes how the deployed revision of the release differs from the plan; empty if it does
// not.
func (x *run) moved(ctx context.Context, s *Step) (string, error) {
	switch s.Kind {
	case InstallRelease, UpgradeRelease, RollbackRelease, RemoveRelease:
	default:
		return "", nil
	}
	list, err := x.Engine.History(ctx, s.name())
	if err != nil {
		return "", err
	}
	current, _ := deployed(list)
	if len(list) > 0 && list[len(list)-1].Status == helm.Uninstalled {
		current = helm.Record{} // older records may still have the status deployed
	}
	was := "was not deployed"
	if s.Was > 0 {
		was = fmt.Sprintf("was deployed at revision %d", s.Was)
	}
	switch current.Revision {
	case s.Was:
		return "", nil
	case 0:
		return fmt.Sprintf("release %s %s when it was planned, and is no longer deployed", s.name(), was), nil
	}
	return fmt.Sprintf("release %s %s when it was planned, and is at revision %d now", s.name(), was, current.Revision), nil
}
